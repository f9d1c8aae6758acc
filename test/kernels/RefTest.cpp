// The normative kernels against truths that were not made with them: integer
// and long double arithmetic, orders written again from docs/arithmetic.md,
// published answers.
#include "KernelTesting.h"
#include "kernels/Threefry.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace astra::testing;

namespace {

const float inf = INFINITY, nan32 = NAN;

template <class T>
std::vector<T> unaryOf(const char *name, std::vector<T> in,
                       std::vector<int64_t> params = {}) {
  Tensor<T> x({int64_t(in.size())}, in), out({int64_t(in.size())});
  TestCall call;
  EXPECT_EQ(call.run(name, {x.arg(), out.arg()}, params), 0) << call.message;
  return out.data;
}

template <class T, class Out = T>
std::vector<Out> binaryOf(const char *name, std::vector<T> a,
                          std::vector<T> b) {
  Tensor<T> x({int64_t(a.size())}, a), y({int64_t(a.size())}, b);
  Tensor<Out> out({int64_t(a.size())});
  TestCall call;
  EXPECT_EQ(call.run(name, {x.arg(), y.arg(), out.arg()}), 0) << call.message;
  return out.data;
}

uint32_t bits(float x) {
  uint32_t b;
  memcpy(&b, &x, 4);
  return b;
}

// The canonical sum written from the text: chunks, lanes, folds, pairs.
float slowSum(const std::vector<float> &x) {
  std::vector<float> sums;
  for (size_t start = 0; start < x.size(); start += 1024) {
    std::vector<float> lane(32, 0.0f);
    for (size_t k = start; k < x.size() && k < start + 1024; ++k)
      lane[(k - start) % 32] += x[k];
    while (lane.size() > 1) {
      size_t h = lane.size() / 2;
      for (size_t i = 0; i < h; ++i)
        lane[i] += lane[i + h];
      lane.resize(h);
    }
    sums.push_back(lane[0]);
  }
  if (sums.empty())
    return 0.0f;
  while (sums.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i + 1 < sums.size(); i += 2)
      next.push_back(sums[i] + sums[i + 1]);
    if (sums.size() % 2)
      next.push_back(sums.back());
    sums = next;
  }
  return sums[0];
}

std::vector<float> uniform(size_t n, int seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  std::vector<float> x(n);
  for (float &v : x)
    v = d(engine);
  return x;
}

float sumOf(const std::vector<float> &x) {
  Tensor<float> in({int64_t(x.size())}, x), out(std::vector<int64_t>{});
  TestCall call;
  EXPECT_EQ(call.run("sum_f32", {in.arg(), out.arg()}, {1, 0}), 0);
  return out.data[0];
}

TEST(Ref, SumHasTheCanonicalOrder) {
  for (size_t n : {0, 1, 31, 32, 33, 1000, 1024, 1025, 3000, 5 * 1024, 100000})
    EXPECT_EQ(bits(sumOf(uniform(n, int(n)))),
              bits(slowSum(uniform(n, int(n)))))
        << n;
}

TEST(Ref, SumOfAHundredMillionOnes) {
  Tensor<float> one({1}, {1.0f}), out(std::vector<int64_t>{});
  one.shape = {100000000};
  one.strides = {0};
  TestCall call;
  ASSERT_EQ(call.run("sum_f32", {one.arg(), out.arg()}, {1, 0}), 0);
  EXPECT_EQ(out.data[0], 1e8f);
}

TEST(Ref, SumOverAxesOfATransposedView) {
  Tensor<float> x({3, 4, 5}, uniform(60, 1)), out({4});
  x.shape = {5, 4, 3};
  x.strides = {1, 5, 20};
  TestCall call;
  ASSERT_EQ(call.run("sum_f32", {x.arg(), out.arg()}, {2, 0, 2}), 0);
  for (int j = 0; j < 4; ++j) {
    std::vector<float> line;
    for (int i = 0; i < 5; ++i)
      for (int k = 0; k < 3; ++k)
        line.push_back(x.data[size_t(i + 5 * j + 20 * k)]);
    EXPECT_EQ(bits(out.data[size_t(j)]), bits(slowSum(line)));
  }
}

