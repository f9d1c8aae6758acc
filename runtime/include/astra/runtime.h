/* The runtime, which everything belongs to, its memory, its devices and the
 * back ends that bring more of them. See astra.h for the rules that hold for
 * every function.
 */
#ifndef ASTRA_RUNTIME_H
#define ASTRA_RUNTIME_H

#include "astra/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Runtime ------------------------------------------------------------- */

/* Where the runtime gets memory from. Both functions may be called from any
 * thread. `allocate` gives `bytes` bytes aligned to `alignment` (a power of
 * two) or null; `release` gets the same numbers back. After a null the runtime
 * gives back what it keeps and asks once more. Neither may call into the
 * runtime. */
typedef struct astra_allocator {
  void *context;
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  void (*release)(void *context, void *memory, size_t bytes, size_t alignment);
} astra_allocator_t;

/* Threads of the program that pieces of calls run on, instead of the runtime's
 * own. `run` calls piece(piece_context, i) once for each i below `count`, on
 * any threads, in any order and as many at a time as it likes, and returns when
 * all have returned. It is called from a thread that does the work of a stream,
 * one call at a time. Neither it nor its threads may call into the runtime
 * meanwhile. */
typedef struct astra_workers {
  void *context;
  void (*run)(void *context, uint32_t count,
              void (*piece)(void *piece_context, uint32_t index),
              void *piece_context);
} astra_workers_t;

typedef struct astra_runtime_options {
  astra_chain_t chain; /* ASTRA_STRUCT_RUNTIME_OPTIONS */
  /* Threads that work on one call, the one that does the stream's work among
   * them: N makes N - 1, so 1 makes none; 0 is astra_cpu_count(). Never changes
   * a result. */
  uint32_t threads;
  /* The best level to use, ASTRA_CPU_*. Never changes a result. */
  uint32_t cpu_level;
  /* Memory of tensors and workspaces; null: the system's. Copied. */
  const astra_allocator_t *allocator;
  /* Receives the text of debug(x, "name"), called on the thread that runs the
   * work; null: written to standard error. */
  void (*debug)(void *context, const char *text);
  void *debug_context;
  /* Threads that do the work of streams. 0 makes none: work is then done within
   * the call that puts it in. Each works on one call at a time, helped by the
   * others of `threads`. Never changes a result. */
  uint32_t stream_threads;
  uint32_t reserved;
  /* The most bytes of tensors and workspaces, with what is kept for reuse; an
   * allocation beyond is ASTRA_ERROR_OUT_OF_MEMORY. 0: no limit. */
  uint64_t memory_limit;
  /* The most bytes of released memory to keep for reuse. 0: 256 MiB; 1 keeps
   * none. */
  uint64_t kept_limit;
  /* Null, or the program's threads: then the runtime makes none for calls, and
   * `threads` is how many pieces `run` is given at most. Copied. */
  const astra_workers_t *workers;
} astra_runtime_options_t;

/* Makes a runtime. `options` may be null.
 * Ownership: the runtime is the caller's, to astra_runtime_destroy.
 * Threads: any; makes those that the options ask for.
 * Errors: CPU_LEVEL if the processor is below x86-64-v3 or below
 *   options->cpu_level; INVALID_STRUCT; INVALID_ARGUMENT for options outside
 *   their range; OUT_OF_RESOURCES if the system gives no thread. */
ASTRA_API astra_status_t
astra_runtime_create(const astra_runtime_options_t *options,
                     astra_runtime_t **runtime, astra_error_t **error);

/* Cancels the work that has not begun, waits for what is running, releases
 * every object that is still alive (callbacks run, on this thread or a
 * stream's) and ends the runtime's threads. What a callback then puts into a
 * stream, or wants to make, is refused with ASTRA_ERROR_CANCELLED. To have work
 * done, wait for its stream first. Null is allowed. Not to be called while
 * another thread uses the runtime, nor from a callback.
 * Ownership: everything of the runtime is gone afterwards.
 * Threads: one, while no other uses the runtime; not a callback's.
 * Errors: none. */
ASTRA_API void astra_runtime_destroy(astra_runtime_t *runtime);

typedef struct astra_memory_info {
  astra_chain_t chain;   /* ASTRA_STRUCT_MEMORY_INFO */
  uint64_t live_bytes;   /* in storages of tensors and running calls */
  uint64_t peak_bytes;   /* the most that live_bytes has been (on each node) */
  uint64_t live_handles; /* handles that have references */
  uint64_t allocations;  /* since the runtime was made */
  uint64_t kept_bytes;   /* released, and kept for reuse */
  uint64_t limit_bytes;  /* memory_limit; 0: none */
  uint64_t reused;       /* of the allocations, those of kept memory */
  uint64_t failed;       /* allocations that there was no memory for */
} astra_memory_info_t;

/* Fills `info` with statistics of the host's memory, over all devices and
 * nodes.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_STRUCT. */
