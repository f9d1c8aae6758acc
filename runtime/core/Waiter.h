// A thread that waits for a completion. While it waits it may be asked to help:
// work in a stream without threads is done by whoever needs it.
#ifndef ASTRA_RUNTIME_WAITER_H
#define ASTRA_RUNTIME_WAITER_H

#include "core/Completion.h"
#include <condition_variable>
#include <mutex>

namespace astra {

class Waiter final : public Continuation {
public:
  Waiter() = default;
  ~Waiter();

  /// The goal is done.
  void resume(ReadyStreams &ready) noexcept override;
  /// Something on the way to the goal has changed.
  void wake();
  /// Sleeps until one of the two.
  void sleep();
  bool isDone() const { return done.load(); }

  /// The next thread that watches the same stream; the stream's lock guards it.
  Waiter *nextWatcher = nullptr;

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> done{false}, woken{false};
};

} // namespace astra
#endif // ASTRA_RUNTIME_WAITER_H