TEST(Ref, IntegersWrapAndRoundDown) {
  using V = std::vector<int32_t>;
  const int32_t least = INT32_MIN;
  EXPECT_EQ(binaryOf<int32_t>("div_i32", {7, -7, 7, -7, least, -1},
                              {2, 2, -2, -2, -1, 5}),
            (V{3, -4, -4, 3, least, -1}));
  EXPECT_EQ(binaryOf<int32_t>("rem_i32", {7, -7, 7, -7, least, -1},
                              {2, 2, -2, -2, -1, 5}),
            (V{1, 1, -1, -1, 0, 4}));
  EXPECT_EQ(binaryOf<int32_t>("add_i32", {INT32_MAX}, {1}), (V{least}));
  EXPECT_EQ(binaryOf<int32_t>("mul_i32", {65536}, {65536}), (V{0}));
  EXPECT_EQ(unaryOf<int32_t>("abs_i32", {least, -3}), (V{least, 3}));
  EXPECT_EQ(binaryOf<int8_t>("div_i8", {-128, -128}, {-1, 3}),
            (std::vector<int8_t>{-128, -43}));
  EXPECT_EQ(binaryOf<uint16_t>("mul_u16", {65535}, {65535}),
            (std::vector<uint16_t>{1}));
  EXPECT_EQ(binaryOf<int32_t>("shift_left_i32", {1, 1, 1}, {31, 32, -1}),
            (V{least, 0, 0}));
  EXPECT_EQ(binaryOf<int32_t>("shift_right_i32", {-8, -8, 8}, {1, 99, -1}),
            (V{-4, -1, 0}));
  EXPECT_EQ(unaryOf<int32_t>("pow_int_i32", {3, -2}, {5}), (V{243, -32}));
}

TEST(Ref, DivisionByZeroNamesThePlace) {
  Tensor<int64_t> a({2, 2}, {1, 2, 3, 4}), b({2, 2}, {1, 1, 0, 1}), out({2, 2});
  TestCall call;
  EXPECT_EQ(call.run("div_i64", {a.arg(), b.arg(), out.arg()}),
            ASTRA_ERROR_DIVISION_BY_ZERO);
  EXPECT_EQ(call.message,
            "integer division by zero: the divisor is 0 at [1, 0]");
  EXPECT_EQ(call.run("rem_i64", {a.arg(), b.arg(), out.arg()}),
            ASTRA_ERROR_DIVISION_BY_ZERO);
}

TEST(Ref, FloatRemainderTakesTheDivisorsSign) {
  auto r = binaryOf<float>("rem_f32", {5.5f, -5.5f, 5.5f, -5.5f, 6, -6, -1, 1},
                           {3, 3, -3, -3, 3, 3, inf, inf});
  EXPECT_EQ(r, (std::vector<float>{2.5f, 0.5f, -0.5f, -2.5f, 0, 0, inf, 1}));
  EXPECT_FALSE(std::signbit(r[5]));
  EXPECT_TRUE(std::isnan(binaryOf<float>("rem_f32", {1}, {0})[0]));
  EXPECT_TRUE(std::isnan(binaryOf<float>("rem_f32", {inf}, {2})[0]));
  // Where the truncated remainder is not 0 and the signs agree it is exact.
  std::mt19937 engine(7);
  for (int i = 0; i < 100000; ++i) {
    uint32_t ua = engine() & 0x7fffffffu, ub = engine() & 0x7fffffffu;
    float a, b;
    memcpy(&a, &ua, 4);
    memcpy(&b, &ub, 4);
    if (std::isfinite(a) && std::isfinite(b) && b != 0)
      ASSERT_EQ(bits(binaryOf<float>("rem_f32", {a}, {b})[0]),
                bits(std::fmod(a, b)))
          << a << " " << b;
  }
}

TEST(Ref, DoubleRemainderIsExact) {
  std::mt19937_64 engine(8);
  for (int i = 0; i < 20000; ++i) {
    uint64_t ua = engine() >> 1, ub = engine() >> 1;
    double a, b;
    memcpy(&a, &ua, 8);
    memcpy(&b, &ub, 8);
    if (std::isfinite(a) && std::isfinite(b) && b != 0)
      ASSERT_EQ(binaryOf<double>("rem_f64", {a}, {b})[0], std::fmod(a, b));
  }
}

