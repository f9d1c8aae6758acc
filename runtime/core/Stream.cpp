// The queue and its driver; see Stream.h. A piece of work stays at the head of
// the queue until it is done, so that whoever waits for the stream finds it.
#include "core/Stream.h"
#include "core/Runtime.h"
#include "core/Trace.h"

namespace astra {
namespace {

Status cancelledError() {
  return guarded([] {
    return fail(ASTRA_ERROR_CANCELLED,
                "the work was cancelled before it began");
  });
}

} // namespace

/// Lets a parked stream go on. Stale once the stream has been unparked.
class Stream::Unpark final : public Continuation {
public:
  Unpark(Ref<Stream> stream, uint64_t ticket)
      : stream(std::move(stream)), ticket(ticket) {}
  void resume(ReadyStreams &ready) noexcept override {
    stream->unpark(ticket, ready);
    delete this;
  }

private:
  Ref<Stream> stream;
  uint64_t ticket;
};

Stream::Stream(astra_runtime &runtime, Device *device, StreamMode mode)
    : runtime(runtime), device(device), mode(mode) {
  std::lock_guard<std::mutex> lock(runtime.streamMutex);
  nextAlive = runtime.firstStream;
  if (nextAlive)
    nextAlive->previousAlive = this;
  runtime.firstStream = this;
}

Stream::~Stream() {
  std::lock_guard<std::mutex> lock(runtime.streamMutex);
  (previousAlive ? previousAlive->nextAlive : runtime.firstStream) = nextAlive;
  if (nextAlive)
    nextAlive->previousAlive = previousAlive;
}

void Stream::setWatch(uint32_t mask, uint32_t bits) {
  std::lock_guard<std::mutex> lock(mutex);
  watch = (watch & ~mask) | bits;
  if (bits & Watch::trace && watch >> Watch::numberShift == 0)
    watch |= runtime.trace->nextStream() << Watch::numberShift;
}

/// Gives a piece of work its place; the lock is held.
void Stream::append(Task *task) {
  task->position = ++submitted;
  task->watch = watch;
  task->done->place(task->position);
  (head ? tail->next : head) = task;
  tail = task;
  wakeWatchers();
}

/// Does the work of a stream that just became active, or hands it over.
void Stream::start() {
  if (mode == StreamMode::Threads && runtime.streamThreads.push(this))
    return;
  ReadyStreams ready;
  uint64_t count = 0;
  drive(ready, {}, count);
}

/// Finds a driver for a stream that just became active.
void Stream::goOn(ReadyStreams &ready) {
  if (mode == StreamMode::Threads && runtime.streamThreads.push(this))
    return;
  ready.push(this);
}

/// Removes what is finished, if not null, and gives the next piece of work to
/// look at; null if the driver has to leave, who then is no longer it.
Task *Stream::next(Task *finished, const Until &until, uint64_t count,
                   bool &cancelled) {
  std::unique_ptr<Task> dropped(finished); // after the lock
  std::lock_guard<std::mutex> lock(mutex);
  if (finished)
    head = finished->next;
  wakeWatchers();
  cancelled = head && head->position <= cancelledUpTo;
  bool leave = !head || count == until.limit ||
               (until.target && until.target->isDone()) ||
               (until.onlyCancelled && !cancelled);
  if (!leave)
    return head;
  active = false;
  driver.store(std::thread::id(), std::memory_order_relaxed);
  return nullptr;
}

/// The caller has a reference: the work may have had the last of the others.
void Stream::drive(ReadyStreams &ready, const Until &until,
                   uint64_t &count) noexcept {
  driver.store(std::this_thread::get_id(), std::memory_order_relaxed);
  bool cancelled = false;
  Task *finished = nullptr;
  while (Task *task = next(finished, until, count, cancelled)) {
    finished = nullptr;
    Status refused;
    if (cancelled) {
      refused = cancelledError();
    } else if (task->blocker()) {
      bool isParked = false;
      refused = guarded([&]() -> Status {
        isParked = park(*task);
        return {};
      });
      if (isParked)
        return;
      if (refused.ok())
        continue;
    }
    execute(*task, refused, ready);
    finished = task;
    ++count;
  }
}

/// Leaves the stream to whatever finishes the task's blocker; false if the task
/// can go on after all.
bool Stream::park(Task &task) {
  Ref<Completion> missing = task.blocker();
  if (!missing)
    return false;
  std::unique_lock<std::mutex> lock(mutex);
  if (task.position <= cancelledUpTo)
    return false;
  if (parked && blocker.get() == missing.get())
    return leave();
  auto unpark = std::make_unique<Unpark>(this, ticket + 1);
  if (!missing->whenDone(*unpark))
    return false;
  (void)unpark.release(); // deletes itself
  ++ticket;
  parked = true;
  blocker = missing;
  return leave();
}

/// Ends the driver's role of a parked stream; the lock is held.
bool Stream::leave() {
  active = mode != StreamMode::Manual; // a manual one may be tried again
  driver.store(std::thread::id(), std::memory_order_relaxed);
  wakeWatchers();
  return true;
}

void Stream::unpark(uint64_t given, ReadyStreams &ready) noexcept {
  Ref<Completion> dropped;
  std::lock_guard<std::mutex> lock(mutex);
  if (!parked || given != ticket)
    return;
  parked = false;
  dropped = std::move(blocker);
  wakeWatchers();
  if (mode != StreamMode::Manual)
    goOn(ready);
}

void Stream::execute(Task &task, const Status &refused,
                     ReadyStreams &ready) noexcept {
  Status status = refused;
  if (refused.ok())
    status = guarded([&] { return task.run(); });
  else
    task.skip(refused);
  task.drop();
  if (!status.ok()) {
    Status copy = guarded([&] { return status; });
    std::lock_guard<std::mutex> lock(mutex);
    if (firstError.ok())
      firstError = std::move(copy);
  }
  task.done->finish(std::move(status), ready);
}

bool Stream::pump(uint64_t limit, uint64_t &count) noexcept {
  ReadyStreams ready;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (active)
      return false;
    active = true;
  }
  Until until;
  until.limit = limit;
  drive(ready, until, count);
  return true;
}

