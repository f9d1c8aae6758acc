// Every optimised variant in kernels.def against `ref`, bit for bit but for the
// payloads of NaN, over ragged shapes and all kinds of strides. Gather, scatter
// and random numbers are in IndexConformanceTest.cpp.
#include "Conformance.h"
#include <algorithm>

using namespace astra::testing;

namespace {

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
          Layout mixed = i ? layouts[random() % inLayouts] : layout;
          in.emplace_back(row.in[i], shape, mixed);
          in.back().fill(random, random() % 4 == 0);
        }
        Layout outLayout = layouts[random() % outLayouts];
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
                                           {{5, 300}, {0}},
                                           {{300, 530}, {0}},
                                           {{3, 50, 290}, {0, 1}},
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
        Layout outLayout = layouts[random() % outLayouts];
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

TEST_P(Conformance, Copies) {
  const Shape shapes[] = {{70, 90},     {5, 20, 33},   {130, 4},
                          {4, 5, 6, 3}, {2, 9, 4, 2},  {3, 4, 7},
                          {2, 9, 8, 5}, {3, 17, 6, 66}};
  for (const Row &row : allRows()) {
    if (row.name.compare(0, 5, "copy_") || !hasVariant(row))
      continue;
    for (const Shape &shape : shapes)
      for (Layout layout : layouts)
        for (size_t last = 0; last < shape.size(); ++last) {
          // Memory in which another axis is the last.
          Shape moved = shape;
          std::swap(moved[last], moved.back());
          std::vector<AnyTensor> in;
          in.emplace_back(row.in[0], moved, layout);
          in[0].fill(random, false);
          std::swap(in[0].shape[last], in[0].shape.back());
          std::swap(in[0].strides[last], in[0].strides.back());
          Layout outLayout = layouts[random() % outLayouts];
          AnyTensor out(row.out, shape, outLayout);
          ASSERT_TRUE(agree(row, in, out, {}))
              << show(row, shape, layout, outLayout) << " last " << last;
        }
  }
}

TEST_P(Conformance, PlacesOfExtremes) {
  const std::pair<Shape, int64_t> cases[] = {
      {{7}, 0},        {{0}, 0},       {{3, 0}, 1},   {{0, 3}, 1},
      {{1, 1}, 0},     {{5, 33}, 1},   {{33, 5}, 0},  {{40, 70}, 0},
      {{70, 9}, 1},    {{3, 1025}, 1}, {{200, 3}, 0}, {{3, 200}, 1},
      {{4, 20, 3}, 1}, {{5000}, 0}};
  for (const Row &row : allRows()) {
    if (row.family != Row::ArgReduce || !hasVariant(row))
      continue;
    for (const auto &[shape, axis] : cases)
      for (Layout layout : layouts) {
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], shape, layout);
        in[0].fill(random, random() % 4 != 0);
        Shape kept = shape;
        kept.erase(kept.begin() + axis);
        Layout outLayout = layouts[random() % outLayouts];
        AnyTensor out(row.out, kept, outLayout);
        ASSERT_TRUE(agree(row, in, out, {axis}))
            << show(row, shape, layout, outLayout);
      }
  }
}

TEST_P(Conformance, DivisionOfIntegers) {
  const Shape shapes[] = {{}, {0}, {1}, {7}, {3, 5}, {2, 70}, {600}, {3, 1030}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Divide || !hasVariant(row))
      continue;
    for (const Shape &shape : shapes)
      for (Layout layout : layouts)
        for (int kind = 0; kind < 4; ++kind) {
          std::vector<AnyTensor> in;
          in.emplace_back(row.in[0], shape, layout);
          in.emplace_back(row.in[1], shape, layouts[random() % inLayouts]);
          for (AnyTensor &tensor : in)
            if (kind < 2)
              tensor.fill(random, true);
            else // all sizes
              tensor.fillWith([&] {
                return uint64_t(int64_t(random()) >> (random() % 64));
              });
          if (kind != 0)
            in[1].replace(0, uint64_t(random() % 2 ? -1 : 3));
          Layout outLayout = layouts[random() % outLayouts];
          AnyTensor out(row.out, shape, outLayout);
          ASSERT_TRUE(agree(row, in, out, {}))
              << show(row, shape, layout, outLayout);
        }
  }
}

