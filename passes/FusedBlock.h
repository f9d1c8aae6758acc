// The function of one stage of a fused kernel for one level of processors: a
// loop over whole vectors of elements (runtime/include/astra/module.h).
#ifndef ASTRA_PASSES_FUSEDBLOCK_H
#define ASTRA_PASSES_FUSEDBLOCK_H

#include "dialect/CallsOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace astra {
struct BlockTarget;

/// Adds the function to the module.
void buildBlock(calls::StageOp stage, mlir::ModuleOp module,
                const BlockTarget &level, llvm::StringRef name);
} // namespace astra

#endif // ASTRA_PASSES_FUSEDBLOCK_H
