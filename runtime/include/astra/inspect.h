/* What a compiled file says of itself: part of the public C API, and included
 * by astra.h, whose rules hold here too. Together with astra_module_info,
 * astra_function_info and the functions beside them it is enough to call any
 * export without a generated header.
 */
#ifndef ASTRA_INSPECT_H
#define ASTRA_INSPECT_H

#include "astra/call.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ASTRA_STRUCT_MODULE_SIZES = 20, ASTRA_STRUCT_KERNEL_INFO = 21 };

/* Reads the description in an object file or in a module made with -shared,
 * without loading it: no code of the file runs, it may be made for another
 * processor and import kernels that this runtime lacks, and every byte of it is
 * checked. The module can be asked for all that a loaded one can; calls of its
 * functions fail.
 * Ownership: the module is the caller's, to astra_module_release.
 * Threads: any.
 * Errors: IO; CORRUPT_FILE. */
ASTRA_API astra_status_t astra_module_inspect(astra_runtime_t *runtime,
                                              const char *path,
                                              astra_module_t *module,
                                              astra_error_t **error);

typedef struct astra_module_sizes {
  astra_chain_t chain; /* ASTRA_STRUCT_MODULE_SIZES */
  uint64_t file_bytes; /* of the file; all are 0 for a linked module */
  uint64_t code_bytes; /* machine code */
  uint64_t data_bytes; /* constants, tables and texts */
} astra_module_sizes_t;

/* How large the file of a module is, and its parts.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_module_sizes(astra_runtime_t *runtime,
                                            astra_module_t module,
                                            astra_module_sizes_t *sizes,
                                            astra_error_t **error);

/* The kernel is the module's own, made of several operations. */
#define ASTRA_KERNEL_FUSED 1u
/* This runtime does not have it: the module is inspected only. */
#define ASTRA_KERNEL_MISSING 2u

typedef struct astra_kernel_info {
  astra_chain_t chain; /* ASTRA_STRUCT_KERNEL_INFO */
  const char *name;    /* "contract_f32", "fused_0" */
  const char *ops;     /* fused: "mul add tanh"; else "" */
  /* Fused: where its operations stand, "line.astra:12, line.astra:14"; else
   * "", since any number of places may call one kernel. */
  const char *source;
  const char *variant;  /* that was chosen, "x86-64-v3"; "" if it is missing */
  const char *variants; /* that there are: "reference, x86-64-v3" */
  uint32_t version;
  uint32_t flags; /* ASTRA_KERNEL_* */
} astra_kernel_info_t;

/* Describes kernel `index` of the module, below kernel_count.
 * Ownership: the strings belong to the module.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_module_kernel_info(astra_runtime_t *runtime,
                                                  astra_module_t module,
                                                  size_t index,
                                                  astra_kernel_info_t *info,
                                                  astra_error_t **error);

/* Where the function stands in the program, "line.astra:12:8", or "" if the
 * module does not say.
 * Ownership: the text belongs to the function.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_function_source(astra_runtime_t *runtime,
                                               astra_function_t function,
                                               const char **source,
                                               astra_error_t **error);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_INSPECT_H */
