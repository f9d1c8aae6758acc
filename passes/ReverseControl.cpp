// Reverse mode of branches, scans and loops of known length. The backward
// operation mirrors the forward one; what it needs of the forward values is
// carried over as further results (see Residuals.h). The cotangents of values
// from outside run through it as accumulators, so that the sum goes on from the
// last use to the first and a step that reads one element adds one element.
#include "mlir/IR/IRMapping.h"
#include "passes/Residuals.h"
#include "passes/ReverseMode.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

/// The cotangents of the results, null where there is none, taken out.
static SmallVector<Value> takeAll(RuleBuilder &r, ValueRange results,
                                  Cotangents &cotangents) {
  SmallVector<Value> taken;
  for (Value result : results) {
    taken.push_back(cotangents.getApplied(r, result));
    cotangents.erase(result);
  }
  return taken;
}

SmallVector<Value> ReverseMode::activeCaptures(Operation *op) {
  SmallVector<Value> targets;
  for (Value capture : capturesOf(op))
    if (activity.contains(capture))
      targets.push_back(capture);
  return targets;
}

/// What the block yields gets the given cotangents.
void ReverseMode::seed(RuleBuilder &r, ValueRange yielded, ValueRange given,
                       Cotangents &cotangents) {
  for (auto [value, cotangent] : llvm::zip_equal(yielded, given))
    if (cotangent && activity.contains(value))
      cotangents.add(r, value, {cotangent, nullptr, true});
}

static Value orZero(RuleBuilder &r, Value v, Value like) {
  return v ? v : r.splatLike(like, 0);
}

//===-- Branches ----------------------------------------------------------===//

/// Carries each branch's residuals out of the forward `if`. Branches share a
/// result where the types agree; the one that has nothing for it gives zeros.
static void carryOut(IfOp op, ArrayRef<Residuals *> residuals,
                     Retired &retired) {
  SmallVector<Type> types(op->getResultTypes());
  unsigned numResults = types.size();
  SmallVector<SmallVector<unsigned>> places(2);
  for (unsigned i = 0; i < 2; ++i)
    for (Value value : residuals[i]->getValues()) {
      // A tape has one owner, and is found by who is none (see batching).
      unsigned place =
          isa<TapeType>(value.getType()) ? types.size() : numResults;
      while (place < types.size() && (types[place] != value.getType() ||
                                      llvm::is_contained(places[i], place)))
        ++place;
      if (place == types.size())
        types.push_back(value.getType());
      places[i].push_back(place);
    }
  auto made = rebuild(op, op->getOperands(), types);
  for (unsigned i = 0; i < 2; ++i) {
    Operation *end = made->getRegion(i).front().getTerminator();
    OpBuilder builder(end);
    RuleBuilder r(builder, op.getLoc());
    SmallVector<Value> extra(types.size() - numResults), carried;
    for (auto [value, place] :
         llvm::zip_equal(residuals[i]->getValues(), places[i])) {
      extra[place - numResults] = value;
      carried.push_back(made->getResult(place));
    }
    for (auto [value, type] :
         llvm::zip_equal(extra, ArrayRef(types).drop_front(numResults)))
      if (!value)
        value = isa<TapeType>(type) ? r.make<TapeNoneOp>(type, {})
                                    : r.splat(type, 0);
    end->insertOperands(numResults, extra);
    residuals[i]->replace(carried);
  }
  retired.replace(op, made->getResults().take_front(numResults));
}

