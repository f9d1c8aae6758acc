/* Calls any function of any module with numbers from the command line: what the
 * function takes and gives is asked of the module, no generated header is used.
 *
 * Usage: main MODULE                      lists the functions
 *        main MODULE FUNCTION NUMBERS...  calls one: an argument for each input
 *                                         tensor, "1.5" or "1,2,3"
 */
#include "example.h"

enum { MOST = 64 };

/* "line.slope: f32", "x: f32[n]" */
static void print_leaf(const astra_leaf_info_t *leaf) {
  static const char *const classes[] = {"?", "bool", "i", "u", "f", "bf"};
  unsigned class = leaf->dtype >> 24;
  printf("%s: %s", leaf->path, classes[class < 6 ? class : 0]);
  if (class != ASTRA_CLASS_BOOL)
    printf("%u", (unsigned)(leaf->dtype >> 8 & 0xffff));
  for (uint32_t axis = 0; axis < leaf->rank; ++axis)
    printf("%s%s", axis ? ", " : "[", leaf->shape[axis]);
  printf("%s", leaf->rank ? "]" : "");
}

static astra_leaf_info_t leaf_of(example_t *e, astra_function_t function,
                                 size_t index, int is_input) {
  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  if (is_input)
    CHECK(astra_function_input(e->runtime, function, index, &leaf, &error));
  else
    CHECK(astra_function_output(e->runtime, function, index, &leaf, &error));
  return leaf;
}

static void list_function(example_t *e, astra_function_t function) {
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  CHECK(astra_function_info(e->runtime, function, &info, &error));
  printf("%s(", info.name);
  for (size_t i = 0; i < info.input_count + info.output_count; ++i) {
    int is_input = i < info.input_count;
    astra_leaf_info_t leaf =
        leaf_of(e, function, is_input ? i : i - info.input_count, is_input);
    if (i == info.input_count)
      printf(") -> ");
    else if (i)
      printf(", ");
    print_leaf(&leaf);
  }
  printf("\n  %s\n", info.doc);
}

static void list_functions(example_t *e, astra_module_t module) {
  astra_module_info_t info;
  ASTRA_INIT(MODULE_INFO, &info);
  CHECK(astra_module_info(e->runtime, module, &info, &error));
  for (size_t i = 0; i < info.function_count; ++i) {
    astra_function_t function;
    CHECK(astra_module_function_at(e->runtime, module, i, &function, &error));
    list_function(e, function);
    CHECK(astra_function_release(e->runtime, function, &error));
  }
}

/* "1,2,3" as a tensor of f32, of rank 0 or 1 as the function asks for. */
static astra_tensor_t read_tensor(example_t *e, const astra_leaf_info_t *leaf,
                                  const char *text) {
  float values[MOST];
  int64_t count = 0;
  astra_tensor_t tensor;
  if (leaf->dtype != ASTRA_F32 || leaf->rank > 1) {
    fprintf(stderr, "this example makes f32 of rank 0 and 1 only\n");
    exit(2);
  }
  for (char *end; *text && count < MOST; text = *end == ',' ? end + 1 : end) {
    values[count++] = strtof(text, &end);
    if (end == text || (*end && *end != ',')) {
      fprintf(stderr, "'%s' is not a number\n", text);
      exit(2);
    }
  }
  /* The call says what is wrong with a count that does not fit. */
  CHECK(astra_tensor_from_data(
      e->runtime, e->device, ASTRA_F32, leaf->rank, leaf->rank ? &count : NULL,
      values, (leaf->rank ? (size_t)count : 1) * sizeof values[0], &tensor,
      &error));
  return tensor;
}

static void print_tensor(example_t *e, const astra_leaf_info_t *leaf,
                         astra_tensor_t tensor) {
  int64_t count = 1;
  uint32_t rank;
  float values[MOST];
  CHECK(astra_tensor_shape(e->runtime, tensor, 1, &rank, &count, &error));
  example_take(e, tensor, values, (size_t)count * sizeof values[0]);
  printf("%s =", leaf->path);
  for (int64_t i = 0; i < count; ++i)
    printf(" %g", values[i]);
  printf("\n");
}

static void call_function(example_t *e, astra_module_t module, int words,
                          char **word) {
  astra_function_t function;
  astra_function_info_t info;
  astra_value_t inputs[MOST];
  astra_tensor_t outputs[MOST];
  size_t count = (size_t)words - 1;
  CHECK(astra_module_function(e->runtime, module, word[0], &function, &error));
  ASTRA_INIT(FUNCTION_INFO, &info);
  CHECK(astra_function_info(e->runtime, function, &info, &error));
  if (count != info.input_count || count > MOST || info.output_count > MOST) {
    fprintf(stderr, "%s takes %zu tensors, not %zu\n", word[0],
            info.input_count, count);
    exit(2);
  }
  for (size_t i = 0; i < count; ++i) {
    astra_leaf_info_t leaf = leaf_of(e, function, i, 1);
    inputs[i] = astra_value_of_tensor(read_tensor(e, &leaf, word[i + 1]));
  }
  CHECK(astra_function_call(e->runtime, function, e->stream, NULL, inputs,
                            count, outputs, info.output_count, &error));
  for (size_t i = 0; i < count; ++i)
    CHECK(astra_tensor_release(e->runtime, inputs[i].as.tensor, &error));
  for (size_t i = 0; i < info.output_count; ++i) {
    astra_leaf_info_t leaf = leaf_of(e, function, i, 0);
    print_tensor(e, &leaf, outputs[i]);
  }
  CHECK(astra_function_release(e->runtime, function, &error));
}

int main(int argc, char **argv) {
  astra_module_t module;
  if (argc < 2) {
    fprintf(stderr, "usage: %s MODULE [FUNCTION NUMBERS...]\n", argv[0]);
    return 2;
  }
  example_t e = example_open(1);
  CHECK(astra_module_load(e.runtime, argv[1], &module, &error));
  if (argc == 2)
    list_functions(&e, module);
  else
    call_function(&e, module, argc - 2, argv + 2);
  CHECK(astra_module_release(e.runtime, module, &error));
  example_close(&e);
  return 0;
}
