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
 */
#ifndef ASTRA_ASTRA_H
#define ASTRA_ASTRA_H

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

/* ---- Versions ---------------------------------------------------------- */

/* The version of this header; astra_version gives the library's. */
#define ASTRA_VERSION_MAJOR 0
#define ASTRA_VERSION_MINOR 1
#define ASTRA_VERSION_PATCH 0
#define ASTRA_VERSION                                                          \
  (ASTRA_VERSION_MAJOR * 1000000u + ASTRA_VERSION_MINOR * 1000u +              \
   ASTRA_VERSION_PATCH)

/* The library's version as major * 1000000 + minor * 1000 + patch. Cannot
 * fail. */
ASTRA_API uint32_t astra_version(void);

/* The library's version as text, "0.1.0". Static. */
ASTRA_API const char *astra_version_text(void);

/* The object ABI and arithmetic versions of the modules that this library
 * runs. Either pointer may be null. */
ASTRA_API void astra_abi_version(uint32_t *object_abi, uint32_t *arithmetic);

/* ---- Errors ------------------------------------------------------------ */

/* An error object is immutable, may be used from any thread, belongs to the
 * caller and outlives its runtime. */
typedef struct astra_error astra_error_t;

/* The code; ASTRA_OK for null. */
ASTRA_API astra_status_t astra_error_status(const astra_error_t *error);

/* A sentence that names the thing and both values; "" for null. Lives as long
 * as the error. */
ASTRA_API const char *astra_error_message(const astra_error_t *error);

/* Where in the program's source it happened, "digits.astra:12:3", or "". Lives
 * as long as the error. */
ASTRA_API const char *astra_error_location(const astra_error_t *error);

/* Releases the error; null is allowed. */
ASTRA_API void astra_error_release(astra_error_t *error);

/* The name of a code, "ASTRA_ERROR_IO", or "unknown status". Static. */
ASTRA_API const char *astra_status_name(astra_status_t status);

/* ---- Extensible structs ------------------------------------------------ */

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
  ASTRA_STRUCT_EVENT_OPTIONS = 11
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

/* ---- Processor --------------------------------------------------------- */

enum {
  ASTRA_CPU_BEST = 0,      /* in options: the best that the machine has */
  ASTRA_CPU_REFERENCE = 1, /* the scalar reference kernels */
  ASTRA_CPU_X86_64_V3 = 3, /* AVX2, FMA */
  ASTRA_CPU_X86_64_V4 = 4, /* AVX-512 */
  ASTRA_CPU_NEON = 8       /* every 64-bit Arm processor */
};

/* The level of the processor that this runs on: ASTRA_CPU_X86_64_V3 or better,
 * ASTRA_CPU_NEON on 64-bit Arm, or ASTRA_CPU_REFERENCE if it is too old for
 * astra_runtime_create. */
ASTRA_API uint32_t astra_cpu_level(void);

/* The name of a level, "x86-64-v3", or "unknown". Static. */
ASTRA_API const char *astra_cpu_level_name(uint32_t level);

/* How many processors this process may use now, at least 1: those of the
 * calling thread's affinity mask, and no more than the quotas of its cgroups
 * (versions 1 and 2) give, rounded up. */
ASTRA_API uint32_t astra_cpu_count(void);

/* ---- Runtime ----------------------------------------------------------- */

typedef struct astra_runtime astra_runtime_t;

/* Where the runtime gets memory from. Both functions may be called from any
 * thread. `allocate` gives `bytes` bytes aligned to `alignment` (a power of
 * two) or null; `release` gets the same numbers back. Neither may call into the
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

/* Makes a runtime. `options` may be null. ASTRA_ERROR_CPU_LEVEL if the
 * processor is below x86-64-v3 or below options->cpu_level. */
ASTRA_API astra_status_t
astra_runtime_create(const astra_runtime_options_t *options,
                     astra_runtime_t **runtime, astra_error_t **error);

/* Cancels the work that has not begun, waits for what is running, releases
 * every object that is still alive (callbacks run, on this thread or a
 * stream's) and ends the runtime's threads. To have work done, wait for its
 * stream first. Null is allowed. Not to be called while another thread uses the
 * runtime, nor from a callback. */
ASTRA_API void astra_runtime_destroy(astra_runtime_t *runtime);

