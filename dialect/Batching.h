// Helpers of the batching rules: values with the batch as a new axis 0, and the
// same operation over a batch. Knows operations and values, and no pass.
#ifndef ASTRA_DIALECT_BATCHING_H
#define ASTRA_DIALECT_BATCHING_H

#include "dialect/Builder.h"

namespace astra {

/// The type with the batch in front.
TensorType batchedType(TensorType type, const Dim &length);
/// The same; the entries of a tape hold the whole batch.
Type batchedType(Type type, const Dim &length);
/// Each axis one further back.
Axes shifted(ArrayRef<int64_t> axes);
/// The value for each element of the batch, repeated if it is not mapped.
Value mapped(RuleBuilder &r, const BatchedValue &value, const Dim &length);
/// All of them.
SmallVector<Value> mapped(RuleBuilder &r, ArrayRef<BatchedValue> values,
                          const Dim &length);

/// The operation again on mapped operands, with mapped results.
mlir::Operation *again(RuleBuilder &r, mlir::Operation *op, const Dim &length,
                       ValueRange operands,
                       ArrayRef<NamedAttribute> changed = {});
/// As the whole rule: every operand mapped, some attributes changed.
mlir::LogicalResult repeatMapped(RuleBuilder &r, mlir::Operation *op,
                                 const Dim &length,
                                 ArrayRef<BatchedValue> operands,
                                 SmallVectorImpl<BatchedValue> &results,
                                 ArrayRef<NamedAttribute> changed = {});
/// As the whole rule, for what has no batched form: one element after another.
mlir::LogicalResult loopOverBatch(RuleBuilder &r, mlir::Operation *op,
                                  const Dim &length,
                                  ArrayRef<BatchedValue> operands,
                                  SmallVectorImpl<BatchedValue> &results);

} // namespace astra

/// Defines the method by a function `batch(r, op, length, operands, results)`.
#define ASTRA_BATCHING_RULE(OP)                                                \
  mlir::LogicalResult OP::buildBatched(                                        \
      mlir::OpBuilder &builder, const Dim &length,                             \
      mlir::ArrayRef<BatchedValue> operands,                                   \
      mlir::SmallVectorImpl<BatchedValue> &results) {                          \
    RuleBuilder r(builder, getLoc());                                          \
    return batch(r, *this, length, operands, results);                         \
  }

#endif // ASTRA_DIALECT_BATCHING_H
