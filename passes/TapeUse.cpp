// The uses of tapes: see TapeUse.h. What is not recognised lives until the call
// ends, which is right and only takes memory.
#include "passes/TapeUse.h"

using namespace mlir;

namespace astra {

bool isOnlyRead(Value tape) {
  return llvm::all_of(tape.getUses(), [](OpOperand &use) {
    auto read = dyn_cast<TapeReadOp>(use.getOwner());
    return read && (!isa<TapeType>(read.getResult().getType()) ||
                    isOnlyRead(read.getResult()));
  });
}

/// The tape is made in the block by the steps of a loop, perhaps in a branch,
/// and nothing but one write keeps it.
static bool isOwnedByOneWrite(Value tape) {
  if (!isa_and_nonnull<ForOp, WhileOp, ScanOp, IfOp>(tape.getDefiningOp()))
    return false;
  return llvm::count_if(tape.getUses(), [](OpOperand &use) {
           return !isa<TapeReadOp>(use.getOwner());
         }) == 1;
}

/// Whether a tape of tapes, a result of an operation with regions, is the only
/// owner of its entries.
static bool ownsEntries(OpResult tape) {
  Operation *op = tape.getOwner();
  for (Region &region : op->getRegions()) {
    Operation *end = region.front().getTerminator();
    if (isa<WhileOp>(op) && &region == &op->getRegion(0))
      continue;
    Value yielded = end->getOperand(tape.getResultNumber());
    if (isa<IfOp>(op)) {
      auto inner = dyn_cast<OpResult>(yielded);
      bool none = isa_and_nonnull<TapeNoneOp>(yielded.getDefiningOp());
      if (!none && (!inner || inner.getOwner()->getNumRegions() == 0 ||
                    !ownsEntries(inner)))
        return false;
      continue;
    }
    auto write = yielded.getDefiningOp<TapeWriteOp>();
    if (!write || !isa<BlockArgument>(write.getTape()) ||
        !isOwnedByOneWrite(write.getValue()))
      return false;
  }
  return true;
}

/// The last operation of the block that reads the tape, all of whose reads are
/// in regions: a view of an entry does not leave these.
static Operation *getLastReader(Block &block, OpResult tape) {
  Operation *last = tape.getOwner();
  for (Operation *user : tape.getUsers()) {
    Operation *outer = block.findAncestorOpInBlock(*user);
    if (!outer || outer == user)
      return nullptr;
    if (last->isBeforeInBlock(outer))
      last = outer;
  }
  return last;
}

llvm::DenseMap<Operation *, SmallVector<TapeEnd>> findTapeEnds(Block &block) {
  llvm::DenseMap<Operation *, SmallVector<TapeEnd>> ends;
  for (Operation &op : block) {
    if (!isa<ForOp, WhileOp, ScanOp, IfOp>(op))
      continue;
    for (OpResult result : op.getResults()) {
      auto type = dyn_cast<TapeType>(result.getType());
      if (!type || !isOnlyRead(result))
        continue;
      unsigned depth = type.getDepth();
      if (depth > 1 && !ownsEntries(result))
        depth = 1;
      if (Operation *last = getLastReader(block, result))
        ends[last].push_back({result, depth});
    }
  }
  return ends;
}

} // namespace astra
