// See FusedCode.h. Values pass through memory of one vector each between the
// calls; it vanishes when those are inlined.
#include "passes/FusedCode.h"
#include "dialect/Lowering.h"
#include "passes/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace astra;

namespace {
/// The kinds of slots by name.
uint32_t getSlotKind(StringRef name) {
  static constexpr llvm::StringLiteral names[] = {
      "arg", "row", "scalar", "sum", "prod", "max", "min", "top"};
  return llvm::find(names, name) - std::begin(names);
}

bool isSmallFloat(Type type) { return type.isF16() || type.isBF16(); }

/// One block function.
class BlockCode {
public:
  BlockCode(calls::StageOp stage, ModuleOp module)
      : stage(stage), module(module), builder(module.getContext()),
        loc(stage.getLoc()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        word(builder.getI64Type()) {}

  void build(StringRef name, const BlockTarget &level);

private:
  Type getElement(Value value) {
    return getStorageType(builder, value.getType());
  }
  Type getVector(Type element) {
    return VectorType::get({ASTRA_BLOCK_LANES}, element);
  }
  /// Small floats are folded as f32.
  Type getFoldedType(Value value) {
    return isSmallFloat(value.getType()) ? builder.getF32Type()
                                         : getElement(value);
  }
  Block *addBlock() {
    auto *block = new Block();
    function.getBody().push_back(block);
    return block;
  }
  Value makeRoom(Type element);
  Value getRoom(Value value);
  Value getEntry(Value table, unsigned index, Type type);
  Value getAddress(Value base, Value index, Type element);
  Value getWord(int64_t value);
  void move(Value from, Value to, Type element, bool fromMemory);
  void copyRoom(Value from, Value to, Type element);
  void loadInputs(Value index);
  void apply(Operation &op);
  void call(const Twine &kernel, ValueRange operands);
  StringRef getKind(unsigned output);
  bool isFolded(unsigned output);
  void join(StringRef kind, Value value, Value known, Value joined);
  void fold(unsigned output, Value value, Value index);
  void storeOutputs(Value index);
  Value buildTestOfLanes();
  void moveLanes(Value index, bool fromMemory);
  void buildLoop(Block *before, Block *exit);

  calls::StageOp stage;
  ModuleOp module;
  OpBuilder builder;
  Location loc;
  Type pointer, word;
  LLVM::LLVMFuncOp function;
  SmallVector<Value> bases, masks;
  DenseMap<Value, Value> rooms;
  /// The lanes of a fold that the next elements join, the other half, and the
  /// type that they are folded in.
  struct Lanes {
    unsigned output;
    Value next, other;
    Type type;
  };
  SmallVector<Lanes> lanes;
  bool keepsLanes = false;
};

Value BlockCode::getWord(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, word,
                                  builder.getI64IntegerAttr(value));
}

Value BlockCode::getEntry(Value table, unsigned index, Type type) {
  Value address = LLVM::GEPOp::create(builder, loc, pointer, word, table,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

Value BlockCode::getAddress(Value base, Value index, Type element) {
  return LLVM::GEPOp::create(builder, loc, pointer, element, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value BlockCode::makeRoom(Type element) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  Value one =
      LLVM::ConstantOp::create(entry, loc, word, entry.getI64IntegerAttr(1));
  return LLVM::AllocaOp::create(entry, loc, pointer, getVector(element), one,
                                /*alignment=*/64);
}

/// Memory for one vector of a value.
Value BlockCode::getRoom(Value value) {
  Value &room = rooms[value];
  if (!room)
    room = makeRoom(getElement(value));
  return room;
}

/// One vector between memory of the operands, aligned to the element, and a
/// room.
void BlockCode::move(Value from, Value to, Type element, bool fromMemory) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  Value vector = LLVM::LoadOp::create(builder, loc, getVector(element), from,
                                      fromMemory ? bytes : 64);
  LLVM::StoreOp::create(builder, loc, vector, to, fromMemory ? 64 : bytes);
}

void BlockCode::copyRoom(Value from, Value to, Type element) {
  Value vector =
      LLVM::LoadOp::create(builder, loc, getVector(element), from, 64);
  LLVM::StoreOp::create(builder, loc, vector, to, 64);
}

void BlockCode::loadInputs(Value index) {
  for (const auto &[k, argument] :
       llvm::enumerate(stage.getBody().getArguments())) {
    Value at = LLVM::AndOp::create(builder, loc, index, masks[k]);
    move(getAddress(bases[k], at, getElement(argument)), getRoom(argument),
         getElement(argument), /*fromMemory=*/true);
  }
}

void BlockCode::apply(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto type = cast<VectorType>(getVector(getElement(constant)));
    Attribute value = constant.getValue();
    if (auto real = dyn_cast<FloatAttr>(value);
        real && !isa<FloatType>(type.getElementType()))
      value = IntegerAttr::get(type.getElementType(),
                               real.getValue().bitcastToAPInt());
    else if (auto integer = dyn_cast<IntegerAttr>(value))
      value = IntegerAttr::get(
          type.getElementType(),
          integer.getValue().zextOrTrunc(type.getElementTypeBitWidth()));
    Value vector = LLVM::ConstantOp::create(
        builder, loc, type, DenseElementsAttr::get(type, value));
    LLVM::StoreOp::create(builder, loc, vector, getRoom(constant), 64);
    return;
  }
  auto apply = cast<calls::ApplyOp>(op);
  if (apply.getKernel() == "bitcast") {
    rooms[apply.getResult()] = getRoom(apply.getElements().front());
    return;
  }
  SmallVector<Value> operands = {getRoom(apply.getResult())};
  for (Value element : apply.getElements())
    operands.push_back(getRoom(element));
  call(apply.getKernel(), operands);
}

/// A vector form: the result's room, then the operands'.
void BlockCode::call(const Twine &kernel, ValueRange operands) {
  std::string name = ("astra_l_" + kernel).str();
  if (!module.lookupSymbol(name)) {
    OpBuilder at = OpBuilder::atBlockEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(builder.getContext()),
        SmallVector<Type>(operands.size(), pointer));
    LLVM::LLVMFuncOp::create(at, loc, name, type);
  }
  LLVM::CallOp::create(builder, loc, TypeRange(), name, operands);
}

StringRef BlockCode::getKind(unsigned output) {
  auto kinds = stage->getParentOfType<calls::FusedOp>().getKinds();
  return cast<StringAttr>(kinds[stage.getOutputs()[output]]).getValue();
}

bool BlockCode::isFolded(unsigned output) {
  StringRef kind = getKind(output);
  return kind != "arg" && kind != "row" && kind != "scalar";
}

/// Elements and what is folded already, both in rooms.
void BlockCode::join(StringRef kind, Value value, Value known, Value joined) {
  std::string type = getElementName(value.getType());
  Value room = getRoom(value);
  if (isSmallFloat(value.getType())) {
    Value wide = makeRoom(builder.getF32Type());
    call("convert_" + type + "_f32", {wide, room});
    room = wide;
    type = "f32";
  }
  StringRef kernel = llvm::StringSwitch<StringRef>(kind)
                         .Case("sum", "add")
                         .Case("prod", "mul")
                         .Case("min", "minimum")
                         .Default("maximum");
  call(kernel + "_" + type, {joined, known, room});
}

/// Elements join those that are folded already: kept lanes, whose halves take
/// turns, or memory.
void BlockCode::fold(unsigned output, Value value, Value index) {
  StringRef kind = getKind(output);
  Type type = getFoldedType(value);
  Value joined = makeRoom(type);
  if (keepsLanes) {
    auto &kept = *llvm::find_if(
        lanes, [&](const Lanes &of) { return of.output == output; });
    join(kind, value, kept.next, joined);
    copyRoom(kept.other, kept.next, type);
    copyRoom(joined, kept.other, type);
    return;
  }
  unsigned k = stage.getInputs().size() + output;
  Value known = makeRoom(type);
  Value at = LLVM::AndOp::create(builder, loc, index, masks[k]);
  Value address = getAddress(bases[k], at, type);
  move(address, known, type, /*fromMemory=*/true);
  join(kind, value, known, joined);
  move(joined, address, type, /*fromMemory=*/false);
}

void BlockCode::storeOutputs(Value index) {
  auto yield = cast<calls::YieldOp>(stage.getBody().front().getTerminator());
  size_t inputs = stage.getInputs().size();
  for (const auto &[k, value] : llvm::enumerate(yield.getValues())) {
    Value base = bases[inputs + k];
    Type element = getElement(value);
    if (isFolded(k))
      fold(k, value, index);
    else
      move(getRoom(value), getAddress(base, index, element), element,
           /*fromMemory=*/false);
  }
}

/// Whether all that is folded goes to just two vectors of lanes, as rows one
/// after the other have it: those need not leave the registers.
Value BlockCode::buildTestOfLanes() {
  Value all;
  for (const Lanes &kept : lanes) {
    Value is =
        LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                             masks[stage.getInputs().size() + kept.output],
                             getWord(ASTRA_BLOCK_LANES));
    all = all ? LLVM::AndOp::create(builder, loc, all, is).getResult() : is;
  }
  return all;
}

