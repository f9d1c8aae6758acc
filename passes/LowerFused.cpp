// `astra.fused` as one call of a fused kernel: the region becomes the stages of
// a `calls.fused`, with the same kernel rules that operations have by
// themselves, applied to one element. Part of the pass `calls`.
#include "astra/module.h"
#include "passes/CallsLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace astra;

namespace {
/// Where a value of the region comes to be: on elements or once a row, in which
/// pass. Folds of pass t are ready for work once a row of the same t, and that
/// for the elements of t + 1.
struct Place {
  bool perRow = false;
  unsigned pass = 0;
  Operation *maker = nullptr; // null for arguments
};

/// Builds the `calls.fused` of one region.
class FusedKernel {
public:
  /// Of the operations of `op`, which stand for those of `source`.
  FusedKernel(FusedOp op, FusedOp source, OpBuilder builder)
      : op(op), source(source), builder(builder), rows(op.getRows()) {}

  /// Decides where values are; false if there are too many for one kernel.
  bool plan();
  /// Writes the `calls.fused`; null, with an error, where an operation has no
  /// kernel.
  calls::FusedOp build(StringRef name);
  ArrayRef<Dim> getShape() const { return shape; }
  /// An element's type in slots and stages.
  static Type getElement(Value value) {
    return getTensorType(value).getElementType();
  }

private:
  void findShape();
  bool isPerRow(Value value) const;
  Value skipAdaptors(Value value) const;
  void placeValues();
  unsigned addSlot(StringRef kind, Type element);
  unsigned getSlot(Value value);
  unsigned getLastReader(Value value) const;
  bool isFreeFor(Value value, Value yielded);
  std::optional<unsigned> findRoomInOutput(Value value);
  void assignSlots();
  LogicalResult buildStage(bool perRow, unsigned pass);
  LogicalResult fillStage(calls::StageOp stage, ArrayRef<Operation *> ops);

  FusedOp op, source;
  OpBuilder builder;
  int64_t rows;
  SmallVector<Dim> shape;
  SmallVector<Operation *> work; // all but adaptors and constants
  DenseMap<Value, Place> places;
  DenseMap<Value, unsigned> slots;               // where a value can be read
  DenseMap<Value, SmallVector<unsigned>> writes; // slots that it goes to
  SmallVector<StringRef> kinds;
  SmallVector<Type> types;
  llvm::SmallDenseSet<unsigned> lent; // results that elements lie in before
  unsigned passes = 0;
};

/// A kernel rule on one element: a call of a kernel becomes an application.
class ElementRules : public KernelBuilder {
public:
  using KernelBuilder::call;
  ElementRules(Operation *op, OpBuilder &builder, ValueRange operands)
      : op(op), builder(builder), operands(operands) {}

  Value result;

  Value getInput(unsigned operand) final { return operands[operand]; }
  Value getOutput(unsigned) final { return {}; }
  void call(const Twine &kernel, ArrayRef<Value> inputs, ArrayRef<Value>,
            ArrayRef<Attribute> params) final {
    if (auto power = dyn_cast<PowIntOp>(op))
      result = raise(inputs[0], power.getExponent());
    else
      result = apply(kernel.str(), inputs,
                     FusedKernel::getElement(op->getResult(0)));
  }

  // Rules of elementwise operations ask for nothing else.
  void setResult(unsigned, Value) final {}
  Value getTemporary(Type, ArrayRef<Dim>) final { return {}; }
  Value getScalar(unsigned) final { return {}; }
  Value getDimScalar(const Dim &) final { return {}; }
  Value getDimView(const Dim &) final { return {}; }
  Layout getLayout(Value) final { return {}; }
  Value getView(Value, const Layout &) final { return {}; }
  Value getSplat(Attribute, Type, ArrayRef<Dim>) final { return {}; }
  void checkRange(Value, const Dim &, const Dim &, int64_t) final {}
  void checkEqual(const Dim &, const Dim &, StringRef) final {}
  void debug(StringRef, Value) final {}
  MLIRContext *getContext() final { return op->getContext(); }

private:
  Value apply(StringRef kernel, ValueRange inputs, Type type) {
    return calls::ApplyOp::create(builder, op->getLoc(), type, kernel, inputs);
  }
  /// Repeated squaring, as docs/arithmetic.md has it: small floats in f32.
  Value raise(Value x, uint64_t exponent) {
    Type type = x.getType(), f32 = builder.getF32Type();
    bool isSmall = type.isF16() || type.isBF16();
    std::string name = getElementName(type);
    if (isSmall)
      x = apply("convert_" + name + "_f32", x, f32);
    Value power;
    std::string mul = getKernelName("mul", x.getType());
    for (uint64_t bits = exponent; bits; bits >>= 1) {
      if (bits & 1)
        power = power ? apply(mul, {power, x}, x.getType()) : x;
      if (bits > 1)
        x = apply(mul, {x, x}, x.getType());
    }
    return isSmall ? apply("convert_f32_" + name, power, type) : power;
  }

