// See EntryBody.h. Each operation of the calls dialect is replaced where it
// stands; arithmetic and branches stay for MLIR's own conversions.
#include "passes/EntryBody.h"
#include "astra/base.h"
#include "passes/FusedCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace astra;

namespace {
/// Of the workspace and of every buffer in it.
constexpr int64_t WorkspaceAlignment = 64;
/// Words that a kernel's parameters or the values of a message take at most.
constexpr unsigned MostWords = ASTRA_MAX_RANK * 2 + 9;

/// Replaces the operations of one flat function body.
class BodyLowering {
public:
  BodyLowering(func::FuncOp source, EntryFrame &frame, Descriptor &descriptor)
      : source(source), frame(frame), descriptor(descriptor),
        builder(source.getContext()),
        pointer(LLVM::LLVMPointerType::get(source.getContext())) {}

  LogicalResult run();

private:
  Value getPointer(Value view) const { return pointers.lookup(view); }
  Value getOffset(Location loc, Value base, Value elements, Type element);
  Value getText(Location loc, StringRef text);
  Value storeWords(Location loc, ValueRange values);
  void addValue(const Dim &dim, SmallVectorImpl<Value> &values);
  void fillArguments(calls::KernelOp op, Value room);
  void fillArgument(Location loc, Value room, unsigned index, Value view);
  Value getParams(calls::KernelOp op);
  /// Goes on behind a new block if `ok`, else to the failure.
  void checkStatus(Location loc, Value status);
  void check(Location loc, Value ok, int32_t code, StringRef text,
             ValueRange values = {});
  void checkNot(Location loc, Value fault, int32_t code, const Dim &dim,
                StringRef what);
  void checkDim(Location loc, const Dim &dim);
  void lowerCheckEqual(calls::CheckEqualOp op);

  LogicalResult lower(Operation *op);
  void lowerAlloc(calls::AllocOp op);
  void lowerConstant(calls::ConstantOp op);
  void lowerView(calls::ViewOp op);
  void lowerKernel(calls::KernelOp op);
  void lowerLoad(calls::LoadOp op);
  void lowerStore(calls::StoreOp op);
  void lowerCheckRange(calls::CheckRangeOp op);
  void lowerDebug(calls::DebugOp op);
  Value getAddress(Location loc, Value tape);
  void lowerTapeOpen(calls::TapeOpenOp op);
  void lowerTapeEntry(calls::TapeEntryOp op);
  void lowerTapeLength(calls::TapeLengthOp op);
  void lowerTapeClose(calls::TapeCloseOp op);
  void lowerBranch(Operation *op);

  func::FuncOp source;
  EntryFrame &frame;
  Descriptor &descriptor;
  OpBuilder builder;
  Type pointer;
  DenseMap<Value, Value> pointers;
  SmallVector<Operation *> replaced;
};

Value BodyLowering::getOffset(Location loc, Value base, Value elements,
                              Type element) {
  return LLVM::GEPOp::create(builder, loc, pointer,
                             getStorageType(builder, element), base,
                             ArrayRef<LLVM::GEPArg>{elements});
}

Value BodyLowering::getText(Location loc, StringRef text) {
  GlobalTables &tables = descriptor.getTables();
  return tables.getAddress(builder, loc, tables.addString(text));
}

//===-- Failure -----------------------------------------------------------===//

void BodyLowering::checkStatus(Location loc, Value status) {
  Value zero = frame.getHalfWord(builder, loc, 0);
  Value failed =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, status, zero);
  Value place = frame.getHalfWord(builder, loc, descriptor.getLocation(loc));
  Block *block = builder.getInsertionBlock();
  Block *rest = block->splitBlock(builder.getInsertionPoint());
  builder.setInsertionPointToEnd(block);
  LLVM::CondBrOp::create(builder, loc, failed, frame.getFailBlock(),
                         ValueRange{status, place}, rest, ValueRange{});
  builder.setInsertionPointToStart(rest);
}

