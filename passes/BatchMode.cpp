// Batching of straight-line code: see BatchMode.h.
#include "passes/BatchMode.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

BatchedValue BatchMode::get(Value of) const {
  auto it = values.find(of);
  return it == values.end() ? BatchedValue{of, false} : it->second;
}

Value BatchMode::getMapped(Value of) {
  RuleBuilder r(builder, of.getLoc());
  return mapped(r, get(of), length);
}

LogicalResult BatchMode::build(Block &block) {
  for (Value argument : block.getArguments())
    if (get(argument).mapped)
      dependent.insert(argument);
  do
    dependent.propagate(block);
  while (dependent.matchTapes(block));
  return walk(block);
}

LogicalResult BatchMode::walk(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(visit(op)))
      return failure();
  return success();
}

bool BatchMode::dependsOnBatch(Operation &op) {
  if (dependent.anyOf(op.getResults()) || dependent.anyOf(op.getOperands()))
    return true;
  return op.getNumRegions() != 0 &&
         dependent.anyOf(capturesOf(&op).getArrayRef());
}

LogicalResult BatchMode::visit(Operation &op) {
  if (!dependsOnBatch(op)) {
    cloneOnce(op);
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<IfOp>([&](auto branch) { return visitIf(branch); })
      .Case<ForOp>([&](auto loop) { return visitFor(loop); })
      .Case<WhileOp>([&](auto loop) { return visitWhile(loop); })
      .Case<ScanOp>([&](auto scan) { return visitScan(scan); })
      .Case<ReduceOp>([&](auto reduce) { return visitReduce(reduce); })
      .Case<RematOp>([&](auto remat) { return visitRemat(remat); })
      .Case<CustomDerivativeOp>(
          [&](auto custom) { return visitCustom(custom); })
      .Default([&](Operation *) { return visitRule(op); });
}

void BatchMode::cloneOnce(Operation &op) {
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, get(operand).value);
  for (Value capture : capturesOf(&op))
    mapping.map(capture, get(capture).value);
  Operation *made = builder.clone(op, mapping);
  for (auto [from, to] : llvm::zip_equal(op.getResults(), made->getResults()))
    set(from, {to, false});
}

LogicalResult BatchMode::visitRule(Operation &op) {
  SmallVector<BatchedValue> operands, results;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  guard(op, operands);
  auto rule = dyn_cast<BatchingOpInterface>(op);
  if (!rule || failed(rule.buildBatched(builder, length, operands, results)))
    return op.emitError("'")
           << op.getName().stripDialect() << "' cannot be mapped over a batch";
  for (auto [from, to] : llvm::zip_equal(op.getResults(), results))
    set(from, to);
  return success();
}

Value BatchMode::choose(RuleBuilder &r, Value flags, Value ifTrue,
                        Value ifFalse) {
  if (isa<TapeType>(ifTrue.getType()))
    return r.binary<TapeEitherOp>(ifTrue, ifFalse);
  Value all = r.broadcast(flags, r.boolLike(ifTrue), {0});
  return r.select(all, ifTrue, ifFalse);
}

/// Matrices with 1 on the diagonal.
static Value identityLike(RuleBuilder &r, Value matrices) {
  int64_t rank = rankOf(matrices);
  TensorType places = typeOf(matrices).withElement(r.getBuilder().getI64Type());
  Value onDiagonal =
      r.compare<EqOp>(r.iota(places, rank - 2), r.iota(places, rank - 1));
  return r.select(onDiagonal, r.splatLike(matrices, 1),
                  r.splatLike(matrices, 0));
}

/// Operands of a kind for which an operation cannot fail: for elements that are
/// masked out they take the place of their own.
void BatchMode::guard(Operation &op, SmallVectorImpl<BatchedValue> &operands) {
  if (!mask)
    return;
  RuleBuilder r(builder, op.getLoc());
  auto replace = [&](unsigned i, double harmless) {
    if (operands[i].mapped)
      operands[i].value = choose(r, mask, operands[i].value,
                                 r.splatLike(operands[i].value, harmless));
  };
  if (isa<DivOp, RemOp>(op) && !isFloatTensor(op.getResult(0)))
    replace(1, 1);
  // What is added to a tape must not be; what is only put there is never read.
  if (isa<TapeReadOp, TapeWriteOp>(op))
    replace(1, 0);
  if (auto write = dyn_cast<TapeWriteOp>(op); write && write.getAdd())
    replace(2, 0);
  if (isa<CholeskyOp, InvOp, SolveOp, EighOp, SvdOp>(op) && operands[0].mapped)
    operands[0].value =
        choose(r, mask, operands[0].value, identityLike(r, operands[0].value));
  if (isa<GatherOp, SliceOp>(op))
    for (unsigned i = 1; i < operands.size(); ++i)
      replace(i, 0);
  if (isa<ScatterOp, UpdateSliceOp>(op))
    for (unsigned i = 2; i < operands.size(); ++i)
      replace(i, 0);
  if (isa<AssertOp>(op))
    operands[0] = {
        choose(r, mask, mapped(r, operands[0], length), r.splatLike(mask, 1)),
        true};
  if (isa<AssertEqOp, AssertCloseOp>(op)) {
    Value lhs = mapped(r, operands[0], length);
    Value rhs = mapped(r, operands[1], length);
    operands[0] = {lhs, true};
    operands[1] = {choose(r, mask, rhs, lhs), true};
  }
}

//===-- Maps --------------------------------------------------------------===//

LogicalResult expandMap(MapOp op) {
  OpBuilder builder(op);
  RuleBuilder r(builder, op.getLoc());
  op.getBody().walk([](RematOp remat) { captureAsInputs(remat); });
  Block &body = op.getBody().front();
  BatchMode batch(builder, op.getLength());
  for (auto [argument, input, axis] :
       llvm::zip_equal(body.getArguments(), op.getInputs(), op.getAxes()))
    batch.set(argument, axis < 0
                            ? BatchedValue{input, false}
                            : BatchedValue{r.moveAxis(input, axis, 0), true});
  if (failed(batch.build(body)))
    return failure();
  SmallVector<Value> results;
  for (Value yielded : body.getTerminator()->getOperands())
    results.push_back(batch.getMapped(yielded));
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

} // namespace astra
