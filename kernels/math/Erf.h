// erf, erfc, gelu, erfinv. All tails go through (1 + 2 a) e^(a^2) erfc a, which
// is smooth from 0 to infinity, with e^(-a^2) as a pair.
#ifndef ASTRA_KERNELS_MATH_ERF_H
#define ASTRA_KERNELS_MATH_ERF_H

#include "kernels/math/Activations.h"

namespace astra {
namespace math {

/// Beyond these erfc a, and x Phi(x) at -a sqrt 2, are 0.
template <class T> struct ErfRange;
template <> struct ErfRange<float> {
  static constexpr float Last = 10.25, GeluLast = 14.5;
};
template <> struct ErfRange<double> {
  static constexpr double Last = 27.5, GeluLast = 38.75;
};

/// erfc a for a >= 0, given a^2 and 1 + 2 a as pairs.
template <class T>
ASTRA_MATH_FN Scaled<T> erfcScaled(T a, Pair<T> square, Pair<T> onePlusTwice) {
  ExpArgument<T> e = reduceExp(negatePair(square));
  Pair<T> power = expOfReduced(e.r);
  power = fastTwoSum(power.high, power.low);
  T t = (a - T(4)) / (a + T(4));
  Pair<T> smooth = fastTwoSum(T(1.125), erfcTail(t));
  return {e.k, dividePairs(multiplyPairs(power, smooth), onePlusTwice)};
}

template <class T> ASTRA_MATH_FN Scaled<T> erfcOfMagnitude(T a) {
  a = clamp(a, T(0), ErfRange<T>::Last);
  return erfcScaled(a, twoProduct(a, a), twoSum(T(1), a + a));
}

/// 1 - s, normalised; s at most 1.
template <class T> ASTRA_MATH_FN Pair<T> oneMinus(Scaled<T> s) {
  T unit = limitedPower<T>(s.k);
  Pair<T> d = fastTwoSum(T(1), -s.value.high * unit);
  return fastTwoSum(d.high, fma(-s.value.low, unit, d.low));
}

template <class T> ASTRA_MATH_FN T erfOf(T x) {
  T magnitude = abs(x);
  T square = magnitude < 1 ? x * x : T(1);
  T near = fma(x, erfTail(square), x);
  T far = mulSign(oneMinus(erfcOfMagnitude(magnitude)).high, x);
  return magnitude < 1 ? near : far;
}

template <class T> ASTRA_MATH_FN T erfcOf(T x) {
  Scaled<T> s = erfcOfMagnitude(abs(x));
  Pair<T> rest = oneMinus(s);
  // erfc(-a) = 1 + (1 - erfc a).
  Pair<T> whole = fastTwoSum(T(1), rest.high);
  return isNegative(x) ? whole.high + (whole.low + rest.low)
                       : scale(s.value.high + s.value.low, s.k);
}

/// x Phi(x) = x erfc(-x / sqrt 2) / 2.
template <class T> ASTRA_MATH_FN T geluOf(T x) {
  using C = Constants<T>;
  T magnitude = clamp(abs(x), T(0), ErfRange<T>::GeluLast);
  Pair<T> square = twoProduct(magnitude, magnitude);
  Pair<T> twice = twoProduct(magnitude, C::sqrt2);
  twice.low = fma(magnitude, C::sqrt2Low, twice.low);
  Pair<T> d = twoSum(T(1), twice.high);
  d = fastTwoSum(d.high, d.low + twice.low);
  Scaled<T> s =
      erfcScaled(magnitude * C::sqrtHalf, scalePair(square, T(0.5)), d);
  s.k -= 1;
  Pair<T> upper = oneMinus(s);
  T below = scale(fma(-magnitude, s.value.high, -magnitude * s.value.low), s.k);
  T above = fma(x, upper.high, x * upper.low);
  // x times an infinitesimal low part must not become infinity times 0.
  above = x > ErfRange<T>::GeluLast ? x : above;
  return x == 0 ? x : isNegative(x) ? below : above;
}

/// A first value of erfinv x, from w = -log(1 - x^2).
ASTRA_MATH_FN float erfinvStart(float x, float w) {
  return x * (w < 5.0f ? erfinvCentre(w - 2.5f) : erfinvTail(sqrt(w) - 3.0f));
}
ASTRA_MATH_FN double erfinvStart(double x, double w) {
  return x * (w < 5.0 ? erfinvCentre(w - 2.5) : erfinvTail(sqrt(w) - 4.0));
}

/// erf y - x for y near erfinv x, x >= 0: by what is missing from 1 where x >
/// 1/2.
template <class T> ASTRA_MATH_FN T erfResidual(T y, T x, Scaled<T> c) {
  Pair<T> near = fastTwoSum(y - x, y * erfTail(x > T(0.5) ? T(0) : y * y));
  T unit = limitedPower<T>(c.k);
  T far = ((T(1) - x) - c.value.high * unit) - c.value.low * unit;
  return x > T(0.5) ? far : near.high + near.low;
}

template <class T> ASTRA_MATH_FN T erfinvOf(T x) {
  T magnitude = abs(x);
  bool inside = magnitude < 1;
  T m = inside ? magnitude : T(0);
  // (1 - x)(1 + x): neither factor is rounded where it is small.
  Pair<T> l = logPair((T(1) - m) * (T(1) + m));
  T y = erfinvStart(m, -(l.high + l.low));
  // One step of Halley's rule with the exact residual.
  Scaled<T> c = erfcOfMagnitude(y);
  ExpArgument<T> a = reduceExp(clamp(y * y, T(0), ExpRange<T>::High));
  Pair<T> e = expOfReduced(a.r);
  T inverseSlope = scale(e.high + e.low, a.k) / Constants<T>::twoOverSqrtPi;
  T step = erfResidual(y, m, c) * inverseSlope;
  T result = mulSign(y - step / fma(y, step, T(1)), x);
  result = magnitude == 1 ? copySign(infinity<T>(), x) : result;
  return magnitude > 1 || x != x ? nan<T>() : result;
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ERF_H
