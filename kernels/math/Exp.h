// exp, exp2, expm1, sinh, cosh, tanh, sech2: x = k log 2 + r, a polynomial in
// r, and a last scaling by 2^k. What the others of the family need (e^r as a
// pair) is here too.
#ifndef ASTRA_KERNELS_MATH_EXP_H
#define ASTRA_KERNELS_MATH_EXP_H

#include "kernels/math/Constants.h"
#include "kernels/math/Core.h"
#include "kernels/math/Polynomials.h"

namespace astra {
namespace math {

/// Beyond these the results are 0 and infinity, with room for a factor or two.
template <class T> struct ExpRange;
template <> struct ExpRange<float> {
  static constexpr float Low = -150, High = 130, Exp2Low = -200, Exp2High = 200;
  static constexpr float MinusOne = -20; ///< e^x - 1 rounds to -1 below.
  static constexpr float TanhOne = 10;   ///< tanh x rounds to 1 above.
  static constexpr float Sech2Zero = 60; ///< 1/cosh^2 x rounds to 0 there.
};
template <> struct ExpRange<double> {
  static constexpr double Low = -800, High = 720, Exp2Low = -1200,
                          Exp2High = 1100;
  static constexpr double MinusOne = -40;
  static constexpr double TanhOne = 20;
  static constexpr double Sech2Zero = 400;
};

/// x = k log 2 + r, |r| < 0.347.
template <class T> struct ExpArgument {
  IntOf<T> k;
  Pair<T> r;
};

template <class T> ASTRA_MATH_FN ExpArgument<T> reduceExp(T x) {
  Integer<T> n = nearestMultiple(x, Constants<T>::log2E);
  T exact = fma(-n.real, Constants<T>::ln2, x);
  T r = fma(-n.real, Constants<T>::ln2Low, exact);
  return {n.integer, {r, fma(-n.real, Constants<T>::ln2Low, exact - r)}};
}

template <class T> ASTRA_MATH_FN ExpArgument<T> reduceExp(Pair<T> x) {
  ExpArgument<T> a = reduceExp(x.high);
  a.r = fastTwoSum(a.r.high, a.r.low + x.low);
  return a;
}

/// e^r, not normalised.
template <class T> ASTRA_MATH_FN Pair<T> expOfReduced(Pair<T> r) {
  Pair<T> s = fastTwoSum(T(1), r.high);
  T tail = fma(r.high * r.high, expTail(r.high), r.low);
  return {s.high, s.low + tail};
}

template <class T> ASTRA_MATH_FN T expOf(T x) {
  ExpArgument<T> a = reduceExp(clamp(x, ExpRange<T>::Low, ExpRange<T>::High));
  Pair<T> e = expOfReduced(a.r);
  return scale(e.high + e.low, a.k);
}

template <class T> ASTRA_MATH_FN T exp2Of(T x) {
  x = clamp(x, ExpRange<T>::Exp2Low, ExpRange<T>::Exp2High);
  Integer<T> n = nearestMultiple(x, T(1));
  T r = x - n.real;
  Pair<T> linear = twoProduct(r, Constants<T>::ln2);
  linear.low = fma(r, Constants<T>::ln2Low, linear.low);
  Pair<T> s = fastTwoSum(T(1), linear.high);
  T tail = fma(r * r, exp2Tail(r), linear.low);
  return scale(s.high + (s.low + tail), n.integer);
}

/// e^r - 1 - r for a reduced r: the high part is r^2/2 rounded.
template <class T> ASTRA_MATH_FN Pair<T> expCurve(Pair<T> r) {
  Pair<T> half = twoProduct(T(0.5) * r.high, r.high);
  T z = r.high * r.high;
  T cubic = fma(r.high * z, sinhTail(z), r.low);
  return {half.high, half.low + fma(z * z, coshTail(z), cubic)};
}

/// value 2^k, left apart so that a last factor still meets a normal number.
template <class T> struct Scaled {
  IntOf<T> k;
  Pair<T> value;
};

/// e^x - 1, not normalised.
template <class T> ASTRA_MATH_FN Scaled<T> expm1Scaled(T x) {
  ExpArgument<T> a =
      reduceExp(clamp(x, ExpRange<T>::MinusOne, ExpRange<T>::High));
  Pair<T> curve = expCurve(a.r);
  // 2^k ((1 - 2^-k) + r + curve); the power no longer counts where the limit
  // bites.
  T one = powerOfTwo<T>(-(a.k > 64 ? IntOf<T>(64) : a.k));
  Pair<T> start = twoSum(T(1), -one);
  Pair<T> linear = twoSum(start.high, a.r.high);
  Pair<T> s = twoSum(linear.high, curve.high);
  return {a.k, {s.high, (start.low + linear.low) + (s.low + curve.low)}};
}

template <class T> ASTRA_MATH_FN T expm1Of(T x) {
  Scaled<T> e = expm1Scaled(x);
  T result = scale(e.value.high + e.value.low, e.k);
  return x == 0 ? x : result;
}

/// sinh and cosh of |x|: sine and cosine without their factor 2^(k - 1).
template <class T> struct Hyperbolic {
  IntOf<T> k;
  Pair<T> sine;
  Pair<T> cosine;
};

/// For k > 0, 2^(1-k) sinh x = e^r - 4^-k e^-r and 2^(1-k) cosh x = e^r + 4^-k
/// e^-r; for k = 0 the same factor, 2, but sine = 2 sinh r from its own series.
template <class T> ASTRA_MATH_FN Hyperbolic<T> hyperbolic(T magnitude) {
  ExpArgument<T> a = reduceExp(magnitude);
  T r = a.r.high, z = r * r;
  T odd = fma(r * z, sinhTail(z), a.r.low);
  T even = fma(z * z, coshTail(z), z * T(0.5));
  Pair<T> up = fastTwoSum(T(1), r), down = fastTwoSum(T(1), -r);
  up = fastTwoSum(up.high, up.low + (even + odd));
  down = fastTwoSum(down.high, down.low + (even - odd));
  T q = powerOfTwo<T>(-2 * (a.k > 40 ? IntOf<T>(40) : a.k));
  down = scalePair(down, q);
  Pair<T> difference = fastTwoSum(up.high, -down.high);
  Pair<T> sum = fastTwoSum(up.high, down.high);
  difference =
      fastTwoSum(difference.high, difference.low + (up.low - down.low));
  sum = fastTwoSum(sum.high, sum.low + (up.low + down.low));
  Pair<T> series = fastTwoSum(r + r, odd + odd);
  bool direct = a.k == 0;
  return {a.k,
          {select(direct, series.high, difference.high),
           select(direct, series.low, difference.low)},
          sum};
}

template <class T> ASTRA_MATH_FN T sinhOf(T x) {
  T magnitude = abs(x);
  Hyperbolic<T> h = hyperbolic(clamp(magnitude, T(0), ExpRange<T>::High));
  T result = scale(h.sine.high + h.sine.low, h.k - 1);
  // Doubling and halving would round a subnormal result twice.
  return magnitude < T(0x1p-30) ? x : mulSign(result, x);
}

template <class T> ASTRA_MATH_FN T coshOf(T x) {
  Hyperbolic<T> h = hyperbolic(clamp(abs(x), T(0), ExpRange<T>::High));
  return scale(h.cosine.high + h.cosine.low, h.k - 1);
}

/// 1 - a b, from 1/2 to 1, rounded to half the digits.
template <class T> ASTRA_MATH_FN T halfOfOneLess(T a, T b) {
  constexpr int Dropped = (Format<T>::Mantissa + 1) / 2;
  // Half of the last digit kept makes the cut a rounding.
  T half = powerOfTwo<T>(Dropped - Format<T>::Mantissa - 2);
  BitsOf<T> bits = toBits(fma(-a, b, T(1) + half));
  return fromBits(BitsOf<T>(bits >> Dropped << Dropped));
}

/// tanh x = 1 - 2/(e^(2x) + 1) for 1/2 < x < 25 with one division. With
/// u = 2^-k and e^(2x) = 2^k (1 + p) the quotient is 2 u/(1 + u + p). A first
/// result of half the digits is exact in what follows; the remainder that it
/// leaves, times the inverse, is what it lacks. That k times the ln2 rounded is
/// taken from 2x costs less than the rounding of p where the quotient counts.
template <class T> ASTRA_MATH_FN T tanhByExp(T x) {
  Integer<T> k = nearestMultiple(x, 2 * Constants<T>::log2E);
  T r = fma(-k.real, Constants<T>::ln2, x + x);
  T p = fma(r * r, expTail(r), r);
  T unit = powerOfTwo<T>(-k.integer), twoUnits = powerOfTwo<T>(1 - k.integer);
  T one = T(1) + unit;
  T inverse = T(1) / (one + p);
  T first = halfOfOneLess(twoUnits, inverse);
  T q = T(1) - first;
  T rest = fma(q, p, fma(q, one, -twoUnits));
  return fma(rest, inverse, first);
}

template <class T> ASTRA_MATH_FN T tanhOf(T x) {
  T magnitude = abs(x), z = magnitude * magnitude;
  T near = fma(z * tanhTail(z), magnitude, magnitude);
  T far = tanhByExp(clamp(magnitude, T(0), ExpRange<T>::TanhOne));
  return mulSign(select(magnitude < T(0.5625), near, far), x);
}

/// 1/cosh(x)^2, the derivative of tanh.
template <class T> ASTRA_MATH_FN T sech2Of(T x) {
  Hyperbolic<T> h = hyperbolic(clamp(abs(x), T(0), ExpRange<T>::Sech2Zero));
  Pair<T> inverse = dividePairs(Pair<T>{T(1), T(0)}, h.cosine);
  return scale(multiplyPairs(inverse, inverse).high, 2 - 2 * h.k);
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_EXP_H