TEST(Ref, MaximumOrdersZerosAndKeepsNan) {
  EXPECT_FALSE(
      std::signbit(binaryOf<float>("maximum_f32", {-0.0f}, {0.0f})[0]));
  EXPECT_FALSE(
      std::signbit(binaryOf<float>("maximum_f32", {0.0f}, {-0.0f})[0]));
  EXPECT_TRUE(std::signbit(binaryOf<float>("minimum_f32", {0.0f}, {-0.0f})[0]));
  EXPECT_TRUE(std::signbit(binaryOf<float>("minimum_f32", {-0.0f}, {0.0f})[0]));
  EXPECT_TRUE(std::isnan(binaryOf<float>("maximum_f32", {nan32}, {1})[0]));
  EXPECT_TRUE(std::isnan(binaryOf<float>("minimum_f32", {1}, {nan32})[0]));
}

TEST(Ref, RoundingToWhole) {
  std::vector<float> x = {0.5f,  1.5f, 2.5f, -0.5f, -1.5f, 8388607.5f,
                          -0.2f, inf,  0.9f, -2.1f, 3e9f,  1e-40f};
  auto r = unaryOf<float>("round_f32", x), f = unaryOf<float>("floor_f32", x),
       c = unaryOf<float>("ceil_f32", x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(bits(r[i]), bits(std::nearbyint(x[i]))) << x[i];
    EXPECT_EQ(bits(f[i]), bits(std::floor(x[i]))) << x[i];
    EXPECT_EQ(bits(c[i]), bits(std::ceil(x[i]))) << x[i];
  }
}

template <class From, class To>
std::vector<To> convertOf(const char *name, std::vector<From> in) {
  Tensor<From> x({int64_t(in.size())}, in);
  Tensor<To> out({int64_t(in.size())});
  TestCall call;
  EXPECT_EQ(call.run(name, {x.arg(), out.arg()}), 0);
  return out.data;
}

TEST(Ref, ConversionsSaturateAndRound) {
  EXPECT_EQ((convertOf<float, int32_t>("convert_f32_i32",
                                       {2.9f, -2.9f, nan32, inf, -inf, 3e9f})),
            (std::vector<int32_t>{2, -2, 0, INT32_MAX, INT32_MIN, INT32_MAX}));
  EXPECT_EQ(
      (convertOf<double, uint8_t>("convert_f64_u8", {-0.9, 255.9, 256, -5})),
      (std::vector<uint8_t>{0, 255, 255, 0}));
  EXPECT_EQ((convertOf<float, int64_t>("convert_f32_i64", {9.3e18f, -9.3e18f})),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN}));
  EXPECT_EQ((convertOf<int32_t, int8_t>("convert_i32_i8", {300, -129})),
            (std::vector<int8_t>{44, 127}));
  // 1 + 2^-11 + 2^-40: through f32 it would be a tie and round down.
  EXPECT_EQ((convertOf<double, uint16_t>(
                "convert_f64_f16", {1 + 0x1p-11 + 0x1p-40, 65519, 65520})),
            (std::vector<uint16_t>{0x3c01, 0x7bff, 0x7c00}));
  EXPECT_EQ((convertOf<float, uint16_t>(
                "convert_f32_f16", {0x1p-25f, 0x1.8p-25f, -0x1p-24f, 1e-30f})),
            (std::vector<uint16_t>{0, 1, 0x8001, 0}));
  EXPECT_EQ((convertOf<float, uint16_t>(
                "convert_f32_bf16", {1 + 0x1p-8f, 1 + 0x1.8p-7f, 0x1p-133f})),
            (std::vector<uint16_t>{0x3f80, 0x3f82, 1}));
  // 2^60 + 2^52 + 1 lies just above the middle between two bf16.
  EXPECT_EQ((convertOf<int64_t, uint16_t>(
                "convert_i64_bf16",
                {(1ll << 60) + (1ll << 52) + 1, (1ll << 60) + (1ll << 52)})),
            (std::vector<uint16_t>{0x5d81, 0x5d80}));
  EXPECT_EQ(
      (convertOf<float, uint8_t>("convert_f32_bool", {0, -0.0f, 2, nan32})),
      (std::vector<uint8_t>{0, 0, 1, 1}));
}

TEST(Ref, HalfPrecisionMatchesTheHardwareType) {
  for (uint32_t i = 0; i < 65536; ++i) {
    _Float16 h;
    uint16_t u = uint16_t(i);
    memcpy(&h, &u, 2);
    float wide = convertOf<uint16_t, float>("convert_f16_f32", {u})[0];
    if (std::isnan(wide))
      EXPECT_TRUE((u & 0x7c00) == 0x7c00 && (u & 0x3ff));
    else
      ASSERT_EQ(bits(wide), bits(float(h)));
  }
}

