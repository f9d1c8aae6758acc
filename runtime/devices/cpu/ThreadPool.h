// Threads that share the pieces of one range at a time: its own, or the
// program's. Belongs to one device; knows nothing of calls or tensors.
#ifndef ASTRA_RUNTIME_THREADPOOL_H
#define ASTRA_RUNTIME_THREADPOOL_H

#include "astra/module.h"
#include "core/Status.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace astra {

class ThreadPool {
public:
  /// Makes no thread yet.
  ThreadPool() = default;
  ~ThreadPool();
  /// Makes `workers` threads, or reports that the system gave fewer.
  Status start(uint32_t workers);
  /// Uses the program's threads, for up to `count` pieces at once.
  void lend(const astra_workers_t &threads, uint32_t count);

  /// Runs fn over [0, count) in pieces of whole multiples of grain (but for the
  /// last), the calling thread taking part. If the workers are busy with
  /// another range, or this is called from a piece, the caller does it alone.
  void run(int64_t count, int64_t grain, astra_range_fn fn, void *context);

private:
  struct Job {
    astra_range_fn fn = nullptr;
    void *context = nullptr;
    int64_t count = 0, grain = 1, units = 0, pieces = 0; // units of a grain
  };

  void work();
  bool enter(uint64_t &seen);
  void begin(const Job &given);
  void drainFromFront();
  void drainFromBack();
  void runPiece(int64_t index);

  std::vector<std::thread> workers;
  astra_workers_t lent{};
  uint32_t width = 1;             // threads, the caller's among them
  std::atomic<bool> busy{false};  // one range at a time
  Job job;                        // written while no worker is inside
  std::atomic<int64_t> taken{0};  // how many pieces
  std::atomic<int64_t> back{0};   // the first of those that workers have taken
  std::atomic<uint64_t> epoch{0}; // counts jobs
  std::atomic<uint32_t> inside{0};

  std::mutex mutex;
  std::condition_variable wake, left;
  bool open = false, stopping = false;
};

} // namespace astra
#endif // ASTRA_RUNTIME_THREADPOOL_H
