/* Reads ADBench's text files as the inputs of the programs beside this file, in
 * the order of the programs' parameters. Knows nothing of the programs but
 * that.
 */
#ifndef ADBENCH_INSTANCES_H
#define ADBENCH_INSTANCES_H

#include "example.h"

enum { MOST_VALUES = 16 };

/* The inputs of both functions of a program. */
typedef struct instance {
  char size[64]; /* in words */
  astra_value_t in[MOST_VALUES];
  size_t count;
} instance_t;

static inline FILE *open_text(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "adbench: cannot read %s\n", path);
    exit(1);
  }
  return file;
}

static inline double next_number(FILE *file) {
  double value;
  if (fscanf(file, "%lf", &value) != 1) {
    fprintf(stderr, "adbench: a number is missing in an instance\n");
    exit(1);
  }
  return value;
}

/* An extent: a whole number from 1 to 10^7. */
static inline int64_t next_extent(FILE *file) {
  double value = next_number(file);
  if (!(value >= 1 && value <= 1e7) || value != (double)(int64_t)value) {
    fprintf(stderr, "adbench: %g is no extent\n", value);
    exit(1);
  }
  return (int64_t)value;
}

static inline void *allocate(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (!memory) {
    fprintf(stderr, "adbench: out of memory\n");
    exit(1);
  }
  return memory;
}

/* `rows` rows, of which the file has `given`, each repeated to fill up. */
static inline double *next_rows(FILE *file, int64_t rows, int64_t width,
                                int64_t given) {
  double *data = (double *)allocate((size_t)(rows * width), sizeof *data);
  for (int64_t i = 0; i < rows * width; ++i)
    data[i] = i < given * width ? next_number(file) : data[i % (given * width)];
  return data;
}

static inline void add_tensor(example_t *e, instance_t *instance,
                              uint32_t dtype, uint32_t rank,
                              const int64_t *shape, void *data) {
  size_t bytes = dtype == ASTRA_F64 ? sizeof(double) : sizeof(int32_t);
  astra_tensor_t tensor;
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= (size_t)shape[i];
  CHECK(astra_tensor_from_data(e->runtime, e->device, dtype, rank, shape, data,
                               bytes, &tensor, &error));
  instance->in[instance->count++] = astra_value_of_tensor(tensor);
  free(data);
}

/* Reads a matrix; one of width 0 is an f64 vector of `rows`. */
static inline void add_rows(example_t *e, instance_t *instance, FILE *file,
                            int64_t rows, int64_t width, int64_t given) {
  int64_t shape[2] = {rows, width};
  double *data = next_rows(file, rows, width ? width : 1, given);
  add_tensor(e, instance, ASTRA_F64, width ? 2 : 1, shape, data);
}

/* Each row of the file has the d logarithms of a factor's diagonal and the
 * d (d - 1) / 2 numbers below it: two inputs. */
static inline void add_factors(example_t *e, instance_t *instance, FILE *file,
                               int64_t k, int64_t d) {
  int64_t width[2] = {d, d * (d - 1) / 2};
  double *part[2];
  for (int p = 0; p < 2; ++p)
    part[p] = (double *)allocate((size_t)(k * width[p]), sizeof **part);
  for (int64_t row = 0; row < k; ++row)
    for (int p = 0; p < 2; ++p)
      for (int64_t i = 0; i < width[p]; ++i)
        part[p][row * width[p] + i] = next_number(file);
  for (int p = 0; p < 2; ++p) {
    int64_t shape[2] = {k, width[p]};
    add_tensor(e, instance, ASTRA_F64, 2, shape, part[p]);
  }
}

static inline void read_gmm(example_t *e, FILE *file, instance_t *instance) {
  int64_t d = next_extent(file), k = next_extent(file), n = next_extent(file);
  add_rows(e, instance, file, k, 0, k);
  add_rows(e, instance, file, k, d, k);
  add_factors(e, instance, file, k, d);
  add_rows(e, instance, file, n, d, n);
  instance->in[instance->count++] = astra_value_of_f64(next_number(file));
  instance->in[instance->count++] =
      astra_value_of_i64((int64_t)next_number(file));
  snprintf(instance->size, sizeof instance->size, "d %lld, K %lld, N %lld",
           (long long)d, (long long)k, (long long)n);
}

static inline void read_lstm(example_t *e, FILE *file, instance_t *instance) {
  int64_t l = next_extent(file), c = next_extent(file), b = next_extent(file);
  int64_t main_shape[4] = {l, 2, 4, b}, state_shape[3] = {l, 2, b};
  add_tensor(e, instance, ASTRA_F64, 4, main_shape,
             next_rows(file, 2 * l, 4 * b, 2 * l));
  add_rows(e, instance, file, 3, b, 3);
  add_tensor(e, instance, ASTRA_F64, 3, state_shape,
             next_rows(file, 2 * l, b, 2 * l));
  add_rows(e, instance, file, c, b, c);
  snprintf(instance->size, sizeof instance->size, "l %lld, c %lld, b %lld",
           (long long)l, (long long)c, (long long)b);
}

/* The file has one camera, point, weight and feature, and how many there are of
 * each; observation i is of camera i mod n and point i mod m. */
static inline void read_ba(example_t *e, FILE *file, instance_t *instance) {
  int64_t n = next_extent(file), m = next_extent(file), p = next_extent(file);
  int64_t shape[2] = {p, 2};
  int32_t *seen = (int32_t *)allocate((size_t)p * 2, sizeof *seen);
  add_rows(e, instance, file, n, 11, 1);
  add_rows(e, instance, file, m, 3, 1);
  add_rows(e, instance, file, p, 0, 1);
  for (int64_t i = 0; i < p; ++i) {
    seen[2 * i] = (int32_t)(i % n);
    seen[2 * i + 1] = (int32_t)(i % m);
  }
  add_tensor(e, instance, ASTRA_I32, 2, shape, seen);
  add_rows(e, instance, file, p, 2, 1);
  snprintf(instance->size, sizeof instance->size, "n %lld, m %lld, p %lld",
           (long long)n, (long long)m, (long long)p);
}

#endif /* ADBENCH_INSTANCES_H */
