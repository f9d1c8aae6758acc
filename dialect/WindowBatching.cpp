// Batching of convolutions: one more batch axis where both operands are mapped,
// else a part of n or of o, which are independent rows of the same sums.
// Windows speak of the last axes and do not see a new first one.
#include "dialect/Batching.h"
#include "dialect/Window.h"

using namespace mlir;

namespace astra {

/// Axes `axis` and `axis + 1` as one.
static Value merge(RuleBuilder &r, Value v, int64_t axis) {
  SmallVector<Dim> shape = shapeOf(v);
  shape[axis] = shape[axis] * shape[axis + 1];
  shape.erase(shape.begin() + axis + 1);
  return r.reshape(v, typeOf(v).withShape(shape));
}

/// The inverse, with the first axis of extent `length` moved to the front.
static Value splitToFront(RuleBuilder &r, Value v, int64_t axis,
                          const Dim &length, const Dim &rest) {
  SmallVector<Dim> shape = shapeOf(v);
  shape[axis] = rest;
  shape.insert(shape.begin() + axis, length);
  return r.moveAxis(r.reshape(v, typeOf(v).withShape(shape)), axis, 0);
}

LogicalResult ConvOp::buildBatched(OpBuilder &builder, const Dim &length,
                                   ArrayRef<BatchedValue> operands,
                                   SmallVectorImpl<BatchedValue> &results) {
  RuleBuilder r(builder, getLoc());
  Convolution c = Convolution::of(*this);
  c.x = operands[0].value;
  c.w = operands[1].value;
  if (operands[0].mapped && operands[1].mapped) {
    ++c.batch;
    results.push_back({c.build(r), true});
    return success();
  }
  bool isX = operands[0].mapped;
  Value &given = isX ? c.x : c.w;
  Dim rest = shapeOf(isX ? getX() : getW())[c.batch];
  given = merge(r, r.moveAxis(given, 0, c.batch), c.batch);
  int64_t axis = c.batch + (isX ? 0 : 1); // in the result
  results.push_back({splitToFront(r, c.build(r), axis, length, rest), true});
  return success();
}

template <typename OpTy>
static LogicalResult batch(RuleBuilder &r, OpTy op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  return repeatMapped(r, op, length, operands, results);
}

ASTRA_BATCHING_RULE(WindowsOp)
ASTRA_BATCHING_RULE(OverlapAddOp)

} // namespace astra
