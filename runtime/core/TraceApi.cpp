// The public functions of trace.h.
#include "core/Runtime.h"
#include "core/Stream.h"
#include "core/Structs.h"
#include "core/Trace.h"

using namespace astra;

astra_status_t astra_stream_trace(astra_runtime_t *runtime,
                                  astra_stream_t stream, uint32_t on,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Stream> queue;
    ASTRA_TRY(getObject(runtime, stream, queue));
    if (on > 1)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                  "a trace is on (1) or off (0), "
                  "but ",
                  on, " was given");
    queue->setWatch(Watch::trace, on ? Watch::trace : 0);
    return {};
  });
}

astra_status_t astra_stream_check(astra_runtime_t *runtime,
                                  astra_stream_t stream, uint32_t what,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    constexpr uint32_t known = ASTRA_CHECK_NAN | ASTRA_CHECK_INFINITY;
    Ref<Stream> queue;
    ASTRA_TRY(getObject(runtime, stream, queue));
    if (what & ~known)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the checks ", what,
                  " are unknown; set ASTRA_CHECK_NAN, ASTRA_CHECK_INFINITY, "
                  "both or 0");
    queue->setWatch(known << Watch::checkShift, what << Watch::checkShift);
    return {};
  });
}

astra_status_t astra_trace_count(astra_runtime_t *runtime, size_t *count,
                                 size_t *dropped, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    size_t events = 0, lost = 0;
    runtime->trace->count(events, lost);
    if (count)
      *count = events;
    if (dropped)
      *dropped = lost;
    return {};
  });
}

astra_status_t astra_trace_event(astra_runtime_t *runtime, size_t index,
                                 astra_trace_event_t *event,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    Trace::Event found = {};
    ASTRA_TRY(runtime->trace->get(index, found));
    astra_trace_event_t full = {};
    full.function = found.site.function;
    full.kernel = found.site.kernel;
    full.source = found.site.source;
    full.stream = found.stream;
    full.thread = found.note.thread;
    full.start = found.note.start;
    full.end = found.note.end;
    full.bytes = found.note.cost.bytes;
    full.flops = found.note.cost.flops;
    return writeStruct(ASTRA_STRUCT_INFO(TRACE_EVENT, astra_trace_event_t),
                       &full, event);
  });
}

astra_status_t astra_trace_clear(astra_runtime_t *runtime,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    runtime->trace->clear();
    return {};
  });
}

astra_status_t astra_trace_save(astra_runtime_t *runtime, const char *path,
                                astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    ASTRA_TRY(need(path, "path"));
    return runtime->trace->save(path);
  });
}
