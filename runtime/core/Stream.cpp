// Streams and completions, and their public functions; see Stream.h.
#include "core/Stream.h"
#include "core/Runtime.h"
#include "core/Structs.h"

namespace astra {

void Completion::finish(Status status) {
  std::lock_guard<std::mutex> lock(mutex);
  outcome = std::move(status);
  current.store(outcome.ok() ? ASTRA_TENSOR_READY : ASTRA_TENSOR_FAILED,
                std::memory_order_release);
  changed.notify_all();
}

uint32_t Completion::state() const {
  return current.load(std::memory_order_acquire);
}

Status Completion::wait() const {
  if (state() == ASTRA_TENSOR_READY)
    return {};
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return state() != ASTRA_TENSOR_PENDING; });
  return outcome;
}

void Stream::submit(const std::function<Status()> &work,
                    Completion &completion) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++submitted;
  }
  std::lock_guard<std::mutex> inOrder(order);
  Status status = work();
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++completed;
    if (!status.ok() && firstError.ok())
      firstError = status;
  }
  completion.finish(std::move(status));
}

Status Stream::wait() {
  std::lock_guard<std::mutex> inOrder(order);
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(firstError, Status());
}

void Stream::position(uint64_t &submittedCount,
                      uint64_t &completedCount) const {
  std::lock_guard<std::mutex> lock(mutex);
  submittedCount = submitted;
  completedCount = completed;
}

} // namespace astra

using namespace astra;

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
    if (given.flags)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the stream flags ",
                  given.flags, " are unknown; set 0");
    Ref<Device> target;
    ASTRA_TRY(runtime->get(device, target));
    return runtime->insert(make<Stream>(target), *stream);
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

astra_status_t astra_stream_release(astra_runtime_t *runtime,
                                    astra_stream_t stream,
                                    astra_error_t **error) {
  return releaseHandle(runtime, Kind::Stream, stream.bits, error);
}
