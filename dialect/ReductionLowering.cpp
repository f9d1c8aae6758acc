// Reductions and operations along one axis: one kernel each, told the axes.
#include "dialect/AstraOps.h"

using namespace mlir;
using namespace astra;

//===-- Few elements, as in the windows of a pooling ----------------------===//
// Whole tensors side by side, place by place, are faster than many short
// reductions.

/// True if the axes have at least one and at most `most` elements.
static bool haveFew(astra::TensorType type, ArrayRef<int64_t> axes,
                    int64_t most) {
  int64_t count = 1;
  for (int64_t axis : axes) {
    int64_t extent = type.getDim(axis).asConstant().value_or(0);
    count = extent > most ? 0 : count * extent;
  }
  return count >= 1 && count <= most;
}

/// For each place in the reduced axes, in row-major order, the elements there.
static SmallVector<Value> getPlaces(KernelBuilder &builder,
                                    ArrayRef<int64_t> axes) {
  Value x = builder.getInput(0);
  Layout source = builder.getLayout(x), kept;
  SmallVector<Dim> offsets = {Dim()};
  for (unsigned axis = 0; axis < source.getRank(); ++axis) {
    if (!llvm::is_contained(axes, int64_t(axis))) {
      kept.shape.push_back(source.shape[axis]);
      kept.strides.push_back(source.strides[axis]);
      continue;
    }
    SmallVector<Dim> further;
    for (const Dim &offset : offsets)
      for (int64_t i = 0; i < *source.shape[axis].asConstant(); ++i)
        further.push_back(offset + Dim::constant(i) * source.strides[axis]);
    offsets = further;
  }
  SmallVector<Value> places;
  for (const Dim &offset : offsets) {
    kept.offset = offset;
    places.push_back(builder.getView(x, kept));
  }
  return places;
}

/// A maximum has no order.
static void takeGreatest(FirstMaxOp op, KernelBuilder &builder) {
  SmallVector<Value> places = getPlaces(builder, op.getAxes());
  std::string kernel = getKernelName("maximum", op.getType().getElementType());
  Value result = builder.getOutput();
  builder.copy(places[0], result);
  for (Value place : ArrayRef(places).drop_front())
    builder.call(kernel, {result, place}, {result}, ArrayRef<Attribute>());
}

/// Lane i of the canonical sum after the folds down to h = `distance`: its own
/// and those that are multiples of `distance` behind it. Of lane 0, whose first
/// addition is to +0, comes the result.
static Value foldLane(KernelBuilder &builder, ArrayRef<Value> places,
                      unsigned lane, unsigned distance, Type element) {
  std::string kernel = getKernelName("add", element);
  Layout layout = builder.getLayout(places[0]);
  Value sum = lane == 0 ? builder.getOutput() : places[lane];
  if (lane == 0) {
    Value zero =
        builder.getSplat(FloatAttr::get(element, 0.0), element, layout.shape);
    builder.call(kernel, {places[0], zero}, {sum}, ArrayRef<Attribute>());
  }
  for (unsigned h = 16; h >= distance; h /= 2) {
    if (lane + h >= places.size())
      continue;
    Value other = foldLane(builder, places, lane + h, 2 * h, element);
    Value to =
        sum == places[lane] ? builder.getTemporary(element, layout.shape) : sum;
    builder.call(kernel, {sum, other}, {to}, ArrayRef<Attribute>());
    sum = to;
  }
  return sum;
}

/// f16 and bf16 would round each addition.
static bool isShortSum(SumOp op) {
  return op.getX().getDefiningOp<WindowsOp>() &&
         op.getType().getElementType().getIntOrFloatBitWidth() >= 32 &&
         haveFew(op.getX().getType(), op.getAxes(), 32);
}

LogicalResult astra::buildReductionKernels(Operation *op,
                                           KernelBuilder &builder) {
  SmallVector<int64_t> params;
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes")) {
    params.push_back(axes.size());
    params.append(axes.asArrayRef().begin(), axes.asArrayRef().end());
  } else {
    params.push_back(op->getAttrOfType<IntegerAttr>("axis").getInt());
  }
  Type element = getTensorType(op->getOperand(0)).getElementType();
  if (auto greatest = dyn_cast<FirstMaxOp>(op);
      greatest && haveFew(greatest.getX().getType(), greatest.getAxes(), 64))
    return takeGreatest(greatest, builder), success();
  if (auto sum = dyn_cast<SumOp>(op); sum && isShortSum(sum)) {
    SmallVector<Value> places = getPlaces(builder, sum.getAxes());
    foldLane(builder, places, 0, 1, element);
    return success();
  }
  // They differ in their gradients only.
  StringRef kernel = isa<FirstMaxOp>(op) ? "max" : op->getName().stripDialect();
  builder.call(getKernelName(kernel, element), {builder.getInput(0)},
               {builder.getOutput()}, params);
  return success();
}
