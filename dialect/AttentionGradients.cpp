// Derivatives of attention. The cotangents of its operands are an operation
// with a kernel; every other derivative is composed of products and softmax
// over all pairs, in f32 for f16 and bf16. In those, queries that see nothing
// and keys that no query sees count as 0, so that what they hold has no
// influence.
#include "dialect/Builder.h"
#include <limits>

using namespace mlir;

namespace astra {

//===-- All pairs ---------------------------------------------------------===//

namespace {
/// q, k and v of either operation, its weights, and sums over pairs. A null
/// value is zero.
class Pairs {
public:
  template <typename OpTy> Pairs(RuleBuilder &r, OpTy op) : r(r) {
    rank = op.getQ().getType().getRank();
    SmallVector<StringAttr> dims(op.getQ().getType().getDims());
    dims.back() = op.getK().getType().getDims()[rank - 2];
    element = op.getQ().getType().getElementType();
    if (element.getIntOrFloatBitWidth() < 32)
      element = Float32Type::get(op.getContext());
    type = TensorType::getWithDims(element, dims);
    findVisible(op.getMask(), op.getCausal());
    q = ofQueries(op.getQ());
    k = ofKeys(op.getK());
    v = ofKeys(op.getV());
    findScale(op.getScale(), op.getQ().getType().getDim(rank - 1));
    findWeights();
  }

  /// A tensor of queries or keys as this class computes with it.
  Value ofQueries(Value x) { return clean(x, rank - 1); }
  Value ofKeys(Value x) { return clean(x, rank - 2); }
  /// A result in the type of a value of the program.
  Value like(Value x, Value original) {
    return x ? r.convert(x, typeOf(original).getElementType()) : x;
  }

  /// [n, x] and [m, x] to [n, m].
  Value match(Value a, Value b) { return product(a, b, rank - 1, rank - 1); }
  /// [n, m] and [m, x] to [n, x].
  Value mix(Value w, Value x) { return product(w, x, rank - 1, rank - 2); }
  /// [n, m] and [n, x] to [m, x].
  Value collect(Value w, Value x) { return product(w, x, rank - 2, rank - 2); }

  Value scaled(Value x) { return x ? r.mul(r.fill(scale, typeOf(x)), x) : x; }
  Value times(Value a, Value b) { return a && b ? r.mul(a, b) : Value(); }
  /// The sum over keys, for each of them.
  Value overKeys(Value x) {
    return r.expand(r.sum(x, {rank - 1}), x, {rank - 1});
  }
  /// The Jacobian of softmax, which is symmetric.
  Value throughSoftmax(Value x) {
    return x ? r.mul(weights, r.sub(x, overKeys(r.mul(weights, x)))) : x;
  }

  RuleBuilder &r;
  Value q, k, v, weights;

private:
  void findVisible(Value mask, bool causal) {
    visible = mask;
    if (!causal)
      return;
    TensorType index = type.withElement(r.getBuilder().getI64Type());
    Value earlier =
        r.compare<GeOp>(r.iota(index, rank - 2), r.iota(index, rank - 1));
    visible = visible ? r.binary<AndOp>(visible, earlier) : earlier;
  }

  void findScale(std::optional<APFloat> given, const Dim &d) {
    TensorType scalar = TensorType::getScalar(element);
    if (given)
      scale = r.splat(scalar, given->convertToDouble());
    else
      scale = r.div(r.splat(scalar, 1),
                    r.unary<SqrtOp>(r.convert(r.dim(d), element)));
  }

  void findWeights() {
    Value scores = scaled(match(q, k));
    if (visible)
      scores =
          r.select(visible, scores,
                   r.splat(type, -std::numeric_limits<double>::infinity()));
    weights = r.axisOp<SoftmaxOp>(scores, rank - 1);
  }

  /// Wide, and 0 where no partner is visible; `other` is the partners' axis.
  Value clean(Value x, int64_t other) {
    if (!x)
      return x;
    x = r.convert(x, element);
    if (!visible)
      return x;
    SmallVector<StringAttr> dims(typeOf(visible).getDims());
    dims.erase(dims.begin() + other);
    Value any = r.make<AnyOp>(typeOf(visible).withDims(dims), {visible},
                              {r.ints("axes", {other})});
    Value meets = r.broadcast(any, r.boolLike(x), iotaAxes(rank - 1));
    return r.select(meets, x, r.splatLike(x, 0));
  }

  Value product(Value a, Value b, int64_t overA, int64_t overB) {
    if (!a || !b)
      return Value();
    Axes batch = iotaAxes(rank - 2);
    return r.contract(a, b, batch, batch, {overA}, {overB});
  }

