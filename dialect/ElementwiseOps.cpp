// Shape rules and checks of the elementwise operations. Folds are in
// ElementwiseFolds.cpp.
#include "dialect/Checks.h"
#include "kernels/math/Order.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace astra {

void AstraDialect::registerElementwiseOps() {
  registerAstraDialectOperations(this);
}

//===-- Results that are bool ---------------------------------------------===//

#define ASTRA_BOOL_RESULT(Op)                                                  \
  LogicalResult Op::inferReturnTypes(MLIRContext *context,                     \
                                     std::optional<Location>, Adaptor adaptor, \
                                     SmallVectorImpl<Type> &types) {           \
    TensorType operand = getTensorType(adaptor.getOperands()[0]);              \
    types.push_back(operand.withElement(IntegerType::get(context, 1)));        \
    return success();                                                          \
  }
ASTRA_BOOL_RESULT(IsNanOp)
ASTRA_BOOL_RESULT(IsInfOp)
ASTRA_BOOL_RESULT(EqOp)
ASTRA_BOOL_RESULT(NeOp)
ASTRA_BOOL_RESULT(LtOp)
ASTRA_BOOL_RESULT(LeOp)
ASTRA_BOOL_RESULT(GtOp)
ASTRA_BOOL_RESULT(GeOp)
#undef ASTRA_BOOL_RESULT

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  TensorType value = getTensorType(adaptor.getIfTrue());
  if (adaptor.getIfFalse().getType() != value)
    return broken<SelectOp>(loc, "(C1) the values have types ", value, " and ",
                            adaptor.getIfFalse().getType());
  if (getTensorType(adaptor.getCondition()).getDims() != value.getDims())
    return broken<SelectOp>(loc, "(C2) the condition's shape differs: ",
                            adaptor.getCondition().getType(), " against ",
                            value);
  types.push_back(value);
  return success();
}

//===-- Checks ------------------------------------------------------------===//

LogicalResult PowIntOp::verify() {
  if (static_cast<int64_t>(getExponent()) < 0)
    return emitOpError("(C1) negative exponent ")
           << static_cast<int64_t>(getExponent());
  return success();
}

static LogicalResult verifyOrder(Operation *op, int64_t order) {
  if (order < 0 || order > MaxOrder)
    return op->emitOpError("(C1) order ") << order << " is not within 0..32";
  return success();
}

LogicalResult PolygammaOp::verify() { return verifyOrder(*this, getOrder()); }
LogicalResult SincOp::verify() { return verifyOrder(*this, getOrder()); }
LogicalResult ExprelOp::verify() { return verifyOrder(*this, getOrder()); }

static LogicalResult verifySameShape(Operation *op) {
  TensorType from = getTensorType(op->getOperand(0));
  TensorType to = getTensorType(op->getResult(0));
  if (from.getDims() != to.getDims())
    return op->emitOpError("(C1) the shapes differ: ") << from << " to " << to;
  return success();
}

LogicalResult ConvertOp::verify() { return verifySameShape(*this); }

LogicalResult BitcastOp::verify() {
  if (failed(verifySameShape(*this)))
    return failure();
  unsigned from = getX().getType().getElementType().getIntOrFloatBitWidth();
  unsigned to = getType().getElementType().getIntOrFloatBitWidth();
  if (from != to)
    return emitOpError("(C2) the widths differ: ")
           << from << " and " << to << " bits";
  return success();
}

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value x,
                      Type element) {
  build(builder, state, getTensorType(x).withElement(element), x);
}
void BitcastOp::build(OpBuilder &builder, OperationState &state, Value x,
                      Type element) {
  build(builder, state, getTensorType(x).withElement(element), x);
}

//===-- Run-time failure --------------------------------------------------===//

/// Integers divide by zero; floats never fail.
static bool hasNonzeroDivisor(Value divisor) {
  if (getTensorType(divisor).isFloat())
    return true;
  Attribute value;
  return matchPattern(divisor, m_Constant(&value)) && getSplatInt(value) &&
         !getSplatInt(value)->isZero();
}

bool DivOp::cannotFail() { return hasNonzeroDivisor(getRhs()); }
bool RemOp::cannotFail() { return hasNonzeroDivisor(getRhs()); }

} // namespace astra
