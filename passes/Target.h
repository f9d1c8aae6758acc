// The processors that astrac makes code for, as one table. Knows names and
// levels, no code generator.
#ifndef ASTRA_PASSES_TARGET_H
#define ASTRA_PASSES_TARGET_H

#include "astra/module.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace astra {

/// A level that blocks of fused kernels are compiled for.
struct BlockTarget {
  const char *suffix, *cpu, *vectorWidth;
  /// That all processors of the level have, or pass over, beside those of
  /// `cpu`.
  const char *features;
  /// Has instructions and registers for the wide vector forms of operations.
  bool isWide;
};

struct Target {
  const char *name; // as given to --target
  const char *triple;
  const char *cpu;   // LLVM's name of the least processor
  const char *level; // that processor as the runtime calls it
  /// Distinct ones in the order of ASTRA_BLOCK_*; the last stands for the rest.
  llvm::ArrayRef<BlockTarget> blocks;
};

/// The first is what is meant if none is named.
llvm::ArrayRef<Target> getTargets();
/// By its name, or null.
const Target *findTarget(llvm::StringRef name);
/// "x86_64-linux-gnu, aarch64-linux-gnu"
std::string getTargetNames();

/// States the target of a module's code, and reads it back.
void setTarget(mlir::ModuleOp module, const Target &target);
const Target &getTarget(mlir::ModuleOp module);

} // namespace astra
#endif // ASTRA_PASSES_TARGET_H
