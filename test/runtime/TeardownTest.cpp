// The end of a runtime while callbacks still want something of it: they are
// refused, so that nothing is lost and astra_runtime_destroy returns.
#include "RuntimeTesting.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace astra::test;

namespace {

class Teardown : public RuntimeTest {
protected:
  void end() {
    astra_runtime_destroy(runtime);
    runtime = nullptr;
  }
  void restart(uint32_t streamThreads, const astra_allocator_t *allocator) {
    end();
    start(1, allocator, streamThreads);
  }
};

/// Counts blocks that are out.
struct Counted {
  std::atomic<long> live{0};
  astra_allocator_t allocator{
      this,
      [](void *context, size_t bytes, size_t alignment) {
        ++static_cast<Counted *>(context)->live;
        return std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                 alignment * alignment);
      },
      [](void *context, void *memory, size_t, size_t) {
        --static_cast<Counted *>(context)->live;
        std::free(memory);
      }};
};

/// Asks for all that puts work in or makes an object.
struct Asker {
  astra_runtime_t *runtime;
  astra_device_t cpu;
  astra_stream_t stream;
  astra_function_t twice;
  astra_tensor_t x, target;
  astra_event_t recorded;
  int called = 0, late = 0;
  std::vector<astra_status_t> answers = {};

  void ask() {
    ++called;
    int64_t two = 2, zero = 0;
    astra_value_t in = astra_value_of_tensor(x);
    astra_tensor_t tensor{77};
    astra_stream_t made{0};
    astra_event_t event{0};
    answers.push_back(astra_stream_callback(
        runtime, stream,
        [](void *context, astra_status_t) {
          ++static_cast<Asker *>(context)->late;
        },
        this, nullptr));
    answers.push_back(astra_function_call(runtime, twice, stream, nullptr, &in,
                                          1, &tensor, 1, nullptr));
    EXPECT_EQ(tensor.bits, 0u);
    answers.push_back(
        astra_tensor_copy(runtime, stream, x, target, &tensor, nullptr));
    answers.push_back(astra_event_record(runtime, recorded, stream, nullptr));
    answers.push_back(
        astra_stream_wait_event(runtime, stream, recorded, nullptr));
    answers.push_back(
        astra_stream_create(runtime, cpu, nullptr, &made, nullptr));
    answers.push_back(astra_event_create(runtime, nullptr, &event, nullptr));
    answers.push_back(
        astra_tensor_empty(runtime, cpu, ASTRA_F32, 1, &two, &tensor, nullptr));
    answers.push_back(
        astra_tensor_slice(runtime, x, &zero, &two, nullptr, &tensor, nullptr));
  }
};

TEST_F(Teardown, WorkThatACallbackWantsThenIsRefused) {
  for (uint32_t streamThreads : {0u, 1u}) {
    for (uint64_t flags : {uint64_t(0), uint64_t(ASTRA_STREAM_INLINE),
                           uint64_t(ASTRA_STREAM_MANUAL)}) {
      Counted counted;
      restart(streamThreads, &counted.allocator);
      // Released by destroying, whatever the order of the handles.
      astra_event_t first = makeEvent(ASTRA_EVENT_HOST);
      Asker asker{runtime,
                  cpu,
                  makeStream(flags),
                  function("twice"),
                  floats({2}, {1, 2}),
                  empty({2}),
                  makeEvent()};
      astra_event_t last = makeEvent(ASTRA_EVENT_HOST);
      for (astra_event_t each : {first, last})
        ASSERT_OK(astra_event_callback(
            runtime, each,
            [](void *context, astra_status_t status) {
              EXPECT_EQ(status, ASTRA_ERROR_CANCELLED);
              static_cast<Asker *>(context)->ask();
            },
            &asker, &error));
      end();
      EXPECT_EQ(asker.called, 2);
      EXPECT_EQ(asker.late, 0);
      // What it asks of may be gone by then.
      for (astra_status_t answer : asker.answers)
        EXPECT_TRUE(answer == ASTRA_ERROR_CANCELLED ||
                    answer == ASTRA_ERROR_INVALID_HANDLE)
            << answer;
      EXPECT_EQ(asker.answers[0], ASTRA_ERROR_CANCELLED);
      EXPECT_EQ(counted.live, 0);
    }
  }
}

TEST_F(Teardown, ACallbackThatPutsItselfInAgainEnds) {
  struct Ticker {
    astra_runtime_t *runtime;
    astra_stream_t stream;
    std::atomic<bool> ending{false};
    std::atomic<int> ticks{0};
    std::chrono::steady_clock::time_point giveUp{};
    std::atomic<astra_status_t> last{ASTRA_OK};

    static void tick(void *context, astra_status_t) {
      auto *self = static_cast<Ticker *>(context);
      ++self->ticks;
      // Gives up in the end, so that a fault shows as one.
      if (self->ending && std::chrono::steady_clock::now() > self->giveUp)
        return;
      self->last = astra_stream_callback(self->runtime, self->stream, tick,
                                         self, nullptr);
    }
  };
  restart(1, nullptr);
  Ticker ticker{runtime, makeStream()};
  ASSERT_OK(astra_stream_callback(runtime, ticker.stream, Ticker::tick, &ticker,
                                  &error));
  while (ticker.ticks < 100)
    std::this_thread::yield();
  ticker.giveUp = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  ticker.ending = true;
  end();
  EXPECT_EQ(ticker.last, ASTRA_ERROR_CANCELLED);
}

} // namespace
