/* Times the objective and the derivative of ADBench's GMM, LSTM and BA side by
 * side, and compares both with expected values.
 *
 * Usage: main --gmm FILE --lstm FILE --ba FILE [--expected FOLDER]
 *             [--milliseconds N] [--threads N]
 */
#define _POSIX_C_SOURCE 200112L /* clock_gettime */
#include "ba.h"
#include "gmm.h"
#include "instances.h"
#include "lstm.h"
#include "sha256.h"
#include <math.h>
#include <time.h>

enum { MOST_SAMPLES = 2000 };

/* One of the two functions, its last results and how long its calls took. */
typedef struct timed {
  astra_function_t function;
  astra_tensor_t out[MOST_VALUES];
  size_t outputs;
  double seconds[MOST_SAMPLES];
  int samples;
} timed_t;

typedef struct benchmark {
  const char *name;
  instance_t instance;
  timed_t objective, derivative;
} benchmark_t;

/* With one thread that thread's own time, which other programs on the machine
 * do not lengthen. */
static clockid_t measured = CLOCK_MONOTONIC;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void drop_outputs(example_t *e, timed_t *t) {
  for (size_t i = 0; i < t->outputs && t->out[i].bits; ++i)
    CHECK(astra_tensor_release(e->runtime, t->out[i], &error));
  memset(t->out, 0, sizeof t->out);
}

/* One call, until its results are there. */
static void call(example_t *e, timed_t *t, const instance_t *instance) {
  drop_outputs(e, t);
  double start = now(measured);
  CHECK(astra_function_call(e->runtime, t->function, e->stream, NULL,
                            instance->in, instance->count, t->out, t->outputs,
                            &error));
  CHECK(astra_tensor_wait(e->runtime, t->out[t->outputs - 1], &error));
  if (t->samples < MOST_SAMPLES)
    t->seconds[t->samples++] = now(measured) - start;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(timed_t *t) {
  qsort(t->seconds, (size_t)t->samples, sizeof *t->seconds, by_size);
  return t->seconds[t->samples / 2];
}

/* Calls both functions in turn for some seconds and prints what they take. */
static void measure(example_t *e, benchmark_t *b, double seconds) {
  call(e, &b->objective, &b->instance);
  call(e, &b->derivative, &b->instance);
  b->objective.samples = b->derivative.samples = 0;
  double end = now(CLOCK_MONOTONIC) + seconds;
  while (now(CLOCK_MONOTONIC) < end || b->objective.samples < 5) {
    call(e, &b->objective, &b->instance);
    call(e, &b->derivative, &b->instance);
  }
  double objective = median(&b->objective), derivative = median(&b->derivative);
  printf("adbench: %-5s %-28s objective %9.3f ms, derivative %9.3f ms, "
         "ratio %.2f\n",
         b->name, b->instance.size, 1e3 * objective, 1e3 * derivative,
         derivative / objective);
}

/* All elements of a tensor of f64; the caller frees them. */
static double *read_all(example_t *e, astra_tensor_t tensor, size_t *count) {
  int64_t shape[8];
  uint32_t rank;
  CHECK(astra_tensor_shape(e->runtime, tensor, 8, &rank, shape, &error));
  *count = 1;
  for (uint32_t i = 0; i < rank; ++i)
    *count *= (size_t)shape[i];
  double *data = (double *)allocate(*count, sizeof *data);
  CHECK(astra_tensor_read(e->runtime, tensor, data, *count * sizeof *data,
                          &error));
  return data;
}

/* Compares results with the numbers of a file: for each result how many there
 * are, then these, which repeat in the result. Gives the largest difference
 * relative to the largest number of that result. */
static double compare(example_t *e, const timed_t *t, FILE *file,
                      sha256_t *hash) {
  double worst = 0;
  for (size_t i = 0; i < t->outputs; ++i) {
    size_t count;
    double *found = read_all(e, t->out[i], &count), scale = 0, most = 0;
    size_t given = (size_t)next_extent(file);
    double *wanted = next_rows(file, (int64_t)given, 1, (int64_t)given);
    sha256_add(hash, found, count * sizeof *found);
    for (size_t k = 0; k < count; ++k) {
      scale = fmax(scale, fabs(wanted[k % given]));
      most = fmax(most, fabs(found[k] - wanted[k % given]));
    }
    worst = fmax(worst, most / scale);
    free(found);
    free(wanted);
  }
  return worst;
}

static astra_function_t find(example_t *e, astra_module_t module,
                             const char *name, size_t *outputs) {
  astra_function_t function;
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  CHECK(astra_module_function(e->runtime, module, name, &function, &error));
  CHECK(astra_function_info(e->runtime, function, &info, &error));
  if (info.output_count > MOST_VALUES) {
    fprintf(stderr, "adbench: %s has too many results\n", name);
    exit(1);
  }
  *outputs = info.output_count;
  return function;
}

typedef void reader_t(example_t *, FILE *, instance_t *);

/* Reads the instance that option --NAME gives and finds the functions. */
static void open_benchmark(example_t *e, benchmark_t *b, const char *name,
                           astra_module_t module, const char *path,
                           reader_t *read) {
  FILE *file = open_text(path);
  memset(b, 0, sizeof *b);
  b->name = name;
  read(e, file, &b->instance);
  fclose(file);
  b->objective.function = find(e, module, "objective", &b->objective.outputs);
  b->derivative.function =
      find(e, module, "derivatives", &b->derivative.outputs);
}

static void close_benchmark(example_t *e, benchmark_t *b) {
  timed_t *timed[2] = {&b->objective, &b->derivative};
  for (size_t i = 0; i < b->instance.count; ++i)
    if (b->instance.in[i].dtype == 0)
      CHECK(astra_tensor_release(e->runtime, b->instance.in[i].as.tensor,
                                 &error));
  for (int i = 0; i < 2; ++i) {
    drop_outputs(e, timed[i]);
    CHECK(astra_function_release(e->runtime, timed[i]->function, &error));
  }
}

/* The largest difference of both functions from FOLDER/NAME.txt. */
static double check(example_t *e, benchmark_t *b, const char *folder,
                    sha256_t *hash) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.txt", folder, b->name);
  FILE *file = open_text(path);
  double objective = compare(e, &b->objective, file, hash);
  double derivative = compare(e, &b->derivative, file, hash);
  fclose(file);
  return fmax(objective, derivative);
}

