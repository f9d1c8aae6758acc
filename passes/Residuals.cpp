// Values that a reverse pass takes over from its forward pass: see Residuals.h.
#include "passes/Residuals.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace astra {

/// Cheaper to compute again than to keep.
static bool isCheap(Operation *op) {
  return isa_and_nonnull<ConstOp, DimValueOp, IotaOp, BroadcastOp, TransposeOp,
                         FlipOp>(op);
}

Residuals::Residuals(Block &forward, Region &backward)
    : forward(forward), backward(backward) {
  backward.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (crosses(use.get())) {
        uses.push_back(&use);
        collect(use.get());
      }
  });
}

void Residuals::collect(Value v) {
  if (!crosses(v))
    return;
  Operation *op = v.getDefiningOp();
  if (!isCheap(op)) {
    values.insert(v);
    return;
  }
  for (Value operand : op->getOperands())
    collect(operand);
}

Value Residuals::available(OpBuilder &builder, Value v) {
  if (!crosses(v))
    return v;
  auto it = found.find(v);
  if (it != found.end())
    return it->second;
  IRMapping mapping;
  for (Value operand : v.getDefiningOp()->getOperands())
    mapping.map(operand, available(builder, operand));
  Value again = builder.clone(*v.getDefiningOp(), mapping)->getResult(0);
  found[v] = again;
  return again;
}

void Residuals::replace(ValueRange carried) {
  for (auto [value, replacement] : llvm::zip_equal(values, carried))
    found[value] = replacement;
  // The region may not belong to an operation yet.
  OpBuilder builder(forward.getParentOp()->getContext());
  builder.setInsertionPointToStart(&backward.front());
  for (OpOperand *use : uses)
    use->set(available(builder, use->get()));
}

} // namespace astra
