// See FusedBlock.h. Values pass through memory of one vector each between the
// calls; it vanishes when those are inlined. A vector has the lanes of a block,
// or twice as many where the level has registers for it: what two vectors of
// registers do one operation after the other need not wait for the last one.
#include "passes/FusedBlock.h"
#include "dialect/Lowering.h"
#include "passes/FusedCode.h"
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

/// Rows are taken so many elements at a time (kernels/FusedAlong.h).
constexpr int32_t elementsOfBatch = 4096;

bool isDivision(calls::ApplyOp apply) { return apply.getKernel() == "div_f32"; }

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
  SmallVector<calls::StageOp> findPasses(int64_t slot, bool write);
  bool isReadAgain(unsigned input);
  Parts getPartsAhead(unsigned output, const Parts &addresses);
  void askAhead(ArrayRef<Value> parts, Type element, bool isWritten);
  void loadInputs(const Parts &parts);
  void apply(Operation &op);
  void call(const Twine &kernel, ValueRange operands);
  StringRef getKind(unsigned output);
  bool isFolded(unsigned output);
  void join(StringRef kind, Value value, Value known, Value joined);
  void fold(unsigned output, Value value, const Parts &parts);
  void storeOutputs(const Parts &parts);
  bool isPerRow(unsigned input);
  SmallVector<unsigned> findDivisors();
  void preparePerRow();
  Value buildTestOfMasks();
  void moveLanes(Value index, bool fromMemory);
  void joinCopies();
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
  /// elements join them, and the type that they are folded in. Extremes may be
  /// joined in any order: those have two copies of each vector, so that one is
  /// joined while the other waits for its last element.
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
/// leaves the same in memory. Not so where only whole vectors are taken.
BlockCode::Parts BlockCode::getParts(Value index) {
  if (!isWide)
    return {index};
  Value step = getWord(ASTRA_BLOCK_LANES);
  Value next = LLVM::AddOp::create(builder, loc, index, step);
  if (keeps)
    return {index, next};
  Value last = LLVM::SubOp::create(builder, loc, function.getArgument(2), step);
  return {index, LLVM::SMinOp::create(builder, loc, next, last)};
}

BlockCode::Parts BlockCode::getAddresses(unsigned operand, const Parts &parts,
                                         Type element, bool isMasked) {
  Parts addresses;
  if (isMasked && keeps && isWide) {
    // What parts are apart does not change.
    Value at = LLVM::AndOp::create(builder, loc, parts[0], masks[operand]);
    Value step = LLVM::AndOp::create(builder, loc, getWord(ASTRA_BLOCK_LANES),
                                     masks[operand]);
    Value next = getAddress(bases[operand], step, element);
    return {getAddress(bases[operand], at, element),
            getAddress(next, at, element)};
  }
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

/// Passes over rows that read or write a slot, in their order.
SmallVector<calls::StageOp> BlockCode::findPasses(int64_t slot, bool write) {
  auto stages = stage->getParentOfType<calls::FusedOp>()
                    .getBody()
                    .getOps<calls::StageOp>();
  auto passes = llvm::make_filter_range(stages, [&](calls::StageOp other) {
    return !other.getPerRow() &&
           llvm::is_contained(write ? other.getOutputs() : other.getInputs(),
                              slot);
  });
  return SmallVector<calls::StageOp>(passes);
}

/// Whether this is the second pass over the row that reads an argument.
bool BlockCode::isReadAgain(unsigned input) {
  auto fused = stage->getParentOfType<calls::FusedOp>();
  int64_t slot = stage.getInputs()[input];
  if (cast<StringAttr>(fused.getKinds()[slot]).getValue() != "arg")
    return false;
  SmallVector<calls::StageOp> readers = findPasses(slot, /*write=*/false);
  return readers.size() > 1 && readers[1] == stage;
}

/// The addresses of an output that are asked for ahead: of arguments that later
/// passes over the row write. The first two of them share the work.
BlockCode::Parts BlockCode::getPartsAhead(unsigned output,
                                          const Parts &addresses) {
  if (getKind(output) != "arg" || stage.getPerRow())
    return {};
  int64_t slot = stage.getOutputs()[output];
  SmallVector<calls::StageOp> writers = findPasses(slot, /*write=*/true);
  auto stages = stage->getParentOfType<calls::FusedOp>()
                    .getBody()
                    .getOps<calls::StageOp>();
  if (writers.front() == *stages.begin())
    writers.erase(writers.begin());
  size_t own = llvm::find(writers, stage) - writers.begin();
  if (own >= writers.size())
    return {};
  if (writers.size() == 1 || !isWide)
    return own == 0 ? addresses : Parts();
  return own < 2 ? Parts{addresses[own]} : Parts();
}

/// Asks for the same place in the next rows while these are computed: passes
/// over rows that stay in cache would leave memory idle. It may be anywhere. It
/// comes no nearer than the second cache: the first is full of these rows.
void BlockCode::askAhead(ArrayRef<Value> parts, Type element, bool isWritten) {
  for (Value address : parts) {
    Value ahead = LLVM::GEPOp::create(builder, loc, pointer, element, address,
                                      ArrayRef<LLVM::GEPArg>{elementsOfBatch});
    LLVM::Prefetch::create(builder, loc, ahead, isWritten, /*hint=*/2,
                           /*cache=*/1);
  }
}

void BlockCode::loadInputs(const Parts &parts) {
  for (const auto &[k, argument] :
       llvm::enumerate(stage.getBody().getArguments())) {
    if (keeps && isPerRow(k))
      continue;
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
  call(getJoin(kind) + "_" + type, {joined, known, room});
}

/// Elements join those that are folded already: kept lanes, whose vectors take
/// turns, or memory.
void BlockCode::fold(unsigned output, Value value, const Parts &parts) {
  StringRef kind = getKind(output);
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
    askAhead(getPartsAhead(k, addresses), element, /*isWritten=*/true);
    storeParts(getRoom(value), addresses, element);
  }
}

/// Whether an input is one value for each row that the kernel makes.
bool BlockCode::isPerRow(unsigned input) {
  auto kinds = stage->getParentOfType<calls::FusedOp>().getKinds();
  StringRef kind = cast<StringAttr>(kinds[stage.getInputs()[input]]).getValue();
  return kind != "arg" && kind != "row";
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
    if (isWide && isPerRow(argument.getArgNumber()) &&
        llvm::any_of(body.getOps<calls::ApplyOp>(), divides))
      found.push_back(argument.getArgNumber());
  }
  return found;
}

