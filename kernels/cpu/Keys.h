// Sorting by keys: an unsigned integer for each element whose order is that of
// `sort` (NaN last, -0 as +0), and stable ways to order them: by rank for short
// lines, by radix for long ones.
#ifndef ASTRA_KERNELS_CPU_KEYS_H
#define ASTRA_KERNELS_CPU_KEYS_H

#include "kernels/Types.h"
#include "kernels/cpu/Fold.h"

ASTRA_KERNELS_BEGIN

/// The key of an element; equal for elements that sort as equal.
template <class T> ASTRA_INLINE inline BitsOf<T> sortKey(T x) {
  using Bits = BitsOf<T>;
  constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(T) - 1));
  Bits bits = bitsAs<Bits>(x);
  if constexpr (isInt<T>) {
    return std::is_signed_v<T> ? Bits(bits ^ sign) : bits;
  } else {
    constexpr Bits infinity = std::is_same_v<T, float>    ? Bits(0x7f800000)
                              : std::is_same_v<T, double> ? Bits(0x7ffull << 52)
                              : std::is_same_v<T, F16>    ? Bits(0x7c00)
                                                          : Bits(0x7f80);
    Bits size = Bits(bits & Bits(~sign));
    Bits key = bits & sign ? Bits(sign - size) : Bits(sign + size);
    return size > infinity ? Bits(~Bits(0)) : key;
  }
}

/// The element of a key: +0 for both zeros, one NaN.
template <class T> ASTRA_INLINE inline T keyValue(BitsOf<T> key) {
  using Bits = BitsOf<T>;
  constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(T) - 1));
  if constexpr (isInt<T>)
    return bitsAs<T>(std::is_signed_v<T> ? Bits(key ^ sign) : key);
  else
    return bitsAs<T>(key < sign ? Bits(sign | Bits(sign - key))
                                : Bits(key - sign));
}

/// Lines up to here are sorted by rank.
constexpr int64_t rankLimit = 128;

/// The rank of each of n <= rankLimit keys among them, equal ones in order. The
/// key arrays have room up to a multiple of 32.
template <class K> inline void rankKeys(const K *keys, int64_t n, K *ranks) {
  using Signed = std::make_signed_t<K>;
  constexpr K sign = K(K(1) << (8 * sizeof(K) - 1));
  alignas(64) Signed ordered[rankLimit]; // signed numbers compare faster
  for (int64_t i = 0; i < rankLimit; ++i)
    ordered[i] = Signed(i < n ? K(keys[i] ^ sign) : K(~sign));
  for (int64_t block = 0; block < n; block += laneCount) {
    Lanes<Signed> own = loadLanes(ordered + block), rank = Signed(0), lane;
    for (int i = 0; i < laneCount; ++i)
      lane[i] = Signed(i);
    for (int64_t j = 0; j < block; ++j) // those before: equal ones too
      rank -= Lanes<Signed>(ordered[j]) <= own;
    for (int64_t j = block; j < n; ++j) {
      Lanes<Signed> other = ordered[j];
      // Of an equal one in the block itself the place decides.
      Lanes<Signed> place =
          Signed(j - block < laneCount ? j - block : laneCount);
      rank -= (other < own) | ((other == own) & (place < lane));
    }
    __builtin_memcpy(ranks + block, &rank, sizeof(rank));
  }
}

/// Sorts n values by the keys that keyOf finds in them, a byte at a time. Gives
/// back the sorted of the two arrays. Bytes that all values share cost nothing.
template <class V, class KeyOf>
inline V *radixSort(V *from, V *to, int64_t n, int bytes, KeyOf keyOf) {
  int64_t counts[8][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    auto key = keyOf(from[i]);
    for (int b = 0; b < bytes; ++b)
      ++counts[b][uint8_t(key >> (8 * b))];
  }
  for (int b = 0; b < bytes; ++b) {
    int64_t *count = counts[b], start = 0;
    if (count[uint8_t(keyOf(from[0]) >> (8 * b))] == n)
      continue;
    for (int digit = 0; digit < 256; ++digit) {
      int64_t here = count[digit];
      count[digit] = start;
      start += here;
    }
    for (int64_t i = 0; i < n; ++i)
      to[count[uint8_t(keyOf(from[i]) >> (8 * b))]++] = from[i];
    V *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_KEYS_H
