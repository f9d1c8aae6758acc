// Makes the devices of Devices.def for a runtime.
#ifndef ASTRA_RUNTIME_DEVICES_H
#define ASTRA_RUNTIME_DEVICES_H

#include "core/Runtime.h"

namespace astra {

Status makeDevices(astra_runtime &runtime);

#define DEVICE(name)                                                           \
  Status makeDevice_##name(astra_runtime &runtime, Ref<Device> &device);
#include "devices/Devices.def"
#undef DEVICE

} // namespace astra
#endif // ASTRA_RUNTIME_DEVICES_H
