// A queue of work on a device, and the completion that its results share. Work
// runs within submit() so far; everything that looks at results goes through
// Completion, so that it may run later.
#ifndef ASTRA_RUNTIME_STREAM_H
#define ASTRA_RUNTIME_STREAM_H

#include "core/Device.h"
#include <condition_variable>
#include <functional>

namespace astra {

/// Whether one piece of work is done, and how it ended.
class Completion : public Object {
public:
  void finish(Status status);
  /// ASTRA_TENSOR_*.
  uint32_t state() const;
  /// Waits, and gives the outcome of the work.
  Status wait() const;

private:
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::atomic<uint32_t> current{ASTRA_TENSOR_PENDING};
  Status outcome;
};

class Stream : public Object {
public:
  static constexpr Kind kind = Kind::Stream;

  explicit Stream(Ref<Device> device) : device(std::move(device)) {}

  Device &getDevice() const { return *device; }
  /// Does the work in order and finishes `completion` with its outcome.
  void submit(const std::function<Status()> &work, Completion &completion);
  /// Waits for all work; the first error that no wait has reported.
  Status wait();
  void position(uint64_t &submittedCount, uint64_t &completedCount) const;

private:
  Ref<Device> device;
  std::mutex order; // held while a piece of work runs
  mutable std::mutex mutex;
  uint64_t submitted = 0, completed = 0;
  Status firstError;
};

} // namespace astra
#endif // ASTRA_RUNTIME_STREAM_H