LogicalResult ReverseMode::visitIf(IfOp op, Cotangents &outer) {
  RuleBuilder r(builder, op.getLoc());
  Value condition = op.getCondition();
  SmallVector<Value> given = takeAll(r, op->getResults(), outer);
  SmallVector<Value> targets = activeCaptures(op), before;
  for (Value target : targets) {
    before.push_back(outer.getApplied(r, target));
    // Both branches go on with one tape.
    if (!before.back() && isa<TapeType>(target.getType()))
      before.back() = r.splatLike(target, 0);
  }

  size_t firstBuilt = built.size(), firstRetired = retired.size();
  Region backward[2];
  SmallVector<Value> after[2];
  for (unsigned i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&backward[i].emplaceBlock());
    Block &forward = op->getRegion(i).front();
    Cotangents local;
    seed(r, targets, before, local);
    seed(r, forward.getTerminator()->getOperands(), given, local);
    if (failed(walk(forward, local)))
      return failure();
    for (Value target : targets)
      after[i].push_back(local.getApplied(r, target));
  }

  SmallVector<unsigned> changed;
  SmallVector<Type> types;
  for (unsigned t = 0; t < targets.size(); ++t)
    if (after[0][t] != before[t] || after[1][t] != before[t]) {
      changed.push_back(t);
      types.push_back(targets[t].getType());
    }
  for (unsigned i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&backward[i].front());
    SmallVector<Value> yielded;
    for (unsigned t : changed)
      yielded.push_back(orZero(r, after[i][t], targets[t]));
    YieldOp::create(builder, op.getLoc(), yielded);
  }
  retired.settle(firstRetired);
  eraseUnused(firstBuilt);
  if (changed.empty())
    return success();

  auto back = IfOp::create(builder, op.getLoc(), types, ValueRange{condition},
                           ArrayRef<NamedAttribute>());
  for (auto [i, target] : llvm::enumerate(changed)) {
    outer.erase(targets[target]);
    outer.add(r, targets[target], {back->getResult(i), nullptr, true});
  }
  for (unsigned i = 0; i < 2; ++i)
    useForward(op->getRegion(i).front(), backward[i].front());
  Residuals thenPart(op.getThenRegion().front(), backward[0]);
  Residuals elsePart(op.getElseRegion().front(), backward[1]);
  carryOut(op, {&thenPart, &elsePart}, retired);
  back.getThenRegion().takeBody(backward[0]);
  back.getElseRegion().takeBody(backward[1]);
  return success();
}

//===-- Scans -------------------------------------------------------------===//

LogicalResult ReverseMode::buildStep(Block &forward, unsigned first,
                                     ValueRange states, ArrayRef<Value> outputs,
                                     BackwardStep &step) {
  RuleBuilder r(builder, forward.getParentOp()->getLoc());
  Block &block = step.block();
  step.firstBuilt = built.size();
  step.firstRetired = retired.size();
  ValueRange yielded = forward.getTerminator()->getOperands();
  SmallVector<Value> seeds(yielded.size()), accumulators;
  for (unsigned i = 0; i < states.size(); ++i)
    if (activity.contains(forward.getArgument(first + i))) {
      step.states.push_back(i);
      seeds[i] = block.addArgument(states[i].getType(), r.getLoc());
    }
  for (Value target : step.targets)
    accumulators.push_back(block.addArgument(target.getType(), r.getLoc()));
  for (auto [i, given] : llvm::enumerate(outputs))
    if (given)
      seeds[states.size() + i] =
          block.addArgument(yielded[states.size() + i].getType(), r.getLoc());

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  seed(r, step.targets, accumulators, step.cotangents);
  seed(r, yielded, seeds, step.cotangents);
  if (failed(walk(forward, step.cotangents)))
    return failure();
  for (unsigned i : step.states) {
    Value argument = forward.getArgument(first + i);
    Value cotangent = step.cotangents.getApplied(r, argument);
    step.next.push_back(orZero(r, cotangent, argument));
  }
  SmallVector<Value> changed;
  for (auto [target, accumulator] :
       llvm::zip_equal(step.targets, accumulators)) {
    Value after = step.cotangents.getApplied(r, target);
    if (after == accumulator) {
      block.eraseArgument(cast<BlockArgument>(accumulator).getArgNumber());
      continue;
    }
    changed.push_back(target);
    step.next.push_back(after);
  }
  step.targets = changed;
  return success();
}

void ReverseMode::eraseStep(BackwardStep &step) {
  retired.settle(step.firstRetired);
  eraseUnused(step.firstBuilt);
}

