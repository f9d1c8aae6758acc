/* Tensors: making, reading, mapping, viewing and splitting them, and the
 * exchange with other libraries. See astra.h for the rules that hold for every
 * function.
 */
#ifndef ASTRA_TENSOR_H
#define ASTRA_TENSOR_H

#include "astra/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tensors ------------------------------------------------------------- */

/* Tensors are immutable once a second party can see them: the only one that may
 * be written is one from astra_tensor_empty, through a mapping, before it is
 * passed anywhere. Shapes and strides are in elements; buffers in bytes. A bool
 * is one byte, 0 or 1. */

/* Makes a dense tensor (last axis fastest) with unspecified contents.
 * Ownership: one reference, to astra_tensor_release.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT for a dtype or shape that no
 *   tensor has; OVERFLOW; OUT_OF_MEMORY. */
ASTRA_API astra_status_t astra_tensor_empty(astra_runtime_t *runtime,
                                            astra_device_t device,
                                            uint32_t dtype, uint32_t rank,
                                            const int64_t *shape,
                                            astra_tensor_t *tensor,
                                            astra_error_t **error);

/* Makes a dense tensor from a copy of host memory; `bytes` must be exactly
 * its size.
 * Ownership: one reference, to astra_tensor_release; `data` stays the
 *   caller's.
 * Threads: any.
 * Errors: as astra_tensor_empty; COUNT_MISMATCH for another size;
 *   INVALID_ARGUMENT for a bool that is neither 0 nor 1. */
ASTRA_API astra_status_t astra_tensor_from_data(
    astra_runtime_t *runtime, astra_device_t device, uint32_t dtype,
    uint32_t rank, const int64_t *shape, const void *data, size_t bytes,
    astra_tensor_t *tensor, astra_error_t **error);

typedef struct astra_borrow {
  astra_chain_t chain; /* ASTRA_STRUCT_BORROW */
  astra_device_t device;
  uint32_t dtype;
  uint32_t rank;
  const int64_t *shape;
  const int64_t *strides; /* in elements, may be 0 or negative; null: dense */
  int64_t offset;         /* of the element at index 0, in elements */
  void *buffer;           /* aligned to the element */
  size_t buffer_bytes;    /* every element must lie inside */
  /* Called once when the memory is no longer needed, on whatever thread drops
   * the last use; may be null. It must not call into the runtime. Not called if
   * astra_tensor_borrow fails. */
  void (*release)(void *context, void *buffer);
  void *context;
} astra_borrow_t;

/* Makes a tensor of the caller's memory without a copy. The memory must stay,
 * and stay unchanged, until `release`. The struct may go at once. A bool must
 * be 0 or 1; strides of no elements count for nothing.
 * Ownership: one reference, to astra_tensor_release; the buffer stays the
 *   caller's.
 * Threads: any; `release` runs on the one that drops the last use.
 * Errors: as astra_tensor_empty; INVALID_STRUCT; OUT_OF_RANGE if an element
 *   lies outside the buffer; INVALID_ARGUMENT for a buffer that is not
 *   aligned or a bool that is neither; DEVICE_MISMATCH for a device that cannot
 *   use the host's memory. */
ASTRA_API astra_status_t astra_tensor_borrow(astra_runtime_t *runtime,
                                             const astra_borrow_t *borrow,
                                             astra_tensor_t *tensor,
                                             astra_error_t **error);

/* Adds a reference to the handle.
 * Ownership: one more reference, to astra_tensor_release.
 * Threads: any.
 * Errors: INVALID_HANDLE; BUSY while it is mapped for writing;
 *   OUT_OF_RESOURCES after 2^32 - 1. */
ASTRA_API astra_status_t astra_tensor_retain(astra_runtime_t *runtime,
                                             astra_tensor_t tensor,
                                             astra_error_t **error);

