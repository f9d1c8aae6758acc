// What the fuzzers of the runtime share: a runtime with a device and a stream,
// files in memory, and demands. Whatever the input, an error has a sentence and
// nothing is left over.
#ifndef ASTRA_TEST_FUZZ_MACHINE_H
#define ASTRA_TEST_FUZZ_MACHINE_H

#include "astra/astra.h"
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace astra::fuzz {

inline void demand(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Takes an error object. Only a lack of memory may come without a sentence.
inline astra_status_t settle(astra_status_t status, astra_error_t *error) {
  demand((status == ASTRA_OK) == (error == nullptr) ||
             status == ASTRA_ERROR_OUT_OF_MEMORY,
         "an error object comes with an error and only then");
  demand(!error || *astra_error_message(error), "an error has a sentence");
  astra_error_release(error);
  return status;
}
/// Calls a function whose last argument, after the given ones, is the error.
template <class Function, class... Arguments>
astra_status_t attempt(Function *function, Arguments... arguments) {
  astra_error_t *error = nullptr;
  astra_status_t status = function(arguments..., &error);
  return settle(status, error);
}
template <class Function, class... Arguments>
void mustWork(Function *function, Arguments... arguments) {
  demand(attempt(function, arguments...) == ASTRA_OK, "a plain call works");
}

/// A runtime without threads and with little memory.
struct Machine {
  Machine() {
    astra_runtime_options_t options;
    ASTRA_INIT(RUNTIME_OPTIONS, &options);
    options.threads = 1;
    options.memory_limit = 16u << 20;
    options.debug = [](void *, const char *) {};
    mustWork(astra_runtime_create, &options, &runtime);
    mustWork(astra_device_open, runtime, "cpu", &cpu);
    mustWork(astra_stream_create, runtime, cpu, nullptr, &stream);
  }
  ~Machine() { astra_runtime_destroy(runtime); }
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  astra_memory_info_t memory() const {
    astra_memory_info_t info;
    ASTRA_INIT(MEMORY_INFO, &info);
    mustWork(astra_runtime_memory, runtime, &info);
    return info;
  }
  /// Nothing but the device and the stream is left.
  void demandEmpty() const {
    astra_memory_info_t info = memory();
    demand(info.live_handles == 2, "every handle is given back");
    demand(info.live_bytes == 0, "all memory is given back");
  }

  astra_runtime_t *runtime = nullptr;
  astra_device_t cpu{0};
  astra_stream_t stream{0};
};

/// Reads all of a ready tensor and gives how many bytes it has.
inline size_t readAll(const Machine &machine, astra_tensor_t tensor) {
  uint32_t dtype = 0, rank = 0;
  int64_t shape[ASTRA_MAX_RANK] = {};
  mustWork(astra_tensor_dtype, machine.runtime, tensor, &dtype);
  mustWork(astra_tensor_shape, machine.runtime, tensor, ASTRA_MAX_RANK, &rank,
           &shape[0]);
  size_t bytes = (dtype >> 8 & 0xff) / 8;
  for (uint32_t axis = 0; axis < rank; ++axis)
    bytes *= size_t(shape[axis]);
  std::vector<char> data(bytes);
  mustWork(astra_tensor_read, machine.runtime, tensor,
           static_cast<void *>(data.data()), bytes);
  return bytes;
}

/// A regular file that exists in memory only.
class MemoryFile {
public:
  MemoryFile(const uint8_t *data, size_t size)
      : number(memfd_create("fuzz", MFD_CLOEXEC)) {
    demand(number >= 0, "there are files in memory");
    demand(write(number, data, size) == ssize_t(size), "it can be written");
  }
  ~MemoryFile() { close(number); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(number); }

private:
  int number;
};

} // namespace astra::fuzz
#endif // ASTRA_TEST_FUZZ_MACHINE_H
