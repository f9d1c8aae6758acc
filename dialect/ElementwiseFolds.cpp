// Folds of elementwise operations. All are exact: integers and bools are
// computed, floats only where no bit can change (x * 1, x - 0, but not x + 0,
// which turns -0 into 0). Elementary functions are not folded here: their one
// definition is the kernels'.
#include "dialect/Checks.h"

using namespace mlir;
using llvm::APFloat;
using llvm::APInt;

namespace astra {

static Type elementOf(Operation *op) {
  return getTensorType(op->getResult(0)).getElementType();
}
static bool isUnsigned(Operation *op) {
  return getTensorType(op->getOperand(0)).isUnsigned() ||
         getTensorType(op->getOperand(0)).isBool();
}
static Attribute intAttr(Operation *op, const APInt &value) {
  return IntegerAttr::get(elementOf(op), value);
}
static Attribute boolAttr(Operation *op, bool value) {
  return BoolAttr::get(op->getContext(), value);
}

using IntRule = llvm::function_ref<std::optional<APInt>(APInt, APInt)>;

/// Both operands are the same constant integer everywhere.
static Attribute foldInts(Operation *op, ArrayRef<Attribute> operands,
                          IntRule rule) {
  std::optional<APInt> lhs = getSplatInt(operands[0]);
  std::optional<APInt> rhs = getSplatInt(operands[1]);
  if (!lhs || !rhs)
    return {};
  std::optional<APInt> value = rule(*lhs, *rhs);
  return value ? intAttr(op, *value) : Attribute();
}

static bool isInt(Attribute attr, int64_t value) {
  std::optional<APInt> splat = getSplatInt(attr);
  return splat && *splat == APInt(splat->getBitWidth(), value, true, true);
}
static bool isOne(Attribute attr) {
  std::optional<APFloat> splat = getSplatFloat(attr);
  return splat ? splat->isExactlyValue(1.0) : isInt(attr, 1);
}

//===-- Arithmetic --------------------------------------------------------===//

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NegOp>())
    return inner.getX();
  if (std::optional<APInt> value = getSplatInt(adaptor.getX()))
    return intAttr(*this, -*value);
  if (std::optional<APFloat> value = getSplatFloat(adaptor.getX()))
    return FloatAttr::get(elementOf(*this), -*value);
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isInt(adaptor.getRhs(), 0))
    return getLhs();
  std::optional<APFloat> rhs = getSplatFloat(adaptor.getRhs());
  if (rhs && rhs->isNegZero())
    return getLhs();
  return foldInts(*this, adaptor.getOperands(),
                  [](APInt a, APInt b) { return a + b; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isInt(adaptor.getRhs(), 0))
    return getLhs();
  std::optional<APFloat> rhs = getSplatFloat(adaptor.getRhs());
  if (rhs && rhs->isPosZero())
    return getLhs();
  return foldInts(*this, adaptor.getOperands(),
                  [](APInt a, APInt b) { return a - b; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isOne(adaptor.getRhs()))
    return getLhs();
  if (isInt(adaptor.getRhs(), 0))
    return adaptor.getRhs();
  return foldInts(*this, adaptor.getOperands(),
                  [](APInt a, APInt b) { return a * b; });
}

/// Quotient rounded down; the least number divided by -1 stays as it is.
static APInt floorDiv(const APInt &a, const APInt &b, bool isUnsigned) {
  if (isUnsigned)
    return a.udiv(b);
  APInt quotient = a.sdiv(b), remainder = a.srem(b);
  bool inexact = !remainder.isZero();
  return inexact && remainder.isNegative() != b.isNegative() ? quotient - 1
                                                             : quotient;
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isOne(adaptor.getRhs()))
    return getLhs();
  bool isUnsigned = astra::isUnsigned(*this);
  return foldInts(*this, adaptor.getOperands(),
                  [=](APInt a, APInt b) -> std::optional<APInt> {
                    if (b.isZero())
                      return std::nullopt;
                    return floorDiv(a, b, isUnsigned);
                  });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  bool isUnsigned = astra::isUnsigned(*this);
  return foldInts(*this, adaptor.getOperands(),
                  [=](APInt a, APInt b) -> std::optional<APInt> {
                    if (b.isZero())
                      return std::nullopt;
                    return a - floorDiv(a, b, isUnsigned) * b;
                  });
}

OpFoldResult PowIntOp::fold(FoldAdaptor) {
  return getExponent() == 1 ? OpFoldResult(getX()) : OpFoldResult();
}

