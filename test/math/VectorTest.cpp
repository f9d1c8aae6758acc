// A loop that the compiler made vectors of gives the bits of one call at a
// time.
#include "GeneratedLoops.h"
#include "kernels/math/Elementary.h"
#include "kernels/math/ulp/Blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace astra;

namespace {

template <class T> uint64_t canonicalBits(T x) {
  return x != x ? math::Format<T>::QuietNan : math::toBits(x);
}

/// Numbers of all bits, small numbers, and the special ones.
template <class T> std::vector<T> arguments(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> out = {T(0),        T(-0.0),      T(1),  T(-1),
                        T(HUGE_VAL), T(-HUGE_VAL), T(NAN)};
  std::uniform_real_distribution<double> small(-4, 4), large(-800, 800);
  // An odd count: the loop has a remainder.
  while (out.size() < 6007) {
    out.push_back(math::fromBits(math::BitsOf<T>(random())));
    out.push_back(T(small(random)));
    out.push_back(T(large(random)));
  }
  return out;
}

template <class T>
void expectSame(const char *name, const std::vector<T> &x,
                const std::vector<T> &y, const std::vector<T> &block,
                T (*scalar)(T, T)) {
  for (size_t i = 0; i < x.size(); ++i) {
    T one = scalar(x[i], y[i]);
    ASSERT_EQ(canonicalBits(one), canonicalBits(block[i]))
        << name << "(" << x[i] << ", " << y[i] << "): " << one << " alone, "
        << block[i] << " in a loop";
  }
}

// One at a time: through a pointer, so that no loop is made of it.
#define ASTRA_UNARY(name, implementation)                                      \
  template <class T> T name##Alone(T x, T) { return math::name(x); }
#define ASTRA_BINARY(name, implementation)                                     \
  template <class T> T name##Alone(T x, T y) { return math::name(x, y); }
#include "kernels/math/Elementary.def"

template <class T> struct Alone {
  const char *name;
  T (*call)(T, T);
};
template <class T> const Alone<T> *unary() {
  static const Alone<T> rows[] = {
#define ASTRA_UNARY(name, implementation) {#name, name##Alone<T>},
#include "kernels/math/Elementary.def"
      {nullptr, nullptr}};
  return rows;
}
template <class T> const Alone<T> *binary() {
  static const Alone<T> rows[] = {
#define ASTRA_BINARY(name, implementation) {#name, name##Alone<T>},
#include "kernels/math/Elementary.def"
      {nullptr, nullptr}};
  return rows;
}

template <class T, class Block> void compareUnary(Block block) {
  std::vector<T> x = arguments<T>(7), out(x.size());
  for (int row = 0; ulp::UnaryBlocks[row].name; ++row) {
    block(ulp::UnaryBlocks[row], x, out);
    T (*volatile call)(T, T) = unary<T>()[row].call;
    expectSame<T>(ulp::UnaryBlocks[row].name, x, x, out, call);
  }
}

template <class T, class Block> void compareBinary(Block block) {
  std::vector<T> x = arguments<T>(8), y = arguments<T>(9), out(x.size());
  std::rotate(y.begin(), y.begin() + 3, y.end());
  for (int row = 0; ulp::BinaryBlocks[row].name; ++row) {
    block(ulp::BinaryBlocks[row], x, y, out);
    T (*volatile call)(T, T) = binary<T>()[row].call;
    expectSame<T>(ulp::BinaryBlocks[row].name, x, y, out, call);
  }
}

TEST(Vector, UnarySingle) {
  compareUnary<float>([](const auto &row, const auto &x, auto &out) {
    row.single(x.data(), out.data(), x.size());
  });
}

TEST(Vector, UnaryDouble) {
  compareUnary<double>([](const auto &row, const auto &x, auto &out) {
    row.twice(x.data(), out.data(), x.size());
  });
}

TEST(Vector, BinarySingle) {
  compareBinary<float>(
      [](const auto &row, const auto &x, const auto &y, auto &out) {
        row.single(x.data(), y.data(), out.data(), x.size());
      });
}

TEST(Vector, BinaryDouble) {
  compareBinary<double>(
      [](const auto &row, const auto &x, const auto &y, auto &out) {
        row.twice(x.data(), y.data(), out.data(), x.size());
      });
}

TEST(Vector, LoopsThatMakeTheirArguments) {
  EXPECT_STREQ(generatedLoopsDiffer(), nullptr);
#if ASTRA_TEST_V4
  // No name for v4 in older compilers' built-in: the features that matter here.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    EXPECT_STREQ(generatedLoopsDifferV4(), nullptr);
  }
#endif
}

TEST(Vector, ModerateAnglesAreTheSameBits) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 100000; ++i) {
    double x = std::uniform_real_distribution<double>(-0x1p16, 0x1p16)(random);
    float f = float(x);
    ASSERT_TRUE(math::isModerateAngle(f) && math::isModerateAngle(x));
    ASSERT_EQ(math::sinModerate(f), math::sin(f));
    ASSERT_EQ(math::cosModerate(x), math::cos(x));
    ASSERT_EQ(math::tanModerate(f), math::tan(f));
  }
  EXPECT_FALSE(math::isModerateAngle(0x1.000002p16f));
  EXPECT_TRUE(math::isModerateAngle(NAN));
}

} // namespace
