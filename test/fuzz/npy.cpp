// libFuzzer target: any bytes as an npy file. If it is accepted, the tensor can
// be read and is no larger than the file.
#include "Machine.h"

using namespace astra::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Machine machine;
  MemoryFile file(data, size);
  std::string path = file.path();
  astra_tensor_t tensor{0};
  if (attempt(astra_npy_load, machine.runtime, path.c_str(), machine.cpu,
              &tensor) == ASTRA_OK) {
    demand(readAll(machine, tensor) < size, "the tensor lies inside the file");
    mustWork(astra_tensor_release, machine.runtime, tensor);
  }
  machine.demandEmpty();
  return 0;
}
