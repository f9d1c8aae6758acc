// The pass that replaces `map` by the same operations over a batch: see
// BatchMode.h.
#include "mlir/Pass/Pass.h"
#include "passes/BatchMode.h"
#include "passes/TransformPasses.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

namespace {

struct BatchPass : PassWrapper<BatchPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BatchPass)
  StringRef getArgument() const final { return "astra-batch"; }
  StringRef getDescription() const final {
    return "Replace maps by operations over the whole batch";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<AstraDialect>();
  }

  void runOnOperation() final {
    SmallVector<MapOp> maps;
    getOperation().walk([&](MapOp op) { maps.push_back(op); }); // inner first
    for (MapOp op : maps)
      if (failed(expandMap(op)))
        return signalPassFailure();
    if (!maps.empty())
      cleanUp(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> createBatchPass() {
  return std::make_unique<BatchPass>();
}

} // namespace astra