Status Stream::wait() {
  Ref<Completion> last;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (head)
      last = tail->done;
  }
  if (last) {
    Status status = last->wait(); // its errors are among the stream's
    if (status.code == ASTRA_ERROR_BUSY && !last->isDone())
      return status;
  }
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(firstError, Status());
}

void Stream::cancel() noexcept {
  ReadyStreams ready;
  bool drain = false;
  Ref<Completion> dropped;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (cancelledUpTo < submitted)
      cancelledUpTo = submitted;
    bool wasParked = std::exchange(parked, false);
    dropped = std::move(blocker);
    ++ticket;
    drain = mode == StreamMode::Manual && !active;
    active |= drain;
    if (wasParked && mode != StreamMode::Manual)
      goOn(ready);
    wakeWatchers();
  }
  if (!drain)
    return;
  Until until;
  until.onlyCancelled = true;
  uint64_t count = 0;
  drive(ready, until, count);
}

void Stream::refuseWork() noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  cancelledUpTo = UINT64_MAX;
}

bool Stream::hasWork() const {
  std::lock_guard<std::mutex> lock(mutex);
  return head != nullptr;
}

void Stream::position(uint64_t &submittedCount,
                      uint64_t &completedCount) const {
  std::lock_guard<std::mutex> lock(mutex);
  submittedCount = submitted;
  completedCount = completed.load();
}

/// Tells every thread that watches the stream to look again; the lock is held.
void Stream::wakeWatchers() {
  for (Waiter *each = watchers; each; each = each->nextWatcher)
    each->wake();
}

Ref<Completion> Stream::attend(const Completion &target, Waiter &waiter) {
  ReadyStreams ready;
  // One look under one lock: what is seen to be in the way here is what wakes
  // the watchers when it changes.
  std::unique_lock<std::mutex> lock(mutex);
  if (target.isDone())
    return {};
  if (parked && blocker->getTimeline()->isStream())
    return blocker;
  if (mode == StreamMode::Manual && !active && !parked && head) {
    active = true;
    lock.unlock();
    Until until;
    until.target = &target;
    uint64_t count = 0;
    drive(ready, until, count);
    return {};
  }
  waiter.nextWatcher = watchers;
  watchers = &waiter;
  lock.unlock();
  waiter.sleep();
  lock.lock();
  Waiter **link = &watchers;
  while (*link != &waiter)
    link = &(*link)->nextWatcher;
  *link = waiter.nextWatcher;
  return {};
}

void ReadyStreams::push(Ref<Stream> stream) {
  Stream *object = stream.leak();
  object->nextReady = nullptr;
  (first ? last->nextReady : first) = object;
  last = object;
}

Ref<Stream> ReadyStreams::pop() {
  Stream *object = first;
  if (object)
    first = object->nextReady;
  return Ref<Stream>::adopt(object);
}

void ReadyStreams::run() noexcept {
  while (Ref<Stream> stream = pop()) {
    uint64_t count = 0;
    stream->drive(*this, {}, count);
  }
}

} // namespace astra