typedef struct astra_memory_info {
  astra_chain_t chain;   /* ASTRA_STRUCT_MEMORY_INFO */
  uint64_t live_bytes;   /* in storages of tensors and running calls */
  uint64_t peak_bytes;   /* the most that live_bytes has been */
  uint64_t live_handles; /* handles that have references */
  uint64_t allocations;  /* since the runtime was made */
  uint64_t kept_bytes;   /* released, and kept for reuse */
  uint64_t limit_bytes;  /* memory_limit; 0: none */
  uint64_t reused;       /* of the allocations, those of kept memory */
  uint64_t failed;       /* allocations that there was no memory for */
} astra_memory_info_t;

/* Fills `info` with statistics of the memory of the runtime. */
ASTRA_API astra_status_t astra_runtime_memory(astra_runtime_t *runtime,
                                              astra_memory_info_t *info,
                                              astra_error_t **error);

/* Gives memory that is kept for reuse back to the allocator, until at most
 * `keep` bytes are left. */
ASTRA_API astra_status_t astra_runtime_trim(astra_runtime_t *runtime,
                                            uint64_t keep,
                                            astra_error_t **error);

/* ---- Handles ----------------------------------------------------------- */

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

/* ---- Devices ----------------------------------------------------------- */

typedef struct astra_device_info {
  astra_chain_t chain;     /* ASTRA_STRUCT_DEVICE_INFO */
  const char *name;        /* to open it by: "cpu" */
  const char *description; /* for people */
  uint32_t cpu_level;      /* ASTRA_CPU_* that kernels are chosen for, or 0 */
  uint32_t threads;        /* that work on one call */
} astra_device_info_t;

/* The number of devices of this machine. */
ASTRA_API astra_status_t astra_device_count(astra_runtime_t *runtime,
                                            size_t *count,
                                            astra_error_t **error);

/* Describes device `index`, below astra_device_count. The strings belong to the
 * runtime. */
ASTRA_API astra_status_t astra_device_info(astra_runtime_t *runtime,
                                           size_t index,
                                           astra_device_info_t *info,
                                           astra_error_t **error);

/* Opens a device by name: "cpu", or "null", which holds tensors and runs
 * nothing. Opening it twice gives two references to the same device. */
ASTRA_API astra_status_t astra_device_open(astra_runtime_t *runtime,
                                           const char *name,
                                           astra_device_t *device,
                                           astra_error_t **error);

ASTRA_API astra_status_t astra_device_release(astra_runtime_t *runtime,
                                              astra_device_t device,
                                              astra_error_t **error);

/* ---- Streams ----------------------------------------------------------- */

/* A stream is a queue of work on one device, done in order. Putting work in
 * returns at once with tensors that may be pending; work that is given a
 * pending tensor of another stream waits for it by itself, and holds up its own
 * stream only. Who does the work depends on the flags:
 *
 *   0                     the runtime's stream threads, if there are any (see
 *                         stream_threads), else as ASTRA_STREAM_INLINE
 *   ASTRA_STREAM_INLINE   the call that puts work in, before it returns. If
 *                         something is missing, or another thread is at work in
 *                         the stream, the call returns, and the thread that
 *                         provides it, or that is at work, goes on
 *   ASTRA_STREAM_MANUAL   the caller, with astra_stream_run; and any thread
 * that waits for the work, since it would else wait for ever
 *
 * Two threads never work in a stream at once. A callback runs on the thread
 * that does the work, as above; it may use the runtime, but must not wait for
 * anything nor destroy the runtime. Waiting there for the own stream is refused
 * (ASTRA_ERROR_BUSY). */
#define ASTRA_STREAM_INLINE 1u
#define ASTRA_STREAM_MANUAL 2u

typedef struct astra_stream_options {
  astra_chain_t chain; /* ASTRA_STRUCT_STREAM_OPTIONS */
  uint64_t flags;      /* ASTRA_STREAM_*, one of them or 0 */
} astra_stream_options_t;

/* Makes a stream: a queue of work on `device`, done in order. `options` may be
 * null. */
ASTRA_API astra_status_t
astra_stream_create(astra_runtime_t *runtime, astra_device_t device,
                    const astra_stream_options_t *options,
                    astra_stream_t *stream, astra_error_t **error);

/* Waits for all work put into the stream before this call. Reports the first
 * error of that work that no astra_stream_wait has reported yet. */
ASTRA_API astra_status_t astra_stream_wait(astra_runtime_t *runtime,
                                           astra_stream_t stream,
                                           astra_error_t **error);

/* The stream's timeline: how many pieces of work were put in, and how many of
 * them are done (failed ones too). Never waits; either pointer may be null. */
ASTRA_API astra_status_t astra_stream_position(astra_runtime_t *runtime,
                                               astra_stream_t stream,
                                               uint64_t *submitted,
                                               uint64_t *completed,
                                               astra_error_t **error);

