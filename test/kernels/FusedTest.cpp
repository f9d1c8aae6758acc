// The loops around a module's own code, with blocks written by hand: every
// layout and ragged extents, at every level, against the separate kernels of
// `ref`.
#include "FusedTesting.h"
#include <cmath>

using namespace astra::testing;

namespace {

const Layout layouts[] = {Layout::Dense, Layout::Transposed, Layout::Backwards,
                          Layout::Gaps, Layout::Broadcast};

/// The input joins a sum and a maximum.
void sumAndMax(void *const *data, const int64_t *masks, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float x = at<float>(data, masks, 0, i);
    at<float>(data, masks, 1, i) += x;
    float &largest = at<float>(data, masks, 2, i);
    bool isZero = x == largest && !std::signbit(x);
    largest = x > largest || isZero || std::isnan(x) ? x : largest;
  }
}
void negate(void *const *data, const int64_t *masks, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<float *>(data[1])[i] = -at<float>(data, masks, 0, i);
}
/// out = x + a + b.
void addThree(void *const *data, const int64_t *masks, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<float *>(data[3])[i] = at<float>(data, masks, 0, i) +
                                       at<float>(data, masks, 1, i) +
                                       at<float>(data, masks, 2, i);
}

class Fused : public FusedTesting {
protected:
  Fused() : FusedTesting(4711) {}

  void run(const char *kernel, const astra_fused_desc_t &plan,
           const std::vector<const AnyTensor *> &tensors) {
    outcome = FusedTesting::run(kernel, tensors, {int64_t(&plan)});
  }

  astra_outcome_t outcome = -1;
};

TEST_P(Fused, MapOfTwoResults) {
  const astra_slot_desc_t slots[] = {{ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_BOOL}};
  const int64_t operands[] = {0, 1, 2, 3};
  astra_stage_desc_t stage = {
      {addAndCompare<float>, addAndCompare<float>}, operands, 2, 2, 0, 0};
  astra_fused_desc_t plan = {"f", "add lt", 4, 0, 4, slots, 1, &stage};
  const Shape shapes[] = {{},      {0},        {1},     {15},        {16},
                          {17},    {3, 5},     {2, 70}, {3, 0, 2},   {5, 1, 67},
                          {3, 70}, {300, 200}, {4099},  {2, 31, 257}};
  for (const Shape &shape : shapes)
    for (Layout in : layouts)
      for (int other = 0; other < 5; ++other) {
        Layout out = layouts[random() % 4];
        AnyTensor a = make("f32", shape, in),
                  b = make("f32", shape, layouts[other]);
        AnyTensor sum = make("f32", shape, out),
                  less = make("bool", shape, out);
        AnyTensor sumRef = sum, lessRef = less;
        run("fused_map", plan, {&a, &b, &sum, &less});
        ASSERT_EQ(outcome, 0);
        call.run("add_f32", {a.arg(), b.arg(), sumRef.arg()});
        call.run("lt_f32", {a.arg(), b.arg(), lessRef.arg()});
        ASSERT_EQ(sum.canonicalMemory(), sumRef.canonicalMemory());
        ASSERT_EQ(less.canonicalMemory(), lessRef.canonicalMemory());
      }
}

/// out = x - sum(x) + max(x), and -sum(x) itself as a view that repeats it.
class FusedRows : public Fused {
protected:
  const astra_slot_desc_t slots[6] = {
      {ASTRA_SLOT_ARG, ASTRA_F32}, {ASTRA_SLOT_ARG, ASTRA_F32},
      {ASTRA_SLOT_ARG, ASTRA_F32}, {ASTRA_SLOT_SUM, ASTRA_F32},
      {ASTRA_SLOT_MAX, ASTRA_F32}, {ASTRA_SLOT_SCALAR, ASTRA_F32}};
  const int64_t folded[3] = {0, 3, 4}, negated[2] = {3, 5}, copied[2] = {3, 2},
                added[4] = {0, 5, 4, 1};
  const astra_stage_desc_t stages[4] = {
      {{sumAndMax, sumAndMax}, folded, 1, 2, 0, 0},
      {{negate, negate}, negated, 1, 1, 1, 0},
      {{negate, negate}, copied, 1, 1, 1, 0},
      {{addThree, addThree}, added, 3, 1, 0, 0}};

