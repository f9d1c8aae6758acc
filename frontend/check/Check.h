// The checker's public face: from the main file (already in the SourceManager)
// to the typed program. Imports are found beside the importing file or in the
// standard library and are read through the loader. No MLIR.
#ifndef ASTRA_FRONTEND_CHECK_CHECK_H
#define ASTRA_FRONTEND_CHECK_CHECK_H

#include "frontend/check/Hir.h"
#include "frontend/syntax/Diagnostics.h"
#include <functional>
#include <optional>

namespace astra {

struct CheckOptions {
  /// The folder with nn.astra, optim.astra, ...
  std::string stdPath;
  /// Reads a file; nothing if it is not there. Empty: the file system.
  std::function<std::optional<std::string>(const std::string &path)> load;
};

/// Never null. Where `diags` has errors, the program is not to be compiled.
std::unique_ptr<hir::Program> checkProgram(const CheckOptions &options,
                                           uint32_t mainFile,
                                           SourceManager &sources,
                                           DiagnosticEngine &diags);

} // namespace astra
#endif // ASTRA_FRONTEND_CHECK_CHECK_H
