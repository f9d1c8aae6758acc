/* Reading a text into memory and lines of progress: what the
 * programs that learn from texts share. Header only, plain C99.
 */
#ifndef EXAMPLES_TEXT_H
#define EXAMPLES_TEXT_H

#include "example.h"

/* All bytes of a file, to be freed, or stops. */
static inline unsigned char *text_read(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  unsigned char *text = NULL;
  long size = -1;
  if (file && fseek(file, 0, SEEK_END) == 0)
    size = ftell(file);
  if (size >= 0) {
    rewind(file);
    text = malloc((size_t)size + 1);
  }
  if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  *bytes = (size_t)size;
  return text;
}

/* A line of progress about every tenth of the steps. */
static inline void text_progress(const char *name, long done, long all,
                                 double loss) {
  long part = all / 10 ? all / 10 : 1;
  if (done != 1 && done != all && done % part != 0)
    return;
  printf("%s: step %ld of %ld, loss %.4f\n", name, done, all, loss);
  fflush(stdout);
}

#endif /* EXAMPLES_TEXT_H */
