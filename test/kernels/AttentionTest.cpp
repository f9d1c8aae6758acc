// Attention and its gradient: `ref` against the definition in long double, the
// variants against `ref` bit for bit, and what the order of
// docs/arithmetic.md promises: a query's result depends on nothing but itself
// and the keys that it sees.
#include "AnyTensor.h"
#include <gtest/gtest.h>

using namespace astra::testing;

namespace {

using Shape = std::vector<int64_t>;

/// The operands of both kernels in one dtype.
struct Problem {
  std::string dtype;
  Shape batch;
  int64_t n, m, d, e;
  bool masked, causal;

  Dtype statistic() const { return dtypeOf(dtype == "f64" ? "f64" : "f32"); }
  AnyTensor tensor(int64_t rows, int64_t columns, Layout layout) const {
    Shape shape = batch;
    shape.insert(shape.end(), {rows, columns});
    return AnyTensor(dtypeOf(dtype), shape, layout);
  }
  AnyTensor statistics(Layout layout = Layout::Dense) const {
    Shape shape = batch;
    shape.push_back(n);
    return AnyTensor(statistic(), shape, layout);
  }
  std::vector<int64_t> params() const { return {masked, causal, 0, 0}; }
};

struct Operands {
  AnyTensor q, k, v, mask, dOut;

  Operands(const Problem &p, Layout layout = Layout::Dense)
      : q(p.tensor(p.n, p.d, layout)), k(p.tensor(p.m, p.d, layout)),
        v(p.tensor(p.m, p.e, layout)), mask(p.tensor(p.n, p.m, layout)),
        dOut(p.tensor(p.n, p.e, layout)) {
    Shape shape = p.batch;
    shape.insert(shape.end(), {p.n, p.m});
    mask = AnyTensor(dtypeOf("bool"), shape, layout);
  }
  void fill(Random &random, bool tame) {
    for (AnyTensor *t : {&q, &k, &v, &dOut})
      t->fill(random, tame);
    mask.fill(random, true);
  }
};

struct Results {
  AnyTensor out, statistics, dq, dk, dv;

  Results(const Problem &p, Layout layout = Layout::Dense)
      : out(p.tensor(p.n, p.e, layout)), statistics(p.statistics()),
        dq(p.tensor(p.n, p.d, layout)), dk(p.tensor(p.m, p.d, layout)),
        dv(p.tensor(p.m, p.e, layout)) {}
};

/// Runs the kernel and its gradient.
Results attend(TestCall &call, const Problem &p, const Operands &x,
               uint32_t isa, Layout layout = Layout::Dense) {
  Results r(p, layout);
  std::vector<astra_arg_t> forward = {x.q.arg(), x.k.arg(), x.v.arg()};
  if (p.masked)
    forward.push_back(x.mask.arg());
  forward.insert(forward.end(), {r.out.arg(), r.statistics.arg()});
  EXPECT_EQ(call.run("attention_" + p.dtype, forward, p.params(), isa), 0)
      << call.message;
  std::vector<astra_arg_t> backward = {x.q.arg(),          x.k.arg(),
                                       x.v.arg(),          r.out.arg(),
                                       r.statistics.arg(), x.dOut.arg()};
  if (p.masked)
    backward.push_back(x.mask.arg());
  backward.insert(backward.end(), {r.dq.arg(), r.dk.arg(), r.dv.arg()});
  EXPECT_EQ(call.run("attention_grad_" + p.dtype, backward, p.params(), isa), 0)
      << call.message;
  return r;
}

std::string show(const Problem &p) {
  std::string s = p.dtype;
  for (int64_t extent : {p.n, p.m, p.d, p.e})
    s += " " + std::to_string(extent);
  return s + (p.masked ? " masked" : "") + (p.causal ? " causal" : "");
}

::testing::AssertionResult same(const char *what, const AnyTensor &a,
                                const AnyTensor &b) {
  auto x = a.canonicalMemory(), y = b.canonicalMemory();
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i])
      return ::testing::AssertionFailure()
             << what << ", element " << i << " of " << x.size() << std::hex
             << ": 0x" << x[i] << " and 0x" << y[i];
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult sameResults(const Results &a, const Results &b) {
  for (auto [what, x, y] :
       {std::tuple{"out", &a.out, &b.out},
        std::tuple{"statistics", &a.statistics, &b.statistics},
        std::tuple{"dq", &a.dq, &b.dq}, std::tuple{"dk", &a.dk, &b.dk},
        std::tuple{"dv", &a.dv, &b.dv}})
    if (auto result = same(what, *x, *y); !result)
      return result;
  return ::testing::AssertionSuccess();
}

