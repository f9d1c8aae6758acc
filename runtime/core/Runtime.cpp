// The life of a runtime, and its public functions; see Runtime.h.
#include "core/Runtime.h"
#include "core/Cpu.h"
#include "core/CpuCount.h"
#include "core/Structs.h"
#include "core/Trace.h"
#include "devices/Devices.h"
#include <cstdio>

using namespace astra;

/// What one of several pools may keep.
static uint64_t keptLimitOf(const astra_runtime_options_t &options,
                            const NumaTopology &numa) {
  uint64_t all = options.kept_limit ? options.kept_limit
                                    : uint64_t(MemoryPool::usuallyKept);
  return all / numa.nodeCount();
}

/// Memory is bound to nodes only where there are several.
static int boundNode(const NumaTopology &numa, uint32_t node) {
  return numa.nodeCount() > 1 ? int(numa.systemNode(node)) : -1;
}

astra_runtime::astra_runtime(const astra_runtime_options_t &options)
    : numa("/sys/devices/system/node"), budget(options.memory_limit),
      memory(options.allocator, keptLimitOf(options, numa), budget,
             boundNode(numa, 0)),
      cpuLevel(options.cpu_level ? options.cpu_level : detectCpuLevel()),
      threads(options.threads ? options.threads : countCpus()),
      workers(options.workers ? *options.workers : astra_workers_t{}),
      kernels(cpuLevel), trace(std::make_unique<Trace>()), debug(options.debug),
      debugContext(options.debug_context) {
  for (uint32_t node = 1; node < numa.nodeCount(); ++node)
    otherNodes.push_back(std::make_unique<MemoryPool>(
        options.allocator, memory.keptLimit(), budget, boundNode(numa, node)));
}

astra_runtime::~astra_runtime() {
  endStreams();
  handles.clear();
}

/// Cancels what has not begun, waits for what runs and ends the threads.
/// Nothing is put in from here on, so what callbacks want cannot keep this from
/// ending.
void astra_runtime::endStreams() {
  ending = true;
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

Status astra::refuseRuntime(const astra_runtime *runtime) {
  ASTRA_TRY(need(runtime, "runtime"));
  return fail(ASTRA_ERROR_BUSY,
              "the runtime belongs to the process that this one was forked "
              "from; make one of its own with astra_runtime_create");
}

Status astra::refuseEnding() {
  return fail(ASTRA_ERROR_CANCELLED,
              "the runtime is being destroyed: nothing can be put in or made");
}

astra_memory_info_t astra::memoryInfo(const MemoryPool::Statistics &counts) {
  astra_memory_info_t info = {};
  info.live_bytes = counts.live;
  info.peak_bytes = counts.peak;
  info.allocations = counts.allocations;
  info.kept_bytes = counts.kept;
  info.reused = counts.reused;
  info.failed = counts.failed;
  return info;
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
      ASTRA_TRY(
          readStruct(ASTRA_GROWN_STRUCT_INFO(RUNTIME_OPTIONS,
                                             astra_runtime_options_t, workers),
                     options, &given));
    ASTRA_TRY(checkOptions(given));
    auto made = std::make_unique<astra_runtime>(given);
    ASTRA_TRY(makeDevices(*made));
    ASTRA_TRY(made->streamThreads.start(given.stream_threads));
    *runtime = made.release();
    return {};
  });
}

void astra_runtime_destroy(astra_runtime_t *runtime) {
  // A child has no threads to end; its copy of the memory goes with it.
  if (runtime && !runtime->forkGuard.isChild())
    delete runtime;
}

astra_status_t astra_runtime_memory(astra_runtime_t *runtime,
                                    astra_memory_info_t *info,
                                    astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    MemoryPool::Statistics all = runtime->memory.statistics();
    for (const std::unique_ptr<MemoryPool> &pool : runtime->otherNodes)
      all += pool->statistics();
    astra_memory_info_t full = memoryInfo(all);
    full.limit_bytes = runtime->memory.limit();
    full.live_handles = runtime->handles.liveCount();
    return writeStruct(ASTRA_STRUCT_INFO(MEMORY_INFO, astra_memory_info_t),
                       &full, info);
  });
}

astra_status_t astra_runtime_trim(astra_runtime_t *runtime, uint64_t keep,
                                  astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    for (uint32_t node = 0; node < runtime->numa.nodeCount(); ++node)
      runtime->memoryOf(node).trim(keep / runtime->numa.nodeCount());
    std::lock_guard<std::mutex> lock(runtime->deviceMutex);
    for (const Ref<Device> &device : runtime->devices) {
      if (DevicePool *own = device->ownMemory())
        own->trim(keep);
    }
    return {};
  });
}