/// Kept lanes from or to memory; `index` says which half is next.
void BlockCode::moveLanes(Value index, bool fromMemory) {
  Value step = getWord(ASTRA_BLOCK_LANES);
  Value next = LLVM::AndOp::create(builder, loc, index, step);
  Value other = LLVM::XOrOp::create(builder, loc, next, step);
  for (const Lanes &kept : lanes) {
    Value base = bases[stage.getInputs().size() + kept.output];
    for (auto [room, at] :
         {std::pair(kept.next, next), std::pair(kept.other, other)}) {
      Value address = getAddress(base, at, kept.type);
      move(fromMemory ? address : room, fromMemory ? room : address, kept.type,
           fromMemory);
    }
  }
}

void BlockCode::build(StringRef name, const BlockTarget &level) {
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, word});
  function = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                      LLVM::Linkage::Internal);
  function.setTargetCpu(level.cpu);
  function.setPassthroughAttr(builder.getArrayAttr(
      builder.getStrArrayAttr({"prefer-vector-width", level.vectorWidth})));
  Block *entry = function.addEntryBlock(builder), *exit = addBlock();
  builder.setInsertionPointToEnd(exit);
  LLVM::ReturnOp::create(builder, loc, ValueRange());

  builder.setInsertionPointToEnd(entry);
  size_t inputs = stage.getInputs().size();
  for (size_t k = 0; k < inputs + stage.getOutputs().size(); ++k) {
    bases.push_back(getEntry(entry->getArgument(0), k, pointer));
    masks.push_back(getEntry(entry->getArgument(1), k, word));
  }
  auto yield = cast<calls::YieldOp>(stage.getBody().front().getTerminator());
  for (const auto &[k, value] : llvm::enumerate(yield.getValues()))
    if (isFolded(k)) {
      Type type = getFoldedType(value);
      lanes.push_back({unsigned(k), makeRoom(type), makeRoom(type), type});
    }
  if (lanes.empty())
    return buildLoop(entry, exit);
  Block *kept = addBlock(), *others = addBlock();
  LLVM::CondBrOp::create(builder, loc, buildTestOfLanes(), kept, others);
  keepsLanes = true;
  buildLoop(kept, exit);
  keepsLanes = false;
  buildLoop(others, exit);
}

