/* Tensors in files: safetensors and NumPy's format. See astra.h for the rules
 * that hold for every function.
 */
#ifndef ASTRA_FILE_H
#define ASTRA_FILE_H

#include "astra/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files --------------------------------------------------------------- */

/* Files are written beside their place and then moved there, so that a reader
 * never sees half of one. A NaN is written as the quiet NaN with positive sign
 * and no payload. Saving waits for the tensors. */

/* Writes a safetensors file of `count` named tensors, in this order.
 * Ownership: none.
 * Threads: as astra_tensor_wait.
 * Errors: INVALID_HANDLE; IO; INVALID_ARGUMENT for a name that stands twice,
 *   is not UTF-8 or is "__metadata__", or names that no reader takes, being
 *   longer than 100 MiB in all; else the error of a tensor's work. */
ASTRA_API astra_status_t astra_safetensors_save(
    astra_runtime_t *runtime, const char *path, const char *const *names,
    const astra_tensor_t *tensors, size_t count, astra_error_t **error);

/* Opens a safetensors file and checks it as a whole.
 * Ownership: one reference, to astra_archive_release.
 * Threads: any.
 * Errors: IO; CORRUPT_FILE names what is wrong; UNIMPLEMENTED for a dtype that
 *   Astra does not have; OUT_OF_MEMORY. */
ASTRA_API astra_status_t astra_safetensors_load(astra_runtime_t *runtime,
                                                const char *path,
                                                astra_archive_t *archive,
                                                astra_error_t **error);

/* The number of tensors in the archive.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_archive_count(astra_runtime_t *runtime,
                                             astra_archive_t archive,
                                             size_t *count,
                                             astra_error_t **error);

/* The name of tensor `index`, in the order of their data in the file.
 * Ownership: the string belongs to the archive.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE. */
ASTRA_API astra_status_t astra_archive_name(astra_runtime_t *runtime,
                                            astra_archive_t archive,
                                            size_t index, const char **name,
                                            astra_error_t **error);

/* A tensor by name, on `device`.
 * Ownership: one reference, to astra_tensor_release; it keeps the file's
 *   data.
 * Threads: any.
 * Errors: INVALID_HANDLE; NOT_FOUND; OUT_OF_MEMORY. */
ASTRA_API astra_status_t astra_archive_tensor(
    astra_runtime_t *runtime, astra_archive_t archive, const char *name,
    astra_device_t device, astra_tensor_t *tensor, astra_error_t **error);

/* Gives a reference back.
 * Ownership: takes one reference; its tensors stay.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_archive_release(astra_runtime_t *runtime,
                                               astra_archive_t archive,
                                               astra_error_t **error);

/* Writes NumPy's format, version 1.0.
 * Ownership: none.
 * Threads: as astra_tensor_wait.
 * Errors: INVALID_HANDLE; IO; UNIMPLEMENTED for bf16, which has no place in
 *   the format; else the error of the tensor's work. */
ASTRA_API astra_status_t astra_npy_save(astra_runtime_t *runtime,
                                        const char *path, astra_tensor_t tensor,
                                        astra_error_t **error);

/* Reads NumPy's format, versions 1 to 3, little-endian, either order.
 * Ownership: one reference, to astra_tensor_release.
 * Threads: any.
 * Errors: INVALID_HANDLE; IO; CORRUPT_FILE; UNSUPPORTED_VERSION for a version
 *   of the format that is not known; UNIMPLEMENTED for a dtype or rank that no
 *   tensor has; OUT_OF_MEMORY. */
ASTRA_API astra_status_t astra_npy_load(astra_runtime_t *runtime,
                                        const char *path, astra_device_t device,
                                        astra_tensor_t *tensor,
                                        astra_error_t **error);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_FILE_H */
