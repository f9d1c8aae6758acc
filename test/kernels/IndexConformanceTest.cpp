// The variants of gather, scatter and random numbers against `ref`: all kinds
// of index arrays (sorted, repeated, few, out of range), slices and strides.
#include "Conformance.h"
#include <algorithm>

using namespace astra::testing;

namespace {

struct Case {
  Shape x, axes, places;

  Shape params() const {
    Shape params{int64_t(axes.size())};
    params.insert(params.end(), axes.begin(), axes.end());
    return params;
  }
  /// x with the index arrays' axes for the indexed ones.
  Shape taken() const {
    auto first = x.begin() + axes[0];
    Shape shape(x.begin(), first);
    shape.insert(shape.end(), places.begin(), places.end());
    shape.insert(shape.end(), first + int64_t(axes.size()), x.end());
    return shape;
  }
};

const Case cases[] = {{{10}, {0}, {7}},
                      {{10, 5}, {0}, {4}},
                      {{4, 10, 6}, {1}, {3, 2}},
                      {{5, 6, 7}, {0, 1}, {9}},
                      {{3, 5, 6, 7}, {1, 2}, {2, 3}},
                      {{50, 130}, {0}, {300}},
                      {{40}, {0}, {1500}},
                      {{3, 5}, {0}, {2500}},
                      {{2, 300}, {1}, {700}},
                      {{2000}, {0}, {50}},
                      {{3, 70, 3}, {1}, {90}},
                      {{6, 0}, {0}, {4}},
                      {{5, 3}, {0}, {0}},
                      {{0, 3}, {0}, {0}},
                      {{12000}, {0}, {14000}},
                      {{9000}, {0}, {700}},
                      {{60, 80}, {0, 1}, {3000}},
                      {{700, 7}, {0, 1}, {600}},
                      {{10000}, {0}, {9000}},
                      {{2}, {0}, {9000}},
                      {{5, 3}, {1}, {}}};

enum Kind { Anywhere, Ascending, EachOnce, AllTheSame, OneWrong, Kinds };

std::vector<AnyTensor> indicesOf(const Case &c, Kind kind, Random &random) {
  std::vector<AnyTensor> result;
  for (int64_t axis : c.axes) {
    int64_t extent = c.x[size_t(axis)];
    // One that ascends does so in the order of the places.
    Layout layout = kind == Ascending || kind == EachOnce
                        ? Layout::Dense
                        : layouts[random() % inLayouts];
    result.emplace_back(Dtype{Dtype::Int, 8}, c.places, layout);
    AnyTensor &index = result.back();
    int64_t one = extent ? int64_t(random() % uint64_t(extent)) : 0;
    index.fillWith([&] {
      return kind == AllTheSame || !extent ? uint64_t(one)
                                           : random() % uint64_t(extent);
    });
    int64_t *values = reinterpret_cast<int64_t *>(index.bytes.data());
    size_t count = index.bytes.size() / 8;
    if (kind == Ascending && axis == c.axes[0])
      std::sort(values, values + count);
    if (kind == EachOnce && axis == c.axes[0])
      for (size_t i = 0; i < count; ++i)
        values[i] = int64_t(i) * extent / int64_t(count);
    if (kind == OneWrong && count)
      values[random() % count] = random() % 2 ? extent : -1;
  }
  return result;
}

TEST_P(Conformance, Gather) {
  for (const Row &row : allRows()) {
    if (row.family != Row::Index || !hasVariant(row))
      continue;
    for (const Case &c : cases)
      for (Layout layout : layouts)
        for (int kind = 0; kind < Kinds; ++kind) {
          std::vector<AnyTensor> in;
          in.emplace_back(row.in[0], c.x, layout);
          in[0].fill(random, false);
          for (AnyTensor &index : indicesOf(c, Kind(kind), random))
            in.push_back(index);
          Layout outLayout = layouts[random() % outLayouts];
          AnyTensor out(row.out, c.taken(), outLayout);
          ASSERT_TRUE(agree(row, in, out, c.params()))
              << show(row, c.x, layout, outLayout) << " kind " << kind;
        }
  }
}

/// What one thread has found, none takes back.
TEST_P(Conformance, GatherOnThreadsKeepsErrors) {
  Tensor<float> x({1}), out({2000000});
  Tensor<int64_t> index({2000000});
  TestCall many;
  many.threads = 3;
  for (int run = 0; run < 100; ++run) {
    int64_t &wrong = index.data[random() % index.data.size()];
    wrong = 1;
    ASSERT_EQ(many.run("gather_b32", {x.arg(), index.arg(), out.arg()}, {1, 0},
                       GetParam()),
              ASTRA_ERROR_OUT_OF_RANGE);
    wrong = 0;
  }
}

TEST_P(Conformance, Scatter) {
  for (const Row &row : allRows()) {
    if (row.family != Row::Scatter || !hasVariant(row))
      continue;
    for (const Case &c : cases)
      for (Layout layout : layouts)
        for (int kind = 0; kind < Kinds; ++kind) {
          std::vector<AnyTensor> in;
          in.emplace_back(row.in[0], c.x, layout);
          in.emplace_back(row.in[1], c.taken(), layouts[random() % inLayouts]);
          bool tame = random() % 4 != 0;
          for (AnyTensor &tensor : in)
            tensor.fill(random, tame);
          for (AnyTensor &index : indicesOf(c, Kind(kind), random))
            in.push_back(index);
          Layout outLayout = layouts[random() % outLayouts];
          AnyTensor out(row.out, c.x, outLayout);
          ASSERT_TRUE(agree(row, in, out, c.params()))
              << show(row, c.x, layout, outLayout) << " kind " << kind;
        }
  }
}

TEST_P(Conformance, ScatterInPlace) {
  const Case c{{30, 20}, {0}, {90}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Scatter || !hasVariant(row))
      continue;
    AnyTensor x(row.in[0], c.x, Layout::Backwards);
    AnyTensor value(row.in[1], c.taken(), Layout::Dense);
    x.fill(random, true);
    value.fill(random, true);
    AnyTensor index = indicesOf(c, Anywhere, random)[0], other = x;
    ASSERT_EQ(call.run(row.name, {x.arg(), value.arg(), index.arg(), x.arg()},
                       c.params()),
              0);
    ASSERT_EQ(call.run(row.name,
                       {other.arg(), value.arg(), index.arg(), other.arg()},
                       c.params(), GetParam()),
              0);
    ASSERT_EQ(x.canonicalMemory(), other.canonicalMemory()) << row.name;
  }
}

TEST_P(Conformance, RandomNumbers) {
  const Shape shapes[] = {{0, 2}, {1, 2}, {7, 2}, {700, 2}, {40000, 2}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Random || !hasVariant(row))
      continue;
    for (const Shape &shape : shapes)
      for (size_t layout = 0; layout < outLayouts; ++layout) {
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], Shape{2}, layouts[random() % inLayouts]);
        in[0].fillWith([&] { return random(); });
        AnyTensor out(row.out, shape, layouts[layout]);
        ASSERT_TRUE(agree(row, in, out, {}))
            << show(row, shape, layouts[layout], layouts[layout]);
      }
  }
}

} // namespace
