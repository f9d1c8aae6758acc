/* Times the functions of a compiled module on request, so that a script can
 * let several systems take turns on one machine.
 *
 * Usage: worker MODULE --threads N
 * Reads commands from the standard input, one a line, and answers each with a
 * line:
 *   open FUNCTION FILE   takes the inputs "0", "1", ... of a safetensors file
 *                        and calls once: `first SECONDS`
 *   round SECONDS        calls for about so long: `median SECONDS` of a call
 *   save FILE            writes the last outputs as "0", "1", ...: `saved`
 */
#include "example.h"
#include <time.h>

enum { MOST_VALUES = 32, MOST_SAMPLES = 1000 };

typedef struct worker {
  example_t example;
  astra_module_t module;
  astra_function_t function;
  size_t inputs, outputs;
  astra_value_t in[MOST_VALUES];
  astra_tensor_t out[MOST_VALUES];
  int has_outputs;
} worker_t;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void drop_outputs(worker_t *w) {
  for (size_t i = 0; w->has_outputs && i < w->outputs; ++i)
    CHECK(astra_tensor_release(w->example.runtime, w->out[i], &error));
  w->has_outputs = 0;
}

/* One call, until its results are there. */
static void call(worker_t *w) {
  drop_outputs(w);
  CHECK(astra_function_call(w->example.runtime, w->function, w->example.stream,
                            NULL, w->in, w->inputs, w->out, w->outputs,
                            &error));
  w->has_outputs = 1;
  if (w->outputs)
    CHECK(
        astra_tensor_wait(w->example.runtime, w->out[w->outputs - 1], &error));
}

static void close_function(worker_t *w) {
  drop_outputs(w);
  for (size_t i = 0; i < w->inputs; ++i)
    CHECK(astra_tensor_release(w->example.runtime, w->in[i].as.tensor, &error));
  if (w->inputs + w->outputs)
    CHECK(astra_function_release(w->example.runtime, w->function, &error));
  w->inputs = w->outputs = 0;
}

static void open_function(worker_t *w, const char *name, const char *file) {
  astra_runtime_t *runtime = w->example.runtime;
  astra_archive_t archive;
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  close_function(w);
  CHECK(astra_module_function(runtime, w->module, name, &w->function, &error));
  CHECK(astra_function_info(runtime, w->function, &info, &error));
  if (info.input_count > MOST_VALUES || info.output_count > MOST_VALUES) {
    fprintf(stderr, "worker: %s has more than %d values\n", name, MOST_VALUES);
    exit(1);
  }
  CHECK(astra_safetensors_load(runtime, file, &archive, &error));
  for (size_t i = 0; i < info.input_count; ++i) {
    char key[24];
    astra_tensor_t tensor;
    snprintf(key, sizeof key, "%zu", i);
    CHECK(astra_archive_tensor(runtime, archive, key, w->example.device,
                               &tensor, &error));
    w->in[i] = astra_value_of_tensor(tensor);
  }
  CHECK(astra_archive_release(runtime, archive, &error));
  w->inputs = info.input_count;
  w->outputs = info.output_count;
  double start = now();
  call(w);
  printf("first %.9f\n", now() - start);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Short calls are timed several at a time: a clock read costs too. */
static void run_round(worker_t *w, double seconds) {
  static double samples[MOST_SAMPLES];
  double start = now();
  call(w);
  double once = now() - start;
  long batch = once < 1e-4 ? (long)(1e-4 / (once > 1e-7 ? once : 1e-7)) + 1 : 1;
  size_t count = 0;
  for (double end = now() + seconds;
       count < MOST_SAMPLES && (count < 3 || now() < end); ++count) {
    start = now();
    for (long i = 0; i < batch; ++i)
      call(w);
    samples[count] = (now() - start) / (double)batch;
  }
  qsort(samples, count, sizeof *samples, by_size);
  printf("median %.9f\n", samples[count / 2]);
}

static void save(worker_t *w, const char *file) {
  char keys[MOST_VALUES][24];
  const char *names[MOST_VALUES];
  for (size_t i = 0; i < w->outputs; ++i) {
    snprintf(keys[i], sizeof keys[i], "%zu", i);
    names[i] = keys[i];
  }
  CHECK(astra_safetensors_save(w->example.runtime, file, names, w->out,
                               w->outputs, &error));
  puts("saved");
}

int main(int argc, char **argv) {
  static char line[8192], name[4096], file[4096];
  static worker_t worker;
  double seconds;
  if (argc < 2 || strncmp(argv[1], "--", 2) == 0) {
    fprintf(stderr, "Usage: %s MODULE --threads N\n", argv[0]);
    return 2;
  }
  worker.example = example_open(example_number(argc, argv, "threads", "1"));
  CHECK(astra_module_load(worker.example.runtime, argv[1], &worker.module,
                          &error));
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "open %4095s %4095s", name, file) == 2) {
      open_function(&worker, name, file);
    } else if (sscanf(line, "round %lf", &seconds) == 1) {
      run_round(&worker, seconds);
    } else if (sscanf(line, "save %4095s", file) == 1) {
      save(&worker, file);
    } else {
      fprintf(stderr, "worker: not a command: %s", line);
      return 2;
    }
    fflush(stdout);
  }
  close_function(&worker);
  CHECK(astra_module_release(worker.example.runtime, worker.module, &error));
  example_close(&worker.example);
  return 0;
}
