// The element types of kernels: C++ types for the dtype names of kernels.def,
// f16 and bf16 with their conversions in integer arithmetic (no instruction
// that flushes subnormals), and the type that each computes in. Knows no views.
#ifndef ASTRA_KERNELS_TYPES_H
#define ASTRA_KERNELS_TYPES_H

#include "kernels/Isa.h"
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

ASTRA_KERNELS_BEGIN

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

using T_f32 = float;
using T_f64 = double;
using T_f16 = F16;
using T_bf16 = BF16;
using T_i8 = int8_t;
using T_i16 = int16_t;
using T_i32 = int32_t;
using T_i64 = int64_t;
using T_u8 = uint8_t;
using T_u16 = uint16_t;
using T_u32 = uint32_t;
using T_u64 = uint64_t;
using T_bool = Bool;
// Elements of which only the width matters.
using T_b8 = uint8_t;
using T_b16 = uint16_t;
using T_b32 = uint32_t;
using T_b64 = uint64_t;

template <class To, class From> ASTRA_INLINE inline To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// The unsigned integer as wide as T.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T>
inline constexpr bool isSmallFloat =
    std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
template <class T>
inline constexpr bool isFloat = std::is_floating_point_v<T> || isSmallFloat<T>;
template <class T> inline constexpr bool isInt = std::is_integral_v<T>;

/// One type for both integers of a width, for what does not depend on the sign.
template <class T> using Signless = std::conditional_t<isInt<T>, BitsOf<T>, T>;

/// The type that arithmetic on T runs in.
template <class T>
using Compute = std::conditional_t<isSmallFloat<T>, float, T>;

ASTRA_INLINE inline float widen(F16 x) {
  uint32_t magnitude = uint32_t(x.bits & 0x7fffu) << 13;
  uint32_t exponent = magnitude & 0x0f800000u;
  uint32_t normal = magnitude + (112u << 23);
  uint32_t special = magnitude + (224u << 23);
  // A subnormal: give it a leading one, then take that off exactly.
  float lifted = bitsAs<float>(normal + (1u << 23));
  uint32_t subnormal = bitsAs<uint32_t>(lifted - bitsAs<float>(113u << 23));
  uint32_t bits = exponent == 0x0f800000u ? special
                  : exponent == 0         ? subnormal
                                          : normal;
  return bitsAs<float>(bits | uint32_t(x.bits & 0x8000u) << 16);
}

ASTRA_INLINE inline float widen(BF16 x) {
  return bitsAs<float>(uint32_t(x.bits) << 16);
}

template <class T> inline std::enable_if_t<!isSmallFloat<T>, T> widen(T x) {
  return x;
}

/// Rounds to nearest even; NaN becomes the quiet one with its sign.
ASTRA_INLINE inline F16 roundToF16(float x) {
  uint32_t bits = bitsAs<uint32_t>(x);
  uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t u = bits & 0x7fffffffu;
  uint32_t normal = (u + 0xfffu + (u >> 13 & 1u) - (112u << 23)) >> 13;
  // Below 2^-14 units of 2^-24 are counted.
  uint32_t exponent = u >> 23;
  uint32_t shift = exponent < 101 ? 25 : exponent > 112 ? 14 : 126 - exponent;
  uint32_t significand = (u & 0x7fffffu) | 0x800000u;
  uint32_t rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
  uint32_t units = significand >> shift;
  units += uint32_t(rest > half) | (uint32_t(rest == half) & units & 1u);
  uint32_t result = u < 0x38800000u ? units : normal;
  result = u >= 0x47800000u ? 0x7c00u : result;
  result = u > 0x7f800000u ? 0x7e00u : result;
  return {uint16_t(result | sign)};
}

ASTRA_INLINE inline BF16 roundToBF16(float x) {
  uint32_t u = bitsAs<uint32_t>(x);
  uint32_t rounded = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  uint32_t quiet = (u >> 16 & 0x8000u) | 0x7fc0u;
  return {uint16_t((u & 0x7fffffffu) > 0x7f800000u ? quiet : rounded)};
}

