// Whether a piece of work is done, and how it ended. Work is a point on a
// timeline, a 64-bit count that only grows: it is done once the count has
// reached it. What waits for it is told once. Knows nothing of streams.
#ifndef ASTRA_RUNTIME_COMPLETION_H
#define ASTRA_RUNTIME_COMPLETION_H

#include "core/Ref.h"
#include "core/Status.h"

namespace astra {

class Completion;
class Waiter;

/// Streams that may go on, collected by the thread that finished what they
/// waited for; it runs them once it has let go of its own.
class ReadyStreams;

class Timeline : public Object {
public:
  uint64_t completedCount() const { return completed.load(); }
  /// One step of a thread that waits for `target`, a point on this timeline:
  /// does what this thread may do towards it, or sleeps. Gives what stands in
  /// the way, if that is another completion.
  virtual Ref<Completion> attend(const Completion &target, Waiter &waiter);
  /// Whether threads do its work, rather than the caller's word.
  virtual bool isStream() const { return false; }
  /// Whether this thread is doing the timeline's work, so that waiting for it
  /// would never end.
  virtual bool isBusyHere() const { return false; }

protected:
  friend class Completion;
  std::atomic<uint64_t> completed{0};
};

/// Something to do when a completion finishes, on the thread that finishes it.
class Continuation {
public:
  virtual void resume(ReadyStreams &ready) noexcept = 0;

protected:
  ~Continuation() = default;

private:
  friend class Completion;
  Continuation *next = nullptr;
};

class Completion : public Object {
public:
  explicit Completion(Ref<Timeline> timeline) : timeline(std::move(timeline)) {}

  /// Sets the place on the timeline; once, before anyone waits.
  void place(uint64_t at) { position.store(at, std::memory_order_relaxed); }
  /// Moves the timeline to this point. Positions finish in order. The caller
  /// has a reference, since whoever waits may drop theirs at once.
  void finish(Status status, ReadyStreams &ready) noexcept;

  bool isDone() const {
    return timeline->completed.load(std::memory_order_acquire) >=
           position.load(std::memory_order_relaxed);
  }
  /// ASTRA_TENSOR_*.
  uint32_t state() const;
  /// How the work ended, once it is done.
  const Status &outcome() const { return failure; }
  /// Waits, and gives the outcome of the work.
  Status wait() const;
  /// Has `continuation` resumed when the work is done; false if it is already.
  bool whenDone(Continuation &continuation) const;
  const Ref<Timeline> &getTimeline() const { return timeline; }

private:
  const Ref<Timeline> timeline;
  std::atomic<uint64_t> position{UINT64_MAX};
  mutable std::atomic<Continuation *> continuations{nullptr};
  Status failure; // written before the timeline moves
};

} // namespace astra
#endif // ASTRA_RUNTIME_COMPLETION_H
