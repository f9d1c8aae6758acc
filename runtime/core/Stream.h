// A queue of work on a device, done in order by one thread at a time: one of
// the runtime's stream threads, the thread that puts the work in, or the
// caller's hand. Which thread that is never changes what is done.
//
// Whoever does the work is the stream's driver (`active`). If the first piece
// of work needs something that is not there yet, the driver parks the stream,
// which goes on when that is done; no thread of the runtime ever waits for
// work.
#ifndef ASTRA_RUNTIME_STREAM_H
#define ASTRA_RUNTIME_STREAM_H

#include "core/Device.h"
#include "core/Waiter.h"
#include <thread>

namespace astra {

class StreamThreads;

/// One piece of work.
class Task {
public:
  virtual ~Task() = default;
  /// The first thing that is not done and that this needs, or null.
  virtual Ref<Completion> blocker() const { return {}; }
  virtual Status run() = 0;
  /// Called instead of run() if the work is not to be done.
  virtual void skip(const Status &) {}
  /// Lets go of tensors, before anyone learns that the work is done.
  virtual void drop() {}

  Ref<Completion> done;

protected:
  /// What the stream is watched for; see Watch.
  uint32_t watch = 0;

private:
  friend class Stream;
  Task *next = nullptr;
  uint64_t position = 0;
};

enum class StreamMode { Threads, Inline, Manual };

class Stream final : public Timeline {
public:
  static constexpr Kind kind = Kind::Stream;

  Stream(astra_runtime &runtime, Device *device, StreamMode mode);
  ~Stream() override;

  Device &getDevice() const { return *device; }
  StreamMode getMode() const { return mode; }
  /// What calls that are put in from now on are watched for: see Watch.
  void setWatch(uint32_t mask, uint32_t bits);

  /// Puts work in; the rest happens by itself, unless the stream is manual.
  /// The caller has a reference. `publish` shows others the work's completion:
  /// it runs once the work has its place and before anything else can be put
  /// in, so that what is made to wait for it comes behind it. It must not fail
  /// nor drop references.
  template <class Publish>
  void submit(std::unique_ptr<Task> task, Publish publish) noexcept {
    {
      std::lock_guard<std::mutex> lock(mutex);
      append(task.release());
      publish();
      if (mode == StreamMode::Manual || active)
        return;
      active = true;
    }
    start();
  }
  void submit(std::unique_ptr<Task> task) noexcept {
    submit(std::move(task), [] {});
  }
  /// Does up to `limit` pieces of a manual stream's work, as far as what they
  /// need is there. False if another thread is doing it.
  bool pump(uint64_t limit, uint64_t &count) noexcept;
  /// Waits for all work; the first error that no wait has reported.
  Status wait();
  /// What has not begun fails with ASTRA_ERROR_CANCELLED.
  void cancel() noexcept;
  /// Cancels whatever is put in from now on too; `cancel` does the rest.
  void refuseWork() noexcept;
  bool hasWork() const;
  void position(uint64_t &submittedCount, uint64_t &completedCount) const;

  Ref<Completion> attend(const Completion &target, Waiter &waiter) override;
  bool isStream() const override { return true; }
  bool isBusyHere() const override {
    return driver.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

private:
  friend class ReadyStreams;
  friend class StreamThreads;
  friend struct ::astra_runtime; // links them
  class Unpark;
  struct Until {
    uint64_t limit = UINT64_MAX;        // pieces of work
    const Completion *target = nullptr; // no further than this
    bool onlyCancelled = false;
  };

  void append(Task *task);
  void start();
  void drive(ReadyStreams &ready, const Until &until, uint64_t &count) noexcept;
  Task *next(Task *finished, const Until &until, uint64_t count,
             bool &cancelled);
  bool park(Task &task);
  bool leave();
  void execute(Task &task, const Status &refused, ReadyStreams &ready) noexcept;
  void unpark(uint64_t ticket, ReadyStreams &ready) noexcept;
  void goOn(ReadyStreams &ready);
  void wakeWatchers();

  astra_runtime &runtime;
  Device *const device;
  const StreamMode mode;
  // Each thread looks only whether it is the driver, which it knows itself.
  std::atomic<std::thread::id> driver{};

  mutable std::mutex mutex; // guards all below
  Task *head = nullptr, *tail = nullptr;
  uint32_t watch = 0;
  uint64_t submitted = 0;
  uint64_t cancelledUpTo = 0;
  bool active = false, parked = false;
  Ref<Completion> blocker; // while parked
  uint64_t ticket = 0;     // of the latest parking
  Waiter *watchers = nullptr;
  Status firstError;

  Stream *nextReady = nullptr;                           // in ReadyStreams
  Stream *nextAlive = nullptr, *previousAlive = nullptr; // in the runtime
};

/// See Completion.h.
class ReadyStreams {
public:
  ReadyStreams() = default;
  ReadyStreams(const ReadyStreams &) = delete;
  ReadyStreams &operator=(const ReadyStreams &) = delete;
  ~ReadyStreams() { run(); }

  void push(Ref<Stream> stream);
  Ref<Stream> pop();
  /// Drives all of them, and those that they bring in.
  void run() noexcept;

private:
  Stream *first = nullptr, *last = nullptr;
};

} // namespace astra
#endif // ASTRA_RUNTIME_STREAM_H
