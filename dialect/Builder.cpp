// The builder layer for rules: see Builder.h.
#include "dialect/Builder.h"

using namespace mlir;

namespace astra {

Axes complement(ArrayRef<int64_t> axes, int64_t rank) {
  Axes rest;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(axes, i))
      rest.push_back(i);
  return rest;
}
Axes iotaAxes(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

std::optional<double> splatOf(Value v) {
  auto constant = v ? v.getDefiningOp<ConstOp>() : nullptr;
  if (!constant)
    return std::nullopt;
  auto value = dyn_cast<FloatAttr>(constant.getValue());
  if (!value)
    return std::nullopt;
  return value.getValueAsDouble();
}

//===-- Attributes --------------------------------------------------------===//

NamedAttribute RuleBuilder::integer(StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}
NamedAttribute RuleBuilder::ints(StringRef name, ArrayRef<int64_t> values) {
  return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
}
NamedAttribute RuleBuilder::dims(StringRef name, ArrayRef<Dim> values) {
  SmallVector<Attribute> texts;
  for (const Dim &value : values)
    texts.push_back(b.getStringAttr(value.str()));
  return b.getNamedAttr(name, b.getArrayAttr(texts));
}
NamedAttribute RuleBuilder::dimension(StringRef name, const Dim &value) {
  return b.getNamedAttr(name, b.getStringAttr(value.str()));
}
NamedAttribute RuleBuilder::unit(StringRef name) {
  return b.getNamedAttr(name, b.getUnitAttr());
}

//===-- Constants ---------------------------------------------------------===//

Value RuleBuilder::splat(Type type, double value) {
  if (isa<TapeType>(type))
    return make<TapeNewOp>(type, {});
  Type element = cast<TensorType>(type).getElementType();
  TypedAttr attr;
  if (isa<FloatType>(element))
    attr = b.getFloatAttr(element, value);
  else
    attr = b.getIntegerAttr(element, static_cast<int64_t>(value));
  return make<ConstOp>(type, {}, {b.getNamedAttr("value", attr)});
}
Value RuleBuilder::dim(const Dim &value) {
  auto type = TensorType::get(b.getContext(), b.getI64Type(), {});
  return make<DimValueOp>(type, {}, {dimension("value", value)});
}
Value RuleBuilder::iota(TensorType type, int64_t axis) {
  return make<IotaOp>(type, {}, {integer("axis", axis)});
}
TensorType RuleBuilder::boolLike(Value x) {
  return typeOf(x).withElement(b.getI1Type());
}

//===-- Arithmetic --------------------------------------------------------===//

Value RuleBuilder::add(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  if (isa<TapeType>(x.getType()))
    return binary<TapeAddOp>(x, y);
  if (auto negated = y.getDefiningOp<NegOp>())
    return sub(x, negated.getX());
  if (auto negated = x.getDefiningOp<NegOp>())
    return sub(y, negated.getX());
  return binary<AddOp>(x, y);
}
Value RuleBuilder::sub(Value x, Value y) {
  if (auto negated = y.getDefiningOp<NegOp>())
    return binary<AddOp>(x, negated->getOperand(0));
  return binary<SubOp>(x, y);
}
Value RuleBuilder::mul(Value x, Value y) {
  if (splatOf(x) == 1)
    return y;
  if (splatOf(y) == 1)
    return x;
  if (splatOf(x) == -1)
    return neg(y);
  if (splatOf(y) == -1)
    return neg(x);
  // A sign goes outwards, where a sum or another sign takes it up.
  if (auto negated = x.getDefiningOp<NegOp>())
    return neg(mul(negated.getX(), y));
  if (auto negated = y.getDefiningOp<NegOp>())
    return neg(mul(x, negated.getX()));
  return binary<MulOp>(x, y);
}
Value RuleBuilder::scale(Value x, double factor) {
  return mul(x, splatLike(x, factor));
}
Value RuleBuilder::div(Value x, Value y) {
  if (splatOf(y) == 1)
    return x;
  return binary<DivOp>(x, y);
}
Value RuleBuilder::neg(Value x) {
  if (auto negated = x.getDefiningOp<NegOp>())
    return negated->getOperand(0);
  if (auto value = splatOf(x))
    return splatLike(x, -*value);
  return unary<NegOp>(x);
}
Value RuleBuilder::select(Value condition, Value ifTrue, Value ifFalse) {
  if (ifTrue == ifFalse)
    return ifTrue;
  return make<SelectOp>(ifTrue.getType(), {condition, ifTrue, ifFalse});
}
Value RuleBuilder::convert(Value x, Type element) {
  if (typeOf(x).getElementType() == element)
    return x;
  return make<ConvertOp>(typeOf(x).withElement(element), {x});
}

//===-- Shapes ------------------------------------------------------------===//

Value RuleBuilder::broadcast(Value x, TensorType type, ArrayRef<int64_t> axes) {
  if (x.getType() == type)
    return x;
  if (auto value = splatOf(x))
    return splat(type, *value);
  if (auto inner = x.getDefiningOp<BroadcastOp>()) {
    Axes composed;
    for (int64_t axis : inner.getAxes())
      composed.push_back(axes[axis]);
    return broadcast(inner->getOperand(0), type, composed);
  }
  return make<BroadcastOp>(type, {x}, {ints("axes", axes)});
}
Value RuleBuilder::expand(Value reduced, Value like, ArrayRef<int64_t> axes) {
  TensorType type = typeOf(reduced).withShape(shapeOf(like));
  return broadcast(reduced, type, complement(axes, type.getRank()));
}
Value RuleBuilder::fill(Value scalar, TensorType type) {
  return broadcast(scalar, type.withElement(typeOf(scalar).getElementType()),
                   {});
}
Value RuleBuilder::reshape(Value x, TensorType type) {
  if (x.getType() == type)
    return x;
  if (auto value = splatOf(x))
    return splat(type, *value);
  if (auto inner = x.getDefiningOp<ReshapeOp>())
    return reshape(inner->getOperand(0), type);
  return make<ReshapeOp>(type, {x});
}
Value RuleBuilder::transpose(Value x, ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())))
    return x;
  if (auto inner = x.getDefiningOp<TransposeOp>()) {
    Axes composed;
    for (int64_t axis : perm)
      composed.push_back(inner.getPerm()[axis]);
    return transpose(inner->getOperand(0), composed);
  }
  SmallVector<Dim> shape;
  for (int64_t axis : perm)
    shape.push_back(shapeOf(x)[axis]);
  TensorType type = typeOf(x).withShape(shape);
  if (auto value = splatOf(x))
    return splat(type, *value);
  return make<TransposeOp>(type, {x}, {ints("perm", perm)});
}
Value RuleBuilder::moveAxis(Value x, int64_t from, int64_t to) {
  Axes perm = complement({from}, rankOf(x));
  perm.insert(perm.begin() + to, from);
  return transpose(x, perm);
}
Value RuleBuilder::flattenLast(Value x, ArrayRef<int64_t> axes) {
  Axes perm = complement(axes, rankOf(x));
  SmallVector<Dim> shape;
  for (int64_t axis : perm)
    shape.push_back(shapeOf(x)[axis]);
  Dim extent = Dim::constant(1);
  for (int64_t axis : axes)
    extent = extent * shapeOf(x)[axis];
  shape.push_back(extent);
  perm.append(axes.begin(), axes.end());
  return reshape(transpose(x, perm), typeOf(x).withShape(shape));
}
Value RuleBuilder::unflattenLast(Value x, Value like, ArrayRef<int64_t> axes) {
  Axes perm = complement(axes, rankOf(like));
  perm.append(axes.begin(), axes.end());
  SmallVector<Dim> shape;
  Axes inverse(perm.size());
  for (auto [i, axis] : llvm::enumerate(perm)) {
    shape.push_back(shapeOf(like)[axis]);
    inverse[axis] = i;
  }
  return transpose(reshape(x, typeOf(x).withShape(shape)), inverse);
}
Value RuleBuilder::slice(Value x, ArrayRef<Dim> starts, ArrayRef<Dim> sizes) {
  TensorType type = typeOf(x).withShape(sizes);
  if (type == x.getType())
    return x;
  if (auto value = splatOf(x))
    return splat(type, *value);
  return make<SliceOp>(type, {x},
                       {dims("starts", starts), ints("dynamic_axes", {})});
}
Value RuleBuilder::sliceAxis(Value x, int64_t axis, const Dim &start,
                             const Dim &size) {
  SmallVector<Dim> starts(rankOf(x)), sizes = shapeOf(x);
  starts[axis] = start;
  sizes[axis] = size;
  return slice(x, starts, sizes);
}
Value RuleBuilder::pad(Value x, Value fill, ArrayRef<Dim> low,
                       ArrayRef<Dim> high) {
  SmallVector<Dim> shape = shapeOf(x);
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = low[i] + shape[i] + high[i];
  return make<PadOp>(typeOf(x).withShape(shape), {x, fill},
                     {dims("low", low), dims("high", high)});
}
Value RuleBuilder::padAxis(Value x, double fill, int64_t axis, const Dim &low,
                           const Dim &high) {
  SmallVector<Dim> lows(rankOf(x)), highs(rankOf(x));
  lows[axis] = low;
  highs[axis] = high;
  return pad(x, splat(typeOf(x).withShape({}), fill), lows, highs);
}
Value RuleBuilder::flip(Value x, ArrayRef<int64_t> axes) {
  if (axes.empty() || splatOf(x))
    return x;
  return make<FlipOp>(x.getType(), {x}, {ints("axes", axes)});
}
Value RuleBuilder::concat(ValueRange parts, int64_t axis) {
  if (parts.size() == 1)
    return parts[0];
  SmallVector<Dim> shape = shapeOf(parts[0]);
  shape[axis] = Dim();
  for (Value part : parts)
    shape[axis] = shape[axis] + shapeOf(part)[axis];
  return make<ConcatOp>(typeOf(parts[0]).withShape(shape), parts,
                        {integer("axis", axis)});
}