/// All vectors one after the other.
void BlockCode::buildLoop(Block *before, Block *exit) {
  Block *loop = addBlock(), *body = addBlock(), *after = addBlock();
  Value index = loop->addArgument(word, loc);
  builder.setInsertionPointToEnd(before);
  Value zero = getWord(0);
  if (keepsLanes)
    moveLanes(zero, /*fromMemory=*/true);
  LLVM::BrOp::create(builder, loc, ValueRange{zero}, loop);

  builder.setInsertionPointToEnd(loop);
  Value more = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                    index, function.getArgument(2));
  LLVM::CondBrOp::create(builder, loc, more, body, after);

  builder.setInsertionPointToEnd(body);
  loadInputs(index);
  for (Operation &op : stage.getBody().front().without_terminator())
    apply(op);
  storeOutputs(index);
  Value next =
      LLVM::AddOp::create(builder, loc, index, getWord(ASTRA_BLOCK_LANES));
  LLVM::BrOp::create(builder, loc, ValueRange{next}, loop);

  builder.setInsertionPointToEnd(after);
  if (keepsLanes)
    moveLanes(index, /*fromMemory=*/false);
  LLVM::BrOp::create(builder, loc, ValueRange(), exit);
}

/// The records of one kernel; its functions are made on the way.
Record buildFused(calls::FusedOp fused, ModuleOp module,
                  Descriptor &descriptor) {
  GlobalTables &tables = descriptor.getTables();
  std::vector<Record> slots, stages;
  for (auto [kind, type] : llvm::zip(fused.getKinds().getAsRange<StringAttr>(),
                                     fused.getTypes().getAsRange<TypeAttr>()))
    slots.push_back({Field::i32(getSlotKind(kind.getValue())),
                     Field::i32(getDTypeWord(type.getValue()))});
  for (auto stage : fused.getBody().getOps<calls::StageOp>()) {
    Record record;
    for (const BlockTarget &level : getTarget(module).blocks) {
      std::string name = ("astra." + fused.getSymName() + "." +
                          Twine(stages.size()) + "." + level.suffix)
                             .str();
      BlockCode(stage, module).build(name, level);
      record.push_back(Field::address(name));
    }
    while (record.size() < ASTRA_BLOCK_LEVELS)
      record.push_back(record.back());
    SmallVector<int64_t> operands(stage.getInputs());
    llvm::append_range(operands, stage.getOutputs());
    record.push_back(Field::address(tables.addWords(operands)));
    record.push_back(Field::i32(stage.getInputs().size()));
    record.push_back(Field::i32(stage.getOutputs().size()));
    record.push_back(Field::i32(stage.getPerRow()));
    record.push_back(Field::i32(0));
    stages.push_back(std::move(record));
  }
  return {Field::address(tables.addString(fused.getSymName())),
          Field::address(tables.addString(fused.getOps())),
          Field::i32(fused.getArgs()),
          Field::i32(fused.getRows()),
          Field::i64(slots.size()),
          Field::address(tables.addTable(slots)),
          Field::i64(stages.size()),
          Field::address(tables.addTable(stages))};
}
} // namespace

Type astra::getStorageType(OpBuilder &builder, Type element) {
  if (element.isF32() || element.isF64())
    return element;
  return builder.getIntegerType(std::max(element.getIntOrFloatBitWidth(), 8u));
}

void astra::lowerFusedKernels(ModuleOp module, Descriptor &descriptor) {
  SmallVector<calls::FusedOp> kernels(module.getOps<calls::FusedOp>());
  std::vector<Record> records;
  SmallVector<StringRef> names;
  for (calls::FusedOp fused : kernels) {
    records.push_back(buildFused(fused, module, descriptor));
    descriptor.addFusedPlaces(fused.getLoc());
    names.push_back(fused.getSymName());
  }
  descriptor.addFused(names, records);
  for (calls::FusedOp fused : kernels)
    fused.erase();
}
