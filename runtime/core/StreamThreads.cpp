// The threads of streams; see StreamThreads.h. A thread looks for the next
// stream for a few microseconds before it sleeps, since calls follow one
// another closely.
#include "core/StreamThreads.h"
#include "core/Cpu.h"
#include "core/QuietThread.h"
#include <system_error>

namespace astra {
namespace {

constexpr int spins = 500;

} // namespace

Status StreamThreads::start(uint32_t count) {
  serving = count != 0;
  threads.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    try {
      threads.push_back(startQuietThread([this] { work(); }));
    } catch (const std::system_error &) {
      return fail(ASTRA_ERROR_OUT_OF_RESOURCES, "the system gave only ", i,
                  " of ", count, " stream threads");
    }
  }
  return {};
}

void StreamThreads::stop() noexcept {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
  ReadyStreams late;
  std::lock_guard<std::mutex> lock(mutex);
  serving = false;
  while (Ref<Stream> stream = ready.pop())
    late.push(std::move(stream));
}

bool StreamThreads::push(Ref<Stream> stream) noexcept {
  bool asleep = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!serving)
      return false;
    ready.push(std::move(stream));
    asleep = sleeping != 0;
  }
  pushes.fetch_add(1);
  if (asleep)
    wake.notify_one();
  return true;
}

/// A stream that can go on; null when the threads end and there is none.
Ref<Stream> StreamThreads::next() {
  uint64_t seen = pushes.load();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (Ref<Stream> stream = ready.pop())
      return stream;
  }
  for (int i = 0; i < spins && pushes.load() == seen; ++i)
    pauseInLoop();
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    if (Ref<Stream> stream = ready.pop())
      return stream;
    if (stopping)
      return {};
    ++sleeping;
    wake.wait(lock);
    --sleeping;
  }
}

void StreamThreads::work() {
  while (Ref<Stream> stream = next()) {
    ReadyStreams inlineOnes;
    uint64_t count = 0;
    stream->drive(inlineOnes, {}, count);
  }
}

} // namespace astra
