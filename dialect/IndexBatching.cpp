// Batching of reading and updating parts. Where the place is the same for the
// whole batch, axes shift by one; where each element has its own, the batch
// becomes one more index of a gather or scatter.
#include "dialect/Batching.h"

using namespace mlir;

namespace astra {

static bool anyMapped(ArrayRef<BatchedValue> values) {
  return llvm::any_of(values, [](const BatchedValue &v) { return v.mapped; });
}

//===-- Slices ------------------------------------------------------------===//

template <typename OpTy>
static SmallVector<NamedAttribute> shiftedBox(RuleBuilder &r, OpTy op) {
  SmallVector<Dim> starts = op.getStarts();
  starts.insert(starts.begin(), Dim());
  return {r.dims("starts", starts),
          r.ints("dynamic_axes", shifted(op.getDynamicAxes()))};
}

/// For a box of the given sizes whose starts differ along the batch: an index
/// array for the batch and for each axis, of shape [length, sizes...].
template <typename OpTy>
static SmallVector<Value> boxIndices(RuleBuilder &r, OpTy op, const Dim &length,
                                     ArrayRef<BatchedValue> starts,
                                     ArrayRef<Dim> sizes) {
  SmallVector<Dim> shape(sizes);
  shape.insert(shape.begin(), length);
  TensorType type =
      TensorType::get(op.getContext(), r.getBuilder().getI64Type(), shape);
  SmallVector<Value> indices{r.iota(type, 0)};
  SmallVector<Dim> fixed = op.getStarts();
  unsigned next = 0;
  for (int64_t axis = 0; axis < int64_t(sizes.size()); ++axis) {
    Value index = r.iota(type, axis + 1);
    if (llvm::is_contained(op.getDynamicAxes(), axis)) {
      Value start = mapped(r, starts[next++], length);
      index = r.add(index, r.broadcast(start, type, {0}));
    } else if (fixed[axis] != Dim()) {
      index = r.add(index, r.fill(r.dim(fixed[axis]), type));
    }
    indices.push_back(index);
  }
  return indices;
}

static LogicalResult batch(RuleBuilder &r, SliceOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  ArrayRef<BatchedValue> starts = operands.drop_front();
  Value x = mapped(r, operands[0], length);
  if (anyMapped(starts)) {
    SmallVector<Value> indices =
        boxIndices(r, op, length, starts, shapeOf(op.getResult()));
    results.push_back({r.gather(x, indices, iotaAxes(rankOf(x))), true});
    return success();
  }
  SmallVector<Value> values{x};
  for (const BatchedValue &start : starts)
    values.push_back(start.value);
  Operation *made = again(r, op, length, values, shiftedBox(r, op));
  results.push_back({made->getResult(0), true});
  return success();
}

static LogicalResult batch(RuleBuilder &r, UpdateSliceOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  ArrayRef<BatchedValue> starts = operands.drop_front(2);
  SmallVector<Value> values = mapped(r, operands.take_front(2), length);
  if (anyMapped(starts)) {
    SmallVector<Value> indices =
        boxIndices(r, op, length, starts, shapeOf(op.getValue()));
    results.push_back({r.scatter(values[0], values[1], indices,
                                 iotaAxes(rankOf(values[0])), op.getAdd()),
                       true});
    return success();
  }
  for (const BatchedValue &start : starts)
    values.push_back(start.value);
  Operation *made = again(r, op, length, values, shiftedBox(r, op));
  results.push_back({made->getResult(0), true});
  return success();
}

//===-- Gather and scatter ------------------------------------------------===//

/// The index arrays for each element of the batch, behind one for the batch.
static SmallVector<Value> indicesWithBatch(RuleBuilder &r, const Dim &length,
                                           ArrayRef<BatchedValue> indices) {
  SmallVector<Value> all = mapped(r, indices, length);
  TensorType type =
      typeOf(all.front()).withElement(r.getBuilder().getI64Type());
  all.insert(all.begin(), r.iota(type, 0));
  return all;
}

/// For a mapped tensor of which `count` axes from `front` on (in its unmapped
/// form) are to stand right behind the batch: the order of its axes.
static Axes bringForward(int64_t rank, int64_t front, int64_t count) {
  Axes perm{0};
  for (int64_t i = 0; i < count; ++i)
    perm.push_back(1 + front + i);
  llvm::append_range(perm, complement(perm, rank));
  return perm;
}
static Axes inverseOf(ArrayRef<int64_t> perm) {
  Axes inverse(perm.size());
  for (auto [i, axis] : llvm::enumerate(perm))
    inverse[axis] = i;
  return inverse;
}

static LogicalResult batch(RuleBuilder &r, GatherOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  ArrayRef<BatchedValue> indices = operands.drop_front();
  int64_t front = op.getAxes().front(), count = op.getAxes().size();
  int64_t places = rankOf(op.getIndices()[0]);
  if (!anyMapped(indices)) {
    SmallVector<Value> same;
    for (const BatchedValue &index : indices)
      same.push_back(index.value);
    results.push_back(
        {r.gather(operands[0].value, same, shifted(op.getAxes())), true});
    return success();
  }
  if (!operands[0].mapped) {
    Value got =
        r.gather(operands[0].value, mapped(r, indices, length), op.getAxes());
    results.push_back({r.moveAxis(got, front, 0), true});
    return success();
  }
  Value x = operands[0].value;
  x = r.transpose(x, bringForward(rankOf(x), front, count));
  Value got =
      r.gather(x, indicesWithBatch(r, length, indices), iotaAxes(count + 1));
  Axes perm = bringForward(rankOf(got), front, places);
  results.push_back({r.transpose(got, inverseOf(perm)), true});
  return success();
}

static LogicalResult batch(RuleBuilder &r, ScatterOp op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results) {
  ArrayRef<BatchedValue> indices = operands.drop_front(2);
  Value x = mapped(r, operands[0], length);
  Value value = mapped(r, operands[1], length);
  int64_t front = op.getAxes().front(), count = op.getAxes().size();
  if (!anyMapped(indices)) {
    SmallVector<Value> same;
    for (const BatchedValue &index : indices)
      same.push_back(index.value);
    results.push_back(
        {r.scatter(x, value, same, shifted(op.getAxes()), op.getAdd()), true});
    return success();
  }
  Axes perm = bringForward(rankOf(x), front, count);
  Axes valuePerm =
      bringForward(rankOf(value), front, rankOf(op.getIndices()[0]));
  Value put = r.scatter(r.transpose(x, perm), r.transpose(value, valuePerm),
                        indicesWithBatch(r, length, indices),
                        iotaAxes(count + 1), op.getAdd());
  results.push_back({r.transpose(put, inverseOf(perm)), true});
  return success();
}

ASTRA_BATCHING_RULE(SliceOp)
ASTRA_BATCHING_RULE(UpdateSliceOp)
ASTRA_BATCHING_RULE(GatherOp)
ASTRA_BATCHING_RULE(ScatterOp)

} // namespace astra
