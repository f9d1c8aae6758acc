// Runtimes, options, extensible structs, handles, devices, streams, memory.
#include "RuntimeTesting.h"
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace astra::test;

namespace {

TEST(Versions, AreTheHeaders) {
  EXPECT_EQ(astra_version(), ASTRA_VERSION);
  EXPECT_STREQ(astra_version_text(), "0.1.0");
  uint32_t abi = 0, arithmetic = 0;
  astra_abi_version(&abi, &arithmetic);
  EXPECT_EQ(abi, 3u);
  EXPECT_EQ(arithmetic, 1u);
  astra_abi_version(nullptr, nullptr);
}

TEST(Statuses, HaveNames) {
  EXPECT_STREQ(astra_status_name(ASTRA_OK), "ASTRA_OK");
  for (int code = 1; code <= ASTRA_ERROR_NUMERICAL; ++code)
    EXPECT_EQ(std::string(astra_status_name(code)).find("ASTRA_ERROR_"), 0u)
        << code;
  EXPECT_STREQ(astra_status_name(12345), "unknown status");
  EXPECT_STREQ(astra_status_name(-1), "unknown status");
}

TEST(Errors, OfNullAreEmpty) {
  EXPECT_EQ(astra_error_status(nullptr), ASTRA_OK);
  EXPECT_STREQ(astra_error_message(nullptr), "");
  EXPECT_STREQ(astra_error_location(nullptr), "");
  astra_error_release(nullptr);
}

TEST(Processor, HasANamedLevel) {
  EXPECT_STRNE(astra_cpu_level_name(astra_cpu_level()), "unknown");
  EXPECT_STREQ(astra_cpu_level_name(ASTRA_CPU_X86_64_V3), "x86-64-v3");
  EXPECT_STREQ(astra_cpu_level_name(ASTRA_CPU_NEON), "aarch64-neon");
  EXPECT_STREQ(astra_cpu_level_name(77), "unknown");
}

TEST(Processor, OfAnotherKindIsRefused) {
  bool isArm = astra_cpu_level() == ASTRA_CPU_NEON;
  astra_runtime_t *runtime = nullptr;
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.cpu_level = isArm ? ASTRA_CPU_X86_64_V3 : ASTRA_CPU_NEON;
  EXPECT_FAILS(ASTRA_ERROR_CPU_LEVEL,
               isArm ? "asks for x86-64-v3" : "asks for aarch64-neon",
               astra_runtime_create(&options, &runtime, &error));
}

TEST(Options, AreChecked) {
  astra_runtime_t *runtime = nullptr;
  astra_runtime_options_t options;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "runtime",
               astra_runtime_create(nullptr, nullptr, &error));
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.chain.type = ASTRA_STRUCT_BORROW;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_STRUCT, "type 1",
               astra_runtime_create(&options, &runtime, &error));
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.chain.struct_size = sizeof(astra_chain_t);
  EXPECT_FAILS(ASTRA_ERROR_INVALID_STRUCT, "struct_size",
               astra_runtime_create(&options, &runtime, &error));
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  astra_chain_t unknown = {999, 0, sizeof(astra_chain_t), nullptr};
  options.chain.next = &unknown;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_STRUCT, "999",
               astra_runtime_create(&options, &runtime, &error));
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.threads = 1000000;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "1000000",
               astra_runtime_create(&options, &runtime, &error));
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.cpu_level = 50;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "50",
               astra_runtime_create(&options, &runtime, &error));
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  astra_allocator_t half = {nullptr, nullptr, nullptr};
  options.allocator = &half;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "allocator",
               astra_runtime_create(&options, &runtime, &error));
  EXPECT_EQ(runtime, nullptr);
}