/* Does up to `limit` pieces of work of an ASTRA_STREAM_MANUAL stream on this
 * thread, and gives their number (`done` may be null). Never waits: it stops
 * where a piece needs something that is not there yet. ASTRA_ERROR_BUSY if
 * another thread, or a callback's caller, is at work in the stream;
 * ASTRA_ERROR_INVALID_ARGUMENT if the stream is of another sort. */
ASTRA_API astra_status_t astra_stream_run(astra_runtime_t *runtime,
                                          astra_stream_t stream, uint64_t limit,
                                          uint64_t *done,
                                          astra_error_t **error);

/* Cancels the work in the stream that has not begun: its tensors fail with
 * ASTRA_ERROR_CANCELLED, its callbacks are called with that. What is running
 * goes on to its end. Work put in later is not affected. Never waits. */
ASTRA_API astra_status_t astra_stream_cancel(astra_runtime_t *runtime,
                                             astra_stream_t stream,
                                             astra_error_t **error);

/* Calls `done` once all work put into the stream before is done, in order with
 * the stream's work and on the thread that does it. `status` is ASTRA_OK, or
 * ASTRA_ERROR_CANCELLED if this was cancelled; how the work before ended is
 * told by its tensors and by astra_stream_wait. Called exactly once if this
 * succeeds, else never. */
ASTRA_API astra_status_t
astra_stream_callback(astra_runtime_t *runtime, astra_stream_t stream,
                      void (*done)(void *context, astra_status_t status),
                      void *context, astra_error_t **error);

/* Gives the reference back. Work in the stream is still done; that of a manual
 * one by whoever waits for it. */
ASTRA_API astra_status_t astra_stream_release(astra_runtime_t *runtime,
                                              astra_stream_t stream,
                                              astra_error_t **error);

/* ---- Events ------------------------------------------------------------ */

/* An event is a point in a stream's work. It says when, not how: it becomes
 * ready even if work before it failed, and fails only if it was cancelled. */

/* The caller gives the word with astra_event_signal; not recorded in streams.
 * The way to make a stream wait for something outside of the runtime. */
#define ASTRA_EVENT_HOST 1u

typedef struct astra_event_options {
  astra_chain_t chain; /* ASTRA_STRUCT_EVENT_OPTIONS */
  uint64_t flags;      /* ASTRA_EVENT_*, or 0 */
} astra_event_options_t;

/* Makes an event. `options` may be null. */
ASTRA_API astra_status_t astra_event_create(
    astra_runtime_t *runtime, const astra_event_options_t *options,
    astra_event_t *event, astra_error_t **error);

/* Puts the event behind the work of the stream. Recording again moves the
 * event; what waits for it already still waits for the earlier point. */
ASTRA_API astra_status_t astra_event_record(astra_runtime_t *runtime,
                                            astra_event_t event,
                                            astra_stream_t stream,
                                            astra_error_t **error);

/* Makes an ASTRA_EVENT_HOST event ready. Work that waits for it in streams
 * without threads is done within this call. ASTRA_ERROR_BUSY if it was
 * signalled before. */
ASTRA_API astra_status_t astra_event_signal(astra_runtime_t *runtime,
                                            astra_event_t event,
                                            astra_error_t **error);

/* Has all work that is put into the stream from now on wait for the event. If
 * the event fails, the next astra_stream_wait reports it, and the work is done
 * nevertheless. ASTRA_ERROR_NOT_READY if the event has not been recorded. */
ASTRA_API astra_status_t astra_stream_wait_event(astra_runtime_t *runtime,
                                                 astra_stream_t stream,
                                                 astra_event_t event,
                                                 astra_error_t **error);

/* Waits for the event on this thread. ASTRA_ERROR_NOT_READY if it has not been
 * recorded. */
ASTRA_API astra_status_t astra_event_wait(astra_runtime_t *runtime,
                                          astra_event_t event,
                                          astra_error_t **error);

/* ASTRA_TENSOR_PENDING (also before it is recorded), _READY or _FAILED. Never
 * waits. */
ASTRA_API astra_status_t astra_event_state(astra_runtime_t *runtime,
                                           astra_event_t event, uint32_t *state,
                                           astra_error_t **error);

/* The time from the event `first` to the event `second`, in nanoseconds by the
 * system's steady clock. ASTRA_ERROR_NOT_READY unless both are ready. */
ASTRA_API astra_status_t astra_event_elapsed(astra_runtime_t *runtime,
                                             astra_event_t first,
                                             astra_event_t second,
                                             int64_t *nanoseconds,
                                             astra_error_t **error);

