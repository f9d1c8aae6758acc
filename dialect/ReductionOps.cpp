// Shape rules and checks of reductions and of operations along one axis.
#include "dialect/Checks.h"

using namespace mlir;

namespace astra {

static TensorType withoutAxes(TensorType type, ArrayRef<int64_t> axes) {
  SmallVector<StringAttr> dims;
  for (auto [axis, dim] : llvm::enumerate(type.getDims()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      dims.push_back(dim);
  return type.withDims(dims);
}

static bool isProvablyNonempty(TensorType type, ArrayRef<int64_t> axes) {
  return llvm::all_of(axes, [&](int64_t axis) {
    return (type.getDim(axis) - Dim::constant(1)).isProvablyNonNegative();
  });
}

//===-- Over several axes -------------------------------------------------===//

template <typename Op>
static LogicalResult inferReduction(std::optional<Location> loc, Value x,
                                    ArrayRef<int64_t> axes,
                                    SmallVectorImpl<Type> &types) {
  TensorType type = getTensorType(x);
  if (!areAscendingAxes(axes, type.getRank()))
    return broken<Op>(loc, "(C1) the axes must ascend and be axes of ", type);
  types.push_back(withoutAxes(type, axes));
  return success();
}

#define ASTRA_REDUCTION(Op)                                                    \
  LogicalResult Op::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> loc, Adaptor adaptor,             \
      SmallVectorImpl<Type> &types) {                                          \
    return inferReduction<Op>(loc, adaptor.getX(), adaptor.getAxes(), types);  \
  }
ASTRA_REDUCTION(SumOp)
ASTRA_REDUCTION(ProdOp)
ASTRA_REDUCTION(MaxOp)
ASTRA_REDUCTION(MinOp)
ASTRA_REDUCTION(FirstMaxOp)
ASTRA_REDUCTION(AnyOp)
ASTRA_REDUCTION(AllOp)
ASTRA_REDUCTION(NormOp)
ASTRA_REDUCTION(LogSumExpOp)
#undef ASTRA_REDUCTION

bool MaxOp::cannotFail() {
  return isProvablyNonempty(getX().getType(), getAxes());
}
bool MinOp::cannotFail() {
  return isProvablyNonempty(getX().getType(), getAxes());
}
bool FirstMaxOp::cannotFail() {
  return isProvablyNonempty(getX().getType(), getAxes());
}

//===-- Indices along one axis --------------------------------------------===//

template <typename Op>
static LogicalResult checkAxis(std::optional<Location> loc, int64_t axis,
                               TensorType type) {
  if (!isAxis(axis, type.getRank()))
    return broken<Op>(loc, "(C1) no axis ", axis, " in ", type);
  return success();
}

template <typename Op>
static LogicalResult inferArg(std::optional<Location> loc, Value x,
                              int64_t axis, bool keepAxis,
                              SmallVectorImpl<Type> &types) {
  TensorType type = getTensorType(x);
  if (failed(checkAxis<Op>(loc, axis, type)))
    return failure();
  TensorType shape = keepAxis ? type : withoutAxes(type, {axis});
  types.push_back(shape.withElement(IntegerType::get(x.getContext(), 32)));
  return success();
}

#define ASTRA_ARG(Op, keepAxis)                                                \
  LogicalResult Op::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> loc, Adaptor adaptor,             \
      SmallVectorImpl<Type> &types) {                                          \
    return inferArg<Op>(loc, adaptor.getX(), adaptor.getAxis(), keepAxis,      \
                        types);                                                \
  }
ASTRA_ARG(ArgMaxOp, false)
ASTRA_ARG(ArgMinOp, false)
ASTRA_ARG(ArgSortOp, true)
#undef ASTRA_ARG

bool ArgMaxOp::cannotFail() {
  return isProvablyNonempty(getX().getType(),
                            {static_cast<int64_t>(getAxis())});
}
bool ArgMinOp::cannotFail() {
  return isProvablyNonempty(getX().getType(),
                            {static_cast<int64_t>(getAxis())});
}

//===-- Along one axis ----------------------------------------------------===//

#define ASTRA_ALONG_AXIS(Op)                                                   \
  LogicalResult Op::verify() {                                                 \
    return checkAxis<Op>(getLoc(), getAxis(), getX().getType());               \
  }
ASTRA_ALONG_AXIS(SoftmaxOp)
ASTRA_ALONG_AXIS(LogSoftmaxOp)
ASTRA_ALONG_AXIS(CumSumOp)
ASTRA_ALONG_AXIS(CumProdOp)
ASTRA_ALONG_AXIS(SortOp)
#undef ASTRA_ALONG_AXIS

} // namespace astra
