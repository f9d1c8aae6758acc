// Batching of reductions and of operations along an axis: axes shift by one.
// The order of a sum does not depend on the batch.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

template <typename OpTy>
static LogicalResult batchAxes(RuleBuilder &r, OpTy op, const Dim &length,
                               ArrayRef<BatchedValue> operands,
                               SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results,
                      {r.ints("axes", shifted(op.getAxes()))});
}
template <typename OpTy>
static LogicalResult batchAxis(RuleBuilder &r, OpTy op, const Dim &length,
                               ArrayRef<BatchedValue> operands,
                               SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results,
                      {r.integer("axis", op.getAxis() + 1)});
}

#define ASTRA_RULE(OP, FUNCTION)                                               \
  LogicalResult OP::buildBatched(OpBuilder &builder, const Dim &length,        \
                                 ArrayRef<BatchedValue> operands,              \
                                 SmallVectorImpl<BatchedValue> &results) {     \
    RuleBuilder r(builder, getLoc());                                          \
    return FUNCTION(r, *this, length, operands, results);                      \
  }
ASTRA_RULE(SumOp, batchAxes)
ASTRA_RULE(ProdOp, batchAxes)
ASTRA_RULE(MaxOp, batchAxes)
ASTRA_RULE(MinOp, batchAxes)
ASTRA_RULE(FirstMaxOp, batchAxes)
ASTRA_RULE(AnyOp, batchAxes)
ASTRA_RULE(AllOp, batchAxes)
ASTRA_RULE(NormOp, batchAxes)
ASTRA_RULE(LogSumExpOp, batchAxes)
ASTRA_RULE(ArgMaxOp, batchAxis)
ASTRA_RULE(ArgMinOp, batchAxis)
ASTRA_RULE(SoftmaxOp, batchAxis)
ASTRA_RULE(LogSoftmaxOp, batchAxis)
ASTRA_RULE(CumSumOp, batchAxis)
ASTRA_RULE(CumProdOp, batchAxis)
ASTRA_RULE(SortOp, batchAxis)
ASTRA_RULE(ArgSortOp, batchAxis)

} // namespace astra
