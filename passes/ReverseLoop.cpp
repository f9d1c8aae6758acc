// Reverse mode of loops marked `checkpoint`. The backward loop goes through the
// steps from last to first and needs the state before each. It keeps states in
// a fixed number of slots, used as a stack: from the latest kept state it runs
// forward again to the step in turn, keeping some states on the way, in half of
// the slots that are free, evenly spaced. As steps are done their slots become
// free again and the steps before are kept more densely. Memory does not grow
// with the length; each step is run forward again a few times (two up to about
// 30 steps, four up to about ten thousand).
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/ReverseMode.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

static constexpr int64_t kSlots = 64;

namespace {

/// The code of the backward loop of one `for` or `while`.
class LoopReplay {
public:
  LoopReplay(OpBuilder &builder, Operation *op)
      : builder(builder), r(builder, op->getLoc()), op(op),
        body(op->getRegion(op->getNumRegions() - 1).front()),
        counted(isa<ForOp>(op)),
        inits(op->getOperands().drop_front(counted ? 2 : 0)),
        i64(TensorType::getScalar(builder.getI64Type())) {}

  ValueRange states() {
    return ValueRange(body.getArguments()).drop_front(counted);
  }
  ArrayRef<Value> getInits() const { return inits; }

  /// The number of steps; a `while` is made to count them.
  Value countSteps(Retired &retired) { return astra::countSteps(op, retired); }
  /// The slots before the first step: depth, positions, states.
  SmallVector<Value> initialSlots();
  /// Moves to the state before `step`: gives the slots then, and the state.
  std::pair<SmallVector<Value>, SmallVector<Value>>
  stateBefore(Value step, ValueRange slots);
  /// What the loop's block gives for these values.
  SmallVector<Value> argumentsAt(Value step, ValueRange state);
  Operation *getOp() const { return op; }
  Block &getBody() { return body; }

private:
  Value number(int64_t value) { return r.splat(i64, value); }
  Value read(Value slots, Value index);
  Value write(Value slots, Value value, Value index);
  Value spacingFor(Value distance, Value depth);

  OpBuilder &builder;
  RuleBuilder r;
  Operation *op;
  Block &body;
  bool counted;
  SmallVector<Value> inits;
  TensorType i64;
};

} // namespace

SmallVector<Value> LoopReplay::argumentsAt(Value step, ValueRange state) {
  SmallVector<Value> arguments(state);
  if (auto loop = dyn_cast<ForOp>(op))
    arguments.insert(arguments.begin(), r.add(loop.getBegin(), step));
  else if (arguments.size() < body.getNumArguments())
    arguments.push_back(step); // the count that countSteps() added
  return arguments;
}

//===-- Slots -------------------------------------------------------------===//

static TensorType slotsOf(Type type) {
  auto tensor = cast<TensorType>(type);
  SmallVector<Dim> shape = tensor.getShape();
  // One more than are kept: every step writes, and keeps by raising the depth.
  shape.insert(shape.begin(), Dim::constant(kSlots + 1));
  return tensor.withShape(shape);
}

Value LoopReplay::read(Value slots, Value index) {
  TensorType type = typeOf(slots);
  SmallVector<Dim> shape = type.getShape(), starts(shape.size());
  shape[0] = Dim::constant(1);
  Value box =
      r.make<SliceOp>(type.withShape(shape), {slots, index},
                      {r.dims("starts", starts), r.ints("dynamic_axes", {0})});
  return r.reshape(box, type.withShape(ArrayRef(shape).drop_front()));
}

Value LoopReplay::write(Value slots, Value value, Value index) {
  SmallVector<Dim> shape = shapeOf(slots), starts(shape.size());
  shape[0] = Dim::constant(1);
  Value box = r.reshape(value, typeOf(value).withShape(shape));
  return r.make<UpdateSliceOp>(
      slots.getType(), {slots, box, index},
      {r.dims("starts", starts), r.ints("dynamic_axes", {0})});
}

SmallVector<Value> LoopReplay::initialSlots() {
  SmallVector<Value> slots{number(1), r.zeros(slotsOf(i64))};
  for (Value init : inits)
    slots.push_back(write(r.zeros(slotsOf(init.getType())), init, number(0)));
  return slots;
}

