// Derivatives of the operations that move elements. All are linear: a tangent
// goes through the same operation, a cotangent through its transpose.
#include "dialect/Builder.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace astra {

/// The operation again, on other operands of the same types.
static Value again(OpBuilder &builder, Operation *op, ValueRange operands) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  return builder.clone(*op, mapping)->getResult(0);
}

/// Tangents of a linear operation; one that is zero is made where another is
/// not.
static LogicalResult linearJvp(OpBuilder &builder, Operation *op,
                               ValueRange tangents,
                               SmallVectorImpl<Value> &results) {
  RuleBuilder r(builder, op->getLoc());
  SmallVector<Value> operands;
  for (auto [operand, tangent] : llvm::zip_equal(op->getOperands(), tangents))
    operands.push_back(tangent ? tangent : r.splatLike(operand, 0));
  results[0] = again(builder, op, operands);
  return success();
}

#define ASTRA_LINEAR_RULE(OP)                                                  \
  LogicalResult OP::buildVjp(OpBuilder &builder, ValueRange cotangents,        \
                             SmallVectorImpl<Value> &operandCotangents) {      \
    RuleBuilder r(builder, getLoc());                                          \
    transposeRule(r, *this, cotangents[0], operandCotangents);                 \
    return success();                                                          \
  }                                                                            \
  LogicalResult OP::buildJvp(OpBuilder &builder, ValueRange tangents,          \
                             SmallVectorImpl<Value> &resultTangents) {         \
    return linearJvp(builder, *this, tangents, resultTangents);                \
  }

static void transposeRule(RuleBuilder &r, BroadcastOp op, Value d,
                          SmallVectorImpl<Value> &out) {
  Value x = op.getX();
  SmallVector<Dim> from = shapeOf(x), to = shapeOf(d);
  Axes summed = complement(op.getAxes(), to.size());
  for (auto [i, axis] : llvm::enumerate(op.getAxes()))
    if (from[i] != to[axis])
      summed.push_back(axis);
  llvm::sort(summed);
  out[0] = r.reshape(r.sum(d, summed), typeOf(x));
}

static void transposeRule(RuleBuilder &r, ReshapeOp op, Value d,
                          SmallVectorImpl<Value> &out) {
  out[0] = r.reshape(d, typeOf(op.getX()));
}

static void transposeRule(RuleBuilder &r, CheckShapeOp op, Value d,
                          SmallVectorImpl<Value> &out) {
  out[0] = r.make<CheckShapeOp>(op.getX().getType(), {d});
}

static void transposeRule(RuleBuilder &r, TransposeOp op, Value d,
                          SmallVectorImpl<Value> &out) {
  Axes inverse(op.getPerm().size());
  for (auto [i, axis] : llvm::enumerate(op.getPerm()))
    inverse[axis] = i;
  out[0] = r.transpose(d, inverse);
}

static void transposeRule(RuleBuilder &r, FlipOp op, Value d,
                          SmallVectorImpl<Value> &out) {
  out[0] = r.flip(d, op.getAxes());
}

static void transposeRule(RuleBuilder &r, ConcatOp op, Value d,
                          SmallVectorImpl<Value> &out) {
  int64_t axis = op.getAxis();
  Dim start;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Dim extent = shapeOf(input)[axis];
    out[i] = r.sliceAxis(d, axis, start, extent);
    start = start + extent;
  }
}

/// The border goes to the fill. It is summed with the inside set to 0, not as
/// the difference of two sums, which would cancel.
static void transposeRule(RuleBuilder &r, PadOp op, Value d,
                          SmallVectorImpl<Value> &out) {
  Value x = op.getX();
  out[0] = r.slice(d, op.getLow(), shapeOf(x));
  Value inside = r.splatLike(x, 0);
  Value border = r.make<UpdateSliceOp>(
      d.getType(), {d, inside},
      {r.dims("starts", op.getLow()), r.ints("dynamic_axes", {})});
  out[1] = r.sum(border, iotaAxes(rankOf(d)));
}

ASTRA_LINEAR_RULE(BroadcastOp)
ASTRA_LINEAR_RULE(ReshapeOp)
ASTRA_LINEAR_RULE(CheckShapeOp)
ASTRA_LINEAR_RULE(TransposeOp)
ASTRA_LINEAR_RULE(FlipOp)
ASTRA_LINEAR_RULE(ConcatOp)
ASTRA_LINEAR_RULE(PadOp)

} // namespace astra
