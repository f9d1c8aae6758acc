// Modules linked into the program: introspection, calls, every refusal of a bad
// argument with both values named, errors of the work and what depends on it.
#include "RuntimeTesting.h"
#include "astra/module.h"
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace astra::test;

namespace {

astra_value_t of(astra_tensor_t tensor) {
  return astra_value_of_tensor(tensor);
}

class Introspection : public RuntimeTest {};

TEST_F(Introspection, OfAModule) {
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  ASSERT_OK(astra_module_info(runtime, toy, &info, &error));
  EXPECT_STREQ(info.name, "toy");
  EXPECT_STREQ(info.path, "");
  EXPECT_STREQ(info.compiler, "by hand");
  EXPECT_STREQ(info.options, "-O2");
  EXPECT_STREQ(info.cpu_levels, "x86-64-v3");
  EXPECT_EQ(info.object_abi, 3u);
  EXPECT_EQ(info.function_count, 10u);
  EXPECT_EQ(info.kernel_count, 1u);
  const char *name = nullptr, *variant = nullptr;
  uint32_t version = 0;
  ASSERT_OK(
      astra_module_kernel(runtime, toy, 0, &name, &version, &variant, &error));
  EXPECT_STREQ(name, "add_f32");
  EXPECT_EQ(version, 1u);
  EXPECT_STRNE(variant, "unknown");
  EXPECT_FAILS(
      ASTRA_ERROR_OUT_OF_RANGE, "kernel 1",
      astra_module_kernel(runtime, toy, 1, &name, &version, &variant, &error));
}

TEST_F(Introspection, OfAFunction) {
  astra_function_t shift = function("shift"), at{0};
  ASSERT_OK(astra_module_function_at(runtime, toy, 0, &at, &error));
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  ASSERT_OK(astra_function_info(runtime, at, &info, &error));
  EXPECT_STREQ(info.name, "shift");
  EXPECT_STREQ(info.doc, "Adds s.");
  ASSERT_EQ(info.dim_count, 1u);
  EXPECT_STREQ(info.dim_names[0], "n");
  EXPECT_EQ(info.parameter_count, 2u);
  EXPECT_EQ(info.result_count, 1u);
  EXPECT_EQ(info.input_count, 2u);
  EXPECT_EQ(info.output_count, 2u);
  EXPECT_EQ(info.flags, 0u);
  astra_value_info_t value;
  ASTRA_INIT(VALUE_INFO, &value);
  ASSERT_OK(astra_function_parameter(runtime, shift, 1, &value, &error));
  EXPECT_STREQ(value.name, "s");
  EXPECT_EQ(value.first_leaf, 1u);
  ASSERT_OK(astra_function_result(runtime, shift, 0, &value, &error));
  EXPECT_STREQ(value.type, "(f32[n, 4], i64)");
  EXPECT_EQ(value.leaf_count, 2u);
  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  ASSERT_OK(astra_function_input(runtime, shift, 0, &leaf, &error));
  EXPECT_STREQ(leaf.path, "x");
  EXPECT_EQ(leaf.dtype, ASTRA_F32);
  ASSERT_EQ(leaf.rank, 2u);
  EXPECT_STREQ(leaf.shape[0], "n");
  EXPECT_STREQ(leaf.shape[1], "4");
  ASSERT_OK(astra_function_output(runtime, function("grow"), 0, &leaf, &error));
  EXPECT_STREQ(leaf.shape[0], "n - 3");
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "input 2",
               astra_function_input(runtime, shift, 2, &leaf, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "output 2",
               astra_function_output(runtime, shift, 2, &leaf, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "parameter 2",
               astra_function_parameter(runtime, shift, 2, &value, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "result 1",
               astra_function_result(runtime, shift, 1, &value, &error));
}

TEST_F(Introspection, OfMemory) {
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  ASSERT_OK(astra_function_info(runtime, function("grow"), &info, &error));
  EXPECT_STREQ(info.memory, "4*n + 4*(n - 3)");
  ASSERT_OK(astra_function_info(runtime, function("shift"), &info, &error));
  EXPECT_STREQ(info.memory, "16*n + 8");
  uint64_t workspace = 0, results = 0;
  int64_t dims[] = {10};
  ASSERT_OK(astra_function_memory(runtime, function("grow"), dims, 1,
                                  &workspace, &results, &error));
  EXPECT_EQ(workspace, 40u);
  EXPECT_EQ(results, 28u);
  EXPECT_FAILS(ASTRA_ERROR_COUNT_MISMATCH, "has 1 dimensions, but 0",
               astra_function_memory(runtime, function("grow"), nullptr, 0,
                                     &workspace, &results, &error));
  dims[0] = 1; // n - 3 is negative
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "would be negative: n - 3 is -2",
               astra_function_memory(runtime, function("grow"), dims, 1,
                                     &workspace, &results, &error));
  dims[0] = INT64_MAX / 2;
  EXPECT_FAILS(ASTRA_ERROR_OVERFLOW, "4*n",
               astra_function_memory(runtime, function("grow"), dims, 1,
                                     &workspace, &results, &error));
}

TEST_F(Introspection, OfDonors) {
  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  ASSERT_OK(astra_function_output(runtime, function("add"), 0, &leaf, &error));
  ASSERT_EQ(leaf.donor_count, 1u);
  EXPECT_EQ(leaf.donors[0], 1u);
  ASSERT_OK(astra_function_input(runtime, function("add"), 0, &leaf, &error));
  EXPECT_EQ(leaf.donor_count, 0u);
}

TEST_F(Introspection, OfWhatIsNotThere) {
  astra_function_t missing{1};
  EXPECT_FAILS(ASTRA_ERROR_NOT_FOUND, "\"shfit\"; it has: shift, add",
               astra_module_function(runtime, toy, "shfit", &missing, &error));
  EXPECT_EQ(missing.bits, 0u);
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "function 10",
               astra_module_function_at(runtime, toy, 10, &missing, &error));
}

TEST_F(Introspection, FindsTests) {
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  ASSERT_OK(astra_function_info(runtime, function("passes"), &info, &error));
  EXPECT_EQ(info.flags, ASTRA_FUNCTION_TEST);
}

class Calls : public RuntimeTest {
protected:
  astra_status_t call(const char *name, std::vector<astra_value_t> in,
                      std::vector<astra_tensor_t> &out, astra_error_t **error) {
    return astra_function_call(runtime, function(name), stream, nullptr,
                               in.data(), in.size(), out.data(), out.size(),
                               error);
  }
  std::vector<astra_tensor_t> one{{0}}, two{{0}, {0}}, none;
};

TEST_F(Calls, TakeTensorsAndScalars) {
  astra_tensor_t x = floats({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_OK(call("shift", {of(x), astra_value_of_f32(0.5f)}, two, &error));
  EXPECT_EQ(read<float>(two[0], 8),
            (std::vector<float>{.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5}));
  EXPECT_EQ(read<int64_t>(two[1], 1), std::vector<int64_t>{2});
  EXPECT_EQ(shapeOf(two[0]), (std::vector<int64_t>{2, 4}));
  // A tensor of rank 0 serves as a scalar, a view as an input.
  astra_tensor_t square = floats({4, 4}, std::vector<float>(16, 1)), view{0};
  uint32_t order[] = {1, 0};
  ASSERT_OK(astra_tensor_transpose(runtime, square, order, &view, &error));
  ASSERT_OK(call("shift", {of(view), of(floats({}, {2}))}, two, &error));
  EXPECT_EQ(read<float>(two[0], 16), std::vector<float>(16, 3));
  // No rows at all.
  ASSERT_OK(call("shift", {of(floats({0, 4}, {})), astra_value_of_f32(1)}, two,
                 &error));
  EXPECT_EQ(shapeOf(two[0]), (std::vector<int64_t>{0, 4}));
}

TEST_F(Calls, GiveTheSameForAnyNumberOfThreads) {
  std::vector<float> data(4000);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = float(i) * 0.37f;
  std::vector<float> expected;
  for (uint32_t threads : {1u, 2u, 5u}) {
    astra_runtime_destroy(runtime);
    start(threads);
    ASSERT_OK(call("shift",
                   {of(floats({1000, 4}, data)), astra_value_of_f32(1)}, two,
                   &error));
    std::vector<float> result = read<float>(two[0], 4000);
    if (expected.empty())
      expected = result;
    EXPECT_EQ(result, expected);
  }
}

TEST_F(Calls, RunImportedKernels) {
  astra_tensor_t a = floats({3}, {1, 2, 3}), b = floats({3}, {10, 20, 30});
  ASSERT_OK(call("add", {of(a), of(b)}, one, &error));
  EXPECT_EQ(read<float>(one[0], 3), (std::vector<float>{11, 22, 33}));
}

TEST_F(Calls, WorkOutDimensions) {
  astra_tensor_t x = floats({6}, {0, 1, 2, 3, 4, 5});
  ASSERT_OK(call("halves", {of(x)}, one, &error));
  EXPECT_EQ(read<float>(one[0], 3), (std::vector<float>{0, 2, 4}));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH, "do not tell the dimension n",
               call("halves", {of(floats({3}, {1, 2, 3}))}, one, &error));
  astra_tensor_t a = floats({5}, std::vector<float>(5, 0));
  astra_tensor_t b = floats({11}, std::vector<float>(11, 0));
  ASSERT_OK(call("grow", {of(a), of(b)}, one, &error));
  EXPECT_EQ(read<float>(one[0], 2), (std::vector<float>{5, 5}));
  ASSERT_EQ(debugLines.size(), 1u);
  EXPECT_EQ(debugLines[0], "b: f32[11] = [0, 0, 0, ..., 0, 0, 0]");
}

/// Memory that is not kept goes back with its size, whatever the allocator
/// leaves in it: the limit is never used up by work that is done.
class CallsThatKeepNothing : public Calls {
protected:
  void SetUp() override {
    astra_allocator_t allocator = {
        nullptr,
        [](void *, size_t bytes, size_t alignment) {
          return std::aligned_alloc(alignment, bytes);
        },
        [](void *, void *memory, size_t bytes, size_t) {
          std::memset(memory, 0x80, bytes);
          std::free(memory);
        }};
    astra_runtime_options_t options;
    ASTRA_INIT(RUNTIME_OPTIONS, &options);
    options.allocator = &allocator;
    options.memory_limit = 1 << 20;
    options.kept_limit = 1;
    options.debug = [](void *, const char *) {};
    ASSERT_OK(astra_runtime_create(&options, &runtime, &error));
    ASSERT_OK(astra_device_open(runtime, "cpu", &cpu, &error));
    ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &stream, &error));
    ASSERT_OK(astra_module_link(runtime, &astra_module_toy, &toy, &error));
  }
};

