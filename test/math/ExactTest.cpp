// What is exact or correctly rounded: roundings to integers, sign, sqrt, powers
// of two, the pair arithmetic the rest is built of.
#include "kernels/math/Elementary.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

using namespace astra;

namespace {

template <class T> class Exact : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Exact, Types);

template <class T> bool sameBits(T a, T b) {
  return (a != a && b != b) || math::toBits(a) == math::toBits(b);
}

template <class T> std::vector<T> anyNumbers() {
  std::mt19937_64 random(3);
  std::vector<T> out = {T(0),   T(-0.0),     T(0.5),       T(-0.5), T(1.5),
                        T(2.5), T(HUGE_VAL), T(-HUGE_VAL), T(NAN)};
  for (int i = 0; i < 20000; ++i) {
    out.push_back(math::fromBits(math::BitsOf<T>(random())));
    out.push_back(T(std::ldexp(double(int64_t(random()) >> 40), -1 - i % 8)));
  }
  return out;
}

TYPED_TEST(Exact, RoundsToIntegers) {
  for (TypeParam x : anyNumbers<TypeParam>()) {
    EXPECT_TRUE(sameBits(math::floor(x), std::floor(x))) << x;
    EXPECT_TRUE(sameBits(math::ceil(x), std::ceil(x))) << x;
    EXPECT_TRUE(sameBits(math::round(x), std::nearbyint(x))) << x;
    EXPECT_TRUE(sameBits(math::sqrt(x), std::sqrt(x))) << x;
  }
}

TYPED_TEST(Exact, SignKeepsZerosAndNan) {
  using T = TypeParam;
  EXPECT_EQ(math::sign(T(3)), 1);
  EXPECT_EQ(math::sign(T(-0x1p-140)), -1);
  EXPECT_EQ(math::sign(T(-HUGE_VAL)), -1);
  EXPECT_TRUE(sameBits(math::sign(T(-0.0)), T(-0.0)));
  EXPECT_TRUE(std::isnan(math::sign(T(NAN))));
}

TYPED_TEST(Exact, PowersOfTwo) {
  using T = TypeParam;
  int low = sizeof(T) == 4 ? -149 : -1074, high = sizeof(T) == 4 ? 127 : 1023;
  for (int k = low; k <= high; ++k) {
    T power = std::ldexp(T(1), k);
    EXPECT_EQ(math::exp2(T(k)), power);
    EXPECT_EQ(math::log2(power), k);
    EXPECT_EQ(math::pow(T(2), T(k)), power);
    if (k % 2 == 0) {
      EXPECT_EQ(math::rsqrt(power), std::ldexp(T(1), -k / 2));
    }
    if (k % 3 == 0) {
      EXPECT_EQ(math::cbrt(power), std::ldexp(T(1), k / 3));
    }
  }
}

TYPED_TEST(Exact, ScaleRoundsOnce) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    T x = T(std::uniform_real_distribution<double>(0.5, 2)(random));
    int range = sizeof(T) == 4 ? 200 : 1500;
    int k = int(random() % unsigned(2 * range)) - range;
    EXPECT_EQ(math::scale(x, k), std::ldexp(x, k)) << x << " " << k;
  }
}

TYPED_TEST(Exact, PairsHoldWhatRoundingLoses) {
  using T = TypeParam;
  std::mt19937_64 random(6);
  for (int i = 0; i < 5000; ++i) {
    T a = T(std::uniform_real_distribution<double>(-4, 4)(random));
    T b = T(std::uniform_real_distribution<double>(-1, 1)(random));
    // x87's long double holds sums and products of floats exactly.
    math::Pair<float> s = math::twoSum(float(a), float(b));
    EXPECT_EQ((long double)s.high + s.low, (long double)float(a) + float(b));
    math::Pair<float> p = math::twoProduct(float(a), float(b));
    EXPECT_EQ((long double)p.high + p.low, (long double)float(a) * float(b));
    math::Pair<T> q =
        math::dividePairs(math::Pair<T>{b, 0}, math::Pair<T>{a, 0});
    EXPECT_EQ(q.high, b / a);
  }
}

} // namespace
