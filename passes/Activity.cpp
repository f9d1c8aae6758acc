// Activity analysis: see Activity.h.
#include "passes/Activity.h"
#include "dialect/Builder.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace astra {

bool Activity::insert(Value v) {
  return (kind == Kind::Batch || isFloatTensor(v)) && active.insert(v).second;
}
bool Activity::anyOf(ValueRange values) const {
  return llvm::any_of(values, [&](Value v) { return contains(v); });
}

void Activity::insertAll(ValueRange values) {
  for (Value v : values)
    insert(v);
}

void Activity::propagate(Block &block) {
  for (Operation &op : block)
    propagate(op);
}

bool Activity::matchTapes(Block &block) {
  bool changed = false;
  // Values that are one tape at different times, or hold one another.
  auto match = [&](ValueRange values) {
    auto tapes = llvm::make_filter_range(
        values, [](Value v) { return isa<TapeType>(v.getType()); });
    if (llvm::any_of(tapes, [&](Value v) { return contains(v); }))
      for (Value tape : tapes)
        changed |= insert(tape);
  };
  block.walk([&](Operation *op) {
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    if (op->getNumRegions() == 0 && !isa<YieldOp>(op))
      return match(values);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      values = {result};
      unsigned first = isa<ForOp>(op);
      // A tape among the results of a loop is a state.
      bool isState =
          isa<TapeType>(result.getType()) && isa<ForOp, WhileOp, ScanOp>(op);
      if (isState)
        values.push_back(op->getOperand(i + 2 * first));
      for (Region &region : op->getRegions()) {
        Block &inner = region.front();
        if (isState)
          values.push_back(inner.getArgument(i + first));
        if (Operation *end = inner.getTerminator(); i < end->getNumOperands())
          values.push_back(end->getOperand(i));
      }
      match(values);
    }
  });
  return changed;
}

void Activity::propagate(Operation &op) {
  if (kind == Kind::Derivative && isa<StopGradientOp>(op))
    return;
  if (isa<CustomDerivativeOp>(op) && kind == Kind::Batch &&
      anyOf(capturesOf(&op).getArrayRef()))
    insertAll(op.getResults());
  if (op.getNumRegions() != 0 && !isa<CustomDerivativeOp>(op))
    return propagateRegions(op);
  if (anyOf(op.getOperands()))
    insertAll(op.getResults());
}

static Operation *terminatorOf(Region &region) {
  return region.front().getTerminator();
}

/// The values that stand for the i-th of `sources` in turn become active
/// together with it.
static bool flow(Activity &activity, ValueRange sources, ValueRange targets) {
  bool changed = false;
  for (auto [source, target] : llvm::zip(sources, targets))
    if (activity.contains(source))
      changed |= activity.insert(target);
  return changed;
}

void Activity::propagateRegions(Operation &op) {
  // Where the values of an operation's regions come from and go to. A loop's
  // state goes round until nothing changes.
  if (auto branch = dyn_cast<IfOp>(op)) {
    for (Region &region : op.getRegions()) {
      propagate(region.front());
      flow(*this, terminatorOf(region)->getOperands(), op.getResults());
    }
    if (contains(branch.getCondition()))
      insertAll(op.getResults());
    return;
  }
  Region &body = op.getRegion(op.getNumRegions() - 1);
  Block &block = body.front();
  auto inner = [&] {
    propagate(block);
    return terminatorOf(body)->getOperands();
  };
  if (auto loop = dyn_cast<ForOp>(op)) {
    auto state = block.getArguments().drop_front();
    // The counter is one for all elements if they begin together.
    if (contains(loop.getBegin()))
      insert(block.getArgument(0));
    if (contains(loop.getBegin()) || contains(loop.getEnd()))
      insertAll(state);
    flow(*this, loop.getInit(), state);
    while (flow(*this, inner(), state)) {
    }
  } else if (auto loop = dyn_cast<WhileOp>(op)) {
    flow(*this, loop.getInit(), block.getArguments());
    while (flow(*this, inner(), block.getArguments())) {
    }
    flow(*this, block.getArguments(), loop.getCond().getArguments());
    propagate(loop.getCond().front());
    if (contains(terminatorOf(loop.getCond())->getOperand(0))) {
      insertAll(block.getArguments());
      insertAll(loop.getCond().getArguments());
      propagate(loop.getCond().front());
    }
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    flow(*this, scan.getInputs(), block.getArguments());
    auto state = block.getArguments().take_front(scan.getNumState());
    while (flow(*this, inner(), state)) {
    }
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    unsigned count = op.getNumResults();
    auto left = block.getArguments().take_front(count);
    auto right = block.getArguments().drop_front(count);
    flow(*this, reduce.getInputs().take_front(count), left);
    flow(*this, reduce.getInputs().drop_front(count), left);
    do {
      flow(*this, left, right);
    } while (flow(*this, inner(), left));
  } else {
    flow(*this, op.getOperands(), block.getArguments()); // map, remat
  }
  flow(*this, inner(), op.getResults());
  // What a loop starts from is its result too, if it runs no step.
  auto scan = dyn_cast<ScanOp>(op);
  if (scan)
    flow(*this, block.getArguments().take_front(scan.getNumState()),
         op.getResults());
  else if (isa<ForOp, WhileOp>(op))
    flow(*this, block.getArguments().drop_front(isa<ForOp>(op)),
         op.getResults());
}

llvm::SetVector<Value> capturesOf(Operation *op) {
  llvm::SetVector<Value> captures;
  getUsedValuesDefinedAbove(op->getRegions(), captures);
  return captures;
}

} // namespace astra
