// The shortest text of numbers beside that of the C++ library.
#include "core/FloatText.h"
#include <charconv>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace astra;

namespace {

template <class T> void expectShortest(T value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  EXPECT_EQ(floatText(value), std::string(text, end));
}

/// Below a power of two the gap is half as wide: there the shortest digits may
/// be others than those that the number rounds to, which are one more.
template <class T> void expectShortAndExact(T value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string got = floatText(value);
  EXPECT_LE(got.size(), size_t(end - text) + 1) << got;
  EXPECT_EQ(T(std::stold(got)), value) << got;
}

TEST(FloatText, SpecialValues) {
  using Limits = std::numeric_limits<double>;
  for (double value : {0.0, 1.0, 0.1, 1e23, 123456789012345680000.0, 1e-5,
                       Limits::max(), Limits::min(), Limits::denorm_min(),
                       Limits::infinity(), Limits::quiet_NaN()}) {
    expectShortest(value);
    expectShortest(-value);
    expectShortest(float(value));
    expectShortest(-float(value));
  }
}

TEST(FloatText, PowersAndTheirNeighbours) {
  for (int k = -1074; k < 1024; ++k) {
    double power = std::ldexp(1.0, k);
    expectShortAndExact(power);
    expectShortest(std::nextafter(power, 0.0));
    expectShortest(std::nextafter(power, HUGE_VAL));
  }
  for (int k = -307; k < 309; ++k)
    expectShortest(std::stod("1e" + std::to_string(k)));
}

TEST(FloatText, EveryBfloat16) {
  for (uint32_t top = 0; top < 0x10000; ++top) {
    uint32_t bits = top << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    int exponent;
    if (std::fabs(std::frexp(value, &exponent)) == 0.5f)
      expectShortAndExact(value);
    else
      expectShortest(value);
  }
}

TEST(FloatText, RandomBits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    uint64_t bits = random();
    uint32_t narrow = uint32_t(bits >> 7);
    double value;
    float half;
    std::memcpy(&value, &bits, sizeof value);
    std::memcpy(&half, &narrow, sizeof half);
    expectShortest(value);
    expectShortest(half);
    expectShortest(double(int64_t(bits) >> (bits % 64)) / 1000.0);
  }
}

} // namespace