//===-- The definition ----------------------------------------------------===//

using Real = long double;

/// The textbook formula for one batch entry of f64 tensors.
struct Definition {
  std::vector<Real> out, dq, dk, dv;
  const Problem &p;
  const Operands &x;

  Real at(const AnyTensor &t, int64_t row, int64_t column) const {
    double value;
    memcpy(&value, t.bytes.data() + 8 * (row * t.shape.back() + column), 8);
    return value;
  }
  bool sees(int64_t i, int64_t j) const {
    return (!p.causal || j <= i) &&
           (!p.masked || x.mask.bytes[size_t(i * p.m + j)]);
  }
  std::vector<Real> weights(int64_t i) const {
    std::vector<Real> w(size_t(p.m), 0);
    Real sum = 0;
    for (int64_t j = 0; j < p.m; ++j) {
      Real s = 0;
      for (int64_t l = 0; l < p.d; ++l)
        s += at(x.q, i, l) * at(x.k, j, l);
      w[size_t(j)] = sees(i, j) ? expl(s / sqrtl(Real(p.d))) : 0;
      sum += w[size_t(j)];
    }
    for (Real &v : w)
      v = sum > 0 ? v / sum : 0;
    return w;
  }

  Definition(const Problem &p, const Operands &x)
      : out(size_t(p.n * p.e)), dq(size_t(p.n * p.d)), dk(size_t(p.m * p.d)),
        dv(size_t(p.m * p.e)), p(p), x(x) {
    for (int64_t i = 0; i < p.n; ++i)
      addRow(i, weights(i));
  }
  void addRow(int64_t i, const std::vector<Real> &w) {
    Real mean = 0;
    std::vector<Real> dw(size_t(p.m), 0);
    for (int64_t j = 0; j < p.m; ++j)
      for (int64_t c = 0; c < p.e; ++c) {
        out[size_t(i * p.e + c)] += w[size_t(j)] * at(x.v, j, c);
        dv[size_t(j * p.e + c)] += w[size_t(j)] * at(x.dOut, i, c);
        dw[size_t(j)] += at(x.dOut, i, c) * at(x.v, j, c);
      }
    for (int64_t j = 0; j < p.m; ++j)
      mean += w[size_t(j)] * dw[size_t(j)];
    for (int64_t j = 0; j < p.m; ++j) {
      Real ds = w[size_t(j)] * (dw[size_t(j)] - mean) / sqrtl(Real(p.d));
      for (int64_t l = 0; l < p.d; ++l) {
        dq[size_t(i * p.d + l)] += ds * at(x.k, j, l);
        dk[size_t(j * p.d + l)] += ds * at(x.q, i, l);
      }
    }
  }
};

void expectNear(const char *what, const AnyTensor &got,
                const std::vector<Real> &wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    double value;
    memcpy(&value, got.bytes.data() + 8 * i, 8);
    ASSERT_NEAR(value, double(wanted[i]), 1e-13) << what << " " << i;
  }
}

TEST(Attention, RefIsTheDefinition) {
  Random random{7};
  TestCall call;
  for (auto [n, m, d, e] :
       {std::tuple{1, 1, 1, 1}, std::tuple{5, 7, 3, 2}, std::tuple{9, 4, 8, 5},
        std::tuple{3, 70, 2, 3}, std::tuple{2, 2500, 1, 2}})
    for (bool masked : {false, true})
      for (bool causal : {false, true}) {
        Problem p{"f64", {}, n, m, d, e, masked, causal};
        Operands x(p);
        x.fill(random, true);
        SCOPED_TRACE(show(p));
        Results r = attend(call, p, x, ASTRA_ISA_REF);
        Definition wanted(p, x);
        expectNear("out", r.out, wanted.out);
        expectNear("dq", r.dq, wanted.dq);
        expectNear("dk", r.dk, wanted.dk);
        expectNear("dv", r.dv, wanted.dv);
      }
}

