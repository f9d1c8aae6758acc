// The forward walk: see ForwardMode.h.
#include "passes/ForwardMode.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

Value ForwardMode::tangentOrZero(RuleBuilder &r, Value of) const {
  Value tangent = getTangent(of);
  return tangent ? tangent : r.splatLike(of, 0);
}

LogicalResult ForwardMode::walk(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator())
    operations.push_back(&op);
  for (Operation *op : operations)
    if (failed(visit(*op)))
      return failure();
  return success();
}

LogicalResult ForwardMode::visit(Operation &op) {
  if (!activity.anyOf(op.getResults()))
    return success();
  if (auto custom = dyn_cast<CustomDerivativeOp>(op))
    return visitCustom(custom);
  if (op.getNumRegions() != 0)
    return visitRegions(op);
  return visitWithRule(op);
}

LogicalResult ForwardMode::visitWithRule(Operation &op) {
  SmallVector<Value> given, results(op.getNumResults());
  for (Value operand : op.getOperands())
    given.push_back(getTangent(operand));
  if (llvm::none_of(given, [](Value t) { return bool(t); }))
    return success();
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(&op);
  if (failed(requireRule(&op)))
    return failure();
  if (failed(cast<GradientOpInterface>(op).buildJvp(builder, given, results)))
    return op.emitError("E0707: `")
           << op.getName().stripDialect() << "` has no forward derivative rule";
  for (auto [result, tangent] : llvm::zip_equal(op.getResults(), results))
    if (tangent)
      setTangent(result, tangent);
  return success();
}

LogicalResult ForwardMode::visitCustom(CustomDerivativeOp op) {
  if (op.getJvp().empty())
    return op.emitError("E0708: this function has a derivative rule for the "
                        "reverse direction only; add a `jvp` rule to it");
  if (failed(requireNoActiveCapture(op, activity)))
    return failure();
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(op);
  RuleBuilder r(builder, op.getLoc());
  SmallVector<Value> operands(op.getInputs());
  for (Value input : op.getInputs())
    if (isFloatTensor(input))
      operands.push_back(tangentOrZero(r, input));
  SmallVector<Value> results =
      inlineBlock(builder, op.getJvp().front(), operands);
  unsigned next = 0;
  for (Value result : op.getResults())
    if (isFloatTensor(result))
      setTangent(result, results[next++]);
  return success();
}

//===-- Regions -----------------------------------------------------------===//

SmallVector<Value> ForwardMode::tangentsWhereActive(RuleBuilder &r,
                                                    ValueRange values,
                                                    ValueRange like) const {
  SmallVector<Value> found;
  for (auto [value, counterpart] : llvm::zip_equal(values, like))
    if (activity.contains(counterpart))
      found.push_back(tangentOrZero(r, value));
  return found;
}

void ForwardMode::addTangentArguments(Block &block, unsigned first,
                                      unsigned count, unsigned at) {
  SmallVector<Value> arguments(block.getArguments().slice(first, count));
  for (Value argument : arguments)
    if (activity.contains(argument))
      setTangent(argument, block.insertArgument(at++, argument.getType(),
                                                argument.getLoc()));
}

void ForwardMode::yieldTangents(Block &block, unsigned first, ValueRange like,
                                unsigned at) {
  Operation *end = block.getTerminator();
  OpBuilder builder(end);
  RuleBuilder r(builder, end->getLoc());
  SmallVector<Value> values(end->getOperands().slice(first, like.size()));
  end->insertOperands(at, tangentsWhereActive(r, values, like));
}

/// The types of the active ones.
static SmallVector<Type> activeTypes(Activity &activity, ValueRange values) {
  SmallVector<Type> types;
  for (Value value : values)
    if (activity.contains(value))
      types.push_back(value.getType());
  return types;
}

LogicalResult ForwardMode::visitRegions(Operation &op) {
  // Every such operation has up to two groups of values, the state and the
  // slices (or results); the tangents of a group stand behind it.
  OpBuilder builder(&op);
  RuleBuilder r(builder, op.getLoc());
  unsigned numOperands = op.getNumOperands(), numResults = op.getNumResults();
  Block &body = op.getRegion(op.getNumRegions() - 1).front();
  unsigned leadingOperands = 0, leadingArguments = 0;
  unsigned stateOperands = numOperands, stateResults = numResults;
  if (isa<IfOp>(op)) {
    leadingOperands = 1, stateOperands = 0;
  } else if (isa<ForOp>(op)) {
    leadingOperands = 2, leadingArguments = 1, stateOperands = numOperands - 2;
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    stateOperands = stateResults = scan.getNumState();
  } else if (isa<ReduceOp>(op)) {
    stateOperands = numResults;
  }

  // Operands, and the arguments that they become.
  SmallVector<Value> operands(op.getOperands());
  SmallVector<Value> arguments(
      body.getArguments().drop_front(leadingArguments));
  SmallVector<NamedAttribute> attributes;
  auto insertOperands = [&](unsigned first, unsigned count, unsigned at) {
    SmallVector<Value> extra = tangentsWhereActive(
        r, ValueRange(op.getOperands()).slice(leadingOperands + first, count),
        ValueRange(arguments).slice(first, count));
    operands.insert(operands.begin() + at, extra.begin(), extra.end());
    return extra.size();
  };
  unsigned restOperands = numOperands - leadingOperands - stateOperands;
  if (!isa<IfOp>(op))
    insertOperands(stateOperands, restOperands, numOperands);
  unsigned stateTangents =
      isa<IfOp>(op)
          ? 0
          : insertOperands(0, stateOperands, leadingOperands + stateOperands);
  if (auto map = dyn_cast<MapOp>(op)) {
    Axes axes(map.getAxes());
    for (auto [axis, argument] : llvm::zip_equal(map.getAxes(), arguments))
      if (activity.contains(argument))
        axes.push_back(axis);
    attributes.push_back(r.ints("axes", axes));
  }
  if (isa<ScanOp>(op))
    attributes.push_back(r.integer("num_state", stateOperands + stateTangents));

  // Results: those of the state, then the others.
  ValueRange state = op.getResults().take_front(stateResults);
  ValueRange rest = op.getResults().drop_front(stateResults);
  SmallVector<Type> types(state.getTypes());
  llvm::append_range(types, activeTypes(activity, state));
  unsigned numState = types.size();
  llvm::append_range(types, rest.getTypes());
  llvm::append_range(types, activeTypes(activity, rest));

  Operation *made = rebuild(&op, operands, types, attributes);
  for (Region &region : made->getRegions()) {
    Block &block = region.front();
    if (!isa<IfOp>(op)) {
      unsigned end = block.getNumArguments();
      addTangentArguments(block, leadingArguments + stateOperands,
                          end - leadingArguments - stateOperands, end);
      addTangentArguments(block, leadingArguments, stateOperands,
                          leadingArguments + stateOperands);
    }
    if (isa<WhileOp>(op) && &region == &made->getRegion(0))
      continue; // the condition has no tangents
    if (failed(walk(block)))
      return failure();
    yieldTangents(block, stateResults, rest, numResults);
    yieldTangents(block, 0, state, stateResults);
  }

  unsigned next = 0, nextTangent = stateResults;
  for (Value result : op.getResults()) {
    if (next == stateResults) {
      next = numState;
      nextTangent = numState + rest.size();
    }
    result.replaceAllUsesWith(made->getResult(next));
    if (activity.contains(result))
      setTangent(made->getResult(next), made->getResult(nextTangent++));
    ++next;
  }
  op.erase();
  return success();
}

} // namespace astra
