// The C header of a module: typed structs of tensor handles and one inline
// function for each export. Knows what exports say of themselves, no bodies.
#ifndef ASTRA_PASSES_CHEADER_H
#define ASTRA_PASSES_CHEADER_H

#include "dialect/Lowering.h"
#include "passes/ModuleInfo.h"
#include "llvm/ADT/ArrayRef.h"

namespace astra {

/// `source` is the file's name without folder, for the first line.
std::string makeCHeader(llvm::StringRef module, llvm::StringRef source,
                        llvm::StringRef compiler,
                        llvm::ArrayRef<ExportInfo> exports,
                        llvm::ArrayRef<StructInfo> structs);

/// What `makeCHeader` needs, from a module in the phase `astra` to `calls`.
std::vector<ExportInfo> readExports(mlir::ModuleOp module);

} // namespace astra
#endif // ASTRA_PASSES_CHEADER_H
