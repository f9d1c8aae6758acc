#include "passes/ReverseMode.h"
using namespace mlir;
namespace astra {
LogicalResult ReverseMode::reverseLoop(Operation *op, ArrayRef<Value>,
                                       Cotangents &) {
  return op->emitError("not yet");
}
} // namespace astra
