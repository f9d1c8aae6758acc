// Batching of control flow: see BatchMode.h.
#include "passes/BatchMode.h"
#include "passes/Transforms.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace astra {

//===-- Forms of values ---------------------------------------------------===//

Type BatchMode::typeLike(Type type, Value like) {
  return dependent.contains(like) ? Type(batchedType(type, length)) : type;
}
SmallVector<Type> BatchMode::typesLike(ValueRange likes) {
  return llvm::map_to_vector(
      likes, [&](Value like) { return typeLike(like.getType(), like); });
}
Value BatchMode::valueLike(Value value, Value like) {
  return dependent.contains(like) ? getMapped(value) : get(value).value;
}
Value BatchMode::slicesLike(Value array, Value like) {
  if (!dependent.contains(like))
    return get(array).value;
  RuleBuilder r(builder, array.getLoc());
  return r.moveAxis(getMapped(array), 1, 0);
}

Block *BatchMode::open(Region &region, Block &block) {
  SmallVector<Location> locs(block.getNumArguments(),
                             region.getParentOp()->getLoc());
  Block *made = builder.createBlock(&region, region.end(),
                                    typesLike(block.getArguments()), locs);
  for (auto [from, to] :
       llvm::zip_equal(block.getArguments(), made->getArguments()))
    set(from, {to, dependent.contains(from)});
  return made;
}

LogicalResult BatchMode::buildRegion(Region &region, Block &block,
                                     ValueRange likes) {
  OpBuilder::InsertionGuard guard(builder);
  open(region, block);
  if (failed(walk(block)))
    return failure();
  SmallVector<Value> yielded;
  for (auto [value, like] :
       llvm::zip_equal(block.getTerminator()->getOperands(), likes))
    yielded.push_back(valueLike(value, like));
  YieldOp::create(builder, block.getTerminator()->getLoc(), yielded);
  return success();
}

void BatchMode::finish(Operation *op, ValueRange results) {
  for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
    set(from, {to, dependent.contains(from)});
}

//===-- Branches ----------------------------------------------------------===//

LogicalResult BatchMode::visitIf(IfOp op) {
  if (dependent.contains(op.getCondition()))
    return visitIfMapped(op);
  auto made = IfOp::create(builder, op.getLoc(), typesLike(op->getResults()),
                           ValueRange{get(op.getCondition()).value},
                           ArrayRef<NamedAttribute>());
  for (auto [to, from] : llvm::zip_equal(made->getRegions(), op->getRegions()))
    if (failed(buildRegion(to, from.front(), op->getResults())))
      return failure();
  finish(op, made->getResults());
  return success();
}

static bool isInBranch(Operation *user, Value condition, unsigned side) {
  for (Region *region = user->getParentRegion(); region;
       region = region->getParentRegion()) {
    auto parent = dyn_cast<IfOp>(region->getParentOp());
    if (parent && parent.getCondition() == condition &&
        region->getRegionNumber() == side)
      return true;
  }
  return false;
}

/// The branch whose own affair a result is: what uses it stands in that branch
/// of an `if` on the same condition, as residuals do. 2 if there is none.
static unsigned ownerOf(OpResult result) {
  Value condition = cast<IfOp>(result.getOwner()).getCondition();
  unsigned side = 0;
  for (; side < 2 && isa<TensorType>(result.getType()); ++side)
    if (llvm::all_of(result.getUsers(), [&](Operation *user) {
          return isInBranch(user, condition, side);
        }))
      return side;
  return 2;
}

