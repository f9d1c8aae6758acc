// libFuzzer target: any bytes through the check of module files that comes
// before the system's loader. Nothing is loaded.
#include "core/Elf.h"
#include "Machine.h"

using namespace astra;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::MemoryFile file(data, size);
  Status status = checkModuleFile(file.path());
  fuzz::demand(status.ok() || *status.message(), "a refusal has a sentence");
  return 0;
}
