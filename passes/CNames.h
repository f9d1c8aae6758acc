// The C names of a module and of what it exports, the same for the object and
// the header: identifiers of C and C++, no word of either, and none that the
// public API or the header's own functions have. Knows nothing of tensors.
#ifndef ASTRA_PASSES_CNAMES_H
#define ASTRA_PASSES_CNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace astra {

/// `name` as an identifier; `_` follows where it would mean something else.
/// Two names of a program never get the same one.
std::string makeCName(llvm::StringRef name);
/// The same for a parameter, beside what every generated function has.
std::string makeCParameterName(llvm::StringRef name);
/// What the names of a module begin with: "digits" of digits_step.
std::string makeCPrefix(llvm::StringRef module);
/// What follows the prefix for an export: "step"; "load_" of one named load.
std::string makeCExportName(llvm::StringRef name);
/// The symbol of a linked object's descriptor.
std::string getDescriptorSymbol(llvm::StringRef module);

} // namespace astra
#endif // ASTRA_PASSES_CNAMES_H
