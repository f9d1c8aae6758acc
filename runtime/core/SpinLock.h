// A lock for a few instructions: taking and giving it back costs one atomic
// operation, where nobody else has it. Not for anything that may block.
#ifndef ASTRA_RUNTIME_SPINLOCK_H
#define ASTRA_RUNTIME_SPINLOCK_H

#include "core/Cpu.h"
#include <atomic>
#include <ctime>
#include <sched.h>

namespace astra {

/// One look after the other at something that another thread changes soon.
class Spin {
public:
  void pause() noexcept {
    if (++tries % 64) {
      pauseInLoop();
    } else if (tries < sleepsFrom) {
      sched_yield(); // the other may wait for this processor
    } else {
      // The other may be of a lower real-time priority, which yields to none.
      timespec moment = {0, 50000};
      nanosleep(&moment, nullptr);
    }
  }

private:
  static constexpr unsigned sleepsFrom = 64 * 32;
  unsigned tries = 0;
};

class SpinLock {
public:
  void lock() noexcept {
    for (Spin spin; busy.exchange(true, std::memory_order_acquire);)
      spin.pause();
  }
  void unlock() noexcept { busy.store(false, std::memory_order_release); }

private:
  std::atomic<bool> busy{false};
};

} // namespace astra
#endif // ASTRA_RUNTIME_SPINLOCK_H
