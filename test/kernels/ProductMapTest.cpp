// Products whose result a fused kernel takes box by box, with blocks written by
// hand: every way of a product, any layout of the results, a result in the
// place of a value that is read, at every level, against the separate kernels
// of `ref`.
#include "FusedTesting.h"

using namespace astra::testing;

namespace {

/// The comparison alone, for which the product has no room in a result.
void compare(void *const *data, const int64_t *masks, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<uint8_t *>(data[2])[i] =
        at<float>(data, masks, 0, i) < at<float>(data, masks, 1, i);
}

/// A product, and what its result goes into.
struct Case {
  Shape a, b, out;
  int64_t batch, contracted;
};
const Case cases[] = {
    {{3, 5}, {5, 4}, {3, 4}, 0, 1},                 // small
    {{150, 70}, {70, 130}, {150, 130}, 0, 1},       // packed
    {{37, 9}, {9, 1100}, {37, 1100}, 0, 1},         // panels in parts
    {{4, 40, 300}, {300, 129}, {4, 40, 129}, 0, 1}, // rows of two axes
    {{3, 90, 11}, {3, 11, 80}, {3, 90, 80}, 1, 1},  // a batch
    {{2000, 12}, {12, 20}, {2000, 20}, 0, 1},       // tall
    {{2, 700, 9}, {2, 9, 16}, {2, 700, 16}, 1, 1},  // tall, across a batch
    {{1100, 3, 8}, {3, 8, 64}, {1100, 64}, 0, 2},   // rows that are one run
    {{9000, 2}, {2, 2}, {9000, 2}, 0, 1},           // exchanged
    {{5, 8}, {8, 3700}, {5, 3700}, 0, 1},           // few rows
    {{130, 0}, {0, 140}, {130, 140}, 0, 1},         // over nothing
    {{0, 3}, {3, 140}, {0, 140}, 0, 1},
};

class ProductMap : public FusedTesting {
protected:
  ProductMap() : FusedTesting(815) {}