TEST(Options, OfALaterHeaderMustBeZeroBeyondWhatIsKnown) {
  struct Later {
    astra_runtime_options_t known;
    uint64_t more;
  } later;
  std::memset(&later, 0, sizeof later);
  later.known.chain.type = ASTRA_STRUCT_RUNTIME_OPTIONS;
  later.known.chain.struct_size = sizeof later;
  astra_runtime_t *runtime = nullptr;
  ASSERT_OK(astra_runtime_create(&later.known, &runtime, &error));
  astra_runtime_destroy(runtime);
  later.more = 1;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_STRUCT, "does not know",
               astra_runtime_create(&later.known, &runtime, &error));
}

TEST(NullRuntime, IsRefusedEverywhere) {
  astra_tensor_t tensor{5};
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "runtime",
      astra_tensor_empty(nullptr, {1}, ASTRA_F32, 0, nullptr, &tensor, &error));
  EXPECT_EQ(tensor.bits, 0u);
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "runtime",
               astra_tensor_release(nullptr, tensor, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "runtime",
               astra_stream_wait(nullptr, {1}, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "runtime",
               astra_module_load(nullptr, "x", nullptr, &error));
  astra_runtime_destroy(nullptr);
}

class Handles : public RuntimeTest {};

TEST_F(Handles, NullStaleAndOfAnotherKindAreRefused) {
  astra_tensor_t x = floats({2}, {1, 2});
  uint32_t dtype = 0;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "null",
               astra_tensor_dtype(runtime, {0}, &dtype, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "stream",
               astra_tensor_dtype(runtime, {stream.bits}, &dtype, &error));
  ASSERT_OK(astra_tensor_release(runtime, x, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_tensor_dtype(runtime, x, &dtype, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_tensor_release(runtime, x, &error));
  // The slot is used again, the old handle stays stale.
  astra_tensor_t y = floats({2}, {3, 4});
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_tensor_dtype(runtime, x, &dtype, &error));
  ASSERT_OK(astra_tensor_dtype(runtime, y, &dtype, &error));
  EXPECT_EQ(dtype, ASTRA_F32);
  EXPECT_EQ(astra_tensor_release(runtime, {0}, nullptr),
            ASTRA_ERROR_INVALID_HANDLE);
}

TEST_F(Handles, RandomBitsAreRefused) {
  uint64_t bits = 88172645463325252ull;
  for (int i = 0; i < 100000; ++i) {
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    uint32_t dtype = 0;
    ASSERT_EQ(astra_tensor_dtype(runtime, {bits}, &dtype, nullptr),
              ASTRA_ERROR_INVALID_HANDLE);
  }
}

TEST_F(Handles, OfAnotherRuntimeAreRefused) {
  astra_runtime_t *other = nullptr;
  ASSERT_OK(astra_runtime_create(nullptr, &other, &error));
  astra_device_t device{0};
  ASSERT_OK(astra_device_open(other, "cpu", &device, &error));
  int64_t extent = 2;
  float data[] = {1, 2};
  std::vector<astra_tensor_t> theirs, mine;
  for (int i = 0; i < 100; ++i) {
    astra_tensor_t made{0};
    ASSERT_OK(astra_tensor_from_data(other, device, ASTRA_F32, 1, &extent, data,
                                     sizeof data, &made, &error));
    theirs.push_back(made);
    mine.push_back(floats({2}, {1, 2}));
  }
  for (int i = 0; i < 100; ++i) {
    uint32_t dtype = 0;
    EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "another runtime",
                 astra_tensor_dtype(runtime, theirs[i], &dtype, &error));
    EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "another runtime",
                 astra_tensor_dtype(other, mine[i], &dtype, &error));
  }
  astra_runtime_destroy(other);
  EXPECT_EQ(read<float>(mine[0], 2), (std::vector<float>{1, 2}));
}