TEST_P(Conformance, Counting) {
  const std::pair<Shape, int64_t> cases[] = {
      {{7}, 0},      {{0}, 0},        {{3, 0}, 1},     {{5, 33}, 1},
      {{5, 33}, 0},  {{2, 40, 3}, 1}, {{2000}, 0},     {{1}, 0},
      {{3, 700}, 0}, {{70000}, 0},    {{700, 120}, 1}, {{90, 30, 2}, 1}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Iota || !hasVariant(row))
      continue;
    for (const auto &[shape, axis] : cases)
      for (size_t layout = 0; layout < outLayouts; ++layout)
        ASSERT_TRUE(
            agree(row, {}, AnyTensor(row.out, shape, layouts[layout]), {axis}))
            << show(row, shape, layouts[layout], layouts[layout]);
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
        Layout outLayout = layouts[random() % outLayouts];
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
                        {{}, {1}, {600}, {520}},
                        {{}, {23}, {530}, {300}},
                        {{}, {900}, {70}, {1}},
                        {{2}, {80}, {530}, {3}},
                        {{}, {15}, {270}, {1060}},
                        {{3}, {20}, {5, 3, 3}, {4, 40}},
                        {{}, {20}, {2, 40}, {4, 3, 3}},
                        {{}, {15}, {9000}, {65}},
                        {{}, {115}, {520}, {33}},
                        {{4}, {20}, {300}, {35}},
                        {{5}, {33}, {140}, {64}},
                        {{}, {32}, {130}, {500}},
                        {{}, {460}, {40}, {300}},
                        {{}, {455}, {270}, {70}},
                        {{}, {1}, {1}, {1}}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Contract || !hasVariant(row))
      continue;
    for (const Case &c : cases)
      for (Layout layout : layouts) {
        // Eight dtypes have but four drivers' formats.
        if (row.in[0].kind == Dtype::Int && random() % 3 != 0)
          continue;
        auto join = [](Shape a, const Shape &b, const Shape &d) {
          a.insert(a.end(), b.begin(), b.end());
          a.insert(a.end(), d.begin(), d.end());
          return a;
        };
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], join(c.batch, c.rows, c.contracted), layout);
        in.emplace_back(row.in[1], join(c.batch, c.contracted, c.columns),
                        layouts[random() % inLayouts]);
        bool tame = random() % 4 != 0;
        for (AnyTensor &tensor : in)
          tensor.fill(random, tame);
        Layout outLayout = layouts[random() % outLayouts];
        AnyTensor out(row.out, join(c.batch, c.rows, c.columns), outLayout);
        ASSERT_TRUE(
            agree(row, in, out,
                  {int64_t(c.batch.size()), int64_t(c.contracted.size())}))
            << show(row, in[0].shape, layout, outLayout);
      }
  }
}

/// Several blocks at the same time, which share columns that are packed before,
/// or by the first of them: few or many; some of b's numbers are tiny.
TEST_P(Conformance, ContractionsOfThreads) {
  const Shape cases[] = {{300, 150, 100}, {300, 300, 64},  {230, 1300, 40},
                         {460, 150, 700}, {570, 300, 270}, {460, 1300, 40},
                         {450, 4200, 68}};
  for (const Row &row : allRows()) {
    if (row.name != "contract_f32" && row.name != "contract_f64")
      continue;
    for (const Shape &c : cases)
      for (int64_t threads : {2, 3, 7}) {
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], Shape{c[0], c[1]}, Layout::Dense);
        in.emplace_back(row.in[1], Shape{c[1], c[2]}, Layout::Dense);
        for (AnyTensor &tensor : in)
          tensor.fill(random, threads != 3);
        call.threads = threads;
        AnyTensor out(row.out, {c[0], c[2]}, Layout::Dense);
        ASSERT_TRUE(agree(row, in, out, {0, 1}))
            << row.name << " case " << &c - cases << " threads " << threads;
      }
  }
  call.threads = 1;
}