ASTRA_API astra_status_t astra_runtime_memory(astra_runtime_t *runtime,
                                              astra_memory_info_t *info,
                                              astra_error_t **error);

/* Gives memory that is kept for reuse back to the allocator, until at most
 * `keep` bytes are left.
 * Ownership: none.
 * Threads: any.
 * Errors: none but those of every function. */
ASTRA_API astra_status_t astra_runtime_trim(astra_runtime_t *runtime,
                                            uint64_t keep,
                                            astra_error_t **error);

/* ---- Devices ------------------------------------------------------------- */

/* What a device can do; more bits may come. */
#define ASTRA_CAPABILITY_HOST_MEMORY 1u /* its memory is the host's */
#define ASTRA_CAPABILITY_CALLS 2u       /* it runs compiled functions */

typedef struct astra_device_info {
  astra_chain_t chain;     /* ASTRA_STRUCT_DEVICE_INFO */
  const char *name;        /* to open it by: "cpu" */
  const char *description; /* for people */
  uint32_t cpu_level;      /* ASTRA_CPU_* that kernels are chosen for, or 0 */
  uint32_t threads;        /* that work on one call */
  uint64_t capabilities;   /* ASTRA_CAPABILITY_* */
  uint32_t memory_nodes;   /* see astra_device_memory */
  uint32_t reserved;
} astra_device_info_t;

/* The number of devices: those of this machine, and those of back ends that
 * were loaded.
 * Ownership: none.
 * Threads: any.
 * Errors: none but those of every function. */
ASTRA_API astra_status_t astra_device_count(astra_runtime_t *runtime,
                                            size_t *count,
                                            astra_error_t **error);

/* Describes device `index`, below astra_device_count.
 * Ownership: the strings belong to the runtime.
 * Threads: any.
 * Errors: OUT_OF_RANGE if there is no such device; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_device_info(astra_runtime_t *runtime,
                                           size_t index,
                                           astra_device_info_t *info,
                                           astra_error_t **error);

/* Opens a device by name: "cpu", or "null", which holds tensors and runs
 * nothing. Opening it twice gives two references to the same device.
 * Ownership: one reference, to astra_device_release.
 * Threads: any.
 * Errors: MISSING_DEVICE lists what there is. */
ASTRA_API astra_status_t astra_device_open(astra_runtime_t *runtime,
                                           const char *name,
                                           astra_device_t *device,
                                           astra_error_t **error);

/* Gives a reference back.
 * Ownership: takes one reference; the device stays while tensors or streams
 *   are on it.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_device_release(astra_runtime_t *runtime,
                                              astra_device_t device,
                                              astra_error_t **error);

/* The memory of one device on one NUMA node; nodes are counted from 0, below
 * memory_nodes of astra_device_info_t. live_handles is 0. A device that has
 * memory of its own has one node, and memory_limit does not count there.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE; OUT_OF_RANGE if the device has no such node;
 *   INVALID_STRUCT. */
ASTRA_API astra_status_t astra_device_memory(astra_runtime_t *runtime,
                                             astra_device_t device,
                                             uint32_t node,
                                             astra_memory_info_t *info,
                                             astra_error_t **error);

/* ---- Back ends ----------------------------------------------------------- */

/* Loads a back end, a shared library that brings devices (astra/backend.h is
 * what it is written against). They come after the devices that there are,
 * and are opened by name. The file's own code runs at once: load what you
 * trust. A version of the interface that this library does not know is
 * refused.
 * Ownership: the runtime keeps the back end until astra_runtime_destroy.
 * Threads: any; code of the file runs on it.
 * Errors: IO; CORRUPT_FILE if it is no back end; UNSUPPORTED_VERSION if its
 *   version is not known; INVALID_STRUCT for a table that is not whole;
 *   INVALID_ARGUMENT if a device's name is taken; else the back end's own. */
ASTRA_API astra_status_t astra_backend_load(astra_runtime_t *runtime,
                                            const char *path,
                                            astra_error_t **error);

/* What every table of an extension begins with. */
typedef struct astra_extension {
  astra_chain_t chain; /* ASTRA_STRUCT_EXTENSION, and the size of the whole */
  const char *name;
  uint32_t version;
  uint32_t reserved;
} astra_extension_t;

/* The extension `name` of a device in exactly this version: a table of the
 * type that the back end's own header gives for the two. Name, version and
 * size have been checked. Every device has "astra.backend", see
 * astra/backend.h.
 * Ownership: the table belongs to the runtime.
 * Threads: any.
 * Errors: INVALID_HANDLE; NOT_FOUND if the device has no such extension in
 *   this version. */
ASTRA_API astra_status_t astra_device_extension(
    astra_runtime_t *runtime, astra_device_t device, const char *name,
    uint32_t version, const astra_extension_t **table, astra_error_t **error);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_RUNTIME_H */