void ReverseMode::addStepResults(RuleBuilder &r, BackwardStep &step,
                                 ArrayRef<Value> inits, ValueRange results,
                                 Cotangents &outer) {
  // An initial value may be a value from outside as well: its sum goes on.
  ValueRange sums = results.drop_front(step.states.size());
  for (auto [target, sum] : llvm::zip(step.targets, sums)) {
    outer.erase(target);
    addResult(r, target, sum, outer);
  }
  for (auto [i, cotangent] : llvm::zip(step.states, results))
    addResult(r, inits[i], cotangent, outer);
}

static TensorType stacked(Value v, const Dim &length) {
  SmallVector<Dim> shape = shapeOf(v);
  shape.insert(shape.begin(), length);
  return typeOf(v).withShape(shape);
}

/// Has the forward scan stack the residuals of each step, and gives them back
/// in the backward order. A slice that the scan reads is read again.
static SmallVector<Value> carryStacked(RuleBuilder &r, ScanOp scan,
                                       ArrayRef<Value> residuals,
                                       Retired &retired) {
  unsigned numState = scan.getNumState();
  SmallVector<Type> types(scan->getResultTypes());
  SmallVector<Value> extra, sources(residuals.size());
  for (auto [i, value] : llvm::enumerate(residuals)) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getArgNumber() >= numState) {
      sources[i] = scan.getInputs()[argument.getArgNumber()];
      continue;
    }
    extra.push_back(value);
    types.push_back(stacked(value, scan.getLength()));
  }
  unsigned next = scan->getNumResults();
  Operation *made = scan;
  if (!extra.empty()) {
    made = rebuild(scan, scan->getOperands(), types);
    Operation *end = made->getRegion(0).front().getTerminator();
    end->insertOperands(end->getNumOperands(), extra);
    retired.replace(scan, made->getResults().take_front(next));
  }
  for (Value &source : sources)
    source = r.flip(source ? source : made->getResult(next++), {0});
  return sources;
}

/// The same for the residuals of both kinds, as arguments of the backward
/// block: tapes that loops inside left are entries of tapes themselves. Gives
/// the operands for the arguments.
static SmallVector<Value> carryOver(RuleBuilder &r, ScanOp scan,
                                    Residuals &residuals, Block &backward,
                                    Retired &retired) {
  SmallVector<Value> tensors, inner, found, operands;
  for (Value value : residuals.getValues())
    (isa<TapeType>(value.getType()) ? inner : tensors).push_back(value);
  Operation *loop = scan;
  SmallVector<Value> tapes;
  if (!inner.empty())
    tapes = pushOnTapes(loop, inner, retired).first;
  SmallVector<Value> slices;
  for (Value value : tensors)
    slices.push_back(backward.addArgument(value.getType(), scan.getLoc()));
  operands = carryStacked(r, cast<ScanOp>(loop), tensors, retired);
  Value index;
  if (!inner.empty()) {
    auto type = TensorType::getScalar(r.getBuilder().getI64Type());
    index = backward.addArgument(type, scan.getLoc());
    operands.push_back(
        r.flip(r.iota(type.withShape({scan.getLength()}), 0), {0}));
  }
  OpBuilder start(scan.getContext());
  start.setInsertionPointToStart(&backward);
  RuleBuilder inside(start, scan.getLoc());
  auto *tape = tapes.begin(), *slice = slices.begin();
  for (Value value : residuals.getValues())
    found.push_back(isa<TapeType>(value.getType())
                        ? inside.readTape(*tape++, index)
                        : *slice++);
  residuals.replace(start, found);
  return operands;
}

LogicalResult ReverseMode::visitScan(ScanOp op, Cotangents &outer) {
  RuleBuilder r(builder, op.getLoc());
  return reverseScan(op, takeAll(r, op->getResults(), outer), outer);
}

