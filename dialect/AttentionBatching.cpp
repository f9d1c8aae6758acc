// Batching of attention: a batch axis in front of those that it has.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

template <typename OpTy>
static LogicalResult batch(RuleBuilder &r, OpTy op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results);
}

ASTRA_BATCHING_RULE(AttentionOp)
ASTRA_BATCHING_RULE(AttentionGradOp)

} // namespace astra