/// Loads the inputs that are one value for the whole row.
void BlockCode::preparePerRow() {
  for (BlockArgument argument : stage.getBody().getArguments()) {
    unsigned input = argument.getArgNumber();
    if (!isPerRow(input))
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
    if (isPerRow(input))
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
    for (size_t i = kept.rooms.size() / kept.copies; i < kept.rooms.size();
         ++i) {
      Value room = kept.rooms[i % (kept.rooms.size() / kept.copies)];
      Value joined = makeRoom(kept.type);
      call(getJoin(getKind(kept.output)) + "_" + getElementName(kept.type),
           {joined, room, kept.rooms[i]});
      copyRoom(joined, room, kept.type);
    }
}

/// A loop that keeps lanes and divisors, as far as whole vectors go, from
/// `start` on; the builder is then where the rest is done, from the value that
/// is given on.
Value BlockCode::buildKeepingLoop(Value start) {
  Block *kept = addBlock(), *others = addBlock();
  Value rest = others->addArgument(word, loc);
  LLVM::CondBrOp::create(builder, loc, buildTestOfMasks(), kept, ValueRange(),
                         others, start);
  builder.setInsertionPointToEnd(kept);
  preparePerRow();
  Value whole = LLVM::AndOp::create(builder, loc, function.getArgument(2),
                                    getWord(-lanesPerVector));
  moveLanes(start, /*fromMemory=*/true);
  keeps = true;
  Value end = buildLoop(start, whole);
  keeps = false;
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
    if (isFolded(k)) {
      Type type = getFoldedType(value);
      bool isExtreme = getKind(k) != "sum" && getKind(k) != "prod";
      unsigned copies = isWide && isExtreme ? 2 : 1;
      Lanes &kept = lanes.emplace_back(Lanes{unsigned(k), {}, type, copies});
      for (int64_t of = 0; of < 2 * ASTRA_BLOCK_LANES * copies;
           of += lanesPerVector)
        kept.rooms.push_back(makeRoom(type));
    }
  divisors = findDivisors();
  Value start = getWord(0);
  if (!lanes.empty() || !divisors.empty())
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
} // namespace

void astra::buildBlock(calls::StageOp stage, ModuleOp module,
                       const BlockTarget &level, StringRef name) {
  BlockCode(stage, module, level).build(name);
}
