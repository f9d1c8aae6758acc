// Linear algebra: the properties that define each result, whatever the strides;
// the same bits however the batch is cut; sentences of errors; no memory.
#include "KernelTesting.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace astra::testing;

namespace {

using Shape = std::vector<int64_t>;

template <class T> class LinalgTest : public ::testing::Test {
protected:
  static std::string name(const char *op) {
    return std::string(op) + (sizeof(T) == 4 ? "_f32" : "_f64");
  }
  static T tolerance() { return sizeof(T) == 4 ? T(2e-4) : T(1e-12); }

  Tensor<T> random(std::vector<int64_t> shape) {
    Tensor<T> x(std::move(shape));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (T &value : x.data)
      value = T(uniform(generator));
    return x;
  }
  /// Batches of x transpose(x) + 1, which are positive definite.
  Tensor<T> positive(int64_t batch, int64_t n) {
    Tensor<T> x = random({batch, n, n}), a({batch, n, n});
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          T sum = i == j;
          for (int64_t k = 0; k < n; ++k)
            sum += at(x, b, i, k) * at(x, b, j, k);
          at(a, b, i, j) = sum;
        }
    return a;
  }
  static T &at(Tensor<T> &x, int64_t b, int64_t i, int64_t j) {
    return x.data[size_t((b * x.shape[1] + i) * x.shape[2] + j)];
  }
  /// x y of the matrices of two batches.
  static Tensor<T> product(Tensor<T> x, Tensor<T> y) {
    Tensor<T> z({x.shape[0], x.shape[1], y.shape[2]});
    for (int64_t b = 0; b < z.shape[0]; ++b)
      for (int64_t i = 0; i < z.shape[1]; ++i)
        for (int64_t j = 0; j < z.shape[2]; ++j)
          for (int64_t k = 0; k < x.shape[2]; ++k)
            at(z, b, i, j) += at(x, b, i, k) * at(y, b, k, j);
    return z;
  }
  static Tensor<T> transposed(Tensor<T> x) {
    Tensor<T> y({x.shape[0], x.shape[2], x.shape[1]});
    for (int64_t b = 0; b < x.shape[0]; ++b)
      for (int64_t i = 0; i < x.shape[1]; ++i)
        for (int64_t j = 0; j < x.shape[2]; ++j)
          at(y, b, j, i) = at(x, b, i, j);
    return y;
  }
  /// The columns of x times the rows of v.
  static Tensor<T> scaled(Tensor<T> x, const Tensor<T> &v) {
    for (int64_t b = 0; b < x.shape[0]; ++b)
      for (int64_t i = 0; i < x.shape[1]; ++i)
        for (int64_t j = 0; j < x.shape[2]; ++j)
          at(x, b, i, j) *= v.data[size_t(b * x.shape[2] + j)];
    return x;
  }
  static Tensor<T> identity(int64_t batch, int64_t n) {
    Tensor<T> x({batch, n, n});
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < n; ++i)
        at(x, b, i, i) = 1;
    return x;
  }
  static void expectNear(const Tensor<T> &a, const Tensor<T> &b) {
    ASSERT_EQ(a.data.size(), b.data.size());
    for (size_t i = 0; i < a.data.size(); ++i)
      ASSERT_NEAR(a.data[i], b.data[i], tolerance()) << "element " << i;
  }
  void run(const char *op, const std::vector<astra_arg_t> &args,
           const std::vector<int64_t> &params = {}) {
    ASSERT_EQ(call.run(name(op), args, params), 0) << call.message;
  }

  std::mt19937 generator{7};
  TestCall call;
};

using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LinalgTest, Reals);

TYPED_TEST(LinalgTest, FactorsGiveTheMatrixAgain) {
  for (int64_t n : {1, 2, 5, 40}) {
    auto a = this->positive(3, n);
    Tensor<TypeParam> l(a.shape), values({3, n}), vectors(a.shape);
    this->run("cholesky", {a.arg(), l.arg()});
    this->expectNear(this->product(l, this->transposed(l)), a);
    this->run("eigh", {a.arg(), values.arg(), vectors.arg()});
    this->expectNear(
        this->product(this->scaled(vectors, values), this->transposed(vectors)),
        a);
    for (size_t i = 1; i < size_t(n); ++i)
      EXPECT_LE(values.data[i - 1], values.data[i]);
  }
}

