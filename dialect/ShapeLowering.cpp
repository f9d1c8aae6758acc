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

/// Adding and dropping axes of extent 1 keeps any layout; other changes need
/// elements without gaps.
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
  size_t from = 0;
  auto skipOnes = [&] {
    while (from < source.shape.size() && source.shape[from].isConstant(1))
      ++from;
  };
  for (const Dim &extent : shape) {
    layout.shape.push_back(extent);
    if (extent.isConstant(1)) {
      layout.strides.push_back(Dim());
      continue;
    }
    skipOnes();
    if (from == source.shape.size() || source.shape[from] != extent)
      return failure();
    layout.strides.push_back(source.strides[from++]);
  }
  skipOnes();
  if (from != source.shape.size())
    return failure();
  return layout;
}

//===-- Copies ------------------------------------------------------------===//

/// Many inputs, each a few elements wide, on the last axis: to copy one into
/// the result touches all of the result's memory.
static bool isOfColumns(ConcatOp op) {
  constexpr int64_t fewInputs = 4, fewElements = 8, fewRows = 64;
  SmallVector<Dim> shape = getTensorType(op.getResult()).getShape();
  ArrayRef<Dim> rows(shape);
  rows = rows.take_front(op.getAxis());
  if (op.getInputs().size() < fewInputs ||
      calls::getElementCount(rows).asConstant().value_or(fewRows) < fewRows ||
      llvm::any_of(llvm::drop_begin(shape, op.getAxis() + 1),
                   [](const Dim &extent) { return !extent.isConstant(1); }))
    return false;
  return llvm::all_of(op.getInputs(), [&](Value input) {
    Dim width = getTensorType(input).getDim(op.getAxis());
    return width.asConstant().value_or(fewElements) < fewElements;
  });
}

/// The first axes of a layout; the others have extent 1.
static Layout takeAxes(Layout layout, unsigned count) {
  layout.shape.truncate(count);
  layout.strides.truncate(count);
  return layout;
}

/// Collects the inputs column by column and transposes the whole once.
static void concatColumns(ConcatOp op, KernelBuilder &builder) {
  unsigned axis = op.getAxis(), rank = axis + 1;
  Value result = builder.getOutput();
  Layout target = takeAxes(builder.getLayout(result), rank);
  target.offset = Dim();
  SmallVector<Dim> columnShape{target.shape[axis]};
  columnShape.append(target.shape.begin(), target.shape.begin() + axis);
  Layout columns = Layout::dense(columnShape), whole = target;
  std::rotate(columns.strides.begin(), columns.strides.begin() + 1,
              columns.strides.end());
  whole.strides = columns.strides;
  Value memory = builder.getTemporary(
      getTensorType(op.getResult()).getElementType(), columnShape);
  Layout part = whole;
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    Value input = builder.getInput(i);
    Layout source = takeAxes(builder.getLayout(input), rank);
    source.offset = Dim();
    part.shape[axis] = source.shape[axis];
    builder.copy(builder.getView(input, source), builder.getView(memory, part));
    part.offset = part.offset + part.shape[axis] * whole.strides[axis];
  }
  builder.copy(builder.getView(memory, whole), builder.getView(result, target));
}

LogicalResult ConcatOp::buildKernels(KernelBuilder &builder) {
  if (getAxis() > 0 && isOfColumns(*this)) {
    concatColumns(*this, builder);
    return success();
  }
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
  for (const auto &[axis, low] : llvm::enumerate(getLow()))
    inner.offset = inner.offset + low * whole.strides[axis];
  builder.copy(builder.getInput(0), builder.getView(result, inner));
  return success();
}
