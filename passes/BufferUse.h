// When a buffer is used: the views of it, the loops that it passes through, and
// which kernels may write their result where an operand lies. What memory
// planning asks; knows no places.
#ifndef ASTRA_PASSES_BUFFERUSE_H
#define ASTRA_PASSES_BUFFERUSE_H

#include "dialect/CallsOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace astra {

/// The buffer that a value is a view of.
mlir::Value getRoot(mlir::Value view);

/// Calls `visit` for each operation that uses the memory of a buffer under any
/// name: through views, and as the state of a loop.
void forEachUse(mlir::Value buffer,
                llvm::function_ref<void(mlir::Operation *)> visit);

/// The first and the last operation of a block within which a buffer is used,
/// or null. Leaving the block by its end is no use.
struct UseSpan {
  mlir::Operation *first = nullptr, *last = nullptr;
};
UseSpan findSpan(mlir::Value buffer, mlir::Block &block);

/// Whether a kernel may be given `to` in the memory of `from`: both are whole
/// and of one type, and no element of `from` is read after its place was
/// written.
bool worksInPlace(mlir::Operation *op, mlir::Value from, mlir::Value to);

/// Whether `to`, first used in `next`, may have the memory of `from`, which is
/// used no more after `last`; both operations are of one block or null.
bool canFollow(mlir::Value from, mlir::Operation *last, mlir::Value to,
               mlir::Operation *next);

/// Buffers that pass through loops in one memory instead of two that swap, and
/// results computed where they are wanted. Done before places are chosen.
void joinLoopStates(mlir::func::FuncOp function);
void writeToOutputs(mlir::func::FuncOp function);

/// The pairs (output, input) of a function of which the output may have the
/// input's memory.
llvm::SmallVector<std::pair<unsigned, unsigned>>
findDonations(mlir::func::FuncOp function);

} // namespace astra
#endif // ASTRA_PASSES_BUFFERUSE_H
