// The null device: holds tensors in host memory and runs nothing. The template
// to copy for a new device, and a way to test the core without one.
#include "devices/Devices.h"

namespace astra {
namespace {

class NullDevice : public Device {
public:
  explicit NullDevice(MemoryPool &memory) : memory(memory) {}

  const char *name() const override { return "null"; }
  const char *description() const override {
    return "holds tensors and runs nothing";
  }
  Status allocate(size_t bytes, Ref<Storage> &storage) override {
    storage = Storage::allocate(memory, bytes);
    return storage ? Status()
                   : outOfMemory(memory, bytes, "the device \"null\"");
  }
  Status accept(const Launch &) const override {
    return fail(ASTRA_ERROR_UNIMPLEMENTED,
                "the device \"null\" runs no functions; make a stream on "
                "another device");
  }
  Status run(Launch &launch) override { return accept(launch); }

private:
  MemoryPool &memory;
};

} // namespace

Status makeDevice_null(astra_runtime &runtime, Ref<Device> &device) {
  device = make<NullDevice>(runtime.memory);
  return {};
}

} // namespace astra
