// The body of an entry function: what stands between its prologue and its end,
// made of a function over buffers. Knows the object ABI through EntryFrame and
// Descriptor.
#ifndef ASTRA_PASSES_ENTRYBODY_H
#define ASTRA_PASSES_ENTRYBODY_H

#include "passes/EntryFrame.h"

namespace astra {

/// Moves the body of `source`, whose control flow is flat, into the frame and
/// finishes it.
llvm::LogicalResult lowerEntryBody(mlir::func::FuncOp source, EntryFrame &frame,
                                   Descriptor &descriptor);

} // namespace astra
#endif // ASTRA_PASSES_ENTRYBODY_H
