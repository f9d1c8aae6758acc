// Elementwise operations as kernel calls, and as builtin arithmetic on scalars.
// Generated code computes only what IEEE and two's complement define
// completely, in f32, f64, integers and bools; everything else is a kernel's.
#include "dialect/AstraOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace astra;

LogicalResult astra::buildElementwiseKernels(Operation *op,
                                             KernelBuilder &builder) {
  if (auto select = dyn_cast<SelectOp>(op)) {
    Type element = getTensorType(select.getResult()).getElementType();
    builder.call(
        getWidthKernelName("select", element),
        {builder.getInput(0), builder.getInput(1), builder.getInput(2)},
        {builder.getOutput()}, ArrayRef<Attribute>());
    return success();
  }
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Type from = getTensorType(convert.getX()).getElementType();
    Type to = getTensorType(convert.getResult()).getElementType();
    builder.call("convert_" + getElementName(from) + "_" + getElementName(to),
                 {builder.getInput(0)}, {builder.getOutput()},
                 ArrayRef<Attribute>());
    return success();
  }
  for (StringRef parameter : {"exponent", "order"}) {
    auto value = op->getAttrOfType<IntegerAttr>(parameter);
    if (!value)
      continue;
    Type element = getTensorType(op->getResult(0)).getElementType();
    builder.call(getKernelName(op->getName().stripDialect(), element),
                 {builder.getInput(0)}, {builder.getOutput()},
                 ArrayRef<int64_t>(value.getInt()));
    return success();
  }
  return buildPlainKernels(op, builder);
}

FailureOr<Layout> BitcastOp::buildView(KernelBuilder &, const Layout &source) {
  return source;
}

//===-- Scalars -----------------------------------------------------------===//

