/* Loads digits.so by its path and calls `images` and `predict` knowing only
 * their names: which tensors they take, the module says itself.
 *
 * Usage: module MODULE --data FILE --parameters FILE [--threads N]
 */
#include "example.h"

typedef struct files {
  astra_archive_t data, parameters;
} files_t;

static astra_function_t find(example_t *e, astra_module_t module,
                             const char *name) {
  astra_function_t function;
  CHECK(astra_module_function(e->runtime, module, name, &function, &error));
  return function;
}

static astra_tensor_t read_tensor(example_t *e, astra_archive_t archive,
                                  const char *name) {
  astra_tensor_t tensor;
  CHECK(astra_archive_tensor(e->runtime, archive, name, e->device, &tensor,
                             &error));
  return tensor;
}

/* The test images as floats. */
static astra_tensor_t read_images(example_t *e, astra_module_t module,
                                  files_t *files) {
  astra_function_t images = find(e, module, "images");
  astra_tensor_t pixels = read_tensor(e, files->data, "test.x"), x;
  astra_value_t in = astra_value_of_tensor(pixels);
  CHECK(astra_function_call(e->runtime, images, e->stream, NULL, &in, 1, &x, 1,
                            &error));
  CHECK(astra_tensor_release(e->runtime, pixels, &error));
  CHECK(astra_function_release(e->runtime, images, &error));
  return x;
}

/* Inputs called `m.NAME` are the parameter NAME of the file, `x` the images. */
static astra_tensor_t call_predict(example_t *e, astra_module_t module,
                                   files_t *files, astra_tensor_t x) {
  enum { MOST = 16 };
  astra_function_t predict = find(e, module, "predict");
  astra_function_info_t info;
  astra_value_t in[MOST];
  astra_tensor_t labels;
  ASTRA_INIT(FUNCTION_INFO, &info);
  CHECK(astra_function_info(e->runtime, predict, &info, &error));
  if (info.input_count > MOST) {
    fprintf(stderr, "predict has more than %d inputs\n", MOST);
    exit(1);
  }
  for (size_t i = 0; i < info.input_count; ++i) {
    astra_leaf_info_t leaf;
    ASTRA_INIT(LEAF_INFO, &leaf);
    CHECK(astra_function_input(e->runtime, predict, i, &leaf, &error));
    if (strncmp(leaf.path, "m.", 2) == 0)
      in[i] = astra_value_of_tensor(
          read_tensor(e, files->parameters, leaf.path + 2));
    else
      in[i] = astra_value_of_tensor(x);
  }
  CHECK(astra_function_call(e->runtime, predict, e->stream, NULL, in,
                            info.input_count, &labels, 1, &error));
  for (size_t i = 0; i < info.input_count; ++i)
    CHECK(astra_tensor_release(e->runtime, in[i].as.tensor, &error));
  CHECK(astra_function_release(e->runtime, predict, &error));
  return labels;
}

int main(int argc, char **argv) {
  example_t e = example_open(example_number(argc, argv, "threads", "1"));
  files_t files;
  astra_module_t module;
  int32_t found[2048], right[2048];
  int64_t count, same = 0;
  uint32_t rank;
  if (argc < 2 || strncmp(argv[1], "--", 2) == 0) {
    fprintf(stderr, "%s: which module?\n", argv[0]);
    return 2;
  }
  CHECK(astra_module_load(e.runtime, argv[1], &module, &error));
  CHECK(astra_safetensors_load(e.runtime,
                               example_option(argc, argv, "data", NULL),
                               &files.data, &error));
  CHECK(astra_safetensors_load(e.runtime,
                               example_option(argc, argv, "parameters", NULL),
                               &files.parameters, &error));
  astra_tensor_t x = read_images(&e, module, &files);
  astra_tensor_t labels = call_predict(&e, module, &files, x);
  astra_tensor_t y = read_tensor(&e, files.data, "test.y");
  CHECK(astra_tensor_shape(e.runtime, labels, 1, &rank, &count, &error));
  size_t bytes = (size_t)count * sizeof *found;
  if (bytes > sizeof found) {
    fprintf(stderr, "more than 2048 images\n");
    return 1;
  }
  CHECK(astra_tensor_read(e.runtime, labels, found, bytes, &error));
  CHECK(astra_tensor_read(e.runtime, y, right, bytes, &error));
  for (int64_t i = 0; i < count; ++i)
    same += found[i] == right[i];
  printf("digits: the module recognises %lld of %lld\n", (long long)same,
         (long long)count);
  CHECK(astra_tensor_release(e.runtime, labels, &error));
  CHECK(astra_tensor_release(e.runtime, y, &error));
  CHECK(astra_archive_release(e.runtime, files.data, &error));
  CHECK(astra_archive_release(e.runtime, files.parameters, &error));
  CHECK(astra_module_release(e.runtime, module, &error));
  example_close(&e);
  return 0;
}
