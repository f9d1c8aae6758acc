// A module of astrac, loaded by path, with memory that gives out: every
// allocation of loading it and of calling each of its functions fails, alone or
// with all that come after it. Each time there must be an error or a result,
// nothing may leak, and the same runtime must work afterwards.
#include "FailingNew.h"
#include "RuntimeTesting.h"

using namespace astra::test;

namespace {

class ModuleFaults : public ::testing::TestWithParam<int64_t> {
protected:
  void SetUp() override {
    astra_runtime_options_t options;
    ASTRA_INIT(RUNTIME_OPTIONS, &options);
    astra_allocator_t allocator = failingAllocator();
    options.allocator = &allocator;
    options.kept_limit = 1; // so that each block is asked for anew
    ASSERT_OK(astra_runtime_create(&options, &runtime, &error));
    ASSERT_OK(astra_device_open(runtime, "cpu", &cpu, &error));
    ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &stream, &error));
  }
  void TearDown() override { astra_runtime_destroy(runtime); }

  uint64_t liveHandles() {
    astra_memory_info_t info;
    ASTRA_INIT(MEMORY_INFO, &info);
    EXPECT_EQ(astra_runtime_memory(runtime, &info, nullptr), ASTRA_OK);
    return info.live_handles;
  }

  // Each of these gives the first error and keeps no handle.
  astra_status_t program();
  astra_status_t callAll(astra_module_t module);
  astra_status_t call(astra_function_t function);
  astra_status_t makeInputs(astra_function_t function, size_t count,
                            std::vector<astra_tensor_t> &inputs);
  bool failAt(int64_t at, int &failures);

  astra_runtime_t *runtime = nullptr;
  astra_device_t cpu{0};
  astra_stream_t stream{0};
  int calls = 0;
};

astra_status_t ModuleFaults::program() {
  astra_module_t module{0};
  astra_status_t status =
      astra_module_load(runtime, DIGITS_MODULE, &module, nullptr);
  if (status != ASTRA_OK)
    return status;
  status = callAll(module);
  EXPECT_EQ(astra_module_release(runtime, module, nullptr), ASTRA_OK);
  return status;
}

astra_status_t ModuleFaults::callAll(astra_module_t module) {
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  EXPECT_EQ(astra_module_info(runtime, module, &info, nullptr), ASTRA_OK);
  for (size_t i = 0; i < info.function_count; ++i) {
    astra_function_t function{0};
    astra_status_t status =
        astra_module_function_at(runtime, module, i, &function, nullptr);
    if (status != ASTRA_OK)
      return status;
    status = call(function);
    EXPECT_EQ(astra_function_release(runtime, function, nullptr), ASTRA_OK);
    if (status != ASTRA_OK)
      return status;
  }
  return ASTRA_OK;
}

/// Zeros of the shape of each input; a dimension with a name is 3.
astra_status_t ModuleFaults::makeInputs(astra_function_t function, size_t count,
                                        std::vector<astra_tensor_t> &inputs) {
  for (size_t i = 0; i < count; ++i) {
    astra_leaf_info_t leaf;
    ASTRA_INIT(LEAF_INFO, &leaf);
    EXPECT_EQ(astra_function_input(runtime, function, i, &leaf, nullptr),
              ASTRA_OK);
    int64_t shape[ASTRA_MAX_RANK], bytes = (leaf.dtype >> 8 & 0xff) / 8;
    for (uint32_t axis = 0; axis < leaf.rank; ++axis) {
      char *end = nullptr;
      shape[axis] = std::strtoll(leaf.shape[axis], &end, 10);
      if (*end) // a name
        shape[axis] = 3;
      bytes *= shape[axis];
    }
    static const char zeros[1 << 16] = {};
    EXPECT_LE(size_t(bytes), sizeof zeros);
    astra_status_t status =
        astra_tensor_from_data(runtime, cpu, leaf.dtype, leaf.rank, shape,
                               zeros, size_t(bytes), &inputs[i], nullptr);
    if (status != ASTRA_OK)
      return status;
  }
  return ASTRA_OK;
}

astra_status_t ModuleFaults::call(astra_function_t function) {
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  EXPECT_EQ(astra_function_info(runtime, function, &info, nullptr), ASTRA_OK);
  // Memory of this test does not fail, nor does it count.
  static std::vector<astra_tensor_t> in(64), out(64);
  static std::vector<astra_value_t> values(64);
  EXPECT_LE(info.input_count, in.size());
  EXPECT_LE(info.output_count, out.size());
  std::fill(in.begin(), in.end(), astra_tensor_t{0});
  std::fill(out.begin(), out.end(), astra_tensor_t{0});
  astra_status_t status = makeInputs(function, info.input_count, in);
  for (size_t i = 0; i < info.input_count; ++i)
    values[i] = astra_value_of_tensor(in[i]);
  if (status == ASTRA_OK)
    status = astra_function_call(runtime, function, stream, nullptr,
                                 values.data(), info.input_count, out.data(),
                                 info.output_count, nullptr);
  if (status == ASTRA_OK)
    status = astra_stream_wait(runtime, stream, nullptr);
  for (const std::vector<astra_tensor_t> *tensors : {&in, &out})
    for (astra_tensor_t tensor : *tensors)
      if (tensor.bits)
        EXPECT_EQ(astra_tensor_release(runtime, tensor, nullptr), ASTRA_OK);
  calls += status == ASTRA_OK;
  return status;
}

/// Lets allocations fail from one on. False if there was none so late.
bool ModuleFaults::failAt(int64_t at, int &failures) {
  int64_t before = liveBlocks();
  uint64_t handles = liveHandles();
  failFrom(at, GetParam());
  astra_status_t status = program();
  bool reached = healMemory();
  EXPECT_TRUE(status == ASTRA_OK || status == ASTRA_ERROR_OUT_OF_MEMORY)
      << astra_status_name(status) << " at allocation " << at;
  EXPECT_EQ(liveBlocks(), before) << "at allocation " << at;
  EXPECT_EQ(liveHandles(), handles) << "at allocation " << at;
  failures += status != ASTRA_OK;
  EXPECT_EQ(program(), ASTRA_OK) << "after allocation " << at;
  return reached && !HasFailure();
}

TEST_P(ModuleFaults, OfEveryAllocationAreErrorsWithoutALeak) {
  ASSERT_EQ(program(), ASTRA_OK); // tables grow to their size
  ASSERT_GT(calls, 5);
  int failures = 0;
  int64_t at = 0;
  for (; failAt(at, failures); ++at)
    ASSERT_LT(at, 100000) << "there was no end of allocations";
  EXPECT_GT(failures, 100);
  RecordProperty("allocations", int(at));
}

INSTANTIATE_TEST_SUITE_P(Alone, ModuleFaults, ::testing::Values(1));
INSTANTIATE_TEST_SUITE_P(WithAllAfter, ModuleFaults,
                         ::testing::Values(INT64_MAX));

} // namespace
