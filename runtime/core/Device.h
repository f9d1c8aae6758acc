// A device of a back end as the core sees it: the table of astra/backend.h with
// its state, a name, and a pool of the device's memory. The core names no
// device; devices/Devices.def lists those that come with the library.
#ifndef ASTRA_RUNTIME_DEVICE_H
#define ASTRA_RUNTIME_DEVICE_H

#include "astra/backend.h"
#include "core/Backend.h"
#include "core/DevicePool.h"
#include "core/Memory.h"

struct astra_runtime;

namespace astra {

struct Launch;

class Device : public Object {
public:
  static constexpr Kind kind = Kind::Device;

  Device(astra_runtime &runtime, Ref<Backend> backend, uint32_t index,
         const astra_backend_device_t &info);
  ~Device() override;

  const char *name() const { return info.name; }
  const astra_backend_device_t &description() const { return info; }
  /// Whether its tensors lie in the host's memory, as anyone may provide it.
  bool sharesHostMemory() const {
    return info.capabilities & ASTRA_CAPABILITY_HOST_MEMORY;
  }
  /// The pool of a device with memory of its own, or null.
  DevicePool *ownMemory() const { return own.get(); }
  /// Storage for tensors.
  Status allocate(size_t bytes, Ref<Storage> &storage);
  /// Between the host and a storage of this device.
  Status upload(const Storage &to, size_t offset, const void *from,
                size_t bytes) const;
  Status download(const Storage &from, size_t offset, void *to,
                  size_t bytes) const;
  /// Refuses at once a call that this device will never run.
  Status accept(const Launch &launch) const;
  /// Runs a checked call to its end. Called by streams, one call at a time for
  /// each stream.
  Status run(Launch &launch) const;
  /// `run` of the back end itself.
  astra_status_t runTable(astra_backend_call_t &call, char *message) const {
    return backend->table->run(backend->state, index, &call, message);
  }
  Status extension(const char *name, uint32_t version,
                   const astra_extension_t *&table) const;

  /// The NUMA nodes that its memory is counted by.
  uint32_t memoryNodes() const;
  Status memoryOf(uint32_t node, MemoryPool::Statistics &counts) const;

private:
  Status runWithPointers(const Launch &launch,
                         astra_backend_call_t &call) const;
  Status runCall(const Launch &launch, astra_backend_call_t &call) const;

  astra_runtime &runtime;
  const Ref<Backend> backend;
  const uint32_t index;
  const astra_backend_device_t info;
  const astra_extension_backend_t access;
  const std::unique_ptr<DevicePool> own;
};

/// The text buffer of one call of a back end, and the status that comes of it.
struct BackendMessage {
  BackendMessage() { text[0] = 0; }
  /// `what` says what failed where the back end gave no sentence.
  Status status(astra_status_t code, const Device &device,
                const char *what) const;

  char text[ASTRA_BACKEND_MESSAGE];
};

} // namespace astra
#endif // ASTRA_RUNTIME_DEVICE_H
