// Zeros, infinities, NaN, poles, and the last arguments before overflow and
// underflow. The table holds for both types; every value in it is exact.
#include "kernels/math/Elementary.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace astra;

namespace {

constexpr double Inf = HUGE_VAL, Nan = NAN;

template <class T> class Special : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Special, Types);

template <class T>
void expectBits(T got, double want, const std::string &call) {
  bool same = std::isnan(want) ? got != got
                               : math::toBits(got) == math::toBits(T(want));
  EXPECT_TRUE(same) << call << " = " << got << ", not " << want;
}

template <class T> struct Unary {
  const char *name;
  T (*call)(T);
  double atZero, atMinusZero, atInfinity, atMinusInfinity, atOne, atMinusOne;
};

#define ROW(name, ...) {#name, [](T x) { return math::name(x); }, __VA_ARGS__}

TYPED_TEST(Special, OneArgument) {
  using T = TypeParam;
  // A value that is not exact is left to the error bounds: Any.
  constexpr double Any = 12345;
  const Unary<T> rows[] = {
      //                  0     -0     inf   -inf    1     -1
      ROW(rsqrt, /*    */ Inf, -Inf, 0, Nan, 1, Nan),
      ROW(cbrt, /*     */ 0, -0.0, Inf, -Inf, 1, -1),
      ROW(exp, /*      */ 1, 1, Inf, 0, Any, Any),
      ROW(exp2, /*     */ 1, 1, Inf, 0, 2, 0.5),
      ROW(expm1, /*    */ 0, -0.0, Inf, -1, Any, Any),
      ROW(log, /*      */ -Inf, -Inf, Inf, Nan, 0, Nan),
      ROW(log1p, /*    */ 0, -0.0, Inf, Nan, Any, -Inf),
      ROW(log2, /*     */ -Inf, -Inf, Inf, Nan, 0, Nan),
      ROW(log10, /*    */ -Inf, -Inf, Inf, Nan, 0, Nan),
      ROW(sin, /*      */ 0, -0.0, Nan, Nan, Any, Any),
      ROW(cos, /*      */ 1, 1, Nan, Nan, Any, Any),
      ROW(tan, /*      */ 0, -0.0, Nan, Nan, Any, Any),
      ROW(asin, /*     */ 0, -0.0, Nan, Nan, Any, Any),
      ROW(acos, /*     */ Any, Any, Nan, Nan, 0, Any),
      ROW(atan, /*     */ 0, -0.0, M_PI_2, -M_PI_2, M_PI_4, -M_PI_4),
      ROW(sinh, /*     */ 0, -0.0, Inf, -Inf, Any, Any),
      ROW(cosh, /*     */ 1, 1, Inf, Inf, Any, Any),
      ROW(tanh, /*     */ 0, -0.0, 1, -1, Any, Any),
      ROW(sech2, /*    */ 1, 1, 0, 0, Any, Any),
      ROW(sigmoid, /*  */ 0.5, 0.5, 1, 0, Any, Any),
      ROW(log_sigmoid, -M_LN2, -M_LN2, -0.0, -Inf, Any, Any),
      ROW(softplus, /* */ M_LN2, M_LN2, Inf, 0, Any, Any),
      ROW(silu, /*     */ 0, -0.0, Inf, -0.0, Any, Any),
      ROW(gelu, /*     */ 0, -0.0, Inf, -0.0, Any, Any),
      ROW(erf, /*      */ 0, -0.0, 1, -1, Any, Any),
      ROW(erfc, /*     */ 1, 1, 0, 2, Any, Any),
      ROW(erfinv, /*   */ 0, -0.0, Nan, Nan, Inf, -Inf),
      ROW(lgamma, /*   */ Inf, Inf, Inf, Inf, 0, Inf),
      ROW(digamma, /*  */ -Inf, Inf, Inf, Nan, Any, Nan),
      ROW(trigamma, /* */ Inf, Inf, 0, Nan, Any, Inf),
  };
  for (const Unary<T> &row : rows) {
    auto check = [&](double x, double want) {
      if (want != Any)
        expectBits(row.call(T(x)), want,
                   std::string(row.name) + "(" + std::to_string(x) + ")");
    };
    check(0.0, row.atZero);
    check(-0.0, row.atMinusZero);
    check(Inf, row.atInfinity);
    check(-Inf, row.atMinusInfinity);
    check(1, row.atOne);
    check(-1, row.atMinusOne);
    check(Nan, Nan);
  }
}