void BodyLowering::check(Location loc, Value ok, int32_t code, StringRef text,
                         ValueRange values) {
  Block *block = builder.getInsertionBlock();
  Block *rest = block->splitBlock(builder.getInsertionPoint());
  auto *failure = new Block();
  failure->insertBefore(rest);
  builder.setInsertionPointToEnd(block);
  LLVM::CondBrOp::create(builder, loc, ok, rest, failure);

  builder.setInsertionPointToEnd(failure);
  Value status = frame.callService(
      builder, loc, CallService::FailValues, builder.getI32Type(),
      {frame.getHalfWord(builder, loc, code), getText(loc, text),
       storeWords(loc, values), frame.getWord(builder, loc, values.size())});
  Value place = frame.getHalfWord(builder, loc, descriptor.getLocation(loc));
  LLVM::BrOp::create(builder, loc, ValueRange{status, place},
                     frame.getFailBlock());
  builder.setInsertionPointToStart(rest);
}

Value BodyLowering::storeWords(Location loc, ValueRange values) {
  Value room = frame.getWordRoom(MostWords);
  for (const auto &[index, value] : llvm::enumerate(values)) {
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), room,
                            ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(builder, loc, value, address);
  }
  return room;
}

/// An extent in a sentence: "3" alone, or its value with "(2*n)" behind it.
static std::string getExtentText(const Dim &dim) {
  return dim.asConstant() ? dim.str() : "{} (" + dim.str() + ")";
}

void BodyLowering::addValue(const Dim &dim, SmallVectorImpl<Value> &values) {
  if (!dim.asConstant())
    values.push_back(frame.getDim(dim));
}

void BodyLowering::checkNot(Location loc, Value fault, int32_t code,
                            const Dim &dim, StringRef what) {
  if (!fault)
    return;
  std::string text = "the dimension " + dim.str() + " " + what.str();
  SmallVector<Value> values;
  std::set<std::string> names;
  dim.collectNames(names);
  for (const std::string &name : names) {
    if (values.size() == MostWords)
      break;
    text += (values.empty() ? " (" : ", ") + name + " is {}";
    values.push_back(frame.getDim(Dim::name(name)));
  }
  Value yes = LLVM::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  Value ok = LLVM::XOrOp::create(builder, loc, fault, yes);
  check(loc, ok, code, values.empty() ? text : text + ")", values);
}

/// The value of a dimension outside a type: the runtime has not seen it.
void BodyLowering::checkDim(Location loc, const Dim &dim) {
  EntryFrame::Fault fault = frame.getFault(dim);
  checkNot(loc, fault.zero, ASTRA_ERROR_DIVISION_BY_ZERO, dim,
           "divides by zero");
  checkNot(loc, fault.overflow, ASTRA_ERROR_OVERFLOW, dim,
           "does not fit 64 bits");
}

void BodyLowering::lowerCheckEqual(calls::CheckEqualOp op) {
  Dim lhs = Dim::parse(op.getLhs()).value_or(Dim());
  Dim rhs = Dim::parse(op.getRhs()).value_or(Dim());
  checkDim(op.getLoc(), lhs);
  checkDim(op.getLoc(), rhs);
  Value same =
      LLVM::ICmpOp::create(builder, op.getLoc(), LLVM::ICmpPredicate::eq,
                           frame.getDim(lhs), frame.getDim(rhs));
  SmallVector<Value> values;
  addValue(lhs, values);
  addValue(rhs, values);
  check(op.getLoc(), same, ASTRA_ERROR_SHAPE_MISMATCH,
        op.getText().str() + ": " + getExtentText(lhs) + " and " +
            getExtentText(rhs),
        values);
}

void BodyLowering::lowerCheckRange(calls::CheckRangeOp op) {
  Location loc = op.getLoc();
  // 0 <= start <= extent - size, as one unsigned comparison; the sizes are
  // extents, so none is negative, but extent - size may be.
  Value room = LLVM::SubOp::create(builder, loc, frame.getDim(op.getExtent()),
                                   frame.getDim(op.getSize()));
  Value zero = frame.getWord(builder, loc, 0);
  Value enough =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sge, room, zero);
  Value inside = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ule,
                                      op.getStart(), room);
  Value ok = LLVM::AndOp::create(builder, loc, enough, inside);
  Dim size = Dim::parse(op.getSize()).value_or(Dim());
  Dim extent = Dim::parse(op.getExtent()).value_or(Dim());
  std::string text = "index {}";
  SmallVector<Value> values;
  if (!size.isConstant(1)) {
    text = "a slice of extent " + getExtentText(size) + " that starts at {}";
    addValue(size, values);
  }
  values.push_back(op.getStart());
  text += " is out of range for axis " + std::to_string(op.getAxis()) +
          " of extent " + getExtentText(extent);
  addValue(extent, values);
  check(loc, ok, ASTRA_ERROR_OUT_OF_RANGE, text, values);
}