LogicalResult ReverseMode::reverseScan(ScanOp op, ArrayRef<Value> given,
                                       Cotangents &outer) {
  RuleBuilder r(builder, op.getLoc());
  Location loc = op.getLoc();
  Dim length = op.getLength();
  unsigned numState = op.getNumState();
  Block &forward = op.getBody().front();
  SmallVector<Value> inputs(op.getInputs());
  ArrayRef<Value> outputs = given.drop_front(numState);

  BackwardStep step;
  step.targets = activeCaptures(op);
  if (failed(buildStep(forward, 0, ArrayRef(inputs).take_front(numState),
                       outputs, step)))
    return failure();
  SmallVector<Value> slices;
  SmallVector<unsigned> sliceOf;
  SmallVector<Type> types(ValueRange(step.next).getTypes());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&step.block());
    for (unsigned i = numState; i < inputs.size(); ++i) {
      Value argument = forward.getArgument(i);
      if (!step.cotangents.has(argument))
        continue;
      sliceOf.push_back(i);
      slices.push_back(step.cotangents.getApplied(r, argument));
      types.push_back(stacked(slices.back(), length));
    }
    SmallVector<Value> all = step.next;
    llvm::append_range(all, slices);
    YieldOp::create(builder, loc, all);
  }
  eraseStep(step);

  SmallVector<Value> operands;
  for (unsigned i : step.states)
    operands.push_back(orZero(r, given[i], inputs[i]));
  for (Value target : step.targets)
    operands.push_back(orZero(r, outer.getApplied(r, target), target));
  unsigned numCarried = operands.size();
  for (Value output : outputs)
    if (output)
      operands.push_back(r.flip(output, {0}));
  Residuals residuals(forward, step.region);
  llvm::append_range(operands,
                     carryOver(r, op, residuals, step.block(), retired));
  auto back = ScanOp::create(
      builder, loc, types, operands,
      {r.dimension("length", length), r.integer("num_state", numCarried)});
  back.getBody().takeBody(step.region);
  addStepResults(r, step, inputs, back->getResults().take_front(numCarried),
                 outer);
  for (auto [place, i] : llvm::enumerate(sliceOf))
    addResult(r, inputs[i], r.flip(back->getResult(numCarried + place), {0}),
              outer);
  return success();
}

void ReverseMode::addResult(RuleBuilder &r, Value of, Value cotangent,
                            Cotangents &cotangents) {
  if (activity.contains(of))
    cotangents.add(r, of, {cotangent, nullptr, true});
}

//===-- Loops of known length ---------------------------------------------===//

