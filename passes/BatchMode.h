// Batching of a block: builds each of its operations over a batch that is a new
// axis 0, with the rules that the operations state. What does not depend on the
// batch is built once. Control flow that depends on it runs under a mask: a
// branch if any element takes it, a loop until every element has stopped; an
// element that is not there neither fails nor changes (BatchControl.cpp).
#ifndef ASTRA_PASSES_BATCHMODE_H
#define ASTRA_PASSES_BATCHMODE_H

#include "dialect/Batching.h"
#include "passes/Activity.h"
#include "llvm/ADT/DenseMap.h"

namespace astra {

class BatchMode {
public:
  BatchMode(OpBuilder &builder, Dim length)
      : builder(builder), length(std::move(length)),
        dependent(Activity::Kind::Batch) {}

  /// What stands for an argument of the block.
  void set(Value of, BatchedValue value) { values[of] = value; }
  /// Builds the block's operations where the builder stands.
  mlir::LogicalResult build(mlir::Block &block);
  /// A value from outside stands for itself.
  BatchedValue get(Value of) const;
  Value getMapped(Value of);

private:
  mlir::LogicalResult walk(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation &op);
  mlir::LogicalResult visitRule(mlir::Operation &op);
  void cloneOnce(mlir::Operation &op);
  bool dependsOnBatch(mlir::Operation &op);
  void guard(mlir::Operation &op, SmallVectorImpl<BatchedValue> &operands);

  mlir::LogicalResult visitIf(IfOp op);
  mlir::LogicalResult visitIfMapped(IfOp op);
  mlir::FailureOr<IfOp> buildBranch(IfOp op, unsigned side, Value any,
                                    ArrayRef<unsigned> owners);
  mlir::LogicalResult visitFor(ForOp op);
  mlir::LogicalResult visitForMapped(ForOp op);
  mlir::LogicalResult visitWhile(WhileOp op);
  mlir::LogicalResult visitWhileMapped(WhileOp op);
  mlir::LogicalResult visitScan(ScanOp op);
  mlir::LogicalResult visitReduce(ReduceOp op);
  mlir::LogicalResult visitRemat(RematOp op);
  mlir::LogicalResult visitCustom(CustomDerivativeOp op);

  /// The type, batched if `like` depends on the batch.
  Type typeLike(Type type, Value like);
  SmallVector<Type> typesLike(ValueRange likes);
  /// The value in the form that `like` has: mapped or not.
  Value valueLike(Value value, Value like);
  /// The slices of an array, [length, n, ...] as [n, length, ...].
  Value slicesLike(Value array, Value like);
  /// A value per element chosen by bools of shape [length].
  Value choose(RuleBuilder &r, Value flags, Value ifTrue, Value ifFalse);
  /// Makes the block's counterpart in `region`, leaves the builder at its end.
  mlir::Block *open(mlir::Region &region, mlir::Block &block);
  /// Builds the block in `region`, yielding values in the form of `likes`.
  mlir::LogicalResult buildRegion(mlir::Region &region, mlir::Block &block,
                                  ValueRange likes);
  void finish(mlir::Operation *op, ValueRange results);

  OpBuilder &builder;
  Dim length;
  Activity dependent;
  llvm::DenseMap<Value, BatchedValue> values;
  /// Which elements are there, bools of shape [length]; null: all.
  Value mask;
};

/// Replaces the operation by its region over the batch.
mlir::LogicalResult expandMap(MapOp op);

} // namespace astra
#endif // ASTRA_PASSES_BATCHMODE_H
