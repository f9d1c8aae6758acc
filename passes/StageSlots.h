// Where the operands of a stage of a fused kernel are, and which passes over a
// row share them. Knows nothing of the code that is made.
#ifndef ASTRA_PASSES_STAGESLOTS_H
#define ASTRA_PASSES_STAGESLOTS_H

#include "dialect/CallsOps.h"

namespace astra {
/// The kind of the slot of an input or output: "arg", "row", "sum" and so on.
llvm::StringRef getInputKind(calls::StageOp stage, unsigned input);
llvm::StringRef getOutputKind(calls::StageOp stage, unsigned output);

/// Whether an input is one value for each row that the kernel makes.
bool isPerRow(calls::StageOp stage, unsigned input);
/// Whether an output is folded along the row.
bool isFolded(calls::StageOp stage, unsigned output);

/// Whether this is the second pass over the row that reads an argument.
bool isReadAgain(calls::StageOp stage, unsigned input);
/// Whether this is the last pass over the row that writes an argument, and not
/// the first pass at all, before which there is no time to ask for its place.
bool isWrittenLast(calls::StageOp stage, unsigned output);
} // namespace astra

#endif // ASTRA_PASSES_STAGESLOTS_H
