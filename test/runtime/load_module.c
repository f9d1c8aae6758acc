/* Loads a module by path and says what it holds, or the one sentence why not.
 */
#include "astra/astra.h"
#include <stdio.h>

static int refuse(astra_error_t *error) {
  fprintf(stderr, "%s\n", astra_error_message(error));
  astra_error_release(error);
  return 1;
}

int main(int argc, char **argv) {
  astra_error_t *error = NULL;
  astra_runtime_t *runtime = NULL;
  if (argc != 2)
    return 2;
  if (astra_runtime_create(NULL, &runtime, &error))
    return refuse(error);
  astra_module_t module;
  int status = 0;
  if (astra_module_load(runtime, argv[1], &module, &error)) {
    status = refuse(error);
  } else {
    astra_module_info_t info;
    ASTRA_INIT(MODULE_INFO, &info);
    if (astra_module_info(runtime, module, &info, &error))
      status = refuse(error);
    else
      printf("loaded %s: %zu functions, %zu kernels\n", info.name,
             info.function_count, info.kernel_count);
    astra_module_release(runtime, module, NULL);
  }
  astra_runtime_destroy(runtime);
  return status;
}
