// What every back end must do, whatever is behind it: the table itself, and the
// C API on its devices. Runs on the library's own back ends, on the plug-in
// that it is built with, and on those of --backend=PATH (or ASTRA_BACKEND).
#include "BackendTesting.h"
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <unistd.h>

using namespace astra::test;

namespace {

std::vector<std::string> &pluginPaths() {
  static std::vector<std::string> paths = {SIMULATED_BACKEND};
  return paths;
}

/// The devices that have all of `needed` and nothing of `lacking`.
std::vector<Candidate> candidates(uint64_t needed, uint64_t lacking) {
  std::vector<std::string> paths = pluginPaths();
  paths.insert(paths.begin(), ""); // those that are built in
  std::vector<Candidate> chosen;
  for (const std::string &path : paths) {
    for (const Candidate &each : devicesOf(path)) {
      if ((each.capabilities & (needed | lacking)) == needed)
        chosen.push_back(each);
    }
  }
  return chosen;
}

/// `cpu` of the base is the device under test, and so is its stream's.
class Conformance : public RuntimeTest,
                    public ::testing::WithParamInterface<Candidate> {
protected:
  void SetUp() override {
    start(2, nullptr, 1);
    if (!GetParam().path.empty())
      ASSERT_OK(astra_backend_load(runtime, GetParam().path.c_str(), &error));
    ASSERT_OK(
        astra_device_open(runtime, GetParam().device.c_str(), &cpu, &error));
    ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &stream, &error));
    access = accessTo(runtime, cpu);
    ASSERT_NE(access, nullptr);
    for (size_t i = 0;; ++i) {
      ASTRA_INIT(DEVICE_INFO, &info);
      ASSERT_OK(astra_device_info(runtime, i, &info, &error));
      if (GetParam().device == info.name)
        break;
    }
  }
  bool hasHostMemory() const {
    return info.capabilities & ASTRA_CAPABILITY_HOST_MEMORY;
  }
  bool hasCalls() const { return info.capabilities & ASTRA_CAPABILITY_CALLS; }
  uint64_t liveBytes() {
    astra_memory_info_t memory;
    ASTRA_INIT(MEMORY_INFO, &memory);
    EXPECT_EQ(astra_device_memory(runtime, cpu, 0, &memory, nullptr), ASTRA_OK);
    return memory.live_bytes;
  }
  astra_tensor_t counting(std::vector<int64_t> shape) {
    size_t count = 1;
    for (int64_t extent : shape)
      count *= size_t(extent);
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return floats(std::move(shape), values);
  }
  void release(astra_tensor_t tensor) {
    EXPECT_EQ(astra_tensor_release(runtime, tensor, nullptr), ASTRA_OK);
  }

  const astra_extension_backend_t *access = nullptr;
  astra_device_info_t info;
};

/// The table itself, of a device with memory of its own.
class ConformanceOfMemory : public Conformance {
protected:
  astra_device_pointer_t allocate(uint64_t bytes) {
    astra_device_pointer_t memory{0, 0};
    EXPECT_EQ(access->backend->allocate(access->state, access->device, bytes,
                                        &memory, message),
              ASTRA_OK)
        << message;
    return memory;
  }
  astra_status_t release(astra_device_pointer_t memory) {
    message[0] = 0;
    return access->backend->release(access->state, access->device, memory,
                                    message);
  }
  astra_status_t upload(astra_device_pointer_t to, uint64_t offset,
                        const std::string &bytes) {
    message[0] = 0;
    return access->backend->upload(access->state, access->device, to, offset,
                                   bytes.data(), bytes.size(), message);
  }
  astra_status_t download(astra_device_pointer_t from, uint64_t offset,
                          std::string &bytes) {
    message[0] = 0;
    return access->backend->download(access->state, access->device, from,
                                     offset, bytes.data(), bytes.size(),
                                     message);
  }
  std::string read(astra_device_pointer_t from, size_t bytes) {
    std::string text(bytes, '?');
    EXPECT_EQ(download(from, 0, text), ASTRA_OK) << message;
    return text;
  }

  char message[ASTRA_BACKEND_MESSAGE] = "";
};

