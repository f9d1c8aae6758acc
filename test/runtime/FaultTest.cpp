// Every allocation of a call fails once: operator new of the runtime, which is
// linked statically so that this program's own is used, and the caller's
// allocator. Each time there must be an error or a result, nothing may leak,
// and the same runtime must work afterwards.
#include "RuntimeTesting.h"
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> untilFailure{INT64_MAX};
std::atomic<int64_t> liveBlocks{0};

bool failsNow() { return untilFailure.fetch_sub(1) <= 0; }

void *allocateOrNull(size_t bytes) {
  void *memory = failsNow() ? nullptr : std::malloc(bytes ? bytes : 1);
  liveBlocks += memory != nullptr;
  return memory;
}

void *allocateOrThrow(size_t bytes) {
  if (void *memory = allocateOrNull(bytes))
    return memory;
  throw std::bad_alloc();
}

void release(void *memory) {
  liveBlocks -= memory != nullptr;
  std::free(memory);
}

} // namespace

void *operator new(size_t bytes) { return allocateOrThrow(bytes); }
void *operator new[](size_t bytes) { return allocateOrThrow(bytes); }
void operator delete(void *memory) noexcept { release(memory); }
void operator delete[](void *memory) noexcept { release(memory); }
void operator delete(void *memory, size_t) noexcept { release(memory); }
void operator delete[](void *memory, size_t) noexcept { release(memory); }

namespace {

using namespace astra::test;

void *allocateAligned(void *, size_t bytes, size_t alignment) {
  return failsNow() ? nullptr : std::aligned_alloc(alignment, bytes);
}
void releaseAligned(void *, void *memory, size_t, size_t) { std::free(memory); }

class Faults : public RuntimeTest, public ::testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    untilFailure = INT64_MAX;
    astra_allocator_t allocator = {nullptr, allocateAligned, releaseAligned};
    start(1, &allocator);
    astra_stream_options_t options;
    ASTRA_INIT(STREAM_OPTIONS, &options);
    options.flags = uint64_t(GetParam());
    ASSERT_OK(astra_stream_create(runtime, cpu, &options, &queue, &error));
    add = function("add");
    x = floats({3}, {1, 2, 3});
  }
  void TearDown() override {
    untilFailure = INT64_MAX;
    RuntimeTest::TearDown();
  }

  /// Makes and releases all that a program does; the first error, or ASTRA_OK.
  astra_status_t everything() {
    astra_tensor_t view{0}, made{0}, out{0}, copy{0}, parts[2] = {{0}, {0}};
    astra_event_t event{0};
    astra_status_t status = steps(view, made, out, copy, parts, event);
    for (astra_tensor_t tensor : {view, made, out, copy, parts[0], parts[1]})
      astra_tensor_release(runtime, tensor, nullptr);
    astra_event_release(runtime, event, nullptr);
    return status;
  }

  astra_status_t steps(astra_tensor_t &view, astra_tensor_t &made,
                       astra_tensor_t &out, astra_tensor_t &copy,
                       astra_tensor_t *parts, astra_event_t &event) {
#define STEP(CALL)                                                             \
  if (astra_status_t status = CALL; status != ASTRA_OK)                        \
  return status
    int64_t starts[] = {1, 0}, extents[] = {1, 1}, shape = 2;
    STEP(astra_tensor_slice(runtime, x, starts, extents, nullptr, &view,
                            nullptr));
    STEP(
        astra_tensor_empty(runtime, cpu, ASTRA_F32, 1, &shape, &made, nullptr));
    STEP(astra_tensor_partition(runtime, made, 2, starts, extents, nullptr,
                                parts, nullptr));
    astra_tensor_t into = parts[0];
    STEP(astra_tensor_copy(runtime, queue, view, into, &copy, nullptr));
    astra_value_t in[] = {astra_value_of_tensor(x), astra_value_of_tensor(x)};
    STEP(astra_function_call(runtime, add, queue, nullptr, in, 2, &out, 1,
                             nullptr));
    STEP(astra_event_create(runtime, nullptr, &event, nullptr));
    STEP(astra_event_record(runtime, event, queue, nullptr));
    STEP(astra_event_wait(runtime, event, nullptr));
    float values[3] = {};
    STEP(astra_tensor_read(runtime, out, values, sizeof values, nullptr));
    EXPECT_EQ(values[2], 6.0f);
#undef STEP
    return ASTRA_OK;
  }

  astra_stream_t queue{0};
  astra_function_t add{0};
  astra_tensor_t x{0};
};
INSTANTIATE_TEST_SUITE_P(Sorts, Faults,
                         ::testing::Values(ASTRA_STREAM_INLINE,
                                           ASTRA_STREAM_MANUAL));

TEST_P(Faults, OfEveryAllocationAreErrorsWithoutALeak) {
  ASSERT_EQ(everything(), ASTRA_OK); // tables grow to their size
  int failures = 0;
  for (int64_t at = 0; at < 10000; ++at) {
    astra_stream_wait(runtime, queue, nullptr); // takes old errors away
    int64_t before = liveBlocks;
    uint64_t handles = liveHandles();
    untilFailure = at;
    astra_status_t status = everything();
    bool reached = untilFailure < 0;
    untilFailure = INT64_MAX;
    astra_stream_wait(runtime, queue, nullptr);
    ASSERT_TRUE(status == ASTRA_OK || status == ASTRA_ERROR_OUT_OF_MEMORY ||
                status == ASTRA_ERROR_POISONED)
        << astra_status_name(status) << " at allocation " << at;
    ASSERT_EQ(liveBlocks, before) << "at allocation " << at;
    ASSERT_EQ(liveHandles(), handles) << "at allocation " << at;
    failures += status != ASTRA_OK;
    ASSERT_EQ(everything(), ASTRA_OK) << "after allocation " << at;
    if (!reached) {
      EXPECT_GT(failures, 10);
      return;
    }
  }
  FAIL() << "there was no end of allocations";
}

} // namespace
