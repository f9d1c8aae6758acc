// References for float: double functions of the C library, and textbook series
// in long double for what it lacks. See Reference.h.
#include "kernels/math/ulp/Reference.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace astra {
namespace ulp {

static double rsqrt(double x) { return 1 / std::sqrt(x); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double softplus(double x) {
  return x > 40 ? x : std::log1p(std::exp(x));
}
static double logSigmoid(double x) { return -softplus(-x); }
static double silu(double x) { return x < -700 ? -0.0 : x * sigmoid(x); }
static double gelu(double x) {
  return x < -38         ? -0.0
         : x == HUGE_VAL ? x
                         : 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

/// Bernoulli numbers B2, B4, ...
static const long double Bernoulli[] = {
    1.0L / 6,       -1.0L / 30,      1.0L / 42, -1.0L / 30,
    5.0L / 66,      -691.0L / 2730,  7.0L / 6,  -3617.0L / 510,
    43867.0L / 798, -174611.0L / 330};

static long double cotangentPi(long double x) {
  const long double pi = 3.14159265358979323846264338327950288L;
  long double r = x - std::round(x);
  return 1 / std::tan(pi * r);
}

/// Below this size three terms of the series at 0 are right to 2^-60, and every
/// float is spared the long way round.
static constexpr double Tiny = 0x1p-20;

static double digamma(double value) {
  const long double pi = 3.14159265358979323846264338327950288L;
  long double x = value, sum = 0;
  if (value != 0 && std::fabs(value) < Tiny)
    return double(-1 / x - 0.57721566490153286060651209008240243L +
                  pi * pi / 6 * x -
                  1.20205690315959428539973816151144999L * x * x);
  if (value == 0)
    return std::signbit(value) ? HUGE_VAL : -HUGE_VAL;
  if (value < 0) {
    if (std::floor(value) == value)
      return std::numeric_limits<double>::quiet_NaN();
    sum = -pi * cotangentPi(x);
    x = 1 - x;
  }
  if (value == HUGE_VAL || std::isnan(value))
    return value;
  for (; x < 25; x += 1)
    sum -= 1 / x;
  long double w = 1 / (x * x), power = w;
  sum += std::log(x) - 0.5L / x;
  for (int k = 1; k <= 10; ++k, power *= w)
    sum -= Bernoulli[k - 1] / (2 * k) * power;
  return double(sum);
}

static double trigamma(double value) {
  const long double pi = 3.14159265358979323846264338327950288L;
  if (std::isnan(value) || value == -HUGE_VAL)
    return std::numeric_limits<double>::quiet_NaN();
  if (value <= 0 && std::floor(value) == value)
    return HUGE_VAL;
  if (value < 0) {
    long double s =
        std::sin(pi * ((long double)value - std::round((long double)value)));
    return double(pi * pi / (s * s) - trigamma(1 - value));
  }
  long double x = value, sum = 0;
  if (value < Tiny)
    return double(1 / (x * x) + pi * pi / 6 -
                  2 * 1.20205690315959428539973816151144999L * x);
  for (; x < 25; x += 1)
    sum += 1 / (x * x);
  long double w = 1 / (x * x), power = w / x;
  sum += 1 / x + 0.5L * w;
  for (int k = 1; k <= 10; ++k, power *= w)
    sum += Bernoulli[k - 1] * power;
  return double(sum);
}

static double erfinv(double value) {
  long double x = std::fabs(value);
  if (!(x < 1))
    return x == 1 ? std::copysign(HUGE_VAL, value)
                  : std::numeric_limits<double>::quiet_NaN();
  if (x == 0)
    return value;
  const long double pi = 3.14159265358979323846264338327950288L;
  if (x < 0x1p-10L) { // the next term is below 2^-63
    long double w = pi * x * x / 4;
    return double(
        value * (std::sqrt(pi) / 2) *
        (1 + w * (1 / 3.0L + w * (7 / 30.0L + w * (127 / 630.0L +
                                                   w * (4369 / 22680.0L))))));
  }
  // Winitzki's formula, then Newton's rule with Halley's correction.
  long double l = std::log1p(-x * x),
              t = 2 / (3.14159265358979L * 0.147L) + l / 2;
  long double y = std::sqrt(std::sqrt(t * t - l / 0.147L) - t);
  for (int i = 0; i < 3; ++i) {
    long double over = x > 0.5L ? (1 - x) - std::erfc(y) : std::erf(y) - x;
    long double step = over * std::exp(y * y) * 0.886226925452758013649L;
    y -= step / (1 + y * step);
  }
  return std::copysign(double(y), value);
}

static double sech2(double x) {
  double s = 1 / std::cosh(x);
  return s * s;
}

static double lgammaOf(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

SingleReference singleReference(const std::string &name) {
  struct Row {
    const char *name;
    SingleReference function;
  };
  static const Row rows[] = {
      {"rsqrt", rsqrt},       {"cbrt", std::cbrt},
      {"exp", std::exp},      {"exp2", std::exp2},
      {"expm1", std::expm1},  {"log", std::log},
      {"log1p", std::log1p},  {"log2", std::log2},
      {"log10", std::log10},  {"sin", std::sin},
      {"cos", std::cos},      {"tan", std::tan},
      {"asin", std::asin},    {"acos", std::acos},
      {"atan", std::atan},    {"sinh", std::sinh},
      {"cosh", std::cosh},    {"tanh", std::tanh},
      {"sech2", sech2},       {"sigmoid", sigmoid},
      {"silu", silu},         {"log_sigmoid", logSigmoid},
      {"softplus", softplus}, {"gelu", gelu},
      {"erf", std::erf},      {"erfc", std::erfc},
      {"erfinv", erfinv},     {"lgamma", lgammaOf},
      {"digamma", digamma},   {"trigamma", trigamma}};
  for (const Row &row : rows)
    if (name == row.name)
      return row.function;
  return nullptr;
}

SingleReference2 singleReference2(const std::string &name) {
  if (name == "atan2")
    return std::atan2;
  if (name == "pow")
    return std::pow;
  return nullptr;
}

double singleError(float result, double value) {
  const double wrong = HUGE_VAL;
  if (std::isnan(value) || std::isnan(result))
    return std::isnan(value) && std::isnan(result) ? 0 : wrong;
  if (std::isinf(value))
    return double(result) == value ? 0 : wrong;
  if (value == 0)
    return result == 0 && std::signbit(result) == std::signbit(value) ? 0
                                                                      : wrong;
  if (result == 0 && std::signbit(result) != std::signbit(value))
    return wrong;
  // An infinite result stands for the first number out of range; so does any
  // value beyond it.
  const double limit = 0x1p128;
  double got =
      std::isinf(result) ? std::copysign(limit, result) : double(result);
  double want = std::fabs(value) > limit ? std::copysign(limit, value) : value;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int exponent = int(bits >> 52 & 0x7ff) - 1023;
  exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
  uint64_t perUlp = uint64_t(23 - exponent + 1023) << 52;
  double scale;
  memcpy(&scale, &perUlp, sizeof scale);
  return std::fabs((got - want) * scale);
}

} // namespace ulp
} // namespace astra
