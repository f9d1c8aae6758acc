// The life of a runtime, and its public functions; see Runtime.h.
#include "core/Runtime.h"
#include "core/Cpu.h"
#include "core/CpuCount.h"
#include "core/Structs.h"
#include "core/Trace.h"
#include "devices/Devices.h"
#include <cstdio>

using namespace astra;

static MemoryPool::Limits limitsOf(const astra_runtime_options_t &options) {
  MemoryPool::Limits limits;
  limits.total = options.memory_limit;
  if (options.kept_limit)
    limits.kept = options.kept_limit;
  return limits;
}

astra_runtime::astra_runtime(const astra_runtime_options_t &options)
    : memory(options.allocator, limitsOf(options)),
      cpuLevel(options.cpu_level ? options.cpu_level : detectCpuLevel()),
      threads(options.threads ? options.threads : countCpus()),
      workers(options.workers ? *options.workers : astra_workers_t{}),
      kernels(cpuLevel), trace(std::make_unique<Trace>()), debug(options.debug),
      debugContext(options.debug_context) {}

astra_runtime::~astra_runtime() {
  endStreams();
  handles.clear();
}

/// Cancels what has not begun, waits for what runs and ends the threads.
void astra_runtime::endStreams() {
  {
    std::lock_guard<std::mutex> lock(streamMutex);
    for (Stream *each = firstStream; each; each = each->nextAlive)
      each->refuseWork();
  }
  streamThreads.stop();
  for (;;) {
    Ref<Stream> stream;
    {
      std::lock_guard<std::mutex> lock(streamMutex);
      Stream *each = firstStream;
      while (each && !each->hasWork())
        each = each->nextAlive;
      if (!each)
        return;
      stream = Ref<Stream>(each); // its work holds a reference
    }
    stream->cancel();
  }
}

void astra_runtime::writeDebug(const std::string &text) const {
  if (debug)
    debug(debugContext, text.c_str());
  else
    std::fprintf(stderr, "%s\n", text.c_str());
}

namespace {

constexpr uint32_t mostThreads = 4096;

Status checkLevel(uint32_t wanted) {
  uint32_t machine = detectCpuLevel();
#if defined(__x86_64__)
  if (machine < ASTRA_CPU_X86_64_V3)
    return fail(ASTRA_ERROR_CPU_LEVEL,
                "this processor lacks instructions of x86-64-v3 (AVX2, FMA, "
                "BMI2), which Astra needs");
#endif
  bool known = wanted == ASTRA_CPU_BEST || wanted == ASTRA_CPU_REFERENCE ||
               wanted == ASTRA_CPU_X86_64_V3 || wanted == ASTRA_CPU_X86_64_V4 ||
               wanted == ASTRA_CPU_NEON;
  if (!known)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "cpu_level ", wanted,
                " is unknown");
  if (wanted != ASTRA_CPU_BEST && !hasCpuLevel(wanted))
    return fail(ASTRA_ERROR_CPU_LEVEL, "cpu_level asks for ",
                astra_cpu_level_name(wanted), ", but this processor has ",
                astra_cpu_level_name(machine));
  return {};
}

Status checkOptions(const astra_runtime_options_t &options) {
  if (options.threads > mostThreads || options.stream_threads > mostThreads)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "threads is ", options.threads,
                " and stream_threads ", options.stream_threads, "; at most ",
                mostThreads, " are possible");
  if (options.reserved)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "reserved is ", options.reserved,
                "; set 0");
  const astra_allocator_t *allocator = options.allocator;
  if (allocator && (!allocator->allocate || !allocator->release))
    return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                "an allocator needs both functions, allocate and release");
  if (options.workers && !options.workers->run)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT,
                "the program's workers need the function run");
  return checkLevel(options.cpu_level);
}

} // namespace

Status astra::needRuntime(const astra_runtime *runtime) {
  return need(runtime, "runtime");
}

astra_status_t astra::releaseHandle(astra_runtime *runtime, Kind kind,
                                    uint64_t bits, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    return runtime->handles.release(kind, bits);
  });
}

astra_status_t astra_runtime_create(const astra_runtime_options_t *options,
                                    astra_runtime_t **runtime,
                                    astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(need(runtime, "runtime"));
    *runtime = nullptr;
    astra_runtime_options_t given = {};
    if (options)
      ASTRA_TRY(readStruct(
          ASTRA_STRUCT_INFO(RUNTIME_OPTIONS, astra_runtime_options_t), options,
          &given));
    ASTRA_TRY(checkOptions(given));
    auto made = std::make_unique<astra_runtime>(given);
    ASTRA_TRY(makeDevices(*made));
    ASTRA_TRY(made->streamThreads.start(given.stream_threads));
    *runtime = made.release();
    return {};
  });
}

void astra_runtime_destroy(astra_runtime_t *runtime) { delete runtime; }

astra_status_t astra_runtime_memory(astra_runtime_t *runtime,
                                    astra_memory_info_t *info,
                                    astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    MemoryPool::Statistics counts = runtime->memory.statistics();
    astra_memory_info_t full = {};
    full.live_bytes = counts.live;
    full.peak_bytes = counts.peak;
    full.allocations = counts.allocations;
    full.kept_bytes = counts.kept;
    full.limit_bytes = runtime->memory.limit();
    full.reused = counts.reused;
    full.failed = counts.failed;
    full.live_handles = runtime->handles.liveCount();
    return writeStruct(ASTRA_STRUCT_INFO(MEMORY_INFO, astra_memory_info_t),
                       &full, info);
  });
}

astra_status_t astra_runtime_trim(astra_runtime_t *runtime, uint64_t keep,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    runtime->memory.trim(keep);
    return {};
  });
}