/// The `if` that runs one branch if any element takes it, with the results that
/// are not the other branch's own.
FailureOr<IfOp> BatchMode::buildBranch(IfOp op, unsigned side, Value any,
                                       ArrayRef<unsigned> owners) {
  RuleBuilder r(builder, op.getLoc());
  SmallVector<Type> types;
  llvm::BitVector notHere(owners.size());
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (owners[i] == 1 - side)
      notHere.set(i);
    else
      types.push_back(typeLike(result.getType(), result));
  auto made =
      IfOp::create(builder, op.getLoc(), types, ValueRange{any},
                   {builder.getNamedAttr(isForTaken, builder.getUnitAttr())});
  if (failed(buildRegion(made.getThenRegion(), op->getRegion(side).front(),
                         op->getResults())))
    return failure();
  made.getThenRegion().front().getTerminator()->eraseOperands(notHere);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&made.getElseRegion());
  SmallVector<Value> nothing = llvm::map_to_vector(types, [&](Type type) {
    return isa<TapeType>(type) ? r.make<TapeNoneOp>(type, {}) : r.zeros(type);
  });
  YieldOp::create(builder, op.getLoc(), nothing);
  return made;
}

LogicalResult BatchMode::visitIfMapped(IfOp op) {
  RuleBuilder r(builder, op.getLoc());
  Value condition = getMapped(op.getCondition());
  TensorType scalar = typeOf(condition).withShape({});
  SmallVector<unsigned> owners = llvm::map_to_vector(
      op->getResults(), [](OpResult result) { return ownerOf(result); });
  SmallVector<Value> left[2]; // the results of both, in order
  Value outerMask = mask;
  for (unsigned side = 0; side < 2; ++side) {
    Value takes = side == 0 ? condition : r.unary<NotOp>(condition);
    if (outerMask)
      takes = r.binary<AndOp>(outerMask, takes);
    Value any = r.make<AnyOp>(scalar, {takes}, {r.ints("axes", {0})});
    mask = takes;
    FailureOr<IfOp> made = buildBranch(op, side, any, owners);
    mask = outerMask;
    if (failed(made))
      return failure();
    auto next = (*made)->result_begin();
    for (unsigned owner : owners)
      left[side].push_back(owner == 1 - side ? Value() : Value(*next++));
  }
  SmallVector<Value> results;
  for (auto [a, b] : llvm::zip_equal(left[0], left[1]))
    results.push_back(!a ? b : !b ? a : choose(r, condition, a, b));
  finish(op, results);
  return success();
}

//===-- Loops -------------------------------------------------------------===//

LogicalResult BatchMode::visitFor(ForOp op) {
  if (dependent.contains(op.getBegin()) || dependent.contains(op.getEnd()))
    return visitForMapped(op);
  Block &body = op.getBody().front();
  auto state = body.getArguments().drop_front();
  SmallVector<Value> operands{get(op.getBegin()).value, get(op.getEnd()).value};
  for (auto [init, like] : llvm::zip_equal(op.getInit(), state))
    operands.push_back(valueLike(init, like));
  auto made = ForOp::create(builder, op.getLoc(), typesLike(op->getResults()),
                            operands, op->getAttrs());
  if (failed(buildRegion(made.getBody(), body, ValueRange(state))))
    return failure();
  finish(op, made->getResults());
  return success();
}

/// Each element has its own number of steps: the loop runs the greatest, and an
/// element keeps its state where it has done its own, or, if the counter runs
/// down, has not come to its own yet.
LogicalResult BatchMode::visitForMapped(ForOp op) {
  RuleBuilder r(builder, op.getLoc());
  Block &body = op.getBody().front();
  Value begin = getMapped(op.getBegin());
  Value steps = r.sub(getMapped(op.getEnd()), begin);
  if (mask)
    steps = choose(r, mask, steps, r.splatLike(steps, 0));
  TensorType scalar = typeOf(steps).withShape({});
  Value atLeastOne = r.padAxis(steps, 0, 0, Dim::constant(1), Dim());
  Value most = r.make<MaxOp>(scalar, {atLeastOne}, {r.ints("axes", {0})});
  SmallVector<Value> operands{r.splat(scalar, 0), most};
  for (Value init : op.getInit())
    operands.push_back(getMapped(init));
  auto made = ForOp::create(builder, op.getLoc(), typesLike(op->getResults()),
                            operands, op->getAttrs());
  Value outerMask = mask;
  OpBuilder::InsertionGuard guard(builder);
  // The counter of the batch is one for all.
  SmallVector<Type> types{scalar};
  llvm::append_range(types, made->getResultTypes());
  Block *block =
      builder.createBlock(&made.getBody(), {}, types,
                          SmallVector<Location>(types.size(), op.getLoc()));
  Value step = r.fill(block->getArgument(0), typeOf(steps));
  mask = r.compare<LtOp>(step, steps);
  BatchedValue first = get(op.getBegin());
  set(body.getArgument(0),
      {r.add(first.value, first.mapped ? step : block->getArgument(0)),
       first.mapped});
  for (unsigned i = 1; i < types.size(); ++i)
    set(body.getArgument(i), {block->getArgument(i), true});
  if (failed(walk(body)))
    return failure();
  SmallVector<Value> next;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    next.push_back(
        choose(r, mask, getMapped(value), block->getArgument(i + 1)));
  YieldOp::create(builder, op.getLoc(), next);
  mask = outerMask;
  finish(op, made->getResults());
  return success();
}

