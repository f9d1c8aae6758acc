// Shape rules, checks and folds of constants and of operations that move
// elements. Folds only compose or drop moves; no check that may fail is
// dropped.
#include "dialect/Checks.h"

using namespace mlir;

namespace astra {

static bool isIdentity(ArrayRef<int64_t> perm) {
  for (auto [i, axis] : llvm::enumerate(perm))
    if (axis != static_cast<int64_t>(i))
      return false;
  return true;
}

//===-- Constants ---------------------------------------------------------===//

LogicalResult ConstOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return emitOpError("(C1) the value has type ")
           << getValue().getType() << ", the result " << getType();
  return success();
}

OpFoldResult ConstOp::fold(FoldAdaptor) { return getValue(); }

void ConstOp::build(OpBuilder &builder, OperationState &state, TensorType type,
                    double value) {
  Type element = type.getElementType();
  TypedAttr attr;
  if (isa<FloatType>(element))
    attr = builder.getFloatAttr(element, value);
  else
    attr = builder.getIntegerAttr(element, static_cast<int64_t>(value));
  build(builder, state, type, attr);
}

LogicalResult DimValueOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>, Adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(TensorType::getScalar(IntegerType::get(context, 64)));
  return success();
}

OpFoldResult DimValueOp::fold(FoldAdaptor) {
  if (std::optional<int64_t> value = getValue().asConstant())
    return IntegerAttr::get(getType().getElementType(), *value);
  return {};
}

LogicalResult IotaOp::verify() {
  if (!isAxis(getAxis(), getType().getRank()))
    return emitOpError("(C1) no axis ") << getAxis() << " in " << getType();
  return success();
}

//===-- Broadcast ---------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  TensorType from = getX().getType(), to = getType();
  if (static_cast<int64_t>(getAxes().size()) != from.getRank())
    return emitOpError("(C1) ")
           << getAxes().size() << " axes for an operand of rank "
           << from.getRank();
  if (!areAscendingAxes(getAxes(), to.getRank()))
    return emitOpError("(C2) the axes must ascend and be axes of the result");
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (from.getDims()[i] != to.getDims()[axis] &&
        !from.getDim(i).isConstant(1))
      return emitOpError("(C3) extent ")
             << from.getDims()[i] << " does not stretch to "
             << to.getDims()[axis];
  if (from.getElementType() != to.getElementType())
    return emitOpError("(C4) the element types differ");
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (adaptor.getX())
    return adaptor.getX();
  if (auto inner = getX().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> axes;
    for (int64_t axis : inner.getAxes())
      axes.push_back(getAxes()[axis]);
    getXMutable().assign(inner.getX());
    setAxes(axes);
    return getResult();
  }
  return {};
}

//===-- Reshape and checks ------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  TensorType from = getX().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError("(C1) the element types differ");
  return success();
}

bool ReshapeOp::cannotFail() {
  return getX().getType().getNumElements() == getType().getNumElements();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (adaptor.getX() && cannotFail())
    return adaptor.getX();
  auto inner = getX().getDefiningOp<ReshapeOp>();
  if (inner && inner.cannotFail()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

LogicalResult CheckShapeOp::verify() {
  TensorType from = getX().getType(), to = getType();
  if (from.getElementType() != to.getElementType() ||
      from.getRank() != to.getRank())
    return emitOpError("(C1) element types or ranks differ: ")
           << from << " as " << to;
  return success();
}

bool CheckShapeOp::cannotFail() { return getX().getType() == getType(); }

OpFoldResult CheckShapeOp::fold(FoldAdaptor) {
  return cannotFail() ? OpFoldResult(getX()) : OpFoldResult();
}

//===-- Transpose and flip ------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  TensorType from = getTensorType(adaptor.getX());
  SmallVector<int64_t> sorted(adaptor.getPerm());
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) != from.getRank() ||
      !isIdentity(sorted))
    return broken<TransposeOp>(
        loc, "(C1) perm is no permutation of the axes of ", from);
  SmallVector<StringAttr> dims;
  for (int64_t axis : adaptor.getPerm())
    dims.push_back(from.getDims()[axis]);
  types.push_back(from.withDims(dims));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentity(getPerm()))
    return getX();
  if (adaptor.getX())
    return adaptor.getX();
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> perm;
    for (int64_t axis : getPerm())
      perm.push_back(inner.getPerm()[axis]);
    getXMutable().assign(inner.getX());
    setPerm(perm);
    return getResult();
  }
  return {};
}

LogicalResult FlipOp::verify() {
  if (!areAscendingAxes(getAxes(), getType().getRank()))
    return emitOpError("(C1) the axes must ascend and be axes of the operand");
  return success();
}

OpFoldResult FlipOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return getX();
  if (adaptor.getX())
    return adaptor.getX();
  auto inner = getX().getDefiningOp<FlipOp>();
  if (inner && inner.getAxes() == getAxes())
    return inner.getX();
  return {};
}

//===-- Concat and pad ----------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return broken<ConcatOp>(loc, "(C1) no operands");
  TensorType first = getTensorType(adaptor.getInputs().front());
  int64_t axis = adaptor.getAxis();
  if (!isAxis(axis, first.getRank()))
    return broken<ConcatOp>(loc, "(C2) no axis ", axis, " in ", first);
  Dim extent;
  for (Value input : adaptor.getInputs()) {
    TensorType type = getTensorType(input);
    if (type.getRank() != first.getRank())
      return broken<ConcatOp>(loc, "(C3) the ranks differ: ", first, " and ",
                              type);
    SmallVector<StringAttr> dims(type.getDims());
    dims[axis] = first.getDims()[axis];
    if (type.withDims(dims) != first)
      return broken<ConcatOp>(loc, "(C3) only axis ", axis,
                              " may differ: ", first, " and ", type);
    extent = extent + type.getDim(axis);
  }
  SmallVector<StringAttr> dims(first.getDims());
  dims[axis] = toAttr(context, extent);
  types.push_back(first.withDims(dims));
  return success();
}

/// Of inputs that are such concatenations themselves, the inputs.
OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1)
    return getInputs().front();
  SmallVector<Value> flat;
  for (Value input : getInputs()) {
    auto inner = input.getDefiningOp<ConcatOp>();
    if (inner && inner.getAxis() == getAxis())
      llvm::append_range(flat, inner.getInputs());
    else
      flat.push_back(input);
  }
  if (flat.size() == getInputs().size())
    return {};
  getInputsMutable().assign(flat);
  return getResult();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  TensorType from = getTensorType(adaptor.getX());
  SmallVector<Dim> low = adaptor.getLow(), high = adaptor.getHigh();
  size_t rank = from.getRank();
  if (low.size() != rank || high.size() != rank)
    return broken<PadOp>(loc, "(C1) ", low.size(), " low and ", high.size(),
                         " high entries for rank ", from.getRank());
  if (adaptor.getFill().getType() != from.withDims({}))
    return broken<PadOp>(loc, "(C2) the fill has type ",
                         adaptor.getFill().getType());
  SmallVector<Dim> shape = from.getShape();
  for (size_t i = 0; i < rank; ++i) {
    if (low[i].asConstant().value_or(0) < 0 ||
        high[i].asConstant().value_or(0) < 0)
      return broken<PadOp>(loc, "(C3) negative border at axis ", i);
    shape[i] = low[i] + shape[i] + high[i];
  }
  types.push_back(from.withShape(shape));
  return success();
}

} // namespace astra
