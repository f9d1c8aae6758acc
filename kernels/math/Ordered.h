// polygamma, sinc and exprel: functions with an order, which counts
// derivatives, so that each derivative is the same function again. All in pairs
// of double (float goes through double); an order is at most MaxOrder. Near
// their zeros only the absolute error of the derivatives is small.
#ifndef ASTRA_KERNELS_MATH_ORDERED_H
#define ASTRA_KERNELS_MATH_ORDERED_H

#include "kernels/math/Exp.h"
#include "kernels/math/Gamma.h"
#include "kernels/math/Order.h"

namespace astra {
namespace math {

ASTRA_MATH_FN DoublePair inversePair(DoublePair x) {
  return dividePairs(DoublePair{1.0, 0.0}, x);
}
ASTRA_MATH_FN DoublePair dividePair(DoublePair n, double d) {
  return dividePairs(n, DoublePair{d, 0.0});
}

//===-- polygamma ---------------------------------------------------------===//

/// from (q) (from + 1) q ... to q; 1 of no factor. Taken one by one, the
/// product leaves the range only where a result does.
ASTRA_MATH_FN DoublePair risingProduct(DoublePair q, int64_t to) {
  DoublePair p = {1.0, 0.0};
  for (int64_t i = 1; i <= to; ++i)
    p = multiplyPairs(p, multiplyPair(q, double(i)));
  return p;
}

/// order! / x^(order + 1).
ASTRA_MATH_FN DoublePair polygammaTerm(DoublePair x, int64_t order) {
  DoublePair q = inversePair(x);
  return multiplyPairs(q, risingProduct(q, order));
}

/// The terms of Euler and Maclaurin behind 1 + order/(2 x), w = 1/x^2.
ASTRA_MATH_FN double polygammaTail(double w, double order) {
  using C = Constants<double>;
  constexpr double Coefficients[] = {
      C::bernoulli24, C::bernoulli22, C::bernoulli20, C::bernoulli18,
      C::bernoulli16, C::bernoulli14, C::bernoulli12, C::bernoulli10,
      C::bernoulli8,  C::bernoulli6,  C::bernoulli4,  C::bernoulli2};
  double sum = 0, factor = order + 22;
  for (double c : Coefficients) {
    sum = (factor * (factor + 1)) * w * (c + sum);
    factor -= 2;
  }
  return sum;
}

/// The sum of order! / (x + i)^(order + 1) over all i from 0, for x > 0: one by
/// one up to 8 + order, the series of Euler and Maclaurin from there.
ASTRA_MATH_FN DoublePair polygammaSum(DoublePair x, int64_t order) {
  DoublePair sum = {0.0, 0.0};
  for (; x.high < GammaFar + double(order);
       x = addPairsAnyOrder(x, DoublePair{1.0, 0.0}))
    sum = addPairsAnyOrder(sum, polygammaTerm(x, order));
  DoublePair q = inversePair(x);
  DoublePair half = multiplyPair(q, 0.5 * double(order));
  double tail = polygammaTail(q.high * q.high, double(order));
  DoublePair series = fastTwoSum(1.0, half.high);
  series = fastTwoSum(series.high, series.low + (half.low + tail));
  DoublePair lead = multiplyPairs(q, risingProduct(q, order - 1));
  return addPairsAnyOrder(sum, multiplyPairs(lead, series));
}

/// The same sum for x = r - m, r within [-1/2, 1/2]: the term of r, the terms
/// above it, and the m terms below as a difference of two endless sums.
ASTRA_MATH_FN DoublePair polygammaSumBelow(double r, double m, int64_t order) {
  DoublePair near = polygammaTerm({r, 0.0}, order);
  DoublePair sum = addPairsAnyOrder(near, polygammaSum(twoSum(1.0, r), order));
  DoublePair first = twoSum(1.0, -r);
  DoublePair last = addPairsAnyOrder(first, DoublePair{m, 0.0});
  DoublePair below = addPairsAnyOrder(polygammaSum(first, order),
                                      negatePair(polygammaSum(last, order)));
  return addPairsAnyOrder(sum, order % 2 != 0 ? below : negatePair(below));
}

/// polygamma for an order of 2 or more.
ASTRA_MATH_FN double higherPolygamma(double x, int64_t order) {
  bool odd = order % 2 != 0;
  double m = x < 0 ? -roundOf(x) : 0.0, r = x + m;
  if (r == 0)
    return odd      ? infinity<double>()
           : x == 0 ? -mulSign(infinity<double>(), x)
                    : nan<double>();
  if (abs(x) == infinity<double>() || x != x)
    return x > 0 ? (odd ? 0.0 : -0.0) : nan<double>();
  DoublePair sum =
      x > 0 ? polygammaSum({x, 0.0}, order) : polygammaSumBelow(r, m, order);
  // Overflow made the pair NaN.
  double size = sum.high != sum.high ? (odd ? infinity<double>()
                                            : mulSign(infinity<double>(), r))
                                     : sum.high;
  return odd ? size : -size;
}

/// The derivative of digamma of that order.
ASTRA_MATH_FN double polygammaOf(double x, int64_t order) {
  return order == 0   ? digammaOf(x)
         : order == 1 ? trigammaOf(x)
                      : higherPolygamma(x, order);
}

//===-- sinc --------------------------------------------------------------===//

/// sin and cos of pi a with their signs, for a >= 0.
ASTRA_MATH_FN SinCosPi signedSinCosPi(double a) {
  SinCosPi t = sinCosPi(a);
  double half = roundOf(a) * 0.5;
  bool turned = roundOf(half) != half;
  return turned ? SinCosPi{negatePair(t.sine), negatePair(t.cosine)} : t;
}

/// The derivative of sin(u)/u by its power series in u = pi a, times pi^order.
ASTRA_MATH_FN DoublePair sincNear(DoublePair u, int64_t order) {
  DoublePair square = multiplyPairs(u, u);
  int64_t j = order % 2;
  DoublePair power = j != 0 ? u : DoublePair{1.0, 0.0}; // u^j / j!
  bool negative = ((order + j) / 2) % 2 != 0;
  DoublePair sum = {0.0, 0.0};
  double enough = power.high * 0x1p-100;
  for (; power.high > enough; j += 2) {
    DoublePair term = dividePair(power, double(order + j + 1));
    sum = addPairsAnyOrder(sum, negative ? negatePair(term) : term);
    negative = !negative;
    power =
        dividePair(multiplyPairs(power, square), double(j + 1) * double(j + 2));
  }
  return sum;
}

/// From order to order by a S(n) + n S(n - 1) = pi^(n - 1) (d/du)^n sin u.
ASTRA_MATH_FN DoublePair sincFar(double a, int64_t order) {
  DoublePair pi = {Constants<double>::pi, Constants<double>::piLow};
  SinCosPi t = signedSinCosPi(a);
  DoublePair wave = t.sine, next = t.cosine, power = inversePair(pi);
  DoublePair s = dividePair(multiplyPairs(power, wave), a);
  for (int64_t n = 1; n <= order; ++n) {
    power = multiplyPairs(power, pi);
    DoublePair after = negatePair(wave);
    wave = next;
    next = after;
    DoublePair rest = negatePair(multiplyPair(s, double(n)));
    s = dividePair(addPairsAnyOrder(multiplyPairs(power, wave), rest), a);
  }
  return s;
}

/// The derivative of sin(pi x)/(pi x) of that order.
ASTRA_MATH_FN double sincOf(double x, int64_t order) {
  DoublePair pi = {Constants<double>::pi, Constants<double>::piLow};
  double a = abs(x);
  if (order == 0) {
    double result = sincFar(a < 0x1p-30 ? 1.0 : a, 0).high;
    result = a < 0x1p-30 ? 1.0 : result;
    return a == infinity<double>() ? 0.0 : result;
  }
  if (a == infinity<double>() || x != x)
    return x != x ? x : 0.0;
  DoublePair u = multiplyPair(pi, a);
  DoublePair s;
  if (u.high < double(order + 2)) {
    s = sincNear(u, order);
    for (int64_t i = 0; i < order; ++i)
      s = multiplyPairs(s, pi);
  } else {
    s = sincFar(a, order);
  }
  return order % 2 != 0 ? mulSign(s.high, x) : s.high;
}

//===-- exprel ------------------------------------------------------------===//

/// The sum of x^m / m! / (order + 1 + m), for x >= 0.
ASTRA_MATH_FN DoublePair exprelRising(double x, int64_t order) {
  DoublePair power = {1.0, 0.0}, sum = {0.0, 0.0};
  for (int64_t m = 0; power.high > sum.high * 0x1p-66; ++m) {
    sum = addPairsAnyOrder(sum, dividePair(power, double(order + 1 + m)));
    power = dividePair(multiplyPair(power, x), double(m + 1));
  }
  return sum;
}

/// e^-a without its factor 2^k, as a power of a >= 0.
ASTRA_MATH_FN Scaled<double> expOfMinus(double a) {
  ExpArgument<double> r = reduceExp(clamp(-a, ExpRange<double>::Low, 0.0));
  DoublePair e = expOfReduced(r.r);
  return {r.k, fastTwoSum(e.high, e.low)};
}

/// e^-a times the sum of a^m / ((order + 1) ... (order + 1 + m)).
ASTRA_MATH_FN DoublePair exprelFalling(double a, int64_t order) {
  DoublePair term = {1.0, 0.0}, sum = {0.0, 0.0};
  term = dividePair(term, double(order + 1));
  for (int64_t m = 1; term.high > sum.high * 0x1p-66; ++m) {
    sum = addPairsAnyOrder(sum, term);
    term = dividePair(multiplyPair(term, a), double(order + 1 + m));
  }
  Scaled<double> e = expOfMinus(a);
  return scalePair(multiplyPairs(sum, e.value), powerOfTwo<double>(e.k));
}

/// From order to order, n from 1: (n E(n - 1) - e^-a)/a for x = -a; e^-x E for
/// x > 0, (1 - n E(n - 1))/x.
ASTRA_MATH_FN DoublePair exprelFar(double x, int64_t order) {
  double a = abs(x);
  Scaled<double> e = expOfMinus(a);
  // Beyond 700 e^-a no longer counts.
  bool counts = a < 700;
  double unit = powerOfTwo<double>(counts ? e.k : int64_t(0));
  DoublePair decay = scalePair(e.value, counts ? unit : 0.0), one = {1.0, 0.0};
  DoublePair result = dividePair(addPairs(one, negatePair(decay)), a);
  for (int64_t n = 1; n <= order; ++n) {
    DoublePair product = multiplyPair(result, double(n));
    DoublePair n1 = x < 0 ? addPairsAnyOrder(product, negatePair(decay))
                          : addPairsAnyOrder(one, negatePair(product));
    result = dividePair(n1, a);
  }
  return result;
}

/// The derivative of (e^x - 1)/x of that order.
ASTRA_MATH_FN double exprelOf(double x, int64_t order) {
  double a = abs(x);
  if (order == 0) {
    Scaled<double> e = expm1Scaled(x);
    DoublePair value = fastTwoSum(e.value.high, e.value.low);
    bool tiny = a < 0x1p-60;
    double result = scale(dividePair(value, tiny ? 1.0 : x).high, e.k);
    result = tiny ? 1.0 : result;
    result = x > ExpRange<double>::High ? infinity<double>() : result;
    return x == -infinity<double>() ? 0.0 : result;
  }
  if (x > ExpRange<double>::High)
    return infinity<double>();
  if (a == infinity<double>() || x != x)
    return x != x ? x : 0.0;
  if (a < double(order + 8))
    return (x < 0 ? exprelFalling(a, order) : exprelRising(a, order)).high;
  DoublePair result = exprelFar(x, order);
  if (x < 0)
    return abs(result.high);
  ExpArgument<double> r = reduceExp(x);
  DoublePair e = expOfReduced(r.r);
  e = multiplyPairs(fastTwoSum(e.high, e.low), result);
  return scale(e.high, r.k);
}

ASTRA_MATH_FN float polygammaOf(float x, int64_t order) {
  return float(polygammaOf(double(x), order));
}
ASTRA_MATH_FN float sincOf(float x, int64_t order) {
  return float(sincOf(double(x), order));
}
ASTRA_MATH_FN float exprelOf(float x, int64_t order) {
  return float(exprelOf(double(x), order));
}

} // namespace math
} // namespace astra

#endif // ASTRA_KERNELS_MATH_ORDERED_H
