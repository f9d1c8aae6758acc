// From `calls.fused` to functions and tables in the LLVM dialect: for each
// stage and each level one block function of module.h, a loop over whole
// vectors whose operations are calls of the vector forms in kernels/lanes
// (LaneCode.h puts those in). Knows the object ABI, no arithmetic.
#ifndef ASTRA_PASSES_FUSEDCODE_H
#define ASTRA_PASSES_FUSEDCODE_H

#include "dialect/CallsOps.h"
#include "passes/Descriptor.h"

namespace astra {

/// Replaces every `calls.fused` of the module; the descriptor gets their table.
void lowerFusedKernels(mlir::ModuleOp module, Descriptor &descriptor);

/// The type of an element in memory: no sign, a bool is a byte, a small float
/// only its bits.
mlir::Type getStorageType(mlir::OpBuilder &builder, mlir::Type element);

} // namespace astra
#endif // ASTRA_PASSES_FUSEDCODE_H
