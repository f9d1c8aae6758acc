// Every optimised variant in kernels.def against `ref`, bit for bit but for the
// payloads of NaN, over ragged shapes and all kinds of strides.
#include "AnyTensor.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace astra::testing;

namespace {

using Shape = std::vector<int64_t>;

/// A row of kernels.def, with what a test must know of its family.
struct Row {
  std::string name;
  std::vector<Dtype> in;
  Dtype out;
  enum Family {
    Elementwise,
    Reduce,
    Rowwise,
    Contract,
    Attention, // AttentionTest.cpp
    Window,    // WindowTest.cpp
    Fused,     // FusedTest.cpp
    Other
  } family;
};

/// The same as plain text, which compiles quickly: dtypes by name, of inputs
/// null where there is none.
struct RowText {
  const char *name, *in[3], *out;
  Row::Family family;
};

const RowText rowTexts[] = {
#define ROW1(op, dtype, out, family)                                           \
  {#op "_" #dtype, {#dtype, nullptr, nullptr}, out, Row::family},
#define ROW2(op, dtype, out, family)                                           \
  {#op "_" #dtype, {#dtype, #dtype, nullptr}, out, Row::family},
#define UNARY(op, dtype, version, doc) ROW1(op, dtype, #dtype, Elementwise)
#define PREDICATE(op, dtype, version, doc) ROW1(op, dtype, "bool", Elementwise)
#define POW_INT(op, dtype, version, doc) ROW1(op, dtype, #dtype, Elementwise)
#define ORDERED(op, dtype, version, doc) ROW1(op, dtype, #dtype, Elementwise)
#define BINARY(op, dtype, version, doc) ROW2(op, dtype, #dtype, Elementwise)
#define COMPARE(op, dtype, version, doc) ROW2(op, dtype, "bool", Elementwise)
#define SELECT(op, w, version, doc)                                            \
  {#op "_" #w, {"bool", #w, #w}, #w, Row::Elementwise},
#define COPY(op, w, version, doc) ROW1(op, w, #w, Elementwise)
#define CONVERT(from, to)                                                      \
  {"convert_" #from "_" #to, {#from, nullptr, nullptr}, #to, Row::Elementwise},
#define SET_OUT(op, w, version, doc) ROW1(op, w, #w, Window)
#define OVERLAP_ADD(op, dtype, version, doc) ROW1(op, dtype, #dtype, Window)
#define REDUCE(op, dtype, version, doc) ROW1(op, dtype, #dtype, Reduce)
#define ROWWISE(op, dtype, version, doc) ROW1(op, dtype, #dtype, Rowwise)
#define CONTRACT(op, dtype, version, doc) ROW2(op, dtype, #dtype, Contract)
#define ATTENTION(op, dtype, version, doc) ROW1(op, dtype, #dtype, Attention)
#define ATTENTION_GRAD(op, dtype, version, doc)                                \
  ROW1(op, dtype, #dtype, Attention)
#define FUSED(op, what, version, doc)                                          \
  {#op "_" #what, {nullptr, nullptr, nullptr}, "bool", Row::Fused},
#define KERNEL(op, dtype, version, inputs, outputs, params, doc)               \
  {#op "_" #dtype, {nullptr, nullptr, nullptr}, "bool", Row::Other},
#include "kernels/kernels.def"
};

/// Every row, or with ASTRA_TEST_EVERY=n one of n: an emulated processor is
/// slow.
std::vector<Row> allRows() {
  const char *variable = std::getenv("ASTRA_TEST_EVERY");
  size_t every = variable ? std::strtoul(variable, nullptr, 10) : 1, index = 0;
  std::vector<Row> rows;
  for (const RowText &text : rowTexts) {
    if (index++ % every != 0)
      continue;
    rows.push_back({text.name, {}, dtypeOf(text.out), text.family});
    for (const char *in : text.in)
      if (in)
        rows.back().in.push_back(dtypeOf(in));
  }
  return rows;
}

class Conformance : public ::testing::TestWithParam<uint32_t> {
protected:
  void SetUp() override {
    if (!processorHas(GetParam()))
      GTEST_SKIP() << "this processor lacks the level";
  }

  /// Runs the row's variant and `ref` on the same inputs and compares all
  /// memory of the result, also between its elements.
  ::testing::AssertionResult agree(const Row &row,
                                   const std::vector<AnyTensor> &in,
                                   const AnyTensor &out, Shape params) {
    AnyTensor expected = out, actual = out;
    std::vector<astra_arg_t> args;
    for (const AnyTensor &tensor : in)
      args.push_back(tensor.arg());
    args.push_back(expected.arg());
    astra_outcome_t ref = call.run(row.name, args, params);
    args.back() = actual.arg();
    call.piece = 1 + int64_t(random() % 3);
    astra_outcome_t variant = call.run(row.name, args, params, GetParam());
    if (ref != variant)
      return ::testing::AssertionFailure()
             << "outcomes " << ref << " and " << variant;
    auto a = expected.canonicalMemory(), b = actual.canonicalMemory();
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i])
        return ::testing::AssertionFailure()
               << "element " << i << " of " << a.size() << std::hex
               << ": ref 0x" << a[i] << ", variant 0x" << b[i];
    return ::testing::AssertionSuccess();
  }

  bool hasVariant(const Row &row) {
    return kernelFor(row.name, GetParam()) != nullptr;
  }

  TestCall call;
  Random random{12345};
};

const Layout layouts[] = {Layout::Dense, Layout::Transposed, Layout::Backwards,
                          Layout::Gaps, Layout::Broadcast};

std::string show(const Row &row, const Shape &shape, Layout in, Layout out) {
  std::string s = row.name + " [";
  for (int64_t extent : shape)
    s += std::to_string(extent) + " ";
  return s + "] layouts " + std::to_string(int(in)) + " " +
         std::to_string(int(out));
}

TEST_P(Conformance, Elementwise) {
  const Shape shapes[] = {{},      {0},       {1},        {7},   {3, 5},
                          {2, 70}, {3, 0, 2}, {5, 1, 67}, {600}, {3, 1030}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Elementwise || !hasVariant(row))
      continue;
    for (const Shape &shape : shapes)
      for (Layout layout : layouts) {
        std::vector<AnyTensor> in;
        for (size_t i = 0; i < row.in.size(); ++i) {
          Layout mixed = i ? layouts[random() % 5] : layout;
          in.emplace_back(row.in[i], shape, mixed);
          in.back().fill(random, random() % 4 == 0);
        }
        Layout outLayout = layouts[random() % 4];
        AnyTensor out(row.out, shape, outLayout);
        int64_t exponent = int64_t(random() % 6);
        ASSERT_TRUE(agree(row, in, out, {exponent}))
            << show(row, shape, layout, outLayout);
      }
  }
}

TEST_P(Conformance, ElementwiseInPlaceAndInParallel) {
  for (const char *name : {"add_f32", "exp_f32", "mul_bf16", "neg_i32"})
    for (const Row &row : allRows()) {
      if (row.name != name)
        continue;
      std::vector<AnyTensor> in;
      for (Dtype dtype : row.in) {
        in.emplace_back(dtype, Shape{100001}, Layout::Dense);
        in.back().fill(random, false);
      }
      AnyTensor out(row.out, {100001}, Layout::Dense);
      ASSERT_TRUE(agree(row, in, out, {})) << name;
      std::vector<astra_arg_t> args;
      for (const AnyTensor &tensor : in)
        args.push_back(tensor.arg());
      args.push_back(out.arg());
      ASSERT_EQ(call.run(name, args), 0);
      args.back() = args.front();
      ASSERT_EQ(call.run(name, args, {}, GetParam()), 0);
      ASSERT_EQ(in[0].canonicalMemory(), out.canonicalMemory()) << name;
    }
}

TEST_P(Conformance, Reductions) {
  const std::pair<Shape, Shape> cases[] = {{{7}, {0}},
                                           {{0}, {0}},
                                           {{3, 0}, {1}},
                                           {{0, 3}, {1}},
                                           {{1, 1}, {0, 1}},
                                           {{5, 33}, {1}},
                                           {{33, 5}, {0}},
                                           {{40, 70}, {0}},
                                           {{3, 1025}, {1}},
                                           {{2500, 100}, {0}},
                                           {{6000}, {0}},
                                           {{2, 3, 4, 5}, {1, 3}},
                                           {{4, 600, 3}, {0, 1}},
                                           {{3, 20, 20}, {1}},
                                           {{2, 3}, {}}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Reduce || !hasVariant(row))
      continue;
    for (const auto &[shape, axes] : cases)
      for (Layout layout : layouts) {
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], shape, layout);
        in[0].fill(random, random() % 4 != 0);
        Shape kept, params = {int64_t(axes.size())};
        params.insert(params.end(), axes.begin(), axes.end());
        for (size_t d = 0; d < shape.size(); ++d)
          if (std::find(axes.begin(), axes.end(), int64_t(d)) == axes.end())
            kept.push_back(shape[d]);
        Layout outLayout = layouts[random() % 4];
        AnyTensor out(row.out, kept, outLayout);
        ASSERT_TRUE(agree(row, in, out, params))
            << show(row, shape, layout, outLayout);
      }
  }
}

TEST_P(Conformance, LargeSumOnAllThreads) {
  for (const Row &row : allRows())
    if (row.name == "sum_f32" || row.name == "norm_f64") {
      std::vector<AnyTensor> in;
      in.emplace_back(row.in[0], Shape{300007}, Layout::Dense);
      in[0].fill(random, true);
      ASSERT_TRUE(
          agree(row, in, AnyTensor(row.out, {}, Layout::Dense), {1, 0}));
    }
}

TEST_P(Conformance, Rowwise) {
  const std::pair<Shape, int64_t> cases[] = {
      {{7}, 0},     {{0}, 0},    {{3, 0}, 1},    {{0, 3}, 1},     {{5, 33}, 1},
      {{33, 5}, 0}, {{3, 1}, 1}, {{2, 1025}, 1}, {{2, 40, 3}, 1}, {{5000}, 0}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Rowwise || !hasVariant(row))
      continue;
    for (const auto &[shape, axis] : cases)
      for (Layout layout : layouts) {
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], shape, layout);
        in[0].fill(random, random() % 4 != 0);
        Layout outLayout = layouts[random() % 4];
        AnyTensor out(row.out, shape, outLayout);
        ASSERT_TRUE(agree(row, in, out, {axis}))
            << show(row, shape, layout, outLayout);
      }
  }
}

