// The public functions of devices.
#include "core/Runtime.h"
#include "core/Structs.h"
#include <cstring>

using namespace astra;

namespace {

Status findDevice(const astra_runtime &runtime, const char *name,
                  size_t &index) {
  std::string names;
  for (index = 0; index < runtime.devices.size(); ++index) {
    const char *known = runtime.devices[index]->name();
    if (std::strcmp(known, name) == 0)
      return {};
    names += join(names.empty() ? "" : ", ", known);
  }
  return fail(ASTRA_ERROR_MISSING_DEVICE, "there is no device \"", name,
              "\"; this machine has: ", names);
}

} // namespace

astra_status_t astra_device_count(astra_runtime_t *runtime, size_t *count,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    ASTRA_TRY(need(count, "count"));
    *count = runtime->devices.size();
    return {};
  });
}

astra_status_t astra_device_info(astra_runtime_t *runtime, size_t index,
                                 astra_device_info_t *info,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    if (index >= runtime->devices.size())
      return fail(ASTRA_ERROR_OUT_OF_RANGE, "there is no device ", index,
                  "; this machine has ", runtime->devices.size());
    const Device &device = *runtime->devices[index];
    astra_device_info_t full = {};
    full.name = device.name();
    full.description = device.description();
    full.cpu_level = device.cpuLevel();
    full.threads = device.threads();
    return writeStruct(ASTRA_STRUCT_INFO(DEVICE_INFO, astra_device_info_t),
                       &full, info);
  });
}

astra_status_t astra_device_open(astra_runtime_t *runtime, const char *name,
                                 astra_device_t *device,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, device, "device"));
    ASTRA_TRY(need(name, "name"));
    size_t index = 0;
    ASTRA_TRY(findDevice(*runtime, name, index));
    std::lock_guard<std::mutex> lock(runtime->deviceMutex);
    uint64_t &open = runtime->deviceHandles[index];
    if (open && runtime->handles.retain(Kind::Device, open).ok()) {
      device->bits = open;
      return {};
    }
    ASTRA_TRY(runtime->insert(runtime->devices[index], *device));
    open = device->bits;
    return {};
  });
}

astra_status_t astra_device_release(astra_runtime_t *runtime,
                                    astra_device_t device,
                                    astra_error_t **error) {
  return releaseHandle(runtime, Kind::Device, device.bits, error);
}