  template <class T>
  void check(const char *name, uint32_t dtype, const Case &c, int64_t place,
             Layout other, Layout result, bool inPlace);
};

/// The product is argument `place` of the map, its sum with the other one the
/// first result, perhaps in the other's memory.
template <class T>
void ProductMap::check(const char *name, uint32_t dtype, const Case &c,
                       int64_t place, Layout other, Layout result,
                       bool inPlace) {
  const astra_slot_desc_t slots[] = {{ASTRA_SLOT_ARG, dtype},
                                     {ASTRA_SLOT_ARG, dtype},
                                     {ASTRA_SLOT_ARG, dtype},
                                     {ASTRA_SLOT_ARG, ASTRA_BOOL}};
  const int64_t operands[] = {0, 1, 2, 3};
  astra_stage_desc_t stage = {
      {addAndCompare<T>, addAndCompare<T>}, operands, 2, 2, 0, 0};
  astra_fused_desc_t plan = {"f", "add lt", 4, 0, 4, slots, 1, &stage};
  std::string suffix = std::string("_") + name;
  AnyTensor a = make(name, c.a), b = make(name, c.b),
            r = make(name, c.out, other), product = make(name, c.out),
            sum = make(name, c.out, result), less = make("bool", c.out, result);
  AnyTensor sumRef = sum, lessRef = less;
  call.run("contract" + suffix, {a.arg(), b.arg(), product.arg()},
           {c.batch, c.contracted});
  const AnyTensor *left = place ? &r : &product, *right = place ? &product : &r;
  call.run("add" + suffix,
           {left->arg(), right->arg(), inPlace ? product.arg() : sumRef.arg()});
  AnyTensor sumInPlace = product;
  if (inPlace) // the product again, for the comparison
    call.run("contract" + suffix, {a.arg(), b.arg(), product.arg()},
             {c.batch, c.contracted});
  call.run("lt" + suffix, {left->arg(), right->arg(), lessRef.arg()});
  ASSERT_EQ(run("contract_map" + suffix,
                {&a, &b, &r, inPlace ? &r : &sum, &less},
                {int64_t(&plan), place, c.batch, c.contracted}),
            0);
  ASSERT_EQ(less.canonicalMemory(), lessRef.canonicalMemory());
  if (inPlace)
    ASSERT_EQ(r.canonicalMemory(), sumInPlace.canonicalMemory());
  else
    ASSERT_EQ(sum.canonicalMemory(), sumRef.canonicalMemory());
}

TEST_P(ProductMap, ContractIntoAnyLayout) {
  const Layout results[] = {Layout::Dense, Layout::Transposed,
                            Layout::Backwards, Layout::Gaps};
  const Layout others[] = {Layout::Dense, Layout::Broadcast,
                           Layout::Transposed};
  for (const Case &c : cases)
    for (Layout result : results) {
      Layout other = others[random() % 3];
      int64_t place = int64_t(random() % 2);
      SCOPED_TRACE(std::to_string(&c - cases) + " " +
                   std::to_string(int(result)));
      check<float>("f32", ASTRA_F32, c, place, other, result, false);
      if (HasFatalFailure())
        return;
    }
}

TEST_P(ProductMap, ContractInPlaceOfWhatIsRead) {
  for (const Case &c : cases) {
    SCOPED_TRACE(&c - cases);
    check<float>("f32", ASTRA_F32, c, 0, Layout::Dense, Layout::Dense, true);
    check<double>("f64", ASTRA_F64, c, 1, Layout::Dense, Layout::Dense, true);
    check<double>("f64", ASTRA_F64, c, 0, Layout::Dense, Layout::Dense, false);
    if (HasFatalFailure())
      return;
  }
}

/// bool = a < b alone; a row that all rows have is repeated by the masks.
TEST_P(ProductMap, NoRoomInAResult) {
  const astra_slot_desc_t slots[] = {{ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_BOOL}};
  const int64_t operands[] = {0, 1, 2};
  astra_stage_desc_t stage = {{compare, compare}, operands, 2, 1, 0, 0};
  astra_fused_desc_t plan = {"f", "lt", 3, 0, 3, slots, 1, &stage};
  for (const Case &c : cases) {
    SCOPED_TRACE(&c - cases);
    AnyTensor a = make("f32", c.a), b = make("f32", c.b),
              r = make("f32", c.out, Layout::Broadcast),
              product = make("f32", c.out), less = make("bool", c.out),
              lessRef = less;
    call.run("contract_f32", {a.arg(), b.arg(), product.arg()},
             {c.batch, c.contracted});
    call.run("lt_f32", {product.arg(), r.arg(), lessRef.arg()});
    ASSERT_EQ(run("contract_map_f32", {&a, &b, &r, &less},
                  {int64_t(&plan), 0, c.batch, c.contracted}),
              0);
    ASSERT_EQ(less.canonicalMemory(), lessRef.canonicalMemory());
  }
}

TEST_P(ProductMap, Convolution) {
  const astra_slot_desc_t slots[] = {{ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_BOOL}};
  const int64_t operands[] = {0, 1, 2, 3};
  astra_stage_desc_t stage = {
      {addAndCompare<float>, addAndCompare<float>}, operands, 2, 2, 0, 0};
  astra_fused_desc_t plan = {"f", "add lt", 4, 0, 4, slots, 1, &stage};
  int64_t one = 1, two = 2;
  auto scalar = [](int64_t &value) {
    return astra_arg_t{&value, nullptr, nullptr, 0, 0};
  };
  struct {
    Shape w, x, out;
  } const shapes[] = {
      {{34, 20, 3, 3}, {3, 20, 30, 19}, {3, 34, 30, 19}}, // bands
      {{32, 12, 3, 3}, {2, 12, 61, 75}, {2, 32, 31, 38}}, // every other place
      {{5, 20, 16, 16}, {40, 20, 16, 16}, {40, 5, 3, 3}},
      {{3, 2, 3, 3}, {2, 2, 5, 4}, {2, 3, 5, 4}}};
  for (const auto &s : shapes)
    for (bool inPlace : {false, true}) {
      SCOPED_TRACE(&s - shapes);
      AnyTensor w = make("f32", s.w), x = make("f32", s.x),
                r = make("f32", s.out), product = make("f32", s.out),
                sum = make("f32", s.out,
                           inPlace ? Layout::Dense : Layout::Transposed),
                less = make("bool", s.out);
      AnyTensor sumRef = sum, lessRef = less;
      astra_arg_t step = scalar(s.out[2] == 31 ? two : one);
      std::vector<astra_arg_t> args = {w.arg(), x.arg(),     scalar(one),
                                       step,    scalar(one), scalar(one),
                                       step,    scalar(one)};
      std::vector<astra_arg_t> alone = args;
      alone.push_back(product.arg());
      call.run("conv_f32", alone, {6, 3});
      call.run("add_f32", {product.arg(), r.arg(), sumRef.arg()});
      call.run("lt_f32", {product.arg(), r.arg(), lessRef.arg()});
      const AnyTensor &result = inPlace ? r : sum;
      args.insert(args.end(), {r.arg(), result.arg(), less.arg()});
      ASSERT_EQ(
          call.run("conv_map_f32", args, {int64_t(&plan), 0, 6, 3}, GetParam()),
          0);
      ASSERT_EQ(result.canonicalMemory(), sumRef.canonicalMemory());
      ASSERT_EQ(less.canonicalMemory(), lessRef.canonicalMemory());
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, ProductMap, ::testing::ValuesIn(allLevels()),
                         [](const auto &info) {
                           return levelName(info.param);
                         });

} // namespace
