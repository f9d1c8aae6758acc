/* Watching work: traces of what ran when, and stopping at the first NaN. Part
 * of the public C API, and included by astra.h, whose rules hold here too.
 * Neither changes a result, and neither costs anything where it is off.
 */
#ifndef ASTRA_TRACE_H
#define ASTRA_TRACE_H

#include "astra/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ASTRA_STRUCT_TRACE_EVENT = 22 };

/* Records, or stops recording, the calls that are put into the stream from now
 * on: one event for each kernel that they run, and one for each call. The
 * runtime keeps events until they are cleared, 1,048,576 at most; later ones
 * are dropped and counted. `on` is 1 or 0.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT for another `on`. */
ASTRA_API astra_status_t astra_stream_trace(astra_runtime_t *runtime,
                                            astra_stream_t stream, uint32_t on,
                                            astra_error_t **error);

#define ASTRA_CHECK_NAN 1u
#define ASTRA_CHECK_INFINITY 2u

/* Has the calls that are put into the stream from now on stop at the first NaN
 * or infinity, as `what` says (0: neither): at a kernel that writes one though
 * none was in what it reads. The call fails with ASTRA_ERROR_NOT_FINITE, a
 * sentence that names the kernel, and the place in the program. Values that are
 * given to the call, and constants, may be what they are. Every value is read
 * once more, so calls are slower.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT for other bits in `what`. */
ASTRA_API astra_status_t astra_stream_check(astra_runtime_t *runtime,
                                            astra_stream_t stream,
                                            uint32_t what,
                                            astra_error_t **error);

/* The number of events that are recorded, and how many were dropped (either may
 * be null). Events of a call are there once it is done.
 * Ownership: none.
 * Threads: any.
 * Errors: none. */
ASTRA_API astra_status_t astra_trace_count(astra_runtime_t *runtime,
                                           size_t *count, size_t *dropped,
                                           astra_error_t **error);

/* Strings live until the runtime is destroyed. */
typedef struct astra_trace_event {
  astra_chain_t chain;  /* ASTRA_STRUCT_TRACE_EVENT */
  const char *function; /* "digits.step" */
  /* "contract_f32", or what a fused kernel computes, "mul add tanh"; "" for the
   * event of a whole call. */
  const char *kernel;
  /* Where the program asks for it: "digits.astra:12:3", or "". */
  const char *source;
  uint64_t stream; /* 1 for the first stream that was traced, and so on */
  uint64_t thread; /* the system's number of the thread */
  /* Nanoseconds since the runtime was made. */
  uint64_t start, end;
  /* Of a kernel: the bytes of its operands, and the arithmetic operations that
   * the shapes call for (docs/profiling.md); of a call: the sums. */
  uint64_t bytes, flops;
} astra_trace_event_t;

/* Event `index`, below astra_trace_count, in the order of their ends.
 * Ownership: the strings belong to the runtime.
 * Threads: any.
 * Errors: OUT_OF_RANGE; INVALID_STRUCT. */
ASTRA_API astra_status_t astra_trace_event(astra_runtime_t *runtime,
                                           size_t index,
                                           astra_trace_event_t *event,
                                           astra_error_t **error);

/* Forgets all events.
 * Ownership: none.
 * Threads: any.
 * Errors: none. */
ASTRA_API astra_status_t astra_trace_clear(astra_runtime_t *runtime,
                                           astra_error_t **error);

/* Writes all events as a Chrome trace (JSON), which Perfetto and
 * chrome://tracing open.
 * Ownership: none.
 * Threads: any.
 * Errors: IO. */
ASTRA_API astra_status_t astra_trace_save(astra_runtime_t *runtime,
                                          const char *path,
                                          astra_error_t **error);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_TRACE_H */