/* Gives the reference back. A host event that was not signalled fails with
 * ASTRA_ERROR_CANCELLED with its last reference. */
ASTRA_API astra_status_t astra_event_release(astra_runtime_t *runtime,
                                             astra_event_t event,
                                             astra_error_t **error);

/* ---- Tensors ----------------------------------------------------------- */

/* Tensors are immutable once a second party can see them: the only one that may
 * be written is one from astra_tensor_empty, through a mapping, before it is
 * passed anywhere. Shapes and strides are in elements; buffers in bytes. A bool
 * is one byte, 0 or 1. */

/* Makes a dense tensor (last axis fastest) with unspecified contents. */
ASTRA_API astra_status_t astra_tensor_empty(astra_runtime_t *runtime,
                                            astra_device_t device,
                                            uint32_t dtype, uint32_t rank,
                                            const int64_t *shape,
                                            astra_tensor_t *tensor,
                                            astra_error_t **error);

/* Makes a dense tensor from a copy of host memory; `bytes` must be exactly its
 * size (ASTRA_ERROR_COUNT_MISMATCH). */
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
 * and stay unchanged, until `release`. The struct may go at once. */
ASTRA_API astra_status_t astra_tensor_borrow(astra_runtime_t *runtime,
                                             const astra_borrow_t *borrow,
                                             astra_tensor_t *tensor,
                                             astra_error_t **error);

ASTRA_API astra_status_t astra_tensor_retain(astra_runtime_t *runtime,
                                             astra_tensor_t tensor,
                                             astra_error_t **error);

ASTRA_API astra_status_t astra_tensor_release(astra_runtime_t *runtime,
                                              astra_tensor_t tensor,
                                              astra_error_t **error);

/* The dtype, ASTRA_F32 and so on. */
ASTRA_API astra_status_t astra_tensor_dtype(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            uint32_t *dtype,
                                            astra_error_t **error);

/* The rank, and up to `capacity` extents. For a pending tensor whose shape is
 * not known this may wait. `shape` may be null if capacity is 0. */
ASTRA_API astra_status_t astra_tensor_shape(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            uint32_t capacity, uint32_t *rank,
                                            int64_t *shape,
                                            astra_error_t **error);

/* As astra_tensor_shape, with the strides. */
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

/* Whether the tensor has been computed, ASTRA_TENSOR_*. Never waits. */
ASTRA_API astra_status_t astra_tensor_state(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            uint32_t *state,
                                            astra_error_t **error);

/* Waits until the tensor is ready; reports the error if its work failed. */
ASTRA_API astra_status_t astra_tensor_wait(astra_runtime_t *runtime,
                                           astra_tensor_t tensor,
                                           astra_error_t **error);

/* Calls `done` once the tensor is ready or has failed; `error` is null or lives
 * during the call. If that is so already, `done` is called before this returns,
 * else on the thread that does the tensor's work (see Streams). Called exactly
 * once if this succeeds, else never. */
ASTRA_API astra_status_t
astra_tensor_callback(astra_runtime_t *runtime, astra_tensor_t tensor,
                      void (*done)(void *context, astra_status_t status,
                                   const astra_error_t *error),
                      void *context, astra_error_t **error);

/* Copies the elements, dense and row-major, into `buffer`; `bytes` must be
 * exactly the tensor's size. Waits. */
ASTRA_API astra_status_t astra_tensor_read(astra_runtime_t *runtime,
                                           astra_tensor_t tensor, void *buffer,
                                           size_t bytes, astra_error_t **error);

enum { ASTRA_MAP_READ = 1, ASTRA_MAP_WRITE = 2 };
/* As `count` of astra_tensor_map: to the end. */
#define ASTRA_WHOLE UINT64_MAX

/* Makes `count` elements from element `first` on (row-major order) visible to
 * the host as dense memory at *data, *bytes long. Waits. A tensor that is not
 * dense is copied for ASTRA_MAP_READ. ASTRA_MAP_WRITE needs a tensor from
 * astra_tensor_empty with one reference, no view and no other mapping, that was
 * passed to no call (else ASTRA_ERROR_BUSY). `device` says where the memory
 * must be visible: the null handle or "cpu". The mapping keeps the memory alive
 * until astra_tensor_unmap; a tensor with a write mapping cannot be used. */
ASTRA_API astra_status_t astra_tensor_map(
    astra_runtime_t *runtime, astra_tensor_t tensor, astra_device_t device,
    uint32_t access, uint64_t first, uint64_t count, astra_mapping_t *mapping,
    void **data, size_t *bytes, astra_error_t **error);