TYPED_TEST(Special, Pow) {
  using T = TypeParam;
  const double rows[][3] = {{0, 3, 0},
                            {-0.0, 3, -0.0},
                            {-0.0, 2, 0},
                            {0, -1, Inf},
                            {-0.0, -1, -Inf},
                            {-0.0, -2, Inf},
                            {0, 0, 1},
                            {Nan, 0, 1},
                            {1, Nan, 1},
                            {1, Inf, 1},
                            {-1, Inf, 1},
                            {-1, -Inf, 1},
                            {2, Inf, Inf},
                            {0.5, Inf, 0},
                            {2, -Inf, 0},
                            {0.5, -Inf, Inf},
                            {Inf, 2, Inf},
                            {Inf, -2, 0},
                            {-Inf, 3, -Inf},
                            {-Inf, 2, Inf},
                            {-Inf, -3, -0.0},
                            {-Inf, -2, 0},
                            {-Inf, 0.5, Inf},
                            {-Inf, -0.5, 0},
                            {-8, 0.5, Nan},
                            {-2, 3, -8},
                            {-2, -2, 0.25},
                            {Nan, 1, Nan},
                            {2, Nan, Nan},
                            {-1, 0x1p60, 1},
                            {-1, 0x1p23 + 1, -1},
                            {2, 1e30, Inf},
                            {2, -1e30, 0},
                            {0.5, 1e30, 0},
                            {3, 4, 81},
                            {10, 2, 100},
                            {-0.0, Inf, 0},
                            {-0.0, -Inf, Inf},
                            {-Inf, Inf, Inf},
                            {-Inf, -Inf, 0}};
  for (const auto &row : rows)
    expectBits(math::pow(T(row[0]), T(row[1])), row[2],
               "pow(" + std::to_string(row[0]) + ", " + std::to_string(row[1]) +
                   ")");
}

TYPED_TEST(Special, Atan2) {
  using T = TypeParam;
  const double rows[][3] = {{0, 1, 0},
                            {-0.0, 1, -0.0},
                            {0, -1, M_PI},
                            {-0.0, -1, -M_PI},
                            {0, 0, 0},
                            {-0.0, 0, -0.0},
                            {0, -0.0, M_PI},
                            {-0.0, -0.0, -M_PI},
                            {1, 0, M_PI_2},
                            {-1, 0, -M_PI_2},
                            {1, -0.0, M_PI_2},
                            {1, 1, M_PI_4},
                            {-1, 1, -M_PI_4},
                            {1, -1, 3 * M_PI_4},
                            {Inf, 1, M_PI_2},
                            {-Inf, 1, -M_PI_2},
                            {1, Inf, 0},
                            {-1, Inf, -0.0},
                            {1, -Inf, M_PI},
                            {-1, -Inf, -M_PI},
                            {Inf, Inf, M_PI_4},
                            {-Inf, Inf, -M_PI_4},
                            {Inf, -Inf, 3 * M_PI_4},
                            {-Inf, -Inf, -3 * M_PI_4},
                            {Nan, 1, Nan},
                            {1, Nan, Nan},
                            {Nan, Inf, Nan}};
  for (const auto &row : rows)
    expectBits(math::atan2(T(row[0]), T(row[1])), row[2],
               "atan2(" + std::to_string(row[0]) + ", " +
                   std::to_string(row[1]) + ")");
}

template <class T> T above(T x) { return std::nextafter(x, T(HUGE_VAL)); }
template <class T> T below(T x) { return std::nextafter(x, T(-HUGE_VAL)); }

/// Bisects for where the C library's double function leaves the range of float,
/// and wants ours to leave it at the same float (a neighbour either way cannot
/// be seen: the errors there are parts of an ulp).
float firstWhere(bool (*holds)(double), float low, float high) {
  for (;;) {
    float mid = float(low + (double(high) - low) / 2);
    if (mid == low || mid == high)
      return high;
    (holds(mid) ? high : low) = mid;
  }
}

TEST(Thresholds, FloatOverflowsAndUnderflowsWhereItShould) {
  // Half way between the greatest float and what would follow; half the least.
  static const double Over = 0x1.ffffffp127, Under = 0x1p-150;
  float x = firstWhere([](double x) { return std::exp(x) >= Over; }, 80, 100);
  EXPECT_EQ(math::exp(x), HUGE_VALF);
  EXPECT_LT(math::exp(below(x)), HUGE_VALF);
  x = firstWhere([](double x) { return std::exp(x) > Under; }, -110, -80);
  EXPECT_EQ(math::exp(x), 0x1p-149f);
  EXPECT_EQ(math::exp(below(x)), 0.0f);
  x = firstWhere([](double x) { return std::sinh(x) >= Over; }, 80, 100);
  EXPECT_EQ(math::sinh(x), HUGE_VALF);
  EXPECT_LT(math::sinh(below(x)), HUGE_VALF);
  EXPECT_EQ(math::cosh(x), HUGE_VALF);
  EXPECT_LT(math::cosh(below(x)), HUGE_VALF);
  x = firstWhere([](double x) { return std::expm1(x) >= Over; }, 80, 100);
  EXPECT_EQ(math::expm1(x), HUGE_VALF);
  EXPECT_LT(math::expm1(below(x)), HUGE_VALF);
  x = firstWhere([](double x) { return std::erfc(x) <= Under; }, 9, 12);
  EXPECT_EQ(math::erfc(x), 0.0f);
  EXPECT_EQ(math::erfc(below(x)), 0x1p-149f);
  x = firstWhere([](double x) { return std::lgamma(x) >= Over; }, 1e36f, 1e37f);
  EXPECT_EQ(math::lgamma(x), HUGE_VALF);
  EXPECT_LT(math::lgamma(below(x)), HUGE_VALF);
  EXPECT_EQ(math::exp2(128.0f), HUGE_VALF);
  EXPECT_LT(math::exp2(below(128.0f)), HUGE_VALF);
  EXPECT_EQ(math::exp2(-149.0f), 0x1p-149f);
  EXPECT_EQ(math::exp2(above(-150.0f)), 0x1p-149f);
  EXPECT_EQ(math::exp2(-150.0f), 0.0f);
}

