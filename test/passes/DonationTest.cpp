// Donated parameters: a training step writes the new parameters where the old
// ones are, with the same bits as without, and asks for no memory after its
// first call. A donated state of a loop is updated where it lies.
#include "Compiled.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>

namespace {

/// loss and (w, b) one step of gradient descent further: y ~ tanh(x @ w + b).
const char *const stepText = R"(
  !x = !astra.tensor<f32, [n, 8]>
  !w = !astra.tensor<f32, [8, 16]>
  !b = !astra.tensor<f32, [16]>
  !y = !astra.tensor<f32, [n, 16]>
  !s = !astra.tensor<f32, []>
  func.func @step(%x: !x, %y: !y, %w0: !w, %b0: !b) -> (!s, !w, !b) attributes {astra.export = {dims = ["n"]}} {
    %one = astra.constant 1.0 : f32 -> !s
    %g:3 = astra.vjp(%w0, %b0, %one) args 2 wrt [0, 1] : (!w, !b, !s) -> (!s, !w, !b) {
    ^bb0(%w: !w, %b: !b):
      %p = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!x, !w) -> !y
      %c = astra.broadcast %b {axes = array<i64: 1>} : (!b) -> !y
      %q = astra.add %p, %c : !y
      %t = astra.tanh %q : !y
      %d = astra.sub %t, %y : !y
      %e = astra.mul %d, %d : !y
      %l = astra.sum %e {axes = array<i64: 0, 1>} : (!y) -> !s
      astra.yield %l : !s
    }
    %rw = astra.constant 0.01 : f32 -> !w
    %rb = astra.constant 0.01 : f32 -> !b
    %dw = astra.mul %g#1, %rw : !w
    %db = astra.mul %g#2, %rb : !b
    %w1 = astra.sub %w0, %dw : !w
    %b1 = astra.sub %b0, %db : !b
    return %g#0, %w1, %b1 : !s, !w, !b
  })";

/// x with element i set to v, k times.
const char *const fillText = R"(
  !v = !astra.tensor<f32, [n]>
  func.func @fill(%x: !v, %k: !astra.tensor<i64, []>, %v: !astra.tensor<f32, [1]>) -> !v attributes {astra.export = {dims = ["n"]}} {
    %zero = astra.constant 0 : i64 -> !astra.tensor<i64, []>
    %r = astra.for %zero to %k init(%x) : !astra.tensor<i64, []>, (!v) -> !v {
    ^bb0(%i: !astra.tensor<i64, []>, %s: !v):
      %t = astra.update_slice %s, %v, %i {starts = ["0"], dynamic_axes = array<i64: 0>} : (!v, !astra.tensor<f32, [1]>, !astra.tensor<i64, []>) -> !v
      astra.yield %t : !v
    }
    return %r : !v
  })";

/// Counts what the runtime asks the system for.
struct Counter {
  size_t asked = 0;
  static void *allocate(void *self, size_t bytes, size_t alignment) {
    ++static_cast<Counter *>(self)->asked;
    return std::aligned_alloc(alignment, bytes);
  }
  static void release(void *, void *memory, size_t, size_t) {
    std::free(memory);
  }
  astra_allocator_t allocator{this, allocate, release};
};

class Donations : public ::testing::Test {
protected:
  void load(const char *text, const char *name) {
    program = std::make_unique<Compiled>(text, &counter.allocator);
    ASSERT_TRUE(program->good()) << program->error;
    ASSERT_EQ(astra_module_function(program->runtime, program->module, name,
                                    &function, nullptr),
              ASTRA_OK);
  }
  astra_tensor_t tensor(std::vector<int64_t> shape) {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= size_t(extent);
    std::vector<float> data(count);
    for (size_t i = 0; i < count; ++i)
      data[i] = float((i * 37 + count) % 101) / 101 - 0.5f;
    astra_tensor_t made{0};
    EXPECT_EQ(astra_tensor_from_data(program->runtime, program->device,
                                     ASTRA_F32, uint32_t(shape.size()),
                                     shape.data(), data.data(), count * 4,
                                     &made, nullptr),
              ASTRA_OK);
    return made;
  }
  std::vector<float> read(astra_tensor_t from, size_t count) {
    std::vector<float> data(count);
    EXPECT_EQ(astra_tensor_read(program->runtime, from, data.data(), count * 4,
                                nullptr),
              ASTRA_OK);
    return data;
  }
  const void *addressOf(astra_tensor_t of) {
    astra_mapping_t mapping{0};
    void *data = nullptr;
    size_t bytes = 0;
    EXPECT_EQ(astra_tensor_map(program->runtime, of, {0}, ASTRA_MAP_READ, 0,
                               ASTRA_WHOLE, &mapping, &data, &bytes, nullptr),
              ASTRA_OK);
    EXPECT_EQ(astra_tensor_unmap(program->runtime, mapping, nullptr), ASTRA_OK);
    return data;
  }
  astra_memory_info_t memory() {
    astra_memory_info_t info;
    ASTRA_INIT(MEMORY_INFO, &info);
    EXPECT_EQ(astra_runtime_memory(program->runtime, &info, nullptr), ASTRA_OK);
    return info;
  }
  astra_status_t call(std::vector<astra_value_t> in,
                      std::vector<astra_tensor_t> &out) {
    return astra_function_call(program->runtime, function, program->stream,
                               nullptr, in.data(), in.size(), out.data(),
                               out.size(), nullptr);
  }