/* One line: by how much the results differ from those expected, and their
 * hash. */
static void check_all(example_t *e, benchmark_t *b, int count,
                      const char *folder) {
  char digest[65];
  sha256_t hash;
  sha256_start(&hash);
  printf("adbench: largest relative difference from what is expected:");
  for (int i = 0; i < count; ++i)
    printf(" %s %.1e,", b[i].name, check(e, &b[i], folder, &hash));
  sha256_finish(&hash, digest);
  printf(" results sha256 %s\n", digest);
}

int main(int argc, char **argv) {
  static benchmark_t all[3];
  const char *folder = example_option(argc, argv, "expected", "");
  double seconds =
      1e-3 * (double)example_number(argc, argv, "milliseconds", "2000");
  long threads = example_number(argc, argv, "threads", "1");
  example_t e = example_open(threads);
  gmm_module_t gmm;
  lstm_module_t lstm;
  ba_module_t ba;
  CHECK(gmm_link(e.runtime, &gmm, &error));
  CHECK(lstm_link(e.runtime, &lstm, &error));
  CHECK(ba_link(e.runtime, &ba, &error));
  open_benchmark(&e, &all[0], "gmm", gmm.handle,
                 example_option(argc, argv, "gmm", NULL), read_gmm);
  open_benchmark(&e, &all[1], "lstm", lstm.handle,
                 example_option(argc, argv, "lstm", NULL), read_lstm);
  open_benchmark(&e, &all[2], "ba", ba.handle,
                 example_option(argc, argv, "ba", NULL), read_ba);
  if (threads == 1)
    measured = CLOCK_THREAD_CPUTIME_ID;
  for (int i = 0; i < 3; ++i)
    measure(&e, &all[i], seconds);
  if (folder[0])
    check_all(&e, all, 3, folder);
  for (int i = 0; i < 3; ++i)
    close_benchmark(&e, &all[i]);
  gmm_release(&gmm);
  lstm_release(&lstm);
  ba_release(&ba);
  example_close(&e);
  return 0;
}
