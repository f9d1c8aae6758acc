// See EntryFrame.h. Everything is emitted into the prologue block, which
// dominates the body; LLVM removes what is not used.
#include "passes/EntryFrame.h"
#include "astra/base.h"

using namespace mlir;
using namespace astra;

EntryFrame::EntryFrame(func::FuncOp source, StringRef name,
                       const ExportInfo &info, Descriptor &descriptor,
                       unsigned argumentCount)
    : info(info), descriptor(descriptor), prologue(source.getContext()),
      rooms(source.getContext()), loc(source.getLoc()),
      argumentCount(argumentCount) {
  MLIRContext *context = source.getContext();
  word = prologue.getI64Type();
  half = prologue.getI32Type();
  pointer = LLVM::LLVMPointerType::get(context);
  argType = LLVM::LLVMStructType::getLiteral(
      context, {pointer, pointer, pointer, half, half});
  callType = LLVM::LLVMStructType::getLiteral(
      context, {word, pointer, pointer, pointer, pointer});
  SmallVector<Type> members(1 + unsigned(CallService::TapeClose), pointer);
  members.front() = word;
  apiType = LLVM::LLVMStructType::getLiteral(context, members);

  prologue.setInsertionPoint(source);
  auto type = LLVM::LLVMFunctionType::get(half, {pointer, pointer, pointer});
  function = LLVM::LLVMFuncOp::create(prologue, loc, name, type,
                                      LLVM::Linkage::Internal);
  Block *block = function.addEntryBlock(prologue);
  prologue.setInsertionPointToEnd(block);
  api = loadMember(prologue, getCall(), callType, 0, 1, pointer);
  dims = loadMember(prologue, getCall(), callType, 0, 3, pointer);
  kernels = loadMember(prologue, getCall(), callType, 0, 4, pointer);
  // Rooms stand before everything that is computed.
  rooms.setInsertionPoint(&block->front());
}

Value EntryFrame::getWord(OpBuilder &builder, Location at, int64_t value) {
  return LLVM::ConstantOp::create(builder, at, word,
                                  builder.getI64IntegerAttr(value));
}

Value EntryFrame::getHalfWord(OpBuilder &builder, Location at, uint32_t value) {
  return LLVM::ConstantOp::create(builder, at, half,
                                  builder.getI32IntegerAttr(int32_t(value)));
}