TEST(Attention, ARowThatSeesNothingIsZero) {
  TestCall call;
  for (int64_t m : {0, 3}) {
    Problem p{"f32", {}, 2, m, 2, 2, true, false};
    Operands x(p);
    Random random{3};
    x.fill(random, true);
    std::fill(x.mask.bytes.begin(), x.mask.bytes.end(), uint8_t(0));
    Results r = attend(call, p, x, ASTRA_ISA_REF);
    for (const AnyTensor *t : {&r.out, &r.dq, &r.dk, &r.dv})
      for (uint64_t bits : t->canonicalMemory())
        EXPECT_EQ(bits, 0u);
    for (uint64_t bits : r.statistics.canonicalMemory())
      EXPECT_EQ(bits, 0xff800000u);
  }
}

//===-- The variants ------------------------------------------------------===//

class AttentionVariants : public ::testing::TestWithParam<uint32_t> {
protected:
  void SetUp() override {
    if (!processorHas(GetParam()))
      GTEST_SKIP() << "this processor lacks the level";
  }
  void agree(const Problem &p, const Operands &x, Layout out) {
    SCOPED_TRACE(show(p));
    Results ref = attend(call, p, x, ASTRA_ISA_REF, out);
    call.piece = 1 + int64_t(random() % 3);
    ASSERT_TRUE(sameResults(ref, attend(call, p, x, GetParam(), out)));
  }
  /// As a mask that a program may give: rows and columns that are false
  /// throughout among others.
  void blank(const Problem &p, Operands &x) {
    int64_t row = random() % uint64_t(p.n), column = random() % uint64_t(p.m);
    for (int64_t i = 0; i < p.n; ++i)
      for (int64_t j = 0; j < p.m; ++j)
        if (i == row || j >= column) {
          int64_t at = x.mask.origin;
          at += i * x.mask.strides[p.batch.size()];
          at += j * x.mask.strides[p.batch.size() + 1];
          x.mask.bytes[size_t(at)] = 0;
        }
  }

  TestCall call;
  Random random{99};
};

const Layout layouts[] = {Layout::Dense, Layout::Transposed, Layout::Backwards,
                          Layout::Gaps, Layout::Broadcast};

TEST_P(AttentionVariants, GiveTheBitsOfRef) {
  const std::tuple<int, int, int, int> shapes[] = {
      {1, 1, 1, 1},     {3, 5, 4, 4},    {14, 64, 16, 16}, {15, 65, 17, 33},
      {120, 130, 8, 3}, {40, 20, 5, 40}, {2, 300, 70, 20}, {0, 4, 3, 2},
      {4, 0, 3, 2},     {3, 4, 0, 2},    {3, 4, 2, 0}};
  for (const char *dtype : {"f32", "f64", "f16", "bf16"})
    for (auto [n, m, d, e] : shapes)
      for (bool masked : {false, true})
        for (bool causal : {false, true}) {
          Problem p{dtype, {2}, n, m, d, e, masked, causal};
          Operands x(p, layouts[random() % 5]);
          x.fill(random, random() % 3 != 0);
          if (masked && random() % 2 && n && m)
            blank(p, x);
          agree(p, x, layouts[random() % 4]);
        }
}

TEST_P(AttentionVariants, OverManyBlocksAndWideRows) {
  const std::tuple<int, int, int, int> shapes[] = {
      {3, 1100, 4, 3}, {2, 3100, 2, 2}, {1, 4300, 3, 2}, {4300, 2, 2, 3},
      {2, 3, 600, 2},  {2, 3, 4200, 2}, {2, 3, 2, 700},  {300, 290, 2, 2}};
  for (const char *dtype : {"f32", "f64"})
    for (auto [n, m, d, e] : shapes)
      for (bool causal : {false, true}) {
        Problem p{dtype, {}, n, m, d, e, random() % 2 == 0, causal};
        Operands x(p);
        x.fill(random, random() % 2 == 0);
        agree(p, x, Layout::Dense);
      }
}

