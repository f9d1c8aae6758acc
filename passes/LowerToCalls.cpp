// The pass `calls`: every value gets a buffer or stays a scalar, and every
// operation says through its rule (dialect/Lowering.h) which kernels compute
// it. This file walks and keeps the values; the rules know what an operation
// means.
#include "kernels/KernelTable.h"
#include "passes/CallsLowering.h"
#include "passes/Passes.h"
#include "passes/TapeUse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace astra;

namespace astra {
#define GEN_PASS_DEF_LOWERTOCALLSPASS
#include "passes/Passes.h.inc"
} // namespace astra

//===-- What rules may ask for --------------------------------------------===//

namespace {
class RuleServices : public KernelBuilder {
public:
  using KernelBuilder::call;
  RuleServices(CallsLowering &lowering, Operation &op)
      : lowering(lowering), op(op), builder(lowering.getBuilder()) {}

  Value getInput(unsigned operand) final {
    return lowering.getView(op.getOperand(operand));
  }
  Value getOutput(unsigned result) final {
    return lowering.getDestination(op.getResult(result));
  }
  void setResult(unsigned result, Value view) final {
    lowering.setView(op.getResult(result), view);
  }
  Value getTemporary(Type element, ArrayRef<Dim> shape) final {
    return lowering.makeBuffer(element, shape);
  }
  Value getScalar(unsigned operand) final {
    return lowering.getScalar(op.getOperand(operand));
  }
  Value getDimScalar(const Dim &dim) final {
    return calls::DimOp::create(builder, op.getLoc(), builder.getI64Type(),
                                builder.getStringAttr(dim.str()));
  }
  Value getDimView(const Dim &dim) final {
    Type word = builder.getI64Type();
    if (std::optional<int64_t> constant = dim.asConstant())
      return getSplat(builder.getI64IntegerAttr(*constant), word, {});
    Value room = lowering.makeBuffer(word, {});
    calls::StoreOp::create(builder, op.getLoc(), getDimScalar(dim), room);
    return room;
  }
  Layout getLayout(Value view) final {
    auto type = cast<calls::ViewType>(view.getType());
    Layout layout;
    layout.shape = type.getShapeDims();
    layout.strides = type.getStrideDims();
    return layout;
  }
  Value getView(Value base, const Layout &layout) final {
    auto type = cast<calls::ViewType>(base.getType());
    return lowering.makeView(base, layout, type.getElementType());
  }
  Value getSplat(Attribute value, Type element, ArrayRef<Dim> shape) final {
    SmallVector<Dim> strides(shape.size());
    auto type = calls::ViewType::get(op.getContext(), element, shape, strides);
    return calls::ConstantOp::create(builder, op.getLoc(), type, value);
  }
  void call(const Twine &kernel, ArrayRef<Value> inputs,
            ArrayRef<Value> outputs, ArrayRef<Attribute> params) final {
    lowering.callKernel(kernel, inputs, outputs, params);
  }
  void checkRange(Value start, const Dim &size, const Dim &extent,
                  int64_t axis) final {
    calls::CheckRangeOp::create(builder, op.getLoc(), start, size.str(),
                                extent.str(), axis);
  }
  void checkEqual(const Dim &a, const Dim &b, StringRef text) final {
    calls::CheckEqualOp::create(builder, op.getLoc(), a.str(), b.str(), text);
  }
  void debug(StringRef text, Value view) final {
    calls::DebugOp::create(builder, op.getLoc(), view, text);
  }
  MLIRContext *getContext() final { return op.getContext(); }

private:
  CallsLowering &lowering;
  Operation &op;
  OpBuilder &builder;
};
} // namespace

//===-- Values ------------------------------------------------------------===//

Value CallsLowering::makeBuffer(Type element, ArrayRef<Dim> shape) {
  auto type = calls::ViewType::getDense(builder.getContext(), element, shape);
  return calls::AllocOp::create(builder, loc, type, StringAttr());
}

Value CallsLowering::makeView(Value base, const Layout &layout, Type element) {
  auto type = calls::ViewType::get(builder.getContext(), element, layout.shape,
                                   layout.strides);
  if (type == base.getType() && layout.offset == Dim() &&
      layout.indices.empty())
    return base;
  SmallVector<Attribute> steps;
  for (const Dim &step : layout.steps)
    steps.push_back(builder.getStringAttr(step.str()));
  return calls::ViewOp::create(builder, loc, type, base, layout.indices,
                               layout.offset.str(),
                               builder.getArrayAttr(steps));
}

