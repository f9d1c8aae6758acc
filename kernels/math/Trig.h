// sin, cos, tan: the series on the reduced angle, chosen by its quadrant. The
// forms named Moderate are the same bits for |x| <= TrigRange and have no
// branch: a loop checks its block and takes them.
#ifndef ASTRA_KERNELS_MATH_TRIG_H
#define ASTRA_KERNELS_MATH_TRIG_H

#include "kernels/math/Polynomials.h"
#include "kernels/math/TrigReduction.h"

namespace astra {
namespace math {

/// sin r, not normalised.
template <class T> ASTRA_MATH_FN Pair<T> sinOfReduced(Pair<T> r) {
  T z = r.high * r.high;
  return {r.high, fma(r.high * z, sinTail(z), fma(T(-0.5) * z, r.low, r.low))};
}

/// cos r, not normalised.
template <class T> ASTRA_MATH_FN Pair<T> cosOfReduced(Pair<T> r) {
  T z = r.high * r.high;
  Pair<T> half = twoProduct(T(0.5) * r.high, r.high);
  Pair<T> s = fastTwoSum(T(1), -half.high);
  T low = fma(-r.high, r.low, s.low - half.low);
  return {s.high, fma(z * z, cosTail(z), low)};
}

/// sin of an angle whose quadrant was turned by `turn`.
template <class T> ASTRA_MATH_FN T sinOfAngle(Angle<T> a, IntOf<T> turn) {
  Pair<T> s = sinOfReduced(a.r), c = cosOfReduced(a.r);
  IntOf<T> q = a.quadrant + turn;
  T result = (q & 1) != 0 ? c.high + c.low : s.high + s.low;
  return (q & 2) != 0 ? -result : result;
}

template <class T> ASTRA_MATH_FN T tanOfAngle(Angle<T> a) {
  Pair<T> s = sinOfReduced(a.r), c = cosOfReduced(a.r);
  s = fastTwoSum(s.high, s.low);
  c = fastTwoSum(c.high, c.low);
  bool odd = (a.quadrant & 1) != 0;
  Pair<T> n = {select(odd, -c.high, s.high), select(odd, -c.low, s.low)};
  Pair<T> d = {select(odd, s.high, c.high), select(odd, s.low, c.low)};
  return dividePairs(n, d).high;
}

/// Tiny x are their own sine and tangent (and so is -0).
template <class T> ASTRA_MATH_FN T unlessTiny(T x, T result) {
  return abs(x) < T(0x1p-30) ? x : result;
}

template <class T> ASTRA_MATH_FN T sinModerate(T x) {
  return unlessTiny(x, sinOfAngle(reduceModerateAngle(x), 0));
}
template <class T> ASTRA_MATH_FN T cosModerate(T x) {
  return sinOfAngle(reduceModerateAngle(x), 1);
}
template <class T> ASTRA_MATH_FN T tanModerate(T x) {
  return unlessTiny(x, tanOfAngle(reduceModerateAngle(x)));
}

template <class T> ASTRA_MATH_FN T sinOf(T x) {
  return unlessTiny(x, sinOfAngle(reduceAngle(x), 0));
}
template <class T> ASTRA_MATH_FN T cosOf(T x) {
  return sinOfAngle(reduceAngle(x), 1);
}
template <class T> ASTRA_MATH_FN T tanOf(T x) {
  return unlessTiny(x, tanOfAngle(reduceAngle(x)));
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_TRIG_H
