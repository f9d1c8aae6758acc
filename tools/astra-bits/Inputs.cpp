// See Inputs.h.
#include "tools/astra-bits/Inputs.h"
#include "astra/base.h"
#include "kernels/Types.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace astra;

namespace {
uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() { return mix(state += 0x9e3779b97f4a7c15u); }
  uint64_t below(uint64_t end) { return next() % end; }

private:
  uint64_t state;
};

/// Sums of uniform words, exact: near a normal distribution.
double makeNormal(Random &random) {
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += int64_t(random.next() >> 32) - (int64_t(1) << 31);
  return double(sum) * 0x1p-31;
}

double makeSpecial(Random &random) {
  static const double values[] = {std::numeric_limits<double>::quiet_NaN(),
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  0.0,
                                  -0.0,
                                  1.0,
                                  -1.0,
                                  0.5,
                                  1e-40,
                                  -1e-40,
                                  5e-324,
                                  6e-8,
                                  3.4e38,
                                  -65504.0,
                                  1e300,
                                  1e5};
  uint64_t choice = random.below(64);
  if (choice < std::size(values))
    return values[choice];
  double value = makeNormal(random);
  return choice < 40 ? value : std::ldexp(value, int(random.below(40)) - 20);
}

template <class T> T makeFloat(Random &random, Kind kind) {
  double value =
      kind == Kind::Special ? makeSpecial(random) : makeNormal(random);
  return convert<T>(value);
}

template <class T> T makeInteger(Random &random, Kind kind, bool isScalar) {
  if (kind == Kind::Binary)
    return T(random.below(2));
  if (kind == Kind::Plain || isScalar)
    return T(random.below(5));
  uint64_t choice = random.below(8);
  if (choice == 0)
    return std::numeric_limits<T>::max();
  if (choice == 1)
    return std::numeric_limits<T>::min();
  return choice < 5 ? T(random.below(9)) - T(2) : T(random.next());
}

template <class T> T makeElement(Random &random, Kind kind, bool isScalar) {
  if constexpr (std::is_same_v<T, Bool>)
    return {uint8_t(random.below(2))};
  else if constexpr (isFloat<T>)
    return makeFloat<T>(random, kind);
  else
    return makeInteger<T>(random, kind, isScalar);
}

/// Calls fn with a null pointer to the C++ type of a dtype.
template <class Fn> bool withType(uint32_t dtype, Fn fn) {
  switch (dtype) {
#define TYPE(word, T)                                                          \
  case word:                                                                   \
    fn(static_cast<T *>(nullptr));                                             \
    return true;
    TYPE(ASTRA_F32, float)
    TYPE(ASTRA_F64, double)
    TYPE(ASTRA_F16, F16)
    TYPE(ASTRA_BF16, BF16)
    TYPE(ASTRA_I8, int8_t)
    TYPE(ASTRA_I16, int16_t)
    TYPE(ASTRA_I32, int32_t)
    TYPE(ASTRA_I64, int64_t)
    TYPE(ASTRA_U8, uint8_t)
    TYPE(ASTRA_U16, uint16_t)
    TYPE(ASTRA_U32, uint32_t)
    TYPE(ASTRA_U64, uint64_t)
    TYPE(ASTRA_BOOL, Bool)
#undef TYPE
  }
  return false;
}

#define WITH_TYPE(dtype, T, ...)                                               \
  withType(dtype, [&](auto *null_) {                                           \
    using T = std::remove_pointer_t<decltype(null_)>;                          \
    __VA_ARGS__                                                                \
  })
} // namespace

const char *astra::getKindName(Kind kind) {
  return kind == Kind::Plain     ? "plain"
         : kind == Kind::Special ? "special"
                                 : "binary";
}

unsigned astra::getElementBytes(uint32_t dtype) {
  unsigned bytes = 0;
  WITH_TYPE(dtype, T, bytes = sizeof(T););
  return bytes;
}

std::vector<char> astra::makeElements(uint32_t dtype, size_t count,
                                      bool isScalar, Kind kind, uint64_t seed) {
  std::vector<char> bytes(count * getElementBytes(dtype));
  Random random(seed);
  WITH_TYPE(
      dtype, T, for (size_t i = 0; i < count; ++i) {
        T element = makeElement<T>(random, kind, isScalar);
        std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
      });
  return bytes;
}

bool astra::parseElement(const std::string &text, uint32_t dtype,
                         std::vector<char> &bytes) {
  char *end = nullptr;
  bool good = false;
  WITH_TYPE(dtype, T, {
    T element;
    if constexpr (std::is_same_v<T, Bool>) {
      element = {uint8_t(text == "true" || text == "1")};
      good = element.value || text == "false" || text == "0";
    } else if constexpr (isFloat<T>) {
      element = convert<T>(std::strtod(text.c_str(), &end));
      good = !text.empty() && *end == 0;
    } else if constexpr (std::is_signed_v<T>) {
      int64_t value = std::strtoll(text.c_str(), &end, 10);
      good = !text.empty() && *end == 0 && value == T(value);
      element = T(value);
    } else {
      uint64_t value = std::strtoull(text.c_str(), &end, 10);
      good = !text.empty() && text[0] != '-' && *end == 0 && value == T(value);
      element = T(value);
    }
    bytes.assign(reinterpret_cast<char *>(&element),
                 reinterpret_cast<char *>(&element) + sizeof(T));
  });
  return good;
}

void astra::canonicalise(uint32_t dtype, std::vector<char> &bytes) {
  WITH_TYPE(dtype, T, {
    if constexpr (isFloat<T>)
      for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
        T element;
        std::memcpy(&element, bytes.data() + i, sizeof(T));
        auto bits = canonicalBits(element);
        std::memcpy(bytes.data() + i, &bits, sizeof(T));
      }
  });
}

std::string astra::nameDtype(uint32_t dtype) {
  const char *letter = "?";
  switch (dtype >> 24) {
  case ASTRA_CLASS_FLOAT:
    letter = "f";
    break;
  case ASTRA_CLASS_BFLOAT:
    letter = "bf";
    break;
  case ASTRA_CLASS_INT:
    letter = "i";
    break;
  case ASTRA_CLASS_UINT:
    letter = "u";
    break;
  default:
    return "bool";
  }
  return letter + std::to_string(dtype >> 8 & 0xffff);
}

std::string astra::printElement(uint32_t dtype, const char *bytes) {
  char text[64] = "";
  WITH_TYPE(dtype, T, {
    T element;
    std::memcpy(&element, bytes, sizeof(T));
    auto bits = (unsigned long long)(bitsAs<BitsOf<T>>(element));
    if constexpr (std::is_same_v<T, Bool>)
      std::snprintf(text, sizeof text, "%s", element.value ? "true" : "false");
    else if constexpr (isFloat<T>)
      std::snprintf(text, sizeof text, "%.17g (%0*llx)", double(widen(element)),
                    int(2 * sizeof(T)), bits);
    else
      std::snprintf(text, sizeof text, std::is_signed_v<T> ? "%lld" : "%llu",
                    (long long)(element));
  });
  return text;
}

uint64_t astra::mixSeed(uint64_t seed, uint64_t word) {
  return mix(seed * 0x9e3779b97f4a7c15u + word + 1);
}

uint64_t astra::mixSeed(uint64_t seed, const std::string &text) {
  for (char c : text)
    seed = mixSeed(seed, static_cast<unsigned char>(c));
  return mixSeed(seed, text.size());
}