/// Rounds a double once to a format of 1 + exponentBits + fractionBits bits.
template <int exponentBits, int fractionBits>
ASTRA_INLINE inline uint16_t roundDouble(double x) {
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  constexpr uint64_t infinity = ((uint64_t(1) << exponentBits) - 1)
                                << fractionBits;
  uint64_t bits = bitsAs<uint64_t>(x);
  uint16_t sign = uint16_t(bits >> 48 & 0x8000u);
  int exponent = int(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7ff)
    return uint16_t(sign | infinity |
                    (fraction ? uint64_t(1) << (fractionBits - 1) : 0));
  int target = exponent - 1023 + bias;
  int shift = 52 - fractionBits + (target < 1 ? 1 - target : 0);
  if (shift > 54)
    return sign;
  uint64_t significand = fraction | uint64_t(1) << 52;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  uint64_t result = significand >> shift;
  result += rest > half || (rest == half && (result & 1));
  if (target > 1) // the leading one adds the last unit of the exponent
    result += uint64_t(target - 1) << fractionBits;
  return uint16_t(sign | (result > infinity ? infinity : result));
}

template <class T> ASTRA_INLINE inline T narrow(Compute<T> x) {
  if constexpr (std::is_same_v<T, F16>)
    return roundToF16(x);
  else if constexpr (std::is_same_v<T, BF16>)
    return roundToBF16(x);
  else
    return x;
}

/// An integer as a double that is within 53 bits or, beyond, rounded to odd, so
/// that a second rounding to 11 bits or fewer is as if there had been one.
template <class I> inline double toDoubleOdd(I x) {
  if constexpr (sizeof(I) < 8) {
    return double(x);
  } else {
    bool negative = x < 0;
    uint64_t magnitude = negative ? 0 - uint64_t(x) : uint64_t(x);
    if (magnitude >> 53) {
      uint64_t rest = magnitude & 0xfff;
      magnitude = (magnitude & ~uint64_t(0xfff)) | uint64_t(rest ? 0x1000 : 0);
    }
    return negative ? -double(magnitude) : double(magnitude);
  }
}

/// Truncates; out of range gives the nearest end, NaN gives 0.
template <class I, class F> ASTRA_INLINE inline I truncateTo(F x) {
  using Limits = std::numeric_limits<I>;
  constexpr F above = F(uint64_t(1) << (Limits::digits - 1)) * 2;
  constexpr F least = std::is_signed_v<I> ? -above : F(0);
  if (x != x)
    return 0;
  if (x <= least)
    return Limits::min();
  if (x >= above)
    return Limits::max();
  return I(x);
}

template <class To, class From> ASTRA_INLINE inline To convert(From x) {
  if constexpr (std::is_same_v<From, Bool>)
    return convert<To>(uint8_t(x.value != 0));
  else if constexpr (std::is_same_v<To, Bool>)
    return {uint8_t(widen(x) != Compute<From>(0))};
  else if constexpr (isInt<To> && isInt<From>)
    return To(x);
  else if constexpr (isInt<To>)
    return truncateTo<To>(widen(x));
  else if constexpr (!isSmallFloat<To>)
    return To(widen(x));
  else if constexpr (std::is_same_v<From, double>)
    return {std::is_same_v<To, F16> ? roundDouble<5, 10>(x)
                                    : roundDouble<8, 7>(x)};
  else if constexpr (isInt<From>)
    return convert<To>(toDoubleOdd(x));
  else
    return narrow<To>(widen(x));
}

template <class T> inline bool isNan(T x) {
  if constexpr (isFloat<T>)
    return widen(x) != widen(x);
  else
    return false;
}

/// The bits that comparisons see: all NaNs are one.
template <class T> inline BitsOf<T> canonicalBits(T x) {
  if (isNan(x)) {
    if constexpr (std::is_same_v<T, F16>)
      return 0x7e00;
    else if constexpr (std::is_same_v<T, BF16>)
      return 0x7fc0;
    else if constexpr (std::is_same_v<T, float>)
      return 0x7fc00000u;
    else if constexpr (std::is_same_v<T, double>)
      return 0x7ff8000000000000u;
  }
  return bitsAs<BitsOf<T>>(x);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_TYPES_H
