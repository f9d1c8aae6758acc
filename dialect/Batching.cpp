// Helpers of the batching rules: see Batching.h.
#include "dialect/Batching.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace astra {

TensorType batchedType(TensorType type, const Dim &length) {
  SmallVector<Dim> shape = type.getShape();
  shape.insert(shape.begin(), length);
  return type.withShape(shape);
}

Type batchedType(Type type, const Dim &length) {
  if (auto tape = dyn_cast<TapeType>(type))
    return tape.withLeaf(batchedType(tape.getLeaf(), length));
  return batchedType(cast<TensorType>(type), length);
}

Axes shifted(ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(axes, [](int64_t axis) { return axis + 1; });
}

Value mapped(RuleBuilder &r, const BatchedValue &value, const Dim &length) {
  // A tape that anything mapped is written to is mapped from its beginning.
  if (value.mapped || isa<TapeType>(value.value.getType()))
    return value.value;
  TensorType type = batchedType(typeOf(value.value), length);
  return r.broadcast(value.value, type, shifted(iotaAxes(type.getRank() - 1)));
}
SmallVector<Value> mapped(RuleBuilder &r, ArrayRef<BatchedValue> values,
                          const Dim &length) {
  return llvm::map_to_vector(
      values, [&](const BatchedValue &v) { return mapped(r, v, length); });
}

Operation *again(RuleBuilder &r, Operation *op, const Dim &length,
                 ValueRange operands, ArrayRef<NamedAttribute> changed) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (NamedAttribute attribute : changed)
    attributes.set(attribute.getName(), attribute.getValue());
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  for (Type type : op->getResultTypes())
    state.addTypes(batchedType(type, length));
  state.addAttributes(attributes);
  return r.getBuilder().create(state);
}

LogicalResult repeatMapped(RuleBuilder &r, Operation *op, const Dim &length,
                           ArrayRef<BatchedValue> operands,
                           SmallVectorImpl<BatchedValue> &results,
                           ArrayRef<NamedAttribute> changed) {
  Operation *made = again(r, op, length, mapped(r, operands, length), changed);
  for (Value result : made->getResults())
    results.push_back({result, true});
  return success();
}

LogicalResult loopOverBatch(RuleBuilder &r, Operation *op, const Dim &length,
                            ArrayRef<BatchedValue> operands,
                            SmallVectorImpl<BatchedValue> &results) {
  OpBuilder &builder = r.getBuilder();
  SmallVector<Type> types, elements;
  for (Type type : op->getResultTypes())
    types.push_back(batchedType(type, length));
  SmallVector<Value> slices, whole;
  for (auto [given, original] : llvm::zip_equal(operands, op->getOperands()))
    if (given.mapped) {
      slices.push_back(given.value);
      elements.push_back(original.getType());
    }
  auto scan = ScanOp::create(
      builder, op->getLoc(), types, slices,
      {r.dimension("length", length), r.integer("num_state", 0)});
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(elements.size(), op->getLoc());
  Block *body = builder.createBlock(&scan.getBody(), {}, elements, locs);
  IRMapping mapping;
  unsigned next = 0;
  for (auto [given, original] : llvm::zip_equal(operands, op->getOperands()))
    mapping.map(original,
                given.mapped ? Value(body->getArgument(next++)) : given.value);
  Operation *element = builder.clone(*op, mapping);
  YieldOp::create(builder, op->getLoc(), element->getResults());
  for (Value result : scan->getResults())
    results.push_back({result, true});
  return success();
}

} // namespace astra
