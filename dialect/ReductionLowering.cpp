// Reductions and operations along one axis: one kernel each, told the axes.
#include "dialect/AstraOps.h"

using namespace mlir;
using namespace astra;

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
  // They differ in their gradients only.
  StringRef kernel =
      isa<FirstMaxOp>(op) ? "max" : op->getName().stripDialect();
  builder.call(getKernelName(kernel, element),
               {builder.getInput(0)}, {builder.getOutput()}, params);
  return success();
}