LogicalResult BatchMode::visitWhile(WhileOp op) {
  Block &condition = op.getCond().front(), &body = op.getBody().front();
  if (dependent.contains(condition.getTerminator()->getOperand(0)))
    return visitWhileMapped(op);
  SmallVector<Value> operands;
  for (auto [init, like] : llvm::zip_equal(op.getInit(), body.getArguments()))
    operands.push_back(valueLike(init, like));
  auto made = WhileOp::create(builder, op.getLoc(), typesLike(op->getResults()),
                              operands, op->getAttrs());
  if (failed(buildRegion(made.getCond(), condition,
                         condition.getTerminator()->getOperands())) ||
      failed(
          buildRegion(made.getBody(), body, ValueRange(body.getArguments()))))
    return failure();
  finish(op, made->getResults());
  return success();
}

/// Runs while any element goes on; which do is one more state.
LogicalResult BatchMode::visitWhileMapped(WhileOp op) {
  RuleBuilder r(builder, op.getLoc());
  Block &condition = op.getCond().front(), &body = op.getBody().front();
  Value outerMask = mask;
  // Whether each element goes on from these states.
  auto goesOn = [&](ValueRange states) -> FailureOr<Value> {
    for (auto [argument, state] :
         llvm::zip_equal(condition.getArguments(), states))
      set(argument, {state, true});
    if (failed(walk(condition)))
      return failure();
    Value flags = getMapped(condition.getTerminator()->getOperand(0));
    return mask ? r.binary<AndOp>(mask, flags) : flags;
  };
  SmallVector<Value> operands;
  for (Value init : op.getInit())
    operands.push_back(getMapped(init));
  FailureOr<Value> first = goesOn(operands);
  if (failed(first))
    return failure();
  operands.push_back(*first);
  SmallVector<Type> types(ValueRange(operands).getTypes());
  SmallVector<Location> locs(types.size(), op.getLoc());
  auto made =
      WhileOp::create(builder, op.getLoc(), types, operands, op->getAttrs());
  OpBuilder::InsertionGuard guard(builder);
  Block *test = builder.createBlock(&made.getCond(), {}, types, locs);
  Value any =
      r.make<AnyOp>(typeOf(*first).withShape({}), {test->getArguments().back()},
                    {r.ints("axes", {0})});
  YieldOp::create(builder, op.getLoc(), any);

  Block *step = builder.createBlock(&made.getBody(), {}, types, locs);
  mask = step->getArguments().back();
  for (auto [argument, state] :
       llvm::zip_equal(body.getArguments(), step->getArguments().drop_back()))
    set(argument, {state, true});
  if (failed(walk(body)))
    return failure();
  SmallVector<Value> next;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    next.push_back(choose(r, mask, getMapped(value), step->getArgument(i)));
  FailureOr<Value> still = goesOn(next);
  if (failed(still))
    return failure();
  next.push_back(*still);
  YieldOp::create(builder, op.getLoc(), next);
  mask = outerMask;
  finish(op, made->getResults().drop_back());
  return success();
}

//===-- Scans and reductions ----------------------------------------------===//