/* Gives a reference back.
 * Ownership: takes one reference; views, mappings and work keep the memory.
 * Threads: any; `release` of borrowed memory may run on it.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_tensor_release(astra_runtime_t *runtime,
                                              astra_tensor_t tensor,
                                              astra_error_t **error);

/* The dtype, ASTRA_F32 and so on.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_tensor_dtype(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            uint32_t *dtype,
                                            astra_error_t **error);

/* The rank, and up to `capacity` extents. For a pending tensor whose shape is
 * not known this may wait. `shape` may be null if capacity is 0.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT if `shape` is null and `capacity`
 *   is not 0. */
ASTRA_API astra_status_t astra_tensor_shape(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            uint32_t capacity, uint32_t *rank,
                                            int64_t *shape,
                                            astra_error_t **error);

/* As astra_tensor_shape, with the strides.
 * Ownership: none.
 * Threads: any.
 * Errors: as astra_tensor_shape. */
ASTRA_API astra_status_t astra_tensor_strides(astra_runtime_t *runtime,
                                              astra_tensor_t tensor,
                                              uint32_t capacity, uint32_t *rank,
                                              int64_t *strides,
                                              astra_error_t **error);

enum {
  ASTRA_TENSOR_PENDING = 0,
  ASTRA_TENSOR_READY = 1,
  ASTRA_TENSOR_FAILED = 2
};

/* Whether the tensor has been computed, ASTRA_TENSOR_*. Never waits.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_tensor_state(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            uint32_t *state,
                                            astra_error_t **error);

/* Waits until the tensor is ready; reports the error if its work failed.
 * Ownership: none.
 * Threads: any but one that does the work (BUSY); it may do the work itself.
 * Errors: INVALID_HANDLE; BUSY while it is mapped for writing or a part of it
 *   may still be written; else the error of the work. */
ASTRA_API astra_status_t astra_tensor_wait(astra_runtime_t *runtime,
                                           astra_tensor_t tensor,
                                           astra_error_t **error);

/* Calls `done` once the tensor is ready or has failed; `error` is null or
 * lives during the call. If that is so already, `done` is called before this
 * returns, else on the thread that does the tensor's work (see Streams).
 * Called exactly once if this succeeds, else never.
 * Ownership: `context` stays the caller's, until `done` has been called.
 * Threads: any; `done` runs on it or on the one that does the work.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT if `done` is null; BUSY while it is
 *   mapped for writing or a part of it may still be written. */
ASTRA_API astra_status_t
astra_tensor_callback(astra_runtime_t *runtime, astra_tensor_t tensor,
                      void (*done)(void *context, astra_status_t status,
                                   const astra_error_t *error),
                      void *context, astra_error_t **error);

/* Copies the elements, dense and row-major, into `buffer`; `bytes` must be
 * exactly the tensor's size. Waits.
 * Ownership: the buffer stays the caller's.
 * Threads: as astra_tensor_wait.
 * Errors: as astra_tensor_wait; COUNT_MISMATCH for another size; BUSY while
 *   it is mapped for writing. */
ASTRA_API astra_status_t astra_tensor_read(astra_runtime_t *runtime,
                                           astra_tensor_t tensor, void *buffer,
                                           size_t bytes, astra_error_t **error);

enum { ASTRA_MAP_READ = 1, ASTRA_MAP_WRITE = 2 };

/* As `count` of astra_tensor_map: to the end. */
#define ASTRA_WHOLE UINT64_MAX

/* Makes `count` elements from element `first` on (row-major order) visible to
 * the host as dense memory at *data, *bytes long. Waits. A tensor that is not
 * dense is copied for ASTRA_MAP_READ. ASTRA_MAP_WRITE needs a tensor from
 * astra_tensor_empty with one reference, no view and no other mapping, that
 * was passed to no call (else BUSY). `device` says where the memory must be
 * visible: the null handle or "cpu". A tensor with a write mapping cannot be
 * used.
 * Ownership: one mapping, to astra_tensor_unmap, which keeps the memory.
 * Threads: as astra_tensor_wait.
 * Errors: INVALID_HANDLE; BUSY; OUT_OF_RANGE; INVALID_ARGUMENT for another
 *   access; UNIMPLEMENTED for another device; LAYOUT_MISMATCH for a part to
 *   write that is not dense; else the error of the work. */
