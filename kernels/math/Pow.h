// pow: e^(y log x), the logarithm with about 66 good bits for double; float
// runs in double. The special cases are those of IEEE 754.
#ifndef ASTRA_KERNELS_MATH_POW_H
#define ASTRA_KERNELS_MATH_POW_H

#include "kernels/math/Exp.h"
#include "kernels/math/Log.h"
#include "kernels/math/Root.h"

namespace astra {
namespace math {

/// log of a positive finite x as a pair good to about 2^-66.
ASTRA_MATH_FN Pair<double> logPrecise(double x) {
  using C = Constants<double>;
  LogArgument<double> a = reduceLog(x);
  // log(1 + f) = 2 s + (2/3) s^3 + ..., s = f/(2 + f).
  Pair<double> s = dividePairs({a.f, 0.0}, fastTwoSum(2.0, a.f));
  Pair<double> z = multiplyPairs(s, s);
  Pair<double> factor = fastTwoSum(C::twoThirds, z.high * powTail(z.high));
  factor.low += C::twoThirdsLow;
  Pair<double> cubic = multiplyPairs(multiplyPairs(z, s), factor);
  Pair<double> m = addPairs(scalePair(s, 2.0), cubic);
  double k = toReal<double>(a.k);
  Pair<double> sum = fastTwoSum(k * C::ln2Short, m.high);
  return fastTwoSum(sum.high, sum.low + fma(k, C::ln2ShortLow, m.low));
}

/// x^y for positive finite x and finite y.
ASTRA_MATH_FN double powOfPositive(double x, double y) {
  using Range = ExpRange<double>;
  // Beyond 2^65 only x = 1 keeps the result from 0 and infinity.
  y = clamp(y, -0x1p65, 0x1p65);
  Pair<double> t = multiplyPair(logPrecise(x), y);
  bool within = t.high > Range::Low && t.high < Range::High;
  t.high = clamp(t.high, Range::Low, Range::High);
  ExpArgument<double> a = reduceExp(Pair<double>{t.high, within ? t.low : 0.0});
  Pair<double> e = expOfReduced(a.r);
  return scale(e.high + e.low, a.k);
}

ASTRA_MATH_FN float powOfPositive(float x, float y) {
  Pair<double> l = logPair(double(x));
  return float(expOf(double(y) * (l.high + l.low)));
}

template <class T> ASTRA_MATH_FN T powOf(T x, T y) {
  T magnitude = abs(x), inf = infinity<T>();
  bool yIsInteger = roundOf(y) == y;
  bool yIsOdd = yIsInteger && abs(y) < T(2) * integersFrom<T>() &&
                roundOf(y * T(0.5)) != y * T(0.5);
  bool ordinary = magnitude > 0 && magnitude < inf && abs(y) < inf;
  T result = powOfPositive(ordinary ? magnitude : T(1), ordinary ? y : T(0));
  // 0, infinity and infinite powers: what grows is infinite, what shrinks is 0.
  bool grows = (magnitude > 1) == (y > 0);
  result = ordinary ? result : grows ? inf : T(0);
  result = magnitude == 1 && abs(y) == inf ? T(1) : result;
  result = isNegative(x) && yIsOdd ? -result : result;
  result = x < 0 && magnitude < inf && !yIsInteger ? nan<T>() : result;
  result = x != x || y != y ? nan<T>() : result;
  return x == 1 || y == 0 ? T(1) : result;
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_POW_H