  int64_t rank;
  Type element;
  TensorType type; // of all pairs
  Value visible, scale;
};

/// The gradient's own intermediate values over all pairs.
struct Slopes {
  Value dOut, dWeights, off, slopes;

  Slopes(Pairs &p, AttentionGradOp op) {
    dOut = p.ofQueries(op.getDOut());
    dWeights = p.match(dOut, p.v);
    off = p.r.sub(dWeights, p.overKeys(p.r.mul(p.weights, dWeights)));
    slopes = p.r.mul(p.weights, off);
  }
};
} // namespace

//===-- Attention ---------------------------------------------------------===//

LogicalResult AttentionOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                    SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0])
    return success();
  auto grad = AttentionGradOp::create(
      builder, getLoc(), getQ().getType(), getK().getType(), getV().getType(),
      getQ(), getK(), getV(), getResult(), getStatistic(), cotangents[0],
      getMask(), getCausalAttr(), getScaleAttr());
  for (unsigned i = 0; i < 3; ++i)
    operandCotangents[i] = grad->getResult(i);
  return success();
}

LogicalResult AttentionOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                    SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  Pairs p(r, *this);
  Value tq = p.ofQueries(tangents[0]), tk = p.ofKeys(tangents[1]);
  Value scores = p.scaled(r.add(p.match(tq, p.k), p.match(p.q, tk)));
  Value result = r.add(p.mix(p.throughSoftmax(scores), p.v),
                       p.mix(p.weights, p.ofKeys(tangents[2])));
  resultTangents[0] = p.like(result, getResult());
  return success();
}

//===-- Its gradient ------------------------------------------------------===//
// With weights P, A = d_out v^T, D the sum of P A over keys, and W = P (A - D):
// dq = s W k, dk = s W^T q, dv = P^T d_out.

LogicalResult
AttentionGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                          SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  Pairs p(r, *this);
  Slopes s(p, *this);
  Value x = p.ofQueries(cotangents[0]), y = p.ofKeys(cotangents[1]),
        z = p.ofKeys(cotangents[2]);
  Value dSlopes = p.scaled(r.add(p.match(x, p.k), p.match(p.q, y)));
  // Through W to P and A, of which D takes its part.
  Value toWeights = p.match(s.dOut, z), toDWeights;
  if (dSlopes) {
    Value part = r.mul(dSlopes, p.weights);
    Value mean = p.overKeys(part);
    toDWeights = r.sub(part, r.mul(mean, p.weights));
    Value direct = r.sub(r.mul(dSlopes, s.off), r.mul(mean, s.dWeights));
    toWeights = r.add(toWeights, direct);
  }
  Value toScores = p.throughSoftmax(toWeights);
  Value dq = r.add(p.mix(s.slopes, y), p.mix(toScores, p.k));
  Value dk = r.add(p.collect(s.slopes, x), p.collect(toScores, p.q));
  Value dv = p.collect(toDWeights, s.dOut);
  Value dOut = r.add(p.mix(p.weights, z), p.mix(toDWeights, p.v));
  operandCotangents[0] = p.like(p.scaled(dq), getQ());
  operandCotangents[1] = p.like(p.scaled(dk), getK());
  operandCotangents[2] = p.like(dv, getV());
  operandCotangents[5] = p.like(dOut, getDOut());
  return success();
}

LogicalResult
AttentionGradOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                          SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  Pairs p(r, *this);
  Slopes s(p, *this);
  Value tq = p.ofQueries(tangents[0]), tk = p.ofKeys(tangents[1]),
        tv = p.ofKeys(tangents[2]), td = p.ofQueries(tangents[5]);
  Value weights =
      p.throughSoftmax(p.scaled(r.add(p.match(tq, p.k), p.match(p.q, tk))));
  Value dWeights = r.add(p.match(td, p.v), p.match(s.dOut, tv));
  Value means =
      r.add(p.times(weights, s.dWeights), p.times(p.weights, dWeights));
  Value slopes;
  if (means) {
    Value mean = p.overKeys(means);
    Value off = dWeights ? r.sub(dWeights, mean) : r.neg(mean);
    slopes = r.add(p.times(weights, s.off), r.mul(p.weights, off));
  }
  Value dq = r.add(p.mix(slopes, p.k), p.mix(s.slopes, tk));
  Value dk = r.add(p.collect(slopes, p.q), p.collect(s.slopes, tq));
  Value dv = r.add(p.collect(weights, s.dOut), p.collect(p.weights, td));
  resultTangents[0] = p.like(p.scaled(dq), getDq());
  resultTangents[1] = p.like(p.scaled(dk), getDk());
  resultTangents[2] = p.like(dv, getDv());
  return success();
}

} // namespace astra
