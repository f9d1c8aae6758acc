// The pass `fused`: folds and canonical forms, common values, dead code. Fusion
// of loops will live here; until then a kernel call is one operation. Nothing
// here may change a rounding: folds of numbers are the operations' own, by the
// rules of the arithmetic.
#include "passes/Passes.h"

#include "dialect/AstraDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace astra;

namespace astra {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"
} // namespace astra

namespace {
class Fuse : public astra::impl::FusePassBase<Fuse> {
public:
  void runOnOperation() final {
    OpPassManager passes(ModuleOp::getOperationName());
    OpPassManager &functions = passes.nest<func::FuncOp>();
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
    functions.addPass(createCanonicalizerPass());
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace
