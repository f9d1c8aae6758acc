// Reduction of an angle to n pi/2 + r, |r| <= pi/4: for moderate angles by
// parts of pi/2 (every angle that a program with care for accuracy has), for
// all the others by integer multiplication with the right window of the bits of
// 2/pi.
#ifndef ASTRA_KERNELS_MATH_TRIGREDUCTION_H
#define ASTRA_KERNELS_MATH_TRIGREDUCTION_H

#include "kernels/math/Constants.h"
#include "kernels/math/Core.h"

namespace astra {
namespace math {

/// x = quadrant pi/2 + r; only the low two bits of the quadrant count.
template <class T> struct Angle {
  IntOf<T> quadrant;
  Pair<T> r;
};

template <class T> struct TrigRange;
template <> struct TrigRange<float> {
  static constexpr float Moderate = 0x1p16f;
};
template <> struct TrigRange<double> {
  static constexpr double Moderate = 0x1p25;
};

/// Whether the quick reduction does for x. NaN counts as moderate.
template <class T> ASTRA_MATH_FN bool isModerateAngle(T x) {
  return !(abs(x) > TrigRange<T>::Moderate);
}

template <class T> ASTRA_MATH_FN Angle<T> reduceModerateAngle(T x) {
  using C = Constants<T>;
  Integer<T> n = nearestMultiple(x, C::twoOverPi);
  T exact = fma(-n.real, C::halfPi, x);
  Pair<T> p = twoProduct(n.real, C::halfPiLow);
  Pair<T> r = twoSum(exact, -p.high);
  return {n.integer,
          fastTwoSum(r.high, fma(-n.real, C::halfPiLowest, r.low - p.low))};
}

/// Bits of 2/pi below a first word of zeros.
ASTRA_MATH_FN uint64_t twoOverPiWord(unsigned i) {
  constexpr uint64_t Words[20] = {
      0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u,
      0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
      0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
      0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
      0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u,
      0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau,
      0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu,
  };
  return Words[i];
}

/// 64 bits from bit number `from` on, counted from the top of the first word.
ASTRA_MATH_FN uint64_t twoOverPiBits(unsigned from) {
  uint64_t high = twoOverPiWord(from / 64), low = twoOverPiWord(from / 64 + 1);
  unsigned shift = from % 64;
  return shift == 0 ? high : (high << shift) | (low >> (64 - shift));
}

/// The fraction high 2^-64 + low 2^-128 of a quarter turn times four, as an
/// angle.
ASTRA_MATH_FN Pair<double> angleOfFraction(uint64_t high, uint64_t low) {
  // Three pieces of at most 53 bits, each exact.
  Pair<double> v =
      fastTwoSum(double(int64_t(high >> 11)) * 0x1p-51,
                 double(int64_t((high & 0x7ff) << 42 | low >> 22)) * 0x1p-104);
  v = fastTwoSum(v.high, v.low + double(int64_t(low & 0x3fffff)) * 0x1p-126);
  return multiplyPairs(
      v, {Constants<double>::halfPi, Constants<double>::halfPiLow});
}

/// For finite |x| > 2^16.
ASTRA_MATH_FN Angle<double> reduceLargeAngle(double x) {
  __extension__ typedef unsigned __int128 Wide;
  uint64_t b = toBits(abs(x));
  uint64_t m = (b & 0xfffffffffffffu) | 0x10000000000000u;
  // |x| = m 2^e. Bits of 2/pi that weigh 4 or more in the product are left out.
  unsigned from = unsigned(b >> 52) - 1075 + 62;
  Wide p0 = Wide(m) * twoOverPiBits(from + 128);
  Wide p1 = Wide(m) * twoOverPiBits(from + 64) + uint64_t(p0 >> 64);
  uint64_t low = uint64_t(p1);
  uint64_t high = m * twoOverPiBits(from) + uint64_t(p1 >> 64);
  // high:low is the product mod 4 with two integer bits; to nearest integer:
  uint64_t n = (high + 0x2000000000000000u) >> 62;
  high -= n << 62;
  bool below = (high >> 63) != 0;
  high = below ? ~high + (low == 0) : high;
  low = below ? ~low + 1 : low;
  Pair<double> r = angleOfFraction(high, low);
  bool turn = below != isNegative(x);
  return {isNegative(x) ? -int64_t(n) : int64_t(n), turn ? negatePair(r) : r};
}

ASTRA_MATH_FN Angle<float> reduceLargeAngle(float x) {
  Angle<double> a = reduceLargeAngle(double(x));
  float high = float(a.r.high);
  return {int32_t(a.quadrant), {high, float(a.r.high - double(high))}};
}

template <class T> ASTRA_MATH_FN Angle<T> reduceAngle(T x) {
  if (isModerateAngle(x))
    return reduceModerateAngle(x);
  if (!(abs(x) < infinity<T>()))
    return {0, {nan<T>(), nan<T>()}};
  return reduceLargeAngle(x);
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_TRIGREDUCTION_H
