// Contractions: the kernel wants [batch, free a, contracted] and [batch,
// contracted, free b], which are views of the operands.
#include "dialect/AstraOps.h"

#include <numeric>

using namespace mlir;
using namespace astra;

using Groups = ArrayRef<ArrayRef<int64_t>>;

static Value arrange(KernelBuilder &builder, Value view, Groups groups) {
  Layout source = builder.getLayout(view), layout;
  for (ArrayRef<int64_t> axes : groups)
    for (int64_t axis : axes) {
      layout.shape.push_back(source.shape[axis]);
      layout.strides.push_back(source.strides[axis]);
    }
  return builder.getView(view, layout);
}

/// True if the result is consecutive along the free axes of the left operand
/// instead of the right one's: then the product of the exchanged operands has
/// consecutive rows, and the same bits, because a * b is b * a.
static bool isConsecutiveInA(const Layout &out, size_t batch, size_t freeA) {
  return freeA != 0 && out.getRank() > batch + freeA &&
         out.strides[batch + freeA - 1].isConstant(1) &&
         !out.strides.back().isConstant(1);
}

LogicalResult ContractOp::buildKernels(KernelBuilder &builder) {
  SmallVector<int64_t> freeA = getFreeA(), freeB = getFreeB();
  Value lhs = builder.getInput(0), rhs = builder.getInput(1);
  Value out = builder.getOutput();
  ArrayRef<int64_t> batchA = getBatchA(), contractA = getContractA();
  ArrayRef<int64_t> batchB = getBatchB(), contractB = getContractB();
  if (isConsecutiveInA(builder.getLayout(out), batchA.size(), freeA.size())) {
    SmallVector<int64_t> axes(batchA.size() + freeA.size() + freeB.size());
    std::iota(axes.begin(), axes.end(), 0);
    ArrayRef<int64_t> all(axes);
    out = arrange(builder, out,
                  {all.take_front(batchA.size()), all.take_back(freeB.size()),
                   all.slice(batchA.size(), freeA.size())});
    std::swap(lhs, rhs);
    std::swap(freeA, freeB);
    std::swap(batchA, batchB);
    std::swap(contractA, contractB);
  }
  Type element = getTensorType(getLhs()).getElementType();
  int64_t params[] = {int64_t(batchA.size()), int64_t(contractA.size())};
  builder.call(getKernelName("contract", element),
               {arrange(builder, lhs, {batchA, freeA, contractA}),
                arrange(builder, rhs, {batchB, contractB, freeB})},
               {out}, ArrayRef<int64_t>(params));
  return success();
}
