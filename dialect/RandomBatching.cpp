// Batching of random draws: each key draws its own stream, whatever the batch.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

static LogicalResult batch(RuleBuilder &r, Operation *op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return loopOverBatch(r, op, length, operands, results);
}
ASTRA_BATCHING_RULE(RandomBitsOp)
ASTRA_BATCHING_RULE(RandomSplitOp)

} // namespace astra
