// Attention: one kernel each, told whether a mask is among its inputs.
#include "dialect/AstraOps.h"

using namespace mlir;
using namespace astra;

template <typename OpTy>
static LogicalResult callKernel(OpTy op, KernelBuilder &builder) {
  Builder b(op.getContext());
  SmallVector<Value> inputs, outputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inputs.push_back(builder.getInput(i));
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    outputs.push_back(builder.getOutput(i));
  FloatAttr scale = op.getScaleAttr();
  Attribute params[] = {b.getI64IntegerAttr(op.getMask() ? 1 : 0),
                        b.getI64IntegerAttr(op.getCausal() ? 1 : 0),
                        b.getI64IntegerAttr(scale ? 1 : 0),
                        scale ? scale : b.getF64FloatAttr(0)};
  Type element = op.getQ().getType().getElementType();
  builder.call(getKernelName(op->getName().stripDialect(), element), inputs,
               outputs, ArrayRef<Attribute>(params));
  return success();
}

LogicalResult AttentionOp::buildKernels(KernelBuilder &builder) {
  return callKernel(*this, builder);
}
LogicalResult AttentionGradOp::buildKernels(KernelBuilder &builder) {
  return callKernel(*this, builder);
}
