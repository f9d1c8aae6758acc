// Values that a reverse pass takes over from its forward pass: see Residuals.h.
#include "passes/Residuals.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/TapeUse.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace astra {

/// A part of what is there before `forward` runs.
static bool isInvariantView(Operation *op, Block &forward) {
  return isa_and_nonnull<SliceOp, ReshapeOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getParentBlock() != &forward ||
                  isInvariantView(operand.getDefiningOp(), forward);
         });
}

/// Cheaper to compute again than to keep.
static bool isCheap(Operation *op, Block &forward) {
  // An entry of a tape from outside that stays as it is is read again.
  if (auto read = dyn_cast_or_null<TapeReadOp>(op))
    return read.getTape().getParentBlock() != &forward &&
           isOnlyRead(read.getTape());
  return isa_and_nonnull<ConstOp, DimValueOp, IotaOp, BroadcastOp, TransposeOp,
                         FlipOp>(op) ||
         isInvariantView(op, forward);
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
  if (!isCheap(op, forward)) {
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
  // The region may not belong to an operation yet.
  OpBuilder builder(forward.getParentOp()->getContext());
  builder.setInsertionPointToStart(&backward.front());
  replace(builder, carried);
}

void Residuals::replace(OpBuilder &builder, ValueRange carried) {
  for (auto [value, replacement] : llvm::zip_equal(values, carried))
    found[value] = replacement;
  for (OpOperand *use : uses)
    use->set(available(builder, use->get()));
}

namespace {
/// Operations that compute the same are one key.
struct SameComputation : DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b || a == getEmptyKey() || a == getTombstoneKey() ||
        b == getEmptyKey() || b == getTombstoneKey())
      return a == b;
    return OperationEquivalence::isEquivalentTo(
        const_cast<Operation *>(a), const_cast<Operation *>(b),
        OperationEquivalence::IgnoreLocations);
  }
};
} // namespace

void useForward(Block &forward, Block &backward) {
  auto canShare = [](Operation &op) {
    return op.getNumRegions() == 0 && op.getNumOperands() > 0 &&
           op.getNumResults() == 1 && isMemoryEffectFree(&op);
  };
  llvm::DenseSet<Operation *, SameComputation> computed;
  for (Operation &op : forward)
    if (canShare(op))
      computed.insert(&op);
  for (Operation &op : llvm::make_early_inc_range(backward)) {
    auto same = canShare(op) ? computed.find(&op) : computed.end();
    if (same == computed.end())
      continue;
    op.replaceAllUsesWith(*same);
    op.erase();
  }
}

} // namespace astra
