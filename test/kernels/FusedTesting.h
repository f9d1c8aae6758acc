// Support for tests of fused kernels: blocks written by hand, and a fixture
// that makes tensors and runs kernels at a level.
#ifndef ASTRA_TEST_KERNELS_FUSEDTESTING_H
#define ASTRA_TEST_KERNELS_FUSEDTESTING_H

#include "AnyTensor.h"
#include <gtest/gtest.h>

namespace astra {
namespace testing {

using Shape = std::vector<int64_t>;

/// Operand k of a block at element i.
template <class T>
T &at(void *const *data, const int64_t *masks, int k, int64_t i) {
  // A vector repeats as a whole.
  int64_t vector = i / ASTRA_BLOCK_LANES * ASTRA_BLOCK_LANES;
  return static_cast<T *>(data[k])[(vector & masks[k]) + i - vector];
}

/// out0 = a + b, out1 = a < b.
template <class T>
void addAndCompare(void *const *data, const int64_t *masks, int64_t count) {
  EXPECT_EQ(count % ASTRA_BLOCK_LANES, 0);
  for (int64_t i = 0; i < count; ++i) {
    T a = at<T>(data, masks, 0, i), b = at<T>(data, masks, 1, i);
    static_cast<uint8_t *>(data[3])[i] = a < b;
    static_cast<T *>(data[2])[i] = a + b;
  }
}

/// The parameter is the level.
class FusedTesting : public ::testing::TestWithParam<uint32_t> {
protected:
  explicit FusedTesting(uint64_t seed) : random(seed) {}

  void SetUp() override {
    if (!processorHas(GetParam()))
      GTEST_SKIP() << "this processor lacks the level";
  }

  AnyTensor make(const char *dtype, const Shape &shape,
                 Layout layout = Layout::Dense) {
    AnyTensor tensor(dtypeOf(dtype), shape, layout);
    tensor.fill(random, false);
    return tensor;
  }

  astra_outcome_t run(const std::string &kernel,
                      const std::vector<const AnyTensor *> &tensors,
                      const std::vector<int64_t> &params) {
    std::vector<astra_arg_t> args;
    for (const AnyTensor *tensor : tensors)
      args.push_back(tensor->arg());
    call.piece = 1 + int64_t(random() % 3);
    return call.run(kernel, args, params, GetParam());
  }

  TestCall call;
  Random random;
};

} // namespace testing
} // namespace astra

#endif // ASTRA_TEST_KERNELS_FUSEDTESTING_H