//===-- Reductions and products -------------------------------------------===//

Value RuleBuilder::sum(Value x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  SmallVector<Dim> shape;
  for (int64_t axis : complement(axes, rankOf(x)))
    shape.push_back(shapeOf(x)[axis]);
  return make<SumOp>(typeOf(x).withShape(shape), {x}, {ints("axes", axes)});
}
Value RuleBuilder::exclusiveCumProd(Value x, int64_t axis) {
  // A 1 in front, then all but the last: right for an empty axis too.
  Value padded = padAxis(x, 1, axis, Dim::constant(1), Dim());
  return sliceAxis(axisOp<CumProdOp>(padded, axis), axis, Dim(),
                   shapeOf(x)[axis]);
}
Value RuleBuilder::linearRecurrence(Value a, Value c, int64_t axis) {
  Value as = moveAxis(a, axis, 0), cs = moveAxis(c, axis, 0);
  TensorType stacked = typeOf(cs);
  TensorType state = stacked.withDims(stacked.getDims().drop_front());
  auto scan = ScanOp::create(
      b, loc, TypeRange{state, stacked}, ValueRange{zeros(state), as, cs},
      {dimension("length", shapeOf(cs)[0]), integer("num_state", 1)});
  Block *body = b.createBlock(&scan.getBody(), {}, {state, state, state},
                              {loc, loc, loc});
  Value scaled = mul(body->getArgument(1), body->getArgument(0));
  Value next = add(scaled, body->getArgument(2));
  YieldOp::create(b, loc, ValueRange{next, next});
  b.setInsertionPointAfter(scan);
  return moveAxis(scan->getResult(1), 0, axis);
}
Value RuleBuilder::contract(Value x, Value y, ArrayRef<int64_t> batchX,
                            ArrayRef<int64_t> batchY, ArrayRef<int64_t> overX,
                            ArrayRef<int64_t> overY) {
  SmallVector<Dim> shape;
  for (int64_t axis : batchX)
    shape.push_back(shapeOf(x)[axis]);
  auto appendFree = [&](Value v, ArrayRef<int64_t> batch,
                        ArrayRef<int64_t> over) {
    for (int64_t axis = 0; axis < rankOf(v); ++axis)
      if (!llvm::is_contained(batch, axis) && !llvm::is_contained(over, axis))
        shape.push_back(shapeOf(v)[axis]);
  };
  appendFree(x, batchX, overX);
  appendFree(y, batchY, overY);
  return make<ContractOp>(typeOf(x).withShape(shape), {x, y},
                          {ints("batch_a", batchX), ints("batch_b", batchY),
                           ints("contract_a", overX),
                           ints("contract_b", overY)});
}

