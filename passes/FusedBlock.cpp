// See FusedBlock.h. Values pass through memory of one vector each between the
// calls; it vanishes when those are inlined. A vector has the lanes of a block,
// or twice as many where the level has registers for it: what two vectors of
// registers do one operation after the other need not wait for the last one.
// Where rows go one after the other two such vectors take turns, all loads
// before all stores, since long chains (exp has one of 80 cycles) need more;
// where a pass is nothing but comparisons, four.
#include "passes/FusedBlock.h"
#include "dialect/Lowering.h"
#include "passes/FusedCode.h"
#include "passes/StageSlots.h"
#include "passes/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace astra;

namespace {
/// The operation that joins what a kind of slot folds.
StringRef getJoin(StringRef kind) {
  return llvm::StringSwitch<StringRef>(kind)
      .Case("sum", "add")
      .Case("prod", "mul")
      .Case("min", "minimum")
      .Default("maximum");
}

bool isDivision(calls::ApplyOp apply) { return apply.getKernel() == "div_f32"; }

bool isSmallFloat(Type type) { return type.isF16() || type.isBF16(); }

/// One block function.
class BlockCode {
public:
  BlockCode(calls::StageOp stage, ModuleOp module, const BlockTarget &level)
      : stage(stage), module(module), level(level),
        isWide(level.isWide && !stage.getPerRow() && !hasWideElements()),
        lanesPerVector(isWide ? 2 * ASTRA_BLOCK_LANES : ASTRA_BLOCK_LANES),
        vectorsOfTurn(getVectorsOfTurn()), builder(module.getContext()),
        loc(stage.getLoc()),
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
  bool isExtreme(unsigned output) {
    StringRef kind = getOutputKind(stage, output);
    return isFolded(stage, output) && kind != "sum" && kind != "prod";
  }
  int64_t getVectorsOfTurn();
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
  Value makeRoom(Type element) { return makeRoom(element, lanesPerVector); }
  Value makeRoom(Type element, int64_t lanes);
  Value getRoom(Value value);
  Value getEntry(Value table, unsigned index, Type type);
  Value getAddress(Value base, Value index, Type element);
  Value getWord(int64_t value);
  /// The places of a vector's parts, of ASTRA_BLOCK_LANES lanes each.
  using Parts = SmallVector<Value, 2>;
  Parts getParts();
  Parts getAddresses(unsigned operand, Type element, bool isMasked);
  void loadParts(ArrayRef<Value> from, Value room, Type element);
  void storeParts(Value room, ArrayRef<Value> to, Type element);
  void copyRoom(Value from, Value to, Type element);
  void askAhead(ArrayRef<Value> parts, Type element, int32_t elements,
                bool isWritten);
  void loadInputs();
  void apply(Operation &op);
  void call(const Twine &kernel, ValueRange operands);
  void join(StringRef kind, Value value, Value known, Value joined);
  void fold(unsigned output, Value value);
  void storeOutputs();
  SmallVector<unsigned> findDivisors();
  void preparePerRow();
  void prepareRepeated();
  Value buildTestOfMasks();
  void moveLanes(Value index, bool fromMemory);
  void joinCopies();
  Value buildKeepingLoop(Value start);
  Value buildLoop(Value start, Value count, unsigned vectors);

