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
/// Rows of the stage's kernel are taken so many elements at a time
/// (kernels/FusedAlong.h).
int32_t getElementsOfBatch(calls::StageOp stage);
/// How many elements ahead a pass asks for the place of an argument that it
/// writes, or 0. Of all passes that do so but the very first one, before which
/// there is no time, that is the first if it computes long enough for memory to
/// answer: then soon before it comes there. Else it is the last, for the rows
/// that come next.
int32_t getWrittenAhead(calls::StageOp stage, unsigned output);
} // namespace astra

#endif // ASTRA_PASSES_STAGESLOTS_H
