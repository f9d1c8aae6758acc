// See FusedCode.h. Values pass through memory of one vector each between the
// calls; it vanishes when those are inlined. A vector has the lanes of a block,
// or twice as many where the level has registers for it: what two vectors of
// registers do one operation after the other need not wait for the last one.
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

/// Rows are taken so many elements at a time (kernels/FusedAlong.h).
constexpr int32_t elementsOfBatch = 4096;

bool isSmallFloat(Type type) { return type.isF16() || type.isBF16(); }

/// One block function.
class BlockCode {
public:
  BlockCode(calls::StageOp stage, ModuleOp module, const BlockTarget &level)
      : stage(stage), module(module), level(level),
        isWide(level.isWide && !stage.getPerRow() && !hasWideElements()),
        lanesPerVector(isWide ? 2 * ASTRA_BLOCK_LANES : ASTRA_BLOCK_LANES),
        builder(module.getContext()), loc(stage.getLoc()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        word(builder.getI64Type()) {}

  void build(StringRef name);

private:
  Type getElement(Value value) {
    return getStorageType(builder, value.getType());
  }
  Type getVector(Type element) {
    return VectorType::get({lanesPerVector}, element);
  }
  bool hasWideElements();
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
  /// The places of a vector's parts, of ASTRA_BLOCK_LANES lanes each.
  using Parts = SmallVector<Value, 2>;
  Parts getParts(Value index);
  Parts getAddresses(unsigned operand, const Parts &parts, Type element,
                     bool isMasked);
  void loadParts(ArrayRef<Value> from, Value room, Type element);
  void storeParts(Value room, ArrayRef<Value> to, Type element);
  void copyRoom(Value from, Value to, Type element);
  bool isReadAgain(unsigned input);
  bool isWrittenLater(unsigned output);
  void askAhead(ArrayRef<Value> parts, Type element, bool isWritten);
  void loadInputs(const Parts &parts);
  void apply(Operation &op);
  void call(const Twine &kernel, ValueRange operands);
  StringRef getKind(unsigned output);
  bool isFolded(unsigned output);
  void join(StringRef kind, Value value, Value known, Value joined);
  void fold(unsigned output, Value value, const Parts &parts);
  void storeOutputs(const Parts &parts);
  Value buildTestOfLanes();
  void moveLanes(Value index, bool fromMemory);
  Value buildKeepingLoop(Value start);
  Value buildLoop(Value start, Value count);

  calls::StageOp stage;
  ModuleOp module;
  const BlockTarget &level;
  const bool isWide;
  const int64_t lanesPerVector;
  OpBuilder builder;
  Location loc;
  Type pointer, word;
  LLVM::LLVMFuncOp function;
  SmallVector<Value> bases, masks;
  DenseMap<Value, Value> rooms;
  /// The lanes of a fold in as many vectors as it takes, in the order in which
  /// elements join them, and the type that they are folded in.
  struct Lanes {
    unsigned output;
    SmallVector<Value, 2> rooms;
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

bool BlockCode::hasWideElements() {
  auto isAny = [](TypeRange types) {
    return llvm::any_of(
        types, [](Type type) { return type.getIntOrFloatBitWidth() == 64; });
  };
  Block &body = stage.getBody().front();
  return isAny(body.getArgumentTypes()) ||
         llvm::any_of(
             body, [&](Operation &op) { return isAny(op.getResultTypes()); });
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

/// The last vector may have but one part: it is computed twice then, which
/// leaves the same in memory.
BlockCode::Parts BlockCode::getParts(Value index) {
  if (!isWide)
    return {index};
  Value step = getWord(ASTRA_BLOCK_LANES);
  Value next = LLVM::AddOp::create(builder, loc, index, step);
  Value last = LLVM::SubOp::create(builder, loc, function.getArgument(2), step);
  return {index, LLVM::SMinOp::create(builder, loc, next, last)};
}

BlockCode::Parts BlockCode::getAddresses(unsigned operand, const Parts &parts,
                                         Type element, bool isMasked) {
  Parts addresses;
  for (Value at : parts) {
    if (isMasked)
      at = LLVM::AndOp::create(builder, loc, at, masks[operand]);
    addresses.push_back(getAddress(bases[operand], at, element));
  }
  return addresses;
}

/// One vector from memory of the operands, aligned to the element, to a room.
void BlockCode::loadParts(ArrayRef<Value> from, Value room, Type element) {
  Type type = VectorType::get({ASTRA_BLOCK_LANES}, element);
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  SmallVector<Value, 2> vectors;
  for (Value address : from)
    vectors.push_back(LLVM::LoadOp::create(builder, loc, type, address, bytes));
  Value all = vectors.front();
  if (isWide)
    all = LLVM::ShuffleVectorOp::create(
        builder, loc, vectors[0], vectors[1],
        llvm::to_vector(llvm::seq<int32_t>(0, lanesPerVector)));
  LLVM::StoreOp::create(builder, loc, all, room, 64);
}

/// The same the other way.
void BlockCode::storeParts(Value room, ArrayRef<Value> to, Type element) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  Value all = LLVM::LoadOp::create(builder, loc, getVector(element), room, 64);
  for (const auto &[k, address] : llvm::enumerate(to)) {
    int32_t first = int32_t(k) * ASTRA_BLOCK_LANES;
    Value part = all;
    if (isWide)
      part =
          LLVM::ShuffleVectorOp::create(builder, loc, all, all,
                                        llvm::to_vector(llvm::seq<int32_t>(
                                            first, first + ASTRA_BLOCK_LANES)));
    LLVM::StoreOp::create(builder, loc, part, address, bytes);
  }
}

void BlockCode::copyRoom(Value from, Value to, Type element) {
  Value vector =
      LLVM::LoadOp::create(builder, loc, getVector(element), from, 64);
  LLVM::StoreOp::create(builder, loc, vector, to, 64);
}

/// Whether this is the last of several passes over the row that read an
/// argument.
bool BlockCode::isReadAgain(unsigned input) {
  auto fused = stage->getParentOfType<calls::FusedOp>();
  int64_t slot = stage.getInputs()[input];
  if (cast<StringAttr>(fused.getKinds()[slot]).getValue() != "arg")
    return false;
  auto stages = fused.getBody().getOps<calls::StageOp>();
  auto readers = llvm::make_filter_range(stages, [&](calls::StageOp reader) {
    return !reader.getPerRow() && llvm::is_contained(reader.getInputs(), slot);
  });
  SmallVector<calls::StageOp> all(readers);
  return all.size() > 1 && all.back() == stage;
}

/// Whether an argument is written by a pass over the row that is not the first.
bool BlockCode::isWrittenLater(unsigned output) {
  auto fused = stage->getParentOfType<calls::FusedOp>();
  auto first = *fused.getBody().getOps<calls::StageOp>().begin();
  return getKind(output) == "arg" && !stage.getPerRow() && first != stage;
}

/// Asks for the same place in the next rows while these are computed: passes
/// over rows that stay in cache would leave memory idle. It may be anywhere.
void BlockCode::askAhead(ArrayRef<Value> parts, Type element, bool isWritten) {
  // What is only read comes no nearer than the second cache: the first is full
  // of these rows.
  int32_t locality = isWritten ? 3 : 2;
  for (Value address : parts) {
    Value ahead = LLVM::GEPOp::create(builder, loc, pointer, element, address,
                                      ArrayRef<LLVM::GEPArg>{elementsOfBatch});
    LLVM::Prefetch::create(builder, loc, ahead, isWritten, locality,
                           /*cache=*/1);
  }
}

void BlockCode::loadInputs(const Parts &parts) {
  for (const auto &[k, argument] :
       llvm::enumerate(stage.getBody().getArguments())) {
    Type element = getElement(argument);
    Parts addresses = getAddresses(k, parts, element, /*isMasked=*/true);
    if (isReadAgain(k))
      askAhead(addresses, element, /*isWritten=*/false);
    loadParts(addresses, getRoom(argument), element);
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
  std::string name = (isWide ? "astra_l_wide_" : "astra_l_") + kernel.str();
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

/// Elements join those that are folded already: kept lanes, whose vectors take
/// turns, or memory.
void BlockCode::fold(unsigned output, Value value, const Parts &parts) {
  StringRef kind = getKind(output);
  Type type = getFoldedType(value);
  Value joined = makeRoom(type);
  if (keepsLanes) {
    auto &kept = *llvm::find_if(
        lanes, [&](const Lanes &of) { return of.output == output; });
    join(kind, value, kept.rooms.front(), joined);
    for (size_t i = 1; i < kept.rooms.size(); ++i)
      copyRoom(kept.rooms[i], kept.rooms[i - 1], type);
    copyRoom(joined, kept.rooms.back(), type);
    return;
  }
  Value known = makeRoom(type);
  Parts addresses = getAddresses(stage.getInputs().size() + output, parts, type,
                                 /*isMasked=*/true);
  loadParts(addresses, known, type);
  join(kind, value, known, joined);
  storeParts(joined, addresses, type);
}

void BlockCode::storeOutputs(const Parts &parts) {
  auto yield = cast<calls::YieldOp>(stage.getBody().front().getTerminator());
  for (const auto &[k, value] : llvm::enumerate(yield.getValues())) {
    Type element = getElement(value);
    if (isFolded(k)) {
      fold(k, value, parts);
      continue;
    }
    Parts addresses = getAddresses(stage.getInputs().size() + k, parts, element,
                                   /*isMasked=*/false);
    if (isWrittenLater(k))
      askAhead(addresses, element, /*isWritten=*/true);
    storeParts(getRoom(value), addresses, element);
  }
}

/// Whether all that is folded goes to the lanes of just one chunk, as rows one
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

/// Kept lanes from or to memory; `index` says which are next.
void BlockCode::moveLanes(Value index, bool fromMemory) {
  Value step = getWord(ASTRA_BLOCK_LANES);
  Value next = LLVM::AndOp::create(builder, loc, index, step);
  Value other = LLVM::XOrOp::create(builder, loc, next, step);
  for (const Lanes &kept : lanes) {
    Value base = bases[stage.getInputs().size() + kept.output];
    Parts all = {getAddress(base, next, kept.type),
                 getAddress(base, other, kept.type)};
    ArrayRef<Value> rest = all;
    for (Value room : kept.rooms) {
      auto of = rest.take_front(all.size() / kept.rooms.size());
      rest = rest.drop_front(of.size());
      if (fromMemory)
        loadParts(of, room, kept.type);
      else
        storeParts(room, of, kept.type);
    }
  }
}

/// A loop that keeps lanes, as far as whole vectors go, from `start` on; the
/// builder is then where the rest is done, from the value that is given on.
Value BlockCode::buildKeepingLoop(Value start) {
  Block *kept = addBlock(), *others = addBlock();
  Value rest = others->addArgument(word, loc);
  LLVM::CondBrOp::create(builder, loc, buildTestOfLanes(), kept, ValueRange(),
                         others, start);
  builder.setInsertionPointToEnd(kept);
  Value whole = LLVM::AndOp::create(builder, loc, function.getArgument(2),
                                    getWord(-lanesPerVector));
  moveLanes(start, /*fromMemory=*/true);
  keepsLanes = true;
  Value end = buildLoop(start, whole);
  keepsLanes = false;
  moveLanes(end, /*fromMemory=*/false);
  LLVM::BrOp::create(builder, loc, end, others);
  builder.setInsertionPointToEnd(others);
  return rest;
}

void BlockCode::build(StringRef name) {
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, word});
  function = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                      LLVM::Linkage::Internal);
  function.setTargetCpu(level.cpu);
  function.setPassthroughAttr(builder.getArrayAttr(
      builder.getStrArrayAttr({"prefer-vector-width", level.vectorWidth})));
  Block *entry = function.addEntryBlock(builder);
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
      Lanes &kept = lanes.emplace_back(Lanes{unsigned(k), {}, type});
      for (int64_t of = 0; of < 2 * ASTRA_BLOCK_LANES; of += lanesPerVector)
        kept.rooms.push_back(makeRoom(type));
    }
  Value start = getWord(0);
  if (!lanes.empty())
    start = buildKeepingLoop(start);
  buildLoop(start, entry->getArgument(2));
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// All vectors one after the other; gives where it ends.
Value BlockCode::buildLoop(Value start, Value count) {
  Block *loop = addBlock(), *body = addBlock(), *after = addBlock();
  Value index = loop->addArgument(word, loc);
  LLVM::BrOp::create(builder, loc, start, loop);

  builder.setInsertionPointToEnd(loop);
  Value more = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                    index, count);
  LLVM::CondBrOp::create(builder, loc, more, body, after);

  builder.setInsertionPointToEnd(body);
  Parts parts = getParts(index);
  loadInputs(parts);
  for (Operation &op : stage.getBody().front().without_terminator())
    apply(op);
  storeOutputs(parts);
  Value next =
      LLVM::AddOp::create(builder, loc, index, getWord(lanesPerVector));
  LLVM::BrOp::create(builder, loc, next, loop);

  builder.setInsertionPointToEnd(after);
  return index;
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
      BlockCode(stage, module, level).build(name);
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
