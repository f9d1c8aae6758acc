// Derivatives of reading and updating parts. Reading and adding are each
// other's transpose, with the same indices, checked alike: what the forward
// operation refuses never reaches the backward one.
#include "dialect/Builder.h"

using namespace mlir;

namespace astra {

template <typename OpTy>
static SmallVector<NamedAttribute> boxAttributes(RuleBuilder &r, OpTy op) {
  return {r.dims("starts", op.getStarts()),
          r.ints("dynamic_axes", op.getDynamicAxes())};
}

/// The box of `x` that an update_slice writes.
static Value readBox(RuleBuilder &r, UpdateSliceOp op, Value x) {
  SmallVector<Value> operands{x};
  llvm::append_range(operands, op.getIndices());
  return r.make<SliceOp>(op.getValue().getType(), operands,
                         boxAttributes(r, op));
}
static Value writeBox(RuleBuilder &r, UpdateSliceOp op, Value x, Value value) {
  SmallVector<Value> operands{x, value};
  llvm::append_range(operands, op.getIndices());
  SmallVector<NamedAttribute> attrs = boxAttributes(r, op);
  if (op.getAdd())
    attrs.push_back(r.unit("add"));
  return r.make<UpdateSliceOp>(x.getType(), operands, attrs);
}

//===-- Slices ------------------------------------------------------------===//

LogicalResult SliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  Value d = cotangents[0];
  SmallVector<Dim> starts = getStarts(), sizes = shapeOf(d);
  if (getIndices().empty()) {
    SmallVector<Dim> high = shapeOf(getX());
    for (size_t i = 0; i < high.size(); ++i)
      high[i] = high[i] - starts[i] - sizes[i];
    Value zero = r.splat(typeOf(d).withShape({}), 0);
    operandCotangents[0] = r.pad(d, zero, starts, high);
    return success();
  }
  SmallVector<Value> operands{r.splatLike(getX(), 0), d};
  llvm::append_range(operands, getIndices());
  operandCotangents[0] = r.make<UpdateSliceOp>(getX().getType(), operands,
                                               boxAttributes(r, *this));
  return success();
}
LogicalResult SliceOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  SmallVector<Value> operands{tangents[0]};
  llvm::append_range(operands, getIndices());
  resultTangents[0] =
      r.make<SliceOp>(getResult().getType(), operands, boxAttributes(r, *this));
  return success();
}

LogicalResult
UpdateSliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                        SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  Value d = cotangents[0];
  operandCotangents[0] =
      getAdd() ? d : writeBox(r, *this, d, r.splatLike(getValue(), 0));
  operandCotangents[1] = readBox(r, *this, d);
  return success();
}
LogicalResult UpdateSliceOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                      SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  Value x = tangents[0] ? tangents[0] : r.splatLike(getX(), 0);
  if (getAdd() && !tangents[1]) {
    resultTangents[0] = x;
    return success();
  }
  Value value = tangents[1] ? tangents[1] : r.splatLike(getValue(), 0);
  resultTangents[0] = writeBox(r, *this, x, value);
  return success();
}

//===-- Gather and scatter ------------------------------------------------===//

LogicalResult GatherOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                 SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  operandCotangents[0] = r.scatter(r.splatLike(getX(), 0), cotangents[0],
                                   getIndices(), getAxes(), /*add=*/true);
  return success();
}
LogicalResult GatherOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                 SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  resultTangents[0] = r.gather(tangents[0], getIndices(), getAxes());
  return success();
}

/// For a scatter that replaces: which values are still there at its end, over
/// the shape of `value`; null if all are (there is only one place).
static Value survivors(RuleBuilder &r, ScatterOp op) {
  SmallVector<Dim> places = shapeOf(op.getIndices()[0]);
  if (places.empty())
    return nullptr;
  Type i64 = r.getBuilder().getI64Type();
  MLIRContext *context = op.getContext();
  Dim count = Dim::constant(1);
  for (const Dim &extent : places)
    count = count * extent;
  SmallVector<Dim> target;
  for (int64_t axis : op.getAxes())
    target.push_back(shapeOf(op.getX())[axis]);
  // Each place writes its number; the last that wrote is the one that stays.
  Value number = r.reshape(r.iota(TensorType::get(context, i64, {count}), 0),
                           TensorType::get(context, i64, places));
  Axes axes = iotaAxes(target.size());
  Value board = r.scatter(r.splat(TensorType::get(context, i64, target), 0),
                          number, op.getIndices(), axes, /*add=*/false);
  Value stays = r.compare<EqOp>(r.gather(board, op.getIndices(), axes), number);
  Axes at;
  for (size_t i = 0; i < places.size(); ++i)
    at.push_back(op.getAxes().front() + i);
  TensorType type =
      typeOf(op.getValue()).withElement(r.getBuilder().getI1Type());
  return r.broadcast(stays, type, at);
}

LogicalResult ScatterOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                  SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  Value d = cotangents[0];
  Value toValue = r.gather(d, getIndices(), getAxes());
  Value none = r.splatLike(getValue(), 0);
  if (getAdd()) {
    operandCotangents[0] = d;
  } else {
    operandCotangents[0] = r.scatter(d, none, getIndices(), getAxes(), false);
    if (Value stays = survivors(r, *this))
      toValue = r.select(stays, toValue, none);
  }
  operandCotangents[1] = toValue;
  return success();
}
LogicalResult ScatterOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                  SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  Value x = tangents[0] ? tangents[0] : r.splatLike(getX(), 0);
  if (getAdd() && !tangents[1]) {
    resultTangents[0] = x;
    return success();
  }
  Value value = tangents[1] ? tangents[1] : r.splatLike(getValue(), 0);
  resultTangents[0] = r.scatter(x, value, getIndices(), getAxes(), getAdd());
  return success();
}

} // namespace astra
