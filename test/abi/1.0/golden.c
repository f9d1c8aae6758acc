/* Runs a module without knowing it: every function that takes no inputs is
 * called, and each of its outputs is printed with its dtype, shape and bits.
 * The program is written against the header of release 1.0, and must go on to
 * compile and run.
 *
 * Usage: golden MODULE
 */
#include "astra/astra.h"
#include <stdio.h>
#include <stdlib.h>

static void stop(astra_error_t *error) {
  fprintf(stderr, "%s: %s\n", astra_status_name(astra_error_status(error)),
          astra_error_message(error));
  exit(1);
}
#define CHECK(CALL)                                                            \
  do {                                                                         \
    astra_error_t *error = NULL;                                               \
    if (CALL != ASTRA_OK)                                                      \
      stop(error);                                                             \
  } while (0)

static void print_output(astra_runtime_t *runtime, const char *name,
                         const char *path, astra_tensor_t tensor) {
  uint32_t dtype = 0, rank = 0;
  int64_t shape[ASTRA_MAX_RANK];
  astra_mapping_t mapping;
  astra_device_t host = {0};
  void *data = NULL;
  size_t bytes = 0;
  CHECK(astra_tensor_dtype(runtime, tensor, &dtype, &error));
  CHECK(astra_tensor_shape(runtime, tensor, ASTRA_MAX_RANK, &rank, shape,
                           &error));
  printf("%s %s %08x", name, *path ? path : "-", (unsigned)dtype);
  for (uint32_t axis = 0; axis < rank; ++axis)
    printf(" %lld", (long long)shape[axis]);
  printf(" :");
  CHECK(astra_tensor_map(runtime, tensor, host, ASTRA_MAP_READ, 0, ASTRA_WHOLE,
                         &mapping, &data, &bytes, &error));
  for (size_t i = 0; i < bytes; ++i)
    printf("%s%02x", i % 8 ? "" : " ", ((const unsigned char *)data)[i]);
  printf("\n");
  CHECK(astra_tensor_unmap(runtime, mapping, &error));
}

static void run(astra_runtime_t *runtime, astra_function_t function,
                astra_stream_t stream) {
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  CHECK(astra_function_info(runtime, function, &info, &error));
  if (info.input_count || (info.flags & ASTRA_FUNCTION_TEST))
    return;
  astra_tensor_t *outputs = calloc(info.output_count + 1, sizeof *outputs);
  if (!outputs)
    exit(1);
  CHECK(astra_function_call(runtime, function, stream, NULL, NULL, 0, outputs,
                            info.output_count, &error));
  for (size_t i = 0; i < info.output_count; ++i) {
    astra_leaf_info_t leaf;
    ASTRA_INIT(LEAF_INFO, &leaf);
    CHECK(astra_function_output(runtime, function, i, &leaf, &error));
    print_output(runtime, info.name, leaf.path, outputs[i]);
    CHECK(astra_tensor_release(runtime, outputs[i], &error));
  }
  free(outputs);
}

int main(int argc, char **argv) {
  astra_runtime_t *runtime = NULL;
  astra_device_t cpu;
  astra_stream_t stream;
  astra_module_t module;
  astra_module_info_t info;
  if (argc != 2)
    return 2;
  CHECK(astra_runtime_create(NULL, &runtime, &error));
  CHECK(astra_device_open(runtime, "cpu", &cpu, &error));
  CHECK(astra_stream_create(runtime, cpu, NULL, &stream, &error));
  CHECK(astra_module_load(runtime, argv[1], &module, &error));
  ASTRA_INIT(MODULE_INFO, &info);
  CHECK(astra_module_info(runtime, module, &info, &error));
  printf("%s, object ABI %u, arithmetic %u\n", info.name,
         (unsigned)info.object_abi, (unsigned)info.arithmetic);
  for (size_t i = 0; i < info.function_count; ++i) {
    astra_function_t function;
    CHECK(astra_module_function_at(runtime, module, i, &function, &error));
    run(runtime, function, stream);
    CHECK(astra_function_release(runtime, function, &error));
  }
  CHECK(astra_module_release(runtime, module, &error));
  astra_runtime_destroy(runtime);
  return 0;
}
