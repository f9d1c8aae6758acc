// Watching streams: what a trace holds, its form as a file, and stopping at the
// first NaN or infinity.
#include "RuntimeTesting.h"
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <unistd.h>

using namespace astra::test;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

class Tracing : public RuntimeTest {
protected:
  /// add(a, b) of the toy, whose result is not read.
  astra_tensor_t add(std::vector<float> a, std::vector<float> b) {
    int64_t n = int64_t(a.size());
    astra_value_t in[] = {astra_value_of_tensor(floats({n}, std::move(a))),
                          astra_value_of_tensor(floats({n}, std::move(b)))};
    astra_tensor_t out{0};
    EXPECT_EQ(astra_function_call(runtime, function("add"), stream, nullptr, in,
                                  2, &out, 1, nullptr),
              ASTRA_OK);
    return out;
  }
  size_t eventCount() {
    size_t count = 99, dropped = 99;
    EXPECT_EQ(astra_trace_count(runtime, &count, &dropped, nullptr), ASTRA_OK);
    EXPECT_EQ(dropped, 0u);
    return count;
  }
  astra_trace_event_t event(size_t index) {
    astra_trace_event_t event;
    ASTRA_INIT(TRACE_EVENT, &event);
    EXPECT_EQ(astra_trace_event(runtime, index, &event, nullptr), ASTRA_OK);
    return event;
  }
};

TEST_F(Tracing, RecordsKernelsAndCallsOfAStream) {
  add({1, 2}, {3, 4});
  EXPECT_EQ(eventCount(), 0u);
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "but 7 was given",
               astra_stream_trace(runtime, stream, 7, &error));
  ASSERT_OK(astra_stream_trace(runtime, stream, 1, &error));
  add({1, 2, 3}, {4, 5, 6});
  ASSERT_OK(astra_stream_wait(runtime, stream, &error));
  ASSERT_EQ(eventCount(), 2u);
  astra_trace_event_t kernel = event(0), call = event(1);
  EXPECT_STREQ(kernel.function, "toy.add");
  EXPECT_STREQ(kernel.kernel, "add_f32");
  EXPECT_STREQ(kernel.source, "toy.astra:12:3");
  EXPECT_EQ(kernel.stream, 1u);
  EXPECT_EQ(kernel.bytes, 36u); // three operands of three floats
  EXPECT_EQ(kernel.flops, 3u);
  EXPECT_EQ(kernel.thread, uint64_t(gettid()));
  EXPECT_STREQ(call.kernel, "");
  EXPECT_STREQ(call.source, "toy.astra:12:3"); // where the export stands
  EXPECT_EQ(call.bytes, 36u);
  EXPECT_LE(call.start, kernel.start);
  EXPECT_LE(kernel.start, kernel.end);
  EXPECT_LE(kernel.end, call.end);
}

TEST_F(Tracing, IsOffForOtherStreamsAndAfterwards) {
  astra_stream_t other{0};
  ASSERT_OK(astra_stream_create(runtime, cpu, nullptr, &other, &error));
  ASSERT_OK(astra_stream_trace(runtime, other, 1, &error));
  add({1}, {2});
  EXPECT_EQ(eventCount(), 0u);
  ASSERT_OK(astra_stream_trace(runtime, stream, 1, &error));
  add({1}, {2});
  ASSERT_EQ(eventCount(), 2u);
  EXPECT_EQ(event(0).stream, 2u);
  ASSERT_OK(astra_stream_trace(runtime, stream, 0, &error));
  add({1}, {2});
  EXPECT_EQ(eventCount(), 2u);
  astra_trace_event_t kept = event(0);
  ASSERT_OK(astra_trace_clear(runtime, &error));
  EXPECT_EQ(eventCount(), 0u);
  EXPECT_STREQ(kept.kernel, "add_f32"); // its texts live on
  EXPECT_FAILS(ASTRA_ERROR_OUT_OF_RANGE, "there is no event 0", ([&](auto e) {
                 astra_trace_event_t event;
                 ASTRA_INIT(TRACE_EVENT, &event);
                 return astra_trace_event(runtime, 0, &event, e);
               })(&error));
}

TEST_F(Tracing, ChangesNoResult) {
  std::vector<float> without = read<float>(add({0.1f, 1e30f}, {0.2f, -1}), 2);
  ASSERT_OK(astra_stream_trace(runtime, stream, 1, &error));
  ASSERT_OK(astra_stream_check(runtime, stream,
                               ASTRA_CHECK_NAN | ASTRA_CHECK_INFINITY, &error));
  EXPECT_EQ(read<float>(add({0.1f, 1e30f}, {0.2f, -1}), 2), without);
}

