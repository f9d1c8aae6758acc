// Linear algebra: one kernel for each operation, which walks the batch itself.
#include "dialect/AstraOps.h"

using namespace mlir;
using namespace astra;

LogicalResult astra::buildLinalgKernels(Operation *op, KernelBuilder &builder) {
  SmallVector<Value> inputs, outputs;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    inputs.push_back(builder.getInput(i));
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    outputs.push_back(builder.getOutput(i));
  SmallVector<int64_t> params;
  if (auto solve = dyn_cast<SolveTriangularOp>(op))
    params = {solve.getLower(), solve.getTranspose(), solve.getUnitDiagonal()};
  Type element = getTensorType(op->getOperand(0)).getElementType();
  builder.call(getKernelName(op->getName().stripDialect(), element), inputs,
               outputs, ArrayRef<int64_t>(params));
  return success();
}