TEST(Ref, ArgMaxPutsNanFirst) {
  auto arg = [](const char *name, std::vector<float> in) {
    Tensor<float> x({int64_t(in.size())}, in);
    Tensor<int32_t> out(std::vector<int64_t>{});
    TestCall call;
    EXPECT_EQ(call.run(name, {x.arg(), out.arg()}, {0}), 0);
    return out.data[0];
  };
  EXPECT_EQ(arg("argmax_f32", {1, 3, 3, 2}), 1);
  EXPECT_EQ(arg("argmax_f32", {1, nan32, 9, nan32}), 1);
  EXPECT_EQ(arg("argmin_f32", {1, nan32, 0}), 1);
  EXPECT_EQ(arg("argmin_f32", {1, 0, -0.0f}), 1);
}

TEST(Ref, MaxOverNothingFails) {
  Tensor<float> x({2, 0}), out({2});
  Tensor<int32_t> index({2});
  TestCall call;
  EXPECT_NE(call.run("max_f32", {x.arg(), out.arg()}, {1, 1}), 0);
  EXPECT_NE(call.message.find("max over nothing"), std::string::npos);
  EXPECT_NE(call.run("argmin_f32", {x.arg(), index.arg()}, {1}), 0);
}

TEST(Ref, SoftmaxRows) {
  Tensor<float> x({3, 3}, {-inf, -inf, -inf, 0, 0, 0, 1, 2, 3}), out({3, 3});
  TestCall call;
  ASSERT_EQ(call.run("softmax_f32", {x.arg(), out.arg()}, {1}), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bits(out.data[size_t(i)]), 0u);
    EXPECT_EQ(out.data[size_t(3 + i)], 1.0f / 3);
  }
  EXPECT_NEAR(out.data[8], 1 / (1 + std::exp(-1.0) + std::exp(-2.0)), 1e-7);
  ASSERT_EQ(call.run("log_softmax_f32", {x.arg(), out.arg()}, {1}), 0);
  EXPECT_EQ(out.data[0], -inf);
  EXPECT_NEAR(out.data[3], -std::log(3.0), 1e-7);
  Tensor<float> none({3, 0}), noneOut({3, 0});
  EXPECT_EQ(call.run("softmax_f32", {none.arg(), noneOut.arg()}, {1}), 0);
}

TEST(Ref, LogSumExpAtTheEdges) {
  auto of = [](std::vector<float> in) {
    Tensor<float> x({int64_t(in.size())}, in), out(std::vector<int64_t>{});
    TestCall call;
    EXPECT_EQ(call.run("logsumexp_f32", {x.arg(), out.arg()}, {1, 0}), 0);
    return out.data[0];
  };
  EXPECT_EQ(of({}), -inf);
  EXPECT_EQ(of({-inf, -inf}), -inf);
  EXPECT_EQ(of({1, inf}), inf);
  EXPECT_TRUE(std::isnan(of({1, nan32})));
  EXPECT_NEAR(of({1000, 1000}), 1000 + std::log(2.0), 1e-4);
}

TEST(Ref, SortPutsNanLastAndIsStable) {
  std::vector<float> in = {3, nan32, 0.0f, -0.0f, -1, inf, 0.0f, nan32, -inf};
  Tensor<float> x({9}, in), out({9});
  Tensor<int32_t> order({9});
  TestCall call;
  ASSERT_EQ(call.run("sort_f32", {x.arg(), out.arg()}, {0}), 0);
  ASSERT_EQ(call.run("argsort_f32", {x.arg(), order.arg()}, {0}), 0);
  EXPECT_EQ(order.data, (std::vector<int32_t>{8, 4, 2, 3, 6, 0, 5, 1, 7}));
  for (size_t i = 0; i < 9; ++i)
    EXPECT_EQ(bits(out.data[i]), bits(in[size_t(order.data[i])]));
}