ASTRA_API astra_status_t astra_tensor_unmap(astra_runtime_t *runtime,
                                            astra_mapping_t mapping,
                                            astra_error_t **error);

/* Views: new tensors that share the storage. They never copy. */

/* The elements starts[a] + k * steps[a], k below extents[a], of each axis a;
 * steps may be negative, and null for 1. Arrays have one entry per axis. */
ASTRA_API astra_status_t astra_tensor_slice(
    astra_runtime_t *runtime, astra_tensor_t tensor, const int64_t *starts,
    const int64_t *extents, const int64_t *steps, astra_tensor_t *view,
    astra_error_t **error);

/* The same elements in the same order with another shape.
 * ASTRA_ERROR_LAYOUT_MISMATCH if the strides do not allow that (see
 * astra_tensor_dense). */
ASTRA_API astra_status_t astra_tensor_reshape(
    astra_runtime_t *runtime, astra_tensor_t tensor, uint32_t rank,
    const int64_t *shape, astra_tensor_t *view, astra_error_t **error);

/* Axis a of the view is axis permutation[a] of the tensor. */
ASTRA_API astra_status_t astra_tensor_transpose(astra_runtime_t *runtime,
                                                astra_tensor_t tensor,
                                                const uint32_t *permutation,
                                                astra_tensor_t *view,
                                                astra_error_t **error);

/* A dense tensor of the same elements: a view if it is dense already, else a
 * copy (waits). */
ASTRA_API astra_status_t astra_tensor_dense(astra_runtime_t *runtime,
                                            astra_tensor_t tensor,
                                            astra_tensor_t *dense,
                                            astra_error_t **error);

/* Parts: slices of one buffer that several streams or threads write at once. */

/* Splits a writable tensor (see ASTRA_MAP_WRITE) into `count` slices, at most
 * ASTRA_MOST_PARTS; arrays as in astra_tensor_slice, one row of rank entries
 * for each part. Each part is a writable tensor: map it for writing, make it
 * the target of a call, or copy into it. The parts must not share an element
 * (ASTRA_ERROR_INVALID_ARGUMENT names the two that do); they need not cover the
 * tensor. The tensor itself cannot be written any more. It can be read, viewed
 * or passed on once each part has been written by work, read or released
 * (before that: ASTRA_ERROR_BUSY), and then waits for the work that writes the
 * parts, or fails with it. If the arguments are refused the tensor stays as it
 * was. */
#define ASTRA_MOST_PARTS 4096u
ASTRA_API astra_status_t astra_tensor_partition(
    astra_runtime_t *runtime, astra_tensor_t tensor, size_t count,
    const int64_t *starts, const int64_t *extents, const int64_t *steps,
    astra_tensor_t *parts, astra_error_t **error);

/* Puts a copy of `from` to `into` into a stream. `into` must be writable (see
 * astra_call_options_t; it need not be dense) and of the same dtype, shape and
 * device; it is consumed, and *tensor takes its place. */
ASTRA_API astra_status_t astra_tensor_copy(
    astra_runtime_t *runtime, astra_stream_t stream, astra_tensor_t from,
    astra_tensor_t into, astra_tensor_t *tensor, astra_error_t **error);

/* ---- Exchange with other libraries -------------------------------------- */

/* DLPack's structs; a program that uses these functions includes DLPack's own
 * header. Version 1, and the unversioned structs before it (`_legacy`). */
struct DLManagedTensorVersioned;
struct DLManagedTensor;

/* Gives a tensor to another library without a copy. Waits for it. The memory is
 * marked as read-only, and kept until the other side calls the deleter, on any
 * thread, which must be before astra_runtime_destroy. */
ASTRA_API astra_status_t astra_tensor_to_dlpack(
    astra_runtime_t *runtime, astra_tensor_t tensor,
    struct DLManagedTensorVersioned **managed, astra_error_t **error);
ASTRA_API astra_status_t astra_tensor_to_dlpack_legacy(
    astra_runtime_t *runtime, astra_tensor_t tensor,
    struct DLManagedTensor **managed, astra_error_t **error);

/* Makes a tensor of another library's memory without a copy: of the host, ready
 * to read, and unchanged from then on. The deleter is called once, on whatever
 * thread drops the last use; if this fails it is not called. */
ASTRA_API astra_status_t
astra_tensor_from_dlpack(astra_runtime_t *runtime, astra_device_t device,
                         struct DLManagedTensorVersioned *managed,
                         astra_tensor_t *tensor, astra_error_t **error);