/// So many entries that each is one task, which makes all gradients in one
/// pass.
TEST_P(AttentionVariants, OfManyEntries) {
  const std::tuple<int, int, int, int> shapes[] = {
      {1, 1, 1, 1},    {15, 65, 17, 33}, {40, 20, 5, 40}, {20, 300, 3, 20},
      {2, 4200, 1, 2}, {300, 40, 2, 3},  {0, 4, 3, 2},    {4, 0, 3, 2}};
  for (const char *dtype : {"f32", "f64", "f16", "bf16"})
    for (auto [n, m, d, e] : shapes)
      for (bool causal : {false, true}) {
        Problem p{dtype, {4, 4}, n, m, d, e, random() % 2 == 0, causal};
        Operands x(p, layouts[random() % 5]);
        x.fill(random, random() % 3 != 0);
        if (p.masked && n && m)
          blank(p, x);
        agree(p, x, layouts[random() % 4]);
      }
}

/// What a masked key holds has no influence: the results are those of a smaller
/// problem without it.
TEST_P(AttentionVariants, MaskedKeysDoNotExist) {
  for (uint32_t isa : {uint32_t(ASTRA_ISA_REF), GetParam()}) {
    Problem small{"f32", {}, 20, 70, 8, 8, false, false};
    Problem large = small;
    large.m = 200;
    large.masked = true;
    Operands x(small), y(large);
    x.fill(random, true);
    y.fill(random, false);
    y.q = x.q;
    y.dOut = x.dOut;
    std::copy(x.k.bytes.begin(), x.k.bytes.end(), y.k.bytes.begin());
    std::copy(x.v.bytes.begin(), x.v.bytes.end(), y.v.bytes.begin());
    float bad[] = {INFINITY, NAN, -INFINITY, 1e38f};
    for (int i = 0; i < 4; ++i) {
      memcpy(y.k.bytes.data() + 4 * (70 * 8 + i), &bad[i], 4);
      memcpy(y.v.bytes.data() + 4 * (80 * 8 + i), &bad[i], 4);
    }
    for (int64_t i = 0; i < 20 * 200; ++i)
      y.mask.bytes[size_t(i)] = i % 200 < 70;
    Results a = attend(call, small, x, isa), b = attend(call, large, y, isa);
    EXPECT_TRUE(same("out", a.out, b.out));
    EXPECT_TRUE(same("dq", a.dq, b.dq));
    for (const AnyTensor *t : {&b.dk, &b.dv})
      for (size_t i = 70 * 8 * 4; i < t->bytes.size(); ++i)
        ASSERT_EQ(t->bytes[i], 0);
    b.dk.bytes.resize(a.dk.bytes.size());
    b.dv.bytes.resize(a.dv.bytes.size());
    EXPECT_TRUE(same("dk", a.dk, b.dk));
    EXPECT_TRUE(same("dv", a.dv, b.dv));
  }
}

TEST_P(AttentionVariants, AQueryDoesNotSeeTheOthers) {
  Problem many{"f32", {}, 130, 90, 8, 8, false, false}, one = many;
  one.n = 1;
  Operands x(many), y(one);
  x.fill(random, true);
  y.k = x.k;
  y.v = x.v;
  Results all = attend(call, many, x, GetParam());
  for (int64_t i : {0, 13, 14, 129}) {
    std::copy_n(x.q.bytes.begin() + i * 32, 32, y.q.bytes.begin());
    Results alone = attend(call, one, y, GetParam());
    EXPECT_TRUE(std::equal(alone.out.bytes.begin(), alone.out.bytes.end(),
                           all.out.bytes.begin() + i * 32));
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, AttentionVariants,
                         ::testing::ValuesIn(optimisedLevels()),
                         [](const auto &info) {
                           return levelName(info.param);
                         });

} // namespace
