// lgamma, digamma, trigamma in double (float goes through double): a series on
// a short interval, the recurrence up to 8, an asymptotic series from there,
// reflection for negative x. Near the zeros at negative x only the absolute
// error is small.
#ifndef ASTRA_KERNELS_MATH_GAMMA_H
#define ASTRA_KERNELS_MATH_GAMMA_H

#include "kernels/math/Log.h"
#include "kernels/math/Root.h"
#include "kernels/math/Trig.h"

namespace astra {
namespace math {

using DoublePair = Pair<double>;

/// Where the asymptotic series take over.
constexpr double GammaFar = 8;

/// sin and cos of pi a, up to a common sign, normalised.
struct SinCosPi {
  DoublePair sine;
  DoublePair cosine;
};

ASTRA_MATH_FN SinCosPi sinCosPi(double a) {
  double r = a - roundOf(a);
  // |r| <= 1/2; beyond 1/4 by the complement.
  bool far = abs(r) > 0.25;
  double t = far ? 0.5 - abs(r) : abs(r);
  DoublePair angle = multiplyPair(
      DoublePair{Constants<double>::pi, Constants<double>::piLow}, t);
  DoublePair s = sinOfReduced(angle), c = cosOfReduced(angle);
  s = fastTwoSum(s.high, s.low);
  c = fastTwoSum(c.high, c.low);
  DoublePair sine = {far ? c.high : s.high, far ? c.low : s.low};
  DoublePair cosine = {far ? s.high : c.high, far ? s.low : c.low};
  return {{mulSign(sine.high, r), mulSign(sine.low, r)}, cosine};
}

ASTRA_MATH_FN DoublePair normalisedLog(DoublePair x) {
  DoublePair l = logPair(x, 0.0);
  return fastTwoSum(l.high, l.low);
}

/// lgamma a for a >= 8.
ASTRA_MATH_FN DoublePair lgammaFar(double a) {
  using C = Constants<double>;
  DoublePair l = normalisedLog({a, 0.0});
  DoublePair less = addPairs(l, DoublePair{-1.0, 0.0});
  DoublePair product = multiplyPairs(twoSum(a, -0.5), less);
  double inverse = 1.0 / a;
  double rest = fma(stirlingTail(inverse * inverse), inverse, C::halfLog2PiLow);
  return addPairsAnyOrder(product, DoublePair{C::halfLog2Pi - 0.5, rest});
}

/// (a - 1) ... (a - n) for n up to 6; a and a (a + 1) for n = -1 and -2.
ASTRA_MATH_FN DoublePair gammaProduct(double a, double n) {
  DoublePair up = multiplyPair(twoSum(a, 1.0), a);
  DoublePair p = {n < -1 ? up.high : n < 0 ? a : 1.0, n < -1 ? up.low : 0.0};
  for (int i = 1; i <= 6; ++i)
    p = multiplyPair(p, i <= n ? a - double(i) : 1.0);
  return p;
}

/// lgamma a for 0 < a < 8: from lgamma(a - n), a - n within [3/2, 5/2].
ASTRA_MATH_FN DoublePair lgammaNear(double a) {
  using C = Constants<double>;
  double n = roundOf(a - 2.0);
  double y = a - (n + 2.0);
  DoublePair series = twoProduct(y, C::oneMinusGamma);
  double rest = fma(y, C::oneMinusGammaLow, series.low);
  series = fastTwoSum(series.high, fma(y * y, lgammaNearTwo(y), rest));
  DoublePair l = normalisedLog(gammaProduct(a, n));
  return addPairsAnyOrder(n < 0 ? negatePair(l) : l, series);
}

ASTRA_MATH_FN double lgammaOf(double x) {
  using C = Constants<double>;
  double a = abs(x);
  bool far = a >= GammaFar;
  DoublePair whenFar = lgammaFar(far ? a : GammaFar),
             whenNear = lgammaNear(far ? 2.0 : a);
  DoublePair g = {far ? whenFar.high : whenNear.high,
                  far ? whenFar.low : whenNear.low};
  // lgamma(-a) = log pi - log(a |sin pi a|) - lgamma a.
  DoublePair sine = sinCosPi(a).sine;
  DoublePair l = normalisedLog(
      multiplyPair(isNegative(sine.high) ? negatePair(sine) : sine, a));
  DoublePair reflected =
      addPairsAnyOrder(DoublePair{C::logPi, C::logPiLow}, negatePair(l));
  reflected = addPairsAnyOrder(reflected, negatePair(g));
  double result = x < 0 ? reflected.high : g.high;
  // Overflow made the low parts NaN.
  result = x > 0x1p1014 && result != result ? infinity<double>() : result;
  result = a < 0x1p-60 ? -logOf(a) : result;
  bool pole = x <= 0 && roundOf(x) == x;
  return x != x ? x : pole ? infinity<double>() : result;
}

/// digamma a for a >= 8.
ASTRA_MATH_FN DoublePair digammaFar(double a) {
  DoublePair l = normalisedLog({a, 0.0});
  double inverse = 1.0 / a, w = inverse * inverse;
  DoublePair s = fastTwoSum(l.high, -0.5 * inverse);
  return fastTwoSum(s.high, s.low + fma(-w, digammaTail(w), l.low));
}

/// digamma a for 0 < a < 8: from digamma(a - n), a - n within [1, 2].
ASTRA_MATH_FN DoublePair digammaNear(double a) {
  using C = Constants<double>;
  double n = floorOf(a) - 1.0;
  double y = n < 0 ? a + (1.0 - C::digammaRoot) : (a - n) - C::digammaRoot;
  double slope = digammaNearRoot(y);
  DoublePair sum = twoProduct(y, slope);
  sum.low = fma(-C::digammaRootLow, slope, sum.low);
  for (int i = 0; i <= 6; ++i) {
    // -1/a for n = -1; else 1/(a - 1) + ... + 1/(a - n).
    bool counts = i == 0 ? n < 0 : i <= n;
    double d = counts ? (i == 0 ? -a : a - double(i)) : 1.0;
    double q = 1.0 / d, rest = fma(-q, d, 1.0) * q;
    sum = addPairsAnyOrder(sum,
                           DoublePair{counts ? q : 0.0, counts ? rest : 0.0});
  }
  return sum;
}

ASTRA_MATH_FN double digammaOf(double x) {
  using C = Constants<double>;
  double a = abs(x);
  bool far = a >= GammaFar, tiny = a < 0x1p-60;
  double held = tiny ? 1.0 : a;
  DoublePair whenFar = digammaFar(far ? a : GammaFar),
             whenNear = digammaNear(far ? 1.0 : held);
  DoublePair g = {far ? whenFar.high : whenNear.high,
                  far ? whenFar.low : whenNear.low};
  // digamma(-a) = digamma a + 1/a + pi/tan(pi a).
  SinCosPi t = sinCosPi(held);
  DoublePair cotangent = dividePairs(t.cosine, t.sine);
  cotangent = multiplyPairs(cotangent, DoublePair{C::pi, C::piLow});
  DoublePair inverse = dividePairs(DoublePair{1.0, 0.0}, DoublePair{held, 0.0});
  DoublePair reflected =
      addPairsAnyOrder(addPairsAnyOrder(cotangent, inverse), g);
  double result = x < 0 ? reflected.high : g.high;
  result = tiny ? -1.0 / x : result;
  result = x < 0 && roundOf(x) == x ? nan<double>() : result;
  return x < infinity<double>() ? result : x;
}

/// trigamma a for a >= 0 not tiny: 1/a^2 + ... + 1/(a + n - 1)^2 and the series
/// from a + n >= 8.
ASTRA_MATH_FN DoublePair trigammaOfPositive(DoublePair a) {
  DoublePair sum = {0.0, 0.0};
  double steps = 0.0;
  for (int i = 0; i < 8; ++i) {
    bool counts = a.high + double(i) < GammaFar;
    DoublePair d = addPairsAnyOrder(a, DoublePair{double(i), 0.0});
    DoublePair q =
        dividePairs(DoublePair{1.0, 0.0},
                    DoublePair{counts ? d.high : 1.0, counts ? d.low : 0.0});
    DoublePair square = multiplyPairs(q, q);
    sum = addPairsAnyOrder(
        sum, DoublePair{counts ? square.high : 0.0, counts ? square.low : 0.0});
    steps += counts ? 1.0 : 0.0;
  }
  DoublePair x = addPairsAnyOrder(a, DoublePair{steps, 0.0});
  DoublePair q = dividePairs(DoublePair{1.0, 0.0}, x);
  double w = q.high * q.high;
  DoublePair series =
      fastTwoSum(q.high, fma(w, 0.5, fma(w * q.high, trigammaTail(w), q.low)));
  return addPairsAnyOrder(sum, series);
}

ASTRA_MATH_FN double trigammaOf(double x) {
  using C = Constants<double>;
  double a = abs(x);
  bool tiny = a < 0x1p-60;
  // Beyond 2^60 the series is 1/a.
  double held = tiny ? 1.0 : a > 0x1p60 ? 0x1p60 : a;
  bool negative = x < 0;
  DoublePair argument = negative ? twoSum(held, 1.0) : DoublePair{held, 0.0};
  DoublePair g = trigammaOfPositive(argument);
  // trigamma(-a) = (pi/sin(pi a))^2 - trigamma(1 + a).
  DoublePair r = dividePairs(DoublePair{C::pi, C::piLow}, sinCosPi(held).sine);
  DoublePair reflected = addPairsAnyOrder(multiplyPairs(r, r), negatePair(g));
  double result = negative ? reflected.high : g.high;
  result = a > 0x1p60 ? 1.0 / a : result;
  result = tiny ? (1.0 / a) * (1.0 / a) : result;
  bool pole = x <= 0 && roundOf(x) == x;
  result = pole ? infinity<double>() : result;
  return x == -infinity<double>() || x != x ? nan<double>() : result;
}

ASTRA_MATH_FN float lgammaOf(float x) { return float(lgammaOf(double(x))); }
ASTRA_MATH_FN float digammaOf(float x) { return float(digammaOf(double(x))); }
ASTRA_MATH_FN float trigammaOf(float x) { return float(trigammaOf(double(x))); }

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_GAMMA_H
