// Streams and events: order, waiting across streams, who does the work, errors,
// cancellation and shutdown with work in flight. Time is in the tests' hand:
// events of the host hold streams up, so nothing depends on how fast things
// are.
#include "RuntimeTesting.h"
#include <atomic>
#include <thread>

using namespace astra::test;

namespace {

astra_value_t of(astra_tensor_t tensor) {
  return astra_value_of_tensor(tensor);
}

class StreamsTest : public RuntimeTest {
public: // callbacks use them
  using RuntimeTest::makeEvent;
  using RuntimeTest::makeStream;
  using RuntimeTest::runtime;
  /// A host event that the stream waits for.
  astra_event_t gate(astra_stream_t at) {
    astra_event_t made = makeEvent(ASTRA_EVENT_HOST);
    EXPECT_EQ(astra_stream_wait_event(runtime, at, made, nullptr), ASTRA_OK);
    return made;
  }
  astra_tensor_t add(astra_stream_t on, astra_tensor_t a, astra_tensor_t b) {
    astra_value_t in[] = {of(a), of(b)};
    astra_tensor_t out{0};
    EXPECT_EQ(astra_function_call(runtime, function("add"), on, nullptr, in, 2,
                                  &out, 1, nullptr),
              ASTRA_OK);
    return out;
  }
  astra_tensor_t divide(astra_stream_t on) {
    astra_value_t in = of(tensor<int32_t>(ASTRA_I32, {2}, {1, 2}));
    astra_tensor_t out{0};
    EXPECT_EQ(astra_function_call(runtime, function("divide"), on, nullptr, &in,
                                  1, &out, 1, nullptr),
              ASTRA_OK);
    return out;
  }
  uint32_t stateOf(astra_tensor_t of) {
    uint32_t state = 99;
    EXPECT_EQ(astra_tensor_state(runtime, of, &state, nullptr), ASTRA_OK);
    return state;
  }
  uint32_t stateOf(astra_event_t of) {
    uint32_t state = 99;
    EXPECT_EQ(astra_event_state(runtime, of, &state, nullptr), ASTRA_OK);
    return state;
  }
  std::pair<uint64_t, uint64_t> position(astra_stream_t of) {
    std::pair<uint64_t, uint64_t> at;
    EXPECT_EQ(
        astra_stream_position(runtime, of, &at.first, &at.second, nullptr),
        ASTRA_OK);
    return at;
  }
  uint64_t run(astra_stream_t manual, uint64_t limit = UINT64_MAX) {
    uint64_t done = 0;
    EXPECT_EQ(astra_stream_run(runtime, manual, limit, &done, nullptr),
              ASTRA_OK);
    return done;
  }
  void signal(astra_event_t event) {
    EXPECT_EQ(astra_event_signal(runtime, event, nullptr), ASTRA_OK);
  }
  float first(astra_tensor_t of) { return read<float>(of, 1)[0]; }
  astra_tensor_t scalar(float value) { return floats({1}, {value}); }

