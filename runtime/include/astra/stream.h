/* Streams, queues of work on a device, and events, points in that work. See
 * astra.h for the rules that hold for every function.
 */
#ifndef ASTRA_STREAM_H
#define ASTRA_STREAM_H

#include "astra/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Streams ------------------------------------------------------------- */

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

/* Makes a stream: a queue of work on `device`, done in order. `options` may
 * be null.
 * Ownership: one reference, to astra_stream_release; it keeps the device.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_STRUCT; INVALID_ARGUMENT for unknown flags.
 */
ASTRA_API astra_status_t
astra_stream_create(astra_runtime_t *runtime, astra_device_t device,
                    const astra_stream_options_t *options,
                    astra_stream_t *stream, astra_error_t **error);

/* Waits for all work put into the stream before this call. Reports the first
 * error of that work that no astra_stream_wait has reported yet; of errors
 * after it only their tensors tell.
 * Ownership: none.
 * Threads: any but one that does this stream's work (BUSY); it may do the
 *   work itself.
 * Errors: INVALID_HANDLE; else the error of the work. */
ASTRA_API astra_status_t astra_stream_wait(astra_runtime_t *runtime,
                                           astra_stream_t stream,
                                           astra_error_t **error);

/* The stream's timeline: how many pieces of work were put in, and how many of
 * them are done (failed ones too). Never waits; either pointer may be null.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_stream_position(astra_runtime_t *runtime,
                                               astra_stream_t stream,
                                               uint64_t *submitted,
                                               uint64_t *completed,
                                               astra_error_t **error);

/* Does up to `limit` pieces of work of an ASTRA_STREAM_MANUAL stream on this
 * thread, and gives their number (`done` may be null). Never waits: it stops
 * where a piece needs something that is not there yet.
 * Ownership: none.
 * Threads: any; the work is done on it.
 * Errors: INVALID_HANDLE; BUSY if another thread, or a callback's caller, is
 *   at work in the stream; INVALID_ARGUMENT if the stream is of another sort.
 */
ASTRA_API astra_status_t astra_stream_run(astra_runtime_t *runtime,
                                          astra_stream_t stream, uint64_t limit,
                                          uint64_t *done,
                                          astra_error_t **error);

/* Cancels the work in the stream that has not begun: its tensors fail with
 * ASTRA_ERROR_CANCELLED, its callbacks are called with that. What is running
 * goes on to its end. Work put in later is not affected. Never waits.
 * Ownership: none.
 * Threads: any; callbacks may run on it.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_stream_cancel(astra_runtime_t *runtime,
                                             astra_stream_t stream,
                                             astra_error_t **error);

/* Calls `done` once all work put into the stream before is done, in order
 * with the stream's work and on the thread that does it. `status` is
 * ASTRA_OK, or ASTRA_ERROR_CANCELLED if this was cancelled; how the work
 * before ended is told by its tensors and by astra_stream_wait. Called
 * exactly once if this succeeds, else never.
 * Ownership: `context` stays the caller's, until `done` has been called.
 * Threads: any; `done` runs on the one that does the stream's work.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT if `done` is null. */
ASTRA_API astra_status_t
astra_stream_callback(astra_runtime_t *runtime, astra_stream_t stream,
                      void (*done)(void *context, astra_status_t status),
                      void *context, astra_error_t **error);

/* Gives the reference back. Work in the stream is still done; that of a
 * manual one by whoever waits for it.
 * Ownership: takes one reference.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_stream_release(astra_runtime_t *runtime,
                                              astra_stream_t stream,
                                              astra_error_t **error);

/* ---- Events -------------------------------------------------------------- */

/* An event is a point in a stream's work. It says when, not how: it becomes
 * ready even if work before it failed, and fails only if it was cancelled. */

/* The caller gives the word with astra_event_signal; not recorded in streams.
 * The way to make a stream wait for something outside of the runtime. */
#define ASTRA_EVENT_HOST 1u

typedef struct astra_event_options {
  astra_chain_t chain; /* ASTRA_STRUCT_EVENT_OPTIONS */
  uint64_t flags;      /* ASTRA_EVENT_*, or 0 */
} astra_event_options_t;

/* Makes an event. `options` may be null.
 * Ownership: one reference, to astra_event_release.
 * Threads: any.
 * Errors: INVALID_STRUCT; INVALID_ARGUMENT for unknown flags. */
ASTRA_API astra_status_t astra_event_create(
    astra_runtime_t *runtime, const astra_event_options_t *options,
    astra_event_t *event, astra_error_t **error);

/* Puts the event behind the work of the stream. Recording again moves the
 * event; what waits for it already still waits for the earlier point.
 * Ownership: the event keeps the point, not the stream's handle.
 * Threads: any.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT for an event that is not recorded
 *   in streams. */
ASTRA_API astra_status_t astra_event_record(astra_runtime_t *runtime,
                                            astra_event_t event,
                                            astra_stream_t stream,
                                            astra_error_t **error);

