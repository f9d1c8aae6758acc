// Tapes in the pass `calls`: a tape is an address (0: none), an entry a view of
// its memory. See CallsLowering.h.
#include "passes/CallsLowering.h"
#include "passes/TapeUse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace astra;

Value CallsLowering::getTapeEntry(Value tape, Type entry, Value index) {
  Type element = builder.getI64Type(); // the address of a tape
  SmallVector<Dim> shape;
  if (auto tensor = dyn_cast<astra::TensorType>(entry)) {
    element = tensor.getElementType();
    shape = tensor.getShape();
  }
  auto type = calls::ViewType::getDense(builder.getContext(), element, shape);
  return calls::TapeEntryOp::create(builder, loc, type, tape, index);
}

/// The tape itself, or a new one for none.
Value CallsLowering::openTape(Value address) {
  return calls::TapeOpenOp::create(builder, loc, builder.getI64Type(), address);
}

void CallsLowering::lowerTapeRead(TapeReadOp op) {
  Value tape = getScalar(op.getTape()), index = getScalar(op.getIndex());
  Type type = op.getResult().getType();
  Value entry = getTapeEntry(tape, type, index);
  if (isa<TapeType>(type)) {
    // One that was never written is a tape of zeros.
    Value address =
        calls::LoadOp::create(builder, loc, builder.getI64Type(), entry);
    setScalar(op.getResult(), openTape(address));
  } else if (getTensorType(op.getResult()).isScalar()) {
    Type scalar = getScalarType(getTensorType(op.getResult()).getElementType());
    setScalar(op.getResult(),
              calls::LoadOp::create(builder, loc, scalar, entry));
  } else if (isOnlyRead(op.getTape())) {
    setView(op.getResult(), entry);
  } else {
    copy(entry, getDestination(op.getResult()));
  }
}

void CallsLowering::addInPlace(Value part, Value sum) {
  auto type = cast<calls::ViewType>(sum.getType());
  callKernel(getKernelName("add", type.getElementType()), {sum, part}, {sum},
             {});
}

void CallsLowering::lowerTapeWrite(TapeWriteOp op) {
  Value tape = getScalar(op.getTape()), index = getScalar(op.getIndex());
  Type type = op.getValue().getType();
  Value entry = getTapeEntry(tape, type, index);
  if (auto inner = dyn_cast<TapeType>(type)) {
    Value value = getScalar(op.getValue());
    if (op.getAdd())
      addTapeTo(entry, value, inner);
    else
      calls::StoreOp::create(builder, loc, value, entry);
  } else if (op.getAdd())
    addInPlace(getView(op.getValue()), entry);
  else
    writeTo(op.getValue(), entry);
  setScalar(op.getResult(), tape);
}

/// Adds each entry of `part` to that of `sum`.
void CallsLowering::addTape(Value part, Value sum, TapeType type) {
  Value length =
      calls::TapeLengthOp::create(builder, loc, builder.getI64Type(), part);
  auto loop = scf::ForOp::create(builder, loc, getWord(0), length, getWord(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value turn = loop.getInductionVar();
  Value from = getTapeEntry(part, type.getEntry(), turn);
  Value to = getTapeEntry(sum, type.getEntry(), turn);
  auto inner = dyn_cast<TapeType>(type.getEntry());
  if (!inner)
    return addInPlace(from, to);
  Value added = calls::LoadOp::create(builder, loc, builder.getI64Type(), from);
  addTapeTo(to, added, inner);
}

/// Adds to an entry that is a tape, or none yet.
void CallsLowering::addTapeTo(Value entry, Value part, TapeType type) {
  Value old = calls::LoadOp::create(builder, loc, builder.getI64Type(), entry);
  Value sum = openTape(old);
  calls::StoreOp::create(builder, loc, sum, entry);
  addTape(part, sum, type);
}

bool CallsLowering::lowerTape(Operation &op) {
  if (auto read = dyn_cast<TapeReadOp>(op)) {
    lowerTapeRead(read);
  } else if (auto write = dyn_cast<TapeWriteOp>(op)) {
    lowerTapeWrite(write);
  } else if (isa<TapeNoneOp>(op)) {
    setScalar(op.getResult(0), getWord(0));
  } else if (isa<TapeNewOp>(op)) {
    setScalar(op.getResult(0), openTape(getWord(0)));
  } else if (auto either = dyn_cast<TapeEitherOp>(op)) {
    Value lhs = getScalar(either.getLhs()), rhs = getScalar(either.getRhs());
    Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       lhs, getWord(0));
    Value chosen = arith::SelectOp::create(builder, loc, none, rhs, lhs);
    // None of both: over no elements, of which nothing will be read.
    setScalar(either.getResult(), openTape(chosen));
  } else if (auto sum = dyn_cast<TapeAddOp>(op)) {
    Value lhs = getScalar(sum.getLhs());
    addTape(getScalar(sum.getRhs()), lhs, sum.getType());
    setScalar(sum.getResult(), lhs);
  } else {
    return false;
  }
  return true;
}

void CallsLowering::closeTapes(ArrayRef<TapeEnd> ends) {
  for (const TapeEnd &end : ends)
    calls::TapeCloseOp::create(builder, loc, getScalar(end.tape), end.depth);
}
