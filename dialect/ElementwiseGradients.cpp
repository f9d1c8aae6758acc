// Derivatives of the elementwise operations. The Jacobian of such an operation
// is diagonal for each operand, so one formula, d times the partial derivative,
// is both the cotangent of an operand and its part of the tangent. Formulas are
// chosen to stay finite and exact at the edges (see docs/differentiation.md).
#include "dialect/Builder.h"
#include "kernels/math/Order.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace numbers = llvm::numbers;

namespace astra {

template <typename OpTy>
static LogicalResult elementwiseVjp(OpTy op, OpBuilder &builder, Value d,
                                    SmallVectorImpl<Value> &cotangents) {
  RuleBuilder r(builder, op.getLoc());
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (isFloatTensor(op->getOperand(i)))
      cotangents[i] = partial(r, op, i, d);
  return success();
}

template <typename OpTy>
static LogicalResult elementwiseJvp(OpTy op, OpBuilder &builder,
                                    ValueRange tangents,
                                    SmallVectorImpl<Value> &results) {
  RuleBuilder r(builder, op.getLoc());
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (tangents[i])
      results[0] = r.add(results[0], partial(r, op, i, tangents[i]));
  return success();
}

#define ASTRA_DEFINE_RULES(OP)                                                 \
  LogicalResult OP::buildVjp(OpBuilder &builder, ValueRange cotangents,        \
                             SmallVectorImpl<Value> &operandCotangents) {      \
    return elementwiseVjp(*this, builder, cotangents[0], operandCotangents);   \
  }                                                                            \
  LogicalResult OP::buildJvp(OpBuilder &builder, ValueRange tangents,          \
                             SmallVectorImpl<Value> &resultTangents) {         \
    return elementwiseJvp(*this, builder, tangents, resultTangents);           \
  }

/// x is the operand, y the result, d what the derivative is multiplied with.
#define ASTRA_UNARY_RULE(NAME, FORMULA)                                        \
  static Value partial(RuleBuilder &r, NAME##Op op, unsigned, Value d) {       \
    [[maybe_unused]] Value x = op->getOperand(0), y = op->getResult(0);        \
    return FORMULA;                                                            \
  }

/// a and b are the operands, y the result, i the operand asked for.
#define ASTRA_BINARY_RULE(NAME, FORMULA_A, FORMULA_B)                          \
  static Value partial(RuleBuilder &r, NAME##Op op, unsigned i, Value d) {     \
    [[maybe_unused]] Value a = op->getOperand(0), b = op->getOperand(1),       \
                           y = op->getResult(0);                               \
    return i == 0 ? (FORMULA_A) : (FORMULA_B);                                 \
  }

//===-- One operand -------------------------------------------------------===//

static Value one(RuleBuilder &r, Value like) { return r.splatLike(like, 1); }
static Value sigmoid(RuleBuilder &r, Value x) { return r.unary<SigmoidOp>(x); }
/// s(x) s(-x) as sech2(x / 2) / 4: its own derivatives keep their digits at 0
/// too, where those of the product are differences.
static Value sigmoidSlope(RuleBuilder &r, Value x) {
  return r.scale(r.unary<Sech2Op>(r.scale(x, 0.5)), 0.25);
}

ASTRA_UNARY_RULE(Neg, r.neg(d))
ASTRA_UNARY_RULE(Abs, r.mul(d, r.unary<SignOp>(x)))
ASTRA_UNARY_RULE(Exp, r.mul(d, y))
ASTRA_UNARY_RULE(Exp2, r.mul(d, r.scale(y, numbers::ln2)))
// Not y + 1, which has lost its digits where y is near -1.
ASTRA_UNARY_RULE(Expm1, r.mul(d, r.unary<ExpOp>(x)))
ASTRA_UNARY_RULE(Log, r.div(d, x))
ASTRA_UNARY_RULE(Log1p, r.div(d, r.add(x, one(r, x))))
ASTRA_UNARY_RULE(Log2, r.div(d, r.scale(x, numbers::ln2)))
ASTRA_UNARY_RULE(Log10, r.div(d, r.scale(x, numbers::ln10)))
ASTRA_UNARY_RULE(Sqrt, r.div(r.scale(d, 0.5), y))
ASTRA_UNARY_RULE(Rsqrt, r.mul(r.scale(d, -0.5), r.mul(y, r.square(y))))
ASTRA_UNARY_RULE(Cbrt, r.div(d, r.scale(r.square(y), 3)))
ASTRA_UNARY_RULE(Sin, r.mul(d, r.unary<CosOp>(x)))
ASTRA_UNARY_RULE(Cos, r.neg(r.mul(d, r.unary<SinOp>(x))))
ASTRA_UNARY_RULE(Tan, r.mul(d, r.add(r.square(y), one(r, y))))
ASTRA_UNARY_RULE(Sinh, r.mul(d, r.unary<CoshOp>(x)))
ASTRA_UNARY_RULE(Cosh, r.mul(d, r.unary<SinhOp>(x)))
ASTRA_UNARY_RULE(Tanh, r.mul(d, r.unary<Sech2Op>(x)))
ASTRA_UNARY_RULE(Sech2, r.mul(d, r.scale(r.mul(y, r.unary<TanhOp>(x)), -2)))
ASTRA_UNARY_RULE(Atan, r.div(d, r.add(r.square(x), one(r, x))))
ASTRA_UNARY_RULE(Sigmoid, r.mul(d, sigmoidSlope(r, x)))
ASTRA_UNARY_RULE(LogSigmoid, r.mul(d, sigmoid(r, r.neg(x))))
ASTRA_UNARY_RULE(Softplus, r.mul(d, sigmoid(r, x)))
ASTRA_UNARY_RULE(Erf, r.mul(d, r.scale(r.unary<ExpOp>(r.neg(r.square(x))),
                                       2 * numbers::inv_sqrtpi)))
ASTRA_UNARY_RULE(Erfc, r.mul(d, r.scale(r.unary<ExpOp>(r.neg(r.square(x))),
                                        -2 * numbers::inv_sqrtpi)))
ASTRA_UNARY_RULE(Erfinv, r.mul(d, r.scale(r.unary<ExpOp>(r.square(y)),
                                          0.5 / numbers::inv_sqrtpi)))
ASTRA_UNARY_RULE(Lgamma, r.mul(d, r.unary<DigammaOp>(x)))
ASTRA_UNARY_RULE(Digamma, r.mul(d, r.unary<TrigammaOp>(x)))

/// The operation of a higher order.
template <typename OpTy>
static Value ofOrder(RuleBuilder &r, Value x, int64_t order) {
  return r.make<OpTy>(x.getType(), {x}, {r.integer("order", order)});
}
#define ASTRA_ORDERED_RULE(OP)                                                 \
  static Value partial(RuleBuilder &r, OP op, unsigned, Value d) {             \
    return r.mul(d, ofOrder<OP>(r, op.getX(), int64_t(op.getOrder()) + 1));    \
  }                                                                            \
  StringRef OP::nonDifferentiableReason() {                                    \
    return int64_t(getOrder()) < MaxOrder                                      \
               ? ""                                                            \
               : "it is a derivative of order 32 itself, the highest there "   \
                 "is";                                                         \
  }
ASTRA_UNARY_RULE(Trigamma, r.mul(d, ofOrder<PolygammaOp>(r, x, 2)))
ASTRA_ORDERED_RULE(PolygammaOp)
ASTRA_ORDERED_RULE(SincOp)
ASTRA_ORDERED_RULE(ExprelOp)

/// 1 / sqrt(1 - x^2), factored so that it is exact near -1 and 1.
static Value arcSlope(RuleBuilder &r, Value x) {
  Value below = r.sub(one(r, x), x), above = r.add(x, one(r, x));
  return r.unary<RsqrtOp>(r.mul(below, above));
}
ASTRA_UNARY_RULE(Asin, r.mul(d, arcSlope(r, x)))
ASTRA_UNARY_RULE(Acos, r.neg(r.mul(d, arcSlope(r, x))))

/// 0 at the tie, and what is NaN stays so.
ASTRA_UNARY_RULE(Relu, r.select(r.compare<LeOp>(x, r.splatLike(x, 0)),
                                r.splatLike(d, 0), d))

/// x, an infinity as the largest number: times a factor that is 0 there, it
/// gives the limit. Made beside that product, so that it moves no other.
static Value finite(RuleBuilder &r, Value x) {
  auto element = cast<FloatType>(typeOf(x).getElementType());
  double most =
      APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
  Value above = r.binary<MaximumOp>(x, r.splatLike(x, -most));
  return r.binary<MinimumOp>(above, r.splatLike(x, most));
}

/// s + x s', with s the logistic function.
static Value siluSlope(RuleBuilder &r, Value x) {
  Value s = sigmoid(r, x), slope = sigmoidSlope(r, x);
  return r.add(s, r.mul(finite(r, x), slope));
}
ASTRA_UNARY_RULE(Silu, r.mul(d, siluSlope(r, x)))

/// P(x) + x p(x), with P the normal distribution and p its density.
static Value geluSlope(RuleBuilder &r, Value x) {
  Value tail = r.unary<ErfcOp>(r.scale(x, -numbers::sqrt2 / 2));
  Value bell = r.unary<ExpOp>(r.scale(r.square(x), -0.5));
  Value density = r.scale(bell, numbers::inv_sqrtpi / numbers::sqrt2);
  Value half = r.scale(tail, 0.5);
  return r.add(half, r.mul(finite(r, x), density));
}
ASTRA_UNARY_RULE(Gelu, r.mul(d, geluSlope(r, x)))

// Piecewise constant: the derivative is 0 wherever there is one.
ASTRA_UNARY_RULE(Sign, Value())
ASTRA_UNARY_RULE(Floor, Value())
ASTRA_UNARY_RULE(Ceil, Value())
ASTRA_UNARY_RULE(Round, Value())

static Value partial(RuleBuilder &r, PowIntOp op, unsigned, Value d) {
  int64_t exponent = op.getExponent();
  Value x = op->getOperand(0);
  if (exponent == 0)
    return nullptr;
  if (exponent == 1)
    return d;
  Value power = exponent == 2
                    ? x
                    : r.make<PowIntOp>(x.getType(), {x},
                                       {r.integer("exponent", exponent - 1)});
  return r.mul(d, r.scale(power, exponent));
}

//===-- Two operands ------------------------------------------------------===//

ASTRA_BINARY_RULE(Add, d, d)
ASTRA_BINARY_RULE(Sub, d, r.neg(d))
ASTRA_BINARY_RULE(Mul, r.mul(d, b), r.mul(d, a))
ASTRA_BINARY_RULE(Div, r.div(d, b), r.neg(r.mul(r.div(d, b), y)))
ASTRA_BINARY_RULE(Rem, d, r.neg(r.mul(d, r.unary<FloorOp>(r.div(a, b)))))

/// b * a^(b - 1), and 0 for an exponent 0 whatever the base.
static Value powSlopeOfBase(RuleBuilder &r, Value a, Value b, Value d) {
  if (auto exponent = splatOf(b)) {
    if (*exponent == 0)
      return nullptr;
    Value power = r.binary<PowOp>(a, r.splatLike(b, *exponent - 1));
    return r.mul(d, r.scale(power, *exponent));
  }
  Value power = r.binary<PowOp>(a, r.sub(b, one(r, b)));
  Value zero = r.splatLike(b, 0);
  return r.select(r.compare<EqOp>(b, zero), r.splatLike(d, 0),
                  r.mul(d, r.mul(b, power)));
}
/// a^b * log(a), and 0 at base 0 unless the power itself is infinite there.
static Value powSlopeOfExponent(RuleBuilder &r, Value a, Value b, Value y,
                                Value d) {
  Value zero = r.splatLike(a, 0);
  Value flat =
      r.binary<AndOp>(r.compare<EqOp>(a, zero), r.compare<GeOp>(b, zero));
  return r.select(flat, r.splatLike(d, 0),
                  r.mul(d, r.mul(y, r.unary<LogOp>(a))));
}
ASTRA_BINARY_RULE(Pow, powSlopeOfBase(r, a, b, d),
                  powSlopeOfExponent(r, a, b, y, d))

/// d * v / (a^2 + b^2), and 0 at the origin.
static Value atan2Slope(RuleBuilder &r, Value a, Value b, Value v, Value d) {
  Value radius = r.add(r.square(a), r.square(b));
  Value zero = r.splatLike(radius, 0);
  return r.select(r.compare<EqOp>(radius, zero), zero,
                  r.div(r.mul(d, v), radius));
}
ASTRA_BINARY_RULE(Atan2, atan2Slope(r, a, b, b, d),
                  r.neg(atan2Slope(r, a, b, a, d)))

/// Half to each operand at a tie; nothing to the one that lost.
template <typename Lost>
static Value extremumShare(RuleBuilder &r, Value own, Value other, Value d) {
  Value shared = r.select(r.compare<EqOp>(own, other), r.scale(d, 0.5), d);
  return r.select(r.compare<Lost>(own, other), r.splatLike(d, 0), shared);
}
ASTRA_BINARY_RULE(Maximum, extremumShare<LtOp>(r, a, b, d),
                  extremumShare<LtOp>(r, b, a, d))
ASTRA_BINARY_RULE(Minimum, extremumShare<GtOp>(r, a, b, d),
                  extremumShare<GtOp>(r, b, a, d))

ASTRA_DEFINE_RULES(NegOp)
ASTRA_DEFINE_RULES(AbsOp)
ASTRA_DEFINE_RULES(SignOp)
ASTRA_DEFINE_RULES(FloorOp)
ASTRA_DEFINE_RULES(CeilOp)
ASTRA_DEFINE_RULES(RoundOp)
ASTRA_DEFINE_RULES(ExpOp)
ASTRA_DEFINE_RULES(Exp2Op)
ASTRA_DEFINE_RULES(Expm1Op)
ASTRA_DEFINE_RULES(LogOp)
ASTRA_DEFINE_RULES(Log1pOp)
ASTRA_DEFINE_RULES(Log2Op)
ASTRA_DEFINE_RULES(Log10Op)
ASTRA_DEFINE_RULES(SqrtOp)
ASTRA_DEFINE_RULES(RsqrtOp)
ASTRA_DEFINE_RULES(CbrtOp)
ASTRA_DEFINE_RULES(SinOp)
ASTRA_DEFINE_RULES(CosOp)
ASTRA_DEFINE_RULES(TanOp)
ASTRA_DEFINE_RULES(AsinOp)
ASTRA_DEFINE_RULES(AcosOp)
ASTRA_DEFINE_RULES(AtanOp)
ASTRA_DEFINE_RULES(SinhOp)
ASTRA_DEFINE_RULES(CoshOp)
ASTRA_DEFINE_RULES(TanhOp)
ASTRA_DEFINE_RULES(Sech2Op)
ASTRA_DEFINE_RULES(SigmoidOp)
ASTRA_DEFINE_RULES(LogSigmoidOp)
ASTRA_DEFINE_RULES(SoftplusOp)
ASTRA_DEFINE_RULES(ReluOp)
ASTRA_DEFINE_RULES(GeluOp)
ASTRA_DEFINE_RULES(SiluOp)
ASTRA_DEFINE_RULES(ErfOp)
ASTRA_DEFINE_RULES(ErfcOp)
ASTRA_DEFINE_RULES(ErfinvOp)
ASTRA_DEFINE_RULES(LgammaOp)
ASTRA_DEFINE_RULES(DigammaOp)
ASTRA_DEFINE_RULES(TrigammaOp)
ASTRA_DEFINE_RULES(PolygammaOp)
ASTRA_DEFINE_RULES(SincOp)
ASTRA_DEFINE_RULES(ExprelOp)
ASTRA_DEFINE_RULES(PowIntOp)
ASTRA_DEFINE_RULES(AddOp)
ASTRA_DEFINE_RULES(SubOp)
ASTRA_DEFINE_RULES(MulOp)
ASTRA_DEFINE_RULES(DivOp)
ASTRA_DEFINE_RULES(RemOp)
ASTRA_DEFINE_RULES(PowOp)
ASTRA_DEFINE_RULES(Atan2Op)
ASTRA_DEFINE_RULES(MaximumOp)
ASTRA_DEFINE_RULES(MinimumOp)

//===-- Conversion --------------------------------------------------------===//

LogicalResult ConvertOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                  SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  operandCotangents[0] =
      r.convert(cotangents[0], typeOf(getX()).getElementType());
  return success();
}
LogicalResult ConvertOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                  SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  resultTangents[0] = r.convert(tangents[0], getType().getElementType());
  return success();
}

//===-- Select ------------------------------------------------------------===//

LogicalResult SelectOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                 SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  Value d = cotangents[0], zero = r.splatLike(d, 0);
  operandCotangents[1] = r.select(getCondition(), d, zero);
  operandCotangents[2] = r.select(getCondition(), zero, d);
  return success();
}
LogicalResult SelectOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                 SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  auto orZero = [&](Value t) {
    return t ? t : r.splat(getResult().getType(), 0);
  };
  resultTangents[0] =
      r.select(getCondition(), orZero(tangents[1]), orZero(tangents[2]));
  return success();
}

} // namespace astra