TEST_F(Tracing, KeepsAModuleThatIsReleased) {
  astra_module_t loaded{0};
  astra_function_t add{0};
  astra_tensor_t out{0};
  ASSERT_OK(astra_module_load(runtime, TOY_MODULE, &loaded, &error));
  ASSERT_OK(astra_module_function(runtime, loaded, "add", &add, &error));
  ASSERT_OK(astra_stream_trace(runtime, stream, 1, &error));
  astra_value_t in[] = {astra_value_of_tensor(floats({1}, {1})),
                        astra_value_of_tensor(floats({1}, {2}))};
  ASSERT_OK(astra_function_call(runtime, add, stream, nullptr, in, 2, &out, 1,
                                &error));
  ASSERT_OK(astra_stream_wait(runtime, stream, &error));
  ASSERT_OK(astra_function_release(runtime, add, &error));
  ASSERT_OK(astra_module_release(runtime, loaded, &error));
  EXPECT_STREQ(event(0).kernel, "add_f32");
}

TEST_F(Tracing, WritesAChromeTrace) {
  ASSERT_OK(astra_stream_trace(runtime, stream, 1, &error));
  add({1, 2}, {3, 4});
  ASSERT_OK(astra_stream_wait(runtime, stream, &error));
  std::string path = "trace-test-" + std::to_string(getpid()) + ".json";
  ASSERT_OK(astra_trace_save(runtime, path.c_str(), &error));
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  for (const char *part :
       {"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[",
        "\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1",
        "\"name\":\"add_f32\",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":1",
        "\"args\":{\"bytes\":24,\"flops\":2,\"function\":\"toy.add\","
        "\"source\":\"toy.astra:12:3\"}",
        "\"name\":\"toy.add\",\"cat\":\"call\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_FAILS(ASTRA_ERROR_IO, "/no/folder",
               astra_trace_save(runtime, "/no/folder/t.json", &error));
}

TEST_F(Tracing, StopsAtTheFirstNaN) {
  EXPECT_TRUE(std::isnan(read<float>(add({inf}, {-inf}), 1)[0]));
  ASSERT_OK(astra_stream_check(runtime, stream, ASTRA_CHECK_NAN, &error));
  astra_error_t *error = nullptr;
  astra_tensor_t out = add({inf}, {-inf});
  EXPECT_EQ(astra_tensor_wait(runtime, out, &error), ASTRA_ERROR_NOT_FINITE);
  EXPECT_STREQ(astra_error_message(error),
               "kernel add_f32 makes a NaN; what it reads has none");
  astra_error_release(error);
}

TEST_F(Tracing, LetsThroughWhatACallIsGiven) {
  ASSERT_OK(astra_stream_check(runtime, stream, ASTRA_CHECK_NAN, &error));
  EXPECT_TRUE(std::isnan(read<float>(add({nan, 1}, {1, 1}), 2)[0]));
  EXPECT_EQ(read<float>(add({inf}, {1}), 1)[0], inf); // no NaN
}

TEST_F(Tracing, StopsAtTheFirstInfinity) {
  ASSERT_OK(astra_stream_check(runtime, stream, ASTRA_CHECK_INFINITY, &error));
  astra_tensor_t out = add({3e38f}, {3e38f});
  EXPECT_FAILS(ASTRA_ERROR_NOT_FINITE, "kernel add_f32 makes an infinity",
               astra_tensor_wait(runtime, out, &error));
  EXPECT_EQ(read<float>(add({inf}, {1}), 1)[0], inf); // it was given
  ASSERT_OK(astra_stream_check(runtime, stream, 0, &error));
  EXPECT_EQ(read<float>(add({3e38f}, {3e38f}), 1)[0], inf);
}

/// twice() computes without any kernel.
TEST_F(Tracing, NamesScalarArithmetic) {
  ASSERT_OK(astra_stream_check(runtime, stream, ASTRA_CHECK_INFINITY, &error));
  astra_value_t in = astra_value_of_tensor(floats({1}, {3e38f}));
  astra_tensor_t out{0};
  ASSERT_OK(astra_function_call(runtime, function("twice"), stream, nullptr,
                                &in, 1, &out, 1, &error));
  EXPECT_FAILS(ASTRA_ERROR_NOT_FINITE,
               "toy.twice gives an infinity that the arithmetic of scalars",
               astra_tensor_wait(runtime, out, &error));
}

TEST_F(Tracing, RefusesWhatItDoesNotKnow) {
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "the checks 4 are unknown",
               astra_stream_check(runtime, stream, 4, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "",
               astra_stream_trace(runtime, astra_stream_t{0}, 1, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "path",
               astra_trace_save(runtime, nullptr, &error));
  EXPECT_EQ(astra_trace_count(runtime, nullptr, nullptr, nullptr), ASTRA_OK);
}

} // namespace
