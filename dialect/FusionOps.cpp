// Checks of fused regions.
#include "dialect/RegionChecks.h"

using namespace mlir;

namespace astra {

LogicalResult FusedOp::verify() {
  if (failed(checkArguments(*this, getBody(), getInputs().getTypes(), "(C1)")))
    return failure();
  return checkYields(*this, getBody(), getResultTypes(), "(C2)");
}

} // namespace astra