TEST_P(Conformance, DescribesItsDevices) {
  const astra_backend_t &table = *access->backend;
  EXPECT_EQ(table.chain.type, uint32_t(ASTRA_STRUCT_BACKEND));
  EXPECT_EQ(table.backend_abi, ASTRA_BACKEND_ABI);
  EXPECT_GE(table.chain.struct_size, sizeof(astra_backend_t));
  EXPECT_STRNE(table.name, "");
  EXPECT_STRNE(info.description, "");
  EXPECT_EQ(info.memory_nodes > 0, true);
  EXPECT_EQ(hasHostMemory() || table.allocate, true);
  EXPECT_EQ(hasCalls() ? table.run != nullptr : true, true);
  astra_backend_device_t told = {};
  told.chain.type = ASTRA_STRUCT_BACKEND_DEVICE;
  told.chain.struct_size = sizeof told;
  char message[ASTRA_BACKEND_MESSAGE] = "";
  ASSERT_EQ(table.describe(access->state, access->device, &told, message),
            ASTRA_OK);
  EXPECT_STREQ(told.name, info.name);
  EXPECT_EQ(told.capabilities, info.capabilities);
}

TEST_P(Conformance, KnowsItsExtensionsByNameAndVersion) {
  const astra_extension_t *table = nullptr;
  EXPECT_FAILS(ASTRA_ERROR_NOT_FOUND,
               "no extension \"astra.backend\" of "
               "version 99",
               astra_device_extension(runtime, cpu, ASTRA_EXTENSION_BACKEND, 99,
                                      &table, &error));
  EXPECT_FAILS(ASTRA_ERROR_NOT_FOUND, "\"nobody.has.this\"",
               astra_device_extension(runtime, cpu, "nobody.has.this", 1,
                                      &table, &error));
  EXPECT_EQ(table, nullptr);
}

//===-- Memory ------------------------------------------------------------===//

TEST_P(ConformanceOfMemory, KeepsWhatIsPutIntoIt) {
  astra_device_pointer_t first = allocate(1000), second = allocate(1000);
  EXPECT_NE(first.generation, 0u);
  EXPECT_NE(first.address, second.address);
  EXPECT_EQ(first.address % 256, 0u);
  EXPECT_EQ(second.address % 256, 0u);
  EXPECT_EQ(upload(first, 0, std::string(1000, 'a')), ASTRA_OK) << message;
  EXPECT_EQ(upload(second, 0, std::string(1000, 'b')), ASTRA_OK) << message;
  EXPECT_EQ(upload(first, 990, "0123456789"), ASTRA_OK) << message;
  EXPECT_EQ(upload(first, 3, "xyz"), ASTRA_OK) << message;
  EXPECT_EQ(read(first, 1000), "aaaxyz" + std::string(984, 'a') + "0123456789");
  EXPECT_EQ(read(second, 1000), std::string(1000, 'b'));
  std::string part(4, '?');
  EXPECT_EQ(download(first, 4, part), ASTRA_OK) << message;
  EXPECT_EQ(part, "yzaa");
  EXPECT_EQ(release(first), ASTRA_OK) << message;
  EXPECT_EQ(release(second), ASTRA_OK) << message;
}

TEST_P(ConformanceOfMemory, CopiesWithinTheDevice) {
  astra_device_pointer_t first = allocate(16), second = allocate(16);
  ASSERT_EQ(upload(first, 0, "0123456789abcdef"), ASTRA_OK);
  ASSERT_EQ(upload(second, 0, std::string(16, '.')), ASTRA_OK);
  EXPECT_EQ(access->backend->copy(access->state, access->device, first, 4,
                                  second, 1, 5, message),
            ASTRA_OK)
      << message;
  EXPECT_EQ(read(second, 16), ".45678..........");
  EXPECT_EQ(release(first), ASTRA_OK);
  EXPECT_EQ(release(second), ASTRA_OK);
}