  Counter counter;
  std::unique_ptr<Compiled> program;
  astra_function_t function{0};
};

astra_value_t of(astra_tensor_t tensor, bool donate = false) {
  astra_value_t value = astra_value_of_tensor(tensor);
  value.flags = donate ? ASTRA_VALUE_DONATE : 0;
  return value;
}

/// The parameters after some steps, and what the steps after the first asked
/// the allocator for.
struct Trained {
  std::vector<float> w, b;
  size_t asked = 0;
  uint64_t fresh = 0, peakGrowth = 0;
};

TEST_F(Donations, MakeATrainingStepThatAllocatesNothing) {
  ASSERT_NO_FATAL_FAILURE(load(stepText, "step"));
  Trained trained[2];
  for (bool donate : {false, true}) {
    astra_tensor_t x = tensor({32, 8}), y = tensor({32, 16});
    astra_tensor_t w = tensor({8, 16}), b = tensor({16});
    const void *places[] = {addressOf(w), addressOf(b)};
    Trained &result = trained[donate];
    astra_memory_info_t before{};
    size_t askedBefore = 0;
    for (int step = 0; step < 10; ++step) {
      std::vector<astra_tensor_t> out(3);
      ASSERT_EQ(call({of(x), of(y), of(w, donate), of(b, donate)}, out),
                ASTRA_OK);
      if (donate) {
        EXPECT_EQ(addressOf(out[1]), places[0]) << step;
        EXPECT_EQ(addressOf(out[2]), places[1]) << step;
      } else {
        astra_tensor_release(program->runtime, w, nullptr);
        astra_tensor_release(program->runtime, b, nullptr);
      }
      w = out[1];
      b = out[2];
      astra_tensor_release(program->runtime, out[0], nullptr);
      if (step == 0) {
        before = memory();
        askedBefore = counter.asked;
      }
    }
    astra_memory_info_t after = memory();
    result.asked = counter.asked - askedBefore;
    result.fresh = (after.allocations - after.reused) -
                   (before.allocations - before.reused);
    result.peakGrowth = after.peak_bytes - before.peak_bytes;
    result.w = read(w, 128);
    result.b = read(b, 16);
    for (astra_tensor_t each : {x, y, w, b})
      astra_tensor_release(program->runtime, each, nullptr);
  }
  EXPECT_EQ(trained[1].asked, 0u);
  EXPECT_EQ(trained[1].fresh, 0u);
  EXPECT_EQ(trained[1].peakGrowth, 0u);
  EXPECT_EQ(trained[0].w, trained[1].w);
  EXPECT_EQ(trained[0].b, trained[1].b);
  EXPECT_NE(trained[0].b, std::vector<float>(16)); // they moved
}

TEST_F(Donations, OfALoopsStateAreUpdatedWhereTheyLie) {
  ASSERT_NO_FATAL_FAILURE(load(fillText, "fill"));
  astra_tensor_t x = tensor({1000}), v = tensor({1});
  std::vector<float> expected = read(x, 1000);
  float set = read(v, 1)[0];
  std::fill_n(expected.begin(), 10, set);
  const void *place = addressOf(x);
  std::vector<astra_tensor_t> out(1);
  ASSERT_EQ(call({of(x, true), astra_value_of_i64(10), of(v)}, out), ASTRA_OK);
  EXPECT_EQ(addressOf(out[0]), place);
  EXPECT_EQ(read(out[0], 1000), expected);
  // Not donated it stays what it is.
  astra_tensor_t kept = out[0];
  ASSERT_EQ(call({of(kept), astra_value_of_i64(500), of(v)}, out), ASTRA_OK);
  EXPECT_NE(addressOf(out[0]), place);
  EXPECT_EQ(read(kept, 1000), expected);
}

} // namespace