ASTRA_API astra_status_t astra_tensor_map(
    astra_runtime_t *runtime, astra_tensor_t tensor, astra_device_t device,
    uint32_t access, uint64_t first, uint64_t count, astra_mapping_t *mapping,
    void **data, size_t *bytes, astra_error_t **error);

/* Ends a mapping. What was written counts from here on.
 * Ownership: takes the mapping; *data is not the caller's any more.
 * Threads: any.
 * Errors: INVALID_HANDLE; where the tensor is on a device with memory of its
 *   own, the error of bringing the contents there. */
ASTRA_API astra_status_t astra_tensor_unmap(astra_runtime_t *runtime,
                                            astra_mapping_t mapping,
                                            astra_error_t **error);

/* Views: new tensors that share the storage. They never copy. */

/* The elements starts[a] + k * steps[a], k below extents[a], of each axis a;
 * steps may be negative, and null for 1. Arrays have one entry per axis.
 * Ownership: one reference, to astra_tensor_release; it keeps the memory.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE; INVALID_ARGUMENT for a negative extent;
 *   BUSY while it is mapped for writing. */
ASTRA_API astra_status_t astra_tensor_slice(
    astra_runtime_t *runtime, astra_tensor_t tensor, const int64_t *starts,
    const int64_t *extents, const int64_t *steps, astra_tensor_t *view,
    astra_error_t **error);

/* The same elements in the same order with another shape.
 * Ownership: one reference, to astra_tensor_release; it keeps the memory.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT for a rank or extent that no tensor
 *   has; SHAPE_MISMATCH for another number of elements; LAYOUT_MISMATCH if the
 *   strides do not allow it (see astra_tensor_dense); BUSY. */
ASTRA_API astra_status_t astra_tensor_reshape(
    astra_runtime_t *runtime, astra_tensor_t tensor, uint32_t rank,
    const int64_t *shape, astra_tensor_t *view, astra_error_t **error);

/* Axis a of the view is axis permutation[a] of the tensor.
 * Ownership: one reference, to astra_tensor_release; it keeps the memory.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT for what is no permutation; BUSY. */
ASTRA_API astra_status_t astra_tensor_transpose(astra_runtime_t *runtime,
                                                astra_tensor_t tensor,
                                                const uint32_t *permutation,
                                                astra_tensor_t *view,
                                                astra_error_t **error);

/* A dense tensor of the same elements: a view if it is dense already, else a
 * copy (waits).
 * Ownership: one reference, to astra_tensor_release.
 * Threads: as astra_tensor_wait.
 * Errors: INVALID_HANDLE; BUSY; OUT_OF_MEMORY; else the error of the work. */
ASTRA_API astra_status_t astra_tensor_dense(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            astra_tensor_t *dense,
                                            astra_error_t **error);

/* Parts: slices of one buffer that several streams or threads write at once. */

/* The most parts of one partition. */
#define ASTRA_MOST_PARTS 4096u

/* Splits a writable tensor (see ASTRA_MAP_WRITE) into `count` slices, at most
 * ASTRA_MOST_PARTS; arrays as in astra_tensor_slice, one row of rank entries
 * for each part. Each part is a writable tensor: map it for writing, make it
 * the target of a call, or copy into it. The parts must not share an element;
 * they need not cover the tensor. The tensor itself cannot be written any
 * more. It can be read, viewed or passed on once each part has been written
 * by work, read or released (before that: BUSY), and then waits for the work
 * that writes the parts, or fails with it. If the arguments are refused the
 * tensor stays as it was.
 * Ownership: `count` references, each to astra_tensor_release; the tensor's
 *   stays.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT names two parts that share an
 *   element; OUT_OF_RANGE; BUSY for a tensor that cannot be written. */
