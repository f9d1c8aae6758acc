// Checks of the random operations.
#include "dialect/Checks.h"

using namespace mlir;

namespace astra {

LogicalResult RandomBitsOp::verify() {
  if (!getType().getElementType().isUnsignedInteger(32))
    return emitOpError("(C1) the elements must be ui32, not ")
           << getType().getElementType();
  return success();
}

LogicalResult RandomSplitOp::verify() {
  TensorType type = getType();
  if (!type.getElementType().isUnsignedInteger(32) || type.getRank() != 2 ||
      !type.getDim(1).isConstant(2))
    return emitOpError("(C1) the result must be ui32 of shape [n, 2], not ")
           << type;
  return success();
}

} // namespace astra
