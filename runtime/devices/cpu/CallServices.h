// What a running entry and its kernels may ask of the runtime: the function
// table of module.h for one call, with the record of its first error.
#ifndef ASTRA_RUNTIME_CALLSERVICES_H
#define ASTRA_RUNTIME_CALLSERVICES_H

#include "core/Launch.h"
#include "devices/cpu/Tapes.h"
#include "devices/cpu/ThreadPool.h"

namespace astra {

class CallServices {
public:
  CallServices(const astra_runtime &runtime, MemoryPool &memory,
               ThreadPool &threads, const Launch &launch);
  ~CallServices();
  CallServices(const CallServices &) = delete;
  CallServices &operator=(const CallServices &) = delete;

  /// Calls the entry with the call's leaves and gives its outcome.
  Status run(astra_backend_call_t &call);

private:
  static CallServices &of(const astra_call_t *call) {
    return *static_cast<CallServices *>(call->state);
  }
  static void parallelFor(const astra_call_t *call, int64_t count,
                          int64_t grain, astra_range_fn fn, void *context);
  static void *workspace(const astra_call_t *call, int64_t bytes);
  static void *scratch(const astra_call_t *call, int64_t bytes);
  static void scratchFree(const astra_call_t *call, void *memory);
  static astra_outcome_t recordError(const astra_call_t *call, int32_t code,
                                     const char *text);
  static astra_outcome_t recordValues(const astra_call_t *call, int32_t code,
                                      const char *text, const int64_t *values,
                                      uint64_t count);
  static void locate(const astra_call_t *call, uint32_t location);
  static void debug(const astra_call_t *call, const char *name,
                    const astra_arg_t *value);
  static void *tapeOpen(const astra_call_t *call, void *tape);
  static void *tapeEntry(const astra_call_t *call, void *tape, int64_t index,
                         int64_t bytes);
  static int64_t tapeLength(const astra_call_t *call, const void *tape);
  static void tapeClose(const astra_call_t *call, void *tape, uint32_t depth);

  static const astra_call_api_t table;

  const astra_runtime &runtime;
  MemoryPool &memory;
  ThreadPool &threads;
  const Launch &launch;
  astra_call_t context;
  std::mutex mutex;
  Block arena;                   // what the entry asks for at once
  std::vector<Block> workspaces; // beyond that
  Tapes tapes;
  int32_t errorCode = 0;
  char errorText[1024];
  bool located = false;
  uint32_t errorLocation = 0;
};

} // namespace astra
#endif // ASTRA_RUNTIME_CALLSERVICES_H
