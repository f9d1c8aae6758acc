// The reverse walk over straight-line code: see ReverseMode.h.
#include "passes/ReverseMode.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

LogicalResult ReverseMode::walk(Block &block, Cotangents &cotangents) {
  // The walk itself may add to the block: what it built needs no derivative.
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator())
    operations.push_back(&op);
  for (Operation *op : llvm::reverse(operations))
    if (failed(visit(*op, cotangents)))
      return failure();
  return success();
}

LogicalResult ReverseMode::visit(Operation &op, Cotangents &cotangents) {
  bool wanted = llvm::any_of(op.getResults(), [&](Value result) {
    return activity.contains(result) && cotangents.has(result);
  });
  if (!wanted)
    return success();
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<CustomDerivativeOp>(
          [&](auto custom) { return visitCustom(custom, cotangents); })
      .Case<RematOp>([&](auto remat) { return visitRemat(remat, cotangents); })
      .Case<IfOp>([&](auto branch) { return visitIf(branch, cotangents); })
      .Case<ScanOp>([&](auto scan) { return visitScan(scan, cotangents); })
      .Case<ForOp>([&](auto loop) { return visitFor(loop, cotangents); })
      .Case<WhileOp>([&](auto loop) { return visitWhile(loop, cotangents); })
      .Case<ReduceOp>(
          [&](auto reduce) { return visitReduce(reduce, cotangents); })
      .Default([&](Operation *) { return visitWithRule(op, cotangents); });
}

void Retired::replace(Operation *op, ValueRange results) {
  op->replaceAllUsesWith(results);
  op->setOperands({});
  entries.emplace_back(op, SmallVector<Value>(results));
}

void Retired::settle(size_t first) {
  // In this order: what replaced an operation may have been replaced in turn.
  for (auto &[op, results] : llvm::drop_begin(entries, first))
    op->replaceAllUsesWith(results);
  for (auto &[op, results] : llvm::drop_begin(entries, first))
    op->erase();
  entries.truncate(first);
}

void ReverseMode::eraseUnused(size_t first) {
  while (built.size() > first) {
    Operation *op = built.pop_back_val();
    if (op->use_empty() && !isa<YieldOp>(op))
      op->erase();
  }
}

//===-- Operations with a rule --------------------------------------------===//

/// The condition under which a result's cotangent counts, over an operand: null
/// if the operation mixes elements, so that it must be applied before.
static Value moveCondition(RuleBuilder &r, Operation &op, Value operand,
                           Value condition) {
  if (op.hasTrait<DiagonalJacobian>())
    return condition;
  return TypeSwitch<Operation *, Value>(&op)
      .Case<SumOp>([&](SumOp sum) {
        return r.expand(condition, operand, sum.getAxes());
      })
      .Case<ReshapeOp>(
          [&](ReshapeOp) { return r.reshape(condition, r.boolLike(operand)); })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        Axes inverse(transpose.getPerm().size());
        for (auto [i, axis] : llvm::enumerate(transpose.getPerm()))
          inverse[axis] = i;
        return r.transpose(condition, inverse);
      })
      .Default(Value());
}

namespace {
/// Notes what a rule builds at the top of the block where the builder stands.
class Recorder : public OpBuilder::Listener {
public:
  Recorder(OpBuilder &builder, SmallVectorImpl<Operation *> &built)
      : builder(builder), block(builder.getInsertionBlock()), built(built) {
    builder.setListener(this);
  }
  ~Recorder() override { builder.setListener(nullptr); }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (op->getBlock() == block)
      built.push_back(op);
  }

private:
  OpBuilder &builder;
  Block *block;
  SmallVectorImpl<Operation *> &built;
};
} // namespace

/// A cotangent that a rule made by selecting between something and zero.
static Cotangent peel(Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  if (select && splatOf(select.getIfFalse()) == 0.0)
    return {select.getIfTrue(), select.getCondition(), true};
  if (select && splatOf(select.getIfTrue()) == 0.0)
    return {select.getIfFalse(), select.getCondition(), false};
  return {value, nullptr, true};
}

