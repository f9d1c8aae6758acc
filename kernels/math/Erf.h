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

/// erfc a for a >= 0.6, given a^2 and 1 + 2 a as pairs.
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

/// Up to 7/8 erf comes from its own series, beyond from erfc, whose smooth
/// part is fitted from 0.6 on only.
template <class T> ASTRA_MATH_FN T erfOf(T x) {
  T magnitude = abs(x);
  T near = fma(x, erfTail(magnitude < T(0.875) ? x * x : T(0)), x);
  T far = mulSign(oneMinus(erfcOfMagnitude(magnitude)).high, x);
  return magnitude < T(0.875) ? near : far;
}

/// erf a for 0 <= a <= 7/8 as a pair.
template <class T> ASTRA_MATH_FN Pair<T> erfNear(T a) {
  return fastTwoSum(a, a * erfTail(a * a));
}

/// 1 + e, e within [-1, 1], normalised.
template <class T> ASTRA_MATH_FN Pair<T> onePlus(Pair<T> e) {
  Pair<T> s = fastTwoSum(T(1), e.high);
  return fastTwoSum(s.high, s.low + e.low);
}

/// e, or -e where it is `negated`. Part by part: a choice between whole pairs
/// would keep a loop around it from being vectorised.
template <class T> ASTRA_MATH_FN Pair<T> negateIf(bool negated, Pair<T> e) {
  return {select(negated, -e.high, e.high), select(negated, -e.low, e.low)};
}

template <class T> ASTRA_MATH_FN T erfcOf(T x) {
  T magnitude = abs(x);
  bool near = magnitude < T(0.625);
  Pair<T> e = erfNear(near ? magnitude : T(0));
  Scaled<T> s = erfcOfMagnitude(magnitude);
  Pair<T> rest = oneMinus(s);
  // erf |x|, from either side.
  e = {select(near, e.high, rest.high), select(near, e.low, rest.low)};
  bool negative = isNegative(x);
  Pair<T> sum = onePlus(negateIf(!negative, e));
  return near || negative ? sum.high : scale(s.value.high, s.k);
}

/// erf(x / sqrt 2) for 0 <= x <= 1.07.
template <class T> ASTRA_MATH_FN Pair<T> erfOfScaledNear(T x) {
  using C = Constants<T>;
  Pair<T> p = twoProduct(x, C::sqrt2OverPi);
  T square = x * x, low = fma(x, C::sqrt2OverPiLow, p.low);
  return fastTwoSum(p.high, fma(x * square, normalTail(square), low));
}

/// x Phi(x) = x erfc(-x / sqrt 2) / 2.
template <class T> ASTRA_MATH_FN T geluOf(T x) {
  using C = Constants<T>;
  T magnitude = clamp(abs(x), T(0), ErfRange<T>::GeluLast);
  T a = magnitude * C::sqrtHalf;
  bool near = a < T(0.625), negative = isNegative(x);
  Pair<T> square = twoProduct(magnitude, magnitude);
  Pair<T> twice = twoProduct(magnitude, C::sqrt2);
  twice.low = fma(magnitude, C::sqrt2Low, twice.low);
  Pair<T> d = twoSum(T(1), twice.high);
  d = fastTwoSum(d.high, d.low + twice.low);
  Scaled<T> s = erfcScaled(a, scalePair(square, T(0.5)), d);
  // 2 Phi(x): 1 + erf(x / sqrt 2) near 0 and above, erfc below.
  Pair<T> rest = oneMinus(s);
  Pair<T> e = erfOfScaledNear(near ? magnitude : T(0));
  e = {select(near, e.high, rest.high), select(near, e.low, rest.low)};
  Pair<T> sum = onePlus(negateIf(negative, e));
  bool tail = negative && !near;
  Pair<T> phi = {select(tail, s.value.high, sum.high),
                 select(tail, s.value.low, sum.low)};
  T factor = negative ? -magnitude : x;
  T result = scale(fma(factor, phi.high, factor * phi.low),
                   tail ? s.k - 1 : IntOf<T>(-1));
  // Infinity times a low part of 0 would be NaN.
  result = x > ErfRange<T>::GeluLast ? x : result;
  return x == 0 ? x : result;
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
  Pair<T> near = fastTwoSum(y - x, y * erfTail(x > T(0.65) ? T(0) : y * y));
  T unit = limitedPower<T>(c.k);
  T far = ((T(1) - x) - c.value.high * unit) - c.value.low * unit;
  return x > T(0.65) ? far : near.high + near.low;
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
