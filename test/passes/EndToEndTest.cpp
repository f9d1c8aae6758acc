// Dialect text compiled, linked, loaded and run: values against ones worked out
// by hand, and errors with their codes and places.
#include "Compiled.h"
#include <cmath>
#include <gtest/gtest.h>

using F = std::vector<float>;
using I = std::vector<int64_t>;

TEST(EndToEnd, LayerAndSum) {
  Compiled program(R"(
  func.func @dense(%w: !astra.tensor<f32, [2, 3]>, %b: !astra.tensor<f32, [3]>, %x: !astra.tensor<f32, [n, 2]>) -> (!astra.tensor<f32, [n, 3]>, !astra.tensor<f32, []>) attributes {astra.export = {dims = ["n"]}} {
    %p = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, 2]>, !astra.tensor<f32, [2, 3]>) -> !astra.tensor<f32, [n, 3]>
    %bb = astra.broadcast %b {axes = array<i64: 1>} : (!astra.tensor<f32, [3]>) -> !astra.tensor<f32, [n, 3]>
    %s = astra.add %p, %bb : !astra.tensor<f32, [n, 3]>
    %r = astra.relu %s : !astra.tensor<f32, [n, 3]>
    %t = astra.sum %r {axes = array<i64: 0, 1>} : (!astra.tensor<f32, [n, 3]>) -> !astra.tensor<f32, []>
    return %r, %t : !astra.tensor<f32, [n, 3]>, !astra.tensor<f32, []>
  })");
  ASSERT_EQ(program.error, "");
  program.give({{2, 3}, {1, 2, 3, 4, 5, 6}}).give({{3}, {-10, 0, 1}});
  program.give({{2, 2}, {1, 1, 0, -1}});
  ASSERT_TRUE(program.call("dense")) << program.error;
  EXPECT_EQ(program.getShape(0), (I{2, 3}));
  EXPECT_EQ(program.get<float>(0), (F{0, 7, 10, 0, 0, 0}));
  EXPECT_EQ(program.getShape(1), I{});
  EXPECT_EQ(program.get<float>(1), F{17});
}

TEST(EndToEnd, LoopsSwapTheirState) {
  Compiled program(R"(
  func.func @fib(%a: !astra.tensor<f32, [n]>, %b: !astra.tensor<f32, [n]>, %k: !astra.tensor<i64, []>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<i64, []>) attributes {astra.export = {dims = ["n"]}} {
    %zero = astra.constant 0 : i64 -> !astra.tensor<i64, []>
    %r:3 = astra.for %zero to %k init(%a, %b, %zero) : !astra.tensor<i64, []>, (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<i64, []>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<i64, []>) {
    ^bb0(%i: !astra.tensor<i64, []>, %p: !astra.tensor<f32, [n]>, %q: !astra.tensor<f32, [n]>, %c: !astra.tensor<i64, []>):
      %s = astra.add %p, %q : !astra.tensor<f32, [n]>
      %d = astra.add %c, %i : !astra.tensor<i64, []>
      astra.yield %q, %s, %d : !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<i64, []>
    }
    return %r#0, %r#1, %r#2 : !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<i64, []>
  })");
  ASSERT_EQ(program.error, "");
  for (int64_t turns : {0, 1, 2, 7}) {
    float p = 0, q = 1;
    int64_t sum = 0;
    for (int64_t i = 0; i < turns; ++i) {
      float s = p + q;
      p = q;
      q = s;
      sum += i;
    }
    program.give({{2}, {0, 0}}).give({{2}, {1, 1}}).give(turns);
    ASSERT_TRUE(program.call("fib")) << program.error;
    EXPECT_EQ(program.get<float>(0), (F{p, p}));
    EXPECT_EQ(program.get<float>(1), (F{q, q}));
    EXPECT_EQ(program.get<int64_t>(2), I{sum});
  }
}

