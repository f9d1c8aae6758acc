// Products of which a fused kernel makes an operand, with blocks written by
// hand: either operand, every way of a product and of its cut, any layout of
// what the operand is made of, converted elements, another kernel that takes
// the result, at every level and on several threads, against the separate
// kernels of `ref`.
#include "FusedTesting.h"

using namespace astra::testing;
using namespace std::string_literals;

namespace {

/// out = a * b.
void multiply(void *const *data, const int64_t *masks, int64_t count) {
  EXPECT_EQ(count % ASTRA_BLOCK_LANES, 0);
  for (int64_t i = 0; i < count; ++i)
    static_cast<float *>(data[2])[i] =
        at<float>(data, masks, 0, i) * at<float>(data, masks, 1, i);
}

/// out = float(a) * b, a of one byte.
void widen(void *const *data, const int64_t *masks, int64_t count) {
  EXPECT_EQ(count % ASTRA_BLOCK_LANES, 0);
  for (int64_t i = 0; i < count; ++i)
    static_cast<float *>(data[2])[i] =
        float(at<int8_t>(data, masks, 0, i)) * at<float>(data, masks, 1, i);
}

struct Case {
  Shape a, b, out;
  int64_t batch, contracted;
};
// Operands of 16384 elements are made in boxes where they are packed once.
const Case cases[] = {
    {{3, 5}, {5, 4}, {3, 4}, 0, 1},                   // small
    {{120, 150}, {150, 40}, {120, 40}, 0, 1},         // blocks of rows
    {{66, 250}, {250, 1060}, {66, 1060}, 0, 1},       // and of columns
    {{130, 97}, {97, 180}, {130, 180}, 0, 1},         // columns for all blocks
    {{4, 40, 110}, {110, 60}, {4, 40, 60}, 0, 1},     // rows of two axes
    {{20, 9, 70}, {9, 70, 3, 10}, {20, 3, 10}, 0, 2}, // columns, k of two
    {{3, 90, 62}, {3, 62, 90}, {3, 90, 90}, 1, 1},    // a batch
    {{2, 3, 120, 50}, {2, 3, 50, 56}, {2, 3, 120, 56}, 2, 1}, // in blocks
    {{1, 500}, {500, 260}, {1, 260}, 0, 1},                   // few rows
    {{500}, {500, 133}, {133}, 0, 1},
    {{5, 8}, {8, 3700}, {5, 3700}, 0, 1},
    {{3, 1100}, {1100, 70}, {3, 70}, 0, 1},   // more chains
    {{40, 700}, {700, 70}, {40, 70}, 0, 1},   // at once
    {{2, 4500}, {4500, 40}, {2, 40}, 0, 1},   // sums that wait
    {{3, 9000}, {9000, 33}, {3, 33}, 0, 1},   // long rows
    {{2000, 12}, {12, 20}, {2000, 20}, 0, 1}, // tall
    {{900, 300}, {300, 3}, {900, 3}, 0, 1},   // exchanged
    {{20000, 2}, {2}, {20000}, 0, 1},
    {{150, 0}, {0, 140}, {150, 140}, 0, 1}, // over nothing
    {{0, 300}, {300, 140}, {0, 140}, 0, 1},
    {{300, 140}, {140, 0}, {300, 0}, 0, 1},
    {{0, 200, 100}, {0, 100, 200}, {0, 200, 200}, 1, 1},
};

class MadeOperand : public FusedTesting {
protected:
  MadeOperand() : FusedTesting(2718) {}

  /// Moderate values, some of them special.
  AnyTensor makeTame(const char *dtype, const Shape &shape,
                     Layout layout = Layout::Dense) {
    AnyTensor tensor(dtypeOf(dtype), shape, layout);
    tensor.fillWith(
        [&] { return randomBits(tensor.dtype, random, random() % 4000 != 0); });
    return tensor;
  }