TEST_F(CallsThatKeepNothing, GiveScratchBack) {
  astra_tensor_t a = floats({5}, std::vector<float>(5, 0));
  astra_tensor_t b = floats({11}, std::vector<float>(11, 0));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(call("grow", {of(a), of(b)}, one, &error));
    EXPECT_EQ(read<float>(one[0], 2), (std::vector<float>{5, 5}));
    ASSERT_OK(astra_tensor_release(runtime, one[0], &error));
  }
}

TEST_F(Calls, NameWhatDoesNotFit) {
  astra_tensor_t x = floats({2, 4}, std::vector<float>(8, 0));
  astra_tensor_t wide = floats({2, 5}, std::vector<float>(10, 0));
  astra_tensor_t flat = floats({8}, std::vector<float>(8, 0));
  astra_tensor_t ints =
      tensor<int32_t>(ASTRA_I32, {2, 4}, {0, 0, 0, 0, 0, 0, 0, 0});
  astra_value_t s = astra_value_of_f32(1);
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH,
               "input \"x\", axis 1, is 5, but 4 is expected (f32[n, 4])",
               call("shift", {of(wide), s}, two, &error));
  EXPECT_EQ(two[0].bits, 0u);
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH, "\"x\" has rank 1 (shape [8])",
               call("shift", {of(flat), s}, two, &error));
  EXPECT_FAILS(ASTRA_ERROR_DTYPE_MISMATCH, "\"x\" is i32, but f32[n, 4]",
               call("shift", {of(ints), s}, two, &error));
  EXPECT_FAILS(ASTRA_ERROR_DTYPE_MISMATCH, "\"s\" is f64, but f32 is",
               call("shift", {of(x), astra_value_of_f64(1)}, two, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH, "\"x\" is a scalar",
               call("shift", {s, s}, two, &error));
  EXPECT_FAILS(ASTRA_ERROR_COUNT_MISMATCH, "takes 2 inputs, but 1 were",
               call("shift", {of(x)}, two, &error));
  EXPECT_FAILS(ASTRA_ERROR_COUNT_MISMATCH,
               "gives 2 outputs, but there is room "
               "for 1",
               call("shift", {of(x), s}, one, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "input \"x\": the tensor handle is",
               call("shift", {of({0}), s}, two, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH,
               "input \"b\", axis 0, is 4, but 3 (n) is expected, where n is 3 "
               "by input \"a\", axis 0",
               call("add",
                    {of(floats({3}, {1, 2, 3})), of(floats({4}, {1, 2, 3, 4}))},
                    one, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH,
               "is 4, but 7 (2*n + 1) is expected, where n is 3",
               call("grow",
                    {of(floats({3}, {1, 2, 3})), of(floats({4}, {1, 2, 3, 4}))},
                    one, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH, "negative: n - 3 is -1",
               call("grow",
                    {of(floats({2}, {1, 2})), of(floats({5}, {1, 2, 3, 4, 5}))},
                    one, &error));
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH,
               "inside \"grow\" would be negative: n - 2 is -1",
               call("grow", {of(floats({1}, {1})), of(floats({3}, {1, 2, 3}))},
                    one, &error));
}

TEST_F(Calls, RefuseUnknownFlagsAndNullArrays) {
  astra_value_t b = astra_value_of_bool(1);
  b.flags = 2;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "flags 2",
               call("mute", {b}, one, &error));
  b.flags = ASTRA_VALUE_DONATE;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "cannot be donated",
               call("mute", {b}, one, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "a bool is 0 or 1",
               call("mute", {astra_value_of_bool(3)}, one, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "outputs",
               astra_function_call(runtime, function("mute"), stream, nullptr,
                                   &b, 1, nullptr, 1, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "inputs",
               astra_function_call(runtime, function("mute"), stream, nullptr,
                                   nullptr, 1, one.data(), 1, &error));
  astra_call_options_t options;
  ASTRA_INIT(CALL_OPTIONS, &options);
  options.flags = 1;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "call flags 1",
               astra_function_call(runtime, function("passes"), stream,
                                   &options, nullptr, 0, nullptr, 0, &error));
}

TEST_F(Calls, ReportErrorsOfTheWorkWhereItIsWaitedFor) {
  astra_tensor_t x = tensor<int32_t>(ASTRA_I32, {2}, {1, 2});
  ASSERT_OK(call("divide", {of(x)}, one, &error));
  uint32_t state = 0;
  ASSERT_OK(astra_tensor_state(runtime, one[0], &state, &error));
  EXPECT_EQ(state, uint32_t(ASTRA_TENSOR_FAILED));
  int32_t buffer[2];
  astra_error_t *error = nullptr;
  ASSERT_EQ(astra_tensor_read(runtime, one[0], buffer, 8, &error),
            ASTRA_ERROR_DIVISION_BY_ZERO);
  EXPECT_STREQ(astra_error_message(error), "division of 3 by 0 at element 1");
  EXPECT_STREQ(astra_error_location(error), "toy.astra:12:3");
  astra_error_release(error);
  EXPECT_FAILS(ASTRA_ERROR_DIVISION_BY_ZERO, "by 0",
               astra_tensor_wait(runtime, one[0], &error));
  // The stream reports it once.
  EXPECT_FAILS(ASTRA_ERROR_DIVISION_BY_ZERO, "by 0",
               astra_stream_wait(runtime, stream, &error));
  ASSERT_OK(astra_stream_wait(runtime, stream, &error));
  ASSERT_OK(call("mute", {astra_value_of_bool(0)}, one, &error));
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE,
               "toy.mute failed with ASTRA_ERROR_OUT_OF_RANGE (6)",
               astra_tensor_wait(runtime, one[0], &error));
}

TEST_F(Calls, PoisonWhatDependsOnFailedWork) {
  astra_tensor_t x = tensor<int32_t>(ASTRA_I32, {2}, {1, 2});
  ASSERT_OK(call("divide", {of(x)}, one, &error));
  std::vector<astra_tensor_t> next{{0}};
  ASSERT_OK(call("divide", {of(one[0])}, next, &error));
  EXPECT_FAILS(ASTRA_ERROR_POISONED,
               "input \"x\" of toy.divide is the result of work that failed "
               "with ASTRA_ERROR_DIVISION_BY_ZERO: division of 3 by 0",
               astra_tensor_wait(runtime, next[0], &error));
  // However long the chain, the nearest input and the first failure alone.
  for (int step = 0; step < 100; ++step) {
    std::vector<astra_tensor_t> after{{0}};
    ASSERT_OK(call("divide", {of(next[0])}, after, &error));
    next = after;
  }
  astra_error_t *last = nullptr;
  ASSERT_EQ(astra_tensor_wait(runtime, next[0], &last), ASTRA_ERROR_POISONED);
  EXPECT_LT(takeMessage(last).size(), 150u);
  int64_t shape[] = {2, 1};
  astra_tensor_t view{0};
  ASSERT_OK(astra_tensor_reshape(runtime, one[0], 2, shape, &view, &error));
  EXPECT_FAILS(ASTRA_ERROR_DIVISION_BY_ZERO, "by 0",
               astra_tensor_wait(runtime, view, &error));
}

TEST_F(Calls, OfTestsReportThroughTheStream) {
  ASSERT_OK(call("passes", {}, none, &error));
  ASSERT_OK(astra_stream_wait(runtime, stream, &error));
  ASSERT_OK(call("fails", {}, none, &error));
  astra_error_t *error = nullptr;
  ASSERT_EQ(astra_stream_wait(runtime, stream, &error), ASTRA_ERROR_ASSERTION);
  EXPECT_STREQ(astra_error_location(error), "toy.astra:4:2");
  EXPECT_STREQ(astra_error_message(error), "the assertion 1 == 2 failed");
  astra_error_release(error);
}

TEST_F(Calls, ConsumeDonationsOnceTheArgumentsAreValid) {
  astra_value_t s = astra_value_of_f32(1);
  astra_value_t donated = of(floats({1, 4}, {1, 2, 3, 4}));
  donated.flags = ASTRA_VALUE_DONATE;
  ASSERT_OK(call("shift", {donated, s}, two, &error));
  EXPECT_EQ(read<float>(two[0], 4), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_tensor_release(runtime, donated.as.tensor, &error));
  // Invalid arguments leave it.
  donated = of(floats({1, 3}, {1, 2, 3}));
  donated.flags = ASTRA_VALUE_DONATE;
  EXPECT_FAILS(ASTRA_ERROR_SHAPE_MISMATCH, "is 3, but 4",
               call("shift", {donated, s}, two, &error));
  ASSERT_OK(astra_tensor_release(runtime, donated.as.tensor, &error));
}

TEST_F(Calls, RefuseDonationsThatAreShared) {
  astra_value_t a = of(floats({4}, {1, 2, 3, 4}));
  a.flags = ASTRA_VALUE_DONATE;
  EXPECT_FAILS(ASTRA_ERROR_DONATION, "\"a\" is donated, but another input",
               call("add", {a, of(a.as.tensor)}, one, &error));
  astra_value_t b = of(floats({4}, {1, 2, 3, 4}));
  ASSERT_OK(astra_tensor_retain(runtime, a.as.tensor, &error));
  EXPECT_FAILS(ASTRA_ERROR_DONATION, "another reference",
               call("add", {a, b}, one, &error));
  ASSERT_OK(astra_tensor_release(runtime, a.as.tensor, &error));
  astra_tensor_t view{0};
  int64_t shape[] = {2, 2};
  ASSERT_OK(
      astra_tensor_reshape(runtime, a.as.tensor, 2, shape, &view, &error));
  EXPECT_FAILS(ASTRA_ERROR_DONATION, "another reference",
               call("add", {a, b}, one, &error));
  ASSERT_OK(astra_tensor_release(runtime, view, &error));
  ASSERT_OK(call("add", {a, b}, one, &error));
}

TEST_F(Calls, KeepNoHandles) {
  astra_tensor_t x = floats({2, 4}, std::vector<float>(8, 0));
  astra_function_t shift = function("shift");
  uint64_t before = liveHandles();
  for (int i = 0; i < 10; ++i) {
    astra_value_t in[] = {of(x), astra_value_of_f32(1)};
    ASSERT_OK(astra_function_call(runtime, shift, stream, nullptr, in, 2,
                                  two.data(), 2, &error));
    EXPECT_EQ(liveHandles(), before + 2);
    ASSERT_OK(astra_tensor_release(runtime, two[0], &error));
    ASSERT_OK(astra_tensor_release(runtime, two[1], &error));
  }
  EXPECT_EQ(liveHandles(), before);
}

TEST_F(Calls, WorkAfterTheModuleIsReleased) {
  astra_function_t add = function("add");
  ASSERT_OK(astra_module_release(runtime, toy, &error));
  astra_value_t a = of(floats({1}, {1}));
  astra_value_t in[] = {a, a};
  ASSERT_OK(astra_function_call(runtime, add, stream, nullptr, in, 2,
                                one.data(), 1, &error));
  EXPECT_EQ(read<float>(one[0], 1), std::vector<float>{2});
  ASSERT_OK(astra_function_release(runtime, add, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_function_call(runtime, add, stream, nullptr, in, 2,
                                   one.data(), 1, &error));
}

#if defined(__x86_64__)
TEST_F(Calls, RunInTheirOwnFloatingPointState) {
  astra_function_t rounding = function("rounding");
  unsigned mine = _mm_getcsr();
  unsigned odd = mine | 0x8040 | _MM_ROUND_UP; // flush both ways, round up
  _mm_setcsr(odd);
  astra_status_t status = astra_function_call(
      runtime, rounding, stream, nullptr, nullptr, 0, two.data(), 2, nullptr);
  unsigned after = _mm_getcsr();
  _mm_setcsr(mine);
  ASSERT_EQ(status, ASTRA_OK);
  EXPECT_EQ(after, odd);
  EXPECT_EQ(read<int32_t>(two[0], 1)[0], 0);
  EXPECT_EQ(read<uint32_t>(two[1], 1)[0], 0x00400000u);
}
#endif

/// A copy of the hand-written descriptor, to damage.
class Descriptors : public RuntimeTest {
protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    desc = astra_module_toy;
    exports.assign(desc.exports, desc.exports + desc.export_count);
    desc.exports = exports.data();
  }
  astra_status_t link(astra_error_t **error) {
    astra_module_t made{0};
    return astra_module_link(runtime, &desc, &made, error);
  }
  astra_module_desc_t desc;
  std::vector<astra_export_desc_t> exports;
};

TEST_F(Descriptors, OfOtherVersionsAreRefused) {
  ASSERT_OK(link(&error));
  desc.object_abi = 0;
  EXPECT_FAILS(ASTRA_ERROR_UNSUPPORTED_VERSION, "object ABI version 0",
               link(&error));
  desc.object_abi = 4;
  EXPECT_FAILS(ASTRA_ERROR_UNSUPPORTED_VERSION,
               "object ABI version 4, but this runtime (0.1.0) runs object ABI "
               "versions 1 to 3",
               link(&error));
  desc.object_abi = 3;
  desc.arithmetic = 9;
  EXPECT_FAILS(ASTRA_ERROR_UNSUPPORTED_VERSION, "arithmetic version 9",
               link(&error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "descriptor",
               astra_module_link(runtime, nullptr, &toy, &error));
}

TEST_F(Descriptors, OfTheFirstVersionStillRun) {
  desc.object_abi = 1;
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "its size is", link(&error));
  desc.struct_size = ASTRA_MODULE_DESC_SIZE_1;
  // What lies behind the first version's end is not looked at.
  desc.fused_count = 7;
  ASSERT_OK(link(&error));
}

TEST_F(Descriptors, OfTheSecondVersionStillRun) {
  desc.object_abi = 2;
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "its size is", link(&error));
  desc.struct_size = ASTRA_MODULE_DESC_SIZE_2;
  desc.fused_count = 7; // as with the first
  desc.donation_count = 7;
  desc.donations = nullptr;
  ASSERT_OK(link(&error));
}

TEST_F(Descriptors, DonationsAreChecked) {
  astra_donation_desc_t donations[] = {{1, 0, 0, 0}, {1, 0, 1, 0}};
  desc.donation_count = 2;
  desc.donations = nullptr;
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "table", link(&error));
  desc.donations = donations;
  ASSERT_OK(link(&error));
  donations[1].input = 0; // twice
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "donation 1", link(&error));
  donations[1].input = 2;
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "donation 1", link(&error));
  donations[1] = {1, 1, 0, 0};
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "donation 1", link(&error));
  donations[1] = {uint32_t(desc.export_count), 0, 0, 0};
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "donation 1", link(&error));
}

