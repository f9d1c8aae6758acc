// See StageSlots.h.
#include "passes/StageSlots.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace astra;

static StringRef getKind(calls::StageOp stage, int64_t slot) {
  auto kinds = stage->getParentOfType<calls::FusedOp>().getKinds();
  return cast<StringAttr>(kinds[slot]).getValue();
}

StringRef astra::getInputKind(calls::StageOp stage, unsigned input) {
  return getKind(stage, stage.getInputs()[input]);
}

StringRef astra::getOutputKind(calls::StageOp stage, unsigned output) {
  return getKind(stage, stage.getOutputs()[output]);
}

bool astra::isPerRow(calls::StageOp stage, unsigned input) {
  StringRef kind = getInputKind(stage, input);
  return kind != "arg" && kind != "row";
}

bool astra::isFolded(calls::StageOp stage, unsigned output) {
  StringRef kind = getOutputKind(stage, output);
  return kind != "arg" && kind != "row" && kind != "scalar";
}

/// The stages of the kernel that pass over rows, in their order.
static SmallVector<calls::StageOp> findPasses(calls::StageOp stage) {
  auto stages = stage->getParentOfType<calls::FusedOp>()
                    .getBody()
                    .getOps<calls::StageOp>();
  return llvm::filter_to_vector(
      stages, [](calls::StageOp other) { return !other.getPerRow(); });
}

bool astra::isReadAgain(calls::StageOp stage, unsigned input) {
  if (getInputKind(stage, input) != "arg")
    return false;
  int64_t slot = stage.getInputs()[input];
  SmallVector<calls::StageOp> passes = findPasses(stage);
  llvm::erase_if(passes, [&](calls::StageOp other) {
    return !llvm::is_contained(other.getInputs(), slot);
  });
  return passes.size() > 1 && passes[1] == stage;
}

/// Whether a pass computes an elementary function.
static bool takesLong(calls::StageOp stage) {
  return llvm::any_of(stage.getBody().front().getOps<calls::ApplyOp>(),
                      [](calls::ApplyOp apply) {
                        return llvm::StringSwitch<bool>(
                                   apply.getKernel().rsplit('_').first)
#define ASTRA_UNARY(name, implementation) .Case(#name, true)
#define ASTRA_BINARY(name, implementation) .Case(#name, true)
#define ASTRA_ORDERED(name, implementation) .Case(#name, true)
#include "kernels/math/Elementary.def"
                            .Default(false);
                      });
}

int32_t astra::getElementsOfBatch(calls::StageOp stage) {
  auto kinds = stage->getParentOfType<calls::FusedOp>().getKinds();
  bool isSoftmax =
      llvm::is_contained(kinds.getAsValueRange<StringAttr>(), "top");
  return isSoftmax ? 3072 : 2048;
}

int32_t astra::getWrittenAhead(calls::StageOp stage, unsigned output) {
  if (getOutputKind(stage, output) != "arg" || stage.getPerRow())
    return 0;
  int64_t slot = stage.getOutputs()[output];
  SmallVector<calls::StageOp> passes = findPasses(stage);
  passes.erase(passes.begin());
  llvm::erase_if(passes, [&](calls::StageOp other) {
    return !llvm::is_contained(other.getOutputs(), slot);
  });
  if (passes.empty())
    return 0;
  if (takesLong(passes.front()))
    return passes.front() == stage ? 1024 : 0;
  return passes.back() == stage ? getElementsOfBatch(stage) : 0;
}
