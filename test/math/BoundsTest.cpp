// Every function against the independent references at seeded samples: error
// bound, order of neighbours, symmetry. The exhaustive measurement is
// astra-ulp's.
#include "kernels/math/ulp/Reference.h"
#include "kernels/math/ulp/Sweep.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace astra::ulp;

namespace {

class Bounds : public testing::TestWithParam<Case> {};

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const Case *c = Cases; c->name; ++c)
    cases.push_back(*c);
  return cases;
}

void expectWithin(const Worst &worst, double bound) {
  EXPECT_LE(worst.error, bound)
      << "at " << worst.x << ", " << worst.y << " -> " << worst.result;
  EXPECT_EQ(worst.descents, 0u);
  EXPECT_EQ(worst.asymmetric, 0u);
}

TEST_P(Bounds, Single) {
  Worst worst = sweepSingle(GetParam(), 10007, 1);
  EXPECT_GT(worst.arguments, 200000u);
  // A measurement that never sees an error measures nothing.
  EXPECT_GT(worst.error, 0.3);
  // Nor does one by a reference that is no better than what it judges.
  EXPECT_LT(worst.reference, 0x1p-20);
  expectWithin(worst, GetParam().bound32);
}

TEST_P(Bounds, Double) {
  if (!haveDoubleReference())
    GTEST_SKIP() << "built without MPFR";
  Worst worst = sampleDouble(GetParam(), 1000, 20);
  EXPECT_GT(worst.error, 0.3);
  expectWithin(worst, GetParam().bound64);
}

TEST(BoundsOfHalves, EveryArgument) {
  if (!haveDoubleReference())
    GTEST_SKIP() << "built without MPFR";
  for (const Case *c = Cases; c->name; ++c)
    for (Format format : {Format::F16, Format::BF16}) {
      if (c->name != std::string("exp") && c->name != std::string("erf"))
        continue;
      Worst worst = sweepHalf(*c, format);
      EXPECT_EQ(worst.arguments, 65536u);
      // The rounding of float before that of the type adds little.
      EXPECT_GT(worst.error, 0.49);
      expectWithin(worst, 0.501);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Bounds, testing::ValuesIn(allCases()),
                         [](const auto &info) { return info.param.name; });

class Bounds2 : public testing::TestWithParam<const char *> {};

TEST_P(Bounds2, Single) {
  Worst worst = sampleSingle2(GetParam(), 200000, 21);
  EXPECT_GT(worst.error, 0.3);
  expectWithin(worst, 2);
}

TEST_P(Bounds2, Double) {
  if (!haveDoubleReference())
    GTEST_SKIP() << "built without MPFR";
  Worst worst = sampleDouble2(GetParam(), 4000, 22);
  EXPECT_GT(worst.error, 0.3);
  expectWithin(worst, 2);
}

INSTANTIATE_TEST_SUITE_P(All, Bounds2, testing::Values("pow", "atan2"),
                         [](const auto &info) { return info.param; });

class OrderedBounds : public testing::TestWithParam<OrderedCase> {};

std::vector<OrderedCase> orderedCases() {
  std::vector<OrderedCase> cases;
  for (const OrderedCase *c = OrderedCases; c->name; ++c)
    cases.push_back(*c);
  return cases;
}

TEST_P(OrderedBounds, EveryOrder) {
  if (!haveDoubleReference())
    GTEST_SKIP() << "built without MPFR";
  const OrderedCase &function = GetParam();
  for (int64_t order : Orders) {
    if (order < function.first)
      continue;
    Worst twice = sampleOrderedDouble(function, order, 200, 23);
    Worst single = sampleOrderedSingle(function, order, 200, 24);
    EXPECT_GT(twice.error, 0.3);
    EXPECT_GT(single.error, 0.3);
    expectWithin(twice, function.bound64);
    expectWithin(single, function.bound32);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OrderedBounds, testing::ValuesIn(orderedCases()),
                         [](const auto &info) { return info.param.name; });

TEST(SingleError, SeesWrongClassesAndCountsUlps) {
  EXPECT_EQ(singleError(1.0f, 1.0), 0);
  EXPECT_EQ(singleError(0x1.000002p0f, 1.0), 1);
  EXPECT_EQ(singleError(0x1p-149f, 0x1.8p-149), 0.5);
  EXPECT_EQ(singleError(HUGE_VALF, 0x1.ffffffp127), 0.5);
  EXPECT_EQ(singleError(-0.0f, 0.0), HUGE_VAL);
  EXPECT_EQ(singleError(NAN, 1.0), HUGE_VAL);
  EXPECT_EQ(singleError(0x1.fffffep127f, HUGE_VAL), HUGE_VAL);
}

} // namespace