  calls::StageOp stage;
  ModuleOp module;
  const BlockTarget &level;
  const bool isWide;
  const int64_t lanesPerVector;
  /// That go together through the loop that keeps lanes and divisors.
  const int64_t vectorsOfTurn;
  OpBuilder builder;
  Location loc;
  Type pointer, word;
  LLVM::LLVMFuncOp function;
  SmallVector<Value> bases, masks;
  DenseMap<Value, Value> rooms;
  /// The lanes of a fold in as many vectors as it takes, in the order in which
  /// elements join them, and the type that they are folded in. Extremes may be
  /// joined in any order: those have a copy of each vector for every vector of
  /// a turn, so that one is joined while others wait for their last element.
  struct Lanes {
    unsigned output;
    SmallVector<Value, 4> rooms;
    Type type;
    unsigned copies;
  };
  SmallVector<Lanes> lanes;
  /// Inputs with one value a row by which elements are divided, and what is
  /// known of such a divisor: see kernels/math/Quotient.h.
  SmallVector<unsigned> divisors;
  DenseMap<Value, std::array<Value, 3>> known;
  /// In the loop that keeps lanes and divisors.
  bool keeps = false;
  /// Where a turn of a loop begins, and which of its vectors is in work.
  Value index;
  unsigned vector = 0;
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

/// More where a pass is nothing but comparisons.
int64_t BlockCode::getVectorsOfTurn() {
  bool isSearch = stage.getOutputs().size() == 1 && isExtreme(0) &&
                  llvm::hasSingleElement(stage.getBody().front());
  return !isWide ? 1 : isSearch ? 4 : 2;
}

Value BlockCode::makeRoom(Type element, int64_t lanes) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  Value one =
      LLVM::ConstantOp::create(entry, loc, word, entry.getI64IntegerAttr(1));
  return LLVM::AllocaOp::create(entry, loc, pointer,
                                VectorType::get({lanes}, element), one,
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
/// leaves the same in memory. Not so where only whole vectors are taken.
BlockCode::Parts BlockCode::getParts() {
  if (!isWide)
    return {index};
  Value step = getWord(ASTRA_BLOCK_LANES);
  Value next = LLVM::AddOp::create(builder, loc, index, step);
  Value last = LLVM::SubOp::create(builder, loc, function.getArgument(2), step);
  return {index, LLVM::SMinOp::create(builder, loc, next, last)};
}

BlockCode::Parts BlockCode::getAddresses(unsigned operand, Type element,
                                         bool isMasked) {
  auto find = [&](Value at) {
    if (isMasked)
      at = LLVM::AndOp::create(builder, loc, at, masks[operand]);
    return getAddress(bases[operand], at, element);
  };
  if (!keeps)
    return llvm::map_to_vector<2>(getParts(), find);
  // What repeats does so for a whole turn: see prepareRepeated.
  Value first = find(index);
  int64_t at = vector * lanesPerVector;
  Parts addresses;
  for (int64_t end = at + lanesPerVector; at < end; at += ASTRA_BLOCK_LANES)
    addresses.push_back(getAddress(first, getWord(at), element));
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

/// Asks for what lies so many elements ahead while these are computed: passes
/// over rows that stay in cache would leave memory idle. It may be anywhere.
/// What is read comes no nearer than the second cache: the first is full of
/// these rows.
void BlockCode::askAhead(ArrayRef<Value> parts, Type element, int32_t elements,
                         bool isWritten) {
  for (Value address : parts) {
    Value ahead = LLVM::GEPOp::create(builder, loc, pointer, element, address,
                                      ArrayRef<LLVM::GEPArg>{elements});
    LLVM::Prefetch::create(builder, loc, ahead, isWritten, /*hint=*/2,
                           /*cache=*/1);
  }
}

void BlockCode::loadInputs() {
  for (const auto &[k, argument] :
       llvm::enumerate(stage.getBody().getArguments())) {
    if (keeps && isPerRow(stage, k))
      continue;
    Type element = getElement(argument);
    Parts addresses = getAddresses(k, element, /*isMasked=*/true);
    if (isReadAgain(stage, k))
      askAhead(addresses, element, getElementsOfBatch(stage),
               /*isWritten=*/false);
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
  if (keeps && isDivision(apply))
    if (auto of = known.find(apply.getElements()[1]); of != known.end()) {
      llvm::append_range(operands, of->second);
      return call("div_by_known_f32", operands);
    }
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
  call(getJoin(kind) + "_" + type, {joined, known, room});
}

/// Elements join those that are folded already: kept lanes, whose vectors take
/// turns, or memory.
void BlockCode::fold(unsigned output, Value value) {
  StringRef kind = getOutputKind(stage, output);
  Type type = getFoldedType(value);
  Value joined = makeRoom(type);
  if (keeps) {
    auto &kept = *llvm::find_if(
        lanes, [&](const Lanes &of) { return of.output == output; });
    join(kind, value, kept.rooms.front(), joined);
    for (size_t i = 1; i < kept.rooms.size(); ++i)
      copyRoom(kept.rooms[i], kept.rooms[i - 1], type);
    copyRoom(joined, kept.rooms.back(), type);
    return;
  }
  Value known = makeRoom(type);
  Parts addresses = getAddresses(stage.getInputs().size() + output, type,
                                 /*isMasked=*/true);
  loadParts(addresses, known, type);
  join(kind, value, known, joined);
  storeParts(joined, addresses, type);
}

void BlockCode::storeOutputs() {
  auto yield = cast<calls::YieldOp>(stage.getBody().front().getTerminator());
  for (const auto &[k, value] : llvm::enumerate(yield.getValues())) {
    Type element = getElement(value);
    if (isFolded(stage, k)) {
      fold(k, value);
      continue;
    }
    Parts addresses = getAddresses(stage.getInputs().size() + k, element,
                                   /*isMasked=*/false);
    if (int32_t elements = getWrittenAhead(stage, k))
      askAhead(addresses, element, elements, /*isWritten=*/true);
    storeParts(getRoom(value), addresses, element);
  }
}

/// The inputs that are worth being known as divisors: only what fills vectors
/// of AVX-512 takes longer to divide than to multiply and to look at.
SmallVector<unsigned> BlockCode::findDivisors() {
  SmallVector<unsigned> found;
  Block &body = stage.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    auto divides = [&](calls::ApplyOp apply) {
      return isDivision(apply) && apply.getElements()[1] == argument;
    };
    if (isWide && isPerRow(stage, argument.getArgNumber()) &&
        llvm::any_of(body.getOps<calls::ApplyOp>(), divides))
      found.push_back(argument.getArgNumber());
  }
  return found;
}

/// Loads the inputs that are one value for the whole row.
void BlockCode::preparePerRow() {
  for (BlockArgument argument : stage.getBody().getArguments()) {
    unsigned input = argument.getArgNumber();
    if (!isPerRow(stage, input))
      continue;
    Type element = getElement(argument);
    Parts addresses(lanesPerVector / ASTRA_BLOCK_LANES, bases[input]);
    loadParts(addresses, getRoom(argument), element);
    if (!llvm::is_contained(divisors, input))
      continue;
    std::array<Value, 3> &parts = known[argument];
    for (Value &room : parts)
      room = makeRoom(element);
    call("known_divisor_f32",
         {parts[0], parts[1], parts[2], getRoom(argument)});
  }
}

/// An argument that repeats one vector along the row, as all that repeats does
/// where rows go one after the other, does so in memory of a whole turn: its
/// vectors are then as far apart as those of any other.
void BlockCode::prepareRepeated() {
  int64_t lanes = vectorsOfTurn * lanesPerVector;
  for (BlockArgument argument : stage.getBody().getArguments()) {
    unsigned input = argument.getArgNumber();
    if (getInputKind(stage, input) != "arg" || lanes == ASTRA_BLOCK_LANES)
      continue;
    Type element = getElement(argument);
    Value vector = LLVM::LoadOp::create(
        builder, loc, VectorType::get({ASTRA_BLOCK_LANES}, element),
        bases[input], element.getIntOrFloatBitWidth() / 8);
    Value room = makeRoom(element, lanes);
    for (int64_t at = 0; at < lanes; at += ASTRA_BLOCK_LANES)
      LLVM::StoreOp::create(builder, loc, vector,
                            getAddress(room, getWord(at), element), 16);
    Value isOne = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                       masks[input], getWord(0));
    bases[input] =
        LLVM::SelectOp::create(builder, loc, isOne, room, bases[input]);
  }
}

/// Whether all that is folded goes to the lanes of just one chunk, and what is
/// made for each row is the same for all elements, as rows one after the other
/// have it: those need not leave the registers.
Value BlockCode::buildTestOfMasks() {
  Value all;
  auto test = [&](unsigned operand, int64_t mask) {
    Value is = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                    masks[operand], getWord(mask));
    all = all ? LLVM::AndOp::create(builder, loc, all, is).getResult() : is;
  };
  for (const Lanes &kept : lanes)
    test(stage.getInputs().size() + kept.output, ASTRA_BLOCK_LANES);
  for (unsigned input = 0; input < stage.getInputs().size(); ++input)
    if (isPerRow(stage, input))
      test(input, 0);
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
    size_t rooms = kept.rooms.size() / kept.copies,
           partsOfRoom = all.size() / rooms;
    for (size_t i = 0; i < (fromMemory ? kept.rooms.size() : rooms); ++i) {
      auto of = ArrayRef(all).slice(i % rooms * partsOfRoom, partsOfRoom);
      if (fromMemory)
        loadParts(of, kept.rooms[i], kept.type);
      else
        storeParts(kept.rooms[i], of, kept.type);
    }
  }
}

/// The copies of kept lanes become one.
void BlockCode::joinCopies() {
  for (const Lanes &kept : lanes)
    for (size_t n = kept.rooms.size(); n > kept.rooms.size() / kept.copies;
         n /= 2)
      for (size_t i = 0; i < n / 2; ++i) {
        Value joined = makeRoom(kept.type);
        call(getJoin(getOutputKind(stage, kept.output)) + "_" +
                 getElementName(kept.type),
             {joined, kept.rooms[i], kept.rooms[i + n / 2]});
        copyRoom(joined, kept.rooms[i], kept.type);
      }
}

/// Loops that keep lanes and divisors, as far as whole vectors go, from `start`
/// on: whole turns, and then the vectors that fill none. The builder is then
/// where the rest is done, from the value that is given on.
Value BlockCode::buildKeepingLoop(Value start) {
  Block *kept = addBlock(), *others = addBlock();
  Value rest = others->addArgument(word, loc);
  LLVM::CondBrOp::create(builder, loc, buildTestOfMasks(), kept, ValueRange(),
                         others, start);
  builder.setInsertionPointToEnd(kept);
  preparePerRow();
  moveLanes(start, /*fromMemory=*/true);
  SmallVector<Value> given = bases;
  prepareRepeated();
  keeps = true;
  Value end = start;
  for (int64_t vectors = vectorsOfTurn; vectors > 0; vectors /= 2) {
    Value whole = LLVM::AndOp::create(builder, loc, function.getArgument(2),
                                      getWord(-vectors * lanesPerVector));
    end = buildLoop(end, whole, vectors);
  }
  keeps = false;
  bases = given;
  joinCopies();
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
  if (*level.features)
    function.setTargetFeaturesAttr(LLVM::TargetFeaturesAttr::get(
        builder.getContext(), StringRef(level.features)));
  // Vectors that wait in memory shall not lie in two lines of the cache.
  function.setPassthroughAttr(builder.getArrayAttr(
      {builder.getStrArrayAttr({"prefer-vector-width", level.vectorWidth}),
       builder.getStringAttr("stackrealign")}));
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToEnd(entry);
  size_t inputs = stage.getInputs().size();
  for (size_t k = 0; k < inputs + stage.getOutputs().size(); ++k) {
    bases.push_back(getEntry(entry->getArgument(0), k, pointer));
    masks.push_back(getEntry(entry->getArgument(1), k, word));
  }
  auto yield = cast<calls::YieldOp>(stage.getBody().front().getTerminator());
  for (const auto &[k, value] : llvm::enumerate(yield.getValues()))
    if (isFolded(stage, k)) {
      Type type = getFoldedType(value);
      unsigned copies = isExtreme(k) ? vectorsOfTurn : 1;
      Lanes &kept = lanes.emplace_back(Lanes{unsigned(k), {}, type, copies});
      for (int64_t of = 0; of < 2 * ASTRA_BLOCK_LANES * copies;
           of += lanesPerVector)
        kept.rooms.push_back(makeRoom(type));
    }
  divisors = findDivisors();
  Value start = getWord(0);
  if (!lanes.empty() || !divisors.empty())
    start = buildKeepingLoop(start);
  buildLoop(start, entry->getArgument(2), 1);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// All vectors one after the other; gives where it ends.
Value BlockCode::buildLoop(Value start, Value count, unsigned vectors) {
  Block *loop = addBlock(), *body = addBlock(), *after = addBlock();
  index = loop->addArgument(word, loc);
  LLVM::BrOp::create(builder, loc, start, loop);

  builder.setInsertionPointToEnd(loop);
  Value more = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                    index, count);
  LLVM::CondBrOp::create(builder, loc, more, body, after);

  builder.setInsertionPointToEnd(body);
  SmallVector<DenseMap<Value, Value>> roomsOf(vectors, rooms);
  auto forEachVector = [&](auto &&work) {
    for (vector = 0; vector < vectors; ++vector) {
      std::swap(rooms, roomsOf[vector]);
      work();
      std::swap(rooms, roomsOf[vector]);
    }
    vector = 0;
  };
  forEachVector([&] { loadInputs(); });
  forEachVector([&] {
    for (Operation &op : stage.getBody().front().without_terminator())
      apply(op);
  });
  forEachVector([&] { storeOutputs(); });
  Value next = LLVM::AddOp::create(builder, loc, index,
                                   getWord(vectors * lanesPerVector));
  LLVM::BrOp::create(builder, loc, next, loop);

  builder.setInsertionPointToEnd(after);
  return index;
}
} // namespace

void astra::buildBlock(calls::StageOp stage, ModuleOp module,
                       const BlockTarget &level, StringRef name) {
  BlockCode(stage, module, level).build(name);
}
