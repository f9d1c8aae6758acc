// Devices: what the core asks for, put to the table of the back end; see
// Device.h.
#include "core/Device.h"
#include "core/Launch.h"
#include "core/Structs.h"
#include <cstring>

namespace astra {
namespace {

astra_extension_backend_t accessTo(const Backend &backend, uint32_t index) {
  astra_extension_backend_t access{};
  access.extension.chain.type = ASTRA_STRUCT_EXTENSION;
  access.extension.chain.struct_size = sizeof access;
  access.extension.name = ASTRA_EXTENSION_BACKEND;
  access.extension.version = ASTRA_BACKEND_ABI;
  access.backend = backend.table;
  access.state = backend.state;
  access.device = index;
  return access;
}

/// Gives a block of a device back with the storage that had it.
struct OwnedBlock {
  DevicePool &pool;
  DevicePool::Block block;

  static void release(void *context, void *) {
    std::unique_ptr<OwnedBlock> self(static_cast<OwnedBlock *>(context));
    self->pool.release(self->block);
  }
};

astra_device_pointer_t pointerOf(const Storage &storage) {
  return {reinterpret_cast<uintptr_t>(storage.data()), storage.generation};
}

} // namespace

Status BackendMessage::status(astra_status_t code, const Device &device,
                              const char *what) const {
  if (code == ASTRA_OK)
    return {};
  if (text[0])
    return Status(code, text);
  return fail(code, what, " on the device \"", device.name(), "\" failed with ",
              astra_status_name(code), " (", code, ")");
}

Device::Device(astra_runtime &runtime, Ref<Backend> given, uint32_t index,
               const astra_backend_device_t &info)
    : runtime(runtime), backend(std::move(given)), index(index), info(info),
      access(accessTo(*backend, index)),
      own(info.capabilities & ASTRA_CAPABILITY_HOST_MEMORY
              ? nullptr
              : new DevicePool(*backend->table, backend->state, index,
                               runtime.memory.keptLimit())) {}

Device::~Device() = default;

Status Device::allocate(size_t bytes, Ref<Storage> &storage) {
  if (!own) {
    MemoryPool &pool = runtime.memoryHere();
    storage = Storage::allocate(pool, bytes);
    return storage
               ? Status()
               : outOfMemory(pool, bytes, join("a tensor on \"", name(), "\""));
  }
  auto holder = std::make_unique<OwnedBlock>(OwnedBlock{*own, {}});
  BackendMessage message;
  ASTRA_TRY(message.status(own->allocate(bytes, holder->block, message.text),
                           *this, "an allocation"));
  const astra_device_pointer_t &memory = holder->block.memory;
  Status made = guarded([&]() -> Status {
    storage = Storage::borrow(reinterpret_cast<void *>(memory.address), bytes);
    return {};
  });
  if (!made.ok()) {
    own->release(holder->block);
    return made;
  }
  storage->generation = memory.generation;
  storage->setRelease(OwnedBlock::release, holder.release());
  return {};
}

Status Device::upload(const Storage &to, size_t offset, const void *from,
                      size_t bytes) const {
  if (bytes == 0)
    return {};
  if (!own) {
    std::memcpy(static_cast<char *>(to.data()) + offset, from, bytes);
    return {};
  }
  BackendMessage message;
  astra_status_t status = backend->table->upload(
      backend->state, index, pointerOf(to), offset, from, bytes, message.text);
  return message.status(status, *this, "a copy from the host");
}

Status Device::download(const Storage &from, size_t offset, void *to,
                        size_t bytes) const {
  if (bytes == 0)
    return {};
  if (!own) {
    std::memcpy(to, static_cast<const char *>(from.data()) + offset, bytes);
    return {};
  }
  BackendMessage message;
  astra_status_t status = backend->table->download(
      backend->state, index, pointerOf(from), offset, to, bytes, message.text);
  return message.status(status, *this, "a copy to the host");
}

Status Device::accept(const Launch &launch) const {
  if (!(info.capabilities & ASTRA_CAPABILITY_CALLS))
    return fail(ASTRA_ERROR_UNIMPLEMENTED, "the device \"", name(),
                "\" runs no functions; make a stream on another device");
  if (!backend->table->accept)
    return {};
  astra_backend_call_t call{};
  call.chain.type = ASTRA_STRUCT_BACKEND_CALL;
  call.chain.struct_size = sizeof call;
  call.module = &launch.module->descriptor();
  call.function = launch.function;
  BackendMessage message;
  astra_status_t status =
      backend->table->accept(backend->state, index, &call, message.text);
  return message.status(status, *this, "a call");
}

Status Device::run(Launch &launch) const {
  astra_backend_call_t call = {
      {ASTRA_STRUCT_BACKEND_CALL, 0, sizeof call, nullptr},
      &launch.module->descriptor(),
      launch.function,
      launch.dims.data(),
      launch.workspaceBytes,
      launch.in.data(),
      launch.out.data(),
      nullptr,
      nullptr,
      &launch,
      0};
  return own ? runWithPointers(launch, call) : runCall(launch, call);
}

/// Adds the memory that the leaves lie in.
Status Device::runWithPointers(const Launch &launch,
                               astra_backend_call_t &call) const {
  std::vector<astra_device_pointer_t> in(launch.inputs.size()), out;
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    if (launch.inputs[i])
      in[i] = pointerOf(*launch.inputs[i]->storage);
  }
  for (const Ref<Tensor> &output : launch.outputs)
    out.push_back(pointerOf(*output->storage));
  call.in_memory = in.data();
  call.out_memory = out.data();
  return runCall(launch, call);
}

Status Device::runCall(const Launch &launch, astra_backend_call_t &call) const {
  BackendMessage message;
  astra_status_t code = runTable(call, message.text);
  if (code == ASTRA_OK)
    return {};
  Status status = message.status(code, *this, launch.name().c_str());
  if (call.failed_at)
    status.setLocation(launch.module->location(call.failed_at - 1));
  return status;
}

Status Device::extension(const char *wanted, uint32_t version,
                         const astra_extension_t *&table) const {
  table = nullptr;
  if (std::strcmp(wanted, ASTRA_EXTENSION_BACKEND) == 0 &&
      version == access.extension.version)
    table = &access.extension;
  else if (backend->table->extension)
    table = backend->table->extension(backend->state, index, wanted, version);
  if (!table)
    return fail(ASTRA_ERROR_NOT_FOUND, "the device \"", name(),
                "\" has no extension \"", wanted, "\" of version ", version);
  bool isRight = table->chain.type == ASTRA_STRUCT_EXTENSION &&
                 table->chain.struct_size >= sizeof *table && table->name &&
                 std::strcmp(table->name, wanted) == 0 &&
                 table->version == version;
  if (isRight)
    return {};
  table = nullptr;
  return fail(ASTRA_ERROR_INTERNAL, "the back end of the device \"", name(),
              "\" answers with another extension than \"", wanted,
              "\" of version ", version);
}

uint32_t Device::memoryNodes() const {
  return own ? 1 : runtime.numa.nodeCount();
}

Status Device::memoryOf(uint32_t node, MemoryPool::Statistics &counts) const {
  if (node >= memoryNodes())
    return fail(ASTRA_ERROR_OUT_OF_RANGE, "the device \"", name(),
                "\" has no memory node ", node, "; it has ", memoryNodes());
  counts = own ? own->statistics() : runtime.memoryOf(node).statistics();
  return {};
}

} // namespace astra
