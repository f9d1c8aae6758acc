/* The function table for programs that load libastra_rt by path: dlopen it, find
 * "astra_get_api" with dlsym, ask it for ASTRA_API_VERSION. Members have the
 * names of the functions of astra.h without "astra_"; their rules are there.
 * The table only grows at its end: a member exists if it lies within
 * struct_size.
 *
 * Written by runtime/abi/generate.py from astra.h and abi/symbols.txt.
 */
#ifndef ASTRA_API_H
#define ASTRA_API_H

#include "astra/astra.h"

#ifdef __cplusplus
extern "C" {
#endif

struct astra_api {
  size_t struct_size;
  uint32_t api_version; /* ASTRA_API_VERSION */
  uint32_t reserved;
  uint32_t (*version)(void);
  const char *(*version_text)(void);
  void (*abi_version)(uint32_t *object_abi, uint32_t *arithmetic);
  astra_status_t (*error_status)(const astra_error_t *error);
  const char *(*error_message)(const astra_error_t *error);
  const char *(*error_location)(const astra_error_t *error);
  void (*error_release)(astra_error_t *error);
  const char *(*status_name)(astra_status_t status);
  uint32_t (*cpu_level)(void);
  const char *(*cpu_level_name)(uint32_t level);
  astra_status_t (*runtime_create)(const astra_runtime_options_t *options,
      astra_runtime_t **runtime, astra_error_t **error);
  void (*runtime_destroy)(astra_runtime_t *runtime);
  astra_status_t (*runtime_memory)(astra_runtime_t *runtime,
      astra_memory_info_t *info, astra_error_t **error);
  astra_status_t (*device_count)(astra_runtime_t *runtime, size_t *count,
      astra_error_t **error);
  astra_status_t (*device_info)(astra_runtime_t *runtime, size_t index,
      astra_device_info_t *info, astra_error_t **error);
  astra_status_t (*device_open)(astra_runtime_t *runtime, const char *name,
      astra_device_t *device, astra_error_t **error);
  astra_status_t (*device_release)(astra_runtime_t *runtime,
      astra_device_t device, astra_error_t **error);
  astra_status_t (*stream_create)(astra_runtime_t *runtime,
      astra_device_t device, const astra_stream_options_t *options,
      astra_stream_t *stream, astra_error_t **error);
  astra_status_t (*stream_wait)(astra_runtime_t *runtime, astra_stream_t stream,
      astra_error_t **error);
  astra_status_t (*stream_position)(astra_runtime_t *runtime,
      astra_stream_t stream, uint64_t *submitted, uint64_t *completed,
      astra_error_t **error);
  astra_status_t (*stream_release)(astra_runtime_t *runtime,
      astra_stream_t stream, astra_error_t **error);
  astra_status_t (*tensor_empty)(astra_runtime_t *runtime,
      astra_device_t device, uint32_t dtype, uint32_t rank,
      const int64_t *shape, astra_tensor_t *tensor, astra_error_t **error);
  astra_status_t (*tensor_from_data)(astra_runtime_t *runtime,
      astra_device_t device, uint32_t dtype, uint32_t rank,
      const int64_t *shape, const void *data, size_t bytes,
      astra_tensor_t *tensor, astra_error_t **error);
  astra_status_t (*tensor_borrow)(astra_runtime_t *runtime,
      const astra_borrow_t *borrow, astra_tensor_t *tensor,
      astra_error_t **error);
  astra_status_t (*tensor_retain)(astra_runtime_t *runtime,
      astra_tensor_t tensor, astra_error_t **error);
  astra_status_t (*tensor_release)(astra_runtime_t *runtime,
      astra_tensor_t tensor, astra_error_t **error);
  astra_status_t (*tensor_dtype)(astra_runtime_t *runtime,
      astra_tensor_t tensor, uint32_t *dtype, astra_error_t **error);
  astra_status_t (*tensor_shape)(astra_runtime_t *runtime,
      astra_tensor_t tensor, uint32_t capacity, uint32_t *rank, int64_t *shape,
      astra_error_t **error);
  astra_status_t (*tensor_strides)(astra_runtime_t *runtime,
      astra_tensor_t tensor, uint32_t capacity, uint32_t *rank,
      int64_t *strides, astra_error_t **error);
  astra_status_t (*tensor_state)(astra_runtime_t *runtime,
      astra_tensor_t tensor, uint32_t *state, astra_error_t **error);
  astra_status_t (*tensor_wait)(astra_runtime_t *runtime, astra_tensor_t tensor,
      astra_error_t **error);
  astra_status_t (*tensor_read)(astra_runtime_t *runtime, astra_tensor_t tensor,
      void *buffer, size_t bytes, astra_error_t **error);
  astra_status_t (*tensor_map)(astra_runtime_t *runtime, astra_tensor_t tensor,
      astra_device_t device, uint32_t access, uint64_t first, uint64_t count,
      astra_mapping_t *mapping, void **data, size_t *bytes,
      astra_error_t **error);
  astra_status_t (*tensor_unmap)(astra_runtime_t *runtime,
      astra_mapping_t mapping, astra_error_t **error);
  astra_status_t (*tensor_slice)(astra_runtime_t *runtime,
      astra_tensor_t tensor, const int64_t *starts, const int64_t *extents,
      const int64_t *steps, astra_tensor_t *view, astra_error_t **error);
  astra_status_t (*tensor_reshape)(astra_runtime_t *runtime,
      astra_tensor_t tensor, uint32_t rank, const int64_t *shape,
      astra_tensor_t *view, astra_error_t **error);
  astra_status_t (*tensor_transpose)(astra_runtime_t *runtime,
      astra_tensor_t tensor, const uint32_t *permutation, astra_tensor_t *view,
      astra_error_t **error);
  astra_status_t (*tensor_dense)(astra_runtime_t *runtime,
      astra_tensor_t tensor, astra_tensor_t *dense, astra_error_t **error);
  astra_status_t (*module_load)(astra_runtime_t *runtime, const char *path,
      astra_module_t *module, astra_error_t **error);
  astra_status_t (*module_link)(astra_runtime_t *runtime,
      const struct astra_module_desc *descriptor, astra_module_t *module,
      astra_error_t **error);
  astra_status_t (*module_release)(astra_runtime_t *runtime,
      astra_module_t module, astra_error_t **error);
  astra_status_t (*module_info)(astra_runtime_t *runtime, astra_module_t module,
      astra_module_info_t *info, astra_error_t **error);
  astra_status_t (*module_kernel)(astra_runtime_t *runtime,
      astra_module_t module, size_t index, const char **name, uint32_t *version,
      const char **variant, astra_error_t **error);
  astra_status_t (*module_function)(astra_runtime_t *runtime,
      astra_module_t module, const char *name, astra_function_t *function,
      astra_error_t **error);
  astra_status_t (*module_function_at)(astra_runtime_t *runtime,
      astra_module_t module, size_t index, astra_function_t *function,
      astra_error_t **error);
  astra_status_t (*function_release)(astra_runtime_t *runtime,
      astra_function_t function, astra_error_t **error);
  astra_status_t (*function_info)(astra_runtime_t *runtime,
      astra_function_t function, astra_function_info_t *info,
      astra_error_t **error);
  astra_status_t (*function_parameter)(astra_runtime_t *runtime,
      astra_function_t function, size_t index, astra_value_info_t *info,
      astra_error_t **error);
  astra_status_t (*function_result)(astra_runtime_t *runtime,
      astra_function_t function, size_t index, astra_value_info_t *info,
      astra_error_t **error);
  astra_status_t (*function_input)(astra_runtime_t *runtime,
      astra_function_t function, size_t index, astra_leaf_info_t *info,
      astra_error_t **error);
  astra_status_t (*function_output)(astra_runtime_t *runtime,
      astra_function_t function, size_t index, astra_leaf_info_t *info,
      astra_error_t **error);
  astra_status_t (*function_call)(astra_runtime_t *runtime,
      astra_function_t function, astra_stream_t stream,
      const astra_call_options_t *options, const astra_value_t *inputs,
      size_t input_count, astra_tensor_t *outputs, size_t output_count,
      astra_error_t **error);
  astra_status_t (*safetensors_save)(astra_runtime_t *runtime, const char *path,
      const char *const *names, const astra_tensor_t *tensors, size_t count,
      astra_error_t **error);
  astra_status_t (*safetensors_load)(astra_runtime_t *runtime, const char *path,
      astra_archive_t *archive, astra_error_t **error);
  astra_status_t (*archive_count)(astra_runtime_t *runtime,
      astra_archive_t archive, size_t *count, astra_error_t **error);
  astra_status_t (*archive_name)(astra_runtime_t *runtime,
      astra_archive_t archive, size_t index, const char **name,
      astra_error_t **error);
  astra_status_t (*archive_tensor)(astra_runtime_t *runtime,
      astra_archive_t archive, const char *name, astra_device_t device,
      astra_tensor_t *tensor, astra_error_t **error);
  astra_status_t (*archive_release)(astra_runtime_t *runtime,
      astra_archive_t archive, astra_error_t **error);
  astra_status_t (*npy_save)(astra_runtime_t *runtime, const char *path,
      astra_tensor_t tensor, astra_error_t **error);
  astra_status_t (*npy_load)(astra_runtime_t *runtime, const char *path,
      astra_device_t device, astra_tensor_t *tensor, astra_error_t **error);
  astra_status_t (*runtime_trim)(astra_runtime_t *runtime, uint64_t keep,
      astra_error_t **error);
  astra_status_t (*stream_run)(astra_runtime_t *runtime, astra_stream_t stream,
      uint64_t limit, uint64_t *done, astra_error_t **error);
  astra_status_t (*stream_cancel)(astra_runtime_t *runtime,
      astra_stream_t stream, astra_error_t **error);
  astra_status_t (*stream_callback)(astra_runtime_t *runtime,
      astra_stream_t stream, void (*done)(void *context, astra_status_t status),
      void *context, astra_error_t **error);
  astra_status_t (*event_create)(astra_runtime_t *runtime,
      const astra_event_options_t *options, astra_event_t *event,
      astra_error_t **error);
  astra_status_t (*event_record)(astra_runtime_t *runtime, astra_event_t event,
      astra_stream_t stream, astra_error_t **error);
  astra_status_t (*event_signal)(astra_runtime_t *runtime, astra_event_t event,
      astra_error_t **error);
  astra_status_t (*stream_wait_event)(astra_runtime_t *runtime,
      astra_stream_t stream, astra_event_t event, astra_error_t **error);
  astra_status_t (*event_wait)(astra_runtime_t *runtime, astra_event_t event,
      astra_error_t **error);
  astra_status_t (*event_state)(astra_runtime_t *runtime, astra_event_t event,
      uint32_t *state, astra_error_t **error);
  astra_status_t (*event_elapsed)(astra_runtime_t *runtime, astra_event_t first,
      astra_event_t second, int64_t *nanoseconds, astra_error_t **error);
  astra_status_t (*event_release)(astra_runtime_t *runtime, astra_event_t event,
      astra_error_t **error);
  astra_status_t (*tensor_callback)(astra_runtime_t *runtime,
      astra_tensor_t tensor, void (*done)(void *context, astra_status_t status,
      const astra_error_t *error), void *context, astra_error_t **error);
  astra_status_t (*tensor_partition)(astra_runtime_t *runtime,
      astra_tensor_t tensor, size_t count, const int64_t *starts,
      const int64_t *extents, const int64_t *steps, astra_tensor_t *parts,
      astra_error_t **error);
  astra_status_t (*tensor_copy)(astra_runtime_t *runtime, astra_stream_t stream,
      astra_tensor_t from, astra_tensor_t into, astra_tensor_t *tensor,
      astra_error_t **error);
  astra_status_t (*tensor_to_dlpack)(astra_runtime_t *runtime,
      astra_tensor_t tensor, struct DLManagedTensorVersioned **managed,
      astra_error_t **error);
  astra_status_t (*tensor_to_dlpack_legacy)(astra_runtime_t *runtime,
      astra_tensor_t tensor, struct DLManagedTensor **managed,
      astra_error_t **error);
  astra_status_t (*tensor_from_dlpack)(astra_runtime_t *runtime,
      astra_device_t device, struct DLManagedTensorVersioned *managed,
      astra_tensor_t *tensor, astra_error_t **error);
  astra_status_t (*tensor_from_dlpack_legacy)(astra_runtime_t *runtime,
      astra_device_t device, struct DLManagedTensor *managed,
      astra_tensor_t *tensor, astra_error_t **error);
  astra_status_t (*backend_load)(astra_runtime_t *runtime, const char *path,
      astra_error_t **error);
  astra_status_t (*device_extension)(astra_runtime_t *runtime,
      astra_device_t device, const char *name, uint32_t version,
      const astra_extension_t **table, astra_error_t **error);
  astra_status_t (*device_memory)(astra_runtime_t *runtime,
      astra_device_t device, uint32_t node, astra_memory_info_t *info,
      astra_error_t **error);
  astra_status_t (*event_callback)(astra_runtime_t *runtime,
      astra_event_t event, void (*done)(void *context, astra_status_t status),
      void *context, astra_error_t **error);
  astra_status_t (*event_export_fd)(astra_runtime_t *runtime,
      astra_event_t event, int *fd, astra_error_t **error);
  astra_status_t (*event_import)(astra_runtime_t *runtime,
      const astra_foreign_event_t *foreign, astra_event_t *event,
      astra_error_t **error);
};

/* X(name) for each member, in order. */
#define ASTRA_API_FUNCTIONS(X) \
  X(version) \
  X(version_text) \
  X(abi_version) \
  X(error_status) \
  X(error_message) \
  X(error_location) \
  X(error_release) \
  X(status_name) \
  X(cpu_level) \
  X(cpu_level_name) \
  X(runtime_create) \
  X(runtime_destroy) \
  X(runtime_memory) \
  X(device_count) \
  X(device_info) \
  X(device_open) \
  X(device_release) \
  X(stream_create) \
  X(stream_wait) \
  X(stream_position) \
  X(stream_release) \
  X(tensor_empty) \
  X(tensor_from_data) \
  X(tensor_borrow) \
  X(tensor_retain) \
  X(tensor_release) \
  X(tensor_dtype) \
  X(tensor_shape) \
  X(tensor_strides) \
  X(tensor_state) \
  X(tensor_wait) \
  X(tensor_read) \
  X(tensor_map) \
  X(tensor_unmap) \
  X(tensor_slice) \
  X(tensor_reshape) \
  X(tensor_transpose) \
  X(tensor_dense) \
  X(module_load) \
  X(module_link) \
  X(module_release) \
  X(module_info) \
  X(module_kernel) \
  X(module_function) \
  X(module_function_at) \
  X(function_release) \
  X(function_info) \
  X(function_parameter) \
  X(function_result) \
  X(function_input) \
  X(function_output) \
  X(function_call) \
  X(safetensors_save) \
  X(safetensors_load) \
  X(archive_count) \
  X(archive_name) \
  X(archive_tensor) \
  X(archive_release) \
  X(npy_save) \
  X(npy_load) \
  X(runtime_trim) \
  X(stream_run) \
  X(stream_cancel) \
  X(stream_callback) \
  X(event_create) \
  X(event_record) \
  X(event_signal) \
  X(stream_wait_event) \
  X(event_wait) \
  X(event_state) \
  X(event_elapsed) \
  X(event_release) \
  X(tensor_callback) \
  X(tensor_partition) \
  X(tensor_copy) \
  X(tensor_to_dlpack) \
  X(tensor_to_dlpack_legacy) \
  X(tensor_from_dlpack) \
  X(tensor_from_dlpack_legacy) \
  X(backend_load) \
  X(device_extension) \
  X(device_memory) \
  X(event_callback) \
  X(event_export_fd) \
  X(event_import)

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_API_H */