LogicalResult BatchMode::visitScan(ScanOp op) {
  RuleBuilder r(builder, op.getLoc());
  Block &body = op.getBody().front();
  unsigned numState = op.getNumState();
  SmallVector<Value> operands;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Value like = body.getArgument(i);
    operands.push_back(i < numState ? valueLike(input, like)
                                    : slicesLike(input, like));
  }
  // States have the form of their arguments, outputs that of what is yielded.
  SmallVector<Value> likes(body.getArguments().take_front(numState));
  llvm::append_range(likes,
                     body.getTerminator()->getOperands().drop_front(numState));
  SmallVector<Type> types;
  for (auto [i, like] : llvm::enumerate(likes)) {
    Type type = typeLike(like.getType(), like);
    types.push_back(i < numState ? type
                                 : Type(batchedType(type, op.getLength())));
  }
  auto made =
      ScanOp::create(builder, op.getLoc(), types, operands, op->getAttrs());
  if (failed(buildRegion(made.getBody(), body, likes)))
    return failure();
  SmallVector<Value> results(made->getResults());
  for (unsigned i = numState; i < results.size(); ++i)
    if (dependent.contains(likes[i]))
      results[i] = r.moveAxis(results[i], 1, 0);
  finish(op, results);
  return success();
}

LogicalResult BatchMode::visitReduce(ReduceOp op) {
  Block &body = op.getBody().front();
  unsigned count = op->getNumResults();
  auto likes = ValueRange(body.getArguments()).take_front(count);
  SmallVector<Value> operands;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    operands.push_back(i < count ? valueLike(input, likes[i])
                                 : slicesLike(input, likes[i - count]));
  auto made = ReduceOp::create(builder, op.getLoc(), typesLike(likes), operands,
                               op->getAttrs());
  if (failed(buildRegion(made.getBody(), body, likes)))
    return failure();
  finish(op, made->getResults());
  return success();
}

//===-- Own rules and rematerialisation -----------------------------------===//

LogicalResult BatchMode::visitRemat(RematOp op) {
  Block &body = op.getBody().front();
  SmallVector<Value> operands;
  for (auto [input, like] :
       llvm::zip_equal(op.getInputs(), body.getArguments()))
    operands.push_back(valueLike(input, like));
  auto made = RematOp::create(builder, op.getLoc(), typesLike(op->getResults()),
                              operands, op->getAttrs());
  if (failed(buildRegion(made.getBody(), body, op->getResults())))
    return failure();
  finish(op, made->getResults());
  return success();
}

/// Values and rules over the batch, with every input mapped: a rule gives one
/// cotangent for each element.
LogicalResult BatchMode::visitCustom(CustomDerivativeOp op) {
  if (dependent.anyOf(capturesOf(op).getArrayRef()))
    return op.emitError("a function with its own derivative uses a mapped "
                        "value from outside; make it a parameter");
  SmallVector<Value> operands;
  for (Value input : op.getInputs())
    operands.push_back(getMapped(input));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(batchedType(type, length));
  auto made = CustomDerivativeOp::create(builder, op.getLoc(), types, operands,
                                         op->getAttrs());
  for (auto [to, from] :
       llvm::zip_equal(made->getRegions(), op->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    BatchMode inner(builder, length);
    SmallVector<Type> arguments;
    for (Type type : from.front().getArgumentTypes())
      arguments.push_back(batchedType(type, length));
    SmallVector<Location> locs(arguments.size(), op.getLoc());
    Block *block = builder.createBlock(&to, {}, arguments, locs);
    for (auto [argument, value] :
         llvm::zip_equal(from.front().getArguments(), block->getArguments()))
      inner.set(argument, {value, true});
    if (failed(inner.build(from.front())))
      return failure();
    SmallVector<Value> yielded;
    for (Value value : from.front().getTerminator()->getOperands())
      yielded.push_back(inner.getMapped(value));
    YieldOp::create(builder, op.getLoc(), yielded);
  }
  for (auto [from, to] : llvm::zip_equal(op->getResults(), made->getResults()))
    set(from, {to, true});
  return success();
}

} // namespace astra
