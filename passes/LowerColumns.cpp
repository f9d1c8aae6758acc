// Concatenations of many narrow parts: to copy one part whole into the result
// touches all of the result's memory. So the rows are taken in blocks, of all
// parts in turn, while the block's part of the result stays in the cache. Part
// of the pass `calls`; the walk is in LowerToCalls.cpp.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/CallsLowering.h"

using namespace mlir;
using namespace astra;

static constexpr int64_t blockRows = 256;

bool CallsLowering::isOfColumns(ConcatOp op) {
  constexpr int64_t fewParts = 4, fewElements = 8;
  unsigned axis = op.getAxis();
  SmallVector<Dim> shape = getTensorType(op.getResult()).getShape();
  if (axis == 0 || op.getInputs().size() < fewParts ||
      shape[0].asConstant().value_or(blockRows) < blockRows ||
      llvm::any_of(llvm::drop_begin(shape, axis + 1),
                   [](const Dim &extent) { return !extent.isConstant(1); }))
    return false;
  return llvm::all_of(op.getInputs(), [&](Value input) {
    Dim width = getTensorType(input).getDim(axis);
    return width.asConstant().value_or(fewElements) < fewElements;
  });
}

static Layout layoutOf(Value view) {
  auto type = cast<calls::ViewType>(view.getType());
  Layout layout;
  layout.shape = type.getShapeDims();
  layout.strides = type.getStrideDims();
  return layout;
}

/// Row block number `block` of a view, with `count` rows.
Value CallsLowering::takeRows(Value view, Value block, const Dim &count) {
  Layout rows = layoutOf(view);
  rows.shape[0] = count;
  rows.indices = {block};
  rows.steps = {Dim::constant(blockRows) * rows.strides[0]};
  return makeView(view, rows,
                  cast<calls::ViewType>(view.getType()).getElementType());
}

void CallsLowering::copyColumns(ArrayRef<Value> parts, Value result,
                                unsigned axis, Value block, const Dim &count) {
  Value rows = takeRows(result, block, count);
  Layout place = layoutOf(rows);
  for (Value part : parts) {
    place.shape[axis] = layoutOf(part).shape[axis];
    Type element = cast<calls::ViewType>(rows.getType()).getElementType();
    copy(takeRows(part, block, count), makeView(rows, place, element));
    place.offset = place.offset + place.shape[axis] * place.strides[axis];
  }
}

void CallsLowering::lowerColumns(ConcatOp op) {
  Value result = getDestination(op.getResult());
  SmallVector<Value> parts = llvm::map_to_vector(
      op.getInputs(), [&](Value input) { return getView(input); });
  Dim rows = getTensorType(op.getResult()).getDim(0);
  Dim size = Dim::constant(blockRows), blocks = Dim::floordiv(rows, size);
  Value count = calls::DimOp::create(builder, loc, builder.getI64Type(),
                                     builder.getStringAttr(blocks.str()));
  auto loop = scf::ForOp::create(builder, loc, getWord(0), count, getWord(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    copyColumns(parts, result, op.getAxis(), loop.getInductionVar(), size);
  }
  copyColumns(parts, result, op.getAxis(), count, Dim::mod(rows, size));
}
