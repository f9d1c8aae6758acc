// References for the functions with an order, by MPFR at 800 bits: sums
// written down from the definitions, with digits enough for their cancellation.
// They share no formula with kernels/math. See Reference.h.
#include "kernels/math/ulp/Reference.h"

#include <cmath>
#include <cstdint>

#if ASTRA_HAVE_MPFR
#include "kernels/math/ulp/Mpfr.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace astra {
namespace ulp {

namespace {
/// A number of the precision that the sums here need.
struct Wide : Number {
  Wide() : Number(800) {}
};
} // namespace

/// How many terms of the series of e^x do, up to where it is out of range.
static unsigned long termsFor(mpfr_ptr x) {
  return (unsigned long)(300 +
                         4 * std::min(std::fabs(mpfr_get_d(x, N)), 800.0));
}

//===-- polygamma ---------------------------------------------------------===//

/// B(2j) / (2j)! = +-2 zeta(2j) / (2 pi)^(2j), for j from 1 to 40.
static const std::vector<std::unique_ptr<Wide>> &bernoulli() {
  static const auto numbers = [] {
    std::vector<std::unique_ptr<Wide>> made;
    for (unsigned long j = 1; j <= 40; ++j) {
      made.push_back(std::make_unique<Wide>());
      Wide power;
      mpfr_const_pi(power, N);
      mpfr_mul_ui(power, power, 2, N);
      mpfr_pow_ui(power, power, 2 * j, N);
      mpfr_zeta_ui(*made.back(), 2 * j, N);
      mpfr_mul_si(*made.back(), *made.back(), j % 2 == 0 ? -2 : 2, N);
      mpfr_div(*made.back(), *made.back(), power, N);
    }
    return made;
  }();
  return numbers;
}

/// order! times the sum of 1/(x + i)^(order + 1), for x > 0: one by one up to
/// 150, the rest by Euler and Maclaurin.
static void polygammaSum(mpfr_ptr r, mpfr_ptr x, unsigned long order) {
  Wide a, t, factorial, sum, term;
  mpfr_set(a, x, N);
  mpfr_set_ui(sum, 0, N);
  while (mpfr_cmp_ui(a, 150) < 0) {
    mpfr_pow_si(t, a, -long(order + 1), N);
    mpfr_add(sum, sum, t, N);
    mpfr_add_ui(a, a, 1, N);
  }
  mpfr_pow_si(t, a, -long(order), N);
  mpfr_div_ui(term, t, order, N);
  mpfr_add(sum, sum, term, N);
  mpfr_div(t, t, a, N);
  mpfr_div_ui(term, t, 2, N);
  mpfr_add(sum, sum, term, N);
  // t = order (order + 1) ... (order + 2 j - 1) / order / a^(order + 2 j).
  for (unsigned long j = 1; j <= 40; ++j) {
    if (j == 1)
      mpfr_mul_ui(t, t, order + 1, N);
    else
      mpfr_mul_ui(t, t, (order + 2 * j - 2) * (order + 2 * j - 1), N);
    mpfr_div(t, t, a, N);
    if (j > 1)
      mpfr_div(t, t, a, N);
    mpfr_mul(term, t, *bernoulli()[j - 1], N);
    mpfr_add(sum, sum, term, N);
  }
  mpfr_fac_ui(factorial, order, N);
  mpfr_mul(r, sum, factorial, N);
}

/// The derivative of cot u of that order, in c = cot u: each step from P to
/// -(1 + c^2) P'.
static void cotangentDerivative(mpfr_ptr r, mpfr_ptr c, unsigned long order) {
  std::vector<std::unique_ptr<Wide>> p, next;
  auto zeros = [](size_t count) {
    std::vector<std::unique_ptr<Wide>> numbers;
    for (size_t i = 0; i < count; ++i) {
      numbers.push_back(std::make_unique<Wide>());
      mpfr_set_ui(*numbers.back(), 0, N);
    }
    return numbers;
  };
  p = zeros(2);
  mpfr_set_ui(*p[1], 1, N);
  Wide t;
  for (unsigned long k = 0; k < order; ++k) {
    next = zeros(p.size() + 1);
    for (size_t i = 1; i < p.size(); ++i) {
      mpfr_mul_ui(t, *p[i], i, N);
      mpfr_sub(*next[i - 1], *next[i - 1], t, N);
      mpfr_sub(*next[i + 1], *next[i + 1], t, N);
    }
    p = std::move(next);
  }
  mpfr_set_ui(r, 0, N);
  for (size_t i = p.size(); i-- > 0;) {
    mpfr_mul(r, r, c, N);
    mpfr_add(r, r, *p[i], N);
  }
}

/// For x < 0: (-1)^order polygamma(1 - x) less the derivative of pi cot(pi x).
static void polygamma(mpfr_ptr r, mpfr_ptr x, unsigned long order) {
  bool odd = order % 2 != 0;
  Wide other, whole, pi, turn;
  if (mpfr_sgn(x) > 0) {
    polygammaSum(r, x, order);
    if (!odd)
      mpfr_neg(r, r, N);
    return;
  }
  mpfr_ui_sub(other, 1, x, N);
  polygammaSum(other, other, order); // (-1)^(order + 1) polygamma
  mpfr_round(whole, x);
  mpfr_sub(whole, x, whole, N);
  mpfr_const_pi(pi, N);
  mpfr_mul(turn, whole, pi, N);
  mpfr_cot(turn, turn, N);
  cotangentDerivative(r, turn, order);
  mpfr_pow_ui(pi, pi, order + 1, N);
  mpfr_mul(r, r, pi, N);
  mpfr_add(r, r, other, N);
  mpfr_neg(r, r, N);
}

//===-- sinc --------------------------------------------------------------===//

/// The derivative of sin(u)/u: its power series, up to u = 400, times
/// pi^order.
static void sincSeries(mpfr_ptr r, mpfr_ptr x, unsigned long order) {
  Wide u, square, power, term, sum, pi;
  mpfr_const_pi(pi, N);
  mpfr_mul(u, x, pi, N);
  mpfr_sqr(square, u, N);
  unsigned long j = order % 2;
  mpfr_pow_ui(power, u, j, N);
  mpfr_set_ui(sum, 0, N);
  unsigned long enough = termsFor(u);
  for (; j < enough; j += 2) {
    mpfr_div_ui(term, power, order + j + 1, N);
    if ((order + j) / 2 % 2 != 0)
      mpfr_neg(term, term, N);
    mpfr_add(sum, sum, term, N);
    mpfr_mul(power, power, square, N);
    mpfr_div_ui(power, power, (j + 1) * (j + 2), N);
  }
  mpfr_pow_ui(pi, pi, order, N);
  mpfr_mul(r, sum, pi, N);
}

/// By Leibniz's rule for sin(pi x) and 1/(pi x), far from 0.
static void sincLeibniz(mpfr_ptr r, mpfr_ptr x, unsigned long order) {
  Wide pi, whole, half, rest, sine, cosine, term, power, factor;
  mpfr_const_pi(pi, N);
  mpfr_round(whole, x);
  mpfr_sub(rest, x, whole, N);
  mpfr_mul(rest, rest, pi, N);
  mpfr_sin_cos(sine, cosine, rest, N);
  mpfr_div_ui(half, whole, 2, N);
  if (!mpfr_integer_p(half)) {
    mpfr_neg(sine, sine, N);
    mpfr_neg(cosine, cosine, N);
  }
  // The sum over k of order!/(order - k)! (-1)^k / x^(k + 1) pi^(order - k - 1)
  // times the derivative of the sine of order (order - k).
  mpfr_set_ui(r, 0, N);
  mpfr_set_ui(factor, 1, N);
  for (unsigned long k = 0; k <= order; ++k) {
    unsigned long waves = (order - k) % 4;
    mpfr_pow_si(power, pi, long(order - k) - 1, N);
    mpfr_mul(term, waves % 2 != 0 ? cosine : sine, power, N);
    if (waves >= 2)
      mpfr_neg(term, term, N);
    mpfr_mul(term, term, factor, N);
    mpfr_pow_ui(power, x, k + 1, N);
    mpfr_div(term, term, power, N);
    mpfr_add(r, r, term, N);
    mpfr_mul_si(factor, factor, -long(order - k), N);
  }
}

static void sinc(mpfr_ptr r, mpfr_ptr x, unsigned long order) {
  if (mpfr_zero_p(x) || mpfr_cmpabs_ui(x, 100) < 0)
    sincSeries(r, x, order);
  else
    sincLeibniz(r, x, order);
  if (order == 0 && mpfr_integer_p(x) && !mpfr_zero_p(x))
    mpfr_set_zero(r, 1);
}

/// About the height of the waves of the derivative at x.
static void sincSize(mpfr_ptr r, mpfr_ptr x, unsigned long order) {
  Wide pi, u;
  mpfr_const_pi(pi, N);
  mpfr_mul(u, x, pi, N);
  mpfr_abs(u, u, N);
  mpfr_pow_ui(r, pi, order, N);
  if (mpfr_cmp_ui(u, order + 1) > 0)
    mpfr_div(r, r, u, N);
  else
    mpfr_div_ui(r, r, order + 1, N);
}

//===-- exprel ------------------------------------------------------------===//

/// The sum of x^m / m! / (order + 1 + m); below -300, order! / a^(order + 1)
/// less e^-a times the same expansion (a = -x).
static void exprel(mpfr_ptr r, mpfr_ptr x, unsigned long order) {
  Wide power, term, a;
  if (mpfr_cmp_si(x, -300) < 0) {
    mpfr_neg(a, x, N);
    mpfr_pow_si(power, a, -long(order + 1), N);
    mpfr_fac_ui(r, order, N);
    mpfr_mul(r, r, power, N);
    // e^-a order!/k! / a^(order + 1 - k) for k = 0 ... order.
    Wide decay;
    mpfr_exp(decay, x, N);
    for (unsigned long k = 0; k <= order; ++k) {
      Wide ratio, below;
      mpfr_fac_ui(ratio, order, N);
      mpfr_fac_ui(below, k, N);
      mpfr_div(ratio, ratio, below, N);
      mpfr_pow_si(power, a, long(k) - long(order + 1), N);
      mpfr_mul(term, ratio, power, N);
      mpfr_mul(term, term, decay, N);
      mpfr_sub(r, r, term, N);
    }
    return;
  }
  mpfr_set_ui(power, 1, N);
  mpfr_set_ui(r, 0, N);
  unsigned long enough = termsFor(x);
  for (unsigned long m = 0; m < enough; ++m) {
    mpfr_div_ui(term, power, order + 1 + m, N);
    mpfr_add(r, r, term, N);
    mpfr_mul(power, power, x, N);
    mpfr_div_ui(power, power, m + 1, N);
  }
}

//===-- Errors ------------------------------------------------------------===//

static double errorOf(double result, mpfr_ptr value, mpfr_ptr size) {
  const double wrong = HUGE_VAL;
  if (std::isnan(result))
    return wrong;
  Wide limit, got, want;
  mpfr_set_ui_2exp(limit, 1, 1024, N);
  mpfr_set_d(got, std::isinf(result) ? 0 : result, N);
  if (std::isinf(result)) // the first number out of range
    mpfr_mul_si(got, limit, result < 0 ? -1 : 1, N);
  mpfr_set(want, value, N);
  if (mpfr_cmpabs(want, limit) > 0)
    mpfr_mul_si(want, limit, mpfr_sgn(value), N);
  long exponent =
      mpfr_zero_p(size) ? -1022 : std::max<long>(mpfr_get_exp(size) - 1, -1022);
  mpfr_sub(got, got, want, N);
  mpfr_mul_2si(got, got, 52 - std::min(exponent, 1023L), N);
  return std::fabs(mpfr_get_d(got, N));
}

double orderedError(const std::string &name, double x, int64_t order,
                    double result, double &value) {
  Wide a, exact, size;
  mpfr_set_d(a, x, N);
  if (name == "polygamma")
    polygamma(exact, a, order);
  else if (name == "sinc")
    sinc(exact, a, order);
  else
    exprel(exact, a, order);
  mpfr_abs(size, exact, N);
  if (name == "sinc" && order > 0) {
    Wide waves;
    sincSize(waves, a, order);
    mpfr_max(size, size, waves, N);
  }
  if (name == "polygamma" && x < 0) {
    // What the poles on both sides add up to, of which little is left halfway.
    Wide poles;
    mpfr_fac_ui(poles, (unsigned long)order, N);
    mpfr_mul_2si(poles, poles, order + 1 - 52, N);
    mpfr_max(size, size, poles, N);
  }
  value = mpfr_get_d(exact, N);
  return errorOf(result, exact, size);
}

} // namespace ulp
} // namespace astra

#else

namespace astra {
namespace ulp {

double orderedError(const std::string &, double, int64_t, double, double &) {
  return HUGE_VAL;
}

} // namespace ulp
} // namespace astra

#endif
