// Finishing and waiting; see Completion.h. Continuations are a stack that is
// closed when the work is done, so that none can be added too late.
#include "core/Completion.h"
#include "core/Cpu.h"
#include "core/Waiter.h"

namespace astra {
namespace {

/// A wait that takes less than this is not worth a sleep.
constexpr int spins = 300;

/// What the stack of continuations is once it is closed.
Continuation *closed() {
  return reinterpret_cast<Continuation *>(uintptr_t(1));
}

} // namespace

Ref<Completion> Timeline::attend(const Completion &, Waiter &waiter) {
  waiter.sleep();
  return {};
}

void Completion::finish(Status status, ReadyStreams &ready) noexcept {
  failure = std::move(status);
  timeline->completed.store(position.load(std::memory_order_relaxed),
                            std::memory_order_release);
  Continuation *list = continuations.exchange(closed());
  Continuation *inOrder = nullptr; // as they were added
  while (list) {
    Continuation *next = list->next;
    list->next = inOrder;
    inOrder = list;
    list = next;
  }
  while (inOrder) {
    Continuation *next = inOrder->next;
    inOrder->resume(ready);
    inOrder = next;
  }
}

uint32_t Completion::state() const {
  if (!isDone())
    return ASTRA_TENSOR_PENDING;
  return failure.ok() ? ASTRA_TENSOR_READY : ASTRA_TENSOR_FAILED;
}

bool Completion::whenDone(Continuation &continuation) const {
  Continuation *head = continuations.load();
  do {
    if (head == closed())
      return false;
    continuation.next = head;
  } while (!continuations.compare_exchange_weak(head, &continuation));
  return true;
}

Status Completion::wait() const {
  if (isDone())
    return failure;
  if (timeline->isBusyHere())
    return fail(ASTRA_ERROR_BUSY,
                "a callback waits for work of the stream that runs it, which "
                "would never end");
  Waiter waiter;
  if (!whenDone(waiter))
    return failure;
  while (!waiter.isDone()) {
    // Follow what stands in the way to where this thread can help or sleeps.
    Ref<Completion> target = timeline->attend(*this, waiter);
    while (target && !target->isDone() && !waiter.isDone())
      target = target->timeline->attend(*target, waiter);
  }
  return failure;
}

// Whoever woke the waiter may still hold its lock.
Waiter::~Waiter() { std::lock_guard<std::mutex> lock(mutex); }

void Waiter::resume(ReadyStreams &) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  done = true;
  changed.notify_one();
}

void Waiter::wake() {
  std::lock_guard<std::mutex> lock(mutex);
  woken = true;
  changed.notify_one();
}

void Waiter::sleep() {
  for (int i = 0; i < spins && !done.load() && !woken.load(); ++i)
    pauseInLoop();
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return done.load() || woken.load(); });
  woken.store(false);
}

} // namespace astra
