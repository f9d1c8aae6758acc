// See Phases.h.
#include "passes/Phases.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/TransformPasses.h"

using namespace mlir;
using namespace astra;

static constexpr PhaseInfo phaseTable[] = {
#define PHASE(name, create, allowed, forbidden, doc)                           \
  {Phase::name, #name, doc, allowed, forbidden},
#include "passes/Phases.def"
};

ArrayRef<PhaseInfo> astra::getPhases() { return phaseTable; }

std::optional<Phase> astra::getPhase(StringRef name) {
  for (const PhaseInfo &info : phaseTable)
    if (name == info.name)
      return info.phase;
  return std::nullopt;
}

static bool contains(StringRef words, StringRef word) {
  SmallVector<StringRef> list;
  words.split(list, ' ', -1, /*KeepEmpty=*/false);
  return llvm::is_contained(list, word);
}

LogicalResult astra::verifyPhase(ModuleOp module, Phase phase) {
  const PhaseInfo &info = phaseTable[unsigned(phase)];
  StringRef allowed = info.allowed, forbidden = info.forbidden;
  WalkResult result = module.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (contains(forbidden, name) ||
        !contains(allowed, op->getName().getDialectNamespace())) {
      op->emitError() << "\"" << name << "\" may not be left after the phase `"
                      << info.name << "`";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
class VerifyPhase : public PassWrapper<VerifyPhase, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPhase)
  explicit VerifyPhase(Phase phase) : phase(phase) {}
  void runOnOperation() final {
    if (failed(verifyPhase(getOperation(), phase)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  Phase phase;
};

/// For phases that no pass leads to.
std::unique_ptr<Pass> none() { return nullptr; }

/// The pass of a row; those with options take them.
std::unique_ptr<Pass> createPass(Phase phase,
                                 const LowerToLLVMPassOptions &options,
                                 const FusePassOptions &fusing) {
  if (phase == Phase::fused)
    return createFusePass(fusing);
  if (phase == Phase::llvm)
    return createLowerToLLVMPass(options);
  switch (phase) {
#define PHASE(name, make, allowed, forbidden, doc)                             \
  case Phase::name:                                                            \
    return make();
#include "passes/Phases.def"
  }
  return nullptr;
}
} // namespace

void astra::addPhases(OpPassManager &passes, Phase from, Phase to,
                      const LowerToLLVMPassOptions &options,
                      const FusePassOptions &fusing) {
  for (const PhaseInfo &info : phaseTable) {
    if (info.phase <= from || info.phase > to)
      continue;
    auto pass = createPass(info.phase, options, fusing);
    if (!pass)
      continue;
    passes.addPass(std::move(pass));
    passes.addPass(std::make_unique<VerifyPhase>(info.phase));
  }
}
