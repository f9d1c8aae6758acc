/* Loads saved parameters and classifies the test images with them.
 *
 * Usage: predict --data FILE --parameters FILE [--threads N]
 */
#include "digits_files.h"
#include "hash.h"

static digits_Mlp read_model(example_t *e, const char *path) {
  digits_Mlp model;
  astra_tensor_t tensors[digits_Mlp_count];
  astra_archive_t archive;
  CHECK(astra_safetensors_load(e->runtime, path, &archive, &error));
  for (size_t i = 0; i < digits_Mlp_count; ++i)
    CHECK(astra_archive_tensor(e->runtime, archive, digits_Mlp_name(i),
                               e->device, &tensors[i], &error));
  CHECK(astra_archive_release(e->runtime, archive, &error));
  digits_Mlp_unpack(&model, tensors);
  return model;
}

/* The hash of the parameters' bytes, tensor by tensor. */
static void hash_model(example_t *e, const digits_Mlp *model, char *text) {
  astra_tensor_t tensors[digits_Mlp_count];
  digits_Mlp_pack(model, tensors);
  example_hash(e, tensors, digits_Mlp_count, text);
}

int main(int argc, char **argv) {
  const char *data = example_option(argc, argv, "data", NULL);
  const char *parameters = example_option(argc, argv, "parameters", NULL);
  example_t e = example_open(example_number(argc, argv, "threads", "1"));
  digits_module_t module;
  char hash[65];
  CHECK(digits_link(e.runtime, &module, &error));
  digits_set_t test = read_set(&e, &module, data, "test");
  digits_Mlp model = read_model(&e, parameters);
  int64_t right = count_correct(&e, &module, model, &test);
  hash_model(&e, &model, hash);
  printf("digits: test accuracy %.3f (%lld of %lld), parameters sha256 %s\n",
         (double)right / (double)test.count, (long long)right,
         (long long)test.count, hash);
  digits_Mlp_release(e.runtime, &model);
  release_set(&e, &test);
  digits_release(&module);
  example_close(&e);
  return 0;
}