/// The value as a dimension expression, if it is one.
static std::optional<Dim> asDim(Value v) {
  if (auto dim = v.getDefiningOp<DimValueOp>())
    return dim.getValue();
  if (auto constant = v.getDefiningOp<ConstOp>())
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      return Dim::constant(value.getInt());
  Operation *op = v.getDefiningOp();
  if (!isa_and_nonnull<AddOp, SubOp, MulOp>(op))
    return std::nullopt;
  std::optional<Dim> a = asDim(op->getOperand(0)), b = asDim(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (isa<AddOp>(op))
    return *a + *b;
  return isa<SubOp>(op) ? *a - *b : *a * *b;
}

/// The number of steps as an extent, where it cannot be negative.
static std::optional<Dim> lengthOf(ForOp loop) {
  std::optional<Dim> begin = asDim(loop.getBegin()), end = asDim(loop.getEnd());
  if (!begin || !end)
    return std::nullopt;
  Dim length = *end - *begin;
  for (const auto &[monomial, coefficient] : length.getTerms()) {
    if (coefficient < 0)
      return std::nullopt;
    for (const auto &[atom, power] : monomial)
      if (atom.kind != Dim::Atom::Name)
        return std::nullopt;
  }
  return length;
}

/// The same loop as a scan over the values of its counter.
static ScanOp toScan(ForOp loop, const Dim &length, Retired &retired) {
  OpBuilder builder(loop);
  RuleBuilder r(builder, loop.getLoc());
  Block &body = loop.getBody().front();
  SmallVector<Value> inputs(loop.getInit());
  BlockArgument counter = body.getArgument(0);
  unsigned numState = inputs.size();
  if (!counter.use_empty()) {
    TensorType type = typeOf(counter).withShape({length});
    Value steps = r.iota(type, 0);
    if (std::optional<Dim> begin = asDim(loop.getBegin());
        !begin || *begin != Dim())
      steps = r.add(steps, r.fill(loop.getBegin(), type));
    inputs.push_back(steps);
    counter.replaceAllUsesWith(
        body.addArgument(counter.getType(), loop.getLoc()));
  }
  body.eraseArgument(0);
  auto scan = ScanOp::create(
      builder, loop.getLoc(), loop->getResultTypes(), inputs,
      {r.dimension("length", length), r.integer("num_state", numState)});
  scan.getBody().takeBody(loop.getBody());
  retired.replace(loop, scan->getResults());
  return scan;
}

LogicalResult ReverseMode::visitFor(ForOp op, Cotangents &outer) {
  RuleBuilder r(builder, op.getLoc());
  SmallVector<Value> given = takeAll(r, op->getResults(), outer);
  std::optional<Dim> length = lengthOf(op);
  if (op.getCheckpoint())
    return reverseLoop(op, given, outer);
  if (!length)
    return reverseTaped(op, given, outer);
  return reverseScan(toScan(op, *length, retired), given, outer);
}

LogicalResult ReverseMode::visitWhile(WhileOp op, Cotangents &outer) {
  RuleBuilder r(builder, op.getLoc());
  SmallVector<Value> given = takeAll(r, op->getResults(), outer);
  return op.getCheckpoint() ? reverseLoop(op, given, outer)
                            : reverseTaped(op, given, outer);
}

//===-- Reductions --------------------------------------------------------===//

/// A block in `region` that combines the slices from first to last, beginning
/// with the initial values: for an associative region the same function.
static void buildFold(OpBuilder &builder, Region &region, ReduceOp op,
                      ValueRange arguments, ArrayRef<Value> captures) {
  OpBuilder::InsertionGuard guard(builder);
  RuleBuilder r(builder, op.getLoc());
  unsigned count = op->getNumResults();
  SmallVector<Location> locs(arguments.size(), op.getLoc());
  Block *block = builder.createBlock(&region, {}, arguments.getTypes(), locs);
  ValueRange own = ValueRange(block->getArguments()).take_front(2 * count);
  auto fold = ScanOp::create(
      builder, op.getLoc(), op->getResultTypes(), own,
      {r.dimension("length", op.getLength()), r.integer("num_state", count)});
  YieldOp::create(builder, op.getLoc(), fold->getResults());
  IRMapping mapping;
  mapping.map(captures,
              ValueRange(block->getArguments()).drop_front(2 * count));
  op.getBody().cloneInto(&fold.getBody(), mapping);
}

LogicalResult ReverseMode::visitReduce(ReduceOp op, Cotangents &outer) {
  RuleBuilder r(builder, op.getLoc());
  SmallVector<Value> given = takeAll(r, op->getResults(), outer);
  SmallVector<Value> captures = activeCaptures(op), inputs(op.getInputs());
  llvm::append_range(inputs, captures);
  Axes wrt;
  SmallVector<Type> types(op->getResultTypes());
  for (auto [i, input] : llvm::enumerate(inputs))
    if (activity.contains(input)) {
      wrt.push_back(i);
      types.push_back(input.getType());
    }
  unsigned numArgs = inputs.size();
  SmallVector<Value> operands = inputs;
  for (auto [result, cotangent] : llvm::zip_equal(op->getResults(), given))
    if (isFloatTensor(result))
      operands.push_back(orZero(r, cotangent, result));
  auto vjp =
      VjpOp::create(builder, op.getLoc(), types, operands,
                    {r.integer("num_args", numArgs), r.ints("wrt", wrt)});
  buildFold(builder, vjp.getBody(), op, inputs, captures);
  auto hold = YieldOp::create(builder, op.getLoc(),
                              vjp->getResults().drop_front(given.size()));
  if (failed(expandVjp(vjp)))
    return failure();
  for (auto [i, part] :
       llvm::reverse(llvm::zip_equal(wrt, hold->getOperands())))
    addResult(r, inputs[i], part, outer);
  builder.setInsertionPointAfter(hold);
  hold->erase();
  return success();
}

} // namespace astra
