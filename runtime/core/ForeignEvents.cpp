// Events of other systems: an event told to them, by a callback or a
// descriptor, and theirs taken in. No thread waits for either.
#include "core/Event.h"
#include "core/Structs.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace astra;

namespace {

/// Tells how an event ended, once, and is gone.
class EventCallback final : public Continuation {
public:
  using Fn = void (*)(void *context, astra_status_t status);

  EventCallback(Ref<EventMark> mark, Fn fn, void *context)
      : mark(std::move(mark)), fn(fn), context(context) {}
  /// Tells it at once if it is done already.
  void watch() {
    if (!mark->whenDone(*this))
      tell();
  }
  void resume(ReadyStreams &) noexcept override { tell(); }

private:
  void tell() noexcept {
    fn(context, mark->outcome().code);
    delete this;
  }

  const Ref<EventMark> mark;
  const Fn fn;
  void *const context;
};

Status systemFailure(const char *what) {
  return fail(ASTRA_ERROR_OUT_OF_RESOURCES, what,
              " failed: ", std::strerror(errno));
}

/// Makes the descriptor readable and lets go of the runtime's copy of it.
void raise(void *context, astra_status_t) {
  int fd = int(reinterpret_cast<intptr_t>(context));
  eventfd_write(fd, 1); // a counter of 0 has room for 1
  close(fd);
}

Status exportTo(const Ref<EventMark> &mark, int &fd) {
  int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made < 0)
    return systemFailure("making an eventfd");
  int copy = fcntl(made, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    Status status = systemFailure("copying an eventfd");
    close(made);
    return status;
  }
  Status watched = guarded([&]() -> Status {
    (new EventCallback(mark, raise, reinterpret_cast<void *>(intptr_t(copy))))
        ->watch();
    return {};
  });
  if (!watched.ok()) {
    close(made);
    close(copy);
    return watched;
  }
  fd = made;
  return {};
}

/// What the other system gives its word to.
struct ForeignSignal {
  Ref<EventMark> mark;

  static void signal(void *token, astra_status_t status) {
    std::unique_ptr<ForeignSignal> self(static_cast<ForeignSignal *>(token));
    Status outcome;
    if (status != ASTRA_OK)
      outcome = guarded([&] {
        return fail(status, "an event of another system failed with ",
                    astra_status_name(status), " (", status, ")");
      });
    self->mark->finishNow(std::move(outcome));
  }
};

Status subscribe(const astra_foreign_event_t &foreign, const Event &event) {
  auto token = std::make_unique<ForeignSignal>();
  ASTRA_TRY(event.latest(token->mark));
  ForeignSignal *given = token.release(); // it may be used before this returns
  astra_status_t status =
      foreign.subscribe(foreign.context, ForeignSignal::signal, given);
  if (status == ASTRA_OK)
    return {};
  delete given;
  return fail(status, "the other system refused to subscribe, with ",
              astra_status_name(status), " (", status, ")");
}

} // namespace

astra_status_t
astra_event_callback(astra_runtime_t *runtime, astra_event_t event,
                     void (*done)(void *context, astra_status_t status),
                     void *context, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<EventMark> mark;
    ASTRA_TRY(latestMark(runtime, event, mark));
    if (!done)
      return need(nullptr, "done");
    (new EventCallback(mark, done, context))->watch();
    return {};
  });
}

astra_status_t astra_event_export_fd(astra_runtime_t *runtime,
                                     astra_event_t event, int *fd,
                                     astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<EventMark> mark;
    ASTRA_TRY(latestMark(runtime, event, mark));
    ASTRA_TRY(need(fd, "fd"));
    return exportTo(mark, *fd);
  });
}

astra_status_t astra_event_import(astra_runtime_t *runtime,
                                  const astra_foreign_event_t *foreign,
                                  astra_event_t *event, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, event, "event"));
    astra_foreign_event_t given = {};
    ASTRA_TRY(
        readStruct(ASTRA_STRUCT_INFO(FOREIGN_EVENT, astra_foreign_event_t),
                   foreign, &given));
    if (!given.subscribe)
      return need(nullptr, "subscribe");
    auto made = make<Event>(EventSource::Foreign);
    ASTRA_TRY(runtime->insert(made, *event));
    Status status = subscribe(given, *made);
    if (!status.ok()) {
      Status ignored = runtime->handles.release(Kind::Event, event->bits);
      event->bits = 0;
    }
    return status;
  });
}
