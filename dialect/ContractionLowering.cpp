// Contractions: the kernel wants [batch, free a, contracted] and [batch,
// contracted, free b], which are views of the operands.
#include "dialect/AstraOps.h"

using namespace mlir;
using namespace astra;

static Value arrange(KernelBuilder &builder, Value view,
                     ArrayRef<ArrayRef<int64_t>> groups) {
  Layout source = builder.getLayout(view), layout;
  for (ArrayRef<int64_t> axes : groups)
    for (int64_t axis : axes) {
      layout.shape.push_back(source.shape[axis]);
      layout.strides.push_back(source.strides[axis]);
    }
  return builder.getView(view, layout);
}

LogicalResult ContractOp::buildKernels(KernelBuilder &builder) {
  SmallVector<int64_t> freeA = getFreeA(), freeB = getFreeB();
  Value lhs = arrange(builder, builder.getInput(0),
                      {getBatchA(), freeA, getContractA()});
  Value rhs = arrange(builder, builder.getInput(1),
                      {getBatchB(), getContractB(), freeB});
  Type element = getTensorType(getLhs()).getElementType();
  int64_t params[] = {int64_t(getBatchA().size()),
                      int64_t(getContractA().size())};
  builder.call(getKernelName("contract", element), {lhs, rhs},
               {builder.getOutput()}, ArrayRef<int64_t>(params));
  return success();
}