//===-- Memory ------------------------------------------------------------===//

void BodyLowering::lowerAlloc(calls::AllocOp op) {
  Location loc = op.getLoc();
  Dim offset = Dim::parse(op.getOffset().value_or("0")).value_or(Dim());
  Value address = LLVM::GEPOp::create(
      builder, loc, pointer, builder.getI8Type(), frame.getWorkspace(),
      ArrayRef<LLVM::GEPArg>{frame.getDim(offset)});
  if (Dim::mod(offset, Dim::constant(WorkspaceAlignment)) != Dim()) {
    // The plan has left room for rounding up.
    Value number =
        LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), address);
    Value least = frame.getWord(builder, loc, WorkspaceAlignment - 1);
    Value mask = frame.getWord(builder, loc, -WorkspaceAlignment);
    Value sum = LLVM::AddOp::create(builder, loc, number, least);
    Value rounded = LLVM::AndOp::create(builder, loc, sum, mask);
    Value gap = LLVM::SubOp::create(builder, loc, rounded, number);
    address = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                                  address, ArrayRef<LLVM::GEPArg>{gap});
  }
  pointers[op.getView()] = address;
}

void BodyLowering::lowerConstant(calls::ConstantOp op) {
  Type element = op.getView().getType().getElementType();
  Type storage = getStorageType(builder, element);
  Attribute value = op.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    value = builder.getIntegerAttr(
        storage,
        integer.getValue().zextOrTrunc(storage.getIntOrFloatBitWidth()));
  } else if (auto elements = dyn_cast<DenseIntElementsAttr>(value)) {
    unsigned width = storage.getIntOrFloatBitWidth();
    value = elements.mapValues(storage, [&](const APInt &number) {
      return number.zextOrTrunc(width);
    });
  }
  GlobalTables &tables = descriptor.getTables();
  pointers[op.getView()] =
      tables.getAddress(builder, op.getLoc(), tables.addData(value, storage));
}

void BodyLowering::lowerView(calls::ViewOp op) {
  Location loc = op.getLoc();
  Value offset = frame.getDim(op.getOffset());
  for (auto [index, step] :
       llvm::zip(op.getIndices(), op.getSteps().getAsRange<StringAttr>())) {
    Value stride = frame.getDim(step.getValue());
    Value distance = LLVM::MulOp::create(builder, loc, index, stride);
    offset = LLVM::AddOp::create(builder, loc, offset, distance);
  }
  pointers[op.getView()] = getOffset(loc, getPointer(op.getBase()), offset,
                                     op.getView().getType().getElementType());
}

void BodyLowering::lowerLoad(calls::LoadOp op) {
  Location loc = op.getLoc();
  Type type = op.getValue().getType();
  Value value = LLVM::LoadOp::create(
      builder, loc, getStorageType(builder, type), getPointer(op.getView()));
  if (type.isInteger(1)) {
    Value zero =
        LLVM::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
    value = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, value,
                                 zero);
  }
  op.getValue().replaceAllUsesWith(value);
}

void BodyLowering::lowerStore(calls::StoreOp op) {
  Location loc = op.getLoc();
  Value value = op.getValue();
  if (value.getType().isInteger(1))
    value = LLVM::ZExtOp::create(builder, loc, builder.getI8Type(), value);
  LLVM::StoreOp::create(builder, loc, value, getPointer(op.getView()));
}

//===-- Kernels -----------------------------------------------------------===//

void BodyLowering::fillArgument(Location loc, Value room, unsigned index,
                                Value view) {
  auto type = cast<calls::ViewType>(view.getType());
  Value members[] = {
      getPointer(view), frame.getDimTable(type.getShape()),
      frame.getDimTable(type.getStrides()),
      frame.getHalfWord(builder, loc, getDTypeWord(type.getElementType())),
      frame.getHalfWord(builder, loc, type.getRank())};
  for (const auto &[member, value] : llvm::enumerate(members)) {
    Value address = LLVM::GEPOp::create(
        builder, loc, pointer, frame.getArgType(), room,
        ArrayRef<LLVM::GEPArg>{int32_t(index), int32_t(member)});
    LLVM::StoreOp::create(builder, loc, value, address);
  }
}

