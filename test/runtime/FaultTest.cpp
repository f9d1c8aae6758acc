// Every allocation of a call fails, alone or with all that come after it:
// operator new of the runtime, which is linked statically so that this
// program's own is used, and the caller's allocator. Each time there must be an
// error or a result, nothing may leak, and the same runtime must work
// afterwards.
#include "FailingNew.h"
#include "RuntimeTesting.h"
#include <cstring>

using namespace astra::test;

namespace {

class Faults : public RuntimeTest, public ::testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    astra_allocator_t allocator = failingAllocator();
    start(1, &allocator);
    astra_stream_options_t options;
    ASTRA_INIT(STREAM_OPTIONS, &options);
    options.flags = uint64_t(GetParam());
    ASSERT_OK(astra_stream_create(runtime, cpu, &options, &queue, &error));
    add = function("add");
    x = floats({3}, {1, 2, 3});
  }
  void TearDown() override {
    healMemory();
    RuntimeTest::TearDown();
  }

  /// Makes and releases all that a program does; the first error, or ASTRA_OK.
  astra_status_t everything() {
    astra_tensor_t view{0}, made{0}, out{0}, copy{0}, parts[2] = {{0}, {0}};
    astra_event_t event{0};
    astra_status_t status = steps(view, made, out, copy, parts, event);
    for (astra_tensor_t tensor : {view, out, copy, parts[0], parts[1], filled})
      astra_tensor_release(runtime, tensor, nullptr);
    // A part whose call came to nothing is waited for by nobody.
    astra_tensor_wait(runtime, made, nullptr);
    astra_tensor_release(runtime, made, nullptr);
    filled = {0};
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
    astra_call_options_t options;
    ASTRA_INIT(CALL_OPTIONS, &options);
    options.targets = &parts[1];
    options.target_count = 1;
    astra_value_t seen[] = {astra_value_of_tensor(view),
                            astra_value_of_tensor(view)};
    STEP(astra_function_call(runtime, add, queue, &options, seen, 2, &filled, 1,
                             nullptr));
    astra_value_t in[] = {astra_value_of_tensor(x), astra_value_of_tensor(x)};
    STEP(astra_function_call(runtime, add, queue, nullptr, in, 2, &out, 1,
                             nullptr));
    astra_kernel_info_t kernel;
    ASTRA_INIT(KERNEL_INFO, &kernel);
    STEP(astra_module_kernel_info(runtime, toy, 0, &kernel, nullptr));
    STEP(astra_event_create(runtime, nullptr, &event, nullptr));
    STEP(astra_event_record(runtime, event, queue, nullptr));
    STEP(astra_event_wait(runtime, event, nullptr));
    float values[3] = {};
    STEP(astra_tensor_read(runtime, out, values, sizeof values, nullptr));
    EXPECT_EQ(values[2], 6.0f);
#undef STEP
    return ASTRA_OK;
  }

  /// Calls a function that takes a workspace and scratch while it runs.
  astra_status_t grow() {
    astra_tensor_t out{0};
    astra_value_t in[] = {astra_value_of_tensor(a), astra_value_of_tensor(b)};
    astra_status_t status = astra_function_call(runtime, grows, queue, nullptr,
                                                in, 2, &out, 1, nullptr);
    float values[2] = {};
    if (status == ASTRA_OK)
      status = astra_tensor_read(runtime, out, values, sizeof values, nullptr);
    if (status == ASTRA_OK)
      EXPECT_EQ(values[1], 5.0f);
    astra_tensor_release(runtime, out, nullptr);
    debugLines.clear(); // it tells one
    return status;
  }

  /// Lets allocations fail from one on. False if there was none so late.
  bool failAt(int64_t at, int64_t count, int &failures) {
    astra_stream_wait(runtime, queue, nullptr); // takes old errors away
    int64_t before = liveBlocks();
    uint64_t handles = liveHandles();
    failFrom(at, count);
    astra_status_t status = everything();
    bool reached = healMemory();
    astra_stream_wait(runtime, queue, nullptr);
    EXPECT_TRUE(status == ASTRA_OK || status == ASTRA_ERROR_OUT_OF_MEMORY ||
                status == ASTRA_ERROR_POISONED)
        << astra_status_name(status) << " at allocation " << at;
    EXPECT_EQ(liveBlocks(), before) << "at allocation " << at;
    EXPECT_EQ(liveHandles(), handles) << "at allocation " << at;
    failures += status != ASTRA_OK;
    EXPECT_EQ(everything(), ASTRA_OK) << "after allocation " << at;
    return reached && !HasFailure();
  }

  astra_stream_t queue{0};
  astra_tensor_t filled{0};
  astra_function_t add{0}, grows{0};
  astra_tensor_t x{0}, a{0}, b{0};
};
INSTANTIATE_TEST_SUITE_P(Sorts, Faults,
                         ::testing::Values(ASTRA_STREAM_INLINE,
                                           ASTRA_STREAM_MANUAL));

/// Also what the call takes of the pool while it runs, after all checks.
TEST_P(Faults, InsideACallAreErrorsThatTheRuntimeSurvives) {
  grows = function("grow");
  a = floats({5}, {1, 2, 3, 4, 5});
  b = floats({11}, std::vector<float>(11, 1));
  ASSERT_EQ(grow(), ASTRA_OK);
  bool noWorkspace = false, noScratch = false, reached = true;
  for (int64_t at = 0; reached; ++at) {
    ASSERT_LT(at, 1000) << "there was no end of allocations";
    ASSERT_OK(astra_runtime_trim(runtime, 0, &error)); // nothing is kept
    uint64_t handles = liveHandles();
    int64_t blocks = liveBlocks();
    failFrom(at, 2); // the pool tries again after it has trimmed
    astra_status_t status = grow();
    reached = healMemory();
    astra_error_t *failure = nullptr;
    astra_stream_wait(runtime, queue, &failure);
    noWorkspace |= !!std::strstr(astra_error_message(failure), "a workspace");
    noScratch |= !!std::strstr(astra_error_message(failure), "scratch");
    astra_error_release(failure);
    EXPECT_TRUE(status == ASTRA_OK || status == ASTRA_ERROR_OUT_OF_MEMORY)
        << astra_status_name(status) << " at allocation " << at;
    EXPECT_EQ(liveHandles(), handles) << "at allocation " << at;
    EXPECT_EQ(liveBlocks(), blocks) << "at allocation " << at;
    EXPECT_EQ(grow(), ASTRA_OK) << "after allocation " << at;
  }
  EXPECT_TRUE(noWorkspace);
  EXPECT_TRUE(noScratch);
}

TEST_P(Faults, OfEveryAllocationAreErrorsWithoutALeak) {
  ASSERT_EQ(everything(), ASTRA_OK); // tables grow to their size
  for (int64_t count : {INT64_MAX, int64_t(1)}) {
    int failures = 0;
    for (int64_t at = 0; failAt(at, count, failures); ++at)
      ASSERT_LT(at, 10000) << "there was no end of allocations";
    EXPECT_GT(failures, 10);
  }
}

} // namespace
