// Checks, derivatives and batched forms of tapes. The derivative of a tape is a
// tape: reading an entry and adding to it are each other's transpose, and an
// entry that was written passes its cotangent to what was written. The elements
// of a batch share a tape whose entries hold the whole batch: those that are
// still there push and pop together.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

//===-- Checks ------------------------------------------------------------===//

LogicalResult TapeReadOp::verify() {
  if (getResult().getType() != getTape().getType().getEntry())
    return emitOpError("(C1) reads ")
           << getResult().getType() << " from " << getTape().getType();
  return success();
}

LogicalResult TapeWriteOp::verify() {
  if (getValue().getType() != getTape().getType().getEntry())
    return emitOpError("(C1) writes ")
           << getValue().getType() << " to " << getTape().getType();
  return success();
}

//===-- Derivatives -------------------------------------------------------===//

LogicalResult TapeReadOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                   SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  operandCotangents[0] =
      r.writeTape(r.zeros(getTape().getType()), getIndex(), cotangents[0]);
  return success();
}
LogicalResult TapeReadOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                   SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  resultTangents[0] = r.readTape(tangents[0], getIndex());
  return success();
}

LogicalResult TapeWriteOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                    SmallVectorImpl<Value> &operandCotangents) {
  // Without `add` nothing was read from the entry before: what its cotangent is
  // does not matter there.
  RuleBuilder r(builder, getLoc());
  operandCotangents[0] = cotangents[0];
  operandCotangents[2] = r.readTape(cotangents[0], getIndex());
  return success();
}
LogicalResult TapeWriteOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                    SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  Value tape = tangents[0] ? tangents[0] : r.zeros(getTape().getType());
  if (tangents[2])
    tape = r.writeTape(tape, getIndex(), tangents[2], getAdd());
  resultTangents[0] = tape;
  return success();
}

/// Of the two, one is none or both are the same: what comes back goes to both.
LogicalResult
TapeEitherOp::buildVjp(OpBuilder &, ValueRange cotangents,
                       SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents[0] = operandCotangents[1] = cotangents[0];
  return success();
}
LogicalResult TapeEitherOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                     SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  SmallVector<Value> both(tangents);
  for (Value &tangent : both)
    if (!tangent)
      tangent = r.make<TapeNoneOp>(getType(), {});
  resultTangents[0] = r.make<TapeEitherOp>(getType(), both);
  return success();
}

LogicalResult TapeAddOp::buildVjp(OpBuilder &, ValueRange cotangents,
                                  SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents[0] = operandCotangents[1] = cotangents[0];
  return success();
}
LogicalResult TapeAddOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                  SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  resultTangents[0] = r.add(tangents[0], tangents[1]);
  return success();
}

//===-- Batches -----------------------------------------------------------===//

/// The entry in turn: one for all elements that are there. For the others the
/// index is 0 where it stands for a mask.
static Value commonIndex(RuleBuilder &r, const BatchedValue &index) {
  if (!index.mapped)
    return index.value;
  // Over no elements it is 0.
  Value some = r.padAxis(index.value, 0, 0, Dim::constant(1), Dim());
  return r.make<MaxOp>(typeOf(index.value).withShape({}), {some},
                       {r.ints("axes", {0})});
}

template <typename OpTy>
static LogicalResult batch(RuleBuilder &r, OpTy op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  // New tapes and none: asked for only where the batch is written to them.
  return repeatMapped(r, op, length, operands, results);
}
static LogicalResult batch(RuleBuilder &r, TapeReadOp, const Dim &,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  Value index = commonIndex(r, operands[1]);
  results.push_back({r.readTape(operands[0].value, index), operands[0].mapped});
  return success();
}
static LogicalResult batch(RuleBuilder &r, TapeWriteOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  bool all = operands[0].mapped || operands[2].mapped;
  auto form = [&](const BatchedValue &value) {
    return all ? mapped(r, value, length) : value.value;
  };
  Value index = commonIndex(r, operands[1]);
  results.push_back(
      {r.writeTape(form(operands[0]), index, form(operands[2]), op.getAdd()),
       all});
  return success();
}

ASTRA_BATCHING_RULE(TapeNewOp)
ASTRA_BATCHING_RULE(TapeNoneOp)
ASTRA_BATCHING_RULE(TapeEitherOp)
ASTRA_BATCHING_RULE(TapeAddOp)
ASTRA_BATCHING_RULE(TapeReadOp)
ASTRA_BATCHING_RULE(TapeWriteOp)

} // namespace astra
