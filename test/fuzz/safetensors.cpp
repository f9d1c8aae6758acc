// libFuzzer target: any bytes as a safetensors file. If it is accepted, every
// tensor can be read, and together they have all bytes of the data.
#include "Machine.h"
#include <cstring>

using namespace astra::fuzz;

static void readArchive(const Machine &machine, astra_archive_t archive,
                        size_t dataBytes) {
  size_t count = 0, bytes = 0;
  mustWork(astra_archive_count, machine.runtime, archive, &count);
  for (size_t i = 0; i < count; ++i) {
    const char *name = nullptr;
    mustWork(astra_archive_name, machine.runtime, archive, i, &name);
    astra_tensor_t tensor{0};
    // A name with a zero byte in it cannot be asked for.
    if (attempt(astra_archive_tensor, machine.runtime, archive, name,
                machine.cpu, &tensor) != ASTRA_OK)
      continue;
    bytes += readAll(machine, tensor);
    mustWork(astra_tensor_release, machine.runtime, tensor);
  }
  demand(bytes <= dataBytes, "tensors lie inside the file");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Machine machine;
  MemoryFile file(data, size);
  std::string path = file.path();
  astra_archive_t archive{0};
  if (attempt(astra_safetensors_load, machine.runtime, path.c_str(),
              &archive) == ASTRA_OK) {
    uint64_t headerBytes = 0;
    std::memcpy(&headerBytes, data, sizeof headerBytes);
    readArchive(machine, archive, size - sizeof headerBytes - headerBytes);
    mustWork(astra_archive_release, machine.runtime, archive);
  }
  machine.demandEmpty();
  return 0;
}
