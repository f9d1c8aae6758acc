// libFuzzer target: any bytes as a compiled file that is described and not
// loaded. If it is accepted, all that it says of itself can be asked for, and
// calls of its functions fail.
#include "Machine.h"

using namespace astra::fuzz;

static void ask(const Machine &machine, astra_module_t module, size_t index) {
  astra_runtime_t *runtime = machine.runtime;
  astra_function_t function{0};
  mustWork(astra_module_function_at, runtime, module, index, &function);
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  mustWork(astra_function_info, runtime, function, &info);
  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  for (size_t i = 0; i < info.input_count; ++i)
    mustWork(astra_function_input, runtime, function, i, &leaf);
  for (size_t i = 0; i < info.output_count; ++i)
    mustWork(astra_function_output, runtime, function, i, &leaf);
  const char *source = nullptr;
  mustWork(astra_function_source, runtime, function, &source);
  mustWork(astra_function_release, runtime, function);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Machine machine;
  MemoryFile file(data, size);
  std::string path = file.path();
  astra_module_t module{0};
  if (attempt(astra_module_inspect, machine.runtime, path.c_str(), &module) ==
      ASTRA_OK) {
    astra_module_info_t info;
    ASTRA_INIT(MODULE_INFO, &info);
    mustWork(astra_module_info, machine.runtime, module, &info);
    for (size_t i = 0; i < info.function_count; ++i)
      ask(machine, module, i);
    astra_kernel_info_t kernel;
    ASTRA_INIT(KERNEL_INFO, &kernel);
    for (size_t i = 0; i < info.kernel_count; ++i)
      mustWork(astra_module_kernel_info, machine.runtime, module, i, &kernel);
    mustWork(astra_module_release, machine.runtime, module);
  }
  machine.demandEmpty();
  return 0;
}
