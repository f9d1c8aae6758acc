// Control flow over buffers. Scalars of a loop's state stay values; a tensor of
// the state has two buffers, the current one and the next one, which swap
// places with each turn, so that no turn copies what it computed. Part of the
// pass `calls`; the walk is in LowerToCalls.cpp.
#include "passes/CallsLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Transforms.h"

using namespace mlir;
using namespace astra;

/// Also a tape, which is an address.
static bool isScalar(Value value) {
  auto tensor = dyn_cast<astra::TensorType>(value.getType());
  return !tensor || tensor.isScalar();
}

static Type getScalarTypeOf(Value value) {
  auto tensor = dyn_cast<astra::TensorType>(value.getType());
  return tensor ? getScalarType(tensor.getElementType())
                : IntegerType::get(value.getContext(), 64);
}

Value CallsLowering::getWord(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

//===-- State of loops ----------------------------------------------------===//

void CallsLowering::addState(Value init, SmallVectorImpl<Value> &values) {
  if (isScalar(init)) {
    values.push_back(getScalar(init));
    return;
  }
  astra::TensorType type = getTensorType(init);
  for (unsigned i = 0; i < 2; ++i)
    values.push_back(makeBuffer(type.getElementType(), type.getShape()));
  writeTo(init, values[values.size() - 2]);
}

void CallsLowering::bindState(ValueRange arguments, ValueRange values,
                              SmallVectorImpl<Value> &current,
                              SmallVectorImpl<Value> &next) {
  size_t place = 0;
  for (Value argument : arguments) {
    if (isScalar(argument)) {
      setScalar(argument, values[place++]);
      current.push_back({});
      next.push_back({});
      continue;
    }
    setView(argument, values[place]);
    current.push_back(values[place++]);
    next.push_back(values[place++]);
  }
}

void CallsLowering::bindResults(ValueRange results, ValueRange values) {
  SmallVector<Value> current, next;
  bindState(results, values, current, next);
}

void CallsLowering::wishFor(ValueRange values, ArrayRef<Value> places,
                            Block &block) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  for (auto [value, place] : llvm::zip(values, places)) {
    Operation *op = value.getDefiningOp();
    if (!place || !op || op->getBlock() != &block ||
        (op->getNumResults() == 1 && !seen.insert(op).second))
      continue;
    destinations.insert({value, place});
    // What is updated then, and used by nothing else, may already lie there.
    for (auto update = dyn_cast<UpdateSliceOp>(op);
         update && update.getX().hasOneUse() &&
         update.getX().getParentBlock() == &block;
         update = update.getX().getDefiningOp<UpdateSliceOp>())
      destinations.insert({update.getX(), place});
  }
}

void CallsLowering::yieldState(ValueRange yielded, ArrayRef<Value> current,
                               ArrayRef<Value> next,
                               SmallVectorImpl<Value> &values) {
  for (const auto &[index, value] : llvm::enumerate(yielded)) {
    if (isScalar(value)) {
      values.push_back(getScalar(value));
    } else if (views.lookup(value) == current[index]) {
      values.append({current[index], next[index]});
    } else {
      writeTo(value, next[index]);
      values.append({next[index], current[index]});
    }
  }
}

//===-- Branches ----------------------------------------------------------===//

