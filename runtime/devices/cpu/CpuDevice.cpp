// The host's processor as a device: tensors in host memory, entries called on
// the stream's thread with the workers of one pool beside it.
#include "devices/Devices.h"
#include "devices/cpu/CallServices.h"

namespace astra {
namespace {

class CpuDevice : public Device {
public:
  explicit CpuDevice(astra_runtime &runtime) : runtime(runtime) {}

  Status start() {
    if (!runtime.workers.run)
      return pool.start(runtime.threads - 1);
    pool.lend(runtime.workers, runtime.threads);
    return {};
  }

  const char *name() const override { return "cpu"; }
  const char *description() const override { return "the host's processor"; }
  uint32_t cpuLevel() const override { return runtime.cpuLevel; }
  uint32_t threads() const override { return runtime.threads; }
  bool sharesHostMemory() const override { return true; }
  Status allocate(size_t bytes, Ref<Storage> &storage) override {
    storage = Storage::allocate(runtime.memory, bytes);
    return storage ? Status()
                   : outOfMemory(runtime.memory, bytes, "a tensor on \"cpu\"");
  }
  Status accept(const Launch &) const override { return {}; }
  Status run(Launch &launch) override {
    return CallServices(runtime, runtime.memory, pool, launch).run(launch);
  }

private:
  astra_runtime &runtime;
  ThreadPool pool;
};

} // namespace

Status makeDevice_cpu(astra_runtime &runtime, Ref<Device> &device) {
  auto made = make<CpuDevice>(runtime);
  ASTRA_TRY(made->start());
  device = made;
  return {};
}

} // namespace astra