namespace {
/// What kind of arithmetic an element type has.
struct Kind {
  explicit Kind(Type element)
      : exactFloat(element.isF32() || element.isF64()),
        isFloat(isa<FloatType>(element)), isBool(element.isInteger(1)),
        isUnsigned(element.isUnsignedInteger() || isBool) {}
  bool exactFloat, isFloat, isBool, isUnsigned;
};

template <typename FloatOp, typename IntOp>
FailureOr<Value> buildBinary(OpBuilder &builder, Location loc, const Kind &kind,
                             ValueRange operands) {
  if (kind.exactFloat)
    return FloatOp::create(builder, loc, operands[0], operands[1]).getResult();
  if (kind.isFloat)
    return failure();
  return IntOp::create(builder, loc, operands[0], operands[1]).getResult();
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
FailureOr<Value> buildExtreme(OpBuilder &builder, Location loc,
                              const Kind &kind, ValueRange operands) {
  return kind.isUnsigned
             ? buildBinary<FloatOp, UnsignedOp>(builder, loc, kind, operands)
             : buildBinary<FloatOp, SignedOp>(builder, loc, kind, operands);
}

template <typename IntOp>
FailureOr<Value> buildBits(OpBuilder &builder, Location loc, const Kind &kind,
                           ValueRange operands) {
  if (kind.isFloat)
    return failure();
  return IntOp::create(builder, loc, operands[0], operands[1]).getResult();
}

FailureOr<Value> buildCompare(OpBuilder &builder, Location loc,
                              const Kind &kind, ValueRange operands,
                              arith::CmpFPredicate real,
                              arith::CmpIPredicate withSign,
                              arith::CmpIPredicate withoutSign) {
  if (kind.exactFloat)
    return arith::CmpFOp::create(builder, loc, real, operands[0], operands[1])
        .getResult();
  if (kind.isFloat)
    return failure();
  return arith::CmpIOp::create(builder, loc,
                               kind.isUnsigned ? withoutSign : withSign,
                               operands[0], operands[1])
      .getResult();
}

Value getZero(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

FailureOr<Value> buildNeg(OpBuilder &builder, Location loc, const Kind &kind,
                          Value x) {
  if (kind.exactFloat)
    return arith::NegFOp::create(builder, loc, x).getResult();
  if (kind.isFloat)
    return failure();
  Value zero = getZero(builder, loc, x.getType());
  return arith::SubIOp::create(builder, loc, zero, x).getResult();
}

FailureOr<Value> buildNot(OpBuilder &builder, Location loc, Value x) {
  Value ones = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(x.getType(), -1));
  return arith::XOrIOp::create(builder, loc, x, ones).getResult();
}

FailureOr<Value> buildToBool(OpBuilder &builder, Location loc, const Kind &from,
                             Value x) {
  Value zero = getZero(builder, loc, x.getType());
  return buildCompare(builder, loc, from, {x, zero}, arith::CmpFPredicate::UNE,
                      arith::CmpIPredicate::ne, arith::CmpIPredicate::ne);
}

FailureOr<Value> buildIntToInt(OpBuilder &builder, Location loc,
                               const Kind &from, Value x, Type type) {
  unsigned width = x.getType().getIntOrFloatBitWidth();
  unsigned target = type.getIntOrFloatBitWidth();
  if (width == target)
    return x;
  if (width > target)
    return arith::TruncIOp::create(builder, loc, type, x).getResult();
  if (from.isUnsigned)
    return arith::ExtUIOp::create(builder, loc, type, x).getResult();
  return arith::ExtSIOp::create(builder, loc, type, x).getResult();
}

FailureOr<Value> buildConvert(OpBuilder &builder, Location loc, Type fromType,
                              Type toType, Value x) {
  Kind from(fromType), to(toType);
  Type type = getScalarType(toType);
  if (to.isBool)
    return buildToBool(builder, loc, from, x);
  if (!from.isFloat && !to.isFloat)
    return buildIntToInt(builder, loc, from, x, type);
  if (!from.isFloat && to.exactFloat) {
    if (from.isUnsigned)
      return arith::UIToFPOp::create(builder, loc, type, x).getResult();
    return arith::SIToFPOp::create(builder, loc, type, x).getResult();
  }
  if (fromType.isF32() && toType.isF64())
    return arith::ExtFOp::create(builder, loc, type, x).getResult();
  if (fromType.isF64() && toType.isF32())
    return arith::TruncFOp::create(builder, loc, type, x).getResult();
  return failure();
}
} // namespace

FailureOr<Value> astra::buildElementwiseScalar(Operation *op,
                                               OpBuilder &builder,
                                               ValueRange operands) {
  using namespace arith;
  Location loc = op->getLoc();
  Type element = getTensorType(op->getOperand(0)).getElementType();
  Kind kind(element);
  using Result = FailureOr<Value>;
  auto compare = [&](CmpFPredicate real, CmpIPredicate withSign,
                     CmpIPredicate withoutSign) {
    return buildCompare(builder, loc, kind, operands, real, withSign,
                        withoutSign);
  };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](AddOp) {
        return buildBinary<AddFOp, AddIOp>(builder, loc, kind, operands);
      })
      .Case([&](SubOp) {
        return buildBinary<SubFOp, SubIOp>(builder, loc, kind, operands);
      })
      .Case([&](MulOp) {
        return buildBinary<MulFOp, MulIOp>(builder, loc, kind, operands);
      })
      .Case([&](DivOp) -> Result {
        if (!kind.exactFloat)
          return failure();
        return DivFOp::create(builder, loc, operands[0], operands[1])
            .getResult();
      })
      .Case([&](MaximumOp) {
        return buildExtreme<MaximumFOp, MaxSIOp, MaxUIOp>(builder, loc, kind,
                                                          operands);
      })
      .Case([&](MinimumOp) {
        return buildExtreme<MinimumFOp, MinSIOp, MinUIOp>(builder, loc, kind,
                                                          operands);
      })
      .Case([&](astra::AndOp) {
        return buildBits<AndIOp>(builder, loc, kind, operands);
      })
      .Case([&](astra::OrOp) {
        return buildBits<OrIOp>(builder, loc, kind, operands);
      })
      .Case([&](astra::XorOp) {
        return buildBits<XOrIOp>(builder, loc, kind, operands);
      })
      .Case([&](NegOp) { return buildNeg(builder, loc, kind, operands[0]); })
      .Case([&](NotOp) { return buildNot(builder, loc, operands[0]); })
      .Case([&](EqOp) {
        return compare(CmpFPredicate::OEQ, CmpIPredicate::eq,
                       CmpIPredicate::eq);
      })
      .Case([&](NeOp) {
        return compare(CmpFPredicate::UNE, CmpIPredicate::ne,
                       CmpIPredicate::ne);
      })
      .Case([&](LtOp) {
        return compare(CmpFPredicate::OLT, CmpIPredicate::slt,
                       CmpIPredicate::ult);
      })
      .Case([&](LeOp) {
        return compare(CmpFPredicate::OLE, CmpIPredicate::sle,
                       CmpIPredicate::ule);
      })
      .Case([&](GtOp) {
        return compare(CmpFPredicate::OGT, CmpIPredicate::sgt,
                       CmpIPredicate::ugt);
      })
      .Case([&](GeOp) {
        return compare(CmpFPredicate::OGE, CmpIPredicate::sge,
                       CmpIPredicate::uge);
      })
      .Case([&](astra::SelectOp) -> Result {
        return arith::SelectOp::create(builder, loc, operands[0], operands[1],
                                       operands[2])
            .getResult();
      })
      .Case([&](ConvertOp convert) {
        Type to = getTensorType(convert.getResult()).getElementType();
        return buildConvert(builder, loc, element, to, operands[0]);
      })
      .Default([](Operation *) -> Result { return failure(); });
}
