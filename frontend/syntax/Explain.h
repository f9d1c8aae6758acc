// The pages docs/errors/<code>.md, built into the program for `--explain CODE`.
// Knows nothing but codes and text.
#ifndef ASTRA_FRONTEND_SYNTAX_EXPLAIN_H
#define ASTRA_FRONTEND_SYNTAX_EXPLAIN_H

#include "llvm/ADT/StringRef.h"

namespace astra {

/// The page of "E0201" (also "e0201"), or "" if there is no such code.
llvm::StringRef getExplanation(llvm::StringRef code);

} // namespace astra
#endif // ASTRA_FRONTEND_SYNTAX_EXPLAIN_H
