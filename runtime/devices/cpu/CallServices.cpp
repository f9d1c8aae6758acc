// The services of one call; see CallServices.h. Nothing here throws: entries
// and kernels are C, and unwinding through them is undefined.
#include "devices/cpu/CallServices.h"
#include "core/Cpu.h"
#include "core/DebugText.h"
#include "devices/cpu/CallWatch.h"
#include <algorithm>
#include <cstdio>

namespace astra {
namespace {

/// Before each scratch block, so that it can be freed without its size; as long
/// as the alignment.
struct alignas(MemoryPool::alignment) ScratchHeader {
  Block block;
};

} // namespace

const astra_call_api_t CallServices::table = {sizeof(astra_call_api_t),
                                              parallelFor,
                                              workspace,
                                              scratch,
                                              scratchFree,
                                              recordError,
                                              locate,
                                              debug,
                                              recordValues,
                                              tapeOpen,
                                              tapeEntry,
                                              tapeLength,
                                              tapeClose};

CallServices::CallServices(const astra_runtime &runtime, MemoryPool &memory,
                           ThreadPool &threads, const Launch &launch)
    : runtime(runtime), memory(memory), threads(threads), launch(launch),
      context{sizeof(astra_call_t), &table, this, launch.dims.data(),
              launch.module->kernels().data()},
      tapes(memory) {
  errorText[0] = 0;
}

CallServices::~CallServices() {
  if (arena)
    memory.release(arena);
  for (const Block &block : workspaces)
    memory.release(block);
}

Status CallServices::run(astra_backend_call_t &call) {
  astra_outcome_t outcome = 0;
  {
    FpScope state;
    outcome = launch.getWatch() & Watch::bits
                  ? CallWatch(context, launch, call, *runtime.trace).run()
                  : launch.function->entry(&context, call.in, call.out);
  }
  if (outcome == 0 && errorCode == 0)
    return {};
  Status status;
  status.code = errorCode ? errorCode : outcome;
  status.setMessage(errorCode
                        ? std::string(errorText)
                        : join(launch.name(), " failed with ",
                               astra_status_name(outcome), " (", outcome, ")"));
  if (located)
    call.failed_at = uint64_t(errorLocation) + 1;
  return status;
}

void CallServices::parallelFor(const astra_call_t *call, int64_t count,
                               int64_t grain, astra_range_fn fn,
                               void *context) {
  of(call).threads.run(count, grain, fn, context);
}

void *CallServices::workspace(const astra_call_t *call, int64_t bytes) {
  CallServices &self = of(call);
  Block block = bytes < 0 ? Block() : self.memory.allocate(size_t(bytes));
  if (block) {
    std::lock_guard<std::mutex> lock(self.mutex);
    if (!self.arena)
      return (self.arena = block).memory;
    try {
      self.workspaces.push_back(block);
      return block.memory;
    } catch (const std::bad_alloc &) {
      self.memory.release(block);
    }
  }
  char text[128];
  std::snprintf(text, sizeof text,
                "there is no memory for the %lld bytes of a workspace",
                static_cast<long long>(bytes));
  recordError(call, ASTRA_ERROR_OUT_OF_MEMORY, text);
  return nullptr;
}

void *CallServices::scratch(const astra_call_t *call, int64_t bytes) {
  CallServices &self = of(call);
  size_t total = size_t(bytes) + sizeof(ScratchHeader);
  Block block = bytes < 0 ? Block() : self.memory.allocate(total);
  if (!block) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "there is no memory for the %lld bytes of a kernel's scratch",
                  static_cast<long long>(bytes));
    recordError(call, ASTRA_ERROR_OUT_OF_MEMORY, text);
    return nullptr;
  }
  auto *header = new (block.memory) ScratchHeader{block};
  return header + 1;
}

void CallServices::scratchFree(const astra_call_t *call, void *memory) {
  if (!memory)
    return;
  // A copy: the header lies in the memory that is released.
  ScratchHeader header = *(static_cast<ScratchHeader *>(memory) - 1);
  of(call).memory.release(header.block);
}

astra_outcome_t CallServices::recordError(const astra_call_t *call,
                                          int32_t code, const char *text) {
  CallServices &self = of(call);
  std::lock_guard<std::mutex> lock(self.mutex);
  if (self.errorCode == 0) {
    self.errorCode = code;
    std::snprintf(self.errorText, sizeof self.errorText, "%s",
                  text ? text : "");
  }
  return code;
}

astra_outcome_t CallServices::recordValues(const astra_call_t *call,
                                           int32_t code, const char *text,
                                           const int64_t *values,
                                           uint64_t count) {
  char sentence[sizeof errorText];
  size_t used = 0;
  uint64_t next = 0;
  while (*text && used + 1 < sizeof sentence) {
    if (text[0] != '{' || text[1] != '}' || next == count) {
      sentence[used++] = *text++;
      continue;
    }
    int length = std::snprintf(sentence + used, sizeof sentence - used, "%lld",
                               static_cast<long long>(values[next++]));
    used = std::min(used + size_t(length), sizeof sentence - 1);
    text += 2;
  }
  sentence[used] = 0;
  return recordError(call, code, sentence);
}

void CallServices::locate(const astra_call_t *call, uint32_t location) {
  CallServices &self = of(call);
  std::lock_guard<std::mutex> lock(self.mutex);
  if (!self.located)
    self.errorLocation = location;
  self.located = true;
}

void CallServices::debug(const astra_call_t *call, const char *name,
                         const astra_arg_t *value) {
  try {
    of(call).runtime.writeDebug(debugText(name, *value));
  } catch (const std::bad_alloc &) {
    recordError(call, ASTRA_ERROR_OUT_OF_MEMORY,
                "there is no memory for the text of a debug value");
  }
}

//===-- Tapes -------------------------------------------------------------===//

void *CallServices::tapeOpen(const astra_call_t *call, void *tape) {
  if (!tape && !(tape = of(call).tapes.open()))
    recordError(
        call, ASTRA_ERROR_OUT_OF_MEMORY,
        "there is no memory for what a loop leaves to its reverse pass");
  return tape;
}

void *CallServices::tapeEntry(const astra_call_t *call, void *tape,
                              int64_t index, int64_t bytes) {
  void *entry = of(call).tapes.entry(*static_cast<Tape *>(tape), index, bytes);
  if (entry)
    return entry;
  const int64_t values[] = {bytes, index};
  recordValues(call, ASTRA_ERROR_OUT_OF_MEMORY,
               "there is no memory for the {} bytes that step {} of a loop "
               "leaves to its reverse pass; `checkpoint` makes the loop keep "
               "fewer of them",
               values, 2);
  return nullptr;
}

int64_t CallServices::tapeLength(const astra_call_t *, const void *tape) {
  return tape ? static_cast<const Tape *>(tape)->length() : 0;
}

void CallServices::tapeClose(const astra_call_t *call, void *tape,
                             uint32_t depth) {
  if (tape)
    of(call).tapes.close(*static_cast<Tape *>(tape), depth);
}

} // namespace astra
