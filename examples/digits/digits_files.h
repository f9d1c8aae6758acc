/* Reading the digits and a model's parameters, and counting what a model gets
 * right: what the programs that link digits.o share.
 */
#ifndef DIGITS_FILES_H
#define DIGITS_FILES_H

#include "digits.h"
#include "example.h"

typedef struct digits_set {
  astra_tensor_t x, y; /* f32[count, 64], i32[count] */
  int64_t count;
} digits_set_t;

static inline void release(example_t *e, astra_tensor_t tensor) {
  CHECK(astra_tensor_release(e->runtime, tensor, &error));
}

static inline void release_set(example_t *e, digits_set_t *set) {
  release(e, set->x);
  release(e, set->y);
}

/* The images `PART.x` and labels `PART.y` of a data file. */
static inline digits_set_t read_set(example_t *e, const digits_module_t *module,
                                    const char *path, const char *part) {
  digits_set_t set;
  astra_archive_t archive;
  astra_tensor_t pixels;
  uint32_t rank;
  char name[32];
  CHECK(astra_safetensors_load(e->runtime, path, &archive, &error));
  snprintf(name, sizeof name, "%s.x", part);
  CHECK(astra_archive_tensor(e->runtime, archive, name, e->device, &pixels,
                             &error));
  snprintf(name, sizeof name, "%s.y", part);
  CHECK(astra_archive_tensor(e->runtime, archive, name, e->device, &set.y,
                             &error));
  CHECK(astra_tensor_shape(e->runtime, set.y, 1, &rank, &set.count, &error));
  CHECK(digits_images(module, e->stream, pixels, &set.x, &error));
  release(e, pixels);
  CHECK(astra_archive_release(e->runtime, archive, &error));
  return set;
}

static inline int64_t count_correct(example_t *e, const digits_module_t *module,
                                    digits_Mlp model, digits_set_t *set) {
  astra_tensor_t right;
  int64_t count;
  CHECK(
      digits_correct(module, e->stream, model, set->x, set->y, &right, &error));
  CHECK(astra_tensor_read(e->runtime, right, &count, sizeof count, &error));
  release(e, right);
  return count;
}

#endif /* DIGITS_FILES_H */
