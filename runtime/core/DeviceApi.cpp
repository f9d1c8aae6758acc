// The public functions of devices.
#include "core/Runtime.h"
#include "core/Structs.h"
#include <cstring>

using namespace astra;

namespace {

/// The lock of devices is held, here and below.
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
    std::lock_guard<std::mutex> lock(runtime->deviceMutex);
    *count = runtime->devices.size();
    return {};
  });
}

astra_status_t astra_device_info(astra_runtime_t *runtime, size_t index,
                                 astra_device_info_t *info,
                                 astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    std::lock_guard<std::mutex> lock(runtime->deviceMutex);
    if (index >= runtime->devices.size())
      return fail(ASTRA_ERROR_OUT_OF_RANGE, "there is no device ", index,
                  "; this machine has ", runtime->devices.size());
    const Device &device = *runtime->devices[index];
    astra_device_info_t full = {};
    const astra_backend_device_t &known = device.description();
    full.name = known.name;
    full.description = known.description;
    full.cpu_level = known.cpu_level;
    full.threads = known.threads;
    full.capabilities = known.capabilities;
    full.memory_nodes = device.memoryNodes();
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
    std::lock_guard<std::mutex> lock(runtime->deviceMutex);
    size_t index = 0;
    ASTRA_TRY(findDevice(*runtime, name, index));
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

astra_status_t astra_device_extension(astra_runtime_t *runtime,
                                      astra_device_t device, const char *name,
                                      uint32_t version,
                                      const astra_extension_t **table,
                                      astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Device> object;
    ASTRA_TRY(getObject(runtime, device, object));
    ASTRA_TRY(need(name, "name"));
    ASTRA_TRY(need(table, "table"));
    const astra_extension_t *found = nullptr;
    ASTRA_TRY(object->extension(name, version, found));
    *table = found;
    return {};
  });
}

astra_status_t astra_device_memory(astra_runtime_t *runtime,
                                   astra_device_t device, uint32_t node,
                                   astra_memory_info_t *info,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Device> object;
    ASTRA_TRY(getObject(runtime, device, object));
    MemoryPool::Statistics counts;
    ASTRA_TRY(object->memoryOf(node, counts));
    astra_memory_info_t full = memoryInfo(counts);
    if (object->sharesHostMemory())
      full.limit_bytes = runtime->memory.limit();
    return writeStruct(ASTRA_STRUCT_INFO(MEMORY_INFO, astra_memory_info_t),
                       &full, info);
  });
}
