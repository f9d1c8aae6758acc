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

/// Sums of negated floats, as derivatives of a difference are: to take the sum
/// from +0 gives the same bits with a pass over all elements less. Every
/// partial sum is the other one negated, but for a zero, which is +0 in both.
static void negateAfterSums(Operation *root) {
  root->walk([](SumOp op) {
    auto negated = op.getX().getDefiningOp<NegOp>();
    if (!negated || !negated->hasOneUse() || !isFloatTensor(op.getType()))
      return;
    op.getXMutable().assign(negated.getX());
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    Type element = getTensorType(op.getResult()).getElementType();
    auto zero = ConstOp::create(builder, op.getLoc(), op.getType(),
                                builder.getFloatAttr(element, 0));
    auto result = SubOp::create(builder, op.getLoc(), zero, op.getResult());
    op.getResult().replaceAllUsesExcept(result, result);
    negated.erase();
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
    negateAfterSums(getOperation());
    OpPassManager passes(ModuleOp::getOperationName());
    OpPassManager &functions = passes.nest<func::FuncOp>();
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
    functions.addPass(createCanonicalizerPass());
    if (failed(runPipeline(passes, getOperation())))
      return signalPassFailure();
    if (!kernels)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      fuseBlocks(function);
      recomputeCheapResults(function);
    }
  }
};
} // namespace
