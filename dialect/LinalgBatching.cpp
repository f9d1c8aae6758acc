// Batching of linear algebra: the batch is one more axis before the matrices.
// Each matrix is computed by itself, so every bit is that of a loop.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

static LogicalResult batch(RuleBuilder &r, Operation *op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results);
}

ASTRA_BATCHING_RULE(CholeskyOp)
ASTRA_BATCHING_RULE(InvOp)
ASTRA_BATCHING_RULE(CofactorOp)
ASTRA_BATCHING_RULE(DetOp)
ASTRA_BATCHING_RULE(SlogdetOp)
ASTRA_BATCHING_RULE(SolveOp)
ASTRA_BATCHING_RULE(SolveTriangularOp)
ASTRA_BATCHING_RULE(LstsqOp)
ASTRA_BATCHING_RULE(EighOp)
ASTRA_BATCHING_RULE(QrOp)
ASTRA_BATCHING_RULE(SvdOp)

} // namespace astra
