// The host's processor as a back end: tensors in the host's memory, entries
// called on the stream's thread with the workers of one pool beside it. It is
// part of the library, so it may look behind the table: what the host gives as
// its context is the runtime.
#include "devices/cpu/CallServices.h"
#include <cstdio>
#include <cstring>

using namespace astra;

namespace {

struct Cpu {
  explicit Cpu(astra_runtime &runtime) : runtime(runtime) {}

  Status start() {
    if (!runtime.workers.run)
      return pool.start(runtime.threads - 1);
    pool.lend(runtime.workers, runtime.threads);
    return {};
  }

  astra_runtime &runtime;
  ThreadPool pool;
};

/// Tells an error by its code, its sentence and its place.
astra_status_t tell(const Status &status, char *message) {
  std::snprintf(message, ASTRA_BACKEND_MESSAGE, "%s", status.message());
  return status.code;
}

astra_status_t open(const astra_backend_host_t *host, void **state,
                    uint32_t *deviceCount, char *message) {
  Status status = guarded([&]() -> Status {
    auto &runtime = *static_cast<astra_runtime *>(host->context);
    auto made = std::make_unique<Cpu>(runtime);
    ASTRA_TRY(made->start());
    *state = made.release();
    *deviceCount = 1;
    return {};
  });
  return tell(status, message);
}

void close(void *state) { delete static_cast<Cpu *>(state); }

astra_status_t describe(void *state, uint32_t, astra_backend_device_t *info,
                        char *) {
  const astra_runtime &runtime = static_cast<Cpu *>(state)->runtime;
  info->name = "cpu";
  info->description = "the host's processor";
  info->capabilities = ASTRA_CAPABILITY_HOST_MEMORY | ASTRA_CAPABILITY_CALLS;
  info->cpu_level = runtime.cpuLevel;
  info->threads = runtime.threads;
  return ASTRA_OK;
}

astra_status_t run(void *state, uint32_t, astra_backend_call_t *call,
                   char *message) {
  Cpu &cpu = *static_cast<Cpu *>(state);
  const Launch &launch = *static_cast<const Launch *>(call->launch);
  CallServices services(cpu.runtime, cpu.runtime.memoryHere(), cpu.pool,
                        launch);
  Status status = guarded([&] { return services.run(*call); });
  return status.ok() ? ASTRA_OK : tell(status, message);
}

constexpr astra_backend_t table = {
    {ASTRA_STRUCT_BACKEND, 0, sizeof(astra_backend_t), nullptr},
    ASTRA_BACKEND_ABI,
    0,
    "cpu",
    open,
    close,
    describe,
    nullptr, // memory is the host's
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr, // every call is accepted
    run,
    nullptr};

} // namespace

extern "C" const astra_backend_t *astra_backend_cpu(void) { return &table; }