//===-- Bits --------------------------------------------------------------===//

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NotOp>())
    return inner.getX();
  if (std::optional<APInt> value = getSplatInt(adaptor.getX()))
    return intAttr(*this, ~*value);
  return {};
}

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isInt(adaptor.getRhs(), -1))
    return getLhs();
  if (isInt(adaptor.getLhs(), -1))
    return getRhs();
  if (isInt(adaptor.getRhs(), 0))
    return adaptor.getRhs();
  if (isInt(adaptor.getLhs(), 0))
    return adaptor.getLhs();
  return foldInts(*this, adaptor.getOperands(),
                  [](APInt a, APInt b) { return a & b; });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isInt(adaptor.getRhs(), 0))
    return getLhs();
  if (isInt(adaptor.getLhs(), 0))
    return getRhs();
  if (isInt(adaptor.getRhs(), -1))
    return adaptor.getRhs();
  if (isInt(adaptor.getLhs(), -1))
    return adaptor.getLhs();
  return foldInts(*this, adaptor.getOperands(),
                  [](APInt a, APInt b) { return a | b; });
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (isInt(adaptor.getRhs(), 0))
    return getLhs();
  return foldInts(*this, adaptor.getOperands(),
                  [](APInt a, APInt b) { return a ^ b; });
}

OpFoldResult ShiftLeftOp::fold(FoldAdaptor adaptor) {
  if (isInt(adaptor.getRhs(), 0))
    return getLhs();
  return foldInts(*this, adaptor.getOperands(),
                  [](APInt a, APInt b) -> std::optional<APInt> {
                    if (b.uge(a.getBitWidth()))
                      return std::nullopt;
                    return a.shl(b);
                  });
}

OpFoldResult ShiftRightOp::fold(FoldAdaptor adaptor) {
  if (isInt(adaptor.getRhs(), 0))
    return getLhs();
  bool isUnsigned = astra::isUnsigned(*this);
  return foldInts(*this, adaptor.getOperands(),
                  [=](APInt a, APInt b) -> std::optional<APInt> {
                    if (b.uge(a.getBitWidth()))
                      return std::nullopt;
                    return isUnsigned ? a.lshr(b) : a.ashr(b);
                  });
}

//===-- Comparisons, select and conversions -------------------------------===//

/// `test` gets -1, 0 or 1 as lhs is less than, equal to or greater than rhs;
/// `unordered` is the answer where one of them is NaN.
static Attribute foldCompare(Operation *op, ArrayRef<Attribute> operands,
                             bool unordered,
                             llvm::function_ref<bool(int)> test) {
  std::optional<APInt> a = getSplatInt(operands[0]);
  std::optional<APInt> b = getSplatInt(operands[1]);
  if (a && b) {
    bool less = isUnsigned(op) ? a->ult(*b) : a->slt(*b);
    return boolAttr(op, test(less ? -1 : *a == *b ? 0 : 1));
  }
  std::optional<APFloat> x = getSplatFloat(operands[0]);
  std::optional<APFloat> y = getSplatFloat(operands[1]);
  if (!x || !y)
    return {};
  switch (x->compare(*y)) {
  case APFloat::cmpLessThan:
    return boolAttr(op, test(-1));
  case APFloat::cmpEqual:
    return boolAttr(op, test(0));
  case APFloat::cmpGreaterThan:
    return boolAttr(op, test(1));
  case APFloat::cmpUnordered:
    return boolAttr(op, unordered);
  }
  return {};
}

#define ASTRA_COMPARE_FOLD(Op, unordered, condition)                           \
  OpFoldResult Op::fold(FoldAdaptor adaptor) {                                 \
    return foldCompare(*this, adaptor.getOperands(), unordered,                \
                       [](int order) { return condition; });                   \
  }
ASTRA_COMPARE_FOLD(EqOp, false, order == 0)
ASTRA_COMPARE_FOLD(NeOp, true, order != 0)
ASTRA_COMPARE_FOLD(LtOp, false, order < 0)
ASTRA_COMPARE_FOLD(LeOp, false, order <= 0)
ASTRA_COMPARE_FOLD(GtOp, false, order > 0)
ASTRA_COMPARE_FOLD(GeOp, false, order >= 0)
#undef ASTRA_COMPARE_FOLD

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getIfTrue() == getIfFalse())
    return getIfTrue();
  if (std::optional<APInt> condition = getSplatInt(adaptor.getCondition()))
    return condition->isZero() ? getIfFalse() : getIfTrue();
  return {};
}

/// Integers and bools to integers, and to floats that hold them exactly.
OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  std::optional<APInt> value = getSplatInt(adaptor.getX());
  if (!value)
    return {};
  bool isUnsigned = astra::isUnsigned(*this);
  if (auto type = dyn_cast<FloatType>(elementOf(*this))) {
    APFloat result(type.getFloatSemantics());
    if (result.convertFromAPInt(*value, !isUnsigned,
                                APFloat::rmNearestTiesToEven) != APFloat::opOK)
      return {};
    return FloatAttr::get(type, result);
  }
  if (getType().isBool())
    return boolAttr(*this, !value->isZero());
  unsigned width = elementOf(*this).getIntOrFloatBitWidth();
  return intAttr(*this, isUnsigned ? value->zextOrTrunc(width)
                                   : value->sextOrTrunc(width));
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}

} // namespace astra
