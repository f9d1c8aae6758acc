// erf, erfc, gelu, erfinv. All tails go through (1 + 2 a) e^(a^2) erfc a or,
// for gelu, a like product, which is smooth from 0 to infinity, with the power
// of e as a pair.
#ifndef ASTRA_KERNELS_MATH_ERF_H
#define ASTRA_KERNELS_MATH_ERF_H

#include "kernels/math/Activations.h"

namespace astra {
namespace math {

/// Beyond Last erfc a is 0, and beyond GeluLast x Phi(x) at -x; geluTail's
/// variable is (v - GeluCentre)/(v + GeluCentre).
template <class T> struct ErfRange;
template <> struct ErfRange<float> {
  static constexpr float Last = 10.25, GeluLast = 14.5, GeluCentre = 3;
};
template <> struct ErfRange<double> {
  static constexpr double Last = 27.5, GeluLast = 38.75, GeluCentre = 4;
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

/// e^(-v^2/2), normalised. The low part of the exponent joins only after the
/// sum with 1 has been split.
template <class T> ASTRA_MATH_FN Scaled<T> expOfHalfSquare(T v) {
  using C = Constants<T>;
  Pair<T> square = twoProduct(v, T(-0.5) * v);
  Integer<T> n = nearestMultiple(square.high, C::log2E);
  T exact = fma(-n.real, C::ln2, square.high);
  T low = fma(-n.real, C::ln2Low, square.low);
  T r = exact + low;
  Pair<T> s = fastTwoSum(T(1), exact);
  T rest = s.low + fma(r * r, expTail(r), low);
  return {n.integer, fastTwoSum(s.high, rest)};
}

/// v erfc(v / sqrt 2) 2^-k as first second + low. With c = 59/64 and f = c v/(v
/// + c), e^(v^2/2) erfc(v / sqrt 2) is (1 + g) f / v, where g = f geluTail is
/// small: within [-0.15, 0.1].
template <class T> struct NormalTail {
  IntOf<T> k;
  T first, second, low;
};

template <class T> ASTRA_MATH_FN NormalTail<T> normalTail(T v) {
  constexpr T C = T(0.921875), Centre = ErfRange<T>::GeluCentre;
  Scaled<T> power = expOfHalfSquare(v);
  T e = power.value.high;
  // Exact for v > C too: C is a multiple of the last place of any v here.
  Pair<T> d = fastTwoSum(C, v);
  T inverse = C / d.high, f = v * inverse;
  T g = f * geluTail((v - Centre) / (v + Centre));
  // What f lacks also changes g: it counts about (1 + g)(1 + g) / C times.
  T lost = fma(-inverse, d.low, fma(-inverse, d.high, C));
  T slope = fma(e, g + T(0x1.6p-4), e);
  T correction = fma(lost, slope, power.value.low);
  T low = fma(e, g, fma(correction, g, correction));
  return {power.k, f, e, fma(f, low, fma(v, inverse, -f) * slope)};
}

/// x Phi(x): with t = |x| erfc(|x| / sqrt 2) / 2, -t below 0 and x - t above.
template <class T> ASTRA_MATH_FN T geluOf(T x) {
  constexpr T Last = ErfRange<T>::GeluLast;
  T magnitude = abs(x), v = magnitude > Last ? Last : magnitude;
  NormalTail<T> t = normalTail(v);
  IntOf<T> k = t.k - 1;
  T below = scale(fma(t.first, t.second, t.low), k);
  T unit = limitedPower<T>(k), second = t.second * unit;
  T high = fma(-t.first, second, v);
  T above = high + fma(-t.low, unit, fma(-t.first, second, v - high));
  T result = mulSign(select(isNegative(x), below, above), x);
  return x > Last ? x : result;
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
