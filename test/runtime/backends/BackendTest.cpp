// Loading back ends by path: what is no whole back end of a known version is
// refused with one sentence, and leaves the runtime's devices as they were.
#include "BackendTesting.h"

using namespace astra::test;

namespace {

class Backends : public RuntimeTest {
protected:
  astra_status_t load(const char *path, astra_error_t **error) {
    return astra_backend_load(runtime, path, error);
  }
  size_t deviceCount() {
    size_t count = 0;
    EXPECT_EQ(astra_device_count(runtime, &count, nullptr), ASTRA_OK);
    return count;
  }
};

TEST_F(Backends, BringDevices) {
  size_t before = deviceCount();
  ASSERT_OK(load(SIMULATED_BACKEND, &error));
  ASSERT_EQ(deviceCount(), before + 1);
  astra_device_info_t info;
  ASTRA_INIT(DEVICE_INFO, &info);
  ASSERT_OK(astra_device_info(runtime, before, &info, &error));
  EXPECT_STREQ(info.name, "simulated");
  EXPECT_EQ(info.capabilities, ASTRA_CAPABILITY_CALLS);
}

TEST_F(Backends, OfOtherVersionsAreRefused) {
  size_t before = deviceCount();
  EXPECT_FAILS(ASTRA_ERROR_UNSUPPORTED_VERSION,
               "\"simulated\" is of version 99 of the interface of back ends, "
               "but this library knows 1",
               load(FUTURE_BACKEND, &error));
  EXPECT_EQ(deviceCount(), before);
}

TEST_F(Backends, ThatAreNotWholeAreRefused) {
  size_t before = deviceCount();
  EXPECT_FAILS(ASTRA_ERROR_INVALID_STRUCT, "not all functions for it",
               load(PARTIAL_BACKEND, &error));
  EXPECT_FAILS(ASTRA_ERROR_MISSING_DEVICE, "no card is plugged in",
               load(FAILING_BACKEND, &error));
  EXPECT_FAILS(ASTRA_ERROR_CORRUPT_FILE, "it defines no astra_backend_entry_1",
               load(TOY_MODULE, &error));
  EXPECT_FAILS(ASTRA_ERROR_IO, "cannot be loaded",
               load("no-such-file.so", &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "\"path\"", load(nullptr, &error));
  EXPECT_EQ(deviceCount(), before);
}

TEST_F(Backends, HaveNamesOfTheirOwn) {
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT,
               "there is a device \"null\" already",
               load(NULL_BACKEND, &error));
  ASSERT_OK(load(SIMULATED_BACKEND, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "\"simulated\" already",
               load(SIMULATED_BACKEND, &error));
}

TEST_F(Backends, ExtendThemselvesByNameAndVersion) {
  struct Counter {
    astra_extension_t extension;
    uint64_t (*calls)(void);
  };
  ASSERT_OK(load(SIMULATED_BACKEND, &error));
  astra_device_t device{0};
  ASSERT_OK(astra_device_open(runtime, "simulated", &device, &error));
  const astra_extension_t *table = nullptr;
  ASSERT_OK(astra_device_extension(runtime, device, "simulated.counter", 2,
                                   &table, &error));
  ASSERT_GE(table->chain.struct_size, sizeof(Counter));
  uint64_t calls = reinterpret_cast<const Counter *>(table)->calls();
  EXPECT_LT(calls, 1000u);
  EXPECT_FAILS(ASTRA_ERROR_NOT_FOUND, "\"simulated.counter\" of version 1",
               astra_device_extension(runtime, device, "simulated.counter", 1,
                                      &table, &error));
  EXPECT_FAILS(ASTRA_ERROR_INTERNAL, "another extension",
               astra_device_extension(runtime, device, "simulated.liar", 1,
                                      &table, &error));
}

TEST_F(Backends, ServeTwoRuntimes) {
  astra_runtime_t *second = nullptr;
  ASSERT_OK(astra_runtime_create(nullptr, &second, &error));
  ASSERT_OK(load(SIMULATED_BACKEND, &error));
  ASSERT_OK(astra_backend_load(second, SIMULATED_BACKEND, &error));
  astra_device_t here{0}, there{0};
  ASSERT_OK(astra_device_open(runtime, "simulated", &here, &error));
  ASSERT_OK(astra_device_open(second, "simulated", &there, &error));
  EXPECT_NE(accessTo(runtime, here)->state, accessTo(second, there)->state);
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "device",
               astra_device_release(second, here, &error));
  astra_runtime_destroy(second);
  std::swap(cpu, here);
  EXPECT_EQ(read<float>(floats({2}, {1, 2}), 2), (std::vector<float>{1, 2}));
}

// The list of devices moves while a stream's thread runs calls on the host.
TEST_F(Backends, AreLoadedWhileCallsRun) {
  astra_runtime_destroy(runtime);
  start(2, nullptr, 1);
  ASSERT_OK(load(SIMULATED_BACKEND, &error));
  ASSERT_OK(astra_device_open(runtime, "simulated", &cpu, &error));
  astra_stream_t queue{0};
  ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &queue, &error));
  astra_function_t add = function("add");
  astra_tensor_t sum = floats({2}, {1, 2}), one = floats({2}, {1, 1});
  for (int i = 0; i < 100; ++i) {
    if (i == 50)
      ASSERT_OK(load(SECOND_BACKEND, &error));
    astra_value_t in[] = {astra_value_of_tensor(sum),
                          astra_value_of_tensor(one)};
    astra_tensor_t next{0};
    ASSERT_OK(astra_function_call(runtime, add, queue, nullptr, in, 2, &next, 1,
                                  &error));
    ASSERT_OK(astra_tensor_release(runtime, sum, &error));
    sum = next;
  }
  EXPECT_EQ(read<float>(sum, 2), (std::vector<float>{101, 102}));
}

} // namespace
