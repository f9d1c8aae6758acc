/* Frames of samples go through two streams: `front` makes each normal, `back`
 * smooths it as soon as it is there, into its part of one long tensor. Then a
 * frame that fails on purpose, a call that is refused, and an orderly end.
 */
#define _POSIX_C_SOURCE 200809L
#include "frames.h"
#include "hash.h"
#include <pthread.h>

enum { FRAMES = 16, SAMPLES = 1000 };

typedef struct program {
  example_t example; /* its stream is `front` */
  astra_stream_t back;
  frames_module_t frames;
} program_t;

/* How many frames have come to their end. Callbacks come on stream threads. */
typedef struct counter {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int done, failed;
} counter_t;

static void count(void *context, astra_status_t status,
                  const astra_error_t *error) {
  counter_t *counter = context;
  (void)error;
  pthread_mutex_lock(&counter->lock);
  ++counter->done;
  counter->failed += status != ASTRA_OK;
  pthread_cond_signal(&counter->changed);
  pthread_mutex_unlock(&counter->lock);
}

static void await(counter_t *counter, int frames) {
  pthread_mutex_lock(&counter->lock);
  while (counter->done < frames)
    pthread_cond_wait(&counter->changed, &counter->lock);
  pthread_mutex_unlock(&counter->lock);
}

/* Two stream threads, so that the streams do work at the same time; without
 * them each call would do its work before it returns. */
static program_t open_program(long threads) {
  program_t p;
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.threads = (uint32_t)threads;
  options.stream_threads = 2;
  CHECK(astra_runtime_create(&options, &p.example.runtime, &error));
  CHECK(astra_device_open(p.example.runtime, "cpu", &p.example.device, &error));
  CHECK(astra_stream_create(p.example.runtime, p.example.device, NULL,
                            &p.example.stream, &error));
  CHECK(astra_stream_create(p.example.runtime, p.example.device, NULL, &p.back,
                            &error));
  CHECK(frames_link(p.example.runtime, &p.frames, &error));
  return p;
}

/* A tensor of `samples` samples: a saw tooth, or nothing but zeros. */
static astra_tensor_t make_frame(program_t *p, int64_t samples, int period) {
  float data[SAMPLES] = {0};
  astra_tensor_t frame;
  for (int i = 0; period && i < samples; ++i)
    data[i] = (float)(i % period) - 0.5f * (float)(i % 2);
  CHECK(astra_tensor_from_data(
      p->example.runtime, p->example.device, ASTRA_F32, 1, &samples, data,
      (size_t)samples * sizeof data[0], &frame, &error));
  return frame;
}

/* Smooths `frame` on a stream, into `part`. The generated function makes a
 * tensor of its own; what it is made of takes a target. */
static astra_tensor_t smooth_into(program_t *p, astra_stream_t stream,
                                  astra_tensor_t frame, astra_tensor_t part) {
  astra_call_options_t options;
  astra_value_t input = astra_value_of_tensor(frame);
  astra_tensor_t smooth;
  ASTRA_INIT(CALL_OPTIONS, &options);
  options.targets = &part;
  options.target_count = 1;
  CHECK(astra_function_call(p->example.runtime, p->frames.fn_smooth, stream,
                            &options, &input, 1, &smooth, 1, &error));
  return smooth;
}

/* All frames side by side. Every fourth is smoothed where it was made, so both
 * streams write into the one tensor. */
static astra_tensor_t run_pipeline(program_t *p) {
  const int64_t all[1] = {FRAMES * SAMPLES};
  int64_t starts[FRAMES], extents[FRAMES];
  astra_tensor_t whole, parts[FRAMES];
  counter_t counter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0,
                       0};
  astra_runtime_t *runtime = p->example.runtime;
  for (int i = 0; i < FRAMES; ++i)
    starts[i] = (int64_t)i * SAMPLES, extents[i] = SAMPLES;
  CHECK(astra_tensor_empty(runtime, p->example.device, ASTRA_F32, 1, all,
                           &whole, &error));
  CHECK(astra_tensor_partition(runtime, whole, FRAMES, starts, extents, NULL,
                               parts, &error));
  for (int i = 0; i < FRAMES; ++i) {
    astra_tensor_t frame = make_frame(p, SAMPLES, 3 + i), normal, smooth;
    CHECK(frames_normalise(&p->frames, p->example.stream, frame, &normal,
                           &error));
    smooth = smooth_into(p, i % 4 == 3 ? p->example.stream : p->back, normal,
                         parts[i]); /* `normal` may be pending */
    CHECK(astra_tensor_callback(runtime, smooth, count, &counter, &error));
    CHECK(astra_tensor_release(runtime, frame, &error));
    CHECK(astra_tensor_release(runtime, normal, &error));
    CHECK(astra_tensor_release(runtime, smooth, &error));
  }
  await(&counter, FRAMES);
  printf("streams: callbacks of %d frames, %d failed\n", counter.done,
         counter.failed);
  return whole;
}