ASTRA_API astra_status_t
astra_tensor_from_dlpack_legacy(astra_runtime_t *runtime, astra_device_t device,
                                struct DLManagedTensor *managed,
                                astra_tensor_t *tensor, astra_error_t **error);

/* ---- Modules ----------------------------------------------------------- */

/* The descriptor that a compiled object defines as astra_module_<name>. */
struct astra_module_desc;

/* Loads a module that `astrac -shared` made. The file is checked as a whole
 * before any of its code can run; then its versions, the processor level and
 * all kernels that it imports, the missing ones being listed together. */
ASTRA_API astra_status_t astra_module_load(astra_runtime_t *runtime,
                                           const char *path,
                                           astra_module_t *module,
                                           astra_error_t **error);

/* The same for a module linked into the program: &astra_module_<name>. The
 * descriptor must stay while the module has references. */
ASTRA_API astra_status_t astra_module_link(
    astra_runtime_t *runtime, const struct astra_module_desc *descriptor,
    astra_module_t *module, astra_error_t **error);

/* Gives the reference back. A loaded file is unloaded with the last one, of the
 * module and its functions. */
ASTRA_API astra_status_t astra_module_release(astra_runtime_t *runtime,
                                              astra_module_t module,
                                              astra_error_t **error);

typedef struct astra_module_info {
  astra_chain_t chain; /* ASTRA_STRUCT_MODULE_INFO */
  const char *name;
  const char *path;     /* as loaded, or "" */
  const char *compiler; /* "astrac 0.1.0" */
  const char *options;
  const char *cpu_levels; /* "x86-64-v3" */
  uint32_t object_abi;
  uint32_t arithmetic;
  uint32_t mode; /* 0 strict, 1 device, 2 fast */
  uint32_t reserved;
  size_t function_count;
  size_t kernel_count;
} astra_module_info_t;

ASTRA_API astra_status_t astra_module_info(astra_runtime_t *runtime,
                                           astra_module_t module,
                                           astra_module_info_t *info,
                                           astra_error_t **error);

/* Kernel `index` of the module: its name, version and the variant that was
 * chosen ("x86-64-v3", "reference"). Any output may be null. */
ASTRA_API astra_status_t astra_module_kernel(astra_runtime_t *runtime,
                                             astra_module_t module,
                                             size_t index, const char **name,
                                             uint32_t *version,
                                             const char **variant,
                                             astra_error_t **error);

/* ---- Functions --------------------------------------------------------- */

/* Finds an exported function by its name in the program, "step".
 * ASTRA_ERROR_NOT_FOUND lists what there is. */
ASTRA_API astra_status_t astra_module_function(astra_runtime_t *runtime,
                                               astra_module_t module,
                                               const char *name,
                                               astra_function_t *function,
                                               astra_error_t **error);

/* Function `index`, below function_count; tests are among them. */
ASTRA_API astra_status_t astra_module_function_at(astra_runtime_t *runtime,
                                                  astra_module_t module,
                                                  size_t index,
                                                  astra_function_t *function,
                                                  astra_error_t **error);

ASTRA_API astra_status_t astra_function_release(astra_runtime_t *runtime,
                                                astra_function_t function,
                                                astra_error_t **error);

/* flags of astra_function_info_t */
#define ASTRA_FUNCTION_TEST 1u /* a test block: no parameters, no results */

typedef struct astra_function_info {
  astra_chain_t chain; /* ASTRA_STRUCT_FUNCTION_INFO */
  const char *name;
  const char *doc;
  size_t dim_count;
  const char *const *dim_names;
  size_t parameter_count; /* as written in the program */
  size_t result_count;
  size_t input_count; /* leaves: what a call is given */
  size_t output_count;
  uint32_t flags;
  uint32_t reserved;
  /* The bytes that a call holds beside its inputs, at most, as an expression of
   * the dimensions: workspace and results, "4*n*d + 64". What a kernel takes
   * while it runs and what loops leave to their reverse pass come on top. */
  const char *memory;
} astra_function_info_t;

ASTRA_API astra_status_t astra_function_info(astra_runtime_t *runtime,
                                             astra_function_t function,
                                             astra_function_info_t *info,
                                             astra_error_t **error);

/* The bytes of a call's workspace, and of its results, for given dimensions (in
 * the order of dim_names). Either output may be null. A dimension for which the
 * function has no value is refused. */
ASTRA_API astra_status_t astra_function_memory(
    astra_runtime_t *runtime, astra_function_t function, const int64_t *dims,
    size_t dim_count, uint64_t *workspace, uint64_t *results,
    astra_error_t **error);

