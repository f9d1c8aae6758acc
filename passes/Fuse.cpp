// The pass `fused`: folds and canonical forms, common values, dead code; then
// operations on elements, and folds of rows between them, are gathered into
// kernels of the module's own (Fusion.h). Nothing here may change a rounding:
// folds of numbers are the operations' own, by the rules of the arithmetic, and
// a fused kernel computes what its operations would.
#include "passes/Fusion.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace astra;

namespace astra {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"
} // namespace astra

/// Derivatives have been taken: nothing is left to stop.
static void dropStopGradients(Operation *root) {
  root->walk([](StopGradientOp op) {
    op.getResult().replaceAllUsesWith(op.getX());
    op.erase();
  });
}

static void fuseBlocks(Operation *root) {
  SmallVector<Block *> blocks;
  root->walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    for (const FusionGroup &group : findFusionGroups(*block))
      buildFusedOp(group);
}

namespace {
class Fuse : public astra::impl::FusePassBase<Fuse> {
public:
  using Base = astra::impl::FusePassBase<Fuse>;
  using Base::Base;

  void runOnOperation() final {
    dropStopGradients(getOperation());
    OpPassManager passes(ModuleOp::getOperationName());
    OpPassManager &functions = passes.nest<func::FuncOp>();
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
    functions.addPass(createCanonicalizerPass());
    if (failed(runPipeline(passes, getOperation())))
      return signalPassFailure();
    if (!kernels)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      fuseBlocks(function);
  }
};
} // namespace
