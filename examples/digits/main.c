/* Trains the classifier of digits.astra on the digits and saves its parameters.
 *
 * Usage: main --data FILE --save FILE [--threads N] [--epochs N]
 */
#include "digits_files.h"

enum { BATCH = 32 };

typedef struct training {
  example_t example;
  digits_module_t module;
  digits_Mlp model;
  astra_tensor_t x, y; /* all images and labels */
  int64_t count;
} training_t;

/* Rows [first, first + rows) of a tensor of rank 1 or 2. */
static astra_tensor_t slice_rows(example_t *e, astra_tensor_t tensor,
                                 int64_t first, int64_t rows) {
  int64_t starts[2] = {first, 0}, extents[2];
  uint32_t rank;
  astra_tensor_t view;
  CHECK(astra_tensor_shape(e->runtime, tensor, 2, &rank, extents, &error));
  extents[0] = rows;
  CHECK(astra_tensor_slice(e->runtime, tensor, starts, extents, NULL, &view,
                           &error));
  return view;
}

/* One step on a batch; gives the loss before it. */
static float train_batch(training_t *t, astra_tensor_t xs, astra_tensor_t ys,
                         int64_t first, int64_t rows, float rate) {
  example_t *e = &t->example;
  astra_tensor_t x = slice_rows(e, xs, first, rows);
  astra_tensor_t y = slice_rows(e, ys, first, rows);
  astra_tensor_t loss;
  digits_Mlp next;
  float value;
  CHECK(digits_step(&t->module, e->stream, t->model, x, y, rate, &next, &loss,
                    &error));
  CHECK(astra_tensor_read(e->runtime, loss, &value, sizeof value, &error));
  digits_Mlp_release(e->runtime, &t->model);
  t->model = next;
  release(e, loss);
  release(e, x);
  release(e, y);
  return value;
}

/* One pass over the training images in a new order; gives the mean loss. */
static double train_epoch(training_t *t, long epoch) {
  example_t *e = &t->example;
  astra_tensor_t xs, ys;
  double sum = 0;
  CHECK(digits_shuffle(&t->module, e->stream, t->x, t->y, epoch, &xs, &ys,
                       &error));
  for (int64_t first = 0; first < t->count; first += BATCH) {
    int64_t rows = t->count - first < BATCH ? t->count - first : BATCH;
    sum += (double)train_batch(t, xs, ys, first, rows, 0.1f) * (double)rows;
  }
  release(e, xs);
  release(e, ys);
  return sum / (double)t->count;
}

static void save_model(training_t *t, const char *path) {
  const char *names[digits_Mlp_count];
  astra_tensor_t tensors[digits_Mlp_count];
  digits_Mlp_pack(&t->model, tensors);
  for (size_t i = 0; i < digits_Mlp_count; ++i)
    names[i] = digits_Mlp_name(i);
  CHECK(astra_safetensors_save(t->example.runtime, path, names, tensors,
                               digits_Mlp_count, &error));
}

int main(int argc, char **argv) {
  const char *data = example_option(argc, argv, "data", NULL);
  const char *save = example_option(argc, argv, "save", NULL);
  long epochs = example_number(argc, argv, "epochs", "30");
  training_t t;
  t.example = example_open(example_number(argc, argv, "threads", "1"));
  example_t *e = &t.example;
  CHECK(digits_link(e->runtime, &t.module, &error));
  digits_set_t train = read_set(e, &t.module, data, "train");
  digits_set_t test = read_set(e, &t.module, data, "test");
  t.x = train.x, t.y = train.y, t.count = train.count;
  CHECK(digits_init(&t.module, e->stream, 1, &t.model, &error));
  for (long epoch = 1; epoch <= epochs; ++epoch) {
    double loss = train_epoch(&t, epoch);
    int64_t right = count_correct(e, &t.module, t.model, &test);
    char figures[80];
    snprintf(figures, sizeof figures, "loss %.4f, test accuracy %.4f", loss,
             (double)right / (double)test.count);
    example_progress("digits", epoch, epochs, figures);
  }
  save_model(&t, save);
  printf("digits: parameters saved to %s\n", save);
  digits_Mlp_release(e->runtime, &t.model);
  release_set(e, &train);
  release_set(e, &test);
  digits_release(&t.module);
  example_close(e);
  return 0;
}
