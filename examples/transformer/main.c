/* Trains the transformer of transformer.astra on a text, says how well it
 * predicts the part that it was not shown, and lets it write.
 *
 * Usage: main --data FILE [--steps N] [--threads N] [--trace FILE]
 *
 * The trace is of the last training step.
 */
#include "hash.h"
#include "text.h"
#include "transformer.h"

enum { CONTEXT = 64, LENGTH = 240 };

typedef struct program {
  example_t example;
  transformer_module_t module;
  astra_tensor_t train, other; /* characters as numbers */
  transformer_State state;
} program_t;

/* Bytes [first, first + count) as numbers of characters. */
static astra_tensor_t part(program_t *p, const unsigned char *text,
                           size_t first, size_t count) {
  int64_t shape = (int64_t)count;
  astra_tensor_t bytes, characters;
  CHECK(astra_tensor_from_data(p->example.runtime, p->example.device, ASTRA_U8,
                               1, &shape, text + first, count, &bytes, &error));
  CHECK(transformer_characters(&p->module, p->example.stream, bytes,
                               &characters, &error));
  CHECK(astra_tensor_release(p->example.runtime, bytes, &error));
  return characters;
}

/* The first nine tenths are for training. */
static void read_text(program_t *p, const char *path) {
  size_t bytes;
  unsigned char *text = text_read(path, &bytes);
  size_t train = bytes / 10 * 9;
  p->train = part(p, text, 0, train);
  p->other = part(p, text, train, bytes - train);
  printf("transformer: %zu characters to learn from, %zu to predict\n", train,
         bytes - train);
  free(text);
}

static float number(program_t *p, astra_tensor_t tensor) {
  float value;
  example_take(&p->example, tensor, &value, sizeof value);
  return value;
}

/* One step; gives the loss before it. */
static float step(program_t *p, long t, long steps) {
  transformer_State next;
  astra_tensor_t loss;
  CHECK(transformer_step(&p->module, p->example.stream, p->state, p->train, t,
                         steps, &next, &loss, &error));
  transformer_State_release(p->example.runtime, &p->state);
  p->state = next;
  return number(p, loss);
}

/* What the model writes behind the end of the training text. */
static void show_text(program_t *p) {
  example_t *e = &p->example;
  int64_t count, start, extent = CONTEXT;
  uint32_t rank;
  astra_tensor_t last, written;
  char text[LENGTH + 1] = {0};
  CHECK(astra_tensor_shape(e->runtime, p->train, 1, &rank, &count, &error));
  start = count - CONTEXT;
  CHECK(astra_tensor_slice(e->runtime, p->train, &start, &extent, NULL, &last,
                           &error));
  CHECK(transformer_write(&p->module, e->stream, p->state.model, last, 1,
                          &written, &error));
  example_take(e, written, text, LENGTH);
  CHECK(astra_tensor_release(e->runtime, last, &error));
  printf("transformer: it writes:\n%s\n", text);
}

int main(int argc, char **argv) {
  const char *data = example_option(argc, argv, "data", NULL);
  const char *trace = example_option(argc, argv, "trace", "");
  long steps = example_number(argc, argv, "steps", "900");
  program_t p;
  example_t *e = &p.example;
  astra_tensor_t single, pair, loss;
  astra_tensor_t tensors[transformer_Model_count];
  char digest[65];
  p.example = example_open(example_number(argc, argv, "threads", "1"));
  CHECK(transformer_link(e->runtime, &p.module, &error));
  read_text(&p, data);
  CHECK(transformer_counted(&p.module, e->stream, p.train, p.other, &single,
                            &pair, &error));
  float by_characters = number(&p, single), by_pairs = number(&p, pair);
  printf("transformer: nats per character by counting characters: %.3f, "
         "pairs: %.3f\n",
         by_characters, by_pairs);
  CHECK(transformer_init(&p.module, e->stream, 1, &p.state, &error));
  for (long t = 1; t <= steps; ++t) {
    CHECK(astra_stream_trace(e->runtime, e->stream, *trace && t == steps,
                             &error));
    text_progress("transformer", t, steps, step(&p, t - 1, steps));
  }
  CHECK(astra_stream_trace(e->runtime, e->stream, 0, &error));
  if (*trace)
    CHECK(astra_trace_save(e->runtime, trace, &error));
  CHECK(transformer_held_out(&p.module, e->stream, p.state.model, p.other,
                             &loss, &error));
  float held_out = number(&p, loss);
  show_text(&p);
  transformer_Model_pack(&p.state.model, tensors);
  example_hash(e, tensors, transformer_Model_count, digest);
  printf(
      "transformer: %.3f nats per character of unseen text, %.3f by counting "
      "pairs, parameters sha256 %s\n",
      held_out, by_pairs, digest);
  transformer_State_release(e->runtime, &p.state);
  CHECK(astra_tensor_release(e->runtime, p.train, &error));
  CHECK(astra_tensor_release(e->runtime, p.other, &error));
  transformer_release(&p.module);
  example_close(e);
  return 0;
}
