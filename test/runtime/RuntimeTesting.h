// What the tests of the C API share: a runtime with a device and a stream, the
// module written by hand, and checks of a status with its sentence.
#ifndef ASTRA_TEST_RUNTIMETESTING_H
#define ASTRA_TEST_RUNTIMETESTING_H

#include "astra/astra.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

extern "C" const struct astra_module_desc astra_module_toy;

namespace astra::test {

/// Takes an error object and gives its sentence.
inline std::string takeMessage(astra_error_t *error) {
  std::string message = astra_error_message(error);
  astra_error_release(error);
  return message;
}

/// The call must succeed. `CALL` uses `error` as its last argument.
#define ASSERT_OK(CALL)                                                        \
  do {                                                                         \
    astra_error_t *error = nullptr;                                            \
    astra_status_t status = CALL;                                              \
    ASSERT_EQ(status, ASTRA_OK) << astra::test::takeMessage(error);            \
    ASSERT_EQ(error, nullptr);                                                 \
  } while (false)

/// The call must fail with a code, and its sentence must contain a text.
#define EXPECT_FAILS(CODE, TEXT, CALL)                                         \
  do {                                                                         \
    astra_error_t *error = nullptr;                                            \
    EXPECT_EQ(CALL, CODE);                                                     \
    EXPECT_EQ(astra_error_status(error), CODE);                                \
    std::string message = astra::test::takeMessage(error);                     \
    EXPECT_NE(message.find(TEXT), std::string::npos) << message;               \
  } while (false)

class RuntimeTest : public ::testing::Test {
protected:
  void SetUp() override { start(2); }
  void TearDown() override { astra_runtime_destroy(runtime); }

  void start(uint32_t threads, const astra_allocator_t *allocator = nullptr,
             uint32_t streamThreads = 0) {
    astra_runtime_options_t options;
    ASTRA_INIT(RUNTIME_OPTIONS, &options);
    options.threads = threads;
    options.stream_threads = streamThreads;
    options.allocator = allocator;
    options.debug = [](void *context, const char *text) {
      static_cast<std::vector<std::string> *>(context)->push_back(text);
    };
    options.debug_context = &debugLines;
    ASSERT_OK(astra_runtime_create(&options, &runtime, &error));
    ASSERT_OK(astra_device_open(runtime, "cpu", &cpu, &error));
    ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &stream, &error));
    ASSERT_OK(astra_module_link(runtime, &astra_module_toy, &toy, &error));
  }

  astra_function_t function(const char *name) {
    astra_function_t found{0};
    EXPECT_EQ(astra_module_function(runtime, toy, name, &found, nullptr),
              ASTRA_OK);
    return found;
  }

  template <class T>
  astra_tensor_t tensor(uint32_t dtype, std::vector<int64_t> shape,
                        std::vector<T> values) {
    astra_tensor_t made{0};
    EXPECT_EQ(astra_tensor_from_data(
                  runtime, cpu, dtype, uint32_t(shape.size()), shape.data(),
                  values.data(), values.size() * sizeof(T), &made, nullptr),
              ASTRA_OK);
    return made;
  }
  astra_tensor_t floats(std::vector<int64_t> shape, std::vector<float> values) {
    return tensor<float>(ASTRA_F32, std::move(shape), std::move(values));
  }

  /// To be written by a mapping, by parts or as a target.
  astra_tensor_t empty(std::vector<int64_t> shape) {
    astra_tensor_t made{0};
    EXPECT_EQ(astra_tensor_empty(runtime, cpu, ASTRA_F32,
                                 uint32_t(shape.size()), shape.data(), &made,
                                 nullptr),
              ASTRA_OK);
    return made;
  }
  /// As many parts as `count` says; room for them even if that is 0.
  astra_status_t split(astra_tensor_t whole, std::vector<int64_t> starts,
                       std::vector<int64_t> extents, size_t count,
                       std::vector<astra_tensor_t> &parts,
                       astra_error_t **error, std::vector<int64_t> steps = {}) {
    parts.assign(std::max<size_t>(count, 1), {0});
    return astra_tensor_partition(
        runtime, whole, count, starts.data(), extents.data(),
        steps.empty() ? nullptr : steps.data(), parts.data(), error);
  }
  /// twice(x) into a given tensor.
  astra_status_t twiceInto(astra_stream_t on, astra_tensor_t x,
                           astra_tensor_t target, astra_tensor_t *out,
                           astra_error_t **error) {
    astra_call_options_t options;
    ASTRA_INIT(CALL_OPTIONS, &options);
    options.targets = &target;
    options.target_count = 1;
    astra_value_t in = astra_value_of_tensor(x);
    return astra_function_call(runtime, function("twice"), on, &options, &in, 1,
                               out, 1, error);
  }
  astra_stream_t makeStream(uint64_t flags = 0) {
    astra_stream_options_t options;
    ASTRA_INIT(STREAM_OPTIONS, &options);
    options.flags = flags;
    astra_stream_t made{0};
    EXPECT_EQ(astra_stream_create(runtime, cpu, &options, &made, nullptr),
              ASTRA_OK);
    return made;
  }
  astra_event_t makeEvent(uint64_t flags = 0) {
    astra_event_options_t options;
    ASTRA_INIT(EVENT_OPTIONS, &options);
    options.flags = flags;
    astra_event_t made{0};
    EXPECT_EQ(astra_event_create(runtime, &options, &made, nullptr), ASTRA_OK);
    return made;
  }

  template <class T> std::vector<T> read(astra_tensor_t from, size_t count) {
    std::vector<T> values(count);
    astra_error_t *error = nullptr;
    EXPECT_EQ(astra_tensor_read(runtime, from, values.data(), count * sizeof(T),
                                &error),
              ASTRA_OK)
        << takeMessage(error);
    return values;
  }
  std::vector<int64_t> shapeOf(astra_tensor_t of) {
    std::vector<int64_t> shape(ASTRA_MAX_RANK);
    uint32_t rank = 0;
    EXPECT_EQ(astra_tensor_shape(runtime, of, ASTRA_MAX_RANK, &rank,
                                 shape.data(), nullptr),
              ASTRA_OK);
    shape.resize(rank);
    return shape;
  }
  uint64_t liveHandles() {
    astra_memory_info_t info;
    ASTRA_INIT(MEMORY_INFO, &info);
    EXPECT_EQ(astra_runtime_memory(runtime, &info, nullptr), ASTRA_OK);
    return info.live_handles;
  }

  astra_runtime_t *runtime = nullptr;
  astra_device_t cpu{0};
  astra_stream_t stream{0};
  astra_module_t toy{0};
  std::vector<std::string> debugLines;
};

} // namespace astra::test
#endif // ASTRA_TEST_RUNTIMETESTING_H
