// From a module in the LLVM dialect to the bytes of an ELF object, and from an
// object to a loadable module. Knows LLVM's code generator and linker, nothing
// of tensors.
#ifndef ASTRA_PASSES_OBJECT_H
#define ASTRA_PASSES_OBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace astra {

struct ObjectOptions {
  unsigned optimisation = 2; // never changes a result
};

/// Makes the translation from the LLVM dialect known to a context.
void registerObjectTranslations(mlir::DialectRegistry &registry);

/// Appends the object's bytes. On failure `error` says why.
bool emitObject(mlir::ModuleOp module, const ObjectOptions &options,
                llvm::SmallVectorImpl<char> &bytes, std::string &error);

/// The same program as LLVM IR text, before optimisation.
bool emitLLVMText(mlir::ModuleOp module, std::string &text, std::string &error);

/// The sections and symbols of an object, for people.
bool describeObject(llvm::StringRef bytes, std::string &text,
                    std::string &error);

/// Links the object file into a shared object that exports `astra_module` only
/// and needs no library.
bool linkLoadable(llvm::StringRef objectPath, llvm::StringRef outputPath,
                  std::string &error);

} // namespace astra
#endif // ASTRA_PASSES_OBJECT_H
