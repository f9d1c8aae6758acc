// Shape rules, checks and folds of reading and updating parts.
#include "dialect/Checks.h"
#include "dialect/Ranges.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace astra {

//===-- Boxes: slice and update_slice -------------------------------------===//

/// Constraints C1 to C4 of a box of `whole` with the extents of `part`.
static LogicalResult verifyBox(Operation *op, TensorType whole, TensorType part,
                               ArrayRef<Dim> starts, ArrayRef<int64_t> dynamic,
                               size_t numIndices) {
  int64_t rank = whole.getRank();
  if (whole.getElementType() != part.getElementType() || rank != part.getRank())
    return op->emitOpError("(C1) element types or ranks differ: ")
           << whole << " and " << part;
  if (static_cast<int64_t>(starts.size()) != rank)
    return op->emitOpError("(C2) ")
           << starts.size() << " starts for rank " << rank;
  if (!areAscendingAxes(dynamic, rank) || dynamic.size() != numIndices)
    return op->emitOpError(
        "(C3) dynamic axes must ascend and have one index each");
  for (int64_t axis = 0; axis < rank; ++axis) {
    Dim start = llvm::is_contained(dynamic, axis) ? Dim() : starts[axis];
    Dim over = start + part.getDim(axis) - whole.getDim(axis);
    if (start.asConstant().value_or(0) < 0 || over.asConstant().value_or(0) > 0)
      return op->emitOpError("(C4) from ")
             << start.str() << ", " << part.getDim(axis).str()
             << " elements are outside an axis of " << whole.getDim(axis).str();
  }
  return success();
}

/// True if every box lies inside for all values of dimensions and indices.
static bool isProvablyInside(TensorType whole, TensorType part,
                             ArrayRef<Dim> starts, ArrayRef<int64_t> dynamic,
                             ValueRange indices) {
  for (int64_t axis = 0; axis < whole.getRank(); ++axis) {
    Dim room = whole.getDim(axis) - part.getDim(axis);
    const int64_t *place = llvm::find(dynamic, axis);
    if (place == dynamic.end()) {
      if (!starts[axis].isProvablyNonNegative() ||
          !(room - starts[axis]).isProvablyNonNegative())
        return false;
      continue;
    }
    if (!isProvablyWithin(indices[place - dynamic.begin()], room))
      return false;
  }
  return true;
}

/// Turns indices that are constants or dimensions into starts, unless that
/// would show that the box is outside, which stays an error of the run.
template <typename Op> static LogicalResult foldStarts(Op op, TensorType part) {
  TensorType whole = op.getX().getType();
  SmallVector<Dim> starts = op.getStarts();
  SmallVector<int64_t> dynamic;
  SmallVector<Value> indices;
  for (auto [axis, index] :
       llvm::zip_equal(op.getDynamicAxes(), op.getIndices())) {
    std::optional<Dim> start = getDimOf(index);
    if (start) {
      Dim room = whole.getDim(axis) - part.getDim(axis) - *start;
      if (start->asConstant().value_or(0) >= 0 &&
          room.asConstant().value_or(0) >= 0) {
        starts[axis] = *start;
        continue;
      }
    }
    dynamic.push_back(axis);
    indices.push_back(index);
  }
  if (indices.size() == op.getIndices().size())
    return failure();
  op.getIndicesMutable().assign(indices);
  op.setDynamicAxes(dynamic);
  op.setStartsAttr(toAttr(op.getContext(), starts));
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyBox(*this, getX().getType(), getType(), getStarts(),
                   getDynamicAxes(), getIndices().size());
}

bool SliceOp::cannotFail() {
  return isProvablyInside(getX().getType(), getType(), getStarts(),
                          getDynamicAxes(), getIndices());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (succeeded(foldStarts(*this, getType())))
    return getResult();
  if (!cannotFail())
    return {};
  if (adaptor.getX())
    return adaptor.getX();
  // Of the whole extent the only box inside begins at 0.
  if (getX().getType() == getType())
    return getX();
  return {};
}

LogicalResult UpdateSliceOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location>,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult UpdateSliceOp::verify() {
  return verifyBox(*this, getX().getType(), getValue().getType(), getStarts(),
                   getDynamicAxes(), getIndices().size());
}

bool UpdateSliceOp::cannotFail() {
  return isProvablyInside(getX().getType(), getValue().getType(), getStarts(),
                          getDynamicAxes(), getIndices());
}

OpFoldResult UpdateSliceOp::fold(FoldAdaptor) {
  if (succeeded(foldStarts(*this, getValue().getType())))
    return getResult();
  return {};
}

//===-- Gather and scatter ------------------------------------------------===//

/// Constraints C1 to C3, and the type that gathering gives.
template <typename Op>
static FailureOr<TensorType> getGatheredType(std::optional<Location> loc,
                                             TensorType x, ValueRange indices,
                                             ArrayRef<int64_t> axes) {
  if (indices.empty() || indices.size() != axes.size())
    return broken<Op>(loc, "(C1) ", indices.size(), " index arrays for ",
                      axes.size(), " axes");
  if (!areAscendingAxes(axes, x.getRank()) ||
      axes.back() - axes.front() != static_cast<int64_t>(axes.size()) - 1)
    return broken<Op>(loc, "(C2) the axes must be adjacent, ascending axes of ",
                      x);
  TensorType first = getTensorType(indices.front());
  for (Value index : indices)
    if (getTensorType(index).getDims() != first.getDims())
      return broken<Op>(loc, "(C3) the index arrays differ in shape: ", first,
                        " and ", index.getType());
  SmallVector<StringAttr> dims(x.getDims().take_front(axes.front()));
  llvm::append_range(dims, first.getDims());
  llvm::append_range(dims, x.getDims().drop_front(axes.back() + 1));
  return x.withDims(dims);
}

static bool areProvablyInside(TensorType x, ValueRange indices,
                              ArrayRef<int64_t> axes) {
  return llvm::all_of(llvm::zip_equal(indices, axes), [&](auto pair) {
    Dim last = x.getDim(std::get<1>(pair)) - Dim::constant(1);
    return isProvablyWithin(std::get<0>(pair), last);
  });
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<TensorType> type =
      getGatheredType<GatherOp>(loc, getTensorType(adaptor.getX()),
                                adaptor.getIndices(), adaptor.getAxes());
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

bool GatherOp::cannotFail() {
  return areProvablyInside(getX().getType(), getIndices(), getAxes());
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  TensorType x = getTensorType(adaptor.getX());
  FailureOr<TensorType> type = getGatheredType<ScatterOp>(
      loc, x, adaptor.getIndices(), adaptor.getAxes());
  if (failed(type))
    return failure();
  if (adaptor.getValue().getType() != *type)
    return broken<ScatterOp>(loc, "(C4) the value has type ",
                             adaptor.getValue().getType(), ", not ", *type);
  types.push_back(x);
  return success();
}

bool ScatterOp::cannotFail() {
  return areProvablyInside(getX().getType(), getIndices(), getAxes());
}

} // namespace astra
