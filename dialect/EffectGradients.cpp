// The derivative of `debug`: the value passes, and nothing more is printed.
#include "dialect/Builder.h"

using namespace mlir;

namespace astra {

LogicalResult DebugOp::buildVjp(OpBuilder &, ValueRange cotangents,
                                SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents[0] = cotangents[0];
  return success();
}
LogicalResult DebugOp::buildJvp(OpBuilder &, ValueRange tangents,
                                SmallVectorImpl<Value> &resultTangents) {
  resultTangents[0] = tangents[0];
  return success();
}

} // namespace astra
