// The table of dtypes; see Dtype.h.
#include "core/Dtype.h"
#include <cstdio>
#include <cstring>

namespace astra {
namespace {

constexpr DtypeInfo table[] = {
    {ASTRA_BOOL, 1, "bool", "BOOL", "|b1"}, {ASTRA_I8, 1, "i8", "I8", "|i1"},
    {ASTRA_I16, 2, "i16", "I16", "<i2"},    {ASTRA_I32, 4, "i32", "I32", "<i4"},
    {ASTRA_I64, 8, "i64", "I64", "<i8"},    {ASTRA_U8, 1, "u8", "U8", "|u1"},
    {ASTRA_U16, 2, "u16", "U16", "<u2"},    {ASTRA_U32, 4, "u32", "U32", "<u4"},
    {ASTRA_U64, 8, "u64", "U64", "<u8"},    {ASTRA_F16, 2, "f16", "F16", "<f2"},
    {ASTRA_BF16, 2, "bf16", "BF16", ""},    {ASTRA_F32, 4, "f32", "F32", "<f4"},
    {ASTRA_F64, 8, "f64", "F64", "<f8"},
};

template <class Match> const DtypeInfo *findRow(Match match) {
  for (const DtypeInfo &row : table) {
    if (match(row))
      return &row;
  }
  return nullptr;
}

/// A number is a NaN if, without its sign, it is above infinity.
template <class Word>
void canonicalise(void *data, size_t count, Word infinity, Word quietNan) {
  constexpr Word sign = Word(1) << (sizeof(Word) * 8 - 1);
  char *bytes = static_cast<char *>(data);
  for (size_t i = 0; i < count; ++i, bytes += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes, sizeof(Word));
    if (Word(word & Word(~sign)) > infinity)
      std::memcpy(bytes, &quietNan, sizeof(Word));
  }
}

} // namespace

const DtypeInfo *findDtype(uint32_t dtype) {
  return findRow([&](const DtypeInfo &row) { return row.dtype == dtype; });
}

const DtypeInfo *findDtypeOfSafetensors(const std::string &name) {
  return findRow([&](const DtypeInfo &row) { return name == row.safetensors; });
}

const DtypeInfo *findDtypeOfNumpy(const std::string &name) {
  return findRow(
      [&](const DtypeInfo &row) { return *row.numpy && name == row.numpy; });
}

std::string nameOfDtype(uint32_t dtype) {
  if (const DtypeInfo *row = findDtype(dtype))
    return row->name;
  char text[24];
  std::snprintf(text, sizeof text, "dtype 0x%08x", unsigned(dtype));
  return text;
}

void canonicaliseNans(uint32_t dtype, void *data, size_t count) {
  if (dtype == ASTRA_F16)
    canonicalise<uint16_t>(data, count, 0x7c00, 0x7e00);
  else if (dtype == ASTRA_BF16)
    canonicalise<uint16_t>(data, count, 0x7f80, 0x7fc0);
  else if (dtype == ASTRA_F32)
    canonicalise<uint32_t>(data, count, 0x7f800000, 0x7fc00000);
  else if (dtype == ASTRA_F64)
    canonicalise<uint64_t>(data, count, 0x7ff0000000000000, 0x7ff8000000000000);
}

size_t findBadBool(const void *data, size_t count) {
  const unsigned char *bytes = static_cast<const unsigned char *>(data);
  size_t i = 0;
  while (i < count && bytes[i] <= 1)
    ++i;
  return i;
}

} // namespace astra
