// Batching of values of no input and of operations that move elements: axes
// shift by one.
#include "dialect/Batching.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace astra {

/// Has no operands: the same for every element of a batch.
static LogicalResult batchConstant(RuleBuilder &r, Operation *op,
                                   SmallVectorImpl<BatchedValue> &results) {
  results.push_back({r.getBuilder().clone(*op)->getResult(0), false});
  return success();
}
#define ASTRA_CONSTANT_RULE(OP)                                                \
  LogicalResult OP::buildBatched(OpBuilder &builder, const Dim &,              \
                                 ArrayRef<BatchedValue>,                       \
                                 SmallVectorImpl<BatchedValue> &results) {     \
    RuleBuilder r(builder, getLoc());                                          \
    return batchConstant(r, *this, results);                                   \
  }
ASTRA_CONSTANT_RULE(ConstOp)
ASTRA_CONSTANT_RULE(DimValueOp)
ASTRA_CONSTANT_RULE(IotaOp)

/// Only the types change.
static LogicalResult batch(RuleBuilder &r, Operation *op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results);
}

static LogicalResult batch(RuleBuilder &r, BroadcastOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  Axes axes = shifted(op.getAxes());
  axes.insert(axes.begin(), 0);
  return repeatMapped(r, op, length, operands, results, {r.ints("axes", axes)});
}
static LogicalResult batch(RuleBuilder &r, TransposeOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  Axes perm = shifted(op.getPerm());
  perm.insert(perm.begin(), 0);
  return repeatMapped(r, op, length, operands, results, {r.ints("perm", perm)});
}
static LogicalResult batch(RuleBuilder &r, ConcatOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results,
                      {r.integer("axis", op.getAxis() + 1)});
}
static LogicalResult batch(RuleBuilder &r, FlipOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results,
                      {r.ints("axes", shifted(op.getAxes()))});
}

/// A border of one value for each element of the batch: padded with anything,
/// then chosen where the padded tensor is outside.
static Value padEach(RuleBuilder &r, PadOp op, Value x, Value fill,
                     ArrayRef<Dim> low, ArrayRef<Dim> high) {
  TensorType scalar = typeOf(fill).withShape({});
  TensorType flag = scalar.withElement(r.getBuilder().getI1Type());
  Value padded = r.pad(x, r.splat(scalar, 0), low, high);
  Value inside = r.pad(r.splat(r.boolLike(x), 1), r.splat(flag, 0), low, high);
  return r.select(inside, padded, r.broadcast(fill, typeOf(padded), {0}));
}
static LogicalResult batch(RuleBuilder &r, PadOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  SmallVector<Dim> low = op.getLow(), high = op.getHigh();
  low.insert(low.begin(), Dim());
  high.insert(high.begin(), Dim());
  Value x = mapped(r, operands[0], length), fill = operands[1].value;
  results.push_back({operands[1].mapped ? padEach(r, op, x, fill, low, high)
                                        : r.pad(x, fill, low, high),
                     true});
  return success();
}

ASTRA_BATCHING_RULE(ReshapeOp)
ASTRA_BATCHING_RULE(CheckShapeOp)
ASTRA_BATCHING_RULE(StopGradientOp)
ASTRA_BATCHING_RULE(BroadcastOp)
ASTRA_BATCHING_RULE(TransposeOp)
ASTRA_BATCHING_RULE(ConcatOp)
ASTRA_BATCHING_RULE(FlipOp)
ASTRA_BATCHING_RULE(PadOp)

} // namespace astra