TEST_P(Conformance, FullyMaskedRows) {
  for (const Row &row : allRows())
    if (row.name == "softmax_f32" || row.name == "log_softmax_f32") {
      std::vector<AnyTensor> in;
      in.emplace_back(row.in[0], Shape{2, 40}, Layout::Dense);
      std::vector<float> masked(80, -INFINITY);
      masked[50] = 1;
      std::memcpy(in[0].bytes.data(), masked.data(), 320);
      ASSERT_TRUE(
          agree(row, in, AnyTensor(row.out, {2, 40}, Layout::Dense), {1}));
    }
}

TEST_P(Conformance, Contractions) {
  struct Case {
    Shape batch, rows, contracted, columns;
  };
  const Case cases[] = {{{}, {}, {5}, {}},
                        {{}, {3}, {0}, {4}},
                        {{}, {0}, {3}, {4}},
                        {{}, {1}, {64}, {32}},
                        {{}, {16}, {64}, {10}},
                        {{}, {15}, {257}, {33}},
                        {{}, {60}, {300}, {70}},
                        {{2}, {3}, {4}, {5}},
                        {{2, 1}, {2, 3}, {4, 5}, {3, 2}},
                        {{}, {30}, {20}, {130}},
                        {{}, {2}, {4097}, {3}},
                        {{}, {3}, {13000}, {35}},
                        {{}, {1}, {520}, {200}},
                        {{3}, {57}, {8}, {129}},
                        {{}, {2}, {300}, {260}},
                        {{}, {5}, {40}, {1100}},
                        {{}, {1}, {40}, {1100}},
                        {{}, {3}, {280}, {68}},
                        {{}, {4}, {20}, {70}},
                        {{}, {20}, {6, 7}, {5, 20}},
                        {{}, {40}, {300}, {600}},
                        {{}, {130}, {30}, {40}},
                        {{}, {260}, {40}, {70}},
                        {{}, {1}, {1}, {1}}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Contract || !hasVariant(row))
      continue;
    for (const Case &c : cases)
      for (Layout layout : layouts) {
        auto join = [](Shape a, const Shape &b, const Shape &d) {
          a.insert(a.end(), b.begin(), b.end());
          a.insert(a.end(), d.begin(), d.end());
          return a;
        };
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], join(c.batch, c.rows, c.contracted), layout);
        in.emplace_back(row.in[1], join(c.batch, c.contracted, c.columns),
                        layouts[random() % 5]);
        bool tame = random() % 4 != 0;
        for (AnyTensor &tensor : in)
          tensor.fill(random, tame);
        Layout outLayout = layouts[random() % 4];
        AnyTensor out(row.out, join(c.batch, c.rows, c.columns), outLayout);
        ASSERT_TRUE(
            agree(row, in, out,
                  {int64_t(c.batch.size()), int64_t(c.contracted.size())}))
            << show(row, in[0].shape, layout, outLayout);
      }
  }
}

TEST(ConformanceTable, EveryVariantBelongsToATestedFamily) {
  for (const Row &row : allRows())
    for (uint32_t isa : optimisedLevels())
      EXPECT_FALSE(kernelFor(row.name, isa) && row.family == Row::Other)
          << row.name;
}

TEST(ConformanceTable, EveryRowHasARefKernelAndNamesAreUnique) {
  std::vector<Row> rows = allRows();
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NE(kernelFor(rows[i].name, ASTRA_ISA_REF), nullptr);
    for (size_t j = 0; j < i; ++j)
      ASSERT_NE(rows[i].name, rows[j].name);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Conformance,
                         ::testing::ValuesIn(optimisedLevels()),
                         [](const auto &info) {
                           return levelName(info.param);
                         });

} // namespace