TYPED_TEST(LinalgTest, ThinFactorsOfEveryForm) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{5, 3},
                      {3, 5},
                      {4, 4},
                      {40, 1},
                      {30, 20},
                      {17, 40}}) {
    int64_t k = std::min(m, n);
    auto a = this->random({2, m, n});
    Tensor<TypeParam> q({2, m, k}), r({2, k, n}), s({2, k});
    this->run("qr", {a.arg(), q.arg(), r.arg()});
    this->expectNear(this->product(q, r), a);
    this->expectNear(this->product(this->transposed(q), q),
                     this->identity(2, k));
    for (int64_t i = 1; i < k; ++i)
      EXPECT_EQ(this->at(r, 1, i, i - 1), 0);
    this->run("svd", {a.arg(), q.arg(), s.arg(), r.arg()});
    this->expectNear(this->product(this->scaled(q, s), r), a);
    this->expectNear(this->product(r, this->transposed(r)),
                     this->identity(2, k));
    for (size_t i = 1; i < size_t(k); ++i)
      EXPECT_GE(s.data[i - 1], s.data[i]);
  }
}

TYPED_TEST(LinalgTest, SolutionsSolve) {
  auto a = this->positive(2, 9), b = this->random({2, 9, 4});
  Tensor<TypeParam> x(b.shape), inverse(a.shape);
  this->run("solve", {a.arg(), b.arg(), x.arg()});
  this->expectNear(this->product(a, x), b);
  this->run("lstsq", {a.arg(), b.arg(), x.arg()});
  this->expectNear(this->product(a, x), b);
  this->run("inv", {a.arg(), inverse.arg()});
  this->expectNear(this->product(inverse, a), this->identity(2, 9));
}

TYPED_TEST(LinalgTest, TrianglesAreReadAsToldAndNothingElse) {
  auto a = this->positive(2, 6), b = this->random({2, 6, 3});
  for (int64_t flags = 0; flags < 8; ++flags) {
    bool lower = flags & 1, transpose = flags & 2, unit = flags & 4;
    Tensor<TypeParam> read = a, spoiled = a, x(b.shape);
    for (int64_t batch = 0; batch < 2; ++batch)
      for (int64_t i = 0; i < 6; ++i)
        for (int64_t j = 0; j < 6; ++j)
          if ((lower ? j > i : j < i) || (unit && i == j)) {
            this->at(read, batch, i, j) = i == j;
            this->at(spoiled, batch, i, j) = NAN;
          }
    this->run("solve_triangular", {spoiled.arg(), b.arg(), x.arg()},
              {lower, transpose, unit});
    this->expectNear(
        this->product(transpose ? this->transposed(read) : read, x), b);
  }
}

TYPED_TEST(LinalgTest, DeterminantsAndCofactors) {
  using T = TypeParam;
  Tensor<T> a({3, 3}, {2, -1, T(0.5), 1, 3, -2, 0, 4, 1}), c({3, 3});
  Tensor<T> d(Shape{}), sign(Shape{}), logarithm(Shape{});
  this->run("det", {a.arg(), d.arg()});
  EXPECT_NEAR(d.data[0], 25, 1e-5);
  this->run("slogdet", {a.arg(), sign.arg(), logarithm.arg()});
  EXPECT_EQ(sign.data[0], 1);
  EXPECT_NEAR(logarithm.data[0], std::log(25.0), 1e-6);
  this->run("cofactor", {a.arg(), c.arg()});
  const double expected[] = {11, -1, 4, 3, 2, -8, 0.5, 4.5, 7};
  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(c.data[size_t(i)], expected[i], 1e-5);
  // Of rank 2: products of a left and a right null vector.
  Tensor<T> low({3, 3}, {1, 2, 3, 2, 4, 6, 1, 0, 1});
  this->run("cofactor", {low.arg(), c.arg()});
  const double ofLow[] = {4, 4, -4, -2, -2, 2, 0, 0, 0};
  for (int i = 0; i < 9; ++i)
    EXPECT_NEAR(c.data[size_t(i)], ofLow[i], 1e-5);
}

