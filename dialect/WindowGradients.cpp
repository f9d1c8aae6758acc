// The derivatives of convolutions, which are convolutions: that of x slides the
// flipped weights over the cotangent, that of w slides the cotangent over x.
// And those of windows, whose transpose adds them up again.
#include "dialect/Window.h"

using namespace mlir;

namespace astra {

//===-- Convolution -------------------------------------------------------===//

Convolution Convolution::of(ConvOp op) {
  Convolution c;
  c.x = op.getX();
  c.w = op.getW();
  c.batch = op.getBatch();
  c.strides = op.getStrides();
  c.low = op.getLow();
  c.spread = op.getSpread();
  c.dilations = op.getDilations();
  c.sizes = op.getSpatialShape(op.getResult());
  return c;
}

Value Convolution::build(RuleBuilder &r) const {
  SmallVector<Dim> shape = shapeOf(x);
  shape[batch + 1] = shapeOf(w)[batch];
  llvm::copy(sizes, shape.end() - getSpatialRank());
  return r.make<ConvOp>(typeOf(x).withShape(shape), {x, w},
                        {r.integer("batch", batch), r.dims("strides", strides),
                         r.dims("low", low), r.dims("spread", spread),
                         r.dims("dilations", dilations)});
}

/// The two axes before the spatial ones in the other order.
static Value swapped(RuleBuilder &r, Value v, int64_t batch) {
  return r.moveAxis(v, batch + 1, batch);
}

/// An element of x meets k = K - 1 - j at the output position that the j-th
/// element of the flipped window reaches.
static Value cotangentOfX(RuleBuilder &r, ConvOp op, Value d) {
  Convolution c = Convolution::of(op), result = c;
  Axes spatial;
  for (unsigned i = 0; i < c.getSpatialRank(); ++i)
    spatial.push_back(c.batch + 2 + i);
  result.x = d;
  result.w = r.flip(swapped(r, c.w, c.batch), spatial);
  result.strides = c.spread;
  result.spread = c.strides;
  result.sizes = op.getSpatialShape(op.getX());
  SmallVector<Dim> window = op.getSpatialShape(op.getW());
  for (unsigned i = 0; i < c.getSpatialRank(); ++i)
    result.low[i] = c.dilations[i] * (window[i] - Dim::constant(1)) - c.low[i];
  return result.build(r);
}

/// Sums over n and the output positions: they take the places of c and k, and
/// stride and dilation change places.
static Value cotangentOfW(RuleBuilder &r, ConvOp op, Value d) {
  Convolution c = Convolution::of(op), result = c;
  result.x = swapped(r, c.x, c.batch);
  result.w = swapped(r, d, c.batch);
  result.strides = c.dilations;
  result.dilations = c.strides;
  result.sizes = op.getSpatialShape(op.getW());
  return swapped(r, result.build(r), c.batch);
}

LogicalResult ConvOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                               SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  operandCotangents[0] = cotangentOfX(r, *this, cotangents[0]);
  operandCotangents[1] = cotangentOfW(r, *this, cotangents[0]);
  return success();
}

LogicalResult ConvOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                               SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  auto product = [&](Value x, Value w) {
    Convolution c = Convolution::of(*this);
    c.x = x;
    c.w = w;
    return c.build(r);
  };
  Value sum;
  if (tangents[0])
    sum = product(tangents[0], getW());
  if (tangents[1])
    sum = r.add(sum, product(getX(), tangents[1]));
  resultTangents[0] = sum;
  return success();
}

//===-- Windows -----------------------------------------------------------===//

static Value windows(RuleBuilder &r, TensorType type, Value x,
                     ArrayRef<Dim> strides, ArrayRef<Dim> dilations) {
  SmallVector<Dim> window(ArrayRef(type.getShape()).take_back(strides.size()));
  return r.make<WindowsOp>(type, {x},
                           {r.dims("window", window),
                            r.dims("strides", strides),
                            r.dims("dilations", dilations)});
}

static Value overlapAdd(RuleBuilder &r, TensorType type, Value x,
                        ArrayRef<Dim> strides, ArrayRef<Dim> dilations) {
  return r.make<OverlapAddOp>(
      type, {x}, {r.dims("strides", strides), r.dims("dilations", dilations)});
}

LogicalResult WindowsOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                  SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  operandCotangents[0] = overlapAdd(r, getX().getType(), cotangents[0],
                                    getStrides(), getDilations());
  return success();
}
LogicalResult WindowsOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                  SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  resultTangents[0] = windows(r, typeOf(getResult()), tangents[0], getStrides(),
                              getDilations());
  return success();
}

LogicalResult
OverlapAddOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                       SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  operandCotangents[0] =
      windows(r, getX().getType(), cotangents[0], getStrides(), getDilations());
  return success();
}
LogicalResult OverlapAddOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                     SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  resultTangents[0] =
      overlapAdd(r, getType(), tangents[0], getStrides(), getDilations());
  return success();
}

} // namespace astra
