// Events: points in a stream's work, or the word of the host or of another
// system. An event object names its latest mark; whoever waits keeps the mark
// that it was when the wait began.
#ifndef ASTRA_RUNTIME_EVENT_H
#define ASTRA_RUNTIME_EVENT_H

#include "core/Completion.h"
#include "core/Runtime.h"

namespace astra {

class Stream;

/// By the system's steady clock.
int64_t nowInNanoseconds();

/// A point in time that comes once.
class EventMark final : public Completion {
public:
  using Completion::Completion;
  /// Of no stream: finished by whoever has the word.
  static Ref<EventMark> alone();
  /// The time has come.
  void finishNow(Status status);

  int64_t nanoseconds = 0; // written before it is done
};

/// Who makes an event ready.
enum class EventSource { Stream, Host, Foreign };

class Event final : public Object {
public:
  static constexpr Kind kind = Kind::Event;

  explicit Event(EventSource source);
  ~Event() override;

  /// The latest mark, or why there is none.
  Status latest(Ref<EventMark> &found) const;
  Status record(Stream &stream);
  Status signal();

private:
  const EventSource source;
  mutable std::mutex mutex;
  bool signalled = false;
  Ref<EventMark> mark;
};

/// The latest mark of an event by its handle.
Status latestMark(astra_runtime *runtime, astra_event_t event,
                  Ref<EventMark> &mark);

} // namespace astra
#endif // ASTRA_RUNTIME_EVENT_H