/// Half of the free slots are spread over the distance.
Value LoopReplay::spacingFor(Value distance, Value depth) {
  Value free = r.sub(number(kSlots), depth);
  Value half = r.binary<DivOp>(free, number(2));
  Value used = r.binary<MaximumOp>(half, number(1));
  Value up = r.sub(r.add(distance, used), number(1));
  return r.binary<MaximumOp>(r.binary<DivOp>(up, used), number(1));
}

std::pair<SmallVector<Value>, SmallVector<Value>>
LoopReplay::stateBefore(Value step, ValueRange slots) {
  // The top slot may hold the state before a later step, which is done.
  Value depth = slots[0], positions = slots[1], one = number(1);
  Value stale = r.compare<GtOp>(read(positions, r.sub(depth, one)), step);
  depth = r.select(stale, r.sub(depth, one), depth);
  Value top = r.sub(depth, one), from = read(positions, top);
  Value spacing = spacingFor(r.sub(step, from), depth);

  SmallVector<Value> carried{depth, positions};
  llvm::append_range(carried, slots.drop_front(2));
  unsigned numSlots = carried.size();
  for (Value kept : slots.drop_front(2))
    carried.push_back(read(kept, top));
  SmallVector<Value> operands{from, step};
  llvm::append_range(operands, carried);
  auto forward =
      ForOp::create(builder, op->getLoc(), TypeRange(ValueRange(carried)),
                    operands, {r.unit("checkpoint")});
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types{i64};
    llvm::append_range(types, ValueRange(carried).getTypes());
    SmallVector<Location> locs(types.size(), op->getLoc());
    Block *block = builder.createBlock(&forward.getBody(), {}, types, locs);
    Value at = block->getArgument(0);
    ValueRange inside = ValueRange(block->getArguments()).drop_front();
    ValueRange state = inside.drop_front(numSlots);
    Value gone = r.sub(at, from), level = inside[0];
    Value even = r.compare<EqOp>(r.binary<RemOp>(gone, spacing), number(0));
    Value keep =
        r.binary<AndOp>(r.binary<AndOp>(r.compare<GtOp>(gone, number(0)), even),
                        r.compare<LtOp>(level, number(kSlots)));
    SmallVector<Value> next{r.select(keep, r.add(level, one), level),
                            write(inside[1], at, level)};
    for (auto [kept, value] :
         llvm::zip_equal(inside.slice(2, numSlots - 2), state))
      next.push_back(write(kept, value, level));
    SmallVector<Value> stepped =
        inlineBlock(builder, body, argumentsAt(at, state));
    llvm::append_range(next, ArrayRef(stepped).take_front(state.size()));
    YieldOp::create(builder, op->getLoc(), next);
  }
  SmallVector<Value> results(forward->getResults());
  return {SmallVector<Value>(ArrayRef(results).take_front(numSlots)),
          SmallVector<Value>(ArrayRef(results).drop_front(numSlots))};
}

//===-- The backward loop -------------------------------------------------===//

