// Events and their public functions; see Event.h.
#include "core/Event.h"
#include "core/Stream.h"
#include "core/Structs.h"
#include <ctime>

using namespace astra;

namespace {

/// Sets the time of a mark.
class MarkTask final : public Task {
public:
  explicit MarkTask(Ref<EventMark> mark) : mark(std::move(mark)) {
    done = this->mark;
  }
  Status run() override {
    mark->nanoseconds = nowInNanoseconds();
    return {};
  }

private:
  Ref<EventMark> mark;
};

/// Holds its stream up until an event is done.
class WaitTask final : public Task {
public:
  explicit WaitTask(Ref<EventMark> mark) : mark(std::move(mark)) {}
  Ref<Completion> blocker() const override {
    return mark->isDone() ? Ref<Completion>() : Ref<Completion>(mark);
  }
  Status run() override { return mark->outcome(); }

private:
  Ref<EventMark> mark;
};

} // namespace

int64_t astra::nowInNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

Ref<EventMark> EventMark::alone() {
  auto mark = make<EventMark>(make<Timeline>());
  mark->place(1);
  return mark;
}

void EventMark::finishNow(Status status) {
  ReadyStreams ready;
  nanoseconds = nowInNanoseconds();
  finish(std::move(status), ready);
}

Event::Event(EventSource source) : source(source) {
  if (source != EventSource::Stream)
    mark = EventMark::alone();
}

Event::~Event() {
  if (source == EventSource::Host && !signalled)
    mark->finishNow(guarded([] {
      return fail(ASTRA_ERROR_CANCELLED,
                  "the event was released before it was signalled");
    }));
}

Status Event::latest(Ref<EventMark> &found) const {
  std::lock_guard<std::mutex> lock(mutex);
  found = mark;
  if (found)
    return {};
  return fail(ASTRA_ERROR_NOT_READY,
              "the event has not been recorded; see astra_event_record");
}

Status Event::record(Stream &stream) {
  if (source != EventSource::Stream)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                source == EventSource::Host
                    ? "an event of the host is not recorded in streams; see "
                      "astra_event_signal"
                    : "an event of another system is not recorded in streams");
  auto made = make<EventMark>(Ref<Timeline>(&stream));
  auto task = std::make_unique<MarkTask>(made);
  // Whoever sees the new mark comes behind it in the stream; `made` becomes the
  // old one, which may be the last user of another stream.
  stream.submit(std::move(task), [&] {
    std::lock_guard<std::mutex> lock(mutex);
    std::swap(mark, made);
  });
  return {};
}

Status Event::signal() {
  if (source != EventSource::Host)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                "only an event made with ASTRA_EVENT_HOST is signalled; this "
                "one ",
                source == EventSource::Stream ? "is recorded in a stream"
                                              : "is of another system");
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (signalled)
      return fail(ASTRA_ERROR_BUSY, "the event was signalled already");
    signalled = true;
  }
  mark->finishNow({});
  return {};
}

Status astra::latestMark(astra_runtime *runtime, astra_event_t event,
                         Ref<EventMark> &mark) {
  Ref<Event> object;
  ASTRA_TRY(getObject(runtime, event, object));
  return object->latest(mark);
}

static Status readyTime(astra_runtime *runtime, astra_event_t event,
                        const char *which, int64_t &nanoseconds) {
  Ref<EventMark> mark;
  ASTRA_TRY(latestMark(runtime, event, mark));
  if (mark->state() != ASTRA_TENSOR_READY)
    return fail(ASTRA_ERROR_NOT_READY, "the ", which, " event ",
                mark->isDone() ? "was cancelled" : "is pending",
                "; the time between two ready events can be told");
  nanoseconds = mark->nanoseconds;
  return {};
}

astra_status_t astra_event_create(astra_runtime_t *runtime,
                                  const astra_event_options_t *options,
                                  astra_event_t *event, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, event, "event"));
    astra_event_options_t given = {};
    if (options)
      ASTRA_TRY(
          readStruct(ASTRA_STRUCT_INFO(EVENT_OPTIONS, astra_event_options_t),
                     options, &given));
    if (given.flags & ~uint64_t(ASTRA_EVENT_HOST))
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the event flags ", given.flags,
                  " are unknown; set 0 or ASTRA_EVENT_HOST");
    return runtime->insert(
        make<Event>(given.flags ? EventSource::Host : EventSource::Stream),
        *event);
  });
}

astra_status_t astra_event_record(astra_runtime_t *runtime, astra_event_t event,
                                  astra_stream_t stream,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Event> object;
    Ref<Stream> queue;
    ASTRA_TRY(needWorking(runtime));
    ASTRA_TRY(runtime->get(event, object));
    ASTRA_TRY(runtime->get(stream, queue));
    return object->record(*queue);
  });
}

astra_status_t astra_event_signal(astra_runtime_t *runtime, astra_event_t event,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Event> object;
    ASTRA_TRY(getObject(runtime, event, object));
    return object->signal();
  });
}

astra_status_t astra_stream_wait_event(astra_runtime_t *runtime,
                                       astra_stream_t stream,
                                       astra_event_t event,
                                       astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Stream> queue;
    Ref<Event> object;
    Ref<EventMark> mark;
    ASTRA_TRY(needWorking(runtime));
    ASTRA_TRY(runtime->get(stream, queue));
    ASTRA_TRY(runtime->get(event, object));
    ASTRA_TRY(object->latest(mark));
    auto task = std::make_unique<WaitTask>(mark);
    task->done = make<Completion>(queue);
    queue->submit(std::move(task));
    return {};
  });
}

astra_status_t astra_event_wait(astra_runtime_t *runtime, astra_event_t event,
                                astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Event> object;
    Ref<EventMark> mark;
    ASTRA_TRY(getObject(runtime, event, object));
    ASTRA_TRY(object->latest(mark));
    return mark->wait();
  });
}

astra_status_t astra_event_state(astra_runtime_t *runtime, astra_event_t event,
                                 uint32_t *state, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Event> object;
    ASTRA_TRY(getObject(runtime, event, object));
    ASTRA_TRY(need(state, "state"));
    Ref<EventMark> mark;
    Status recorded = object->latest(mark);
    *state = recorded.ok() ? mark->state() : uint32_t(ASTRA_TENSOR_PENDING);
    return {};
  });
}

astra_status_t astra_event_elapsed(astra_runtime_t *runtime,
                                   astra_event_t first, astra_event_t second,
                                   int64_t *nanoseconds,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    ASTRA_TRY(need(nanoseconds, "nanoseconds"));
    int64_t begin = 0, end = 0;
    ASTRA_TRY(readyTime(runtime, first, "first", begin));
    ASTRA_TRY(readyTime(runtime, second, "second", end));
    *nanoseconds = end - begin;
    return {};
  });
}

astra_status_t astra_event_release(astra_runtime_t *runtime,
                                   astra_event_t event, astra_error_t **error) {
  return releaseHandle(runtime, Kind::Event, event.bits, error);
}