LogicalResult CallsLowering::lowerIf(IfOp op) {
  Location at = loc;
  SmallVector<Type> types;
  SmallVector<Value> places;
  for (Value result : op.getResults()) {
    bool scalar = isScalar(result);
    if (scalar)
      types.push_back(getScalarTypeOf(result));
    places.push_back(scalar ? Value() : getDestination(result));
  }
  Value condition = getScalar(op.getCondition());
  auto branch = scf::IfOp::create(builder, at, types, condition,
                                  /*withElseRegion=*/true);
  for (unsigned i = 0; i < 2; ++i) {
    Block &block = op->getRegion(i).front();
    Block &target = branch->getRegion(i).front();
    target.clear();
    builder.setInsertionPointToEnd(&target);
    OperandRange yielded = block.getTerminator()->getOperands();
    wishFor(yielded, places, block);
    if (llvm::failed(lowerBlock(block)))
      return failure();
    SmallVector<Value> values;
    bool isUnseen = i == 1 && op->hasAttr(isForTaken);
    for (auto [value, place] : llvm::zip(yielded, places)) {
      if (!place)
        values.push_back(getScalar(value));
      else if (!isUnseen)
        writeTo(value, place);
    }
    scf::YieldOp::create(builder, loc, values);
  }
  builder.setInsertionPointAfter(branch);
  unsigned next = 0;
  for (auto [result, place] : llvm::zip(op.getResults(), places))
    if (!place)
      setScalar(result, branch.getResult(next++));
  return success();
}

LogicalResult CallsLowering::lowerInline(Operation &op, Region &region) {
  Block &block = region.front();
  auto alias = [&](Value from, Value to) {
    if (Value view = views.lookup(from))
      setView(to, view);
    if (Value scalar = scalars.lookup(from))
      setScalar(to, scalar);
  };
  for (auto [operand, argument] :
       llvm::zip(op.getOperands(), block.getArguments()))
    alias(operand, argument);
  OperandRange yielded = block.getTerminator()->getOperands();
  SmallVector<Value> places;
  for (Value result : op.getResults())
    places.push_back(destinations.lookup(result));
  wishFor(yielded, places, block);
  if (llvm::failed(lowerBlock(block)))
    return failure();
  for (auto [value, result] : llvm::zip(yielded, op.getResults()))
    alias(value, result);
  return success();
}

//===-- Loops -------------------------------------------------------------===//

LogicalResult CallsLowering::lowerFor(ForOp op) {
  Location at = loc;
  SmallVector<Value> init, current, next, values;
  for (Value value : op.getInit())
    addState(value, init);
  Value begin = getScalar(op.getBegin()), end = getScalar(op.getEnd());
  auto loop = scf::ForOp::create(builder, at, begin, end, getWord(1), init);
  loop.getBody()->clear();
  builder.setInsertionPointToEnd(loop.getBody());
  Block &block = op.getBody().front();
  Value counter = loop.getInductionVar();
  if (op.getReverse()) {
    Value last = arith::SubIOp::create(builder, at, end, getWord(1));
    Value gone = arith::SubIOp::create(builder, at, counter, begin);
    counter = arith::SubIOp::create(builder, at, last, gone);
  }
  setScalar(block.getArgument(0), counter);
  bindState(block.getArguments().drop_front(), loop.getRegionIterArgs(),
            current, next);
  OperandRange yielded = block.getTerminator()->getOperands();
  wishFor(yielded, next, block);
  if (llvm::failed(lowerBlock(block)))
    return failure();
  yieldState(yielded, current, next, values);
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointAfter(loop);
  bindResults(op.getResults(), loop.getResults());
  return success();
}

LogicalResult CallsLowering::lowerWhile(WhileOp op) {
  Location at = loc;
  SmallVector<Value> init;
  for (Value value : op.getInit())
    addState(value, init);
  SmallVector<Type> types(ValueRange(init).getTypes());
  SmallVector<Location> locs(types.size(), at);
  auto loop = scf::WhileOp::create(builder, at, types, init);

  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
  SmallVector<Value> current, next, values;
  Block &condition = op.getCond().front();
  bindState(condition.getArguments(), before->getArguments(), current, next);
  if (llvm::failed(lowerBlock(condition)))
    return failure();
  Value proceed = getScalar(condition.getTerminator()->getOperand(0));
  scf::ConditionOp::create(builder, loc, proceed, before->getArguments());

  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locs);
  current.clear();
  next.clear();
  Block &body = op.getBody().front();
  bindState(body.getArguments(), after->getArguments(), current, next);
  OperandRange yielded = body.getTerminator()->getOperands();
  wishFor(yielded, next, body);
  if (llvm::failed(lowerBlock(body)))
    return failure();
  yieldState(yielded, current, next, values);
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointAfter(loop);
  bindResults(op.getResults(), loop.getResults());
  return success();
}

