// The public functions of streams.
#include "core/Runtime.h"
#include "core/Stream.h"
#include "core/Structs.h"

using namespace astra;

namespace {

Status modeOf(uint64_t flags, StreamMode &mode) {
  mode = flags == ASTRA_STREAM_MANUAL   ? StreamMode::Manual
         : flags == ASTRA_STREAM_INLINE ? StreamMode::Inline
                                        : StreamMode::Threads;
  if (flags == 0 || mode != StreamMode::Threads)
    return {};
  return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the stream flags ", flags,
              " are unknown or exclude each other; set 0, ASTRA_STREAM_INLINE "
              "or ASTRA_STREAM_MANUAL");
}

/// Tells the host that the stream has come this far.
class CallbackTask final : public Task {
public:
  using Fn = void (*)(void *context, astra_status_t status);

  CallbackTask(Fn fn, void *context) : fn(fn), context(context) {}
  Status run() override {
    fn(context, ASTRA_OK);
    return {};
  }
  void skip(const Status &status) override { fn(context, status.code); }

private:
  Fn fn;
  void *context;
};

} // namespace

astra_status_t astra_stream_create(astra_runtime_t *runtime,
                                   astra_device_t device,
                                   const astra_stream_options_t *options,
                                   astra_stream_t *stream,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, stream, "stream"));
    astra_stream_options_t given = {};
    if (options)
      ASTRA_TRY(
          readStruct(ASTRA_STRUCT_INFO(STREAM_OPTIONS, astra_stream_options_t),
                     options, &given));
    StreamMode mode = StreamMode::Threads;
    ASTRA_TRY(modeOf(given.flags, mode));
    Ref<Device> target;
    ASTRA_TRY(runtime->get(device, target));
    return runtime->insert(make<Stream>(*runtime, target.get(), mode), *stream);
  });
}

astra_status_t astra_stream_wait(astra_runtime_t *runtime,
                                 astra_stream_t stream, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Stream> queue;
    ASTRA_TRY(getObject(runtime, stream, queue));
    return queue->wait();
  });
}

astra_status_t astra_stream_position(astra_runtime_t *runtime,
                                     astra_stream_t stream, uint64_t *submitted,
                                     uint64_t *completed,
                                     astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Stream> queue;
    ASTRA_TRY(getObject(runtime, stream, queue));
    uint64_t in = 0, done = 0;
    queue->position(in, done);
    if (submitted)
      *submitted = in;
    if (completed)
      *completed = done;
    return {};
  });
}

astra_status_t astra_stream_run(astra_runtime_t *runtime, astra_stream_t stream,
                                uint64_t limit, uint64_t *done,
                                astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Stream> queue;
    ASTRA_TRY(getObject(runtime, stream, queue));
    if (queue->getMode() != StreamMode::Manual)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                  "the stream does its work by itself; only one made with "
                  "ASTRA_STREAM_MANUAL is run by hand");
    uint64_t count = 0;
    if (!queue->pump(limit, count))
      return fail(ASTRA_ERROR_BUSY,
                  "the stream is being run already, by another thread or by "
                  "the caller of this callback");
    if (done)
      *done = count;
    return {};
  });
}

astra_status_t astra_stream_cancel(astra_runtime_t *runtime,
                                   astra_stream_t stream,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Stream> queue;
    ASTRA_TRY(getObject(runtime, stream, queue));
    queue->cancel();
    return {};
  });
}

astra_status_t
astra_stream_callback(astra_runtime_t *runtime, astra_stream_t stream,
                      void (*done)(void *context, astra_status_t status),
                      void *context, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Stream> queue;
    ASTRA_TRY(needWorking(runtime));
    ASTRA_TRY(runtime->get(stream, queue));
    if (!done)
      return need(nullptr, "done");
    auto task = std::make_unique<CallbackTask>(done, context);
    task->done = make<Completion>(queue);
    queue->submit(std::move(task));
    return {};
  });
}

astra_status_t astra_stream_release(astra_runtime_t *runtime,
                                    astra_stream_t stream,
                                    astra_error_t **error) {
  return releaseHandle(runtime, Kind::Stream, stream.bits, error);
}
