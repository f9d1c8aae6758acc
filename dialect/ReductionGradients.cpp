// Derivatives of reductions and of operations along an axis. None divides by an
// input, and none subtracts what may be infinite from itself.
#include "dialect/Builder.h"
#include <limits>

using namespace mlir;

namespace astra {

#define ASTRA_VJP(OP)                                                          \
  LogicalResult OP::buildVjp(OpBuilder &builder, ValueRange cotangents,        \
                             SmallVectorImpl<Value> &operandCotangents) {      \
    RuleBuilder r(builder, getLoc());                                          \
    operandCotangents[0] = vjp(r, *this, cotangents[0]);                       \
    return success();                                                          \
  }
#define ASTRA_JVP(OP)                                                          \
  LogicalResult OP::buildJvp(OpBuilder &builder, ValueRange tangents,          \
                             SmallVectorImpl<Value> &resultTangents) {         \
    RuleBuilder r(builder, getLoc());                                          \
    resultTangents[0] = jvp(r, *this, tangents[0]);                            \
    return success();                                                          \
  }
#define ASTRA_RULES(OP) ASTRA_VJP(OP) ASTRA_JVP(OP)

/// For y = f(x) reduced over axes with the gradient `slope` over x's shape.
template <typename OpTy>
static Value spread(RuleBuilder &r, OpTy op, Value d, Value slope) {
  return r.mul(r.expand(d, op.getX(), op.getAxes()), slope);
}
template <typename OpTy>
static Value collect(RuleBuilder &r, OpTy op, Value t, Value slope) {
  return r.sum(r.mul(t, slope), op.getAxes());
}

//===-- Sum and product ---------------------------------------------------===//

static Value vjp(RuleBuilder &r, SumOp op, Value d) {
  return r.expand(d, op.getX(), op.getAxes());
}
static Value jvp(RuleBuilder &r, SumOp op, Value t) {
  return r.sum(t, op.getAxes());
}

/// For each element the product of all others: of those before it with those
/// behind it.
static Value productOfOthers(RuleBuilder &r, ProdOp op) {
  Value flat = r.flattenLast(op.getX(), op.getAxes());
  int64_t axis = rankOf(flat) - 1;
  Value before = r.exclusiveCumProd(flat, axis);
  Value behind = r.flip(r.exclusiveCumProd(r.flip(flat, {axis}), axis), {axis});
  return r.unflattenLast(r.mul(before, behind), op.getX(), op.getAxes());
}
static Value vjp(RuleBuilder &r, ProdOp op, Value d) {
  return spread(r, op, d, productOfOthers(r, op));
}
static Value jvp(RuleBuilder &r, ProdOp op, Value t) {
  return collect(r, op, t, productOfOthers(r, op));
}

//===-- Extrema -----------------------------------------------------------===//

/// Where the extremum is, and at how many places; they share the gradient.
template <typename OpTy>
static std::pair<Value, Value> tiesOf(RuleBuilder &r, OpTy op) {
  Value x = op.getX();
  Value there = r.compare<EqOp>(x, r.expand(op.getResult(), x, op.getAxes()));
  Value count =
      r.sum(r.convert(there, typeOf(x).getElementType()), op.getAxes());
  return {there, count};
}
template <typename OpTy>
static Value extremumVjp(RuleBuilder &r, OpTy op, Value d) {
  auto [there, count] = tiesOf(r, op);
  Value share = r.expand(r.div(d, count), op.getX(), op.getAxes());
  return r.select(there, share, r.splatLike(share, 0));
}
template <typename OpTy>
static Value extremumJvp(RuleBuilder &r, OpTy op, Value t) {
  auto [there, count] = tiesOf(r, op);
  Value taken = r.select(there, t, r.splatLike(t, 0));
  return r.div(r.sum(taken, op.getAxes()), count);
}
static Value vjp(RuleBuilder &r, MaxOp op, Value d) {
  return extremumVjp(r, op, d);
}
static Value jvp(RuleBuilder &r, MaxOp op, Value t) {
  return extremumJvp(r, op, t);
}
static Value vjp(RuleBuilder &r, MinOp op, Value d) {
  return extremumVjp(r, op, d);
}
static Value jvp(RuleBuilder &r, MinOp op, Value t) {
  return extremumJvp(r, op, t);
}

/// `v` where x, its reduced axes made one behind the others, has its first
/// greatest element, 0 elsewhere. `v` has the shape of x so arranged.
static Value atFirstMax(RuleBuilder &r, FirstMaxOp op, Value v) {
  Value flat = r.flattenLast(op.getX(), op.getAxes());
  int64_t last = rankOf(flat) - 1;
  TensorType index = typeOf(flat).withElement(r.getBuilder().getI32Type());
  Value first = r.make<ArgMaxOp>(index.withDims(index.getDims().drop_back()),
                                 {flat}, {r.integer("axis", last)});
  Value there =
      r.compare<EqOp>(r.iota(index, last), r.expand(first, flat, {last}));
  return r.select(there, v, r.splatLike(v, 0));
}
static Value vjp(RuleBuilder &r, FirstMaxOp op, Value d) {
  Value like = r.flattenLast(op.getX(), op.getAxes());
  Value all = r.expand(d, like, {rankOf(like) - 1});
  return r.unflattenLast(atFirstMax(r, op, all), op.getX(), op.getAxes());
}
static Value jvp(RuleBuilder &r, FirstMaxOp op, Value t) {
  Value flat = r.flattenLast(t, op.getAxes());
  return r.sum(atFirstMax(r, op, flat), {rankOf(flat) - 1});
}

//===-- Norm, exponentials ------------------------------------------------===//

/// d / y, and 0 where the norm is 0.
static Value overNorm(RuleBuilder &r, NormOp op, Value d) {
  Value y = op.getResult(), zero = r.splatLike(y, 0);
  return r.select(r.compare<EqOp>(y, zero), zero, r.div(d, y));
}
static Value vjp(RuleBuilder &r, NormOp op, Value d) {
  return spread(r, op, overNorm(r, op, d), op.getX());
}
static Value jvp(RuleBuilder &r, NormOp op, Value t) {
  return overNorm(r, op, collect(r, op, t, op.getX()));
}

/// exp(x - y), and 0 where all of x is -inf.
static Value shares(RuleBuilder &r, LogSumExpOp op) {
  Value y = op.getResult();
  Value nothing = r.compare<EqOp>(
      y, r.splatLike(y, -std::numeric_limits<double>::infinity()));
  Value shift = r.select(nothing, r.splatLike(y, 0), y);
  return r.unary<ExpOp>(
      r.sub(op.getX(), r.expand(shift, op.getX(), op.getAxes())));
}
static Value vjp(RuleBuilder &r, LogSumExpOp op, Value d) {
  return spread(r, op, d, shares(r, op));
}
static Value jvp(RuleBuilder &r, LogSumExpOp op, Value t) {
  return collect(r, op, t, shares(r, op));
}

/// The sum along the operation's axis, back over the axis.
static Value total(RuleBuilder &r, Value v, int64_t axis) {
  return r.expand(r.sum(v, {axis}), v, {axis});
}
/// The Jacobian of softmax is symmetric: one rule for both directions.
static Value vjp(RuleBuilder &r, SoftmaxOp op, Value d) {
  Value y = op.getResult(), part = r.mul(d, y);
  return r.sub(part, r.mul(y, total(r, part, op.getAxis())));
}
static Value jvp(RuleBuilder &r, SoftmaxOp op, Value t) {
  return vjp(r, op, t);
}

static Value vjp(RuleBuilder &r, LogSoftmaxOp op, Value d) {
  Value share = r.unary<ExpOp>(op.getResult());
  return r.sub(d, r.mul(share, total(r, d, op.getAxis())));
}
static Value jvp(RuleBuilder &r, LogSoftmaxOp op, Value t) {
  Value share = r.unary<ExpOp>(op.getResult());
  return r.sub(t, total(r, r.mul(share, t), op.getAxis()));
}

//===-- Along an axis -----------------------------------------------------===//

static Value vjp(RuleBuilder &r, CumSumOp op, Value d) {
  int64_t axis = op.getAxis();
  return r.flip(r.axisOp<CumSumOp>(r.flip(d, {axis}), axis), {axis});
}
static Value jvp(RuleBuilder &r, CumSumOp op, Value t) {
  return r.axisOp<CumSumOp>(t, op.getAxis());
}

/// dx[i] = (product before i) * s[i], s[i] = d[i] + x[i + 1] * s[i + 1].
static Value vjp(RuleBuilder &r, CumProdOp op, Value d) {
  int64_t axis = op.getAxis();
  Value x = op.getX(), flipped = r.flip(x, {axis});
  Value shifted =
      r.sliceAxis(r.padAxis(flipped, 1, axis, Dim::constant(1), Dim()), axis,
                  Dim(), shapeOf(x)[axis]);
  Value s = r.linearRecurrence(shifted, r.flip(d, {axis}), axis);
  return r.mul(r.exclusiveCumProd(x, axis), r.flip(s, {axis}));
}
/// t[i] = x[i] * t[i - 1] + (product before i) * dx[i].
static Value jvp(RuleBuilder &r, CumProdOp op, Value t) {
  int64_t axis = op.getAxis();
  Value before = r.exclusiveCumProd(op.getX(), axis);
  return r.linearRecurrence(op.getX(), r.mul(before, t), axis);
}

/// Where each element of the sorted axis came from, as indices for all axes.
static SmallVector<Value> origins(RuleBuilder &r, SortOp op) {
  int64_t axis = op.getAxis();
  Type i32 = r.getBuilder().getI32Type();
  Value from = r.make<ArgSortOp>(typeOf(op.getX()).withElement(i32),
                                 {op.getX()}, {r.integer("axis", axis)});
  return r.indicesAlong(from, axis);
}
static Value vjp(RuleBuilder &r, SortOp op, Value d) {
  return r.scatter(r.splatLike(d, 0), d, origins(r, op), iotaAxes(rankOf(d)),
                   /*add=*/false);
}
static Value jvp(RuleBuilder &r, SortOp op, Value t) {
  return r.gather(t, origins(r, op), iotaAxes(rankOf(t)));
}

ASTRA_RULES(SumOp)
ASTRA_RULES(ProdOp)
ASTRA_RULES(MaxOp)
ASTRA_RULES(MinOp)
ASTRA_RULES(FirstMaxOp)
ASTRA_RULES(NormOp)
ASTRA_RULES(LogSumExpOp)
ASTRA_RULES(SoftmaxOp)
ASTRA_RULES(LogSoftmaxOp)
ASTRA_RULES(CumSumOp)
ASTRA_RULES(CumProdOp)
ASTRA_RULES(SortOp)

} // namespace astra
