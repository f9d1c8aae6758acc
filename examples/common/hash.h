/* The hash that examples print of their parameters, so that two runs can be
 * compared bit for bit. Header only, plain C99.
 */
#ifndef EXAMPLES_HASH_H
#define EXAMPLES_HASH_H

#include "example.h"
#include "sha256.h"

/* The SHA-256 of the elements of `count` tensors, one after another. */
static inline void example_hash(example_t *e, const astra_tensor_t *tensors,
                                size_t count, char *digest) {
  sha256_t hash;
  sha256_start(&hash);
  for (size_t i = 0; i < count; ++i) {
    astra_mapping_t mapping;
    astra_device_t host = {0};
    void *data;
    size_t bytes;
    CHECK(astra_tensor_map(e->runtime, tensors[i], host, ASTRA_MAP_READ, 0,
                           ASTRA_WHOLE, &mapping, &data, &bytes, &error));
    sha256_add(&hash, data, bytes);
    CHECK(astra_tensor_unmap(e->runtime, mapping, &error));
  }
  sha256_finish(&hash, digest);
}

#endif /* EXAMPLES_HASH_H */
