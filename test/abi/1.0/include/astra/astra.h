/* Astra's public C API: run compiled Astra modules from C, C++ or anything that
 * speaks C. Plain C99; no struct of the runtime's own is visible.
 *
 * Rules that hold for every function unless its comment says otherwise:
 *
 * Status. Each function returns an astra_status_t. If it is not ASTRA_OK and
 * `error` is not null, *error becomes an error object with a sentence, which
 * the caller releases with astra_error_release. On ASTRA_OK *error becomes
 * null. Outputs come last but for the error; a function that fails leaves
 * handle outputs null ({0}) and other outputs as they were. No input aborts.
 *
 * Handles. All but the runtime are 64-bit values (slot and generation), passed
 * by value, and belong to one runtime. A null, stale or foreign handle gives
 * ASTRA_ERROR_INVALID_HANDLE. A function that hands out a handle gives the
 * caller one reference, given back with the _release of its kind. Objects keep
 * what they depend on alive: a view its storage, a function its module.
 *
 * Threads. Everything may be called from any thread at any time, but
 * astra_runtime_destroy, which must be the last call on its runtime. The
 * runtime makes no thread but those asked for in astra_runtime_options_t,
 * reads no environment variable, installs no handler, and leaves the caller's
 * floating-point state as it found it.
 *
 * Time. Work is asynchronous: a call gives tensors that may be pending, and
 * reading one waits. An error of asynchronous work is reported where it is
 * waited for.
 *
 * Strings. Parameters are UTF-8, ended by a zero byte, and are copied. A string
 * that a function gives out belongs to the object it was asked of and lives as
 * long as that object has references.
 *
 * Pointers. Arrays may be null only if their count is zero.
 *
 * Comments. The comment of a function says what it does, and then who owns what
 * afterwards, on which threads it may be called, and which errors are its own,
 * without ASTRA_ERROR_. A function with a runtime may besides give
 * INVALID_ARGUMENT for a null pointer, OUT_OF_MEMORY and OUT_OF_RESOURCES.
 *
 * The process. After fork() the child may use no runtime of its parent but to
 * learn that (ASTRA_ERROR_BUSY); it may make one of its own.
 */
#ifndef ASTRA_ASTRA_H
#define ASTRA_ASTRA_H

#include "astra/call.h"
#include "astra/common.h"
#include "astra/file.h"
#include "astra/runtime.h"
#include "astra/stream.h"
#include "astra/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The function table -------------------------------------------------- */

/* For programs that load the library by path: all functions of this header in
 * one table that only grows at its end; see astra/api.h. */
typedef struct astra_api astra_api_t;
#define ASTRA_API_VERSION 1u

/* The table, or null if the library does not know `version`.
 * Ownership: the table is static.
 * Threads: any.
 * Errors: none. */
ASTRA_API const astra_api_t *astra_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_ASTRA_H */
