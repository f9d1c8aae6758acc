// The memory of reverse mode through loops, as the runtime counts it: what a
// loop leaves on tapes grows with its steps and is given back, also after an
// error; `checkpoint` keeps a number of states that does not grow, with the
// same bits.
#include "Compiled.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

namespace {

constexpr int64_t width = 64, stateBytes = width * int64_t(sizeof(double));

/// The gradient of a loop of n steps x = sin(a * x) + x / 4, with respect to
/// the first x and to a. `turns` repeats all that, each time from the last
/// gradient.
std::string gradientOf(llvm::StringRef loop, llvm::StringRef attributes) {
  const char *body = R"(
        %p = astra.mul %a, %x : !v
        %q = astra.sin %p : !v
        %k = astra.constant 0.25 : f64 -> !v
        %h = astra.mul %x, %k : !v
        %y = astra.add %q, %h : !v
        %twice = astra.mul %y, %a : !v
        %z = astra.mul %twice, %one : !v)";
  std::string made;
  if (loop == "while")
    made = llvm::formatv(R"(
      %end:2 = astra.while init(%x0, %zero) : (!v, !i) -> (!v, !i) {0} cond {{
      ^bb0(%x: !v, %i: !i):
        %c = astra.lt %i, %n : (!i, !i) -> !astra.tensor<i1, []>
        astra.yield %c : !astra.tensor<i1, []>
      } do {{
      ^bb0(%x: !v, %i: !i):{1}
        %j = astra.add %i, %step : !i
        astra.yield %z, %j : !v, !i
      })",
                         attributes, body);
  else
    made = llvm::formatv(R"(
      %end = astra.for %zero to %n init(%x0) : !i, (!v) -> !v {0} {{
      ^bb0(%i: !i, %x: !v):{1}
        astra.yield %z : !v
      })",
                         attributes, body);
  return llvm::formatv(R"(
  !v = !astra.tensor<f64, [64]>
  !i = !astra.tensor<i64, []>
  func.func @g(%x1: !v, %a1: !v, %n: !i, %turns: !i) -> (!v, !v) attributes {{astra.export = {{dims = []}} {{
    %zero = astra.constant 0 : i64 -> !i
    %step = astra.constant 1 : i64 -> !i
    %one = astra.constant 1.0 : f64 -> !v
    %r:2 = astra.for %zero to %turns init(%x1, %a1) : !i, (!v, !v) -> (!v, !v) {{
    ^bb0(%turn: !i, %x2: !v, %a2: !v):
    %g:3 = astra.vjp(%x2, %a2, %one) args 2 wrt [0, 1] : (!v, !v, !v) -> (!v, !v, !v) {{
    ^bb0(%x0: !v, %a: !v):{0}
      astra.yield %end{1} : !v
    }
    astra.yield %g#1, %g#2 : !v, !v
    }
    return %r#0, %r#1 : !v, !v
  })",
                       made, loop == "while" ? "#0" : "");
}

struct Outcome {
  std::vector<double> x, a;
  int64_t peak = 0, live = 0;
};

Array<double> filled(double value) {
  return {{width}, std::vector<double>(width, value)};
}

Outcome run(Compiled &program, int64_t steps, int64_t turns = 1) {
  Outcome outcome;
  program.give(ASTRA_F64, filled(0.3)).give(ASTRA_F64, filled(0.9));
  program.give(steps).give(turns);
  EXPECT_TRUE(program.call("g")) << program.error;
  outcome.x = program.get<double>(0);
  outcome.a = program.get<double>(1);
  astra_memory_info_t info;
  ASTRA_INIT(MEMORY_INFO, &info);
  EXPECT_EQ(astra_runtime_memory(program.runtime, &info, nullptr), ASTRA_OK);
  outcome.peak = int64_t(info.peak_bytes);
  outcome.live = int64_t(info.live_bytes);
  return outcome;
}

Outcome runOnce(llvm::StringRef loop, llvm::StringRef attributes,
                int64_t steps) {
  Compiled program(gradientOf(loop, attributes));
  EXPECT_EQ(program.error, "");
  return run(program, steps);
}

TEST(LoopMemory, GrowsWithTheStepsUnlessCheckpointed) {
  constexpr int64_t steps = 10000, root = 100;
  for (const char *loop : {"while", "for"}) {
    Outcome plain = runOnce(loop, "", steps);
    Outcome few = runOnce(loop, "", steps / 4);
    Outcome kept = runOnce(loop, "attributes {checkpoint}", steps);
    // The plain loop keeps a few values of each step.
    EXPECT_GE(plain.peak, steps * stateBytes);
    EXPECT_LE(plain.peak, 4 * steps * stateBytes + (int64_t(8) << 20));
    // A tape takes a MiB at a time.
    EXPECT_GE(plain.peak, 2 * few.peak);
    // O(sqrt n) states, and the buffers of one step.
    EXPECT_LE(kept.peak, 4 * root * stateBytes);
    // The sums are the same, in the same order.
    EXPECT_EQ(plain.x, kept.x);
    EXPECT_EQ(plain.a, kept.a);
    EXPECT_TRUE(std::isfinite(plain.a[0]) && plain.a[0] != 0);
  }
}

TEST(LoopMemory, TapesAreGivenBackWithinACall) {
  Compiled program(gradientOf("while", ""));
  ASSERT_EQ(program.error, "");
  int64_t one = run(program, 4000).peak;
  // Kept until the end, 50 turns would take 50 times as much. The tensors of
  // the calls before are still there, and the pool may serve a request from a
  // block up to twice as large.
  EXPECT_LE(run(program, 4000, 50).peak, 2 * one + 16 * stateBytes);
}

/// Gives memory until `left` bytes are out.
struct Budget {
  int64_t left;
  astra_allocator_t allocator{this, allocate, release};
  static void *allocate(void *context, size_t bytes, size_t alignment) {
    auto &self = *static_cast<Budget *>(context);
    if (int64_t(bytes) > self.left)
      return nullptr;
    self.left -= int64_t(bytes);
    return std::aligned_alloc(alignment, bytes);
  }
  static void release(void *context, void *memory, size_t bytes, size_t) {
    static_cast<Budget *>(context)->left += int64_t(bytes);
    std::free(memory);
  }
};

TEST(LoopMemory, ALoopWithoutMemoryFailsAndLeavesNothing) {
  Budget budget{3 << 20};
  Compiled program(gradientOf("while", ""), &budget.allocator);
  ASSERT_EQ(program.error, "");
  int64_t live = run(program, 10).live;
  program.give(ASTRA_F64, filled(0.3)).give(ASTRA_F64, filled(0.9));
  program.give(int64_t(1000000)).give(int64_t(1));
  EXPECT_FALSE(program.call("g"));
  EXPECT_NE(program.error.find("ASTRA_ERROR_OUT_OF_MEMORY"), std::string::npos)
      << program.error;
  EXPECT_NE(program.error.find("512 bytes that step"), std::string::npos)
      << program.error;
  EXPECT_NE(program.error.find("`checkpoint`"), std::string::npos)
      << program.error;
  // The inputs of a failed call are still the test's.
  EXPECT_LE(run(program, 10).live, live + 16 * stateBytes);
}

} // namespace