Value CallsLowering::makeSlice(Value base, unsigned axis, Value index) {
  auto type = cast<calls::ViewType>(base.getType());
  Layout layout;
  layout.shape = type.getShapeDims();
  layout.strides = type.getStrideDims();
  layout.indices.push_back(index);
  layout.steps.push_back(layout.strides[axis]);
  layout.shape.erase(layout.shape.begin() + axis);
  layout.strides.erase(layout.strides.begin() + axis);
  return makeView(base, layout, type.getElementType());
}

Value CallsLowering::getView(Value value) {
  if (Value view = views.lookup(value))
    return view;
  Value scalar = scalars.lookup(value);
  Type element = getTensorType(value).getElementType();
  if (auto constant = scalar.getDefiningOp<arith::ConstantOp>()) {
    auto type = calls::ViewType::getDense(builder.getContext(), element, {});
    return calls::ConstantOp::create(builder, loc, type, constant.getValue());
  }
  Value room = makeBuffer(element, {});
  calls::StoreOp::create(builder, loc, scalar, room);
  return room;
}

Value CallsLowering::getScalar(Value value) {
  if (Value scalar = scalars.lookup(value))
    return scalar;
  Type type = getScalarType(getTensorType(value).getElementType());
  return calls::LoadOp::create(builder, loc, type, views.lookup(value));
}

/// The axes of a result in the order in which its readers take them, where they
/// agree on another than its own. Asked of products only: they write rows of
/// any order equally well, and what reads them is fastest along its last axis.
static ArrayRef<int64_t> getReadOrder(Value result) {
  Operation *op = result.getDefiningOp();
  if (!op || !isa<ContractOp, AttentionOp, AttentionGradOp>(op))
    return {};
  ArrayRef<int64_t> order;
  for (Operation *user : result.getUsers()) {
    if (isa<AttentionGradOp>(user))
      continue;
    auto transpose = dyn_cast<TransposeOp>(user);
    if (!transpose || (!order.empty() && order != transpose.getPerm()))
      return {};
    order = transpose.getPerm();
  }
  return order;
}

Value CallsLowering::makeResult(Value result) {
  astra::TensorType type = getTensorType(result);
  Type element = type.getElementType();
  ArrayRef<int64_t> order = getReadOrder(result);
  if (order.empty())
    return makeBuffer(element, type.getShape());
  SmallVector<Dim> inOrder;
  for (int64_t axis : order)
    inOrder.push_back(type.getDim(axis));
  Layout layout = Layout::dense(inOrder);
  SmallVector<Dim> strides(order.size());
  for (auto [stride, axis] : llvm::zip(layout.strides, order))
    strides[axis] = stride;
  layout.shape = type.getShape();
  layout.strides = strides;
  return makeView(makeBuffer(element, inOrder), layout, element);
}

Value CallsLowering::getDestination(Value result) {
  if (Value view = views.lookup(result))
    return view;
  Value view = destinations.lookup(result);
  if (!view)
    view = makeResult(result);
  views[result] = view;
  return view;
}

void CallsLowering::copy(Value from, Value to) {
  auto type = cast<calls::ViewType>(to.getType());
  Type element = type.getElementType();
  if (type.getRank() != 0)
    return callKernel(getWidthKernelName("copy", element), {from}, {to}, {});
  Value scalar =
      calls::LoadOp::create(builder, loc, getScalarType(element), from);
  calls::StoreOp::create(builder, loc, scalar, to);
}

void CallsLowering::writeTo(Value value, Value destination) {
  Value view = views.lookup(value);
  if (view == destination)
    return;
  if (view)
    copy(view, destination);
  else
    calls::StoreOp::create(builder, loc, scalars.lookup(value), destination);
}

void CallsLowering::callKernel(const Twine &name, ArrayRef<Value> inputs,
                               ArrayRef<Value> outputs,
                               ArrayRef<Attribute> params) {
  std::string text = name.str();
  const KernelRow *row = findKernel(text);
  if (!row) {
    emitError(loc) << "there is no kernel \"" << text << "\"";
    return fail();
  }
  calls::KernelOp::create(builder, loc, text, inputs, outputs,
                          builder.getArrayAttr(params), row->version);
}

//===-- Operations --------------------------------------------------------===//

