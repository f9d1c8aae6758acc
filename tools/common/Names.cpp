// See Names.h.
#include "tools/common/Names.h"
#include "astra/base.h"
#include <cstdio>

namespace astra {
namespace {

struct Dtype {
  uint32_t dtype;
  const char *name;
  size_t bytes;
};
constexpr Dtype dtypes[] = {
    {ASTRA_BOOL, "bool", 1}, {ASTRA_I8, "i8", 1},     {ASTRA_I16, "i16", 2},
    {ASTRA_I32, "i32", 4},   {ASTRA_I64, "i64", 8},   {ASTRA_U8, "u8", 1},
    {ASTRA_U16, "u16", 2},   {ASTRA_U32, "u32", 4},   {ASTRA_U64, "u64", 8},
    {ASTRA_F16, "f16", 2},   {ASTRA_BF16, "bf16", 2}, {ASTRA_F32, "f32", 4},
    {ASTRA_F64, "f64", 8}};

const Dtype *find(uint32_t dtype) {
  for (const Dtype &row : dtypes)
    if (row.dtype == dtype)
      return &row;
  return nullptr;
}

} // namespace

std::string getDtypeName(uint32_t dtype) {
  if (const Dtype *row = find(dtype))
    return row->name;
  char text[24];
  std::snprintf(text, sizeof text, "dtype 0x%08x", unsigned(dtype));
  return text;
}

size_t getDtypeBytes(uint32_t dtype) {
  const Dtype *row = find(dtype);
  return row ? row->bytes : 0;
}

std::string quoteJson(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

} // namespace astra
