// The order of the operations in blocks of fused kernels. What a program does
// to elements are mostly long chains that do not need one another; in the order
// of the program a processor sees them one after the other.
#ifndef ASTRA_PASSES_BLOCKORDER_H
#define ASTRA_PASSES_BLOCKORDER_H

namespace llvm {
class Function;
}

namespace astra {
/// Orders the operations of each basic block as a processor with vectors of so
/// many bits can start them, those first on which the longest chains wait.
void orderOperations(llvm::Function &function, unsigned vectorBits);
} // namespace astra

#endif // ASTRA_PASSES_BLOCKORDER_H
