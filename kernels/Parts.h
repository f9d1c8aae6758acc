// Parts of vectors, copied to and from memory that has whole ones.
#ifndef ASTRA_KERNELS_PARTS_H
#define ASTRA_KERNELS_PARTS_H

#include "kernels/Isa.h"

#include <cstdint>
#include <cstring>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

ASTRA_KERNELS_BEGIN

#if defined(__AVX512BW__)
/// A part of 128 bytes, read and written as vectors: what is stored in pieces
/// is not soon read as one.
inline __mmask64 maskOfPart(int64_t bytes, int64_t at) {
  int64_t n = bytes - at;
  return n >= 64 ? ~__mmask64(0) : n > 0 ? (__mmask64(1) << n) - 1 : 0;
}
inline void loadPart(const char *from, int64_t bytes, char *to) {
  for (int64_t at = 0; at < bytes; at += 64)
    _mm512_storeu_si512(
        to + at, _mm512_maskz_loadu_epi8(maskOfPart(bytes, at), from + at));
}
inline void storePart(const char *from, int64_t bytes, char *to) {
  for (int64_t at = 0; at < bytes; at += 64)
    _mm512_mask_storeu_epi8(to + at, maskOfPart(bytes, at),
                            _mm512_loadu_si512(from + at));
}
#else
inline void loadPart(const char *from, int64_t bytes, char *to) {
  std::memcpy(to, from, size_t(bytes));
}
inline void storePart(const char *from, int64_t bytes, char *to) {
  std::memcpy(to, from, size_t(bytes));
}
#endif

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_PARTS_H