TEST_F(Descriptors, FusedKernelsAreChecked) {
  auto block = [](void *const *, const int64_t *, int64_t) {};
  const int64_t operands[] = {0, 1};
  const astra_slot_desc_t slots[] = {{ASTRA_SLOT_ARG, ASTRA_F32},
                                     {ASTRA_SLOT_ARG, ASTRA_F32}};
  astra_stage_desc_t stage = {{block, block}, operands, 1, 1, 0, 0};
  astra_fused_desc_t fused = {"fused_0", "neg", 2, 0, 2, slots, 1, &stage};
  desc.fused_count = 1;
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "table", link(&error));
  desc.fused = &fused;
  ASSERT_OK(link(&error));
  fused.slot_count = 1; // slot 1 is not there
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "fused kernel 0", link(&error));
  fused.slot_count = 2;
  stage.code[1] = nullptr;
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "fused kernel 0", link(&error));
}

TEST_F(Descriptors, ForBetterProcessorsAreRefused) {
  desc.cpu_levels = "x86-64-v9";
  EXPECT_FAILS(ASTRA_ERROR_CPU_LEVEL, "x86-64-v9", link(&error));
  desc.cpu_levels = "x86-64-v3,x86-64-v4";
  ASSERT_OK(link(&error));
}

TEST_F(Descriptors, ListAllMissingKernels) {
  astra_import_desc_t imports[] = {{"add_f32", 1, 0},
                                   {"fly_f32", 1, 0},
                                   {"add_f32", 7, 0},
                                   {"swim_f64", 2, 0}};
  desc.imports = imports;
  desc.import_count = 4;
  EXPECT_FAILS(ASTRA_ERROR_MISSING_KERNEL,
               "fly_f32 version 1, add_f32 version 7 (this runtime has version "
               "1), swim_f64 version 2",
               link(&error));
}

