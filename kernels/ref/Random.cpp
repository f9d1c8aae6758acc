// Threefry-2x32 with 20 rounds, in JAX's partitionable layout: word i of a
// stream depends on the key and on i alone, never on a thread.
#include "kernels/Threefry.h"
#include "kernels/View.h"

using namespace astra;

namespace {

Pair32 keyOf(const astra_arg_t &key) {
  const uint32_t *words = static_cast<const uint32_t *>(key.data);
  return {words[0], words[key.strides[0]]};
}

astra_outcome_t randomBits(const astra_arg_t *args) {
  Pair32 key = keyOf(args[0]);
  Nest<1> nest = nestOf<1>(args + 1);
  uint64_t counter = 0;
  nest.visit(0, nest.size(), [&](const int64_t (&offset)[1], int64_t count) {
    uint32_t *out = static_cast<uint32_t *>(args[1].data) + offset[0];
    for (int64_t i = 0; i < count; ++i) {
      Pair32 word = threefry(key, counter++);
      out[i * nest.innerStride(0)] = word.first ^ word.second;
    }
    return true;
  });
  return ASTRA_OK;
}

astra_outcome_t randomSplit(const astra_arg_t *args) {
  Pair32 key = keyOf(args[0]);
  uint32_t *out = static_cast<uint32_t *>(args[1].data);
  for (int64_t i = 0; i < args[1].shape[0]; ++i) {
    Pair32 word = threefry(key, uint64_t(i));
    out[i * args[1].strides[0]] = word.first;
    out[i * args[1].strides[0] + args[1].strides[1]] = word.second;
  }
  return ASTRA_OK;
}

} // namespace

ASTRA_DEFINE_REF(random_bits, u32, randomBits(args))
ASTRA_DEFINE_REF(random_split, u32, randomSplit(args))