/// The matrices as another layout of memory: rows and columns exchanged, in
/// reverse, or one for the whole batch.
TYPED_TEST(LinalgTest, StridesChangeNoBit) {
  auto a = this->positive(3, 5), b = this->random({3, 5, 2});
  Tensor<TypeParam> x(b.shape), y(b.shape);
  this->run("solve", {a.arg(), b.arg(), x.arg()});
  auto other = this->transposed(a);
  std::swap(other.strides[1], other.strides[2]);
  auto backwards = b;
  for (int64_t i = 0; i < 3; ++i)
    std::copy_n(b.data.begin() + i * 10, 10,
                backwards.data.begin() + (2 - i) * 10);
  backwards.strides[0] = -10;
  backwards.origin = 20;
  this->run("solve", {other.arg(), backwards.arg(), y.arg()});
  EXPECT_EQ(x.data, y.data);
  a.strides[0] = 0;
  this->run("solve", {a.arg(), b.arg(), y.arg()});
  EXPECT_TRUE(std::equal(x.data.begin(), x.data.begin() + 10, y.data.begin()));
}

TYPED_TEST(LinalgTest, CutsChangeNoBit) {
  auto a = this->positive(200, 12), b = this->random({200, 12, 12});
  Tensor<TypeParam> u(a.shape), s({200, 12}), v(a.shape), x(a.shape);
  std::vector<TypeParam> bits[3];
  for (int64_t piece : {1, 2, 3}) {
    this->call.piece = piece;
    std::vector<TypeParam> &all = bits[piece - 1];
    this->run("svd", {b.arg(), u.arg(), s.arg(), v.arg()});
    this->run("solve", {a.arg(), b.arg(), x.arg()});
    for (auto *tensor : {&u, &s, &v, &x})
      all.insert(all.end(), tensor->data.begin(), tensor->data.end());
    this->run("eigh", {a.arg(), s.arg(), v.arg()});
    all.insert(all.end(), v.data.begin(), v.data.end());
  }
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_EQ(bits[0], bits[2]);
}

TYPED_TEST(LinalgTest, ErrorsNameTheFirstMatrix) {
  using T = TypeParam;
  Tensor<T> a = this->positive(90, 3), x(a.shape);
  a.shape = x.shape = {9, 10, 3, 3};
  a.strides = x.strides = {90, 9, 3, 1};
  for (int64_t spoiled : {47, 61})
    for (int64_t i = 0; i < 9; ++i)
      a.data[size_t(spoiled * 9 + i)] = T(i / 3 + 1) * T(i % 3 + 1);
  EXPECT_EQ(this->call.run(this->name("cholesky"), {a.arg(), x.arg()}),
            ASTRA_ERROR_NUMERICAL);
  EXPECT_EQ(this->call.message,
            "cholesky: the matrix at [4, 7] of the batch is "
            "not positive definite: the pivot of row 1 is 0");
  Tensor<T> one({2, 2}, {1, 2, 2, 4}), y({2, 2});
  EXPECT_EQ(this->call.run(this->name("inv"), {one.arg(), y.arg()}),
            ASTRA_ERROR_NUMERICAL);
  EXPECT_EQ(this->call.message,
            "inv: the matrix is singular: elimination leaves "
            "no pivot for row 1");
  EXPECT_EQ(this->call.run(this->name("solve"), {one.arg(), y.arg(), y.arg()}),
            ASTRA_ERROR_NUMERICAL);
  one.data[1] = one.data[2] = NAN;
  EXPECT_EQ(this->call.run(this->name("cholesky"), {one.arg(), y.arg()}),
            ASTRA_ERROR_NUMERICAL);
}

TYPED_TEST(LinalgTest, NoMemoryIsAnError) {
  Tensor<TypeParam> a(Shape{1}), d(Shape{});
  a.shape = {int64_t(1) << 32, int64_t(1) << 32};
  a.strides = {0, 0};
  EXPECT_EQ(this->call.run(this->name("det"), {a.arg(), d.arg()}),
            ASTRA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(this->call.message, "no memory for the factors of a matrix");
}

} // namespace
