// The list of devices; see Devices.h.
#include "devices/Devices.h"

astra::Status astra::makeDevices(astra_runtime &runtime) {
  using MakeFn = Status (*)(astra_runtime &, Ref<Device> &);
  constexpr MakeFn makers[] = {
#define DEVICE(name) makeDevice_##name,
#include "devices/Devices.def"
#undef DEVICE
  };
  for (MakeFn maker : makers) {
    Ref<Device> device;
    ASTRA_TRY(maker(runtime, device));
    runtime.devices.push_back(std::move(device));
  }
  runtime.deviceHandles.resize(runtime.devices.size());
  return {};
}
