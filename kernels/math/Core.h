// The arithmetic that every elementary function is built of: bit casts, fma,
// sqrt, selects, pairs (a value held as high + low), scaling by powers of two.
// It knows no function and no target: only IEEE + - * / sqrt, explicit fma and
// integer operations, so that scalar code, vectorised loops, CUDA and ROCm give
// the same bits.
#ifndef ASTRA_KERNELS_MATH_CORE_H
#define ASTRA_KERNELS_MATH_CORE_H

#include <cstdint>
#include <cstring>

#ifdef __FAST_MATH__
#error "kernels/math defines every rounding: do not compile it with -ffast-math"
#endif

// Internal linkage: copies compiled for different CPU levels must not be
// merged.
#if defined(__CUDACC__) || defined(__HIP__)
#define ASTRA_MATH_FN static __host__ __device__ __forceinline__
#else
#define ASTRA_MATH_FN static inline __attribute__((always_inline))
#endif

#ifndef __has_builtin
#define __has_builtin(x) 0
#endif

namespace astra {
namespace math {

template <class T> struct Format;
template <> struct Format<float> {
  using Int = int32_t;
  using Bits = uint32_t;
  static constexpr int Mantissa = 23;
  static constexpr int Bias = 127;
  static constexpr Bits Sign = 0x80000000u;
  static constexpr Bits Infinity = 0x7f800000u;
  static constexpr Bits QuietNan = 0x7fc00000u;
};
template <> struct Format<double> {
  using Int = int64_t;
  using Bits = uint64_t;
  static constexpr int Mantissa = 52;
  static constexpr int Bias = 1023;
  static constexpr Bits Sign = 0x8000000000000000u;
  static constexpr Bits Infinity = 0x7ff0000000000000u;
  static constexpr Bits QuietNan = 0x7ff8000000000000u;
};
template <class T> using IntOf = typename Format<T>::Int;
template <class T> using BitsOf = typename Format<T>::Bits;

ASTRA_MATH_FN uint32_t toBits(float x) {
  uint32_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}
ASTRA_MATH_FN uint64_t toBits(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}
ASTRA_MATH_FN float fromBits(uint32_t b) {
  float x;
  memcpy(&x, &b, sizeof x);
  return x;
}
ASTRA_MATH_FN double fromBits(uint64_t b) {
  double x;
  memcpy(&x, &b, sizeof x);
  return x;
}

#if defined(__CUDA_ARCH__)
ASTRA_MATH_FN float fma(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
ASTRA_MATH_FN double fma(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
ASTRA_MATH_FN float sqrt(float x) { return __fsqrt_rn(x); }
ASTRA_MATH_FN double sqrt(double x) { return __dsqrt_rn(x); }
#elif __has_builtin(__builtin_elementwise_fma)
ASTRA_MATH_FN float fma(float a, float b, float c) {
  return __builtin_elementwise_fma(a, b, c);
}
ASTRA_MATH_FN double fma(double a, double b, double c) {
  return __builtin_elementwise_fma(a, b, c);
}
ASTRA_MATH_FN float sqrt(float x) { return __builtin_elementwise_sqrt(x); }
ASTRA_MATH_FN double sqrt(double x) { return __builtin_elementwise_sqrt(x); }
#else
ASTRA_MATH_FN float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
ASTRA_MATH_FN double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
ASTRA_MATH_FN float sqrt(float x) { return __builtin_sqrtf(x); }
ASTRA_MATH_FN double sqrt(double x) { return __builtin_sqrt(x); }
#endif

template <class T> ASTRA_MATH_FN T infinity() {
  return fromBits(Format<T>::Infinity);
}
template <class T> ASTRA_MATH_FN T nan() {
  return fromBits(Format<T>::QuietNan);
}
template <class T> ASTRA_MATH_FN T abs(T x) {
  return fromBits(BitsOf<T>(toBits(x) & ~Format<T>::Sign));
}
template <class T> ASTRA_MATH_FN bool isNegative(T x) {
  return (toBits(x) & Format<T>::Sign) != 0;
}
template <class T> ASTRA_MATH_FN T copySign(T x, T sign) {
  return fromBits(BitsOf<T>((toBits(x) & ~Format<T>::Sign) |
                            (toBits(sign) & Format<T>::Sign)));
}
/// x with its sign turned where `sign` is negative.
template <class T> ASTRA_MATH_FN T mulSign(T x, T sign) {
  return fromBits(BitsOf<T>(toBits(x) ^ (toBits(sign) & Format<T>::Sign)));
}
/// The bits of `a` where `condition` holds, else of `b`.
template <class T> ASTRA_MATH_FN T select(bool condition, T a, T b) {
  return condition ? a : b;
}
/// x held within [low, high]; NaN stays.
template <class T> ASTRA_MATH_FN T clamp(T x, T low, T high) {
  x = x > high ? high : x;
  return x < low ? low : x;
}

/// 2^k for k with a normal result.
template <class T> ASTRA_MATH_FN T powerOfTwo(IntOf<T> k) {
  return fromBits(
      BitsOf<T>(BitsOf<T>(k + Format<T>::Bias) << Format<T>::Mantissa));
}

/// x 2^k by two factors, |k| < 4 Bias / 2: where the first product is subnormal
/// it is rounded too.
template <class T> ASTRA_MATH_FN T scaleByTwo(T x, IntOf<T> k) {
  // The offset makes a logical shift do: AVX2 has no arithmetic one of 64 bits.
  using Bits = BitsOf<T>;
  constexpr Bits Offset = 4 * (Format<T>::Bias + 1);
  Bits biased = Bits(k) + Offset;
  Bits half = biased >> 1;
  Bits first = half - Offset / 2 + Format<T>::Bias;
  Bits second = biased - half - Offset / 2 + Format<T>::Bias;
  return x * fromBits(Bits(first << Format<T>::Mantissa)) *
         fromBits(Bits(second << Format<T>::Mantissa));
}

/// x 2^k with one rounding, for x of normal size and |k| < 4 Bias / 2: the
/// first of two factors is exact then. AVX-512 has an instruction for it.
template <class T> ASTRA_MATH_FN T scale(T x, IntOf<T> k) {
#if defined(__AVX512F__) && !defined(ASTRA_ANY_LEVEL)
  return __builtin_elementwise_ldexp(x, int(k));
#else
  return scaleByTwo(x, k);
#endif
}

/// The number 3 2^(Mantissa - 1): added to a value below 2^(Mantissa - 1) it
/// rounds it to an integer, which then also stands in the low bits.
template <class T> ASTRA_MATH_FN T roundingMagic() {
  return T(3) * powerOfTwo<T>(Format<T>::Mantissa - 1);
}

/// An integer in both forms.
template <class T> struct Integer {
  T real;
  IntOf<T> integer;
};

/// x c rounded to the nearest integer (ties to even).
template <class T> ASTRA_MATH_FN Integer<T> nearestMultiple(T x, T c) {
  T magic = roundingMagic<T>();
  T shifted = fma(x, c, magic);
  return {shifted - magic, IntOf<T>(toBits(shifted) - toBits(magic))};
}

/// A small integer as a real, without a conversion (AVX2 has none from 64
/// bits).
template <class T> ASTRA_MATH_FN T toReal(IntOf<T> k) {
  T magic = roundingMagic<T>();
  return fromBits(BitsOf<T>(toBits(magic) + BitsOf<T>(k))) - magic;
}

/// An unevaluated sum: high is the sum rounded where a function says
/// "normalised".
template <class T> struct Pair {
  T high;
  T low;
};

/// a + b exactly, |a| >= |b| or a = 0.
template <class T> ASTRA_MATH_FN Pair<T> fastTwoSum(T a, T b) {
  T s = a + b;
  return {s, b - (s - a)};
}

/// a + b exactly.
template <class T> ASTRA_MATH_FN Pair<T> twoSum(T a, T b) {
  T s = a + b;
  T t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// a b exactly (barring underflow).
template <class T> ASTRA_MATH_FN Pair<T> twoProduct(T a, T b) {
  T p = a * b;
  return {p, fma(a, b, -p)};
}

/// a + b, |a| >= |b|, normalised.
template <class T> ASTRA_MATH_FN Pair<T> addPairs(Pair<T> a, Pair<T> b) {
  Pair<T> s = fastTwoSum(a.high, b.high);
  return fastTwoSum(s.high, s.low + (a.low + b.low));
}

/// a + b of any sizes, normalised.
template <class T>
ASTRA_MATH_FN Pair<T> addPairsAnyOrder(Pair<T> a, Pair<T> b) {
  Pair<T> s = twoSum(a.high, b.high);
  return fastTwoSum(s.high, s.low + (a.low + b.low));
}

/// a b, normalised.
template <class T> ASTRA_MATH_FN Pair<T> multiplyPairs(Pair<T> a, Pair<T> b) {
  Pair<T> p = twoProduct(a.high, b.high);
  return fastTwoSum(p.high, p.low + fma(a.high, b.low, a.low * b.high));
}

template <class T> ASTRA_MATH_FN Pair<T> multiplyPair(Pair<T> a, T b) {
  Pair<T> p = twoProduct(a.high, b);
  return fastTwoSum(p.high, fma(a.low, b, p.low));
}

template <class T> ASTRA_MATH_FN Pair<T> scalePair(Pair<T> a, T powerOf2) {
  return {a.high * powerOf2, a.low * powerOf2};
}

template <class T> ASTRA_MATH_FN Pair<T> negatePair(Pair<T> a) {
  return {-a.high, -a.low};
}

/// n / d; the high part is the quotient of the high parts.
template <class T> ASTRA_MATH_FN Pair<T> dividePairs(Pair<T> n, Pair<T> d) {
  T inverse = T(1) / d.high;
  T q = n.high * inverse;
  T rest = fma(-q, d.high, n.high) + fma(-q, d.low, n.low);
  return fastTwoSum(q, rest * inverse);
}

/// c0 + x (c1 + x (c2 + ...)), one fma a step.
template <class T> ASTRA_MATH_FN T horner(T, T c) { return c; }
template <class T, class... More>
ASTRA_MATH_FN T horner(T x, T c, More... more) {
  return fma(x, horner<T>(x, more...), c);
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_CORE_H