TEST(Ref, ScanOfIntegersAndOfFloats) {
  std::vector<int32_t> ones(5000, 1);
  auto sums = unaryOf<int32_t>("cumsum_i32", ones, {0});
  for (int i = 0; i < 5000; ++i)
    ASSERT_EQ(sums[size_t(i)], i + 1);
  auto x = uniform(3000, 5);
  auto y = unaryOf<float>("cumsum_f32", x, {0});
  long double exact = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    exact += x[i];
    ASSERT_NEAR(y[i], double(exact), 1e-5);
  }
  // Within a block: ((x0 + x1) + (x2 + x3)) for the fourth.
  EXPECT_EQ(bits(y[3]), bits((x[0] + x[1]) + (x[2] + x[3])));
  EXPECT_EQ(bits(y[2]), bits(x[0] + (x[1] + x[2])));
  // Across blocks: what the first block adds comes first.
  EXPECT_EQ(bits(y[32]), bits(y[31] + x[32]));
  EXPECT_EQ(unaryOf<float>("cumprod_f32", {2, 3, 4}, {0}),
            (std::vector<float>{2, 6, 24}));
}

// The canonical product written from the text.
float slowDot(const std::vector<float> &a, const std::vector<float> &b) {
  std::vector<float> sums;
  for (size_t s = 0; s < a.size(); s += 4096) {
    float sum = 0;
    for (size_t p = s; p < a.size() && p < s + 4096; p += 256) {
      float chain = 0;
      for (size_t k = p; k < a.size() && k < p + 256; ++k)
        chain = std::fma(a[k], b[k], chain);
      sum += chain;
    }
    sums.push_back(sum);
  }
  if (sums.empty())
    return 0;
  while (sums.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i + 1 < sums.size(); i += 2)
      next.push_back(sums[i] + sums[i + 1]);
    if (sums.size() % 2)
      next.push_back(sums.back());
    sums = next;
  }
  return sums[0];
}

TEST(Ref, ContractHasTheCanonicalOrder) {
  for (int64_t k : {0, 1, 255, 256, 257, 1000, 4096, 4097, 20000, 30001}) {
    auto a = uniform(size_t(k), 1), b = uniform(size_t(k), 2);
    Tensor<float> x({1, k}, a), y({k, 1}, b), out({1, 1});
    TestCall call;
    ASSERT_EQ(call.run("contract_f32", {x.arg(), y.arg(), out.arg()}, {0, 1}),
              0);
    EXPECT_EQ(bits(out.data[0]), bits(slowDot(a, b))) << k;
  }
}

TEST(Ref, ContractOfIntegersIsExactModulo) {
  Tensor<int8_t> a({2, 3, 4}), b({2, 4, 2}), out({2, 3, 2});
  for (size_t i = 0; i < a.data.size(); ++i)
    a.data[i] = int8_t(37 * i);
  for (size_t i = 0; i < b.data.size(); ++i)
    b.data[i] = int8_t(91 * i + 5);
  TestCall call;
  ASSERT_EQ(call.run("contract_i8", {a.arg(), b.arg(), out.arg()}, {1, 1}), 0);
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j) {
        int64_t sum = 0;
        for (int k = 0; k < 4; ++k)
          sum += int64_t(a.data[size_t(n * 12 + i * 4 + k)]) *
                 b.data[size_t(n * 8 + k * 2 + j)];
        EXPECT_EQ(out.data[size_t(n * 6 + i * 2 + j)], int8_t(sum));
      }
}

TEST(Ref, GatherChecksItsIndices) {
  Tensor<uint32_t> x({2, 3}, {0, 1, 2, 10, 11, 12}), out({2, 2});
  Tensor<int64_t> index({2}, {2, 0});
  TestCall call;
  ASSERT_EQ(call.run("gather_b32", {x.arg(), index.arg(), out.arg()}, {1, 1}),
            0);
  EXPECT_EQ(out.data, (std::vector<uint32_t>{2, 0, 12, 10}));
  index.data = {0, -1};
  EXPECT_EQ(call.run("gather_b32", {x.arg(), index.arg(), out.arg()}, {1, 1}),
            ASTRA_ERROR_OUT_OF_RANGE);
  EXPECT_EQ(call.message, "index -1 is out of range for axis 1 of extent 3 "
                          "(index array at [1])");
}

