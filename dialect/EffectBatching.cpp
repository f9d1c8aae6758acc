// Batching of assertions and debug output: over the whole batch at once.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

static LogicalResult batch(RuleBuilder &r, AssertOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &) {
  Value all =
      r.make<AllOp>(op.getCondition().getType(),
                    {mapped(r, operands[0], length)}, {r.ints("axes", {0})});
  AssertOp::create(r.getBuilder(), op.getLoc(), TypeRange(), ValueRange{all},
                   op->getAttrs());
  return success();
}
static LogicalResult batch(RuleBuilder &r, AssertEqOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results);
}
static LogicalResult batch(RuleBuilder &r, DebugOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results);
}
static LogicalResult batch(RuleBuilder &r, AssertCloseOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  if (operands[2].mapped || operands[3].mapped)
    return loopOverBatch(r, op, length, operands, results);
  SmallVector<Value> values = mapped(r, operands.take_front(2), length);
  values.append({operands[2].value, operands[3].value});
  again(r, op, length, values);
  return success();
}

ASTRA_BATCHING_RULE(AssertOp)
ASTRA_BATCHING_RULE(AssertEqOp)
ASTRA_BATCHING_RULE(AssertCloseOp)
ASTRA_BATCHING_RULE(DebugOp)

} // namespace astra
