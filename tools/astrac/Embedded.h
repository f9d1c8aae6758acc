// Texts that are built into astrac: the pages of docs/errors and the standard
// library. Made by CMake from the files.
#ifndef ASTRA_TOOLS_ASTRAC_EMBEDDED_H
#define ASTRA_TOOLS_ASTRAC_EMBEDDED_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace astra {

/// The page of an error code, "E0201".
std::optional<llvm::StringRef> getErrorPage(llvm::StringRef code);
/// A file of the standard library, "nn.astra".
std::optional<llvm::StringRef> getLibraryFile(llvm::StringRef name);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_EMBEDDED_H