  Operation *op;
  OpBuilder &builder;
  ValueRange operands;
};
} // namespace

//===-- Places ------------------------------------------------------------===//

static bool isFold(Operation *op) {
  return isa<SumOp, ProdOp, MaxOp, MinOp>(op);
}
static bool isAdaptor(Operation *op) {
  return op && isa<BroadcastOp, ReshapeOp>(op);
}

void FusedKernel::findShape() {
  for (Operation &inner : op.getBody().front())
    if (isFold(&inner)) {
      shape = getTensorType(inner.getOperand(0)).getShape();
      return;
    }
  shape = getTensorType(op.getResult(0)).getShape();
}

bool FusedKernel::isPerRow(Value value) const {
  return rows && getTensorType(value).getShape() != shape;
}

Value FusedKernel::skipAdaptors(Value value) const {
  while (isAdaptor(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

void FusedKernel::placeValues() {
  for (Value argument : op.getBody().front().getArguments())
    places[argument] = {isPerRow(argument), 0, nullptr};
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (isAdaptor(&inner) || isa<ConstOp>(inner))
      continue;
    Place place = {isPerRow(inner.getResult(0)), 0, &inner};
    bool onElements = !place.perRow || isFold(&inner);
    for (Value operand : inner.getOperands()) {
      operand = skipAdaptors(operand);
      if (operand.getDefiningOp<ConstOp>())
        continue;
      const Place &from = places[operand];
      bool isLater = onElements && from.perRow && from.maker;
      place.pass = std::max(place.pass, from.pass + isLater);
    }
    places[inner.getResult(0)] = place;
    passes = std::max(passes, place.pass + 1);
    work.push_back(&inner);
  }
}

//===-- Slots -------------------------------------------------------------===//

unsigned FusedKernel::addSlot(StringRef kind, Type element) {
  kinds.push_back(kind);
  types.push_back(element);
  return kinds.size() - 1;
}

/// The last pass that reads a value.
unsigned FusedKernel::getLastReader(Value value) const {
  unsigned last = 0;
  for (Operation *inner : work)
    if (llvm::any_of(inner->getOperands(),
                     [&](Value v) { return skipAdaptors(v) == value; }))
      last = std::max(last, places.lookup(inner->getResult(0)).pass);
  return last;
}

/// Whether elements of `value` may lie where those of a result will: it is
/// written by the last pass that reads them, and no input of its type is read
/// so late, which else could lend the result its memory. What is repeated has
/// none to lend.
bool FusedKernel::isFreeFor(Value value, Value yielded) {
  const Place &result = places.lookup(yielded);
  if (!result.maker || result.perRow || isFold(result.maker) ||
      getElement(yielded) != getElement(value) ||
      result.pass <= places.lookup(value).pass ||
      result.pass < getLastReader(value))
    return false;
  auto inputs = op.getBody().front().getArguments();
  return llvm::none_of(inputs, [&](BlockArgument input) {
    Value source = op.getInputs()[input.getArgNumber()];
    return getTensorType(input) == getTensorType(value) &&
           !source.getDefiningOp<BroadcastOp>() &&
           getLastReader(input) > places.lookup(value).pass;
  });
}

/// The slot of a result that is not in use yet: a pass less than memory of its
/// own takes, and the result's place is near when its turn comes.
std::optional<unsigned> FusedKernel::findRoomInOutput(Value value) {
  unsigned slot = op.getNumOperands();
  for (Value yielded : op.getBody().front().getTerminator()->getOperands()) {
    if (isFreeFor(value, skipAdaptors(yielded)) && lent.insert(slot).second)
      return slot;
    ++slot;
  }
  return std::nullopt;
}

/// Arguments first: inputs, then outputs. A value that an output has is read
/// from there again; others get a slot where a later stage reads them.
void FusedKernel::assignSlots() {
  Block &body = op.getBody().front();
  for (Value argument : body.getArguments())
    slots[argument] = addSlot("arg", getElement(argument));
  for (Value yielded : body.getTerminator()->getOperands()) {
    unsigned slot = addSlot("arg", getElement(yielded));
    Value value = skipAdaptors(yielded);
    writes[value].push_back(slot);
  }
  for (Operation *inner : work) {
    Value value = inner->getResult(0);
    const Place &place = places[value];
    if (isFold(inner)) {
      StringRef kind = inner->hasAttr(TotalAttrName)
                           ? "top"
                           : inner->getName().stripDialect();
      slots[value] = addSlot(kind, getElement(value));
      continue;
    }
    if (auto known = writes.find(value);
        known != writes.end() && !place.perRow) {
      slots[value] = known->second.front();
      continue;
    }
    bool isReadLater = llvm::any_of(work, [&](Operation *other) {
      const Place &reader = places[other->getResult(0)];
      bool sameStage = reader.pass == place.pass &&
                       (reader.perRow && !isFold(other)) == place.perRow;
      return !sameStage && llvm::any_of(other->getOperands(), [&](Value v) {
        return skipAdaptors(v) == value;
      });
    });
    if (isReadLater) {
      std::optional<unsigned> room;
      if (!place.perRow)
        room = findRoomInOutput(value);
      slots[value] =
          room ? *room
               : addSlot(place.perRow ? "scalar" : "row", getElement(value));
      writes[value].push_back(slots[value]);
    }
  }
}

//===-- Stages ------------------------------------------------------------===//

/// What the operations of one pass read and write.
LogicalResult FusedKernel::buildStage(bool perRow, unsigned pass) {
  SmallVector<Operation *> ops;
  for (Operation *inner : work) {
    const Place &place = places[inner->getResult(0)];
    if (place.pass == pass && (place.perRow && !isFold(inner)) == perRow)
      ops.push_back(inner);
  }
  // Folds that go out as they are pass through a stage of their own.
  auto isCopied = [&](Operation *inner) {
    return perRow && isFold(inner) &&
           places[inner->getResult(0)].pass == pass &&
           writes.count(inner->getResult(0));
  };
  SmallVector<Operation *> copied;
  llvm::copy_if(work, std::back_inserter(copied), isCopied);
  if (ops.empty() && copied.empty())
    return success();
  llvm::append_range(ops, copied);
  auto stage = calls::StageOp::create(builder, op.getLoc(), ArrayRef<int64_t>(),
                                      ArrayRef<int64_t>(), perRow);
  return fillStage(stage, ops);
}

LogicalResult FusedKernel::fillStage(calls::StageOp stage,
                                     ArrayRef<Operation *> ops) {
  Block &block = stage.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  DenseMap<Value, Value> elements;
  SmallVector<int64_t> inputs, outputs;
  SmallVector<std::pair<unsigned, Value>> written;
  SmallVector<Value> yielded;
  auto read = [&](Value value) -> Value {
    value = skipAdaptors(value);
    if (Value known = elements.lookup(value))
      return known;
    if (auto constant = value.getDefiningOp<ConstOp>())
      return elements[value] = arith::ConstantOp::create(
                 inside, op.getLoc(),
                 getScalarAttr(constant.getValue(), getElement(value)));
    inputs.push_back(slots.lookup(value));
    return elements[value] =
               block.addArgument(getElement(value), value.getLoc());
  };
  auto write = [&](Value element, ArrayRef<unsigned> to) {
    for (unsigned slot : to)
      written.push_back({slot, element});
  };
  if (!rows) // the loop hands a map its arguments in their order
    for (Value argument : op.getBody().front().getArguments())
      read(argument);
  for (Operation *inner : ops) {
    Value result = inner->getResult(0);
    if (isFold(inner)) {
      if (stage.getPerRow())
        write(read(result), writes[result]);
      else
        write(read(inner->getOperand(0)), slots[result]);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner->getOperands())
      operands.push_back(read(operand));
    if (isa<BitcastOp>(inner)) {
      elements[result] = calls::ApplyOp::create(
          inside, inner->getLoc(), getElement(result), "bitcast", operands);
    } else {
      ElementRules rules(inner, inside, operands);
      if (failed(cast<KernelOpInterface>(inner).buildKernels(rules)))
        return inner->emitError("has no kernel to compute an element");
      elements[result] = rules.result;
    }
    if (auto to = writes.find(result); to != writes.end())
      write(elements[result], to->second);
  }
  if (!rows) // arguments that go out as they are
    for (Value argument : op.getBody().front().getArguments())
      if (auto to = writes.find(argument); to != writes.end())
        write(read(argument), to->second);
  llvm::sort(written, llvm::less_first());
  for (auto [slot, element] : written) {
    outputs.push_back(slot);
    yielded.push_back(element);
  }
  calls::YieldOp::create(inside, op.getLoc(), yielded);
  stage.setInputs(inputs);
  stage.setOutputs(outputs);
  return success();
}

/// Folds of one pass that the loops can hold.
static constexpr long MostFolds = 8;

bool FusedKernel::plan() {
  findShape();
  placeValues();
  assignSlots();
  auto isKind = [](StringRef kind) {
    return kind != "arg" && kind != "row" && kind != "scalar";
  };
  return kinds.size() <= ASTRA_FUSED_MOST_SLOTS &&
         llvm::count_if(kinds, isKind) <= MostFolds;
}

calls::FusedOp FusedKernel::build(StringRef name) {
  std::string ops;
  SmallVector<Location> places;
  for (Operation &inner : source.getBody().front().without_terminator()) {
    if (isAdaptor(&inner) || isa<ConstOp>(inner))
      continue;
    ops += (ops.empty() ? "" : " ") + inner.getName().stripDialect().str();
    places.push_back(inner.getLoc());
  }
  unsigned args = op.getNumOperands() + op.getNumResults();
  auto fused = calls::FusedOp::create(
      builder, FusedLoc::get(builder.getContext(), places), name, ops, args,
      rows, builder.getStrArrayAttr(kinds), builder.getTypeArrayAttr(types));
  builder.setInsertionPointToEnd(&fused.getBody().emplaceBlock());
  for (unsigned pass = 0; pass < passes; ++pass)
    if (failed(buildStage(/*perRow=*/false, pass)) ||
        failed(buildStage(/*perRow=*/true, pass)))
      return {};
  return fused;
}

//===-- The call ----------------------------------------------------------===//

/// A view of the kernel's shape: one value a row repeats along the row.
static Layout repeatAlongRows(const Layout &source, ArrayRef<Dim> shape,
                              int64_t rows) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  layout.strides.assign(shape.size(), Dim());
  for (size_t axis = 0; axis + rows < shape.size(); ++axis)
    layout.strides[axis] = source.strides[axis];
  return layout;
}

/// The name of a kernel with the same code, which makes this one needless.
StringRef CallsLowering::shareFused(calls::FusedOp fused) {
  std::string name = fused.getSymName().str(), code;
  llvm::raw_string_ostream stream(code);
  fused.setSymName("");
  fused->print(stream);
  fused.setSymName(name);
  auto [known, isNew] = fusedNames.try_emplace(code, name);
  if (!isNew) {
    auto shared =
        source->getParentOfType<ModuleOp>().lookupSymbol<calls::FusedOp>(
            known->second);
    shared->setLoc(builder.getFusedLoc({shared.getLoc(), fused.getLoc()}));
    fused.erase();
  }
  return known->second;
}

LogicalResult CallsLowering::lowerFused(FusedOp op) {
  auto module = source->getParentOfType<ModuleOp>();
  // A copy, which may be changed and goes away.
  OwningOpRef<FusedOp> expanded(cast<FusedOp>(op->clone()));
  expandRowOperations(*expanded);
  FusedKernel kernel(*expanded, op, OpBuilder::atBlockEnd(module.getBody()));
  if (!kernel.plan())
    return lowerInline(*op, op.getBody());
  calls::FusedOp fused =
      kernel.build("fused_" + std::to_string(fusedNames.size()));
  if (!fused)
    return failure();
  StringRef name = shareFused(fused);
  auto shaped = [&](Value view) -> Value {
    auto type = cast<calls::ViewType>(view.getType());
    if (type.getShapeDims() == SmallVector<Dim>(kernel.getShape()))
      return view;
    Layout layout;
    layout.strides = type.getStrideDims();
    return makeView(view,
                    repeatAlongRows(layout, kernel.getShape(), op.getRows()),
                    type.getElementType());
  };
  SmallVector<Value> inputs, outputs;
  for (Value input : op.getInputs())
    inputs.push_back(shaped(getView(input)));
  for (Value result : op.getResults())
    outputs.push_back(shaped(getDestination(result)));
  Attribute plan = FlatSymbolRefAttr::get(builder.getContext(), name);
  callKernel(op.getRows() ? "fused_rows" : "fused_map", inputs, outputs, plan);
  return success();
}