TEST_F(Descriptors, ThatAreDamagedAreRefused) {
  auto refused = [&](const char *text, auto damage) {
    TearDown();
    SetUp();
    damage();
    EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, text, link(&error));
  };
  refused("begin", [&] { desc.magic = 3; });
  refused("size", [&] { desc.struct_size = 8; });
  refused("text", [&] { desc.compiler = nullptr; });
  refused("table", [&] { desc.exports = nullptr; });
  refused("table", [&] { desc.import_count = uint64_t(1) << 60; });
  refused("export 0", [&] { exports[0].entry = nullptr; });
  refused("export 1", [&] { exports[1].in_leaf_count = uint64_t(1) << 60; });
  static const int64_t outside[] = {ASTRA_DIM_NAME, 1};
  static const int64_t open[] = {ASTRA_DIM_CONST, 1, ASTRA_DIM_CONST, 1};
  static const int64_t hungry[] = {ASTRA_DIM_CONST, 1, ASTRA_DIM_ADD};
  static const int64_t cut[] = {ASTRA_DIM_CONST};
  static const int64_t unknown[] = {ASTRA_DIM_CONST, 1, ASTRA_DIM_CONST, 1, 9};
  auto code = [&](const int64_t *words, uint64_t length) {
    refused("export 0",
            [&] { exports[0].workspace_bytes = {"bad", words, length}; });
  };
  code(outside, 2);
  code(open, 4);
  code(hungry, 3);
  code(cut, 1);
  code(unknown, 5);
  code(nullptr, 1);
  code(cut, 0);
}

} // namespace
