// Assertions are kernels that are given the text of what is asserted; `debug`
// hands the value to the runtime.
#include "dialect/AstraOps.h"
#include "dialect/CallsOps.h"

using namespace mlir;
using namespace astra;

static void callAssert(KernelBuilder &builder, Operation *op, StringAttr text) {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inputs.push_back(builder.getInput(i));
  Type element = getTensorType(op->getOperand(0)).getElementType();
  builder.call(getKernelName(op->getName().stripDialect(), element), inputs, {},
               ArrayRef<Attribute>(text));
}

LogicalResult AssertOp::buildKernels(KernelBuilder &builder) {
  callAssert(builder, getOperation(), getTextAttr());
  return success();
}

LogicalResult AssertEqOp::buildKernels(KernelBuilder &builder) {
  callAssert(builder, getOperation(), getTextAttr());
  return success();
}

LogicalResult AssertCloseOp::buildKernels(KernelBuilder &builder) {
  callAssert(builder, getOperation(), getTextAttr());
  return success();
}

LogicalResult DebugOp::buildKernels(KernelBuilder &builder) {
  Value view = builder.getInput(0);
  builder.debug(getText(), view);
  builder.setResult(0, view);
  return success();
}
