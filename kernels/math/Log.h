// log, log1p, log2, log10: x = 2^k (1 + f) with 1 + f within [sqrt 1/2, sqrt
// 2), and log(1 + f) as a pair, which the softplus and gamma families use too.
#ifndef ASTRA_KERNELS_MATH_LOG_H
#define ASTRA_KERNELS_MATH_LOG_H

#include "kernels/math/Constants.h"
#include "kernels/math/Core.h"
#include "kernels/math/Polynomials.h"

namespace astra {
namespace math {

/// x = 2^k (1 + f).
template <class T> struct LogArgument {
  IntOf<T> k;
  T f;
};

template <class T> ASTRA_MATH_FN LogArgument<T> reduceLog(T x) {
  using F = Format<T>;
  using Bits = BitsOf<T>;
  // Subnormal numbers are made normal first.
  bool tiny = x < powerOfTwo<T>(1 - F::Bias);
  IntOf<T> raise = tiny ? F::Mantissa + 1 : 0;
  Bits y = toBits(tiny ? x * powerOfTwo<T>(F::Mantissa + 1) : x);
  Bits base = toBits(Constants<T>::sqrtHalf), one = toBits(T(1));
  Bits moved = y + (one - base);
  IntOf<T> k = IntOf<T>(moved >> F::Mantissa) - F::Bias - raise;
  Bits mantissa = (moved & ((Bits(1) << F::Mantissa) - 1)) + base;
  return {k, fromBits(mantissa) - T(1)};
}

/// log(1 + f) - f + half, half = f^2/2.
ASTRA_MATH_FN float logRest(float f, float) {
  return (f * f) * (f * logTail(f));
}
ASTRA_MATH_FN double logRest(double f, double half) {
  double s = f / (2.0 + f), z = s * s;
  return s * fma(z, logRatioTail(z), half);
}

/// log(1 + f), not normalised.
template <class T> ASTRA_MATH_FN Pair<T> logOfReduced(T f) {
  Pair<T> half = twoProduct(T(0.5) * f, f);
  Pair<T> s = fastTwoSum(f, -half.high);
  return {s.high, (s.low - half.low) + logRest(f, half.high)};
}

/// log 2^k + m, not normalised.
template <class T> ASTRA_MATH_FN Pair<T> addLogOfPower(T k, Pair<T> m) {
  Pair<T> s = fastTwoSum(k * Constants<T>::ln2Short, m.high);
  return {s.high, s.low + fma(k, Constants<T>::ln2ShortLow, m.low)};
}

/// log of a positive finite x, not normalised.
template <class T> ASTRA_MATH_FN Pair<T> logPair(T x) {
  LogArgument<T> a = reduceLog(x);
  return addLogOfPower(toReal<T>(a.k), logOfReduced(a.f));
}

/// log(x.high + x.low + rest), |rest| <= ulp(x.low). Not normalised.
template <class T> ASTRA_MATH_FN Pair<T> logPair(Pair<T> x, T rest) {
  LogArgument<T> a = reduceLog(x.high);
  // Far from 1 the low part no longer counts.
  bool counts = a.k < 64 && a.k > -64;
  T unit = counts ? powerOfTwo<T>(counts ? -a.k : IntOf<T>(0)) : T(0);
  Pair<T> f = fastTwoSum(a.f, x.low * unit);
  f.low = fma(rest, unit, f.low);
  Pair<T> m = logOfReduced(f.high);
  m.low = fma(f.low, fma(f.high, f.high - T(1), T(1)), m.low);
  return addLogOfPower(toReal<T>(a.k), m);
}

/// What log-like functions give outside the positive finite numbers.
template <class T> ASTRA_MATH_FN T logSpecial(T x, T result) {
  result = x == 0 ? -infinity<T>() : result;
  result = x < 0 ? nan<T>() : result;
  return x < infinity<T>() ? result : x;
}

template <class T> ASTRA_MATH_FN T logOf(T x) {
  Pair<T> l = logPair(x);
  return logSpecial(x, l.high + l.low);
}

/// k unit + log(1 + f) factor, unit = high + low with k high exact.
template <class T>
ASTRA_MATH_FN T logInBase(LogArgument<T> a, T factor, T factorLow, T unitHigh,
                          T unitLow) {
  Pair<T> m = logOfReduced(a.f);
  Pair<T> p = twoProduct(m.high, factor);
  p.low = p.low + fma(m.high, factorLow, m.low * factor);
  T k = toReal<T>(a.k);
  Pair<T> s = fastTwoSum(k * unitHigh, p.high);
  return s.high + (s.low + fma(k, unitLow, p.low));
}

template <class T> ASTRA_MATH_FN T log2Of(T x) {
  using C = Constants<T>;
  return logSpecial(x,
                    logInBase(reduceLog(x), C::log2E, C::log2ELow, T(1), T(0)));
}

template <class T> ASTRA_MATH_FN T log10Of(T x) {
  using C = Constants<T>;
  return logSpecial(x, logInBase(reduceLog(x), C::log10E, C::log10ELow,
                                 C::log10Of2Short, C::log10Of2ShortLow));
}

template <class T> ASTRA_MATH_FN T log1pOf(T x) {
  Pair<T> l = logPair(twoSum(T(1), x), T(0));
  T result = l.high + l.low;
  result = x == -1 ? -infinity<T>() : result;
  result = x < -1 ? nan<T>() : result;
  return x < infinity<T>() && x != 0 ? result : x;
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_LOG_H