/// Numbers alone are a constant table; addresses are stored for the call. The
/// word before the first says where the call stands.
Value BodyLowering::getParams(calls::KernelOp op) {
  Location loc = op.getLoc();
  int64_t place = descriptor.getLocation(loc);
  SmallVector<int64_t> words{place};
  bool constant = true;
  for (Attribute param : op.getParams()) {
    auto number = dyn_cast<IntegerAttr>(param);
    auto real = dyn_cast<FloatAttr>(param);
    words.push_back(number ? number.getInt()
                    : real ? llvm::bit_cast<int64_t>(real.getValueAsDouble())
                           : 0);
    constant &= number || real;
  }
  GlobalTables &tables = descriptor.getTables();
  auto getFirst = [&](Value table) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(),
                               table, ArrayRef<LLVM::GEPArg>{1});
  };
  if (constant)
    return getFirst(tables.getAddress(builder, loc, tables.addWords(words)));
  Value room = getFirst(frame.getWordRoom(MostWords));
  LLVM::StoreOp::create(builder, loc, frame.getWord(builder, loc, place),
                        frame.getWordRoom(MostWords));
  for (const auto &[index, param] : llvm::enumerate(op.getParams())) {
    Value value;
    if (auto text = dyn_cast<StringAttr>(param))
      value = getText(loc, text.getValue());
    else if (auto fused = dyn_cast<FlatSymbolRefAttr>(param))
      value = descriptor.getFused(builder, loc, fused.getValue());
    else
      value = frame.getWord(builder, loc, words[index + 1]);
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), room,
                            ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(builder, loc, value, address);
  }
  return room;
}

void BodyLowering::fillArguments(calls::KernelOp op, Value room) {
  unsigned index = 0;
  for (Value view : op.getInputs())
    fillArgument(op.getLoc(), room, index++, view);
  for (Value view : op.getOutputs())
    fillArgument(op.getLoc(), room, index++, view);
}

void BodyLowering::lowerKernel(calls::KernelOp op) {
  Location loc = op.getLoc();
  Value room = frame.getArgumentRoom();
  fillArguments(op, room);
  Value params = getParams(op);
  unsigned import =
      descriptor.getImport(op.getKernel(), uint32_t(op.getVersion()));
  Value kernel = frame.getKernel(builder, loc, import);
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(),
                                          {pointer, pointer, pointer});
  Value status =
      LLVM::CallOp::create(builder, loc, type,
                           ValueRange{kernel, frame.getCall(), room, params})
          .getResult();
  checkStatus(loc, status);
}

void BodyLowering::lowerDebug(calls::DebugOp op) {
  Location loc = op.getLoc();
  Value room = frame.getArgumentRoom();
  fillArgument(loc, room, 0, op.getView());
  frame.callService(builder, loc, CallService::Debug,
                    LLVM::LLVMVoidType::get(builder.getContext()),
                    {getText(loc, op.getText()), room});
}

//===-- Tapes -------------------------------------------------------------===//

Value BodyLowering::getAddress(Location loc, Value tape) {
  return LLVM::IntToPtrOp::create(builder, loc, pointer, tape);
}

void BodyLowering::lowerTapeOpen(calls::TapeOpenOp op) {
  Location loc = op.getLoc();
  Value tape = frame.callService(builder, loc, CallService::TapeOpen, pointer,
                                 getAddress(loc, op.getTape()));
  checkStatus(loc, frame.getMemoryStatus(builder, loc, tape));
  op.getResult().replaceAllUsesWith(
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), tape));
}

void BodyLowering::lowerTapeEntry(calls::TapeEntryOp op) {
  Location loc = op.getLoc();
  calls::ViewType type = op.getView().getType();
  Dim bytes = calls::getElementCount(type.getShapeDims()) *
              Dim::constant(calls::getByteWidth(type.getElementType()));
  Value entry = frame.callService(
      builder, loc, CallService::TapeEntry, pointer,
      {getAddress(loc, op.getTape()), op.getIndex(), frame.getDim(bytes)});
  checkStatus(loc, frame.getMemoryStatus(builder, loc, entry));
  pointers[op.getView()] = entry;
}

void BodyLowering::lowerTapeLength(calls::TapeLengthOp op) {
  op.getResult().replaceAllUsesWith(frame.callService(
      builder, op.getLoc(), CallService::TapeLength, builder.getI64Type(),
      getAddress(op.getLoc(), op.getTape())));
}

void BodyLowering::lowerTapeClose(calls::TapeCloseOp op) {
  Location loc = op.getLoc();
  frame.callService(builder, loc, CallService::TapeClose,
                    LLVM::LLVMVoidType::get(builder.getContext()),
                    {getAddress(loc, op.getTape()),
                     frame.getHalfWord(builder, loc, uint32_t(op.getDepth()))});
}

