// Batching of contractions: a batch axis where both operands are mapped, else a
// free axis of the one that is. Each element is the same chain of products.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

LogicalResult ContractOp::buildBatched(OpBuilder &builder, const Dim &length,
                                       ArrayRef<BatchedValue> operands,
                                       SmallVectorImpl<BatchedValue> &results) {
  RuleBuilder r(builder, getLoc());
  auto axesOf = [&](unsigned i, ArrayRef<int64_t> axes) {
    return operands[i].mapped ? shifted(axes) : Axes(axes);
  };
  Axes batchA = axesOf(0, getBatchA()), batchB = axesOf(1, getBatchB());
  Axes overA = axesOf(0, getContractA()), overB = axesOf(1, getContractB());
  bool both = operands[0].mapped && operands[1].mapped;
  if (both) {
    batchA.insert(batchA.begin(), 0);
    batchB.insert(batchB.begin(), 0);
  }
  Value product = r.contract(operands[0].value, operands[1].value, batchA,
                             batchB, overA, overB);
  int64_t at = 0; // where the batch is in the product
  if (!both)
    at = getBatchA().size() + (operands[0].mapped ? 0 : getFreeA().size());
  results.push_back({r.moveAxis(product, at, 0), true});
  return success();
}

} // namespace astra
