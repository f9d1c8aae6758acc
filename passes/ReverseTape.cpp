// Reverse mode of loops whose length is known only when they run. Each step of
// the forward loop leaves what its backward step needs (see Residuals.h) on
// tapes, which grow as it runs; the backward loop counts the steps down and
// reads them. Loops inside leave tapes themselves: those are entries of tapes
// of the loop around, also where that is a scan.
#include "passes/Residuals.h"
#include "passes/ReverseMode.h"
#include "passes/TapeUse.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

//===-- Further states ----------------------------------------------------===//

SmallVector<Value> addStates(
    Operation *&loop, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(RuleBuilder &, ValueRange)> next,
    Retired &retired) {
  Operation *old = loop;
  OpBuilder outside(old);
  RuleBuilder r(outside, old->getLoc());
  auto scan = dyn_cast<ScanOp>(old);
  // A scan has slices and outputs behind its states.
  unsigned numState = scan ? scan.getNumState() : old->getNumResults();
  unsigned leading = isa<ForOp>(old);
  SmallVector<Value> operands(old->getOperands());
  SmallVector<Type> types(old->getResultTypes()), added(inits.getTypes());
  operands.insert(operands.begin() + 2 * leading + numState, inits.begin(),
                  inits.end());
  types.insert(types.begin() + numState, added.begin(), added.end());
  SmallVector<NamedAttribute> attributes;
  if (scan)
    attributes.push_back(r.integer("num_state", numState + inits.size()));
  loop = rebuild(old, operands, types, attributes);

  SmallVector<Value> states;
  for (Region &region : loop->getRegions()) {
    states.clear();
    for (auto [i, type] : llvm::enumerate(added))
      states.push_back(region.front().insertArgument(leading + numState + i,
                                                     type, old->getLoc()));
  }
  Operation *end = loop->getRegions().back().front().getTerminator();
  OpBuilder inside(end);
  RuleBuilder step(inside, old->getLoc());
  end->insertOperands(numState, next(step, states));

  ResultRange results = loop->getResults();
  SmallVector<Value> same(results.take_front(numState));
  llvm::append_range(same, results.drop_front(numState + added.size()));
  retired.replace(old, same);
  return SmallVector<Value>(results.slice(numState, added.size()));
}

/// Which state of a loop counts its steps from 0, once countSteps() was here.
static constexpr llvm::StringLiteral kCounted = "counted";

static std::optional<unsigned> countingState(Operation *loop) {
  auto state = loop->getAttrOfType<IntegerAttr>(kCounted);
  // In a batch each element may have a count of its own.
  if (!state || rankOf(loop->getResult(state.getInt())) != 0)
    return std::nullopt;
  return state.getInt();
}

Value countSteps(Operation *&loop, Retired &retired) {
  OpBuilder outside(loop);
  RuleBuilder r(outside, loop->getLoc());
  Value zero = r.splat(TensorType::getScalar(outside.getI64Type()), 0);
  if (auto counted = dyn_cast<ForOp>(loop))
    return r.binary<MaximumOp>(r.sub(counted.getEnd(), counted.getBegin()),
                               zero);
  if (std::optional<unsigned> state = countingState(loop))
    return loop->getResult(*state);
  auto next = [](RuleBuilder &step, ValueRange states) {
    Value one = step.splatLike(states[0], 1);
    return SmallVector<Value>{step.add(states[0], one)};
  };
  unsigned state = isa<ScanOp>(loop) ? cast<ScanOp>(loop).getNumState()
                                     : loop->getNumResults();
  Value steps = addStates(loop, zero, next, retired)[0];
  loop->setAttr(kCounted, outside.getI64IntegerAttr(state));
  return steps;
}

//===-- Tapes -------------------------------------------------------------===//

std::pair<SmallVector<Value>, Value>
pushOnTapes(Operation *&loop, ArrayRef<Value> values, Retired &retired) {
  Value steps = countSteps(loop, retired);
  OpBuilder outside(loop);
  RuleBuilder r(outside, loop->getLoc());
  SmallVector<Value> tapes;
  for (Value value : values)
    tapes.push_back(
        r.zeros(TapeType::get(value.getContext(), value.getType())));
  if (tapes.empty())
    return {tapes, steps};
  Block &body = loop->getRegions().back().front();
  auto next = [&](RuleBuilder &step, ValueRange states) {
    auto counted = dyn_cast<ForOp>(loop);
    Value index = counted ? step.sub(body.getArgument(0), counted.getBegin())
                          : Value(body.getArgument(*countingState(loop)));
    SmallVector<Value> written;
    for (auto [tape, value] : llvm::zip_equal(states, values))
      written.push_back(step.writeTape(tape, index, value));
    return written;
  };
  return {addStates(loop, tapes, next, retired), steps};
}

