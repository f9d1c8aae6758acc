/* Trains the LSTM of lstm.astra on words, says how well it spells words that it
 * was not shown, and lets it make some up.
 *
 * Usage: main --data FILE [--steps N] [--threads N]
 */
#include "hash.h"
#include "lstm.h"
#include "text.h"

enum { LONGEST = 12, MOST = 8192, INVENTED = 12 };

/* Words as rows of letters, 0 to 25. */
typedef struct words {
  int32_t letters[MOST][LONGEST];
  int64_t lengths[MOST];
  int64_t count;
} words_t;

typedef struct pair {
  astra_tensor_t letters, lengths;
} pair_t;

static void add_word(words_t *words, const unsigned char *text,
                     int64_t length) {
  if (words->count == MOST || length > LONGEST) {
    fprintf(stderr, "lstm: too many words, or a longer one than %d letters\n",
            LONGEST);
    exit(1);
  }
  for (int64_t i = 0; i < length; ++i)
    words->letters[words->count][i] = text[i] - 'a';
  words->lengths[words->count++] = length;
}

/* Every tenth line goes to `other`. */
static void read_words(const char *path, words_t *train, words_t *other) {
  size_t bytes, begin = 0;
  unsigned char *text = text_read(path, &bytes);
  int64_t line = 0;
  for (size_t i = 0; i < bytes; ++i) {
    if (text[i] != '\n')
      continue;
    add_word(line++ % 10 == 9 ? other : train, text + begin,
             (int64_t)(i - begin));
    begin = i + 1;
  }
  free(text);
}

static pair_t tensors_of(example_t *e, const words_t *words) {
  int64_t shape[2] = {words->count, LONGEST};
  pair_t pair;
  CHECK(astra_tensor_from_data(
      e->runtime, e->device, ASTRA_I32, 2, shape, words->letters,
      (size_t)words->count * sizeof *words->letters, &pair.letters, &error));
  CHECK(astra_tensor_from_data(
      e->runtime, e->device, ASTRA_I64, 1, shape, words->lengths,
      (size_t)words->count * sizeof *words->lengths, &pair.lengths, &error));
  return pair;
}

static void release(example_t *e, pair_t *pair) {
  CHECK(astra_tensor_release(e->runtime, pair->letters, &error));
  CHECK(astra_tensor_release(e->runtime, pair->lengths, &error));
}

static float number(example_t *e, astra_tensor_t tensor) {
  float value;
  example_take(e, tensor, &value, sizeof value);
  return value;
}

/* One step; gives the loss before it. */
static float step(example_t *e, lstm_module_t *module, lstm_State *state,
                  pair_t *train, long t, long steps) {
  lstm_State next;
  astra_tensor_t loss;
  CHECK(lstm_step(module, e->stream, *state, train->letters, train->lengths, t,
                  steps, &next, &loss, &error));
  lstm_State_release(e->runtime, state);
  *state = next;
  return number(e, loss);
}

/* Words that the model makes up. */
static void invent(example_t *e, lstm_module_t *module, lstm_Model model) {
  printf("lstm: words of its own:");
  for (int64_t seed = 1; seed <= INVENTED; ++seed) {
    astra_tensor_t word, length;
    char letters[LONGEST];
    int64_t count;
    CHECK(lstm_spell(module, e->stream, model, seed, &word, &length, &error));
    example_take(e, word, letters, sizeof letters);
    example_take(e, length, &count, sizeof count);
    printf(" %.*s", (int)count, letters);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  static words_t train_words, other_words;
  long steps = example_number(argc, argv, "steps", "800");
  example_t e = example_open(example_number(argc, argv, "threads", "1"));
  lstm_module_t module;
  lstm_State state;
  astra_tensor_t loss, counted, tensors[lstm_Model_count];
  char digest[65];
  CHECK(lstm_link(e.runtime, &module, &error));
  read_words(example_option(argc, argv, "data", NULL), &train_words,
             &other_words);
  printf("lstm: %lld words to learn, %lld others\n",
         (long long)train_words.count, (long long)other_words.count);
  pair_t train = tensors_of(&e, &train_words);
  pair_t other = tensors_of(&e, &other_words);
  CHECK(lstm_counted(&module, e.stream, train.letters, train.lengths,
                     other.letters, other.lengths, &counted, &error));
  CHECK(lstm_start(&module, e.stream, 1, &state, &error));
  for (long t = 1; t <= steps; ++t)
    text_progress("lstm", t, steps,
                  step(&e, &module, &state, &train, t - 1, steps));
  CHECK(lstm_held_out(&module, e.stream, state.model, other.letters,
                      other.lengths, &loss, &error));
  invent(&e, &module, state.model);
  lstm_Model_pack(&state.model, tensors);
  example_hash(&e, tensors, lstm_Model_count, digest);
  printf("lstm: %.3f nats per letter of unseen words, %.3f by counting pairs, "
         "parameters sha256 %s\n",
         number(&e, loss), number(&e, counted), digest);
  lstm_State_release(e.runtime, &state);
  release(&e, &train);
  release(&e, &other);
  lstm_release(&module);
  example_close(&e);
  return 0;
}
