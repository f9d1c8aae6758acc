// What the core asks of a device. Each lives in devices/<name>/ and has a row
// in devices/Devices.def; the core names none of them.
#ifndef ASTRA_RUNTIME_DEVICE_H
#define ASTRA_RUNTIME_DEVICE_H

#include "core/Memory.h"

struct astra_runtime;

namespace astra {

struct Launch;

class Device : public Object {
public:
  static constexpr Kind kind = Kind::Device;

  /// The name to open it by, "cpu".
  virtual const char *name() const = 0;
  virtual const char *description() const = 0;
  /// The level that kernels are chosen for, ASTRA_CPU_*, or 0.
  virtual uint32_t cpuLevel() const { return 0; }
  virtual uint32_t threads() const { return 0; }
  /// Whether tensors of this device may lie in the memory of the host's files.
  virtual bool sharesHostMemory() const { return false; }
  /// Storage for tensors; all devices so far have memory that the host sees.
  virtual Status allocate(size_t bytes, Ref<Storage> &storage) = 0;
  /// Refuses at once a call that this device will never run.
  virtual Status accept(const Launch &launch) const = 0;
  /// Runs a checked call to its end. Called by streams, one call at a time for
  /// each stream.
  virtual Status run(Launch &launch) = 0;
};

} // namespace astra
#endif // ASTRA_RUNTIME_DEVICE_H
