/* What every part of the C API uses: versions, errors, extensible structs,
 * handles and the levels of the processor. See astra.h for the rules that hold
 * for every function.
 */
#ifndef ASTRA_COMMON_H
#define ASTRA_COMMON_H

#include "astra/base.h"
#include <stddef.h>
#include <string.h>

#if defined(__GNUC__) && defined(ASTRA_BUILDING)
#define ASTRA_API __attribute__((visibility("default")))
#else
#define ASTRA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ------------------------------------------------------------ */

/* The version of this header; astra_version gives the library's. */
#define ASTRA_VERSION_MAJOR 0
#define ASTRA_VERSION_MINOR 1
#define ASTRA_VERSION_PATCH 0
#define ASTRA_VERSION                                                          \
  (ASTRA_VERSION_MAJOR * 1000000u + ASTRA_VERSION_MINOR * 1000u +              \
   ASTRA_VERSION_PATCH)

/* The library's version as major * 1000000 + minor * 1000 + patch.
 * Ownership: none.
 * Threads: any.
 * Errors: none. */
ASTRA_API uint32_t astra_version(void);

/* The library's version as text, "0.1.0".
 * Ownership: the text is static.
 * Threads: any.
 * Errors: none. */
ASTRA_API const char *astra_version_text(void);

/* The object ABI and arithmetic versions of the modules that this library
 * runs. Either pointer may be null.
 * Ownership: none.
 * Threads: any.
 * Errors: none. */
ASTRA_API void astra_abi_version(uint32_t *object_abi, uint32_t *arithmetic);

/* ---- Errors -------------------------------------------------------------- */

/* An error object is immutable, may be used from any thread, belongs to the
 * caller and outlives its runtime. */
typedef struct astra_error astra_error_t;

/* The code; ASTRA_OK for null.
 * Ownership: none.
 * Threads: any.
 * Errors: none. */
ASTRA_API astra_status_t astra_error_status(const astra_error_t *error);

/* A sentence that names the thing and both values; "" for null.
 * Ownership: the text lives as long as the error.
 * Threads: any.
 * Errors: none. */
ASTRA_API const char *astra_error_message(const astra_error_t *error);

/* Where in the program's source it happened, "digits.astra:12:3", or "".
 * Ownership: the text lives as long as the error.
 * Threads: any.
 * Errors: none. */
ASTRA_API const char *astra_error_location(const astra_error_t *error);

/* Releases the error; null is allowed.
 * Ownership: the error is gone afterwards.
 * Threads: any.
 * Errors: none. */
ASTRA_API void astra_error_release(astra_error_t *error);

/* The name of a code, "ASTRA_ERROR_IO", or "unknown status".
 * Ownership: the text is static.
 * Threads: any.
 * Errors: none. */
ASTRA_API const char *astra_status_name(astra_status_t status);

/* ---- Extensible structs -------------------------------------------------- */

/* The first member of every struct that may grow. The caller sets `type`,
 * `struct_size` (sizeof of the struct it was compiled with), `reserved` 0 and
 * `next` to another such struct or null. An unknown type in the chain is
 * refused, not skipped; so are bytes beyond what the library knows unless they
 * are zero. */
typedef struct astra_chain {
  uint32_t type; /* ASTRA_STRUCT_* */
  uint32_t reserved;
  size_t struct_size;
  const void *next;
} astra_chain_t;

enum {
  ASTRA_STRUCT_RUNTIME_OPTIONS = 1,
  ASTRA_STRUCT_DEVICE_INFO = 2,
  ASTRA_STRUCT_STREAM_OPTIONS = 3,
  ASTRA_STRUCT_BORROW = 4,
  ASTRA_STRUCT_MODULE_INFO = 5,
  ASTRA_STRUCT_FUNCTION_INFO = 6,
  ASTRA_STRUCT_VALUE_INFO = 7,
  ASTRA_STRUCT_LEAF_INFO = 8,
  ASTRA_STRUCT_CALL_OPTIONS = 9,
  ASTRA_STRUCT_MEMORY_INFO = 10,
  ASTRA_STRUCT_EVENT_OPTIONS = 11,
  ASTRA_STRUCT_FOREIGN_EVENT = 32,
  ASTRA_STRUCT_EXTENSION = 33,
  /* of astra/backend.h */
  ASTRA_STRUCT_BACKEND = 34,
  ASTRA_STRUCT_BACKEND_HOST = 35,
  ASTRA_STRUCT_BACKEND_DEVICE = 36,
  ASTRA_STRUCT_BACKEND_CALL = 37
};

/* Makes a struct ready: ASTRA_INIT(BORROW, &borrow) sets the chain of `borrow`
 * and all other members to zero. */
#define ASTRA_INIT(NAME, POINTER)                                              \
  astra_struct_init((POINTER), ASTRA_STRUCT_##NAME, sizeof *(POINTER))
static inline void astra_struct_init(void *memory, uint32_t type, size_t size) {
  memset(memory, 0, size);
  ((astra_chain_t *)memory)->type = type;
  ((astra_chain_t *)memory)->struct_size = size;
}

/* ---- Handles ------------------------------------------------------------- */

typedef struct astra_runtime astra_runtime_t;
typedef struct astra_device {
  uint64_t bits;
} astra_device_t;
typedef struct astra_stream {
  uint64_t bits;
} astra_stream_t;
typedef struct astra_tensor {
  uint64_t bits;
} astra_tensor_t;
typedef struct astra_mapping {
  uint64_t bits;
} astra_mapping_t;
typedef struct astra_module {
  uint64_t bits;
} astra_module_t;
typedef struct astra_function {
  uint64_t bits;
} astra_function_t;
typedef struct astra_archive {
  uint64_t bits;
} astra_archive_t;
typedef struct astra_event {
  uint64_t bits;
} astra_event_t;

/* ---- Processor ----------------------------------------------------------- */

enum {
  ASTRA_CPU_BEST = 0,      /* in options: the best that the machine has */
  ASTRA_CPU_REFERENCE = 1, /* the scalar reference kernels */
  ASTRA_CPU_X86_64_V3 = 3, /* AVX2, FMA */
  ASTRA_CPU_X86_64_V4 = 4, /* AVX-512 */
  ASTRA_CPU_NEON = 8       /* every 64-bit Arm processor */
};

/* The level of the processor that this runs on: ASTRA_CPU_X86_64_V3 or
 * better, ASTRA_CPU_NEON on 64-bit Arm, or ASTRA_CPU_REFERENCE if it is too old
 * for astra_runtime_create.
 * Ownership: none.
 * Threads: any.
 * Errors: none. */
ASTRA_API uint32_t astra_cpu_level(void);

/* The name of a level, "x86-64-v3", or "unknown".
 * Ownership: the text is static.
 * Threads: any.
 * Errors: none. */
ASTRA_API const char *astra_cpu_level_name(uint32_t level);

/* How many processors this process may use now, at least 1: those of the
 * calling thread's affinity mask, and no more than the quotas of its cgroups
 * (versions 1 and 2) give, rounded up.
 * Ownership: none.
 * Threads: any.
 * Errors: none. */
ASTRA_API uint32_t astra_cpu_count(void);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_COMMON_H */