//===-- Indexing ----------------------------------------------------------===//

Value RuleBuilder::gather(Value x, ValueRange indices, ArrayRef<int64_t> axes) {
  SmallVector<Dim> shape, xShape = shapeOf(x);
  for (int64_t axis = 0; axis < rankOf(x); ++axis) {
    if (axis == axes.front())
      llvm::append_range(shape, shapeOf(indices[0]));
    if (!llvm::is_contained(axes, axis))
      shape.push_back(xShape[axis]);
  }
  SmallVector<Value> operands{x};
  llvm::append_range(operands, indices);
  return make<GatherOp>(typeOf(x).withShape(shape), operands,
                        {ints("axes", axes)});
}
Value RuleBuilder::scatter(Value x, Value value, ValueRange indices,
                           ArrayRef<int64_t> axes, bool add) {
  SmallVector<Value> operands{x, value};
  llvm::append_range(operands, indices);
  SmallVector<NamedAttribute> attrs{ints("axes", axes)};
  if (add)
    attrs.push_back(unit("add"));
  return make<ScatterOp>(x.getType(), operands, attrs);
}
SmallVector<Value> RuleBuilder::indicesAlong(Value index, int64_t axis) {
  SmallVector<Value> indices;
  for (int64_t i = 0; i < rankOf(index); ++i)
    indices.push_back(i == axis ? index : iota(typeOf(index), i));
  return indices;
}

//===-- Tapes -------------------------------------------------------------===//

Value RuleBuilder::readTape(Value tape, Value index) {
  return make<TapeReadOp>(cast<TapeType>(tape.getType()).getEntry(),
                          {tape, index});
}
Value RuleBuilder::writeTape(Value tape, Value index, Value value, bool add) {
  SmallVector<NamedAttribute> attrs;
  if (add)
    attrs.push_back(unit("add"));
  return make<TapeWriteOp>(tape.getType(), {tape, index, value}, attrs);
}
} // namespace astra
