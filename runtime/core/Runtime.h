// The runtime object: everything that exists hangs off it, and nothing is
// global. Also the steps that every public function begins with.
#ifndef ASTRA_RUNTIME_RUNTIME_H
#define ASTRA_RUNTIME_RUNTIME_H

#include "core/Device.h"
#include "core/ForkGuard.h"
#include "core/Handles.h"
#include "core/Kernels.h"
#include "core/Numa.h"
#include "core/StreamThreads.h"
#include <memory>

namespace astra {
class Trace;
}

namespace astra {
/// What callbacks are told that want new work while the runtime is destroyed.
Status refuseEnding();
} // namespace astra

struct astra_runtime {
  explicit astra_runtime(const astra_runtime_options_t &options);
  ~astra_runtime();

  /// The object of a handle.
  template <class Handle, class T>
  astra::Status get(Handle handle, astra::Ref<T> &object) const {
    return handles.lookup(handle.bits, object);
  }
  /// A handle with one reference to a new object; none while all are dropped.
  template <class Handle, class T>
  astra::Status insert(astra::Ref<T> object, Handle &handle) {
    if (isEnding())
      return astra::refuseEnding();
    return handles.insert(T::kind, std::move(object), handle.bits);
  }
  /// Whether the runtime is being destroyed. Only callbacks are about then.
  bool isEnding() const { return ending.load(std::memory_order_relaxed); }
  void writeDebug(const std::string &text) const;

  const astra::ForkGuard forkGuard;
  /// The pool of the node that this thread runs on.
  astra::MemoryPool &memoryHere() {
    uint32_t node = numa.here();
    return node ? *otherNodes[node - 1] : memory;
  }
  /// The pool of a node, below numa.nodeCount().
  astra::MemoryPool &memoryOf(uint32_t node) {
    return node ? *otherNodes[node - 1] : memory;
  }

  const astra::NumaTopology numa;
  astra::Budget budget;
  astra::MemoryPool memory; // outlives what is in the other members
  std::vector<std::unique_ptr<astra::MemoryPool>> otherNodes; // from node 1 on
  uint32_t cpuLevel;
  uint32_t threads;
  astra_workers_t workers; // the program's; without `run`: none
  astra::KernelSet kernels;
  std::vector<astra::Ref<astra::Device>> devices;
  std::vector<uint64_t> deviceHandles; // of those that are open
  std::mutex deviceMutex;
  // Streams that exist; those without handles may still have work.
  std::mutex streamMutex;
  astra::Stream *firstStream = nullptr;
  astra::StreamThreads streamThreads;
  const std::unique_ptr<astra::Trace> trace; // of what streams have done
  astra::HandleTable handles;

private:
  void endStreams();

  std::atomic<bool> ending{false};
  void (*debug)(void *context, const char *text);
  void *debugContext;
};

namespace astra {

/// Why a runtime cannot be used: null, or of another process.
Status refuseRuntime(const astra_runtime *runtime);

inline Status needRuntime(const astra_runtime *runtime) {
  if (runtime && !runtime->forkGuard.isChild())
    return {};
  return refuseRuntime(runtime);
}

/// Checks a runtime that is to be given work.
inline Status needWorking(const astra_runtime *runtime) {
  ASTRA_TRY(needRuntime(runtime));
  return runtime->isEnding() ? refuseEnding() : Status();
}

/// Checks the runtime and a handle output, which becomes null.
template <class Handle>
Status beginOutput(astra_runtime *runtime, Handle *output, const char *name) {
  if (output)
    output->bits = 0;
  ASTRA_TRY(needRuntime(runtime));
  return need(output, name);
}

/// Checks the runtime and looks a handle up.
template <class Handle, class T>
Status getObject(astra_runtime *runtime, Handle handle, Ref<T> &object) {
  ASTRA_TRY(needRuntime(runtime));
  return runtime->get(handle, object);
}

/// Statistics as the C API gives them; without handles and limit.
astra_memory_info_t memoryInfo(const MemoryPool::Statistics &counts);

/// The body of every public _release function.
astra_status_t releaseHandle(astra_runtime *runtime, Kind kind, uint64_t bits,
                             astra_error_t **error);

} // namespace astra
#endif // ASTRA_RUNTIME_RUNTIME_H
