// The phases of the compiler as a list: names, help, passes and the verifier
// that runs after each. Everything comes from Phases.def.
#ifndef ASTRA_PASSES_PHASES_H
#define ASTRA_PASSES_PHASES_H

#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace astra {

enum class Phase {
#define PHASE(name, create, allowed, forbidden, doc) name,
#include "passes/Phases.def"
};

struct PhaseInfo {
  Phase phase;
  const char *name;
  const char *doc;
  const char *allowed;
  const char *forbidden;
};
llvm::ArrayRef<PhaseInfo> getPhases();
std::optional<Phase> getPhase(llvm::StringRef name);

/// Adds the passes after `from` up to `to`, each followed by its verifier.
void addPhases(mlir::OpPassManager &passes, Phase from, Phase to,
               const LowerToLLVMPassOptions &options,
               const FusePassOptions &fusing = {});

/// Gives every tensor of every export (of the phase `astra`) one more axis in
/// front: a call computes a batch, each row of it as the export would alone.
void batchExports(mlir::ModuleOp module);

/// What the verifier of a phase says of a module: success, or a diagnostic.
mlir::LogicalResult verifyPhase(mlir::ModuleOp module, Phase phase);

} // namespace astra
#endif // ASTRA_PASSES_PHASES_H