  /// The same by the kernels of `ref`, one after the other.
  std::vector<uint64_t> expected(const AnyTensor &x, AnyTensor out,
                                 int64_t rows) {
    Shape kept(x.shape.begin(), x.shape.end() - rows), params = {rows};
    for (int64_t i = 0; i < rows; ++i)
      params.push_back(int64_t(kept.size()) + i);
    AnyTensor sum(dtypeOf("f32"), kept, Layout::Dense), max = sum;
    AnyTensor dense(dtypeOf("f32"), x.shape, Layout::Dense);
    call.run("sum_f32", {x.arg(), sum.arg()}, params);
    call.run("max_f32", {x.arg(), max.arg()}, params);
    call.run("neg_f32", {sum.arg(), sum.arg()});
    auto repeat = [&](const AnyTensor &value, Shape &strides) {
      strides = value.strides;
      strides.resize(x.shape.size(), 0);
      astra_arg_t arg = dense.arg();
      arg.data = value.arg().data;
      arg.strides = strides.data();
      return arg;
    };
    Shape first, second;
    call.run("add_f32", {x.arg(), repeat(sum, first), dense.arg()});
    call.run("add_f32", {dense.arg(), repeat(max, second), out.arg()});
    sums = sum.canonicalMemory();
    return out.canonicalMemory();
  }
  std::vector<uint64_t> sums;
};

TEST_P(FusedRows, FoldsAndWhatIsMadeOfThem) {
  const Shape shapes[] = {{1, 1},    {3, 15},   {40, 16},    {7, 17},
                          {2, 1023}, {5, 1024}, {3, 1025},   {2, 5000},
                          {100, 33}, {0, 3},    {2, 140001}, {70, 10},
                          {64, 63},  {130, 1},  {33, 300},   {17, 1024}};
  for (const Shape &flat : shapes)
    for (int64_t rows : {1, 2})
      for (Layout in : layouts) {
        Shape shape = flat;
        if (rows == 2)
          shape.push_back(3);
        astra_fused_desc_t plan = {"f", "",    3, uint32_t(rows),
                                   6,   slots, 4, stages};
        AnyTensor x = make("f32", shape, in);
        AnyTensor out = make("f32", shape, layouts[random() % 4]);
        std::vector<uint64_t> reference = expected(x, out, rows);
        AnyTensor values(dtypeOf("f32"), {shape[0]}, Layout::Dense);
        AnyTensor repeated = out; // the values' memory seen with x's shape
        repeated.bytes = values.bytes;
        repeated.origin = 0;
        repeated.strides.assign(shape.size(), 0);
        repeated.strides[0] = 1;
        run("fused_rows", plan, {&x, &out, &repeated});
        ASSERT_EQ(outcome, 0);
        ASSERT_EQ(out.canonicalMemory(), reference) << shape[0];
        ASSERT_EQ(repeated.canonicalMemory(), sums);
      }
}

TEST_P(FusedRows, AnExtremeOfNothingIsAnError) {
  astra_fused_desc_t plan = {"f", "", 3, 1, 6, slots, 4, stages};
  AnyTensor none = make("f32", {2, 0}, Layout::Dense);
  run("fused_rows", plan, {&none, &none, &none});
  EXPECT_EQ(outcome, ASTRA_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(call.message, "max over nothing: a reduced extent is 0");
}

const auto everyLevel = ::testing::ValuesIn(allLevels());
INSTANTIATE_TEST_SUITE_P(Levels, Fused, everyLevel);
INSTANTIATE_TEST_SUITE_P(Levels, FusedRows, everyLevel);

} // namespace