/// The gradients of one step at `state` with respect to its active states and
/// to the targets, whose `sums` go on: a `vjp` of the loop's block, expanded at
/// once.
static FailureOr<SmallVector<Value>>
stepGradients(OpBuilder &builder, LoopReplay &replay, Value step,
              ValueRange state, ArrayRef<unsigned> active,
              ArrayRef<Value> targets, ArrayRef<Value> cotangents,
              ArrayRef<Value> sums) {
  Operation *op = replay.getOp();
  RuleBuilder r(builder, op->getLoc());
  Block &body = replay.getBody();
  SmallVector<Value> inputs = replay.argumentsAt(step, state);
  unsigned first = isa<ForOp>(op);
  Axes wrt;
  for (unsigned i : active)
    wrt.push_back(first + i);
  for (Value target : targets) {
    wrt.push_back(inputs.size());
    inputs.push_back(target);
  }
  int64_t numArgs = inputs.size();
  SmallVector<Type> types(body.getTerminator()->getOperandTypes());
  unsigned numValues = types.size();
  for (int64_t i : wrt)
    types.push_back(inputs[i].getType());
  for (auto [i, type] : llvm::enumerate(ArrayRef(types).take_front(numValues)))
    if (isFloatTensor(type)) {
      auto *at = llvm::find(active, i);
      inputs.push_back(at == active.end() ? r.zeros(type)
                                          : cotangents[at - active.begin()]);
    }
  auto vjp =
      VjpOp::create(builder, op->getLoc(), types, inputs,
                    {r.integer("num_args", numArgs), r.ints("wrt", wrt)});
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locs(numArgs, op->getLoc());
    Block *block = builder.createBlock(
        &vjp.getBody(), {}, ValueRange(inputs).take_front(numArgs).getTypes(),
        locs);
    IRMapping mapping;
    ValueRange arguments = block->getArguments();
    unsigned numOwn = numArgs - targets.size();
    mapping.map(ValueRange(body.getArguments()), arguments.take_front(numOwn));
    mapping.map(targets, arguments.drop_front(numOwn));
    for (Operation &inner : body)
      builder.clone(inner, mapping);
  }
  auto hold = YieldOp::create(builder, op->getLoc(),
                              vjp->getResults().drop_front(numValues));
  SmallVector<Value> before(active.size());
  llvm::append_range(before, sums);
  if (failed(expandVjp(vjp, before)))
    return failure();
  SmallVector<Value> gradients(hold->getOperands());
  builder.setInsertionPointAfter(hold);
  hold->erase();
  return gradients;
}

LogicalResult ReverseMode::reverseLoop(Operation *op, ArrayRef<Value> given,
                                       Cotangents &outer) {
  RuleBuilder r(builder, op->getLoc());
  LoopReplay replay(builder, op);
  Value steps = replay.countSteps(retired);
  op = replay.getOp();

  SmallVector<unsigned> active;
  SmallVector<Value> operands = replay.initialSlots(), targets;
  unsigned numSlots = operands.size();
  for (auto [i, state] :
       llvm::enumerate(replay.states().take_front(given.size())))
    if (activity.contains(state)) {
      active.push_back(i);
      operands.push_back(given[i] ? given[i] : r.splatLike(state, 0));
    }
  llvm::SetVector<Value> captures;
  getUsedValuesDefinedAbove(*replay.getBody().getParent(), captures);
  for (Value capture : captures)
    if (activity.contains(capture)) {
      targets.push_back(capture);
      Value before = outer.getApplied(r, capture);
      operands.push_back(before ? before : r.splatLike(capture, 0));
    }
  SmallVector<Type> types(ValueRange(operands).getTypes());
  TensorType i64 = typeOf(steps);
  operands.insert(operands.begin(), {r.splat(i64, 0), steps});
  // Its own reverse pass is to keep as little.
  auto back = ForOp::create(builder, op->getLoc(), types, operands,
                            {r.unit("checkpoint")});
  {
    OpBuilder::InsertionGuard guard(builder);
    types.insert(types.begin(), i64);
    SmallVector<Location> locs(types.size(), op->getLoc());
    Block *block = builder.createBlock(&back.getBody(), {}, types, locs);
    Value last = r.sub(steps, r.splat(i64, 1));
    Value step = r.sub(last, block->getArgument(0));
    SmallVector<Value> inside(block->getArguments().drop_front());
    auto [next, state] =
        replay.stateBefore(step, ValueRange(inside).take_front(numSlots));
    ArrayRef<Value> carried = ArrayRef(inside).drop_front(numSlots);
    auto gradients = stepGradients(builder, replay, step, state, active,
                                   targets, carried.take_front(active.size()),
                                   carried.drop_front(active.size()));
    if (failed(gradients))
      return failure();
    llvm::append_range(next, *gradients);
    YieldOp::create(builder, op->getLoc(), next);
  }
  // An initial value may be a value from outside as well: its sum goes on.
  auto states = back->getResults().slice(numSlots, active.size());
  auto sums = back->getResults().drop_front(numSlots + active.size());
  for (auto [target, sum] : llvm::zip_equal(targets, sums)) {
    outer.erase(target);
    addResult(r, target, sum, outer);
  }
  for (auto [i, cotangent] : llvm::zip_equal(active, states))
    addResult(r, replay.getInits()[i], cotangent, outer);
  return success();
}

} // namespace astra
