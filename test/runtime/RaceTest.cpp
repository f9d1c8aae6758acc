// Threads that use what another thread is just making: work that is put in
// where its completion can be seen must stand behind what it waits for, else
// the stream waits for ever.
#include "RuntimeTesting.h"
#include <atomic>
#include <chrono>
#include <thread>

using namespace astra::test;

namespace {

using Clock = std::chrono::steady_clock;

class Races : public RuntimeTest {
protected:
  bool isDone(astra_stream_t queue) {
    uint64_t submitted = 0, completed = 1;
    EXPECT_EQ(
        astra_stream_position(runtime, queue, &submitted, &completed, nullptr),
        ASTRA_OK);
    return submitted == completed;
  }
  /// Whether all work is done soon.
  bool ends(astra_stream_t queue) {
    auto end = Clock::now() + std::chrono::seconds(5);
    while (!isDone(queue)) {
      if (Clock::now() > end)
        return false;
      std::this_thread::yield();
    }
    return true;
  }
};

TEST_F(Races, AWaitComesBehindTheMarkThatItSees) {
  constexpr int turns = 60000;
  astra_stream_t queue = makeStream(ASTRA_STREAM_INLINE);
  astra_event_t event = makeEvent();
  ASSERT_OK(astra_event_record(runtime, event, queue, &error));
  std::thread recorder([&] {
    for (int i = 0; i < turns; ++i)
      ASSERT_EQ(astra_event_record(runtime, event, queue, nullptr), ASTRA_OK);
  });
  std::thread waiter([&] {
    for (int i = 0; i < turns; ++i)
      ASSERT_EQ(astra_stream_wait_event(runtime, queue, event, nullptr),
                ASTRA_OK);
  });
  recorder.join();
  waiter.join();
  EXPECT_TRUE(ends(queue));
}

TEST_F(Races, WhoReadsAWholeComesBehindTheWorkOfItsParts) {
  astra_stream_t queue = makeStream(ASTRA_STREAM_INLINE);
  astra_function_t twice = function("twice");
  astra_tensor_t x = floats({4}, {1, 2, 3, 4});
  std::atomic<uint64_t> shown{0};
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    for (uint64_t last = 0; !stop;) {
      uint64_t bits = shown;
      if (!bits || bits == last)
        continue;
      astra_value_t in = astra_value_of_tensor({bits});
      astra_tensor_t out{0};
      if (astra_function_call(runtime, twice, queue, nullptr, &in, 1, &out, 1,
                              nullptr) != ASTRA_OK)
        continue; // not written yet, or gone
      last = bits;
      EXPECT_EQ(read<float>(out, 4), (std::vector<float>{2, 4, 6, 8}));
      EXPECT_EQ(astra_tensor_release(runtime, out, nullptr), ASTRA_OK);
    }
  });
  bool works = true;
  auto end = Clock::now() + std::chrono::milliseconds(700);
  while (works && Clock::now() < end) {
    astra_tensor_t whole = empty({4}), copy{0};
    std::vector<astra_tensor_t> parts;
    EXPECT_EQ(split(whole, {0}, {4}, 1, parts, nullptr), ASTRA_OK);
    shown = whole.bits;
    EXPECT_EQ(astra_tensor_copy(runtime, queue, x, parts[0], &copy, nullptr),
              ASTRA_OK);
    EXPECT_EQ(astra_tensor_release(runtime, copy, nullptr), ASTRA_OK);
    works = ends(queue);
    shown = 0;
    EXPECT_EQ(astra_tensor_release(runtime, whole, nullptr), ASTRA_OK);
  }
  EXPECT_TRUE(works);
  if (!works) // so that the reader's work ends
    EXPECT_EQ(astra_stream_cancel(runtime, queue, nullptr), ASTRA_OK);
  stop = true;
  reader.join();
}

} // namespace
