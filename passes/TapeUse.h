// What a program does with a tape: whether it is only read any more, and where
// its memory can be given back. Knows the operations on tapes and no pass.
#ifndef ASTRA_PASSES_TAPEUSE_H
#define ASTRA_PASSES_TAPEUSE_H

#include "dialect/AstraOps.h"
#include "llvm/ADT/DenseMap.h"

namespace astra {

/// Nothing is written to the tape from here on, nor to tapes that are read from
/// it, and none is passed on.
bool isOnlyRead(mlir::Value tape);

/// A tape that ends, and how deep: 1 if the tapes that are its entries may be
/// needed elsewhere.
struct TapeEnd {
  mlir::Value tape;
  unsigned depth;
};
/// For operations of the block: the tapes that nothing behind them reads.
llvm::DenseMap<mlir::Operation *, llvm::SmallVector<TapeEnd>>
findTapeEnds(mlir::Block &block);

} // namespace astra
#endif // ASTRA_PASSES_TAPEUSE_H