/// Both scan and map: a counted loop with slices in and slices out.
LogicalResult CallsLowering::lowerSliced(Operation *op, const Dim &length,
                                         unsigned stateCount,
                                         ArrayRef<int64_t> axes) {
  Location at = loc;
  SmallVector<Value> init, current, next, stacked, values;
  for (Value value : op->getOperands().take_front(stateCount))
    addState(value, init);
  SmallVector<Value> inputs;
  for (Value value : op->getOperands().drop_front(stateCount))
    inputs.push_back(getView(value));
  for (Value result : op->getResults().drop_front(stateCount))
    stacked.push_back(getDestination(result));
  Value end = calls::DimOp::create(builder, at, builder.getI64Type(),
                                   builder.getStringAttr(length.str()));
  auto loop =
      scf::ForOp::create(builder, at, getWord(0), end, getWord(1), init);
  loop.getBody()->clear();
  builder.setInsertionPointToEnd(loop.getBody());

  Block &block = op->getRegion(0).front();
  Value turn = loop.getInductionVar();
  auto arguments = block.getArguments();
  bindState(arguments.take_front(stateCount), loop.getRegionIterArgs(), current,
            next);
  for (const auto &[index, input] : llvm::enumerate(inputs))
    setView(arguments[stateCount + index],
            axes[index] < 0 ? input : makeSlice(input, axes[index], turn));
  for (Value whole : stacked)
    next.push_back(makeSlice(whole, 0, turn));
  OperandRange yielded = block.getTerminator()->getOperands();
  wishFor(yielded, next, block);
  if (llvm::failed(lowerBlock(block)))
    return failure();
  auto outputs = ArrayRef<Value>(next).drop_front(stateCount);
  for (auto [value, place] : llvm::zip(yielded.drop_front(stateCount), outputs))
    writeTo(value, place);
  yieldState(yielded.take_front(stateCount), current, next, values);
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointAfter(loop);
  bindResults(op->getResults().take_front(stateCount), loop.getResults());
  return success();
}

LogicalResult CallsLowering::lowerScan(ScanOp op) {
  SmallVector<int64_t> axes(op.getInputs().size() - op.getNumState(), 0);
  return lowerSliced(op, op.getLength(), op.getNumState(), axes);
}

LogicalResult CallsLowering::lowerMap(MapOp op) {
  return lowerSliced(op, op.getLength(), 0, op.getAxes());
}

//===-- Reduction by adjacent pairs ---------------------------------------===//

/// f(lhs, rhs) written to views. The region is lowered more than once, so what
/// is known of its values is forgotten afterwards.
LogicalResult CallsLowering::combine(ReduceOp op, ValueRange lhs,
                                     ValueRange rhs, ArrayRef<Value> places) {
  auto savedViews = views, savedScalars = scalars, savedPlaces = destinations;
  Block &block = op.getBody().front();
  for (const auto &[index, argument] : llvm::enumerate(block.getArguments()))
    setView(argument,
            index < lhs.size() ? lhs[index] : rhs[index - lhs.size()]);
  OperandRange yielded = block.getTerminator()->getOperands();
  wishFor(yielded, places, block);
  if (llvm::failed(lowerBlock(block)))
    return failure();
  for (auto [value, place] : llvm::zip(yielded, places))
    writeTo(value, place);
  views = std::move(savedViews);
  scalars = std::move(savedScalars);
  destinations = std::move(savedPlaces);
  return success();
}

