// Quotients by a known divisor against IEEE division: where they are sure they
// have its bits, and they are sure wherever nothing is unusual.
#include "kernels/math/Quotient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace astra;

namespace {
template <class T> class Quotient : public testing::Test {
public:
  using Bits = math::BitsOf<T>;
  static constexpr int Mantissa = math::Format<T>::Mantissa;
  static constexpr Bits One = math::Format<T>::Bias;

  static T make(bool negative, Bits exponent, Bits fraction) {
    constexpr Bits Fraction = (Bits(1) << Mantissa) - 1;
    return math::fromBits(Bits((negative ? math::Format<T>::Sign : 0) |
                               exponent << Mantissa | (fraction & Fraction)));
  }
  /// A divisor that is known.
  T knownSize() {
    return make(false, One - 20 + random() % 40, Bits(random()));
  }
  T any() { return math::fromBits(Bits(random())); }

  /// Whether the quotient was sure.
  static bool check(T a, T d) {
    auto quotient = math::divideByKnown(a, math::knownDivisor(d));
    if (!math::isSure(quotient))
      return false;
    T expected = a / d;
    EXPECT_EQ(math::toBits(quotient.value), math::toBits(expected))
        << std::hexfloat << a << " / " << d;
    return true;
  }

  std::mt19937_64 random{11};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Quotient, Types);

TYPED_TEST(Quotient, AnyNumbers) {
  for (int i = 0; i < 1000000; ++i) {
    this->check(this->any(), this->any());
    this->check(this->any(), this->knownSize());
  }
}

/// What lies as near as can be to the middle between two numbers.
TYPED_TEST(Quotient, NearMiddles) {
  using T = TypeParam;
  for (int i = 0; i < 1000000; ++i) {
    T d = this->knownSize();
    T q = this->make(this->random() & 1, this->One - 2 + i % 4, this->random());
    T middle = math::fma(d, q, d * q * std::ldexp(T(1), -this->Mantissa - 1));
    this->check(middle, d);
    this->check(std::nextafter(middle, T(0)), d);
  }
}

/// Fractions next to 1 and 2, where places of quotient and divisor differ most.
TYPED_TEST(Quotient, NearPowersOfTwo) {
  for (int a = -300; a < 300; ++a)
    for (int d = -300; d < 300; ++d) {
      auto of = [&](int k) {
        return this->make(false, this->One - (k < 0), k);
      };
      EXPECT_TRUE(this->check(of(a), of(d)));
    }
}

TYPED_TEST(Quotient, SmallNumerators) {
  for (int i = 0; i < 1000000; ++i)
    this->check(this->make(i & 1, this->random() % (2 * this->Mantissa + 8),
                           this->random() >> i % 64),
                this->knownSize());
}

TYPED_TEST(Quotient, Zeros) {
  using T = TypeParam;
  for (T d : {T(1), T(3), T(0.25), T(0x1p20), T(0x1p-20), T(0.7)}) {
    EXPECT_TRUE(this->check(T(0), d));
    EXPECT_TRUE(this->check(T(-0.0), d));
  }
}

TYPED_TEST(Quotient, UnusualIsNotSure) {
  using T = TypeParam;
  for (T d : {T(0), T(-1), T(0x1p21), T(0x1p-21), T(HUGE_VAL), T(NAN)})
    EXPECT_FALSE(this->check(T(1), d)) << d;
  for (T a : {T(HUGE_VAL), T(-HUGE_VAL), T(NAN)})
    EXPECT_FALSE(this->check(a, T(3))) << a;
}

TYPED_TEST(Quotient, UsualIsSure) {
  for (int i = 0; i < 100000; ++i)
    EXPECT_TRUE(this->check(
        this->make(i & 1, this->One - 40 + this->random() % 80, this->random()),
        this->knownSize()));
}
} // namespace
