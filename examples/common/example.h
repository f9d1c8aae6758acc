/* What the example programs share: stopping with a sentence when a call fails,
 * options, and a line of progress. Header only, plain C99.
 */
#ifndef EXAMPLES_EXAMPLE_H
#define EXAMPLES_EXAMPLE_H

#include "astra/astra.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs an API call that gets `&error` as its last argument, or stops. */
#define CHECK(CALL)                                                            \
  do {                                                                         \
    astra_error_t *error = NULL;                                               \
    if ((CALL) != ASTRA_OK)                                                    \
      example_stop(error);                                                     \
  } while (0)

static inline void example_stop(astra_error_t *error) {
  const char *place = astra_error_location(error);
  fprintf(stderr, "%s%s%s\n", place, place[0] ? ": " : "",
          astra_error_message(error));
  astra_error_release(error);
  exit(1);
}

/* The value of `--name VALUE`, or `otherwise`; null stands for "must be given".
 */
static inline const char *
example_option(int argc, char **argv, const char *name, const char *otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, name) == 0)
      return argv[i + 1];
  if (!otherwise) {
    fprintf(stderr, "%s: --%s is missing\n", argv[0], name);
    exit(2);
  }
  return otherwise;
}

static inline long example_number(int argc, char **argv, const char *name,
                                  const char *otherwise) {
  const char *text = example_option(argc, argv, name, otherwise);
  char *end;
  long value = strtol(text, &end, 10);
  if (*end || end == text || value < 1 || value > 100000) {
    fprintf(stderr, "%s: --%s wants a number from 1 to 100000, not '%s'\n",
            argv[0], name, text);
    exit(2);
  }
  return value;
}

/* A runtime with `threads` threads and a stream on its CPU. */
typedef struct example {
  astra_runtime_t *runtime;
  astra_device_t device;
  astra_stream_t stream;
} example_t;

static inline example_t example_open(long threads) {
  example_t example;
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.threads = (uint32_t)threads;
  CHECK(astra_runtime_create(&options, &example.runtime, &error));
  CHECK(astra_device_open(example.runtime, "cpu", &example.device, &error));
  CHECK(astra_stream_create(example.runtime, example.device, NULL,
                            &example.stream, &error));
  return example;
}

/* Reads all `bytes` of a tensor and gives the tensor back. */
static inline void example_take(example_t *example, astra_tensor_t tensor,
                                void *data, size_t bytes) {
  CHECK(astra_tensor_read(example->runtime, tensor, data, bytes, &error));
  CHECK(astra_tensor_release(example->runtime, tensor, &error));
}

static inline void example_close(example_t *example) {
  CHECK(astra_stream_release(example->runtime, example->stream, &error));
  CHECK(astra_device_release(example->runtime, example->device, &error));
  astra_runtime_destroy(example->runtime);
}

/* A bar that is drawn over on a terminal, a plain line now and then elsewhere.
 */
static inline void example_progress(const char *name, long done, long all,
                                    const char *figures) {
  if (!isatty(STDOUT_FILENO)) {
    long step = all / 10 ? all / 10 : 1;
    if (done == 1 || done == all || done % step == 0)
      printf("%s: epoch %ld of %ld, %s\n", name, done, all, figures);
    fflush(stdout);
    return;
  }
  char bar[31];
  for (int i = 0; i < 30; ++i)
    bar[i] = i < 30 * done / all ? '#' : '.';
  bar[30] = 0;
  printf("\r%s: [%s] epoch %ld of %ld, %s%s", name, bar, done, all, figures,
         done == all ? "\n" : "");
  fflush(stdout);
}

#endif /* EXAMPLES_EXAMPLE_H */
