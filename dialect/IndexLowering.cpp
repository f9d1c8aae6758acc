// Indexing: a slice is a view whose run-time starts generated code checks; an
// updated slice is a copy of the whole and a copy or a sum into the part;
// gathers and scatters are kernels, which check their indices.
#include "dialect/AstraOps.h"
#include "dialect/CallsOps.h"

using namespace mlir;
using namespace astra;

/// The box of a slice inside `whole`; run-time starts are operands from
/// `firstIndex` on.
static Layout getBox(KernelBuilder &builder, const Layout &whole,
                     ArrayRef<Dim> sizes, ArrayRef<Dim> starts,
                     ArrayRef<int64_t> dynamicAxes, unsigned firstIndex) {
  Layout box = whole;
  box.shape.assign(sizes.begin(), sizes.end());
  for (const auto &[axis, start] : llvm::enumerate(starts)) {
    if (llvm::is_contained(dynamicAxes, int64_t(axis)))
      continue;
    box.offset = box.offset + start * whole.strides[axis];
    Dim rest = whole.shape[axis] - sizes[axis] - start;
    if (!isNeverNegative(start) || !isNeverNegative(rest))
      builder.checkRange(builder.getDimScalar(start), sizes[axis],
                         whole.shape[axis], axis);
  }
  for (const auto &[place, axis] : llvm::enumerate(dynamicAxes)) {
    Value start = builder.getScalar(firstIndex + place);
    builder.checkRange(start, sizes[axis], whole.shape[axis], axis);
    box.indices.push_back(start);
    box.steps.push_back(whole.strides[axis]);
  }
  return box;
}

FailureOr<Layout> SliceOp::buildView(KernelBuilder &builder,
                                     const Layout &source) {
  return getBox(builder, source, getTensorType(getResult()).getShape(),
                getStarts(), getDynamicAxes(), 1);
}

LogicalResult UpdateSliceOp::buildKernels(KernelBuilder &builder) {
  Value result = builder.getOutput();
  astra::TensorType valueType = getTensorType(getValue());
  // The check comes first: an update that fails writes nothing.
  Layout box = getBox(builder, builder.getLayout(result), valueType.getShape(),
                      getStarts(), getDynamicAxes(), 2);
  builder.copy(builder.getInput(0), result);
  Value part = builder.getView(result, box), value = builder.getInput(1);
  if (getAdd())
    builder.call(getKernelName("add", valueType.getElementType()),
                 {part, value}, {part}, ArrayRef<Attribute>());
  else
    builder.copy(value, part);
  return success();
}

/// Index arrays from operand `first` on, as i64.
static void addIndices(KernelBuilder &builder, Operation *op, unsigned first,
                       SmallVectorImpl<Value> &inputs) {
  Type word = IntegerType::get(op->getContext(), 64);
  for (unsigned i = first; i < op->getNumOperands(); ++i) {
    Value index = builder.getInput(i);
    astra::TensorType type = getTensorType(op->getOperand(i));
    if (type.getElementType() != word) {
      Value wide = builder.getTemporary(word, type.getShape());
      builder.call("convert_" + getElementName(type.getElementType()) + "_i64",
                   {index}, {wide}, ArrayRef<Attribute>());
      index = wide;
    }
    inputs.push_back(index);
  }
}

static SmallVector<int64_t> getAxesParams(ArrayRef<int64_t> axes) {
  SmallVector<int64_t> params = {int64_t(axes.size())};
  params.append(axes.begin(), axes.end());
  return params;
}

LogicalResult GatherOp::buildKernels(KernelBuilder &builder) {
  SmallVector<Value> inputs = {builder.getInput(0)};
  addIndices(builder, getOperation(), 1, inputs);
  Type element = getTensorType(getX()).getElementType();
  builder.call(getWidthKernelName("gather", element), inputs,
               {builder.getOutput()}, getAxesParams(getAxes()));
  return success();
}

LogicalResult ScatterOp::buildKernels(KernelBuilder &builder) {
  SmallVector<Value> inputs = {builder.getInput(0), builder.getInput(1)};
  addIndices(builder, getOperation(), 2, inputs);
  Type element = getTensorType(getX()).getElementType();
  std::string name = getAdd() ? getKernelName("scatter_add", element)
                              : getWidthKernelName("scatter_set", element);
  builder.call(name, inputs, {builder.getOutput()}, getAxesParams(getAxes()));
  return success();
}