/* What a wait for `tensor` says, which is an error. */
static void report(program_t *p, const char *what, astra_tensor_t tensor) {
  astra_error_t *error = NULL;
  astra_status_t status = astra_tensor_wait(p->example.runtime, tensor, &error);
  printf("streams: %s: %s, from %s\n", what, astra_status_name(status),
         astra_error_location(error));
  astra_error_release(error);
  CHECK(astra_tensor_release(p->example.runtime, tensor, &error));
}

static void fail_on_purpose(program_t *p) {
  astra_runtime_t *runtime = p->example.runtime;
  astra_tensor_t level = make_frame(p, SAMPLES, 0), normal, smooth;
  CHECK(
      frames_normalise(&p->frames, p->example.stream, level, &normal, &error));
  CHECK(frames_smooth(&p->frames, p->back, normal, &smooth, &error));
  report(p, "a level frame", normal);
  report(p, "what was made of it", smooth);
  CHECK(astra_tensor_release(runtime, level, &error));
  /* Each stream tells of the first error, once, and goes on. */
  astra_error_t *error = NULL;
  astra_status_t front = astra_stream_wait(runtime, p->example.stream, NULL);
  astra_status_t back = astra_stream_wait(runtime, p->back, NULL);
  printf("streams: the streams tell of %s and %s\n", astra_status_name(front),
         astra_status_name(back));

  /* Refused at once: nothing was put into the stream, and there is no result.
   */
  astra_tensor_t one = make_frame(p, 1, 3);
  smooth.bits = 1;
  if (frames_smooth(&p->frames, p->back, one, &smooth, &error) != ASTRA_OK)
    printf("streams: refused, the result is %s: %s\n",
           smooth.bits ? "garbage" : "null", astra_error_message(error));
  astra_error_release(error);
  CHECK(astra_tensor_release(runtime, one, &error));
}

/* Stops in the middle of work: what has not begun is cancelled, what runs is
 * waited for, every handle is given back. */
static void stop(program_t *p) {
  enum { MORE = 200 };
  astra_runtime_t *runtime = p->example.runtime;
  astra_tensor_t results[MORE], frame = make_frame(p, SAMPLES, 5);
  astra_memory_info_t memory;
  int done = 0, cancelled = 0;
  for (int i = 0; i < MORE; ++i)
    CHECK(frames_smooth(&p->frames, p->back, frame, &results[i], &error));
  CHECK(astra_stream_cancel(runtime, p->back, &error));
  for (int i = 0; i < MORE; ++i) {
    astra_status_t status = astra_tensor_wait(runtime, results[i], NULL);
    done += status == ASTRA_OK;
    cancelled += status == ASTRA_ERROR_CANCELLED;
    CHECK(astra_tensor_release(runtime, results[i], &error));
  }
  astra_stream_wait(runtime, p->back, NULL); /* may tell of the cancelling */
  printf("streams: of %d more calls each was done or cancelled: %s\n", MORE,
         done + cancelled == MORE ? "yes" : "no");
  CHECK(astra_tensor_release(runtime, frame, &error));
  frames_release(&p->frames);
  CHECK(astra_stream_release(runtime, p->back, &error));
  CHECK(astra_stream_release(runtime, p->example.stream, &error));
  CHECK(astra_device_release(runtime, p->example.device, &error));
  ASTRA_INIT(MEMORY_INFO, &memory);
  CHECK(astra_runtime_memory(runtime, &memory, &error));
  printf("streams: %d handles left\n", (int)memory.live_handles);
  astra_runtime_destroy(runtime);
}

int main(int argc, char **argv) {
  char digest[65];
  program_t p = open_program(example_number(argc, argv, "threads", "2"));
  astra_tensor_t whole = run_pipeline(&p);
  fail_on_purpose(&p);
  example_hash(&p.example, &whole, 1, digest);
  CHECK(astra_tensor_release(p.example.runtime, whole, &error));
  stop(&p);
  printf("streams: %d frames, sha256 %s\n", FRAMES, digest);
  return 0;
}