LogicalResult ReverseMode::visitWithRule(Operation &op,
                                         Cotangents &cotangents) {
  RuleBuilder r(builder, op.getLoc());
  Cotangent whole = cotangents.get(op.getResult(0));
  bool deferred = op.getNumResults() == 1 && whole.condition &&
                  moveCondition(r, op, op.getOperand(0), whole.condition);
  SmallVector<Value> given, parts(op.getNumOperands());
  for (Value result : op.getResults())
    given.push_back(deferred ? whole.value : cotangents.getApplied(r, result));
  if (failed(requireRule(&op)))
    return failure();
  LogicalResult done = [&] {
    Recorder recorder(builder, built);
    return cast<GradientOpInterface>(op).buildVjp(builder, given, parts);
  }();
  if (failed(done))
    return op.emitError("E0707: `")
           << op.getName().stripDialect() << "` has no reverse derivative rule";
  for (int i = op.getNumOperands() - 1; i >= 0; --i) {
    Value operand = op.getOperand(i);
    if (!parts[i] || !activity.contains(operand))
      continue;
    Cotangent part = peel(parts[i]);
    if (deferred)
      part = restrict(r, part, moveCondition(r, op, operand, whole.condition),
                      whole.whereTrue);
    cotangents.add(r, operand, part);
  }
  return success();
}

//===-- Own rules and rematerialisation -----------------------------------===//

/// The cotangents of the float results, zeros made where there is none.
static SmallVector<Value> floatCotangents(RuleBuilder &r, Operation *op,
                                          Cotangents &cotangents) {
  SmallVector<Value> given;
  for (Value result : op->getResults())
    if (isFloatTensor(result))
      given.push_back(cotangents.has(result) ? cotangents.getApplied(r, result)
                                             : r.splatLike(result, 0));
  return given;
}

/// Adds the cotangents of those `operands` that are floats, last first.
static void addAll(RuleBuilder &r, Activity &activity, ValueRange operands,
                   ValueRange parts, Cotangents &cotangents) {
  SmallVector<Value> floats(llvm::make_filter_range(
      operands, [](Value v) { return isFloatTensor(v); }));
  for (auto [operand, part] : llvm::reverse(llvm::zip_equal(floats, parts)))
    if (activity.contains(operand))
      cotangents.add(r, operand, {part, nullptr, true});
}

LogicalResult ReverseMode::visitCustom(CustomDerivativeOp op,
                                       Cotangents &cotangents) {
  RuleBuilder r(builder, op.getLoc());
  if (failed(requireNoActiveCapture(op, activity)))
    return failure();
  SmallVector<Value> operands(op.getInputs());
  llvm::append_range(operands, floatCotangents(r, op, cotangents));
  FailureOr<SmallVector<Value>> parts =
      op.getVjp().empty() ? transposeTangentRule(builder, op, operands)
                          : inlineBlock(builder, op.getVjp().front(), operands);
  if (failed(parts))
    return failure();
  addAll(r, activity, op.getInputs(), *parts, cotangents);
  return success();
}

/// A value that is given twice is one variable inside.
static void mergeEqualInputs(RematOp op) {
  llvm::DenseMap<Value, Value> first;
  for (auto [input, argument] :
       llvm::zip_equal(op.getInputs(), op.getBody().getArguments())) {
    auto [it, fresh] = first.try_emplace(input, argument);
    if (!fresh)
      argument.replaceAllUsesWith(it->second);
  }
}

LogicalResult ReverseMode::visitRemat(RematOp op, Cotangents &cotangents) {
  RuleBuilder r(builder, op.getLoc());
  captureAsInputs(op);
  mergeEqualInputs(op);
  SmallVector<Value> operands(op.getInputs());
  unsigned numArgs = operands.size();
  llvm::append_range(operands, floatCotangents(r, op, cotangents));
  // The sums of the inputs go on inside, in the order of the plain region.
  Axes wrt;
  SmallVector<Value> targets, before;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (activity.contains(input) && !op.getBody().getArgument(i).use_empty()) {
      wrt.push_back(i);
      targets.push_back(input);
      before.push_back(cotangents.getApplied(r, input));
    }
  FailureOr<RematOp> again =
      buildRematVjp(builder, op, operands, numArgs, wrt, before);
  if (failed(again))
    return failure();
  for (auto [target, sum] : llvm::zip_equal(targets, again->getResults())) {
    cotangents.erase(target);
    cotangents.add(r, target, {sum, nullptr, true});
  }
  return success();
}

} // namespace astra