/// Operations on scalars that generated code computes itself.
bool CallsLowering::lowerScalar(Operation &op) {
  if (op.getNumResults() != 1)
    return false;
  auto type = dyn_cast<astra::TensorType>(op.getResult(0).getType());
  if (!type || !type.isScalar())
    return false;
  if (auto constant = dyn_cast<ConstOp>(op)) {
    setScalar(constant.getResult(),
              arith::ConstantOp::create(
                  builder, loc,
                  getScalarAttr(constant.getValue(), type.getElementType())));
    return true;
  }
  if (auto dim = dyn_cast<DimValueOp>(op)) {
    setScalar(
        dim.getResult(),
        calls::DimOp::create(builder, loc, builder.getI64Type(),
                             builder.getStringAttr(dim.getValue().str())));
    return true;
  }
  if (isa<StopGradientOp>(op) && scalars.count(op.getOperand(0))) {
    setScalar(op.getResult(0), getScalar(op.getOperand(0)));
    return true;
  }
  auto rule = dyn_cast<ScalarOpInterface>(op);
  if (!rule)
    return false;
  // Loads for a rule that then declines are dropped again.
  Operation *last = builder.getInsertionBlock()->empty()
                        ? nullptr
                        : &builder.getInsertionBlock()->back();
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(getScalar(operand));
  FailureOr<Value> result = rule.buildScalar(builder, operands);
  if (succeeded(result)) {
    setScalar(op.getResult(0), *result);
    return true;
  }
  Block *block = builder.getInsertionBlock();
  while (!block->empty() && &block->back() != last)
    block->back().erase();
  return false;
}

LogicalResult CallsLowering::lowerViewOp(Operation &op) {
  RuleServices rules(*this, op);
  auto rule = cast<ViewOpInterface>(op);
  Value base = getView(op.getOperand(0));
  FailureOr<Layout> layout = rule.buildView(rules, rules.getLayout(base));
  if (llvm::failed(layout)) {
    // Only a copy will do.
    auto type = cast<calls::ViewType>(base.getType());
    Value dense = makeBuffer(type.getElementType(), type.getShapeDims());
    copy(base, dense);
    base = dense;
    layout = rule.buildView(rules, Layout::dense(type.getShapeDims()));
    if (llvm::failed(layout))
      return op.emitError("has no form as a view");
  }
  Type element = getTensorType(op.getResult(0)).getElementType();
  setView(op.getResult(0), makeView(base, *layout, element));
  return success();
}

LogicalResult CallsLowering::lowerKernelOp(Operation &op) {
  RuleServices rules(*this, op);
  if (llvm::failed(cast<KernelOpInterface>(op).buildKernels(rules)))
    return op.emitError() << "\"" << op.getName()
                          << "\" has no kernels to compute it";
  return success();
}

LogicalResult CallsLowering::lower(Operation &op) {
  loc = op.getLoc();
  if (auto o = dyn_cast<IfOp>(op))
    return lowerIf(o);
  if (auto o = dyn_cast<ForOp>(op))
    return lowerFor(o);
  if (auto o = dyn_cast<WhileOp>(op))
    return lowerWhile(o);
  if (auto o = dyn_cast<ScanOp>(op))
    return lowerScan(o);
  if (auto o = dyn_cast<MapOp>(op))
    return lowerMap(o);
  if (auto o = dyn_cast<ReduceOp>(op))
    return lowerReduce(o);
  if (auto o = dyn_cast<FusedOp>(op))
    return lowerFused(o);
  if (isa<CustomDerivativeOp, RematOp>(op))
    return lowerInline(op, op.getRegion(0));
  if (lowerTape(op) || lowerScalar(op))
    return success();
  if (isa<ViewOpInterface>(op))
    return lowerViewOp(op);
  if (auto o = dyn_cast<ConcatOp>(op); o && isOfColumns(o)) {
    lowerColumns(o);
    return success();
  }
  if (isa<KernelOpInterface>(op))
    return lowerKernelOp(op);
  return op.emitError() << "\"" << op.getName()
                        << "\" must be gone before the phase `calls`";
}

LogicalResult CallsLowering::lowerBlock(Block &block) {
  auto ends = findTapeEnds(block);
  for (Operation &op : block.without_terminator()) {
    if (llvm::failed(lower(op)) || failed)
      return failure();
    closeTapes(ends.lookup(&op));
  }
  loc = block.getTerminator()->getLoc();
  return success();
}

//===-- Functions ---------------------------------------------------------===//