TEST_F(Handles, CountReferences) {
  astra_tensor_t x = floats({1}, {1});
  ASSERT_OK(astra_tensor_retain(runtime, x, &error));
  ASSERT_OK(astra_tensor_release(runtime, x, &error));
  EXPECT_EQ(read<float>(x, 1), std::vector<float>{1});
  ASSERT_OK(astra_tensor_release(runtime, x, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_tensor_retain(runtime, x, &error));
}

class Devices : public RuntimeTest {};

TEST_F(Devices, AreListed) {
  size_t count = 0;
  ASSERT_OK(astra_device_count(runtime, &count, &error));
  ASSERT_EQ(count, 2u);
  astra_device_info_t info;
  ASTRA_INIT(DEVICE_INFO, &info);
  ASSERT_OK(astra_device_info(runtime, 0, &info, &error));
  EXPECT_STREQ(info.name, "cpu");
  EXPECT_EQ(info.cpu_level, astra_cpu_level());
  EXPECT_EQ(info.threads, 2u);
  ASSERT_OK(astra_device_info(runtime, 1, &info, &error));
  EXPECT_STREQ(info.name, "null");
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "2",
               astra_device_info(runtime, 2, &info, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "count",
               astra_device_count(runtime, nullptr, &error));
  info.chain.type = 77;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_STRUCT, "77",
               astra_device_info(runtime, 0, &info, &error));
}

TEST_F(Devices, OpenedTwiceAreOne) {
  astra_device_t again{0};
  ASSERT_OK(astra_device_open(runtime, "cpu", &again, &error));
  EXPECT_EQ(again.bits, cpu.bits);
  ASSERT_OK(astra_device_release(runtime, again, &error));
  floats({1}, {1});
  ASSERT_OK(astra_device_release(runtime, cpu, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_device_release(runtime, cpu, &error));
  ASSERT_OK(astra_device_open(runtime, "cpu", &cpu, &error));
  EXPECT_NE(again.bits, cpu.bits);
}

TEST_F(Devices, ThatAreMissingAreNamedWithThoseThereAre) {
  astra_device_t device{9};
  EXPECT_FAILS(ASTRA_ERROR_MISSING_DEVICE, "\"cuda:0\"; this machine has: cpu",
               astra_device_open(runtime, "cuda:0", &device, &error));
  EXPECT_EQ(device.bits, 0u);
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "name",
               astra_device_open(runtime, nullptr, &device, &error));
}

TEST_F(Devices, NullHoldsTensorsAndRunsNothing) {
  astra_device_t null{0};
  astra_stream_t queue{0};
  ASSERT_OK(astra_device_open(runtime, "null", &null, &error));
  ASSERT_OK(astra_stream_create(runtime, null, nullptr, &queue, &error));
  astra_tensor_t x{0};
  int64_t extent = 3;
  float data[] = {1, 2, 3};
  ASSERT_OK(astra_tensor_from_data(runtime, null, ASTRA_F32, 1, &extent, data,
                                   sizeof data, &x, &error));
  EXPECT_EQ(read<float>(x, 3), (std::vector<float>{1, 2, 3}));
  astra_value_t in[] = {astra_value_of_tensor(x), astra_value_of_tensor(x)};
  astra_tensor_t out{1};
  EXPECT_FAILS(ASTRA_ERROR_UNIMPLEMENTED, "runs no functions",
               astra_function_call(runtime, function("add"), queue, nullptr, in,
                                   2, &out, 1, &error));
  EXPECT_EQ(out.bits, 0u);
  EXPECT_FAILS(ASTRA_ERROR_DEVICE_MISMATCH, "\"null\"",
               astra_function_call(runtime, function("add"), stream, nullptr,
                                   in, 2, &out, 1, &error));
}

class Streams : public RuntimeTest {};

