// Back ends: the table is checked and opened, and its devices become devices of
// the runtime; plug-ins are loaded by path. See Backend.h.
#include "core/Backend.h"
#include "core/Module.h"
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>

namespace astra {
namespace {

/// Before each block that a back end has, so that it can be released without
/// its size; as long as the alignment.
struct alignas(MemoryPool::alignment) HostHeader {
  MemoryPool &pool;
  Block block;
};

void *allocateOnHost(void *context, size_t bytes) {
  MemoryPool &pool = static_cast<astra_runtime *>(context)->memoryHere();
  if (bytes > SIZE_MAX - sizeof(HostHeader))
    return nullptr;
  Block block = pool.allocate(bytes + sizeof(HostHeader));
  return block ? new (block.memory) HostHeader{pool, block} + 1 : nullptr;
}

void releaseOnHost(void *, void *memory) {
  if (!memory)
    return;
  HostHeader header = *(static_cast<HostHeader *>(memory) - 1);
  header.pool.release(header.block);
}

/// On the processor, the first row of Devices.def. Others may load a back end
/// meanwhile, which moves the list of devices.
astra_status_t runOnHost(void *context, astra_backend_call_t *call,
                         const astra_arg_t *in, astra_arg_t *out,
                         char *message) {
  auto &runtime = *static_cast<astra_runtime *>(context);
  Ref<Device> host;
  {
    std::lock_guard<std::mutex> lock(runtime.deviceMutex);
    host = runtime.devices[0];
  }
  astra_backend_call_t there = *call;
  there.in = in;
  there.out = out;
  astra_status_t status = host->runTable(there, message);
  call->failed_at = there.failed_at;
  return status;
}

Status checkTable(const astra_backend_t *table) {
  if (!table || !table->name)
    return fail(ASTRA_ERROR_INVALID_STRUCT,
                "the back end gives no table, or one without a name");
  std::string what = join("the back end \"", table->name, "\"");
  if (table->backend_abi != ASTRA_BACKEND_ABI)
    return fail(ASTRA_ERROR_UNSUPPORTED_VERSION, what, " is of version ",
                table->backend_abi,
                " of the interface of back ends, but this library knows ",
                ASTRA_BACKEND_ABI);
  const astra_chain_t &chain = table->chain;
  if (chain.type != ASTRA_STRUCT_BACKEND || chain.reserved || chain.next ||
      chain.struct_size < sizeof(astra_backend_t))
    return fail(ASTRA_ERROR_INVALID_STRUCT, what, " has a table of type ",
                chain.type, " and ", chain.struct_size, " bytes, but ",
                uint32_t(ASTRA_STRUCT_BACKEND), " and ",
                sizeof(astra_backend_t), " are needed");
  if (!table->open || !table->close || !table->describe)
    return fail(ASTRA_ERROR_INVALID_STRUCT, what,
                " lacks open, close or describe");
  return {};
}

/// What a device can do needs functions of the table.
Status checkDevice(const astra_backend_t &table,
                   const astra_backend_device_t &info) {
  std::string what = join("a device of the back end \"", table.name, "\"");
  if (!info.name || !info.description)
    return fail(ASTRA_ERROR_INVALID_STRUCT, what,
                " has no name or no description");
  bool ownMemory = !(info.capabilities & ASTRA_CAPABILITY_HOST_MEMORY);
  if (ownMemory && (!table.allocate || !table.release || !table.upload ||
                    !table.download || !table.copy))
    return fail(ASTRA_ERROR_INVALID_STRUCT, what,
                " has memory of its own, but not all functions for it");
  if ((info.capabilities & ASTRA_CAPABILITY_CALLS) && !table.run)
    return fail(ASTRA_ERROR_INVALID_STRUCT, what,
                " runs functions, but has no function \"run\"");
  return {};
}

Status describe(const Backend &backend, uint32_t index,
                astra_backend_device_t &info) {
  info = {};
  info.chain.type = ASTRA_STRUCT_BACKEND_DEVICE;
  info.chain.struct_size = sizeof info;
  char message[ASTRA_BACKEND_MESSAGE] = "";
  astra_status_t status =
      backend.table->describe(backend.state, index, &info, message);
  if (status != ASTRA_OK)
    return fail(status, "device ", index, " of the back end \"",
                backend.table->name, "\": ", message);
  return checkDevice(*backend.table, info);
}

/// Adds devices whose names are new; all of them or none.
Status addDevices(astra_runtime &runtime, std::vector<Ref<Device>> devices) {
  std::lock_guard<std::mutex> lock(runtime.deviceMutex);
  for (const Ref<Device> &device : devices) {
    for (const Ref<Device> &known : runtime.devices) {
      if (std::strcmp(known->name(), device->name()) == 0)
        return fail(ASTRA_ERROR_INVALID_ARGUMENT, "there is a device \"",
                    device->name(), "\" already");
    }
  }
  size_t total = runtime.devices.size() + devices.size();
  runtime.devices.reserve(total);
  runtime.deviceHandles.resize(total);
  for (Ref<Device> &device : devices)
    runtime.devices.push_back(std::move(device));
  return {};
}

Status loadBackend(astra_runtime &runtime, const char *path) {
  // A path without a slash would be looked for in the system's folders.
  std::string file = std::strchr(path, '/') ? path : join("./", path);
  struct stat status = {};
  if (stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fail(ASTRA_ERROR_IO, "the back end \"", path,
                "\" cannot be loaded: it is not a regular file");
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ASTRA_ERROR_IO, "the back end \"", path,
                "\" cannot be loaded: ", dlerror());
  auto library = make<Library>(handle);
  void *symbol = dlsym(handle, ASTRA_BACKEND_ENTRY);
  if (!symbol)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "\"", path,
                "\" is no back end of version ", ASTRA_BACKEND_ABI,
                ": it defines no " ASTRA_BACKEND_ENTRY);
  auto entry = reinterpret_cast<astra_backend_entry_fn>(symbol);
  return openBackend(runtime, make<Backend>(entry(), std::move(library)));
}

} // namespace

Backend::Backend(const astra_backend_t *table, Ref<Library> library)
    : table(table), library(std::move(library)) {}

Backend::~Backend() {
  if (isOpen)
    table->close(state);
}

Status openBackend(astra_runtime &runtime, const Ref<Backend> &backend) {
  const astra_backend_t *table = backend->table;
  ASTRA_TRY(checkTable(table));
  backend->host = {
      {ASTRA_STRUCT_BACKEND_HOST, 0, sizeof backend->host, nullptr},
      &runtime,
      runtime.cpuLevel,
      runtime.threads,
      allocateOnHost,
      releaseOnHost,
      runOnHost};
  uint32_t count = 0;
  char message[ASTRA_BACKEND_MESSAGE] = "";
  astra_status_t status =
      table->open(&backend->host, &backend->state, &count, message);
  if (status != ASTRA_OK)
    return fail(status, "the back end \"", table->name,
                "\" cannot be opened: ", message);
  backend->isOpen = true;
  std::vector<Ref<Device>> devices;
  for (uint32_t index = 0; index < count; ++index) {
    astra_backend_device_t info;
    ASTRA_TRY(describe(*backend, index, info));
    devices.push_back(make<Device>(runtime, backend, index, info));
  }
  return addDevices(runtime, std::move(devices));
}

} // namespace astra

using namespace astra;

astra_status_t astra_backend_load(astra_runtime_t *runtime, const char *path,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    ASTRA_TRY(need(path, "path"));
    return loadBackend(*runtime, path);
  });
}