Value EntryFrame::loadMember(OpBuilder &builder, Value base, Type structType,
                             int32_t index, int32_t member, Type type) {
  Value address = LLVM::GEPOp::create(builder, loc, pointer, structType, base,
                                      ArrayRef<LLVM::GEPArg>{index, member});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

//===-- Dimensions --------------------------------------------------------===//

/// A name of the export, or the stride of an input ("stride1@0").
Value EntryFrame::evaluateName(StringRef name) {
  for (const auto &[index, dim] : llvm::enumerate(info.dims))
    if (dim == name) {
      Value address =
          LLVM::GEPOp::create(prologue, loc, pointer, word, dims,
                              ArrayRef<LLVM::GEPArg>{int32_t(index)});
      return LLVM::LoadOp::create(prologue, loc, word, address);
    }
  auto [axisText, inputText] = name.split('@');
  unsigned axis = 0, input = 0;
  axisText.drop_front(strlen("stride")).getAsInteger(10, axis);
  inputText.getAsInteger(10, input);
  Value strides = loadMember(prologue, function.getArgument(1), argType,
                             int32_t(input), 2, pointer);
  Value address = LLVM::GEPOp::create(prologue, loc, pointer, word, strides,
                                      ArrayRef<LLVM::GEPArg>{int32_t(axis)});
  return LLVM::LoadOp::create(prologue, loc, word, address);
}

/// Rounds down. The runtime has refused a divisor of 0 in any extent before the
/// entry runs, and getFault() tells of other uses; 1 in the place of a divisor
/// that cannot be keeps expressions that are not reached from trapping.
Value EntryFrame::evaluateDivision(const Dim::Atom &atom) {
  Value lhs = getDim(*atom.lhs), rhs = getDim(*atom.rhs);
  Value zero = getWord(prologue, loc, 0), one = getWord(prologue, loc, 1);
  auto compare = [&](LLVM::ICmpPredicate predicate, Value a, Value b) {
    return LLVM::ICmpOp::create(prologue, loc, predicate, a, b).getResult();
  };
  Value least = getWord(prologue, loc, INT64_MIN);
  Value minus = getWord(prologue, loc, -1);
  Value leaves = LLVM::AndOp::create(
      prologue, loc, compare(LLVM::ICmpPredicate::eq, lhs, least),
      compare(LLVM::ICmpPredicate::eq, rhs, minus));
  Value impossible = LLVM::OrOp::create(
      prologue, loc, compare(LLVM::ICmpPredicate::eq, rhs, zero), leaves);
  rhs = LLVM::SelectOp::create(prologue, loc, impossible, one, rhs);
  Value rest = LLVM::SRemOp::create(prologue, loc, lhs, rhs);
  Value signs = LLVM::XOrOp::create(prologue, loc, rest, rhs);
  Value wrong = LLVM::AndOp::create(
      prologue, loc, compare(LLVM::ICmpPredicate::ne, rest, zero),
      compare(LLVM::ICmpPredicate::slt, signs, zero));
  if (atom.kind == Dim::Atom::Mod) {
    Value moved = LLVM::AddOp::create(prologue, loc, rest, rhs);
    return LLVM::SelectOp::create(prologue, loc, wrong, moved, rest);
  }
  Value quotient = LLVM::SDivOp::create(prologue, loc, lhs, rhs);
  Value lower = LLVM::SubOp::create(prologue, loc, quotient, one);
  return LLVM::SelectOp::create(prologue, loc, wrong, lower, quotient);
}

Value EntryFrame::evaluateAtom(const Dim::Atom &atom) {
  return atom.kind == Dim::Atom::Name ? evaluateName(atom.name)
                                      : evaluateDivision(atom);
}

static Dim toDim(const Dim::Atom &atom) {
  if (atom.kind == Dim::Atom::Name)
    return Dim::name(atom.name);
  return atom.kind == Dim::Atom::FloorDiv ? Dim::floordiv(*atom.lhs, *atom.rhs)
                                          : Dim::mod(*atom.lhs, *atom.rhs);
}

Value EntryFrame::getDim(const Dim &dim) {
  std::string text = dim.str();
  if (auto found = dimValues.find(text); found != dimValues.end())
    return found->second;
  Value sum;
  for (const auto &[monomial, coefficient] : dim.getTerms()) {
    Value product;
    for (const auto &[atom, power] : monomial) {
      // An atom is worked out once, also where it stands in several sums.
      Dim alone = toDim(atom);
      Value factor = alone == dim ? evaluateAtom(atom) : getDim(alone);
      for (unsigned i = 0; i < power; ++i)
        product = product ? LLVM::MulOp::create(prologue, loc, product, factor)
                          : factor;
    }
    if (!product || coefficient != 1) {
      Value constant = getWord(prologue, loc, coefficient);
      product = product ? LLVM::MulOp::create(prologue, loc, product, constant)
                        : constant;
    }
    sum = sum ? LLVM::AddOp::create(prologue, loc, sum, product) : product;
  }
  if (!sum)
    sum = getWord(prologue, loc, 0);
  return dimValues[text] = sum;
}

Value EntryFrame::getDim(StringRef text) {
  if (auto found = dimValues.find(text); found != dimValues.end())
    return found->second;
  return getDim(Dim::parse(text).value_or(Dim()));
}

void EntryFrame::addFault(Value &fault, Value other) {
  if (fault && other)
    fault = LLVM::OrOp::create(prologue, loc, fault, other);
  else if (other)
    fault = other;
}

Value EntryFrame::addChecked(Value a, Value b, Fault &fault) {
  Type flag = prologue.getI1Type();
  auto both = LLVM::LLVMStructType::getLiteral(a.getContext(), {word, flag});
  Value pair = LLVM::SAddWithOverflowOp::create(prologue, loc, both, a, b);
  addFault(fault.overflow,
           LLVM::ExtractValueOp::create(prologue, loc, pair, 1));
  return LLVM::ExtractValueOp::create(prologue, loc, pair, 0);
}

Value EntryFrame::multiplyChecked(Value a, Value b, Fault &fault) {
  Type flag = prologue.getI1Type();
  auto both = LLVM::LLVMStructType::getLiteral(a.getContext(), {word, flag});
  Value pair = LLVM::SMulWithOverflowOp::create(prologue, loc, both, a, b);
  addFault(fault.overflow,
           LLVM::ExtractValueOp::create(prologue, loc, pair, 1));
  return LLVM::ExtractValueOp::create(prologue, loc, pair, 0);
}

EntryFrame::Fault EntryFrame::getFault(const Dim &dim) {
  std::string text = dim.str();
  if (auto found = faults.find(text); found != faults.end())
    return found->second;
  Fault fault;
  if (dim.asConstant() || !dim.asName().empty())
    return faults[text] = fault;
  Value sum;
  for (const auto &[monomial, coefficient] : dim.getTerms()) {
    Value product;
    for (const auto &[atom, power] : monomial) {
      if (atom.kind != Dim::Atom::Name) {
        for (const Dim *part : {atom.lhs.get(), atom.rhs.get()}) {
          Fault inner = getFault(*part);
          addFault(fault.zero, inner.zero);
          addFault(fault.overflow, inner.overflow);
        }
        Value zero = getWord(prologue, loc, 0);
        if (!atom.rhs->asConstant())
          addFault(fault.zero,
                   LLVM::ICmpOp::create(prologue, loc, LLVM::ICmpPredicate::eq,
                                        getDim(*atom.rhs), zero));
      }
      Value factor = getDim(toDim(atom));
      for (unsigned i = 0; i < power; ++i)
        product = product ? multiplyChecked(product, factor, fault) : factor;
    }
    Value constant = getWord(prologue, loc, coefficient);
    if (!product)
      product = constant;
    else if (coefficient != 1)
      product = multiplyChecked(product, constant, fault);
    sum = sum ? addChecked(sum, product, fault) : product;
  }
  return faults[text] = fault;
}

Value EntryFrame::getDimTable(ArrayAttr texts) {
  if (auto found = tables.find(texts); found != tables.end())
    return found->second;
  SmallVector<Dim> all = calls::getDims(texts);
  SmallVector<int64_t> constants;
  for (const Dim &dim : all)
    if (auto value = dim.asConstant())
      constants.push_back(*value);
  Value table;
  if (constants.size() == all.size()) {
    table = descriptor.getTables().getAddress(
        prologue, loc, descriptor.getTables().addWords(constants));
  } else {
    table = makeRoom(word, all.size());
    for (const auto &[index, dim] : llvm::enumerate(all)) {
      Value value = getDim(dim);
      Value address =
          LLVM::GEPOp::create(prologue, loc, pointer, word, table,
                              ArrayRef<LLVM::GEPArg>{int32_t(index)});
      LLVM::StoreOp::create(prologue, loc, value, address);
    }
  }
  return tables[texts] = table;
}

//===-- Memory and services -----------------------------------------------===//

Value EntryFrame::makeRoom(Type type, unsigned count) {
  Value size = getWord(rooms, loc, count);
  return LLVM::AllocaOp::create(rooms, loc, pointer, type, size);
}

Value EntryFrame::getArgumentRoom() {
  if (!argumentRoom)
    argumentRoom = makeRoom(argType, argumentCount);
  return argumentRoom;
}

Value EntryFrame::getWordRoom(unsigned count) {
  if (!wordRoom)
    wordRoom = makeRoom(word, count);
  return wordRoom;
}

Value EntryFrame::getArgumentData(unsigned index) {
  Value &data = argumentData[index];
  if (!data) {
    unsigned inputs = info.inLeaves.size();
    bool isInput = index < inputs;
    data = loadMember(prologue, function.getArgument(isInput ? 1 : 2), argType,
                      int32_t(isInput ? index : index - inputs), 0, pointer);
  }
  return data;
}

Value EntryFrame::getService(OpBuilder &builder, Location at,
                             CallService service) {
  return loadMember(builder, api, apiType, 0, int32_t(service), pointer);
}

Value EntryFrame::callService(OpBuilder &builder, Location at,
                              CallService service, Type result,
                              ValueRange arguments) {
  SmallVector<Value> all{getService(builder, at, service), getCall()};
  llvm::append_range(all, arguments);
  auto type = LLVM::LLVMFunctionType::get(
      result, SmallVector<Type>(ValueRange(all).drop_front().getTypes()));
  auto call = LLVM::CallOp::create(builder, at, type, all);
  return call->getNumResults() ? call.getResult() : Value();
}

Value EntryFrame::getMemoryStatus(OpBuilder &builder, Location at,
                                  Value address) {
  Value null = LLVM::ZeroOp::create(builder, at, pointer);
  Value missing =
      LLVM::ICmpOp::create(builder, at, LLVM::ICmpPredicate::eq, address, null);
  return LLVM::SelectOp::create(
      builder, at, missing, getHalfWord(builder, at, ASTRA_ERROR_OUT_OF_MEMORY),
      getHalfWord(builder, at, 0));
}

Value EntryFrame::getKernel(OpBuilder &builder, Location at, unsigned import) {
  Value address = LLVM::GEPOp::create(builder, at, pointer, pointer, kernels,
                                      ArrayRef<LLVM::GEPArg>{int32_t(import)});
  return LLVM::LoadOp::create(builder, at, pointer, address);
}

Value EntryFrame::getWorkspace() {
  if (workspace)
    return workspace;
  Value service = getService(prologue, loc, CallService::Workspace);
  auto type = LLVM::LLVMFunctionType::get(pointer, {pointer, word});
  // The size is not known yet: finish() puts it in the place of this 0. What
  // the prologue works out from now on stands before the call.
  auto call = LLVM::CallOp::create(
      prologue, loc, type,
      ValueRange{service, getCall(), getWord(prologue, loc, 0)});
  workspaceCall = call;
  prologue.setInsertionPoint(call);
  return workspace = call.getResult();
}

Block *EntryFrame::getFailBlock() {
  if (failBlock)
    return failBlock;
  failBlock = new Block();
  function.getBody().push_back(failBlock);
  failBlock->addArguments({half, half}, {loc, loc});
  OpBuilder builder(failBlock, failBlock->end());
  Value locate = getService(builder, loc, CallService::Locate);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {pointer, half});
  LLVM::CallOp::create(
      builder, loc, type,
      ValueRange{locate, getCall(), failBlock->getArgument(1)});
  LLVM::ReturnOp::create(builder, loc, failBlock->getArgument(0));
  return failBlock;
}

void EntryFrame::finish(Block *body, const Dim &bytes) {
  if (!workspace) {
    LLVM::BrOp::create(prologue, loc, body);
    return;
  }
  Operation *zero = workspaceCall->getOperand(2).getDefiningOp();
  workspaceCall->setOperand(2, getDim(bytes));
  zero->erase();
  prologue.setInsertionPointToEnd(workspaceCall->getBlock());
  Value null = LLVM::ZeroOp::create(prologue, loc, pointer);
  Value missing = LLVM::ICmpOp::create(prologue, loc, LLVM::ICmpPredicate::eq,
                                       workspace, null);
  Value code = getHalfWord(prologue, loc, ASTRA_ERROR_OUT_OF_MEMORY);
  Value place = getHalfWord(prologue, loc, descriptor.getLocation(loc));
  LLVM::CondBrOp::create(prologue, loc, missing, getFailBlock(),
                         ValueRange{code, place}, body, ValueRange{});
}
