// sigmoid, silu, softplus, log_sigmoid: quotients and logarithms of 1 + e^-|x|
// with the exponential as a pair, so that neither tail loses accuracy.
#ifndef ASTRA_KERNELS_MATH_ACTIVATIONS_H
#define ASTRA_KERNELS_MATH_ACTIVATIONS_H

#include "kernels/math/Exp.h"
#include "kernels/math/Log.h"

namespace astra {
namespace math {

/// The power that a value may be brought to beside a number near 1.
template <class T> ASTRA_MATH_FN T limitedPower(IntOf<T> k) {
  return powerOfTwo<T>(k < -100 ? IntOf<T>(-100) : k);
}

/// 1/(1 + e^-x).
template <class T> ASTRA_MATH_FN Scaled<T> sigmoidScaled(T x) {
  ExpArgument<T> a = reduceExp(clamp(-abs(x), ExpRange<T>::Low, T(0)));
  Pair<T> e = expOfReduced(a.r);
  e = fastTwoSum(e.high, e.low);
  T unit = limitedPower<T>(a.k);
  // 1 + e^-|x|, of which the larger summand comes first.
  Pair<T> d = fastTwoSum(T(1), e.high * unit);
  d = fastTwoSum(d.high, fma(e.low, unit, d.low));
  bool negative = x < 0;
  Pair<T> n = {select(negative, e.high, T(1)), select(negative, e.low, T(0))};
  return {negative ? a.k : IntOf<T>(0), dividePairs(n, d)};
}

template <class T> ASTRA_MATH_FN T sigmoidOf(T x) {
  Scaled<T> s = sigmoidScaled(x);
  return scale(s.value.high, s.k);
}

template <class T> ASTRA_MATH_FN T siluOf(T x) {
  Scaled<T> s = sigmoidScaled(x);
  // Below this the result is -0, for -infinity too.
  T factor = x < ExpRange<T>::Low ? ExpRange<T>::Low : x;
  T result = scale(fma(factor, s.value.high, factor * s.value.low), s.k);
  return x < infinity<T>() && x != 0 ? result : x;
}

/// log(1 + e^x).
template <class T> ASTRA_MATH_FN T softplusOf(T x) {
  ExpArgument<T> a = reduceExp(clamp(-abs(x), ExpRange<T>::Low, T(0)));
  Pair<T> e = expOfReduced(a.r);
  e = fastTwoSum(e.high, e.low);
  T unit = limitedPower<T>(a.k);
  Pair<T> l = logPair(fastTwoSum(T(1), e.high * unit), e.low * unit);
  Pair<T> s = twoSum(x > 0 ? x : T(0), l.high);
  T result = s.high + (s.low + l.low);
  // Where e^x squared no longer counts, e^x itself, rounded once.
  result = x < ExpRange<T>::MinusOne ? scale(e.high, a.k) : result;
  return x < infinity<T>() ? result : x;
}

template <class T> ASTRA_MATH_FN T logSigmoidOf(T x) { return -softplusOf(-x); }

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ACTIVATIONS_H
