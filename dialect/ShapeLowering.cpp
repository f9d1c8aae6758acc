// Values of no input, and operations that move elements: most are views,
// `concat` and `pad` are copies into parts of the result.
#include "dialect/AstraOps.h"
#include "dialect/CallsOps.h"

using namespace mlir;
using namespace astra;

LogicalResult ConstOp::buildKernels(KernelBuilder &builder) {
  astra::TensorType type = getTensorType(getResult());
  builder.setResult(
      0, builder.getSplat(getValue(), type.getElementType(), type.getShape()));
  return success();
}

LogicalResult DimValueOp::buildKernels(KernelBuilder &) {
  return failure(); // always a scalar
}

LogicalResult IotaOp::buildKernels(KernelBuilder &builder) {
  Type element = getTensorType(getResult()).getElementType();
  builder.call(getKernelName("iota", element), {}, {builder.getOutput()},
               ArrayRef<int64_t>(int64_t(getAxis())));
  return success();
}

//===-- Views -------------------------------------------------------------===//

FailureOr<Layout> BroadcastOp::buildView(KernelBuilder &,
                                         const Layout &source) {
  Layout layout;
  layout.shape = getTensorType(getResult()).getShape();
  layout.strides.assign(layout.shape.size(), Dim());
  for (const auto &[from, to] : llvm::enumerate(getAxes()))
    if (source.shape[from] == layout.shape[to])
      layout.strides[to] = source.strides[from];
  return layout;
}

FailureOr<Layout> TransposeOp::buildView(KernelBuilder &,
                                         const Layout &source) {
  Layout layout;
  for (int64_t axis : getPerm()) {
    layout.shape.push_back(source.shape[axis]);
    layout.strides.push_back(source.strides[axis]);
  }
  return layout;
}

FailureOr<Layout> FlipOp::buildView(KernelBuilder &, const Layout &source) {
  Layout layout = source;
  for (int64_t axis : getAxes()) {
    Dim last = source.shape[axis] - Dim::constant(1);
    layout.offset = layout.offset + last * source.strides[axis];
    layout.strides[axis] = Dim() - source.strides[axis];
  }
  return layout;
}

FailureOr<Layout> StopGradientOp::buildView(KernelBuilder &,
                                            const Layout &source) {
  return source;
}

FailureOr<Layout> CheckShapeOp::buildView(KernelBuilder &builder,
                                          const Layout &source) {
  Layout layout = source;
  layout.shape = getTensorType(getResult()).getShape();
  for (const auto &[axis, extent] : llvm::enumerate(layout.shape))
    if (extent != source.shape[axis])
      builder.checkEqual(source.shape[axis], extent,
                         "`as`: axis " + std::to_string(axis) +
                             " has another extent than the type says");
  return layout;
}

/// The axes that have more than one element, as far as is known.
static SmallVector<size_t> getRealAxes(ArrayRef<Dim> shape) {
  SmallVector<size_t> axes;
  for (const auto &[axis, extent] : llvm::enumerate(shape))
    if (!extent.isConstant(1))
      axes.push_back(axis);
  return axes;
}

/// The distance of the elements that some axes have together, or nothing if it
/// is not one.
static std::optional<Dim> getCommonStep(const Layout &source,
                                        ArrayRef<size_t> axes) {
  if (axes.empty())
    return std::nullopt;
  for (auto [outer, inner] : llvm::zip(axes, axes.drop_front()))
    if (source.strides[outer] != source.shape[inner] * source.strides[inner])
      return std::nullopt;
  return source.strides[axes.back()];
}

/// Axes that are the same on both sides keep their strides; what is between
/// them has as many elements on both, and needs to have them one step apart.
FailureOr<Layout> ReshapeOp::buildView(KernelBuilder &builder,
                                       const Layout &source) {
  SmallVector<Dim> shape = getTensorType(getResult()).getShape();
  Dim before = calls::getElementCount(source.shape);
  Dim after = calls::getElementCount(shape);
  if (before != after)
    builder.checkEqual(before, after,
                       "reshape: the numbers of elements differ");
  if (source.isDense())
    return Layout::dense(shape);
  Layout layout;
  layout.shape = shape;
  layout.strides.resize(shape.size());
  SmallVector<size_t> sourceAxes = getRealAxes(source.shape),
                      resultAxes = getRealAxes(shape);
  ArrayRef<size_t> from = sourceAxes, to = resultAxes;
  auto keep = [&](size_t fromAxis, size_t toAxis) {
    bool same = source.shape[fromAxis] == shape[toAxis];
    if (same)
      layout.strides[toAxis] = source.strides[fromAxis];
    return same;
  };
  for (; !from.empty() && !to.empty() && keep(from.front(), to.front());
       to = to.drop_front())
    from = from.drop_front();
  for (; !from.empty() && !to.empty() && keep(from.back(), to.back());
       to = to.drop_back())
    from = from.drop_back();
  if (from.empty() && to.empty())
    return layout;
  std::optional<Dim> step = getCommonStep(source, from);
  if (!step || to.empty())
    return failure();
  for (size_t axis : llvm::reverse(to)) {
    layout.strides[axis] = *step;
    step = *step * shape[axis];
  }
  return layout;
}

//===-- Copies ------------------------------------------------------------===//

LogicalResult ConcatOp::buildKernels(KernelBuilder &builder) {
  Value result = builder.getOutput();
  Layout whole = builder.getLayout(result);
  unsigned axis = getAxis();
  Dim start;
  for (unsigned i = 0; i < getInputs().size(); ++i) {
    Layout part = whole;
    part.shape[axis] = getTensorType(getInputs()[i]).getDim(axis);
    part.offset = start * whole.strides[axis];
    builder.copy(builder.getInput(i), builder.getView(result, part));
    start = start + part.shape[axis];
  }
  return success();
}

LogicalResult PadOp::buildKernels(KernelBuilder &builder) {
  Value result = builder.getOutput();
  Layout whole = builder.getLayout(result);
  Layout repeated;
  repeated.shape = whole.shape;
  repeated.strides.assign(whole.shape.size(), Dim());
  builder.copy(builder.getView(builder.getInput(1), repeated), result);
  Layout inner = whole;
  inner.shape = getTensorType(getX()).getShape();
  SmallVector<Dim> high = getHigh();
  for (const auto &[axis, low] : llvm::enumerate(getLow())) {
    inner.offset = inner.offset + low * whole.strides[axis];
    // A border may be negative where only the call knows it.
    if (!isNeverNegative(low) || !isNeverNegative(high[axis]))
      builder.checkRange(builder.getDimScalar(low), inner.shape[axis],
                         whole.shape[axis], axis);
  }
  builder.copy(builder.getInput(0), builder.getView(result, inner));
  return success();
}