TEST(EndToEnd, WhileRunsUntilTheConditionFails) {
  Compiled program(R"(
  func.func @halve(%x: !astra.tensor<f32, []>, %eps: !astra.tensor<f32, []>) -> !astra.tensor<f32, []> attributes {astra.export = {dims = []}} {
    %half = astra.constant 0.5 : f32 -> !astra.tensor<f32, []>
    %r = astra.while init(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> cond {
    ^bb0(%s: !astra.tensor<f32, []>):
      %c = astra.gt %s, %eps : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> !astra.tensor<i1, []>
      astra.yield %c : !astra.tensor<i1, []>
    } do {
    ^bb0(%s: !astra.tensor<f32, []>):
      %h = astra.mul %s, %half : !astra.tensor<f32, []>
      astra.yield %h : !astra.tensor<f32, []>
    }
    return %r : !astra.tensor<f32, []>
  })");
  ASSERT_EQ(program.error, "");
  program.give(12.0f).give(1.0f);
  ASSERT_TRUE(program.call("halve")) << program.error;
  EXPECT_EQ(program.get<float>(0), F{0.75f});
}

static const char SliceText[] = R"(
  func.func @pick(%x: !astra.tensor<f32, [n]>, %k: !astra.tensor<i64, []>) -> !astra.tensor<f32, [2]> attributes {astra.export = {dims = ["n"]}} {
    %y = astra.slice %x, %k {starts = ["0"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [2]>
    return %y : !astra.tensor<f32, [2]>
  })";

TEST(EndToEnd, RunTimeStartsAreChecked) {
  Compiled program(SliceText);
  ASSERT_EQ(program.error, "");
  Array<float> x{{4}, {1, 2, 3, 4}};
  program.give(x).give(int64_t(2));
  ASSERT_TRUE(program.call("pick")) << program.error;
  EXPECT_EQ(program.get<float>(0), (F{3, 4}));
  for (int64_t start : {int64_t(3), int64_t(-1), INT64_MAX, INT64_MIN}) {
    program.give(x).give(start);
    EXPECT_FALSE(program.call("pick"));
    EXPECT_NE(program.error.find("ASTRA_ERROR_OUT_OF_RANGE program.mlir:3:"),
              std::string::npos)
        << program.error;
  }
  program.give({{1}, {1}}).give(int64_t(0));
  EXPECT_FALSE(program.call("pick")) << "a slice longer than the axis";
}

TEST(EndToEnd, StridedInputsNeedNoCopy) {
  Compiled program(R"(
  func.func @f(%x: !astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, ["m*n"]> attributes {astra.export = {dims = ["n", "m"]}} {
    %y = astra.reshape %x : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, ["m*n"]>
    return %y : !astra.tensor<f32, ["m*n"]>
  })");
  ASSERT_EQ(program.error, "");
  float data[] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3};
  uint32_t permutation[] = {1, 0};
  astra_tensor_t tensor, view;
  astra_tensor_from_data(program.runtime, program.device, ASTRA_F32, 2, shape,
                         data, sizeof data, &tensor, nullptr);
  astra_tensor_transpose(program.runtime, tensor, permutation, &view, nullptr);
  program.giveTensor(view);
  ASSERT_TRUE(program.call("f")) << program.error;
  EXPECT_EQ(program.get<float>(0), (F{1, 4, 2, 5, 3, 6}));
}

TEST(EndToEnd, ReduceIsTheTreeOfPairs) {
  Compiled program(R"(
  func.func @minus(%xs: !astra.tensor<f32, [n]>, %first: !astra.tensor<f32, []>) -> !astra.tensor<f32, []> attributes {astra.export = {dims = ["n"]}} {
    %r = astra.reduce(%first, %xs) length "n" : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> {
    ^bb0(%a: !astra.tensor<f32, []>, %b: !astra.tensor<f32, []>):
      %p = astra.sub %a, %b : !astra.tensor<f32, []>
      astra.yield %p : !astra.tensor<f32, []>
    }
    return %r : !astra.tensor<f32, []>
  })");
  ASSERT_EQ(program.error, "");
  // Subtraction tells the order: ((1-2) - (4-8)) - 16, then 100 - it.
  program.give({{5}, {1, 2, 4, 8, 16}}).give(100.0f);
  ASSERT_TRUE(program.call("minus")) << program.error;
  EXPECT_EQ(program.get<float>(0), F{113});
  program.give({{0}, {}}).give(100.0f);
  ASSERT_TRUE(program.call("minus")) << program.error;
  EXPECT_EQ(program.get<float>(0), F{100});
}

TEST(EndToEnd, ScanStacksItsOutputs) {
  Compiled program(R"(
  func.func @run(%h0: !astra.tensor<f32, [2]>, %xs: !astra.tensor<f32, [n, 2]>) -> (!astra.tensor<f32, [2]>, !astra.tensor<f32, [n, 2]>) attributes {astra.export = {dims = ["n"]}} {
    %h, %ys = astra.scan(%h0, %xs) length "n" state 1 : (!astra.tensor<f32, [2]>, !astra.tensor<f32, [n, 2]>) -> (!astra.tensor<f32, [2]>, !astra.tensor<f32, [n, 2]>) {
    ^bb0(%h1: !astra.tensor<f32, [2]>, %x: !astra.tensor<f32, [2]>):
      %s = astra.add %h1, %x : !astra.tensor<f32, [2]>
      astra.yield %s, %h1 : !astra.tensor<f32, [2]>, !astra.tensor<f32, [2]>
    }
    return %h, %ys : !astra.tensor<f32, [2]>, !astra.tensor<f32, [n, 2]>
  })");
  ASSERT_EQ(program.error, "");
  program.give({{2}, {0, 100}}).give({{3, 2}, {1, 10, 2, 20, 3, 30}});
  ASSERT_TRUE(program.call("run")) << program.error;
  EXPECT_EQ(program.get<float>(0), (F{6, 160}));
  EXPECT_EQ(program.get<float>(1), (F{0, 100, 1, 110, 3, 130}));
}

TEST(EndToEnd, OnlyTheBranchTakenIsComputed) {
  Compiled program(R"(
  func.func @safe(%x: !astra.tensor<f32, [n]>, %k: !astra.tensor<i64, []>, %take: !astra.tensor<i64, []>) -> !astra.tensor<f32, [1]> attributes {astra.export = {dims = ["n"]}} {
    %zero = astra.constant 0 : i64 -> !astra.tensor<i64, []>
    %c = astra.ne %take, %zero : (!astra.tensor<i64, []>, !astra.tensor<i64, []>) -> !astra.tensor<i1, []>
    %r = astra.if %c : !astra.tensor<i1, []> -> !astra.tensor<f32, [1]> {
      %y = astra.slice %x, %k {starts = ["0"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [1]>
      astra.yield %y : !astra.tensor<f32, [1]>
    } else {
      %m = astra.constant -1.0 : f32 -> !astra.tensor<f32, [1]>
      astra.yield %m : !astra.tensor<f32, [1]>
    }
    return %r : !astra.tensor<f32, [1]>
  })");
  ASSERT_EQ(program.error, "");
  Array<float> x{{2}, {5, 6}};
  program.give(x).give(int64_t(1)).give(int64_t(1));
  ASSERT_TRUE(program.call("safe")) << program.error;
  EXPECT_EQ(program.get<float>(0), F{6});
  program.give(x).give(int64_t(9)).give(int64_t(0));
  ASSERT_TRUE(program.call("safe")) << program.error;
  EXPECT_EQ(program.get<float>(0), F{-1});
  program.give(x).give(int64_t(9)).give(int64_t(1));
  EXPECT_FALSE(program.call("safe"));
}

TEST(EndToEnd, NegativeExtentsAreRefused) {
  Compiled program(R"(
  func.func @tail(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, ["n - 3"]> attributes {astra.export = {dims = ["n"]}} {
    %y = astra.slice %x {starts = ["3"], dynamic_axes = array<i64>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, ["n - 3"]>
    return %y : !astra.tensor<f32, ["n - 3"]>
  })");
  ASSERT_EQ(program.error, "");
  program.give({{5}, {1, 2, 3, 4, 5}});
  ASSERT_TRUE(program.call("tail")) << program.error;
  EXPECT_EQ(program.get<float>(0), (F{4, 5}));
  program.give({{2}, {1, 2}});
  EXPECT_FALSE(program.call("tail"));
}

TEST(EndToEnd, TestsReportTheirPlace) {
  Compiled program(R"(module attributes {astra.module = "t"} {
  func.func @t0() attributes {astra.test = "passes"} {
    %one = astra.constant 1.0 : f32 -> !astra.tensor<f32, []>
    astra.assert_eq %one, %one, "1, 1" : !astra.tensor<f32, []>
    return
  }
  func.func @t1() attributes {astra.test = "fails"} {
    %one = astra.constant 1.0 : f32 -> !astra.tensor<f32, []>
    %two = astra.constant 2.0 : f32 -> !astra.tensor<f32, []>
    astra.assert_eq %one, %two, "1, 2" : !astra.tensor<f32, []>
    return
  }
  })");
  ASSERT_EQ(program.error, "");
  EXPECT_TRUE(program.call("passes")) << program.error;
  EXPECT_FALSE(program.call("fails"));
  EXPECT_NE(program.error.find("ASTRA_ERROR_ASSERTION program.mlir:10:5"),
            std::string::npos)
      << program.error;
  EXPECT_NE(program.error.find("1, 2"), std::string::npos) << program.error;
}

TEST(EndToEnd, TheEmptyAndTheLarge) {
  Compiled program(R"(
  func.func @chain(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
    %a = astra.add %x, %x : !astra.tensor<f32, [n]>
    %b = astra.mul %a, %a : !astra.tensor<f32, [n]>
    %c = astra.sub %b, %x : !astra.tensor<f32, [n]>
    %d = astra.add %c, %a : !astra.tensor<f32, [n]>
    return %d : !astra.tensor<f32, [n]>
  })");
  ASSERT_EQ(program.error, "");
  for (int64_t n : {0, 1, 17, 100000}) {
    Array<float> x{{n}, {}};
    F expected;
    for (int64_t i = 0; i < n; ++i) {
      float v = float(i % 100) - 50;
      x.elements.push_back(v);
      expected.push_back(4 * v * v - v + 2 * v);
    }
    program.give(x);
    ASSERT_TRUE(program.call("chain")) << program.error;
    EXPECT_EQ(program.get<float>(0), expected);
  }
}