//===-- The walk ----------------------------------------------------------===//

/// Views that a branch passes on become pointers.
void BodyLowering::lowerBranch(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (Value address = getPointer(operand.get()))
      operand.set(address);
}

LogicalResult BodyLowering::lower(Operation *op) {
  Location loc = op->getLoc();
  bool known =
      TypeSwitch<Operation *, bool>(op)
          .Case([&](calls::AllocOp o) { return lowerAlloc(o), true; })
          .Case([&](calls::ConstantOp o) { return lowerConstant(o), true; })
          .Case([&](calls::ViewOp o) { return lowerView(o), true; })
          .Case([&](calls::KernelOp o) { return lowerKernel(o), true; })
          .Case([&](calls::LoadOp o) { return lowerLoad(o), true; })
          .Case([&](calls::StoreOp o) { return lowerStore(o), true; })
          .Case([&](calls::DebugOp o) { return lowerDebug(o), true; })
          .Case([&](calls::TapeOpenOp o) { return lowerTapeOpen(o), true; })
          .Case([&](calls::TapeEntryOp o) { return lowerTapeEntry(o), true; })
          .Case([&](calls::TapeLengthOp o) { return lowerTapeLength(o), true; })
          .Case([&](calls::TapeCloseOp o) { return lowerTapeClose(o), true; })
          .Case([&](calls::CheckRangeOp o) { return lowerCheckRange(o), true; })
          .Case([&](calls::DimOp o) {
            Dim dim = Dim::parse(o.getValue()).value_or(Dim());
            checkDim(loc, dim);
            o.getResult().replaceAllUsesWith(frame.getDim(dim));
            return true;
          })
          .Case([&](calls::CheckEqualOp o) { return lowerCheckEqual(o), true; })
          .Case([&](calls::CheckNonzeroOp o) {
            Value zero = LLVM::ConstantOp::create(
                builder, loc,
                builder.getIntegerAttr(o.getDivisor().getType(), 0));
            Value ok = LLVM::ICmpOp::create(
                builder, loc, LLVM::ICmpPredicate::ne, o.getDivisor(), zero);
            check(loc, ok, ASTRA_ERROR_DIVISION_BY_ZERO,
                  "an integer was divided by zero");
            return true;
          })
          .Case([&](func::ReturnOp) {
            LLVM::ReturnOp::create(builder, loc,
                                   frame.getHalfWord(builder, loc, 0));
            return true;
          })
          .Default([&](Operation *) { return false; });
  if (known) {
    replaced.push_back(op);
    return success();
  }
  if (isa<cf::ControlFlowDialect>(op->getDialect()))
    return lowerBranch(op), success();
  if (isa<arith::ArithDialect, LLVM::LLVMDialect>(op->getDialect()))
    return success();
  return op->emitError("\"")
         << op->getName() << "\" cannot stand in a function of calls";
}

LogicalResult BodyLowering::run() {
  SmallVector<BlockArgument> views;
  for (const auto &[index, arg] : llvm::enumerate(source.getArguments()))
    pointers[arg] = frame.getArgumentData(index);
  SmallVector<Operation *> body;
  for (Block &block : source.getBody()) {
    if (!block.isEntryBlock())
      for (BlockArgument arg : block.getArguments())
        if (isa<calls::ViewType>(arg.getType())) {
          views.push_back(arg);
          pointers[arg] = arg;
        }
    for (Operation &op : block)
      body.push_back(&op);
  }
  Block *entry = &source.getBody().front();
  Region &target = frame.getFunction().getBody();
  target.getBlocks().splice(target.end(), source.getBody().getBlocks());
  for (Operation *op : body) {
    builder.setInsertionPoint(op);
    if (failed(lower(op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  for (BlockArgument arg : views)
    arg.setType(pointer);
  entry->eraseArguments(0, entry->getNumArguments());
  Dim workspace;
  if (auto bytes = source->getAttrOfType<StringAttr>("calls.workspace"))
    workspace = Dim::parse(bytes.getValue()).value_or(Dim());
  frame.finish(entry, workspace);
  return success();
}
} // namespace

LogicalResult astra::lowerEntryBody(func::FuncOp source, EntryFrame &frame,
                                    Descriptor &descriptor) {
  return BodyLowering(source, frame, descriptor).run();
}
