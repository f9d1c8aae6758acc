// Shape rules and checks of convolutions and windows.
#include "dialect/Checks.h"
#include "dialect/Window.h"

using namespace mlir;

namespace astra {

Dim getWindowCount(const Dim &extent, const Dim &size, const Dim &stride,
                   const Dim &dilation) {
  Dim one = Dim::constant(1);
  return Dim::floordiv(extent - dilation * (size - one) - one, stride) + one;
}

static bool areAllAtLeastOne(ArrayRef<Dim> dims) {
  return llvm::all_of(
      dims, [](const Dim &dim) { return dim.asConstant().value_or(1) >= 1; });
}

//===-- Convolution -------------------------------------------------------===//

SmallVector<Dim> ConvOp::getSpatialShape(Value value) {
  return llvm::to_vector(
      ArrayRef(getTensorType(value).getShape()).take_back(getSpatialRank()));
}

static LogicalResult verifyAxes(ConvOp op) {
  ArrayRef<StringAttr> x = op.getX().getType().getDims(),
                       w = op.getW().getType().getDims(),
                       result = op.getType().getDims();
  int64_t batch = op.getBatch();
  auto leading = [&](ArrayRef<StringAttr> dims) {
    return dims.take_front(batch);
  };
  if (leading(x) != leading(w) || leading(x) != leading(result) ||
      x[batch] != result[batch] || w[batch] != result[batch + 1] ||
      x[batch + 1] != w[batch + 1])
    return op.emitOpError("(C2) batch axes, n, o or c differ: ")
           << op.getX().getType() << ", " << op.getW().getType() << " and "
           << op.getType();
  return success();
}

LogicalResult ConvOp::verify() {
  TensorType x = getX().getType(), w = getW().getType(), result = getType();
  int64_t batch = getBatch(), rank = result.getRank();
  if (batch < 0 || rank < batch + 3 || x.getRank() != rank ||
      w.getRank() != rank)
    return emitOpError("(C1) ranks do not fit ")
           << batch << " batch axes: " << x << ", " << w << " and " << result;
  if (failed(verifyAxes(*this)))
    return failure();
  SmallVector<Dim> lists[] = {getStrides(), getSpread(), getDilations(),
                              getLow()};
  for (const SmallVector<Dim> &list : lists)
    if (list.size() != getSpatialRank())
      return emitOpError("(C3) one entry for each of ")
             << getSpatialRank() << " spatial axes is wanted";
  for (const SmallVector<Dim> &list : ArrayRef(lists).drop_back())
    if (!areAllAtLeastOne(list))
      return emitOpError("(C4) a stride, spread or dilation is below 1");
  if (x.getElementType() != w.getElementType() ||
      x.getElementType() != result.getElementType())
    return emitOpError("(C5) the element types differ");
  return success();
}

//===-- Windows -----------------------------------------------------------===//

LogicalResult WindowsOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  TensorType type = getTensorType(adaptor.getX());
  SmallVector<Dim> window = toDims(adaptor.getWindowAttr()),
                   strides = toDims(adaptor.getStridesAttr()),
                   dilations = toDims(adaptor.getDilationsAttr());
  size_t count = window.size();
  if (strides.size() != count || dilations.size() != count ||
      count > static_cast<size_t>(type.getRank()))
    return broken<WindowsOp>(loc, "(C1) lists of ", count, ", ", strides.size(),
                             " and ", dilations.size(), " entries for ", type);
  if (!areAllAtLeastOne(window) || !areAllAtLeastOne(strides) ||
      !areAllAtLeastOne(dilations))
    return broken<WindowsOp>(loc, "(C2) a size, stride or dilation is below 1");
  SmallVector<Dim> shape = type.getShape();
  for (size_t i = 0; i < count; ++i) {
    Dim &extent = shape[type.getRank() - count + i];
    extent = getWindowCount(extent, window[i], strides[i], dilations[i]);
  }
  shape.append(window);
  types.push_back(type.withShape(shape));
  return success();
}

LogicalResult OverlapAddOp::verify() {
  TensorType from = getX().getType(), to = getType();
  SmallVector<Dim> strides = getStrides(), dilations = getDilations();
  size_t count = strides.size();
  bool fits = dilations.size() == count && areAllAtLeastOne(strides) &&
              areAllAtLeastOne(dilations) &&
              from.getElementType() == to.getElementType() &&
              from.getRank() == to.getRank() + static_cast<int64_t>(count) &&
              static_cast<size_t>(to.getRank()) >= count;
  if (fits) {
    SmallVector<Dim> shape = to.getShape(), given = from.getShape();
    ArrayRef<Dim> window = ArrayRef(given).take_back(count);
    for (size_t i = 0; i < count; ++i) {
      Dim &extent = shape[to.getRank() - count + i];
      extent = getWindowCount(extent, window[i], strides[i], dilations[i]);
    }
    shape.append(window.begin(), window.end());
    fits = to.withShape(shape) == from;
  }
  if (!fits)
    return emitOpError("(C1) ") << from << " are not the windows of " << to;
  return success();
}

} // namespace astra
