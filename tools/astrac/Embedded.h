// The standard library as texts that are built into astrac. Made by CMake from
// the files.
#ifndef ASTRA_TOOLS_ASTRAC_EMBEDDED_H
#define ASTRA_TOOLS_ASTRAC_EMBEDDED_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace astra {

/// A file of the standard library, "nn.astra".
std::optional<llvm::StringRef> getLibraryFile(llvm::StringRef name);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_EMBEDDED_H
