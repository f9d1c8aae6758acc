/* What the public C API (astra.h) and the object ABI (module.h) have in common:
 * status codes and dtypes. Numbers are part of the ABI: they are only added to,
 * never changed or reused. Plain C99, no other header than stdint.h.
 */
#ifndef ASTRA_BASE_H
#define ASTRA_BASE_H

#include <stdint.h>

/* The outcome of a call: 0, or an ASTRA_ERROR_*. Codes are added over time, so
 * a program must expect one that it does not know. */
typedef int32_t astra_status_t;

enum {
  ASTRA_OK = 0,
  /* An argument is null or outside its documented range. */
  ASTRA_ERROR_INVALID_ARGUMENT = 1,
  /* A handle is null, stale, of another kind or of another runtime. */
  ASTRA_ERROR_INVALID_HANDLE = 2,
  /* A struct has the wrong type or size, or a chain holds an unknown one. */
  ASTRA_ERROR_INVALID_STRUCT = 3,
  /* There is not enough memory; the runtime remains usable. */
  ASTRA_ERROR_OUT_OF_MEMORY = 4,
  /* The system gave no thread, file descriptor or the like. */
  ASTRA_ERROR_OUT_OF_RESOURCES = 5,
  /* An index, axis or range lies outside its tensor. */
  ASTRA_ERROR_OUT_OF_RANGE = 6,
  /* An integer was divided by zero. */
  ASTRA_ERROR_DIVISION_BY_ZERO = 7,
  /* An assertion of the program failed. */
  ASTRA_ERROR_ASSERTION = 8,
  /* A rank or extent is not what the function or operation asks for. */
  ASTRA_ERROR_SHAPE_MISMATCH = 9,
  /* A dtype is not what the function or operation asks for. */
  ASTRA_ERROR_DTYPE_MISMATCH = 10,
  /* A tensor lives on another device than the operation. */
  ASTRA_ERROR_DEVICE_MISMATCH = 11,
  /* The strides of a tensor do not allow the operation. */
  ASTRA_ERROR_LAYOUT_MISMATCH = 12,
  /* A count of inputs, outputs or bytes is not what it must be. */
  ASTRA_ERROR_COUNT_MISMATCH = 13,
  /* A dimension expression or a size leaves 64 bits. */
  ASTRA_ERROR_OVERFLOW = 14,
  /* A donated tensor is shared with another handle, view or argument. */
  ASTRA_ERROR_DONATION = 15,
  /* A module, API or file version that this runtime does not know. */
  ASTRA_ERROR_UNSUPPORTED_VERSION = 16,
  /* A module imports kernels that this runtime does not have. */
  ASTRA_ERROR_MISSING_KERNEL = 17,
  /* There is no device of this name on this machine. */
  ASTRA_ERROR_MISSING_DEVICE = 18,
  /* The processor lacks instructions that the code needs. */
  ASTRA_ERROR_CPU_LEVEL = 19,
  /* The operating system refused to open, read, write or map something. */
  ASTRA_ERROR_IO = 20,
  /* A file is truncated, damaged or of another kind. */
  ASTRA_ERROR_CORRUPT_FILE = 21,
  /* There is no function, tensor or module of this name. */
  ASTRA_ERROR_NOT_FOUND = 22,
  /* The object is in use in a way that forbids the operation. */
  ASTRA_ERROR_BUSY = 23,
  /* The answer is not known yet, and the call was told not to wait. */
  ASTRA_ERROR_NOT_READY = 24,
  /* The tensor depends on work that failed. */
  ASTRA_ERROR_POISONED = 25,
  /* The work was cancelled. */
  ASTRA_ERROR_CANCELLED = 26,
  /* This release cannot do it; the message says what can be done instead. */
  ASTRA_ERROR_UNIMPLEMENTED = 27,
  /* A fault of the runtime itself. */
  ASTRA_ERROR_INTERNAL = 28,
  /* A matrix has no inverse or factor, or an iteration did not converge. */
  ASTRA_ERROR_NUMERICAL = 29
};

/* dtype: one 32-bit word, class << 24 | bits << 8 | lanes. Classes 6 to 9 are
 * reserved for complex, fp8, 4-bit integers and quantised numbers. */
#define ASTRA_DTYPE(CLASS, BITS)                                               \
  (((uint32_t)(CLASS) << 24) | ((uint32_t)(BITS) << 8) | 1u)
#define ASTRA_CLASS_BOOL 1u
#define ASTRA_CLASS_INT 2u
#define ASTRA_CLASS_UINT 3u
#define ASTRA_CLASS_FLOAT 4u
#define ASTRA_CLASS_BFLOAT 5u
#define ASTRA_CLASS_COMPLEX 6u
#define ASTRA_CLASS_FP8 7u
#define ASTRA_CLASS_INT4 8u
#define ASTRA_CLASS_QUANTISED 9u
#define ASTRA_BOOL ASTRA_DTYPE(ASTRA_CLASS_BOOL, 8)
#define ASTRA_I8 ASTRA_DTYPE(ASTRA_CLASS_INT, 8)
#define ASTRA_I16 ASTRA_DTYPE(ASTRA_CLASS_INT, 16)
#define ASTRA_I32 ASTRA_DTYPE(ASTRA_CLASS_INT, 32)
#define ASTRA_I64 ASTRA_DTYPE(ASTRA_CLASS_INT, 64)
#define ASTRA_U8 ASTRA_DTYPE(ASTRA_CLASS_UINT, 8)
#define ASTRA_U16 ASTRA_DTYPE(ASTRA_CLASS_UINT, 16)
#define ASTRA_U32 ASTRA_DTYPE(ASTRA_CLASS_UINT, 32)
#define ASTRA_U64 ASTRA_DTYPE(ASTRA_CLASS_UINT, 64)
#define ASTRA_F16 ASTRA_DTYPE(ASTRA_CLASS_FLOAT, 16)
#define ASTRA_BF16 ASTRA_DTYPE(ASTRA_CLASS_BFLOAT, 16)
#define ASTRA_F32 ASTRA_DTYPE(ASTRA_CLASS_FLOAT, 32)
#define ASTRA_F64 ASTRA_DTYPE(ASTRA_CLASS_FLOAT, 64)

/* The highest rank of a tensor, in the language, the API and in kernels. */
#define ASTRA_MAX_RANK 16

#endif /* ASTRA_BASE_H */
