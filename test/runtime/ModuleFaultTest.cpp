// The example programs' modules, loaded by path, with memory that gives out:
// every allocation of loading one and of calling each of its functions fails,
// alone or with all that come after it. Each time there must be an error or a
// result, nothing may leak, and the same runtime must work afterwards. Of a
// function with many allocations as many as ASTRA_FAULT_MOST fail, evenly
// spread; ASTRA_FAULT_SHARDS and _SHARD share the work out among processes.
#include "FailingNew.h"
#include "RuntimeTesting.h"
#include <cstdlib>

using namespace astra::test;

namespace {

struct Example {
  const char *name; // folder_module
  int64_t extent;   // of dimensions that are not numbers
  int64_t most;     // allocations of one function to try
};
constexpr Example examples[] = {
    {"adbench_ba", 3, 1000},   {"adbench_gmm", 3, 1000},
    {"adbench_lstm", 3, 1000}, {"digits_digits", 3, 1000},
    {"gmm_gmm", 3, 40},        {"introspect_line", 3, 1000},
    {"lstm_lstm", 3, 20},      {"newton_newton", 3, 1000},
    {"ode_ode", 3, 20},        {"transformer_transformer", 80, 4}};

int64_t fromEnvironment(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

using Trial = std::tuple<Example, int64_t>; // and how many fail in turn

class ModuleFaults : public ::testing::TestWithParam<Trial> {
protected:
  void SetUp() override {
    astra_runtime_options_t options;
    ASTRA_INIT(RUNTIME_OPTIONS, &options);
    astra_allocator_t allocator = failingAllocator();
    options.allocator = &allocator;
    options.threads = 2;
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
  astra_status_t load();
  astra_status_t call(astra_function_t function);
  astra_status_t makeInputs(astra_function_t function, size_t count,
                            std::vector<astra_tensor_t> &inputs);
  template <class Action> int64_t countOf(Action action);
  template <class Action>
  void failAt(int64_t at, astra_status_t healthy, Action action);
  template <class Action> void failEach(const char *what, Action action);

  astra_runtime_t *runtime = nullptr;
  astra_device_t cpu{0};
  astra_stream_t stream{0};
  std::string path;
  int failures = 0;
};

astra_status_t ModuleFaults::load() {
  astra_module_t module{0};
  astra_status_t status =
      astra_module_load(runtime, path.c_str(), &module, nullptr);
  if (status != ASTRA_OK)
    return status;
  astra_function_t function{0};
  status = astra_module_function_at(runtime, module, 0, &function, nullptr);
  if (status == ASTRA_OK)
    EXPECT_EQ(astra_function_release(runtime, function, nullptr), ASTRA_OK);
  EXPECT_EQ(astra_module_release(runtime, module, nullptr), ASTRA_OK);
  return status;
}

/// Zeros of the shape of each input. For extent 3, (d*d - d) / 2 is 3 too.
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
      if (*end)
        shape[axis] = std::get<Example>(GetParam()).extent;
      bytes *= shape[axis];
    }
    static const char zeros[1 << 20] = {};
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
  static std::vector<astra_tensor_t> in(256), out(256);
  static std::vector<astra_value_t> values(256);
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
  return status;
}

/// The allocations of an action.
template <class Action> int64_t ModuleFaults::countOf(Action action) {
  failFrom(INT64_MAX, 0);
  action();
  int64_t count = allocationsSince();
  healMemory();
  return count;
}

template <class Action>
void ModuleFaults::failAt(int64_t at, astra_status_t healthy, Action action) {
  int64_t before = liveBlocks();
  uint64_t handles = liveHandles();
  failFrom(at, std::get<int64_t>(GetParam()));
  astra_status_t status = action();
  healMemory();
  EXPECT_TRUE(status == healthy || status == ASTRA_ERROR_OUT_OF_MEMORY)
      << astra_status_name(status) << " at allocation " << at;
  EXPECT_EQ(liveBlocks(), before) << "at allocation " << at;
  EXPECT_EQ(liveHandles(), handles) << "at allocation " << at;
  failures += status != healthy;
  EXPECT_EQ(action(), healthy) << "after allocation " << at;
}

template <class Action>
void ModuleFaults::failEach(const char *what, Action action) {
  SCOPED_TRACE(what);
  action(); // tables grow to their size
  astra_status_t healthy = action();
  int64_t count = countOf(action), done = 0;
  int64_t most =
      std::min(count, fromEnvironment("ASTRA_FAULT_MOST",
                                      std::get<Example>(GetParam()).most));
  int64_t shards = fromEnvironment("ASTRA_FAULT_SHARDS", 1);
  for (int64_t i = fromEnvironment("ASTRA_FAULT_SHARD", 0);
       i < most && !HasFailure(); i += shards, ++done)
    failAt(int64_t(__int128(count) * i / most), healthy, action);
  std::printf("%s: %s, %lld of %lld allocations failed\n", what,
              astra_status_name(healthy), static_cast<long long>(done),
              static_cast<long long>(count));
}

TEST_P(ModuleFaults, OfEveryAllocationAreErrorsWithoutALeak) {
  path =
      MODULES_FOLDER + std::string(std::get<Example>(GetParam()).name) + ".so";
  failEach("load", [this] { return load(); });
  astra_module_t module{0};
  ASSERT_OK(astra_module_load(runtime, path.c_str(), &module, &error));
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  ASSERT_OK(astra_module_info(runtime, module, &info, &error));
  for (size_t i = 0; i < info.function_count; ++i) {
    astra_function_t function{0};
    ASSERT_OK(astra_module_function_at(runtime, module, i, &function, &error));
    astra_function_info_t about;
    ASTRA_INIT(FUNCTION_INFO, &about);
    ASSERT_OK(astra_function_info(runtime, function, &about, &error));
    failEach(about.name, [&] { return call(function); });
    ASSERT_OK(astra_function_release(runtime, function, &error));
  }
  ASSERT_OK(astra_module_release(runtime, module, &error));
  EXPECT_GT(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(Examples, ModuleFaults,
                         ::testing::Combine(::testing::ValuesIn(examples),
                                            ::testing::Values(1, INT64_MAX)),
                         [](const ::testing::TestParamInfo<Trial> &info) {
                           return std::get<Example>(info.param).name +
                                  std::string(std::get<int64_t>(info.param) == 1
                                                  ? "_alone"
                                                  : "_all");
                         });

} // namespace