//===-- The backward loop -------------------------------------------------===//

/// Whether a value of the body is the number of the step, from 0.
static bool isStepOf(Operation *loop, Value v) {
  Block &body = loop->getRegions().back().front();
  if (auto counted = dyn_cast<ForOp>(loop)) {
    auto moved = v.getDefiningOp<SubOp>();
    return moved && moved.getLhs() == body.getArgument(0) &&
           moved.getRhs() == counted.getBegin();
  }
  std::optional<unsigned> state = countingState(loop);
  return state && v == body.getArgument(*state);
}

/// What of the step at `step` is known without a tape: its number, and what it
/// left on the tape of another derivative already.
static Value knownAt(RuleBuilder &r, Operation *loop, Value of, Value step) {
  Block &body = loop->getRegions().back().front();
  auto counted = dyn_cast<ForOp>(loop);
  if (counted && of == body.getArgument(0))
    return r.add(counted.getBegin(), step);
  if (isStepOf(loop, of))
    return step;
  for (OpOperand &use : of.getUses()) {
    auto write = dyn_cast<TapeWriteOp>(use.getOwner());
    if (!write || write.getValue() != of || write.getAdd() ||
        !isStepOf(loop, write.getIndex()))
      continue;
    auto end =
        llvm::find(body.getTerminator()->getOperands(), write.getResult());
    Value tape =
        loop->getResult(end - body.getTerminator()->getOperands().begin());
    if (isOnlyRead(tape))
      return r.readTape(tape, step);
  }
  return nullptr;
}

LogicalResult ReverseMode::reverseTaped(Operation *op, ArrayRef<Value> given,
                                        Cotangents &outer) {
  RuleBuilder r(builder, op->getLoc());
  Location loc = op->getLoc();
  unsigned first = isa<ForOp>(op);
  Block &forward = op->getRegions().back().front();
  SmallVector<Value> inits(op->getOperands().drop_front(2 * first));

  BackwardStep step;
  TensorType i64 = TensorType::getScalar(builder.getI64Type());
  Value index = step.block().addArgument(i64, loc);
  step.targets = activeCaptures(op);
  if (failed(buildStep(forward, first, inits, {}, step)))
    return failure();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&step.block());
    YieldOp::create(builder, loc, step.next);
  }
  eraseStep(step);

  // What the backward step reads.
  Residuals residuals(forward, step.region);
  OpBuilder atStart(builder.getContext());
  atStart.setInsertionPointToStart(&step.block());
  RuleBuilder inside(atStart, loc);
  SmallVector<Value> found, kept;
  for (Value value : residuals.getValues()) {
    found.push_back(knownAt(inside, op, value, index));
    if (!found.back())
      kept.push_back(value);
  }
  auto [tapes, steps] = pushOnTapes(op, kept, retired);
  for (Value &value : found)
    if (!value) {
      value = inside.readTape(tapes.front(), index);
      tapes.erase(tapes.begin());
    }
  residuals.replace(atStart, found);

  SmallVector<Value> operands{r.splat(i64, 0), steps};
  for (unsigned i : step.states)
    operands.push_back(given[i] ? given[i] : r.splatLike(inits[i], 0));
  for (Value target : step.targets) {
    Value before = outer.getApplied(r, target);
    operands.push_back(before ? before : r.splatLike(target, 0));
  }
  // A loop that runs down itself is followed upwards.
  SmallVector<NamedAttribute> attributes;
  if (auto counted = dyn_cast<ForOp>(op); !counted || !counted.getReverse())
    attributes.push_back(r.unit("reverse"));
  auto back =
      ForOp::create(builder, loc, TypeRange(ValueRange(operands).drop_front(2)),
                    operands, attributes);
  back.getBody().takeBody(step.region);
  addStepResults(r, step, inits, back->getResults(), outer);
  return success();
}

} // namespace astra