/* A parameter or result as the program wrote it. */
typedef struct astra_value_info {
  astra_chain_t chain; /* ASTRA_STRUCT_VALUE_INFO */
  const char *name;
  const char *type; /* "Mlp", "f32[n, 64]" */
  const char *tree; /* JSON of structs, tuples and arrays down to leaves */
  size_t first_leaf;
  size_t leaf_count;
} astra_value_info_t;

ASTRA_API astra_status_t astra_function_parameter(astra_runtime_t *runtime,
                                                  astra_function_t function,
                                                  size_t index,
                                                  astra_value_info_t *info,
                                                  astra_error_t **error);

ASTRA_API astra_status_t astra_function_result(astra_runtime_t *runtime,
                                               astra_function_t function,
                                               size_t index,
                                               astra_value_info_t *info,
                                               astra_error_t **error);

/* One tensor of a parameter or result. */
typedef struct astra_leaf_info {
  astra_chain_t chain; /* ASTRA_STRUCT_LEAF_INFO */
  const char *path;    /* "m.hidden.w" */
  uint32_t dtype;
  uint32_t rank;
  /* `rank` dimension expressions, "n", "64", "2*d + 1". */
  const char *const *shape;
  /* Of an output: the inputs whose memory it takes if they are donated and
   * dense, the first that is and that no other output has taken. */
  size_t donor_count;
  const uint32_t *donors;
} astra_leaf_info_t;

ASTRA_API astra_status_t astra_function_input(astra_runtime_t *runtime,
                                              astra_function_t function,
                                              size_t index,
                                              astra_leaf_info_t *info,
                                              astra_error_t **error);

ASTRA_API astra_status_t astra_function_output(astra_runtime_t *runtime,
                                               astra_function_t function,
                                               size_t index,
                                               astra_leaf_info_t *info,
                                               astra_error_t **error);

/* ---- Calls ------------------------------------------------------------- */

/* One input of a call: a tensor (dtype 0) or a scalar by value. */
typedef union astra_payload {
  astra_tensor_t tensor;
  uint8_t bool8; /* 0 or 1 */
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  uint8_t u8;
  uint16_t u16; /* u16, and the bits of f16 and bf16 */
  uint32_t u32;
  uint64_t u64;
  float f32;
  double f64;
} astra_payload_t;

typedef struct astra_value {
  uint32_t dtype; /* 0: as.tensor; else a scalar of this dtype */
  uint32_t flags; /* ASTRA_VALUE_* */
  astra_payload_t as;
} astra_value_t;

/* The caller's reference passes to the call once the arguments have been found
 * valid, whatever happens after, and the memory may be used for outputs: at
 * once where the compiled function allows that, else after the call. The tensor
 * must have no other reference, view or mapping, and stand in one input only
 * (ASTRA_ERROR_DONATION); earlier calls that still use it do not matter. */
#define ASTRA_VALUE_DONATE 1u

typedef struct astra_call_options {
  astra_chain_t chain; /* ASTRA_STRUCT_CALL_OPTIONS */
  uint64_t flags;      /* none yet: 0 */
  /* Null, or for each output null or a tensor that the result is written into.
   * It must be writable (from astra_tensor_empty, or a part of one, not yet
   * retained, read, viewed, mapped or passed; else ASTRA_ERROR_BUSY), dense,
   * and have the dtype and shape of the output. It is consumed like a donated
   * input, and the output takes its place. */
  const astra_tensor_t *targets;
  size_t target_count; /* 0, or the number of outputs */
} astra_call_options_t;

/* Calls a function on a stream. `inputs` are its input leaves in order,
 * `outputs` receives one tensor for each output leaf; the counts must be those
 * of astra_function_info. Inputs are checked at once (count, dtype, rank,
 * extents, device); the work may be done later, and its errors surface where an
 * output is waited for. The inputs may be released as soon as this returns.
 * `options` may be null. */
ASTRA_API astra_status_t astra_function_call(
    astra_runtime_t *runtime, astra_function_t function, astra_stream_t stream,
    const astra_call_options_t *options, const astra_value_t *inputs,
    size_t input_count, astra_tensor_t *outputs, size_t output_count,
    astra_error_t **error);

/* ---- Files ------------------------------------------------------------- */

/* Files are written beside their place and then moved there, so that a reader
 * never sees half of one. A NaN is written as the quiet NaN with positive sign
 * and no payload. Saving waits for the tensors. */