  static constexpr uint32_t pending = ASTRA_TENSOR_PENDING;
  static constexpr uint32_t ready = ASTRA_TENSOR_READY;
  static constexpr uint32_t failed = ASTRA_TENSOR_FAILED;
};

/// Each test of this runs on streams of every sort.
class AnyStream : public StreamsTest,
                  public ::testing::WithParamInterface<int> {
protected:
  void SetUp() override {
    start(2, nullptr, GetParam() == 0 ? 2 : 0);
    queue = makeStream(uint64_t(GetParam()));
  }

public:
  astra_stream_t queue{0};
};
INSTANTIATE_TEST_SUITE_P(Sorts, AnyStream,
                         ::testing::Values(0, ASTRA_STREAM_INLINE,
                                           ASTRA_STREAM_MANUAL));

TEST_P(AnyStream, ReturnsPendingTensorsAndReadingWaits) {
  astra_event_t open = gate(queue);
  astra_tensor_t x = scalar(1), sum = add(queue, x, x);
  for (int i = 0; i < 50; ++i) {
    astra_tensor_t next = add(queue, sum, x);
    ASSERT_OK(astra_tensor_release(runtime, sum, &error));
    sum = next;
  }
  EXPECT_EQ(stateOf(sum), pending);
  EXPECT_EQ(position(queue), std::make_pair(uint64_t(52), uint64_t(0)));
  signal(open);
  EXPECT_EQ(first(sum), 52.0f);
  EXPECT_EQ(stateOf(sum), ready);
  ASSERT_OK(astra_stream_wait(runtime, queue, &error));
  EXPECT_EQ(position(queue), std::make_pair(uint64_t(52), uint64_t(52)));
}

TEST_P(AnyStream, WaitsForTensorsOfOtherStreams) {
  astra_stream_t other = makeStream(ASTRA_STREAM_MANUAL);
  astra_tensor_t x = scalar(2);
  astra_tensor_t a = add(other, x, x); // not done by itself
  astra_tensor_t b = add(queue, a, x); // waits for the other stream
  astra_tensor_t c = add(other, b, x); // and the other way round
  astra_tensor_t d = add(queue, c, a);
  EXPECT_EQ(stateOf(a), pending);
  EXPECT_EQ(stateOf(d), pending);
  EXPECT_EQ(first(d), 12.0f); // the reading thread helps
  EXPECT_EQ(stateOf(c), ready);
}

TEST_P(AnyStream, GoesOnWhenAnotherStreamIsRun) {
  astra_stream_t other = makeStream(ASTRA_STREAM_MANUAL);
  astra_tensor_t x = scalar(2);
  astra_tensor_t a = add(other, x, x), b = add(queue, a, x);
  EXPECT_EQ(run(other), 1u);
  if (GetParam() == ASTRA_STREAM_MANUAL) {
    EXPECT_EQ(stateOf(b), pending);
    EXPECT_EQ(run(queue), 1u);
  }
  if (GetParam() != 0)
    EXPECT_EQ(stateOf(b), ready); // on this thread, within the run
  EXPECT_EQ(first(b), 6.0f);
}

TEST_P(AnyStream, ErrorsSurfaceAtTheWaitAndPoisonWhatDepends) {
  astra_event_t open = gate(queue);
  astra_tensor_t bad = divide(queue);
  astra_value_t in = of(bad);
  astra_tensor_t next{0}, good = add(queue, scalar(1), scalar(2));
  ASSERT_OK(astra_function_call(runtime, function("divide"), queue, nullptr,
                                &in, 1, &next, 1, &error));
  signal(open);
  astra_error_t *error = nullptr;
  ASSERT_EQ(astra_tensor_wait(runtime, next, &error), ASTRA_ERROR_POISONED);
  EXPECT_STREQ(astra_error_location(error), "toy.astra:12:3");
  astra_error_release(error);
  EXPECT_FAILS(ASTRA_ERROR_DIVISION_BY_ZERO, "by 0",
               astra_tensor_wait(runtime, bad, &error));
  EXPECT_EQ(stateOf(bad), failed);
  EXPECT_EQ(first(good), 3.0f); // does not depend on it
  EXPECT_FAILS(ASTRA_ERROR_DIVISION_BY_ZERO, "by 0",
               astra_stream_wait(runtime, queue, &error));
  ASSERT_OK(astra_stream_wait(runtime, queue, &error));
}

TEST_P(AnyStream, IsCancelledUpToNow) {
  astra_event_t open = gate(queue);
  astra_tensor_t lost = add(queue, scalar(1), scalar(2));
  int told = 99;
  auto note = [](void *context, astra_status_t code) {
    *static_cast<int *>(context) = code;
  };
  ASSERT_OK(astra_stream_callback(runtime, queue, note, &told, &error));
  ASSERT_OK(astra_stream_cancel(runtime, queue, &error));
  astra_tensor_t kept = add(queue, scalar(3), scalar(4));
  EXPECT_FAILS(ASTRA_ERROR_CANCELLED, "cancelled before it began",
               astra_tensor_wait(runtime, lost, &error));
  EXPECT_EQ(first(kept), 7.0f);
  EXPECT_EQ(told, ASTRA_ERROR_CANCELLED);
  EXPECT_FAILS(ASTRA_ERROR_CANCELLED, "cancelled",
               astra_stream_wait(runtime, queue, &error));
  ASSERT_OK(astra_stream_wait(runtime, queue, &error));
  // What depends on it elsewhere is poisoned.
  EXPECT_FAILS(ASTRA_ERROR_POISONED, "cancelled",
               astra_tensor_wait(runtime, add(queue, lost, kept), &error));
  signal(open);
  ASSERT_OK(astra_stream_cancel(runtime, queue, &error)); // nothing to cancel
}

TEST_P(AnyStream, FinishesItsWorkAfterItsRelease) {
  astra_event_t open = gate(queue);
  astra_tensor_t sum = add(queue, scalar(1), scalar(2));
  ASSERT_OK(astra_stream_release(runtime, queue, &error));
  signal(open);
  EXPECT_EQ(first(sum), 3.0f);
}

TEST_P(AnyStream, CallsBackInOrder) {
  astra_event_t open = gate(queue);
  struct Log {
    std::atomic<int> calls{0};
    int order[4] = {};
  } log;
  auto note = [](void *context, astra_status_t status) {
    auto *seen = static_cast<Log *>(context);
    EXPECT_EQ(status, ASTRA_OK);
    seen->order[seen->calls] = seen->calls + 1;
    ++seen->calls;
  };
  auto noteTensor = [](void *context, astra_status_t status,
                       const astra_error_t *error) {
    auto *seen = static_cast<Log *>(context);
    EXPECT_EQ(status, ASTRA_ERROR_DIVISION_BY_ZERO);
    EXPECT_STREQ(astra_error_message(error), "division of 3 by 0 at element 1");
    seen->order[seen->calls] = 10;
    ++seen->calls;
  };
  ASSERT_OK(astra_stream_callback(runtime, queue, note, &log, &error));
  astra_tensor_t bad = divide(queue);
  ASSERT_OK(astra_tensor_callback(runtime, bad, noteTensor, &log, &error));
  ASSERT_OK(astra_stream_callback(runtime, queue, note, &log, &error));
  EXPECT_EQ(log.calls, 0);
  signal(open);
  EXPECT_EQ(astra_stream_wait(runtime, queue, nullptr),
            ASTRA_ERROR_DIVISION_BY_ZERO);
  EXPECT_EQ(log.calls, 3);
  EXPECT_EQ(log.order[0], 1);
  EXPECT_EQ(log.order[1], 10);
  EXPECT_EQ(log.order[2], 3);
  // Of what is done already, at once.
  ASSERT_OK(astra_tensor_callback(runtime, bad, noteTensor, &log, &error));
  EXPECT_EQ(log.calls, 4);
}

TEST_P(AnyStream, CallbacksMayPutWorkInButNotWaitForIt) {
  struct Context {
    AnyStream *test;
    astra_tensor_t made{0};
    astra_status_t waited = 0;
  } context{this};
  auto more = [](void *opaque, astra_status_t) {
    auto *given = static_cast<Context *>(opaque);
    AnyStream &test = *given->test;
    given->made = test.add(test.queue, test.scalar(4), test.scalar(5));
    given->waited = astra_tensor_wait(test.runtime, given->made, nullptr);
  };
  ASSERT_OK(astra_stream_callback(runtime, queue, more, &context, &error));
  ASSERT_OK(astra_stream_wait(runtime, queue, &error));
  EXPECT_EQ(context.waited, ASTRA_ERROR_BUSY);
  EXPECT_EQ(first(context.made), 9.0f);
}

TEST_P(AnyStream, KeepsAModuleThatIsReleasedWithWorkInFlight) {
  astra_module_t loaded{0};
  astra_function_t adder{0};
  ASSERT_OK(astra_module_load(runtime, TOY_MODULE, &loaded, &error));
  ASSERT_OK(astra_module_function(runtime, loaded, "add", &adder, &error));
  astra_event_t open = gate(queue);
  astra_value_t in[] = {of(scalar(1)), of(scalar(2))};
  astra_tensor_t out{0};
  ASSERT_OK(astra_function_call(runtime, adder, queue, nullptr, in, 2, &out, 1,
                                &error));
  ASSERT_OK(astra_function_release(runtime, adder, &error));
  ASSERT_OK(astra_module_release(runtime, loaded, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "function handle was released",
               astra_function_call(runtime, adder, queue, nullptr, in, 2, &out,
                                   1, &error));
  astra_tensor_t second = add(queue, in[0].as.tensor, in[0].as.tensor);
  signal(open);
  EXPECT_EQ(first(second), 2.0f);
}

TEST_P(AnyStream, EndsWithTheRuntime) {
  astra_event_t never = gate(queue);
  (void)never;
  std::vector<int> codes;
  auto note = [](void *context, astra_status_t status) {
    static_cast<std::vector<int> *>(context)->push_back(status);
  };
  add(queue, scalar(1), scalar(2));
  ASSERT_OK(astra_stream_callback(runtime, queue, note, &codes, &error));
  ASSERT_OK(astra_stream_release(runtime, queue, &error));
  astra_runtime_destroy(runtime);
  runtime = nullptr;
  EXPECT_EQ(codes, std::vector<int>{ASTRA_ERROR_CANCELLED});
}

TEST_P(AnyStream, EventsMarkAPoint) {
  astra_event_t begin = makeEvent(), end = makeEvent();
  EXPECT_EQ(stateOf(begin), pending);
  ASSERT_OK(astra_event_record(runtime, begin, queue, &error));
  astra_event_t open = gate(queue);
  divide(queue);
  ASSERT_OK(astra_event_record(runtime, end, queue, &error));
  EXPECT_EQ(stateOf(end), pending);
  int64_t elapsed = -1;
  EXPECT_FAILS(ASTRA_ERROR_NOT_READY, "second event is pending",
               (astra_event_wait(runtime, begin, nullptr),
                astra_event_elapsed(runtime, begin, end, &elapsed, &error)));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  signal(open);
  ASSERT_OK(astra_event_wait(runtime, end, &error)); // says when, not how
  EXPECT_EQ(stateOf(end), ready);
  ASSERT_OK(astra_event_elapsed(runtime, begin, end, &elapsed, &error));
  EXPECT_GE(elapsed, 2000000);
  ASSERT_OK(astra_event_elapsed(runtime, end, begin, &elapsed, &error));
  EXPECT_LE(elapsed, -2000000);
  // Recording again moves it.
  open = gate(queue);
  ASSERT_OK(astra_event_record(runtime, begin, queue, &error));
  EXPECT_EQ(stateOf(begin), pending);
  signal(open);
  ASSERT_OK(astra_event_wait(runtime, begin, &error));
}

TEST_P(AnyStream, EventsOrderStreams) {
  astra_stream_t other = makeStream(ASTRA_STREAM_MANUAL);
  astra_event_t done = makeEvent();
  ASSERT_OK(astra_event_record(runtime, done, other, &error));
  ASSERT_OK(astra_stream_wait_event(runtime, queue, done, &error));
  astra_tensor_t sum = add(queue, scalar(1), scalar(2));
  EXPECT_EQ(stateOf(sum), pending);
  ASSERT_OK(astra_stream_release(runtime, other, &error));
  EXPECT_EQ(first(sum), 3.0f);
}

TEST_P(AnyStream, AnEventThatNeverComesIsReportedOnce) {
  astra_event_t open = gate(queue);
  astra_tensor_t sum = add(queue, scalar(1), scalar(2));
  ASSERT_OK(astra_event_release(runtime, open, &error));
  EXPECT_EQ(first(sum), 3.0f);
  EXPECT_FAILS(ASTRA_ERROR_CANCELLED, "released before it was signalled",
               astra_stream_wait(runtime, queue, &error));
  ASSERT_OK(astra_stream_wait(runtime, queue, &error));
}

TEST_P(AnyStream, IsUsedByManyThreads) {
  std::atomic<int> wrong{0};
  auto work = [&](float start) {
    astra_tensor_t x = scalar(1), sum = scalar(start);
    for (int i = 0; i < 300; ++i) {
      astra_tensor_t next = add(queue, sum, x);
      astra_tensor_release(runtime, sum, nullptr);
      sum = next;
      if (i % 50 == 0 && first(sum) != start + float(i) + 1)
        ++wrong;
    }
    if (first(sum) != start + 300)
      ++wrong;
  };
  std::thread a(work, 0.0f), b(work, 1000.0f), c(work, 2000.0f);
  a.join();
  b.join();
  c.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(position(queue).first, 900u);
}

class StreamsAmongThreads : public StreamsTest {
protected:
  void SetUp() override { start(2, nullptr, 3); }
};

TEST_F(StreamsAmongThreads, PassTensorsRoundARing) {
  std::vector<astra_stream_t> ring;
  for (uint64_t flags : {0, 0, 0, 1, 0, 2, 1, 0})
    ring.push_back(makeStream(flags));
  astra_tensor_t x = scalar(1), sum = scalar(0);
  for (int i = 0; i < 400; ++i) {
    astra_tensor_t next = add(ring[size_t(i) % ring.size()], sum, x);
    ASSERT_OK(astra_tensor_release(runtime, sum, &error));
    sum = next;
  }
  EXPECT_EQ(first(sum), 400.0f);
}

TEST_F(StreamsAmongThreads, DoWorkThatNobodyWaitsFor) {
  std::atomic<int> calls{0};
  auto note = [](void *context, astra_status_t) {
    ++*static_cast<std::atomic<int> *>(context);
  };
  for (int i = 0; i < 20; ++i) {
    astra_stream_t queue = makeStream();
    add(queue, scalar(1), scalar(2));
    ASSERT_OK(astra_stream_callback(runtime, queue, note, &calls, &error));
    ASSERT_OK(astra_stream_release(runtime, queue, &error));
  }
  while (calls != 20)
    std::this_thread::yield();
}

TEST_F(StreamsAmongThreads, AreWaitedForByManyThreads) {
  astra_stream_t queue = makeStream();
  astra_event_t open = gate(queue);
  astra_tensor_t sum = add(queue, scalar(1), scalar(2));
  std::atomic<int> right{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 6; ++i)
    waiting.emplace_back([&] { right += first(sum) == 3.0f; });
  signal(open);
  for (std::thread &each : waiting)
    each.join();
  EXPECT_EQ(right, 6);
}

TEST_F(StreamsAmongThreads, AreCancelledWhileWaitedFor) {
  astra_stream_t queue = makeStream(), manual = makeStream(ASTRA_STREAM_MANUAL);
  astra_event_t never = gate(manual);
  astra_tensor_t a = add(manual, scalar(1), scalar(2));
  astra_tensor_t b = add(queue, a, scalar(1));
  astra_status_t status = ASTRA_OK;
  std::thread waiting([&] { status = astra_tensor_wait(runtime, b, nullptr); });
  ASSERT_OK(astra_stream_cancel(runtime, queue, &error));
  waiting.join();
  EXPECT_EQ(status, ASTRA_ERROR_CANCELLED);
  status = ASTRA_OK;
  std::thread again([&] { status = astra_tensor_wait(runtime, a, nullptr); });
  ASSERT_OK(astra_stream_cancel(runtime, manual, &error));
  again.join();
  EXPECT_EQ(status, ASTRA_ERROR_CANCELLED);
  ASSERT_OK(astra_event_release(runtime, never, &error));
}

TEST_F(StreamsAmongThreads, AHelperFollowsWhatStandsInTheWay) {
  // The waiting thread finds the queue held up by a host event; only later does
  // it turn out that a manual stream is needed too.
  astra_stream_t queue = makeStream(), manual = makeStream(ASTRA_STREAM_MANUAL);
  astra_event_t open = gate(queue);
  astra_tensor_t a = add(manual, scalar(1), scalar(2));
  astra_tensor_t b = add(queue, a, scalar(1));
  float value = 0;
  std::thread waiting([&] { value = first(b); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  signal(open);
  waiting.join();
  EXPECT_EQ(value, 4.0f);
}

class ManualStreams : public StreamsTest {
protected:
  void SetUp() override {
    start(1);
    queue = makeStream(ASTRA_STREAM_MANUAL);
  }
  astra_stream_t queue{0};
};

TEST_F(ManualStreams, DoAsMuchAsAsked) {
  std::vector<astra_tensor_t> sums;
  for (int i = 0; i < 5; ++i)
    sums.push_back(add(queue, scalar(1), scalar(float(i))));
  EXPECT_EQ(run(queue, 0), 0u);
  EXPECT_EQ(run(queue, 2), 2u);
  EXPECT_EQ(stateOf(sums[1]), ready);
  EXPECT_EQ(stateOf(sums[2]), pending);
  EXPECT_EQ(first(sums[3]), 4.0f); // as far as it is needed
  EXPECT_EQ(stateOf(sums[4]), pending);
  EXPECT_EQ(run(queue), 1u);
  EXPECT_EQ(run(queue), 0u);
}

TEST_F(ManualStreams, StopWhereSomethingIsMissing) {
  astra_tensor_t a = add(queue, scalar(1), scalar(2));
  astra_event_t open = gate(queue);
  astra_tensor_t b = add(queue, scalar(1), scalar(2));
  EXPECT_EQ(run(queue), 1u);
  EXPECT_EQ(run(queue), 0u);
  EXPECT_EQ(stateOf(a), ready);
  signal(open);
  EXPECT_EQ(stateOf(b), pending);
  EXPECT_EQ(run(queue), 2u);
  EXPECT_EQ(stateOf(b), ready);
}

TEST_F(ManualStreams, AreRunByOneAtATime) {
  struct Context {
    astra_runtime_t *runtime;
    astra_stream_t queue;
    astra_status_t status = 0;
  } context{runtime, queue};
  auto again = [](void *opaque, astra_status_t) {
    auto *given = static_cast<Context *>(opaque);
    given->status =
        astra_stream_run(given->runtime, given->queue, 1, nullptr, nullptr);
  };
  ASSERT_OK(astra_stream_callback(runtime, queue, again, &context, &error));
  EXPECT_EQ(run(queue), 1u);
  EXPECT_EQ(context.status, ASTRA_ERROR_BUSY);
}

class BadStreams : public StreamsTest {};

TEST_F(BadStreams, AreRefusedOneByOne) {
  astra_stream_t made{0};
  astra_stream_options_t options;
  ASTRA_INIT(STREAM_OPTIONS, &options);
  options.flags = ASTRA_STREAM_INLINE | ASTRA_STREAM_MANUAL;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "flags 3",
               astra_stream_create(runtime, cpu, &options, &made, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "ASTRA_STREAM_MANUAL",
               astra_stream_run(runtime, stream, 1, nullptr, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "stream handle is null",
               astra_stream_run(runtime, {0}, 1, nullptr, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "stream handle is null",
               astra_stream_cancel(runtime, {0}, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "done",
      astra_stream_callback(runtime, stream, nullptr, nullptr, &error));
  EXPECT_FAILS(
      ASTRA_ERROR_INVALID_ARGUMENT, "done",
      astra_tensor_callback(runtime, scalar(1), nullptr, nullptr, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "runtime",
               astra_stream_cancel(nullptr, stream, &error));
}

TEST_F(BadStreams, BadEventsToo) {
  astra_event_t made{7};
  astra_event_options_t options;
  ASTRA_INIT(EVENT_OPTIONS, &options);
  options.flags = 6;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "event flags 6",
               astra_event_create(runtime, &options, &made, &error));
  EXPECT_EQ(made.bits, 0u);
  options.chain.struct_size = 1;
  EXPECT_FAILS(ASTRA_ERROR_INVALID_STRUCT, "struct_size",
               astra_event_create(runtime, &options, &made, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "event",
               astra_event_create(runtime, nullptr, nullptr, &error));
  astra_event_t plain = makeEvent(), host = makeEvent(ASTRA_EVENT_HOST);
  EXPECT_FAILS(ASTRA_ERROR_NOT_READY, "not been recorded",
               astra_event_wait(runtime, plain, &error));
  EXPECT_FAILS(ASTRA_ERROR_NOT_READY, "not been recorded",
               astra_stream_wait_event(runtime, stream, plain, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "ASTRA_EVENT_HOST",
               astra_event_signal(runtime, plain, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "astra_event_signal",
               astra_event_record(runtime, host, stream, &error));
  signal(host);
  EXPECT_FAILS(ASTRA_ERROR_BUSY, "already",
               astra_event_signal(runtime, host, &error));
  ASSERT_OK(astra_event_wait(runtime, host, &error));
  int64_t elapsed = 0;
  EXPECT_FAILS(ASTRA_ERROR_NOT_READY, "not been recorded",
               astra_event_elapsed(runtime, plain, host, &elapsed, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_ARGUMENT, "nanoseconds",
               astra_event_elapsed(runtime, host, host, nullptr, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "of kind stream",
               astra_event_wait(runtime, {stream.bits}, &error));
  ASSERT_OK(astra_event_release(runtime, host, &error));
  EXPECT_FAILS(ASTRA_ERROR_INVALID_HANDLE, "event handle was released",
               astra_event_wait(runtime, host, &error));
}

} // namespace