static SmallVector<Value> getSlices(CallsLowering &lowering, ValueRange wholes,
                                    Value index) {
  SmallVector<Value> slices;
  for (Value whole : wholes)
    slices.push_back(lowering.makeSlice(whole, 0, index));
  return slices;
}

/// One level of the tree: `count` elements of `current` become half as many of
/// `next`.
LogicalResult CallsLowering::combineLevel(ReduceOp op, Value count,
                                          ValueRange current, ValueRange next) {
  Value one = getWord(1);
  Value half = arith::ShRUIOp::create(builder, loc, count, one);
  auto loop = scf::ForOp::create(builder, loc, getWord(0), half, one);
  loop.getBody()->clear();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value turn = loop.getInductionVar();
    Value left = arith::AddIOp::create(builder, loc, turn, turn);
    Value right = arith::AddIOp::create(builder, loc, left, one);
    if (llvm::failed(combine(op, getSlices(*this, current, left),
                             getSlices(*this, current, right),
                             getSlices(*this, next, turn))))
      return failure();
    scf::YieldOp::create(builder, loc);
  }
  Value odd = arith::AndIOp::create(builder, loc, count, one);
  Value isOdd =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, odd, one);
  auto tail = scf::IfOp::create(builder, loc, TypeRange(), isOdd, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&tail.getThenRegion().front());
  Value last = arith::SubIOp::create(builder, loc, count, one);
  for (auto [from, to] :
       llvm::zip(getSlices(*this, current, last), getSlices(*this, next, half)))
    copy(from, to);
  return success();
}

LogicalResult CallsLowering::lowerReduce(ReduceOp op) {
  Location at = loc;
  size_t count = op.getResults().size();
  OperandRange inits = op.getInputs().take_front(count);
  SmallVector<Value> state = {
      calls::DimOp::create(builder, at, builder.getI64Type(),
                           builder.getStringAttr(op.getLength().str()))};
  Value length = state.front();
  SmallVector<Value> second;
  for (Value array : op.getInputs().drop_front(count)) {
    astra::TensorType type = getTensorType(array);
    state.push_back(makeBuffer(type.getElementType(), type.getShape()));
    second.push_back(makeBuffer(type.getElementType(), type.getShape()));
    writeTo(array, state.back());
  }
  state.append(second);
  SmallVector<Value> places, starts;
  for (auto [result, init] : llvm::zip(op.getResults(), inits)) {
    places.push_back(getDestination(result));
    starts.push_back(getView(init));
  }

  SmallVector<Type> types(ValueRange(state).getTypes());
  SmallVector<Location> locs(types.size(), at);
  auto loop = scf::WhileOp::create(builder, at, types, state);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
  Value more = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::sgt,
                                     before->getArgument(0), getWord(1));
  scf::ConditionOp::create(builder, at, more, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locs);
  ValueRange arguments = after->getArguments();
  ValueRange current = arguments.slice(1, count);
  ValueRange next = arguments.drop_front(1 + count);
  if (llvm::failed(combineLevel(op, arguments[0], current, next)))
    return failure();
  Value rounded = arith::AddIOp::create(builder, at, arguments[0], getWord(1));
  SmallVector<Value> values = {
      arith::ShRUIOp::create(builder, at, rounded, getWord(1))};
  values.append(next.begin(), next.end());
  values.append(current.begin(), current.end());
  scf::YieldOp::create(builder, at, values);
  builder.setInsertionPointAfter(loop);

  // f(init, it), or init over nothing.
  Value some = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::sgt,
                                     length, getWord(0));
  auto branch = scf::IfOp::create(builder, at, TypeRange(), some, true);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  SmallVector<Value> slices =
      getSlices(*this, loop.getResults().slice(1, count), getWord(0));
  if (llvm::failed(combine(op, starts, slices, places)))
    return failure();
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  for (auto [init, place] : llvm::zip(inits, places))
    writeTo(init, place);
  builder.setInsertionPointAfter(branch);
  return success();
}