/* Writes a safetensors file of `count` named tensors, in this order. */
ASTRA_API astra_status_t astra_safetensors_save(
    astra_runtime_t *runtime, const char *path, const char *const *names,
    const astra_tensor_t *tensors, size_t count, astra_error_t **error);

/* Opens a safetensors file and checks it as a whole. ASTRA_ERROR_CORRUPT_FILE
 * names what is wrong. */
ASTRA_API astra_status_t astra_safetensors_load(astra_runtime_t *runtime,
                                                const char *path,
                                                astra_archive_t *archive,
                                                astra_error_t **error);

/* The number of tensors in the archive. */
ASTRA_API astra_status_t astra_archive_count(astra_runtime_t *runtime,
                                             astra_archive_t archive,
                                             size_t *count,
                                             astra_error_t **error);

/* The name of tensor `index`, in the order of their data in the file. */
ASTRA_API astra_status_t astra_archive_name(astra_runtime_t *runtime,
                                            astra_archive_t archive,
                                            size_t index, const char **name,
                                            astra_error_t **error);

/* A tensor by name, on `device`. ASTRA_ERROR_NOT_FOUND if there is none. */
ASTRA_API astra_status_t astra_archive_tensor(
    astra_runtime_t *runtime, astra_archive_t archive, const char *name,
    astra_device_t device, astra_tensor_t *tensor, astra_error_t **error);

ASTRA_API astra_status_t astra_archive_release(astra_runtime_t *runtime,
                                               astra_archive_t archive,
                                               astra_error_t **error);

/* Writes NumPy's format, version 1.0 (bf16 has no place in it:
 * ASTRA_ERROR_UNIMPLEMENTED). */
ASTRA_API astra_status_t astra_npy_save(astra_runtime_t *runtime,
                                        const char *path, astra_tensor_t tensor,
                                        astra_error_t **error);

/* Reads NumPy's format, versions 1 to 3, little-endian, either order. */
ASTRA_API astra_status_t astra_npy_load(astra_runtime_t *runtime,
                                        const char *path, astra_device_t device,
                                        astra_tensor_t *tensor,
                                        astra_error_t **error);

/* ---- Introspection and traces ------------------------------------------ */

#ifdef __cplusplus
}
#endif
#include "astra/inspect.h"
#include "astra/trace.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- The function table ------------------------------------------------ */

/* For programs that load the library by path: all functions of this header in
 * one table that only grows at its end; see astra/api.h. */
typedef struct astra_api astra_api_t;
#define ASTRA_API_VERSION 1u

/* The table, or null if the library does not know `version`. Static. */
ASTRA_API const astra_api_t *astra_get_api(uint32_t version);

/* ---- Values, built inline ---------------------------------------------- */

static inline astra_value_t astra_value_of_tensor(astra_tensor_t tensor) {
  astra_value_t value = {0, 0, {{0}}};
  value.as.tensor = tensor;
  return value;
}

#define ASTRA_DEFINE_VALUE(NAME, DTYPE, TYPE, MEMBER)                          \
  static inline astra_value_t astra_value_of_##NAME(TYPE scalar) {             \
    astra_value_t value = {DTYPE, 0, {{0}}};                                   \
    value.as.MEMBER = scalar;                                                  \
    return value;                                                              \
  }
ASTRA_DEFINE_VALUE(bool, ASTRA_BOOL, uint8_t, bool8)
ASTRA_DEFINE_VALUE(i8, ASTRA_I8, int8_t, i8)
ASTRA_DEFINE_VALUE(i16, ASTRA_I16, int16_t, i16)
ASTRA_DEFINE_VALUE(i32, ASTRA_I32, int32_t, i32)
ASTRA_DEFINE_VALUE(i64, ASTRA_I64, int64_t, i64)
ASTRA_DEFINE_VALUE(u8, ASTRA_U8, uint8_t, u8)
ASTRA_DEFINE_VALUE(u16, ASTRA_U16, uint16_t, u16)
ASTRA_DEFINE_VALUE(u32, ASTRA_U32, uint32_t, u32)
ASTRA_DEFINE_VALUE(u64, ASTRA_U64, uint64_t, u64)
ASTRA_DEFINE_VALUE(f16, ASTRA_F16, uint16_t, u16)
ASTRA_DEFINE_VALUE(bf16, ASTRA_BF16, uint16_t, u16)
ASTRA_DEFINE_VALUE(f32, ASTRA_F32, float, f32)
ASTRA_DEFINE_VALUE(f64, ASTRA_F64, double, f64)
#undef ASTRA_DEFINE_VALUE

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_ASTRA_H */