TEST(Ref, ScatterTakesTheLastAndAddsThemAll) {
  Tensor<float> x({3}, {1, 2, -0.0f}), value({4}, {10, 20, 30, 40}), out({3});
  Tensor<int64_t> index({4}, {1, 0, 1, 1});
  TestCall call;
  ASSERT_EQ(call.run("scatter_set_b32",
                     {x.arg(), value.arg(), index.arg(), out.arg()}, {1, 0}),
            0);
  EXPECT_EQ(out.data, (std::vector<float>{20, 40, 0}));
  ASSERT_EQ(call.run("scatter_add_f32",
                     {x.arg(), value.arg(), index.arg(), out.arg()}, {1, 0}),
            0);
  EXPECT_EQ(out.data, (std::vector<float>{21, 82, 0}));
  EXPECT_TRUE(std::signbit(out.data[2])); // nothing was added to it
  index.data[2] = 3;
  EXPECT_EQ(call.run("scatter_add_f32",
                     {x.arg(), value.arg(), index.arg(), out.arg()}, {1, 0}),
            ASTRA_ERROR_OUT_OF_RANGE);
}

TEST(Ref, ScatterOfSlicesWithTwoIndexArrays) {
  Tensor<int32_t> x({2, 2, 2}), value({2, 3}, {1, 2, 3, 4, 5, 6}),
      out({2, 2, 2});
  Tensor<int64_t> i({3}, {0, 1, 1}), j({3}, {1, 0, 0});
  TestCall call;
  ASSERT_EQ(call.run("scatter_add_i32",
                     {x.arg(), value.arg(), i.arg(), j.arg(), out.arg()},
                     {2, 1, 2}),
            ASTRA_OK);
  EXPECT_EQ(out.data, (std::vector<int32_t>{0, 1, 5, 0, 0, 4, 11, 0}));
}

TEST(Ref, ThreefryKnownAnswers) {
  Tensor<uint32_t> key({2}, {0, 0}), out({3}), split({2, 2});
  TestCall call;
  ASSERT_EQ(call.run("random_bits_u32", {key.arg(), out.arg()}), 0);
  // jax.random.bits(jax.random.key(0), (3,))
  EXPECT_EQ(out.data,
            (std::vector<uint32_t>{0xf29a4fa7u, 0xfa843692u, 0x55110e28u}));
  ASSERT_EQ(call.run("random_split_u32", {key.arg(), split.arg()}), 0);
  EXPECT_EQ(split.data[0], 0x6b200159u);
  EXPECT_EQ(split.data[1], 0x99ba4efeu);
  astra::Pair32 word = astra::threefry({~0u, ~0u}, ~uint64_t(0));
  EXPECT_EQ(word.first, 0x1cb996fcu);
  EXPECT_EQ(word.second, 0xbb002be7u);
}

TEST(Ref, AssertionsShowPlaceAndValues) {
  Tensor<uint8_t> c({2}, {1, 0});
  Tensor<float> a({2}, {1, 2}), b({2}, {1, 2.5f});
  Tensor<double> rtol(std::vector<int64_t>{}, {0.0}), atol({}, {0.1});
  int64_t text = int64_t(reinterpret_cast<intptr_t>("x == y"));
  TestCall call;
  EXPECT_EQ(call.run("assert_bool", {c.arg()}, {text}), ASTRA_ERROR_ASSERTION);
  EXPECT_EQ(call.message, "assertion failed: x == y is false at [1]");
  EXPECT_EQ(call.run("assert_eq_f32", {a.arg(), b.arg()}, {text}),
            ASTRA_ERROR_ASSERTION);
  EXPECT_EQ(call.message, "assertion failed: x == y: at [1], 2 is not 2.5");
  EXPECT_EQ(call.run("assert_close_f32",
                     {a.arg(), b.arg(), rtol.arg(), atol.arg()}, {text}),
            ASTRA_ERROR_ASSERTION);
  EXPECT_EQ(call.message, "assertion failed: x == y: at [1], 2 is not within "
                          "rtol 0, atol 0.1 of 2.5");
  atol.data[0] = 0.5;
  EXPECT_EQ(call.run("assert_close_f32",
                     {a.arg(), b.arg(), rtol.arg(), atol.arg()}, {text}),
            0);
  a.data = {nan32, 0.0f};
  b.data = {-nan32, -0.0f};
  EXPECT_EQ(call.run("assert_eq_f32", {a.arg(), b.arg()}, {text}),
            ASTRA_ERROR_ASSERTION);
  EXPECT_NE(call.message.find("[1], 0 is not -0"), std::string::npos);
}

} // namespace
