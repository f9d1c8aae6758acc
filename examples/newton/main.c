/* Fits a logistic regression to the cells of cells.safetensors by Newton's
 * method, and prints how fast it converges.
 *
 * Usage: main --data FILE [--threads N]
 */
#include "example.h"
#include "newton.h"
#include "sha256.h"

enum { COEFFICIENTS = 11, STEPS = 10 };

typedef struct fit {
  example_t example;
  newton_module_t module;
  astra_tensor_t x, y, w;
  int64_t count;
} fit_t;

/* Reads the data: normalised features and labels of 0 and 1. */
static void read_cells(fit_t *f, const char *path) {
  example_t *e = &f->example;
  astra_archive_t archive;
  astra_tensor_t x, y;
  uint32_t rank;
  CHECK(astra_safetensors_load(e->runtime, path, &archive, &error));
  CHECK(astra_archive_tensor(e->runtime, archive, "x", e->device, &x, &error));
  CHECK(astra_archive_tensor(e->runtime, archive, "malignant", e->device, &y,
                             &error));
  CHECK(astra_tensor_shape(e->runtime, y, 1, &rank, &f->count, &error));
  CHECK(newton_features(&f->module, e->stream, x, &f->x, &error));
  CHECK(newton_labels(&f->module, e->stream, y, &f->y, &error));
  CHECK(astra_tensor_release(e->runtime, x, &error));
  CHECK(astra_tensor_release(e->runtime, y, &error));
  CHECK(astra_archive_release(e->runtime, archive, &error));
}

/* One step; prints the loss and the gradient's norm before it. */
static double step(fit_t *f, int number) {
  example_t *e = &f->example;
  astra_tensor_t next, loss, norm;
  double loss_before, norm_before;
  CHECK(newton_step(&f->module, e->stream, f->w, f->x, f->y, &next, &loss,
                    &norm, &error));
  example_take(e, loss, &loss_before, sizeof loss_before);
  example_take(e, norm, &norm_before, sizeof norm_before);
  CHECK(astra_tensor_release(e->runtime, f->w, &error));
  f->w = next;
  printf("newton: before step %d: loss %.12f, gradient %.1e\n", number,
         loss_before, norm_before);
  return loss_before;
}

int main(int argc, char **argv) {
  const char *data = example_option(argc, argv, "data", NULL);
  double zero[COEFFICIENTS] = {0}, w[COEFFICIENTS], loss = 0;
  int64_t shape = COEFFICIENTS, right;
  astra_tensor_t correct;
  char digest[65];
  sha256_t hash;
  fit_t f;
  f.example = example_open(example_number(argc, argv, "threads", "1"));
  example_t *e = &f.example;
  CHECK(newton_link(e->runtime, &f.module, &error));
  read_cells(&f, data);
  CHECK(astra_tensor_from_data(e->runtime, e->device, ASTRA_F64, 1, &shape,
                               zero, sizeof zero, &f.w, &error));
  for (int i = 1; i <= STEPS; ++i)
    loss = step(&f, i);
  CHECK(newton_correct(&f.module, e->stream, f.w, f.x, f.y, &correct, &error));
  example_take(e, correct, &right, sizeof right);
  example_take(e, f.w, w, sizeof w);
  sha256_start(&hash);
  sha256_add(&hash, w, sizeof w);
  sha256_finish(&hash, digest);
  printf("newton: loss %.12f after %d steps, %lld of %lld cells right, "
         "coefficients sha256 %s\n",
         loss, STEPS, (long long)right, (long long)f.count, digest);
  CHECK(astra_tensor_release(e->runtime, f.x, &error));
  CHECK(astra_tensor_release(e->runtime, f.y, &error));
  newton_release(&f.module);
  example_close(e);
  return 0;
}