/// Integers up to the border of what is packed narrow, and beyond it: nowhere,
/// at the end of a or of b, or everywhere.
TEST_P(Conformance, ContractionsOfIntegers) {
  const Shape cases[] = {{1, 700, 600}, {3, 300, 1050}, {4, 70, 33},
                         {5, 257, 40},  {13, 600, 300}, {140, 30, 20},
                         {7, 1, 7},     {30, 513, 65},  {200, 40, 3}};
  for (const Row &row : allRows()) {
    if (row.family != Row::Contract || row.in[0].kind != Dtype::Int)
      continue;
    for (const Shape &c : cases)
      for (int beyond = 0; beyond < 4; ++beyond) {
        const Layout some[] = {Layout::Dense, Layout::Transposed, Layout::Gaps};
        std::vector<AnyTensor> in;
        in.emplace_back(row.in[0], Shape{c[0], c[1]}, some[random() % 3]);
        in.emplace_back(row.in[1], Shape{c[1], c[2]}, some[random() % 3]);
        int bits = 4 * (row.in[0].bytes == 4 ? 4 : row.in[0].bytes);
        uint64_t border = uint64_t(1) << (bits - 1);
        for (AnyTensor &tensor : in)
          tensor.fillWith([&] {
            uint64_t any = beyond == 3 ? random() : random() % (2 * border);
            return random() % 8 ? any - border : 0 - border;
          });
        if (beyond == 1 || beyond == 2) {
          std::vector<uint8_t> &bytes = in[size_t(beyond) - 1].bytes;
          std::memcpy(bytes.data() + bytes.size() - row.in[0].bytes, &border,
                      size_t(row.in[0].bytes));
        }
        Layout layout = random() % 2 ? Layout::Dense : Layout::Transposed;
        AnyTensor out(row.out, {c[0], c[2]}, layout);
        ASSERT_TRUE(agree(row, in, out, {0, 1}))
            << show(row, c, in[0].strides[1] == 1 ? Layout::Dense : layout,
                    layout)
            << " beyond " << beyond;
      }
  }
}

/// Products over overlapping windows of an image, as convolutions and their
/// derivatives make them: of either operand, with the result's channels
/// outside.
TEST_P(Conformance, ContractionsOfWindows) {
  struct Case {
    int64_t images, channels, height, width, outputs, window;
  };
  const Case cases[] = {{2, 3, 5, 9, 7, 3},    {1, 16, 6, 40, 20, 3},
                        {1, 30, 4, 17, 60, 3}, {2, 5, 3, 70, 33, 2},
                        {1, 4, 3, 24, 130, 3}, {1, 1, 1, 1, 1, 1}};
  auto viewOf = [](AnyTensor tensor, Shape shape, Shape strides) {
    tensor.shape = shape;
    tensor.strides = strides;
    return tensor;
  };
  for (const Row &row : allRows()) {
    if (row.family != Row::Contract || !hasVariant(row))
      continue;
    for (const Case &c : cases) {
      int64_t k = c.window, rows = c.height + k - 1, width = c.width + k - 1;
      int64_t area = rows * width, size = c.height * c.width;
      AnyTensor image(row.out, {c.images, c.channels, rows, width},
                      Layout::Dense);
      AnyTensor weights(row.out, {c.outputs, c.channels, k, k}, Layout::Dense);
      AnyTensor out(row.out, {c.images, c.outputs, c.height, c.width},
                    Layout::Dense);
      for (AnyTensor *tensor : {&image, &weights, &out})
        tensor->fill(random, true);
      Shape windows = {c.images, c.height, c.width, c.channels, k, k};
      Shape apart = {c.channels * area, width, 1, area, width, 1};
      ASSERT_TRUE(agree(row,
                        {viewOf(image, windows, apart),
                         viewOf(weights, {c.channels, k, k, c.outputs},
                                {k * k, k, 1, c.channels * k * k})},
                        viewOf(out, {c.images, c.height, c.width, c.outputs},
                               {c.outputs * size, c.width, 1, size}),
                        {0, 3}))
          << row.name << c.width;
      ASSERT_TRUE(agree(row,
                        {viewOf(out, {c.outputs, c.images, c.height, c.width},
                                {size, c.outputs * size, c.width, 1}),
                         viewOf(image, windows, apart)},
                        viewOf(weights, {c.outputs, c.channels, k, k},
                               {c.channels * k * k, k * k, k, 1}),
                        {0, 3}))
          << row.name << c.width;
    }
  }
}

TEST(ConformanceTable, EveryRowIsInATestedFamily) {
  for (const Row &row : allRows()) {
    EXPECT_NE(row.family, Row::Other) << row.name;
    for (uint32_t isa : optimisedLevels())
      EXPECT_FALSE(kernelFor(row.name, isa) &&
                   (row.family == Row::Linear || row.family == Row::Check))
          << row.name;
  }
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