TEST_P(ConformanceOfMemory, RefusesStalePointers) {
  astra_device_pointer_t stale = allocate(64);
  EXPECT_EQ(release(stale), ASTRA_OK);
  astra_device_pointer_t live = allocate(64); // perhaps in the same place
  std::string text(4, '?');
  EXPECT_EQ(upload(stale, 0, "over"), ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_STRNE(message, "");
  EXPECT_EQ(download(stale, 0, text), ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_STRNE(message, "");
  EXPECT_EQ(access->backend->copy(access->state, access->device, stale, 0, live,
                                  0, 4, message),
            ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(access->backend->copy(access->state, access->device, live, 0, stale,
                                  0, 4, message),
            ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(release(stale), ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_STRNE(message, "");
  EXPECT_EQ(release({0, 0}), ASTRA_ERROR_INVALID_HANDLE);
  astra_device_pointer_t future = live;
  ++future.generation;
  EXPECT_EQ(upload(future, 0, "over"), ASTRA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(release(live), ASTRA_OK) << message;
}

TEST_P(ConformanceOfMemory, ChecksRanges) {
  astra_device_pointer_t memory = allocate(16);
  std::string text(8, '?');
  EXPECT_EQ(upload(memory, 9, text), ASTRA_ERROR_OUT_OF_RANGE);
  EXPECT_STRNE(message, "");
  EXPECT_EQ(download(memory, 17, text), ASTRA_ERROR_OUT_OF_RANGE);
  EXPECT_EQ(download(memory, UINT64_MAX - 3, text), ASTRA_ERROR_OUT_OF_RANGE);
  EXPECT_EQ(access->backend->copy(access->state, access->device, memory, 0,
                                  memory, 12, 8, message),
            ASTRA_ERROR_OUT_OF_RANGE);
  EXPECT_EQ(upload(memory, 8, text), ASTRA_OK) << message;
  EXPECT_EQ(release(memory), ASTRA_OK);
}

TEST_P(ConformanceOfMemory, IsUsableAfterAFailedAllocation) {
  astra_device_pointer_t memory{0, 0};
  EXPECT_EQ(access->backend->allocate(access->state, access->device,
                                      uint64_t(1) << 60, &memory, message),
            ASTRA_ERROR_OUT_OF_MEMORY);
  EXPECT_STRNE(message, "");
  message[0] = 0;
  memory = allocate(16);
  EXPECT_EQ(release(memory), ASTRA_OK);
}

TEST_P(ConformanceOfMemory, IsUsedByManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (char name = 'a'; name < 'e'; ++name) {
    threads.emplace_back([&, name] {
      char text[ASTRA_BACKEND_MESSAGE] = "";
      for (size_t i = 1; i < 200; ++i) {
        astra_device_pointer_t memory{0, 0};
        std::string in(i, name), out(i, '?');
        const astra_backend_t &table = *access->backend;
        void *state = access->state;
        uint32_t device = access->device;
        wrong += table.allocate(state, device, i, &memory, text) != 0;
        wrong +=
            table.upload(state, device, memory, 0, in.data(), i, text) != 0;
        wrong +=
            table.download(state, device, memory, 0, out.data(), i, text) != 0;
        wrong += in != out;
        wrong += table.release(state, device, memory, text) != 0;
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

//===-- Tensors -----------------------------------------------------------===//

TEST_P(Conformance, HoldsEveryDtype) {
  for (uint32_t dtype : {ASTRA_BOOL, ASTRA_I8, ASTRA_I16, ASTRA_I32, ASTRA_I64,
                         ASTRA_U8, ASTRA_U16, ASTRA_U32, ASTRA_U64, ASTRA_F16,
                         ASTRA_BF16, ASTRA_F32, ASTRA_F64}) {
    size_t bytes = 6 * ((dtype >> 8 & 0xffff) / 8);
    std::vector<uint8_t> values(bytes);
    for (size_t i = 0; i < bytes; ++i)
      values[i] = uint8_t(dtype == ASTRA_BOOL ? i % 2 : 7 * i + 3);
    astra_tensor_t x = tensor<uint8_t>(dtype, {2, 3}, values);
    EXPECT_EQ(read<uint8_t>(x, bytes), values) << std::hex << dtype;
    release(x);
  }
}

TEST_P(Conformance, HoldsScalarsAndNothing) {
  EXPECT_EQ(read<float>(floats({}, {3}), 1), (std::vector<float>{3}));
  EXPECT_EQ(read<float>(floats({2, 0}, {}), 0), (std::vector<float>{}));
}

TEST_P(Conformance, SeesViews) {
  astra_tensor_t x = counting({3, 4}), view{0}, turned{0}, dense{0};
  int64_t starts[] = {2, 1}, extents[] = {2, 2}, steps[] = {-2, 2};
  ASSERT_OK(
      astra_tensor_slice(runtime, x, starts, extents, steps, &view, &error));
  EXPECT_EQ(read<float>(view, 4), (std::vector<float>{9, 11, 1, 3}));
  uint32_t swap[] = {1, 0};
  ASSERT_OK(astra_tensor_transpose(runtime, view, swap, &turned, &error));
  EXPECT_EQ(read<float>(turned, 4), (std::vector<float>{9, 1, 11, 3}));
  ASSERT_OK(astra_tensor_dense(runtime, turned, &dense, &error));
  EXPECT_EQ(read<float>(dense, 4), (std::vector<float>{9, 1, 11, 3}));
}

TEST_P(Conformance, MapsForReadingAndWriting) {
  astra_tensor_t x{0};
  int64_t shape[] = {4};
  ASSERT_OK(astra_tensor_empty(runtime, cpu, ASTRA_F32, 1, shape, &x, &error));
  astra_mapping_t mapping{0};
  void *data = nullptr;
  size_t bytes = 0;
  ASSERT_OK(astra_tensor_map(runtime, x, {0}, ASTRA_MAP_WRITE, 0, ASTRA_WHOLE,
                             &mapping, &data, &bytes, &error));
  ASSERT_EQ(bytes, 16u);
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(data)[i] = float(i);
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
  ASSERT_OK(astra_tensor_map(runtime, x, {0}, ASTRA_MAP_WRITE, 2, 1, &mapping,
                             &data, &bytes, &error));
  *static_cast<float *>(data) = 20;
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
  ASSERT_OK(astra_tensor_map(runtime, x, {0}, ASTRA_MAP_READ, 1, 3, &mapping,
                             &data, &bytes, &error));
  EXPECT_EQ(static_cast<float *>(data)[0], 1);
  EXPECT_EQ(static_cast<float *>(data)[1], 20);
  EXPECT_EQ(static_cast<float *>(data)[2], 3);
  ASSERT_OK(astra_tensor_unmap(runtime, mapping, &error));
}

TEST_P(Conformance, CopiesIntoParts) {
  astra_tensor_t x{0}, parts[2], copies[2];
  int64_t shape[] = {2, 4};
  ASSERT_OK(astra_tensor_empty(runtime, cpu, ASTRA_F32, 2, shape, &x, &error));
  // The even and the odd columns: no part lies in one piece.
  int64_t starts[] = {0, 0, 0, 1}, extents[] = {2, 2, 2, 2},
          steps[] = {1, 2, 1, 2};
  ASSERT_OK(astra_tensor_partition(runtime, x, 2, starts, extents, steps, parts,
                                   &error));
  for (int i = 0; i < 2; ++i)
    ASSERT_OK(astra_tensor_copy(runtime, stream, counting({2, 2}), parts[i],
                                &copies[i], &error));
  EXPECT_EQ(read<float>(x, 8), (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST_P(Conformance, GoesThroughFiles) {
  std::string path = "conformance-" + std::to_string(getpid());
  astra_tensor_t x = counting({2, 3}), loaded{0};
  ASSERT_OK(astra_npy_save(runtime, path.c_str(), x, &error));
  ASSERT_OK(astra_npy_load(runtime, path.c_str(), cpu, &loaded, &error));
  EXPECT_EQ(read<float>(loaded, 6), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const char *names[] = {"x"};
  astra_archive_t archive{0};
  ASSERT_OK(
      astra_safetensors_save(runtime, path.c_str(), names, &x, 1, &error));
  ASSERT_OK(astra_safetensors_load(runtime, path.c_str(), &archive, &error));
  ASSERT_OK(astra_archive_tensor(runtime, archive, "x", cpu, &loaded, &error));
  EXPECT_EQ(read<float>(loaded, 6), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  std::remove(path.c_str());
}

TEST_P(Conformance, TakesTheHostsMemoryOnlyIfItIsItsOwn) {
  float values[] = {1, 2};
  int64_t shape[] = {2};
  astra_borrow_t borrow;
  ASTRA_INIT(BORROW, &borrow);
  borrow.device = cpu;
  borrow.dtype = ASTRA_F32;
  borrow.rank = 1;
  borrow.shape = shape;
  borrow.buffer = values;
  borrow.buffer_bytes = sizeof values;
  astra_tensor_t x{0};
  DLManagedTensorVersioned *managed = nullptr;
  if (hasHostMemory()) {
    ASSERT_OK(astra_tensor_borrow(runtime, &borrow, &x, &error));
    EXPECT_EQ(read<float>(x, 2), (std::vector<float>{1, 2}));
    return;
  }
  EXPECT_FAILS(ASTRA_ERROR_DEVICE_MISMATCH, GetParam().device,
               astra_tensor_borrow(runtime, &borrow, &x, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_DEVICE_MISMATCH, GetParam().device,
      astra_tensor_to_dlpack(runtime, counting({2}), &managed, &error));
}

TEST_P(Conformance, GivesMemoryBack) {
  uint64_t before = liveBytes();
  astra_tensor_t x = counting({100});
  EXPECT_GE(liveBytes(), before + 400);
  release(x);
  EXPECT_EQ(liveBytes(), before);
  astra_memory_info_t memory;
  ASTRA_INIT(MEMORY_INFO, &memory);
  x = counting({100}); // from what was kept
  ASSERT_OK(astra_device_memory(runtime, cpu, 0, &memory, &error));
  EXPECT_GE(memory.reused, 1u);
  release(x);
  ASSERT_OK(astra_runtime_trim(runtime, 0, &error));
  ASSERT_OK(astra_device_memory(runtime, cpu, 0, &memory, &error));
  EXPECT_EQ(memory.kept_bytes, 0u);
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "node 77",
               astra_device_memory(runtime, cpu, 77, &memory, &error));
}

TEST_P(Conformance, RefusesWhatDoesNotFit) {
  astra_tensor_t x{0};
  int64_t shape[] = {int64_t(1) << 58};
  EXPECT_FAILS(
      ASTRA_ERROR_OUT_OF_MEMORY, "memory",
      astra_tensor_empty(runtime, cpu, ASTRA_F32, 1, shape, &x, &error));
  EXPECT_EQ(read<float>(counting({2}), 2), (std::vector<float>{0, 1}));
}

//===-- Calls -------------------------------------------------------------===//

class ConformanceOfCalls : public Conformance {
protected:
  astra_status_t call(const char *name, std::vector<astra_value_t> in,
                      std::vector<astra_tensor_t> &out, astra_error_t **error) {
    return astra_function_call(runtime, function(name), stream, nullptr,
                               in.data(), in.size(), out.data(), out.size(),
                               error);
  }
};

TEST_P(ConformanceOfCalls, GiveResults) {
  std::vector<astra_tensor_t> out(2);
  ASSERT_OK(
      call("shift",
           {astra_value_of_tensor(counting({2, 4})), astra_value_of_f32(10)},
           out, &error));
  EXPECT_EQ(read<float>(out[0], 8),
            (std::vector<float>{10, 11, 12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(read<int64_t>(out[1], 1), (std::vector<int64_t>{2}));
}

TEST_P(ConformanceOfCalls, TakeViewsAndResultsOfCalls) {
  astra_tensor_t x = counting({4, 3}), turned{0};
  uint32_t swap[] = {1, 0};
  ASSERT_OK(astra_tensor_transpose(runtime, x, swap, &turned, &error));
  std::vector<astra_tensor_t> out(2), again(2);
  ASSERT_OK(call("shift",
                 {astra_value_of_tensor(turned), astra_value_of_f32(1)}, out,
                 &error));
  ASSERT_OK(call("shift",
                 {astra_value_of_tensor(out[0]), astra_value_of_f32(1)}, again,
                 &error));
  EXPECT_EQ(read<float>(again[0], 12),
            (std::vector<float>{2, 5, 8, 11, 3, 6, 9, 12, 4, 7, 10, 13}));
}

TEST_P(ConformanceOfCalls, ConsumeDonatedInputsAndTargets) {
  astra_value_t x = astra_value_of_tensor(counting({3}));
  x.flags = ASTRA_VALUE_DONATE;
  std::vector<astra_tensor_t> out(1);
  ASSERT_OK(call("twice", {x}, out, &error));
  EXPECT_EQ(read<float>(out[0], 3), (std::vector<float>{0, 2, 4}));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "released",
               astra_tensor_wait(runtime, x.as.tensor, &error));
  astra_tensor_t target{0};
  int64_t shape[] = {3};
  ASSERT_OK(
      astra_tensor_empty(runtime, cpu, ASTRA_F32, 1, shape, &target, &error));
  astra_call_options_t options;
  ASTRA_INIT(CALL_OPTIONS, &options);
  options.targets = &target;
  options.target_count = 1;
  astra_value_t in = astra_value_of_tensor(counting({3}));
  ASSERT_OK(astra_function_call(runtime, function("twice"), stream, &options,
                                &in, 1, out.data(), 1, &error));
  EXPECT_EQ(read<float>(out[0], 3), (std::vector<float>{0, 2, 4}));
}

TEST_P(ConformanceOfCalls, TellWhereTheyFailed) {
  std::vector<astra_tensor_t> out(1);
  ASSERT_OK(
      call("divide",
           {astra_value_of_tensor(tensor<int32_t>(ASTRA_I32, {2}, {1, 0}))},
           out, &error));
  astra_error_t *error = nullptr;
  EXPECT_EQ(astra_tensor_wait(runtime, out[0], &error),
            ASTRA_ERROR_DIVISION_BY_ZERO);
  EXPECT_STREQ(astra_error_location(error), "toy.astra:12:3");
  EXPECT_NE(takeMessage(error).find("by 0"), std::string::npos);
}

class ConformanceWithoutCalls : public ConformanceOfCalls {};

TEST_P(ConformanceWithoutCalls, RefusesThemAtOnce) {
  std::vector<astra_tensor_t> out(1);
  EXPECT_FAILS(
      ASTRA_ERROR_UNIMPLEMENTED, "runs no functions",
      call("twice", {astra_value_of_tensor(counting({3}))}, out, &error));
}

TEST_P(ConformanceOfCalls, RefuseTensorsOfOtherDevices) {
  astra_device_t other{0};
  const char *name = GetParam().device == "cpu" ? "null" : "cpu";
  ASSERT_OK(astra_device_open(runtime, name, &other, &error));
  std::swap(cpu, other);
  astra_tensor_t there = counting({3});
  std::swap(cpu, other);
  std::vector<astra_tensor_t> out(1);
  EXPECT_FAILS(ASTRA_ERROR_DEVICE_MISMATCH, name,
               call("twice", {astra_value_of_tensor(there)}, out, &error));
}

std::string nameOf(const ::testing::TestParamInfo<Candidate> &info) {
  std::string name;
  if (!info.param.path.empty())
    name = "plugin_" + std::to_string(info.index) + "_";
  for (char c : info.param.device)
    name += isalnum(c) ? c : '_';
  return name;
}

constexpr uint64_t calls = ASTRA_CAPABILITY_CALLS;
constexpr uint64_t hostMemory = ASTRA_CAPABILITY_HOST_MEMORY;
INSTANTIATE_TEST_SUITE_P(Of, Conformance, ::testing::ValuesIn(candidates(0, 0)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Of, ConformanceOfMemory,
                         ::testing::ValuesIn(candidates(0, hostMemory)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Of, ConformanceOfCalls,
                         ::testing::ValuesIn(candidates(calls, 0)), nameOf);
INSTANTIATE_TEST_SUITE_P(Of, ConformanceWithoutCalls,
                         ::testing::ValuesIn(candidates(0, calls)), nameOf);

} // namespace

int main(int argc, char **argv) {
  const std::string option = "--backend=";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]).rfind(option, 0) == 0)
      pluginPaths().push_back(argv[i] + option.size());
  }
  if (const char *path = std::getenv("ASTRA_BACKEND"))
    pluginPaths().push_back(path);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