TEST_F(Streams, CountTheirWork) {
  uint64_t submitted = 9, completed = 9;
  ASSERT_OK(
      astra_stream_position(runtime, stream, &submitted, &completed, &error));
  EXPECT_EQ(submitted, 0u);
  ASSERT_OK(astra_function_call(runtime, function("passes"), stream, nullptr,
                                nullptr, 0, nullptr, 0, &error));
  ASSERT_OK(astra_stream_wait(runtime, stream, &error));
  ASSERT_OK(
      astra_stream_position(runtime, stream, &submitted, &completed, &error));
  EXPECT_EQ(submitted, 1u);
  EXPECT_EQ(completed, 1u);
  ASSERT_OK(astra_stream_position(runtime, stream, nullptr, nullptr, &error));
  ASSERT_OK(astra_stream_release(runtime, stream, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_stream_wait(runtime, stream, &error));
}

TEST_F(Streams, RefuseUnknownFlags) {
  astra_stream_options_t options;
  ASTRA_INIT(STREAM_OPTIONS, &options);
  options.flags = 4;
  astra_stream_t made{0};
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "4",
               astra_stream_create(runtime, cpu, &options, &made, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "null",
               astra_stream_create(runtime, {0}, nullptr, &made, &error));
}

/// An allocator that counts, and fails from a given allocation on.
struct CountingAllocator {
  int64_t live = 0, allocations = 0, failFrom = INT64_MAX;

  static void *allocate(void *context, size_t bytes, size_t alignment) {
    auto *self = static_cast<CountingAllocator *>(context);
    if (++self->allocations > self->failFrom)
      return nullptr;
    self->live += int64_t(bytes);
    return std::aligned_alloc(alignment, bytes);
  }
  static void release(void *context, void *memory, size_t bytes, size_t) {
    static_cast<CountingAllocator *>(context)->live -= int64_t(bytes);
    std::free(memory);
  }
  astra_allocator_t table() { return {this, allocate, release}; }
};

class Memory : public RuntimeTest {
protected:
  void SetUp() override {}
  CountingAllocator counts; // outlives the runtime
};

TEST_F(Memory, ComesFromTheCallersAllocatorAndGoesBack) {
  astra_allocator_t table = counts.table();
  start(1, &table);
  astra_tensor_t x = floats({1000}, std::vector<float>(1000, 1));
  EXPECT_GE(counts.live, 4000);
  astra_memory_info_t info;
  ASTRA_INIT(MEMORY_INFO, &info);
  ASSERT_OK(astra_runtime_memory(runtime, &info, &error));
  EXPECT_GE(info.live_bytes, 4000u);
  EXPECT_EQ(info.allocations, 1u);
  ASSERT_OK(astra_tensor_release(runtime, x, &error));
  ASSERT_OK(astra_runtime_memory(runtime, &info, &error));
  EXPECT_EQ(info.live_bytes, 0u);
  EXPECT_GE(info.peak_bytes, 4000u);
  floats({1000}, std::vector<float>(1000, 1));
  EXPECT_EQ(counts.allocations, 1); // the block was kept
  astra_runtime_destroy(runtime);
  runtime = nullptr;
  EXPECT_EQ(counts.live, 0);
}

TEST_F(Memory, ThatRunsOutIsAnErrorAndTheRuntimeGoesOn) {
  astra_allocator_t table = counts.table();
  start(1, &table);
  std::vector<float> values(10, 1.0f);
  int64_t extent = 10;
  for (int64_t failFrom = 0; failFrom < 4; ++failFrom) {
    counts.failFrom = counts.allocations + failFrom;
    astra_tensor_t a{0}, b{0}, out{0};
    bool made =
        astra_tensor_from_data(runtime, cpu, ASTRA_F32, 1, &extent,
                               values.data(), 40, &a, nullptr) == ASTRA_OK &&
        astra_tensor_from_data(runtime, cpu, ASTRA_F32, 1, &extent,
                               values.data(), 40, &b, nullptr) == ASTRA_OK;
    if (made) {
      astra_value_t in[] = {astra_value_of_tensor(a), astra_value_of_tensor(b)};
      astra_status_t status = astra_function_call(
          runtime, function("add"), stream, nullptr, in, 2, &out, 1, nullptr);
      EXPECT_TRUE(status == ASTRA_OK || status == ASTRA_ERROR_OUT_OF_MEMORY);
      EXPECT_EQ(status == ASTRA_OK, out.bits != 0);
    }
    counts.failFrom = INT64_MAX;
    for (astra_tensor_t tensor : {a, b, out})
      astra_tensor_release(runtime, tensor, nullptr);
    EXPECT_EQ(read<float>(floats({2}, {5, 6}), 2), (std::vector<float>{5, 6}));
  }
  int64_t huge = int64_t(1) << 45;
  astra_tensor_t x{0};
  counts.failFrom = counts.allocations;
  EXPECT_FAILS(
      ASTRA_ERROR_OUT_OF_MEMORY, "35184372088832",
      astra_tensor_empty(runtime, cpu, ASTRA_U8, 1, &huge, &x, &error));
}

TEST_F(Memory, IsGivenBackByDestroyWithObjectsAlive) {
  astra_allocator_t table = counts.table();
  start(2, &table);
  int released = 0;
  float data[4] = {1, 2, 3, 4};
  int64_t extent = 4;
  astra_borrow_t borrow;
  ASTRA_INIT(BORROW, &borrow);
  borrow.device = cpu;
  borrow.dtype = ASTRA_F32;
  borrow.rank = 1;
  borrow.shape = &extent;
  borrow.buffer = data;
  borrow.buffer_bytes = sizeof data;
  borrow.context = &released;
  borrow.release = [](void *context, void *) {
    ++*static_cast<int *>(context);
  };
  astra_tensor_t x{0};
  ASSERT_OK(astra_tensor_borrow(runtime, &borrow, &x, &error));
  floats({100}, std::vector<float>(100, 1));
  astra_runtime_destroy(runtime);
  runtime = nullptr;
  EXPECT_EQ(released, 1);
  EXPECT_EQ(counts.live, 0);
}

TEST(TwoRuntimes, WorkAtTheSameTime) {
  auto work = [](uint32_t threads) {
    astra_runtime_options_t options;
    ASTRA_INIT(RUNTIME_OPTIONS, &options);
    options.threads = threads;
    astra_runtime_t *runtime = nullptr;
    ASSERT_OK(astra_runtime_create(&options, &runtime, &error));
    astra_device_t cpu{0};
    astra_stream_t stream{0};
    astra_module_t toy{0};
    astra_function_t shift{0};
    ASSERT_OK(astra_device_open(runtime, "cpu", &cpu, &error));
    ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &stream, &error));
    ASSERT_OK(astra_module_link(runtime, &astra_module_toy, &toy, &error));
    ASSERT_OK(astra_module_function(runtime, toy, "shift", &shift, &error));
    std::vector<float> data(400, 1.0f), result(400);
    int64_t shape[] = {100, 4};
    for (int i = 0; i < 300; ++i) {
      astra_tensor_t x{0}, out[2];
      ASSERT_OK(astra_tensor_from_data(runtime, cpu, ASTRA_F32, 2, shape,
                                       data.data(), 1600, &x, &error));
      astra_value_t in[] = {astra_value_of_tensor(x),
                            astra_value_of_f32(float(i))};
      ASSERT_OK(astra_function_call(runtime, shift, stream, nullptr, in, 2, out,
                                    2, &error));
      ASSERT_OK(
          astra_tensor_read(runtime, out[0], result.data(), 1600, &error));
      ASSERT_EQ(result, std::vector<float>(400, 1.0f + float(i)));
      for (astra_tensor_t tensor : {x, out[0], out[1]})
        ASSERT_OK(astra_tensor_release(runtime, tensor, &error));
    }
    astra_runtime_destroy(runtime);
  };
  std::thread first(work, 2), second(work, 3);
  first.join();
  second.join();
}

} // namespace