TEST(Thresholds, DoubleOverflowsAndUnderflowsWhereItShould) {
  // Published: the greatest x with a finite exponential, and so on.
  EXPECT_LT(math::exp(0x1.62e42fefa39efp9), HUGE_VAL);
  EXPECT_EQ(math::exp(0x1.62e42fefa39f0p9), HUGE_VAL);
  EXPECT_EQ(math::exp(-0x1.74910d52d3051p9), 0x1p-1074);
  EXPECT_EQ(math::exp(-0x1.74910d52d3052p9), 0.0);
  EXPECT_LT(math::cosh(0x1.633ce8fb9f87dp9), HUGE_VAL);
  EXPECT_EQ(math::cosh(0x1.633ce8fb9f87ep9), HUGE_VAL);
  EXPECT_EQ(math::exp2(1024.0), HUGE_VAL);
  EXPECT_LT(math::exp2(below(1024.0)), HUGE_VAL);
  EXPECT_EQ(math::exp2(above(-1075.0)), 0x1p-1074);
  EXPECT_EQ(math::exp2(-1075.0), 0.0);
  EXPECT_LT(math::lgamma(0x1.754d9278b51a7p+1014), HUGE_VAL);
  EXPECT_EQ(math::lgamma(0x1.754d9278b51a8p+1014), HUGE_VAL);
}

TEST(Thresholds, SubnormalNumbersCount) {
  EXPECT_EQ(math::log2(0x1p-149f), -149.0f);
  EXPECT_EQ(math::log2(0x1p-1074), -1074.0);
  EXPECT_EQ(math::sin(0x1p-149f), 0x1p-149f);
  EXPECT_EQ(math::tanh(0x1p-149f), 0x1p-149f);
  EXPECT_EQ(math::tanh(0x1p-1074), 0x1p-1074);
  EXPECT_EQ(math::exp(-103.0f), float(std::exp(-103.0)));
  EXPECT_EQ(math::exp2(-1040.0), 0x1p-1040);
  EXPECT_EQ(math::rsqrt(0x1p-1074), 0x1p537);
  EXPECT_EQ(math::cbrt(0x1p-147f), 0x1p-49f);
  EXPECT_EQ(math::atan2(0x1p-149f, 1.0f), 0x1p-149f);
}

/// What the strides of the sweeps would miss: near 1 the results rise by one
/// digit in a thousand arguments and more.
TEST(Tanh, RisesAtTheSeamAndTowardsOne) {
  const float ranges[][2] = {{0.5f, 0.625f}, {5.9f, 6.5f}, {8.75f, 9.25f}};
  for (auto [low, high] : ranges)
    for (float x = low, last = 0; x < high; x = above(x)) {
      float y = math::tanh(x);
      ASSERT_GE(y, last) << x;
      last = y;
    }
  EXPECT_LT(math::tanh(9.0f), 1.0f);
  EXPECT_EQ(math::tanh(9.25f), 1.0f);
  EXPECT_LT(math::tanh(19.0), 1.0);
  EXPECT_EQ(math::tanh(19.25), 1.0);
}

TEST(LargeAngles, AreReducedExactly) {
  // Computed with 1500 bits.
  EXPECT_EQ(math::sin(0x1p1023), 0x1.205248cbdb76p-1);
  EXPECT_EQ(math::cos(0x1p120f), -0x1.da0cd0p-1f);
  EXPECT_NEAR(math::sin(1e22), -0.8522008497671888, 2e-16);
  // The double nearest to a multiple of pi/2.
  EXPECT_NEAR(math::cos(0x1.6ac5b262ca1ffp849), -4.687165924254627611122583e-19,
              1e-34);
}

} // namespace
