// Sharing a range among threads; see ThreadPool.h. A job is open from its start
// until the caller finds nothing left to take; only then does the caller wait,
// and only for workers that are inside. Workers look for the next job, and the
// caller for the end of one, for some microseconds before they sleep: kernels
// follow one another closely, and pieces end at about the same time. To share a
// range costs a microsecond then, and six if the workers sleep. The caller
// takes pieces from the front and workers from the back: of two threads each
// has mostly the same part of ranges that follow one another, in its own cache.
#include "devices/cpu/ThreadPool.h"
#include "core/Cpu.h"
#include "core/QuietThread.h"
#include <algorithm>
#include <chrono>
#include <system_error>

namespace astra {
namespace {

// How long a thread looks before it sleeps, and how often it asks for the time.
constexpr auto lookingTime = std::chrono::microseconds(40);
constexpr int looksPerTime = 16;
constexpr int64_t piecesPerThread = 4;

/// Returns when the condition holds, or after the time to look.
template <class Condition> void lookUntil(Condition holds) {
  auto end = std::chrono::steady_clock::now() + lookingTime;
  for (int i = 1; !holds(); ++i) {
    if (i % looksPerTime == 0 && std::chrono::steady_clock::now() > end)
      break;
    pauseInLoop();
  }
}

} // namespace

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

Status ThreadPool::start(uint32_t count) {
  workers.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    try {
      workers.push_back(startQuietThread([this] { work(); }));
    } catch (const std::system_error &) {
      return fail(ASTRA_ERROR_OUT_OF_RESOURCES, "the system gave only ", i,
                  " of ", count, " worker threads");
    }
  }
  width = count + 1;
  return {};
}

void ThreadPool::lend(const astra_workers_t &threads, uint32_t count) {
  lent = threads;
  width = count;
}

void ThreadPool::run(int64_t count, int64_t grain, astra_range_fn fn,
                     void *context) {
  if (count <= 0)
    return;
  grain = std::max<int64_t>(grain, 1);
  int64_t units = (count - 1) / grain + 1;
  if (width == 1 || units == 1 || busy.exchange(true)) {
    fn(context, 0, count);
    return;
  }
  int64_t pieces = std::min<int64_t>(units, int64_t(width) * piecesPerThread);
  Job given = {fn, context, count, grain, units, pieces};
  if (lent.run) {
    begin(given);
    lent.run(
        lent.context, uint32_t(std::min<int64_t>(width, units)),
        [](void *pool, uint32_t) {
          FpScope state;
          static_cast<ThreadPool *>(pool)->drainFromBack();
        },
        this);
    drainFromFront(); // what the program's threads have left undone
    busy.store(false);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    begin(given);
    open = true;
    epoch.fetch_add(1);
  }
  wake.notify_all();
  drainFromFront();
  std::unique_lock<std::mutex> lock(mutex);
  open = false;
  if (inside.load() != 0) {
    lock.unlock();
    lookUntil([&] { return inside.load() == 0; });
    lock.lock();
    left.wait(lock, [&] { return inside.load() == 0; });
  }
  lock.unlock();
  busy.store(false);
}

void ThreadPool::begin(const Job &given) {
  job = given;
  taken.store(0);
  back.store(given.pieces);
}

void ThreadPool::drainFromFront() {
  for (int64_t index = 0; taken.fetch_add(1) < job.pieces; ++index)
    runPiece(index);
}

void ThreadPool::drainFromBack() {
  while (taken.fetch_add(1) < job.pieces)
    runPiece(back.fetch_sub(1) - 1);
}

/// Pieces differ by one grain at most.
void ThreadPool::runPiece(int64_t index) {
  int64_t least = job.units / job.pieces, more = job.units % job.pieces;
  // The longer ones lie evenly among the others. The last grain need not be
  // whole.
  auto begin = [&](int64_t i) {
    return i < job.pieces ? (i * least + i * more / job.pieces) * job.grain
                          : job.count;
  };
  job.fn(job.context, begin(index), begin(index + 1));
}

/// Waits for a job that this worker has not seen; false when the pool ends.
bool ThreadPool::enter(uint64_t &seen) {
  lookUntil([&] { return epoch.load() != seen; });
  std::unique_lock<std::mutex> lock(mutex);
  wake.wait(lock, [&] { return stopping || (open && epoch.load() != seen); });
  if (stopping)
    return false;
  seen = epoch.load();
  inside.fetch_add(1);
  return true;
}

void ThreadPool::work() {
  FpScope state;
  uint64_t seen = 0;
  while (enter(seen)) {
    drainFromBack();
    std::lock_guard<std::mutex> lock(mutex);
    if (inside.fetch_sub(1) == 1)
      left.notify_all();
  }
}

} // namespace astra
