// Tensors as text; see DebugText.h.
#include "core/DebugText.h"
#include "core/Dtype.h"
#include "core/FloatText.h"
#include "core/Layout.h"
#include <cstring>
#include <type_traits>

namespace astra {
namespace {

constexpr int64_t longestAxis = 8; // longer ones show three at each end
constexpr int64_t shownEnds = 3;

template <class T> std::string numberText(const void *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  if constexpr (std::is_floating_point_v<T>)
    return floatText(value);
  else
    return std::to_string(value);
}

float widenHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  float magnitude;
  if (exponent == 0) {
    magnitude = float(fraction) * 0x1p-24f;
  } else {
    uint32_t wide = (exponent == 31 ? 255u : exponent + 112) << 23 | fraction
                                                                         << 13;
    std::memcpy(&magnitude, &wide, sizeof wide);
  }
  return sign ? -magnitude : magnitude;
}

std::string shortFloatText(uint32_t dtype, const void *data) {
  uint16_t bits;
  std::memcpy(&bits, data, sizeof bits);
  float value = 0;
  uint32_t wide = uint32_t(bits) << 16;
  if (dtype == ASTRA_F16)
    value = widenHalf(bits);
  else
    std::memcpy(&value, &wide, sizeof value);
  return numberText<float>(&value);
}

std::string elementText(uint32_t dtype, const void *data) {
  switch (dtype) {
  case ASTRA_BOOL:
    return *static_cast<const uint8_t *>(data) ? "true" : "false";
  case ASTRA_I8:
    return std::to_string(*static_cast<const int8_t *>(data));
  case ASTRA_U8:
    return std::to_string(*static_cast<const uint8_t *>(data));
  case ASTRA_I16:
    return numberText<int16_t>(data);
  case ASTRA_U16:
    return numberText<uint16_t>(data);
  case ASTRA_I32:
    return numberText<int32_t>(data);
  case ASTRA_U32:
    return numberText<uint32_t>(data);
  case ASTRA_I64:
    return numberText<int64_t>(data);
  case ASTRA_U64:
    return numberText<uint64_t>(data);
  case ASTRA_F32:
    return numberText<float>(data);
  case ASTRA_F64:
    return numberText<double>(data);
  default:
    return shortFloatText(dtype, data);
  }
}

void appendAxis(std::string &text, const astra_arg_t &value, uint32_t axis,
                const char *data, uint32_t elementBytes) {
  if (axis == value.rank) {
    text += elementText(value.dtype, data);
    return;
  }
  int64_t extent = value.shape[axis];
  text += "[";
  for (int64_t i = 0; i < extent; ++i) {
    if (extent > longestAxis && i == shownEnds) {
      text += ", ...";
      i = extent - shownEnds - 1;
      continue;
    }
    text += i ? ", " : "";
    appendAxis(text, value, axis + 1,
               data + i * value.strides[axis] * elementBytes, elementBytes);
  }
  text += "]";
}

} // namespace

std::string debugText(const char *name, const astra_arg_t &value) {
  const DtypeInfo *row = findDtype(value.dtype);
  if (!row)
    return std::string(name) + ": " + nameOfDtype(value.dtype);
  std::string text = std::string(name) + ": " + row->name;
  if (value.rank)
    text += shapeText(value.rank, value.shape);
  text += " = ";
  appendAxis(text, value, 0, static_cast<const char *>(value.data), row->bytes);
  return text;
}

} // namespace astra