ASTRA_API astra_status_t astra_tensor_partition(
    astra_runtime_t *runtime, astra_tensor_t tensor, size_t count,
    const int64_t *starts, const int64_t *extents, const int64_t *steps,
    astra_tensor_t *parts, astra_error_t **error);

/* Puts a copy of `from` to `into` into a stream. `into` must be writable (see
 * astra_call_options_t; it need not be dense) and of the same dtype, shape
 * and device; it is consumed, and *tensor takes its place.
 * Ownership: takes `into`, once the arguments are valid; one reference, to
 *   astra_tensor_release.
 * Threads: any.
 * Errors: INVALID_HANDLE; BUSY if `into` cannot be written; DEVICE_MISMATCH;
 *   DTYPE_MISMATCH; SHAPE_MISMATCH. */
ASTRA_API astra_status_t astra_tensor_copy(
    astra_runtime_t *runtime, astra_stream_t stream, astra_tensor_t from,
    astra_tensor_t into, astra_tensor_t *tensor, astra_error_t **error);

/* ---- Exchange with other libraries --------------------------------------- */

/* DLPack's structs; a program that uses these functions includes DLPack's own
 * header. Version 1, and the unversioned structs before it (`_legacy`). */
struct DLManagedTensorVersioned;
struct DLManagedTensor;

/* Gives a tensor to another library without a copy. Waits for it. The memory
 * is marked as read-only, and kept until the other side calls the deleter, on
 * any thread, which must be before astra_runtime_destroy.
 * Ownership: *managed belongs to whoever calls its deleter, once.
 * Threads: as astra_tensor_wait; the deleter runs on any.
 * Errors: INVALID_HANDLE; BUSY; DEVICE_MISMATCH for memory that the host does
 *   not see; else the error of the work. */
ASTRA_API astra_status_t astra_tensor_to_dlpack(
    astra_runtime_t *runtime, astra_tensor_t tensor,
    struct DLManagedTensorVersioned **managed, astra_error_t **error);

/* The same with the struct before version 1, which cannot say that the memory
 * is read-only.
 * Ownership: as astra_tensor_to_dlpack.
 * Threads: as astra_tensor_to_dlpack.
 * Errors: as astra_tensor_to_dlpack. */
ASTRA_API astra_status_t astra_tensor_to_dlpack_legacy(
    astra_runtime_t *runtime, astra_tensor_t tensor,
    struct DLManagedTensor **managed, astra_error_t **error);

/* Makes a tensor of another library's memory without a copy: of the host,
 * ready to read, and unchanged from then on. The deleter is called once.
 * Ownership: takes *managed if it succeeds; one reference, to
 *   astra_tensor_release.
 * Threads: any; the deleter runs on the one that drops the last use.
 * Errors: INVALID_HANDLE; UNSUPPORTED_VERSION for a version other than 1.x;
 *   DEVICE_MISMATCH for memory that is not the host's; UNIMPLEMENTED for an
 *   element type that Astra does not have; OVERFLOW; INVALID_ARGUMENT for bad
 *   data. If this fails the deleter is not
 *   called. */
ASTRA_API astra_status_t
astra_tensor_from_dlpack(astra_runtime_t *runtime, astra_device_t device,
                         struct DLManagedTensorVersioned *managed,
                         astra_tensor_t *tensor, astra_error_t **error);

/* The same with the struct before version 1.
 * Ownership: as astra_tensor_from_dlpack.
 * Threads: as astra_tensor_from_dlpack.
 * Errors: as astra_tensor_from_dlpack. */
ASTRA_API astra_status_t
astra_tensor_from_dlpack_legacy(astra_runtime_t *runtime, astra_device_t device,
                                struct DLManagedTensor *managed,
                                astra_tensor_t *tensor, astra_error_t **error);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_TENSOR_H */
