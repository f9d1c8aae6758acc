// Checks of attention and its gradient.
#include "dialect/Attention.h"
#include "dialect/Checks.h"

using namespace mlir;

namespace astra {

namespace {
/// What both operations have in common.
struct AttentionTypes {
  astra::TensorType q, k, v, mask; // mask may be null
};
} // namespace

static bool agree(astra::TensorType a, unsigned i, astra::TensorType b,
                  unsigned j) {
  unsigned rank = a.getRank();
  return a.getDims()[rank - 2 + i] == b.getDims()[rank - 2 + j];
}

/// (C1) and (C2).
static LogicalResult verifyOperands(Operation *op, const AttentionTypes &t) {
  int64_t rank = t.q.getRank();
  Type element = t.q.getElementType();
  if (rank < 2 || t.k.getRank() != rank || t.v.getRank() != rank ||
      t.k.getElementType() != element || t.v.getElementType() != element)
    return op->emitOpError("(C1) q, k and v must have one element type and one "
                           "rank of at least 2, not ")
           << t.q << ", " << t.k << " and " << t.v;
  auto sameBatch = [&](astra::TensorType other) {
    return other.getRank() == rank &&
           other.getDims().drop_back(2) == t.q.getDims().drop_back(2);
  };
  if (!sameBatch(t.k) || !sameBatch(t.v) || !agree(t.q, 1, t.k, 1) ||
      !agree(t.k, 0, t.v, 0))
    return op->emitOpError("(C2) the extents do not agree: ")
           << t.q << ", " << t.k << " and " << t.v;
  if (t.mask && (!sameBatch(t.mask) || !agree(t.mask, 0, t.q, 0) ||
                 !agree(t.mask, 1, t.k, 0)))
    return op->emitOpError("(C2) the mask is no match: ") << t.mask;
  return success();
}

static astra::TensorType outType(const AttentionTypes &t) {
  SmallVector<StringAttr> dims(t.q.getDims());
  dims.back() = t.v.getDims().back();
  return t.q.withDims(dims);
}

static AttentionTypes typesOf(Value q, Value k, Value v, Value mask) {
  return {getTensorType(q), getTensorType(k), getTensorType(v),
          mask ? getTensorType(mask) : astra::TensorType()};
}

astra::TensorType getAttentionStatistic(astra::TensorType q) {
  Type element = q.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(q.getContext());
  return astra::TensorType::getWithDims(element, q.getDims().drop_back());
}

static LogicalResult verifyResults(Operation *op, const AttentionTypes &types,
                                   Value out, Value statistic) {
  if (out.getType() != outType(types) ||
      statistic.getType() != getAttentionStatistic(types.q))
    return op->emitOpError("(C3) the results must be ")
           << outType(types) << " and " << getAttentionStatistic(types.q);
  return success();
}

LogicalResult AttentionOp::verify() {
  AttentionTypes types = typesOf(getQ(), getK(), getV(), getMask());
  if (failed(verifyOperands(*this, types)))
    return failure();
  return verifyResults(*this, types, getResult(), getStatistic());
}

LogicalResult AttentionGradOp::verify() {
  AttentionTypes types = typesOf(getQ(), getK(), getV(), getMask());
  if (failed(verifyOperands(*this, types)) ||
      failed(verifyResults(*this, types, getOut(), getStatistic())))
    return failure();
  if (getDOut().getType() != getOut().getType() ||
      getDq().getType() != getQ().getType() ||
      getDk().getType() != getK().getType() ||
      getDv().getType() != getV().getType())
    return emitOpError("(C3) a cotangent has another type than its value");
  return success();
}

} // namespace astra
