// What the conformance tests share: the rows of kernels.def with what a test
// must know of them, and running a variant against `ref`.
#ifndef ASTRA_TEST_KERNELS_CONFORMANCE_H
#define ASTRA_TEST_KERNELS_CONFORMANCE_H

#include "AnyTensor.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace astra {
namespace testing {

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
    Linear,    // LinalgTest.cpp; no variants
    Check,     // RefTest.cpp; no variants
    Divide,
    Iota,
    ArgReduce,
    Index, // and below: IndexConformanceTest.cpp
    Scatter,
    Random,
    Other
  } family;
};

/// The same as plain text, which compiles quickly: dtypes by name, of inputs
/// null where there is none.
struct RowText {
  const char *name, *in[3], *out;
  Row::Family family;
};

inline const RowText rowTexts[] = {
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
#define CONV(op, dtype, version, doc) ROW2(op, dtype, #dtype, Window)
#define OVERLAP_ADD(op, dtype, version, doc) ROW1(op, dtype, #dtype, Window)
#define REDUCE(op, dtype, version, doc) ROW1(op, dtype, #dtype, Reduce)
#define ROWWISE(op, dtype, version, doc) ROW1(op, dtype, #dtype, Rowwise)
#define CONTRACT(op, dtype, version, doc) ROW2(op, dtype, #dtype, Contract)
#define ATTENTION(op, dtype, version, doc) ROW1(op, dtype, #dtype, Attention)
#define ATTENTION_GRAD(op, dtype, version, doc)                                \
  ROW1(op, dtype, #dtype, Attention)
#define INT_DIVIDE(op, dtype, version, doc) ROW2(op, dtype, #dtype, Divide)
#define IOTA(op, dtype, version, doc)                                          \
  {#op "_" #dtype, {nullptr, nullptr, nullptr}, #dtype, Row::Iota},
#define ARG_REDUCE(op, dtype, version, doc) ROW1(op, dtype, "i32", ArgReduce)
#define ARGSORT(op, dtype, version, doc) ROW1(op, dtype, "i32", Rowwise)
#define GATHER(op, w, version, doc) ROW1(op, w, #w, Index)
#define SCATTER_SET(op, w, version, doc) ROW2(op, w, #w, Scatter)
#define SCATTER_ADD(op, dtype, version, doc) ROW2(op, dtype, #dtype, Scatter)
#define RANDOM(op, dtype, version, doc) ROW1(op, dtype, "u32", Random)
#define EQUATION(op, dtype, ...) ROW1(op, dtype, #dtype, Linear)
#define DECOMPOSITION(op, dtype, ...) ROW1(op, dtype, #dtype, Linear)
#define CHECK(op, dtype, version, doc) ROW1(op, dtype, "bool", Check)
#define CHECK_EQ(op, dtype, version, doc) ROW2(op, dtype, "bool", Check)
#define CHECK_CLOSE(op, dtype, version, doc) ROW2(op, dtype, "bool", Check)
#define FUSED(op, what, version, doc)                                          \
  {#op "_" #what, {nullptr, nullptr, nullptr}, "bool", Row::Fused},
#define CONTRACT_MAP(op, dtype, version, doc) FUSED(op, dtype, version, doc)
#define CONV_MAP(op, dtype, version, doc) FUSED(op, dtype, version, doc)
#define MAP_CONTRACT(op, dtype, version, doc) FUSED(op, dtype, version, doc)
#define MAP_CONTRACT_MAP(op, dtype, version, doc) FUSED(op, dtype, version, doc)
#define KERNEL(op, dtype, version, inputs, outputs, params, doc)               \
  {#op "_" #dtype, {nullptr, nullptr, nullptr}, "bool", Row::Other},
#include "kernels/kernels.def"
};

/// Every row, or with ASTRA_TEST_EVERY=n one of n: an emulated processor is
/// slow.
inline std::vector<Row> allRows() {
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

  /// Runs the row's variant and `ref` on the same inputs and compares outcome,
  /// sentence and all memory of the result, also between its elements. After an
  /// error the result has no contents.
  ::testing::AssertionResult agree(const Row &row,
                                   const std::vector<AnyTensor> &in,
                                   const AnyTensor &out, Shape params) {
    AnyTensor expected = out, actual = out;
    std::vector<astra_arg_t> args;
    for (const AnyTensor &tensor : in)
      args.push_back(tensor.arg());
    args.push_back(expected.arg());
    astra_outcome_t ref = call.run(row.name, args, params);
    std::string sentence = call.message;
    args.back() = actual.arg();
    call.piece = 1 + int64_t(random() % 3);
    astra_outcome_t variant = call.run(row.name, args, params, GetParam());
    if (ref != variant)
      return ::testing::AssertionFailure()
             << "outcomes " << ref << " and " << variant;
    if (sentence != call.message)
      return ::testing::AssertionFailure() << sentence << call.message;
    if (ref != 0)
      return ::testing::AssertionSuccess();
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

/// The last is for inputs only.
const Layout layouts[] = {Layout::Dense, Layout::Transposed, Layout::Backwards,
                          Layout::Gaps,  Layout::Unaligned,  Layout::Broadcast};
constexpr size_t inLayouts = 6, outLayouts = 5;

inline std::string show(const Row &row, const Shape &shape, Layout in,
                        Layout out) {
  std::string s = row.name + " [";
  for (int64_t extent : shape)
    s += std::to_string(extent) + " ";
  return s + "] layouts " + std::to_string(int(in)) + " " +
         std::to_string(int(out));
}

} // namespace testing
} // namespace astra

#endif // ASTRA_TEST_KERNELS_CONFORMANCE_H