  /// Operand `index` is `of` times a factor, which is perhaps the same for some
  /// elements.
  struct Product {
    const char *of;
    const Case &c;
    int64_t index;
    Layout layout, factor, result;
  };
  void check(const Product &p, bool joined);
};

/// If joined, another kernel takes the result: its sum with something, and
/// which is less.
void MadeOperand::check(const Product &p, bool joined) {
  bool widens = p.of != "f32"s;
  const astra_slot_desc_t slots[] = {
      {ASTRA_SLOT_ARG, widens ? uint32_t(ASTRA_I8) : ASTRA_F32},
      {ASTRA_SLOT_ARG, ASTRA_F32},
      {ASTRA_SLOT_ARG, ASTRA_F32}};
  const astra_slot_desc_t joinedSlots[] = {{ASTRA_SLOT_ARG, ASTRA_F32},
                                           {ASTRA_SLOT_ARG, ASTRA_F32},
                                           {ASTRA_SLOT_ARG, ASTRA_F32},
                                           {ASTRA_SLOT_ARG, ASTRA_BOOL}};
  const int64_t operands[] = {0, 1, 2, 3};
  astra_block_fn made = widens ? widen : multiply;
  astra_stage_desc_t stage = {{made, made}, operands, 2, 1, 0, 0},
                     joinedStage = {
                         {addAndCompare<float>, addAndCompare<float>},
                         operands,
                         2,
                         2,
                         0,
                         0};
  astra_fused_desc_t plan = {"f", "mul_f32", 3, 0, 3, slots, 1, &stage};
  astra_fused_desc_t joinedPlan = {"g", "add lt",    4, 0,
                                   4,   joinedSlots, 1, &joinedStage};
  const Case &c = p.c;
  const Shape &shape = p.index ? c.b : c.a;
  AnyTensor other = makeTame("f32", p.index ? c.a : c.b);
  AnyTensor from = makeTame(p.of, shape, p.layout),
            factor = makeTame("f32", shape, p.factor),
            widened = makeTame("f32", shape), whole = widened;
  if (widens)
    call.run("convert_i8_f32", {from.arg(), widened.arg()});
  call.run("mul_f32",
           {widens ? widened.arg() : from.arg(), factor.arg(), whole.arg()});
  AnyTensor out = makeTame("f32", c.out, p.result), expected = out;
  AnyTensor product = makeTame("f32", c.out), r = makeTame("f32", c.out),
            less = make("bool", c.out), lessRef = less;
  const AnyTensor &a = p.index ? other : whole, &b = p.index ? whole : other;
  call.run("contract_f32",
           {a.arg(), b.arg(), joined ? product.arg() : expected.arg()},
           {c.batch, c.contracted});
  std::vector<const AnyTensor *> args = {&from, &factor, &other};
  if (p.index)
    args = {&other, &from, &factor};
  std::vector<int64_t> params = {int64_t(&plan), p.index, c.batch,
                                 c.contracted};
  if (joined) {
    call.run("add_f32", {r.arg(), product.arg(), expected.arg()});
    call.run("lt_f32", {r.arg(), product.arg(), lessRef.arg()});
    args.insert(args.end(), {&r, &out, &less});
    params.insert(params.begin(), {int64_t(&joinedPlan), 1});
  } else {
    args.push_back(&out);
  }
  const int64_t threads[] = {1, 2, 3, 7};
  call.threads = threads[random() % 4];
  ASSERT_EQ(
      run((joined ? "map_contract_map_f32" : "map_contract_f32"), args, params),
      0);
  call.threads = 1;
  ASSERT_EQ(out.canonicalMemory(), expected.canonicalMemory());
  ASSERT_EQ(less.canonicalMemory(), lessRef.canonicalMemory());
}

const Layout anyLayout[] = {Layout::Dense, Layout::Transposed,
                            Layout::Backwards, Layout::Gaps, Layout::Broadcast};

TEST_P(MadeOperand, EitherOfAnyLayout) {
  for (const Case &c : cases)
    for (int64_t index : {0, 1})
      for (int turn = 0; turn < 2; ++turn) {
        Layout layout = anyLayout[random() % 5];
        SCOPED_TRACE(testing::Message()
                     << &c - cases << " " << index << " " << int(layout));
        Layout factor = anyLayout[random() % 5];
        Layout result = random() % 2 ? Layout::Dense : Layout::Transposed;
        check({"f32", c, index, layout, factor, result}, false);
        if (HasFatalFailure())
          return;
      }
}

TEST_P(MadeOperand, ConvertedAndTheResultTaken) {
  for (bool taken : {false, true})
    for (const Case &c : cases)
      for (int64_t index : {0, 1}) {
        SCOPED_TRACE(testing::Message()
                     << &c - cases << " " << index << " " << taken);
        Layout layout = anyLayout[random() % 5];
        Layout factor = taken ? Layout::Dense : Layout::Broadcast;
        Layout result = taken ? anyLayout[random() % 4] : Layout::Dense;
        check({"i8", c, index, layout, factor, result}, taken);
        if (HasFatalFailure())
          return;
      }
}

INSTANTIATE_TEST_SUITE_P(Levels, MadeOperand, ::testing::ValuesIn(allLevels()),
                         [](const auto &info) {
                           return levelName(info.param);
                         });

} // namespace
