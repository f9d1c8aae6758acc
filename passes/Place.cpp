// The pass `placed`: each function says on which device it runs. There is one
// device, "cpu"; what asks for another is refused here and not later.
#include "passes/Passes.h"

#include "dialect/AstraDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace astra;

namespace astra {
#define GEN_PASS_DEF_PLACEPASS
#include "passes/Passes.h.inc"
} // namespace astra

namespace {
class Place : public astra::impl::PlacePassBase<Place> {
public:
  void runOnOperation() final {
    WalkResult result = getOperation().walk([&](Operation *op) {
      auto device = op->getAttrOfType<StringAttr>(AstraDialect::kDeviceAttr);
      if (!device) {
        if (isa<func::FuncOp>(op))
          op->setAttr(AstraDialect::kDeviceAttr,
                      StringAttr::get(&getContext(), "cpu"));
        return WalkResult::advance();
      }
      StringRef name = device.getValue();
      if (name == "cpu" || name == "cpu:0")
        return WalkResult::advance();
      op->emitError()
          << "E0905: this release makes code for \"cpu\" only, not for \""
          << name << "\"";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
