// References for double by MPFR, with the functions it lacks composed at 300
// bits. See Reference.h. Built without MPFR it only says so.
#include "kernels/math/ulp/Reference.h"

#include <cmath>

#if ASTRA_HAVE_MPFR
#include "kernels/math/ulp/Mpfr.h"

namespace astra {
namespace ulp {

static void sigmoid(mpfr_ptr r, mpfr_ptr x) {
  mpfr_neg(r, x, N);
  mpfr_exp(r, r, N);
  mpfr_add_ui(r, r, 1, N);
  mpfr_ui_div(r, 1, r, N);
}

static void softplus(mpfr_ptr r, mpfr_ptr x) {
  // x + log1p(e^-x), lest the exponential overflow.
  bool positive = mpfr_sgn(x) > 0;
  Number e;
  if (positive)
    mpfr_neg(e, x, N);
  else
    mpfr_set(e, x, N);
  mpfr_exp(e, e, N);
  mpfr_log1p(r, e, N);
  if (positive)
    mpfr_add(r, r, x, N);
}

static void logSigmoid(mpfr_ptr r, mpfr_ptr x) {
  Number minus;
  mpfr_neg(minus, x, N);
  softplus(r, minus);
  mpfr_neg(r, r, N);
}

static void silu(mpfr_ptr r, mpfr_ptr x) {
  Number s;
  sigmoid(s, x);
  mpfr_mul(r, s, x, N);
}

static void gelu(mpfr_ptr r, mpfr_ptr x) {
  Number a;
  mpfr_sqrt_ui(a, 2, N);
  mpfr_div(a, x, a, N);
  mpfr_neg(a, a, N);
  mpfr_erfc(a, a, N);
  mpfr_mul(r, a, x, N);
  mpfr_div_ui(r, r, 2, N);
}

static void sech2(mpfr_ptr r, mpfr_ptr x) {
  mpfr_sech(r, x, N);
  mpfr_sqr(r, r, N);
}

static void rsqrt(mpfr_ptr r, mpfr_ptr x) { mpfr_rec_sqrt(r, x, N); }

static void lgamma(mpfr_ptr r, mpfr_ptr x) {
  int sign;
  mpfr_lgamma(r, &sign, x, N);
}

/// Newton's rule from the double result of a bisection in double.
static void erfinv(mpfr_ptr r, mpfr_ptr x) {
  Number e, slope, y;
  double target = mpfr_get_d(x, N), low = -7, high = 7;
  if (!(std::fabs(target) < 1)) {
    mpfr_set_nan(r);
    return;
  }
  for (int i = 0; i < 60; ++i) {
    double mid = 0.5 * (low + high);
    bool less =
        target > 0.5 ? std::erfc(mid) > 1 - target : std::erf(mid) < target;
    (less ? low : high) = mid;
  }
  mpfr_set_d(y, std::fabs(target) < 1e-6 ? target * 0.886226925452758 : low, N);
  for (int i = 0; i < 5; ++i) {
    mpfr_erf(e, y, N);
    mpfr_sub(e, e, x, N);
    mpfr_sqr(slope, y, N);
    mpfr_exp(slope, slope, N);
    mpfr_mul(e, e, slope, N);
    mpfr_const_pi(slope, N);
    mpfr_sqrt(slope, slope, N);
    mpfr_mul(e, e, slope, N);
    mpfr_div_ui(e, e, 2, N);
    mpfr_sub(y, y, e, N);
  }
  mpfr_set(r, y, N);
}

/// Sum of 1/(x + i)^2 up to x + n >= 60, the Euler-Maclaurin series there.
static void trigammaOfPositive(mpfr_ptr r, mpfr_ptr x) {
  // B2, B4, ... as fractions.
  static const long bernoulli[][2] = {
      {1, 6},       {-1, 30},       {1, 42},       {-1, 30},
      {5, 66},      {-691, 2730},   {7, 6},        {-3617, 510},
      {43867, 798}, {-174611, 330}, {854513, 138}, {-236364091, 2730},
      {8553103, 6}};
  Number a, t, w, power, sum;
  mpfr_set(a, x, N);
  mpfr_set_ui(sum, 0, N);
  while (mpfr_cmp_ui(a, 60) < 0) {
    mpfr_sqr(t, a, N);
    mpfr_ui_div(t, 1, t, N);
    mpfr_add(sum, sum, t, N);
    mpfr_add_ui(a, a, 1, N);
  }
  mpfr_ui_div(t, 1, a, N);
  mpfr_add(sum, sum, t, N);
  mpfr_sqr(w, t, N);
  mpfr_mul(power, w, t, N);
  mpfr_div_ui(t, w, 2, N);
  mpfr_add(sum, sum, t, N);
  for (const auto &b : bernoulli) {
    mpfr_mul_si(t, power, b[0], N);
    mpfr_div_si(t, t, b[1], N);
    mpfr_add(sum, sum, t, N);
    mpfr_mul(power, power, w, N);
  }
  mpfr_set(r, sum, N);
}

static void trigamma(mpfr_ptr r, mpfr_ptr x) {
  if (mpfr_sgn(x) > 0)
    return trigammaOfPositive(r, x);
  Number other, s, round;
  mpfr_ui_sub(other, 1, x, N);
  trigammaOfPositive(other, other);
  mpfr_round(round, x);
  mpfr_sub(round, x, round, N);
  mpfr_const_pi(s, N);
  mpfr_mul(round, round, s, N);
  mpfr_sin(round, round, N);
  mpfr_div(s, s, round, N);
  mpfr_sqr(s, s, N);
  mpfr_sub(r, s, other, N);
}

#define WRAP(name) [](mpfr_ptr r, mpfr_ptr x) { mpfr_##name(r, x, N); }

using MpfrFunction = void (*)(mpfr_ptr, mpfr_ptr);

static MpfrFunction mpfrFunction(const std::string &name) {
  struct Row {
    const char *name;
    MpfrFunction function;
  };
  static const Row rows[] = {{"rsqrt", rsqrt},
                             {"cbrt", WRAP(cbrt)},
                             {"exp", WRAP(exp)},
                             {"exp2", WRAP(exp2)},
                             {"expm1", WRAP(expm1)},
                             {"log", WRAP(log)},
                             {"log1p", WRAP(log1p)},
                             {"log2", WRAP(log2)},
                             {"log10", WRAP(log10)},
                             {"sin", WRAP(sin)},
                             {"cos", WRAP(cos)},
                             {"tan", WRAP(tan)},
                             {"asin", WRAP(asin)},
                             {"acos", WRAP(acos)},
                             {"atan", WRAP(atan)},
                             {"sinh", WRAP(sinh)},
                             {"cosh", WRAP(cosh)},
                             {"tanh", WRAP(tanh)},
                             {"sech2", sech2},
                             {"sigmoid", sigmoid},
                             {"silu", silu},
                             {"softplus", softplus},
                             {"log_sigmoid", logSigmoid},
                             {"gelu", gelu},
                             {"erf", WRAP(erf)},
                             {"erfc", WRAP(erfc)},
                             {"erfinv", erfinv},
                             {"lgamma", lgamma},
                             {"digamma", WRAP(digamma)},
                             {"trigamma", trigamma}};
  for (const Row &row : rows)
    if (name == row.name)
      return row.function;
  return nullptr;
}

/// The exponents of a format's least and greatest normal numbers, and its bits
/// after the point.
struct Range {
  long least, greatest, fraction;
};
static constexpr Range DoubleRange = {-1022, 1023, 52};
static constexpr Range Ranges[] = {
    {-126, 127, 23}, {-14, 15, 10}, {-126, 127, 7}};

static double errorInUlps(double result, mpfr_ptr value, const Range &range) {
  const double wrong = HUGE_VAL;
  if (mpfr_nan_p(value) || std::isnan(result))
    return mpfr_nan_p(value) && std::isnan(result) ? 0 : wrong;
  if (mpfr_inf_p(value))
    return std::isinf(result) && std::signbit(result) == (mpfr_sgn(value) < 0)
               ? 0
               : wrong;
  if (mpfr_zero_p(value))
    return result == 0 ? 0 : wrong;
  if (std::signbit(result) != (mpfr_sgn(value) < 0))
    return wrong;
  long exponent = mpfr_get_exp(value) - 1;
  exponent = exponent < range.least      ? range.least
             : exponent > range.greatest ? range.greatest
                                         : exponent;
  Number limit, got, want;
  mpfr_set_ui_2exp(limit, 1, range.greatest + 1, N);
  mpfr_set_d(got, std::fabs(result), N);
  mpfr_abs(want, value, N);
  if (std::isinf(result))
    mpfr_set(got, limit, N);
  mpfr_min(want, want, limit, N);
  mpfr_sub(got, got, want, N);
  mpfr_mul_2si(got, got, range.fraction - exponent, N);
  return std::fabs(mpfr_get_d(got, N));
}

bool haveDoubleReference() { return true; }

/// name(x) or name(x, y); false if there is no such function.
static bool valueOf(mpfr_ptr value, const std::string &name, double x,
                    double y) {
  Number a, b;
  mpfr_set_d(a, x, N);
  mpfr_set_d(b, y, N);
  if (MpfrFunction function = mpfrFunction(name))
    function(value, a);
  else if (name == "pow")
    mpfr_pow(value, a, b, N);
  else if (name == "atan2")
    mpfr_atan2(value, a, b, N);
  else
    return false;
  return true;
}

static double errorOf(const std::string &name, double x, double y,
                      double result, const Range &range) {
  Number value;
  return valueOf(value, name, x, y) ? errorInUlps(result, value, range)
                                    : HUGE_VAL;
}

double doubleError(const std::string &name, double x, double y, double result) {
  return errorOf(name, x, y, result, DoubleRange);
}

double exactError(const std::string &name, double x, double y, double result,
                  Format format) {
  return errorOf(name, x, y, result, Ranges[int(format)]);
}

double referenceError(const std::string &name, double x, double value) {
  Number exact;
  if (!valueOf(exact, name, x, 0))
    return HUGE_VAL;
  // Beyond the range of float every value is as good as another.
  constexpr double Limit = 0x1p128;
  if (std::fabs(value) >= Limit && std::fabs(mpfr_get_d(exact, N)) >= Limit)
    return 0;
  return errorInUlps(value, exact, Ranges[0]);
}

} // namespace ulp
} // namespace astra

#else

namespace astra {
namespace ulp {

bool haveDoubleReference() { return false; }
double doubleError(const std::string &, double, double, double) {
  return HUGE_VAL;
}
double exactError(const std::string &, double, double, double, Format) {
  return HUGE_VAL;
}
double referenceError(const std::string &, double, double) { return 0; }

} // namespace ulp
} // namespace astra

#endif