/* Makes an ASTRA_EVENT_HOST event ready.
 * Ownership: none.
 * Threads: any; work that waits for it in streams without threads is done on
 *   it.
 * Errors: INVALID_HANDLE; INVALID_ARGUMENT for another sort of event; BUSY if
 *   it was signalled before. */
ASTRA_API astra_status_t astra_event_signal(astra_runtime_t *runtime,
                                            astra_event_t event,
                                            astra_error_t **error);

/* Has all work that is put into the stream from now on wait for the event. If
 * the event fails, the next astra_stream_wait reports it, and the work is
 * done nevertheless.
 * Ownership: the stream keeps the point until it has passed it.
 * Threads: any.
 * Errors: INVALID_HANDLE; NOT_READY if the event has not been recorded. */
ASTRA_API astra_status_t astra_stream_wait_event(astra_runtime_t *runtime,
                                                 astra_stream_t stream,
                                                 astra_event_t event,
                                                 astra_error_t **error);

/* Waits for the event on this thread.
 * Ownership: none.
 * Threads: any but one that does the work (BUSY); it may do the work itself.
 * Errors: INVALID_HANDLE; NOT_READY if it has not been recorded; else the
 *   error of the event. */
ASTRA_API astra_status_t astra_event_wait(astra_runtime_t *runtime,
                                          astra_event_t event,
                                          astra_error_t **error);

/* ASTRA_TENSOR_PENDING (also before it is recorded), _READY or _FAILED. Never
 * waits.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_event_state(astra_runtime_t *runtime,
                                           astra_event_t event, uint32_t *state,
                                           astra_error_t **error);

/* The time from the event `first` to the event `second`, in nanoseconds by
 * the system's steady clock.
 * Ownership: none.
 * Threads: any.
 * Errors: INVALID_HANDLE; NOT_READY unless both are ready. */
ASTRA_API astra_status_t astra_event_elapsed(astra_runtime_t *runtime,
                                             astra_event_t first,
                                             astra_event_t second,
                                             int64_t *nanoseconds,
                                             astra_error_t **error);

/* Gives the reference back. A host event that was not signalled fails with
 * ASTRA_ERROR_CANCELLED with its last reference.
 * Ownership: takes one reference.
 * Threads: any; work that waits for a host event may be done on it.
 * Errors: INVALID_HANDLE. */
ASTRA_API astra_status_t astra_event_release(astra_runtime_t *runtime,
                                             astra_event_t event,
                                             astra_error_t **error);

/* ---- Foreign events ------------------------------------------------------ */

/* Calls `done` once the event is ready (ASTRA_OK) or was cancelled. If that
 * is so already, `done` is called before this returns. Called exactly once if
 * this succeeds, else never. With it an event can be made one of another
 * system.
 * Ownership: `context` stays the caller's, until `done` has been called.
 * Threads: any; `done` runs on it or on the one that makes the event ready.
 * Errors: INVALID_HANDLE; NOT_READY if it has not been recorded;
 *   INVALID_ARGUMENT if `done` is null. */
ASTRA_API astra_status_t
astra_event_callback(astra_runtime_t *runtime, astra_event_t event,
                     void (*done)(void *context, astra_status_t status),
                     void *context, astra_error_t **error);

/* Makes a descriptor (Linux: eventfd) that can be read, and that poll reports
 * as readable, from the time on at which the event is ready or was cancelled.
 * It is of the kernel's, not of the runtime's, and outlives both.
 * Ownership: the descriptor is the caller's, to close(2).
 * Threads: any.
 * Errors: INVALID_HANDLE; NOT_READY if it has not been recorded;
 *   OUT_OF_RESOURCES if the system gives none. */
ASTRA_API astra_status_t astra_event_export_fd(astra_runtime_t *runtime,
                                               astra_event_t event, int *fd,
                                               astra_error_t **error);

/* An event of another system, by how it gives its word. */
typedef struct astra_foreign_event {
  astra_chain_t chain; /* ASTRA_STRUCT_FOREIGN_EVENT */
  void *context;
  /* Called once, by astra_event_import. If it gives ASTRA_OK, the other system
   * calls signal(token, status) exactly once, on any thread, also at once, when
   * its event is ready (ASTRA_OK) or has failed; it must do so before
   * astra_runtime_destroy. Else it never calls it. */
  astra_status_t (*subscribe)(void *context,
                              void (*signal)(void *token,
                                             astra_status_t status),
                              void *token);
} astra_foreign_event_t;

/* Makes an event of one of another system: work that waits for it waits for
 * that. No thread is made: work in streams without threads is done on the one
 * that calls `signal`. A foreign event that failed is ASTRA_TENSOR_FAILED,
 * with the status that it gave.
 * Ownership: one reference, to astra_event_release; the foreign event stays
 *   the caller's, until it has given its word.
 * Threads: any; `subscribe` runs on it.
 * Errors: INVALID_STRUCT; INVALID_ARGUMENT if `subscribe` is null; else the
 *   status that `subscribe` gave. */
ASTRA_API astra_status_t astra_event_import(
    astra_runtime_t *runtime, const astra_foreign_event_t *foreign,
    astra_event_t *event, astra_error_t **error);

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_STREAM_H */