/// Inputs come with strides that only the call knows; a scalar has none.
static calls::ViewType getInputType(Type type, unsigned index) {
  auto tensor = cast<astra::TensorType>(type);
  SmallVector<Dim> strides;
  for (unsigned axis = 0; axis < tensor.getRank(); ++axis)
    strides.push_back(calls::getInputStride(index, axis));
  return calls::ViewType::get(type.getContext(), tensor.getElementType(),
                              tensor.getShape(), strides);
}

static calls::ViewType getOutputType(Type type) {
  auto tensor = cast<astra::TensorType>(type);
  return calls::ViewType::getDense(type.getContext(), tensor.getElementType(),
                                   tensor.getShape());
}

/// Extents that may be negative for some call: everything but names and
/// constants, in the order in which they occur.
static ArrayAttr collectExtents(func::FuncOp function, OpBuilder &builder) {
  llvm::SetVector<Attribute> extents;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<astra::TensorType>(type))
      for (StringAttr text : tensor.getDims())
        if (Dim dim = toDim(text); !dim.asConstant() && dim.asName().empty())
          extents.insert(text);
  };
  llvm::for_each(function.getArgumentTypes(), add);
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), add);
  });
  return builder.getArrayAttr(extents.getArrayRef());
}

/// Numbers of elements that no memory stands for, because an axis repeats: the
/// runtime refuses those that leave 64 bits, as it does sizes of memory. False,
/// with an error, where one leaves them for every call.
static bool addCounts(func::FuncOp target, OpBuilder &builder) {
  auto known = target->getAttrOfType<ArrayAttr>("calls.extents");
  llvm::SetVector<Attribute> extents(known.begin(), known.end());
  WalkResult result = target.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto view = dyn_cast<calls::ViewType>(type);
      if (!view)
        continue;
      Dim count = calls::getElementCount(view.getShapeDims());
      if (count.hasOverflow()) {
        op->emitError("the number of elements of a value does not fit 64 bits, "
                      "or its expression is too long");
        return WalkResult::interrupt();
      }
      bool repeats = llvm::any_of(view.getStrideDims(), [](const Dim &stride) {
        return stride.isConstant(0);
      });
      if (repeats && !count.asConstant() && count.asName().empty())
        extents.insert(builder.getStringAttr(count.str()));
    }
    return WalkResult::advance();
  });
  target->setAttr("calls.extents", builder.getArrayAttr(extents.getArrayRef()));
  return !result.wasInterrupted();
}

FailureOr<func::FuncOp> CallsLowering::run() {
  SmallVector<Type> types;
  for (const auto &[index, type] : llvm::enumerate(source.getArgumentTypes()))
    types.push_back(getInputType(type, index));
  for (Type type : source.getResultTypes())
    types.push_back(getOutputType(type));
  loc = source.getLoc();
  builder.setInsertionPoint(source);
  auto target =
      func::FuncOp::create(builder, loc, source.getName(),
                           builder.getFunctionType(types, TypeRange()));
  for (NamedAttribute attr : source->getDiscardableAttrs())
    target->setAttr(attr.getName(), attr.getValue());
  target->setAttr("calls.outputs",
                  builder.getI64IntegerAttr(source.getNumResults()));
  target->setAttr("calls.extents", collectExtents(source, builder));

  Block *body = target.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  unsigned inputs = source.getNumArguments();
  for (const auto &[index, argument] : llvm::enumerate(source.getArguments()))
    setView(argument, body->getArgument(index));
  Block &block = source.getBody().front();
  OperandRange results = block.getTerminator()->getOperands();
  SmallVector<Value> places(body->getArguments().drop_front(inputs));
  wishFor(results, places, block);
  if (llvm::failed(lowerBlock(block)))
    return failure();
  for (auto [value, place] : llvm::zip(results, places))
    writeTo(value, place);
  func::ReturnOp::create(builder, loc);
  if (!addCounts(target, builder))
    return failure();
  return target;
}

namespace {
class LowerToCalls : public astra::impl::LowerToCallsPassBase<LowerToCalls> {
public:
  void runOnOperation() final {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    OpBuilder builder(&getContext());
    CallsLowering::FusedNames fusedNames;
    for (func::FuncOp function : functions) {
      auto target = CallsLowering(function, builder, fusedNames).run();
      if (llvm::failed(target))
        return signalPassFailure();
      function.erase();
      joinProducts(*target);
      if (llvm::failed(planMemory(*target)))
        return signalPassFailure();
    }
  }
};
} // namespace
