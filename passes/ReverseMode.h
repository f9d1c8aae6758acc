// Reverse-mode differentiation of a block: walks its operations from last to
// first and builds the cotangents of what they used, with the rules that the
// operations state. Control flow, whose rules need this walk for their regions,
// is in ReverseControl.cpp.
#ifndef ASTRA_PASSES_REVERSEMODE_H
#define ASTRA_PASSES_REVERSEMODE_H

#include "passes/Activity.h"
#include "passes/Cotangents.h"

namespace astra {

/// Forward operations that were built anew with further results. A cotangent
/// may be such a result itself (that of `a` in `a * b` is `b`), so that the old
/// operation goes only when what its block's cotangents are used for is built.
class Retired {
public:
  size_t size() const { return entries.size(); }
  /// Puts `results` in the place of those of `op`.
  void replace(mlir::Operation *op, ValueRange results);
  /// Erases the operations from the one numbered `first` on.
  void settle(size_t first);

private:
  SmallVector<std::pair<mlir::Operation *, SmallVector<Value>>> entries;
};

class ReverseMode {
public:
  /// New operations go where the builder stands.
  ReverseMode(mlir::OpBuilder &builder, Activity &activity)
      : builder(builder), activity(activity) {}

  /// `cotangents` holds those of the block's results on entry, and on return
  /// those of its arguments and of the values from outside that it uses.
  mlir::LogicalResult walk(mlir::Block &block, Cotangents &cotangents);
  /// Removes what was replaced, and what the rules built and nothing uses.
  void finish() {
    retired.settle(0);
    eraseUnused(0);
  }

private:
  mlir::LogicalResult visit(mlir::Operation &op, Cotangents &cotangents);
  mlir::LogicalResult visitWithRule(mlir::Operation &op,
                                    Cotangents &cotangents);
  mlir::LogicalResult visitCustom(CustomDerivativeOp op,
                                  Cotangents &cotangents);
  mlir::LogicalResult visitRemat(RematOp op, Cotangents &cotangents);

  // ReverseControl.cpp
  mlir::LogicalResult visitIf(IfOp op, Cotangents &cotangents);
  mlir::LogicalResult visitScan(ScanOp op, Cotangents &cotangents);
  mlir::LogicalResult visitFor(ForOp op, Cotangents &cotangents);
  mlir::LogicalResult visitWhile(WhileOp op, Cotangents &cotangents);
  mlir::LogicalResult visitReduce(ReduceOp op, Cotangents &cotangents);
  /// `given`: the cotangents of the results, null where there is none.
  mlir::LogicalResult reverseScan(ScanOp op, ArrayRef<Value> given,
                                  Cotangents &outer);
  // ReverseLoop.cpp
  mlir::LogicalResult reverseLoop(mlir::Operation *op, ArrayRef<Value> given,
                                  Cotangents &outer);

  SmallVector<Value> activeCaptures(mlir::Operation *op);
  void seed(RuleBuilder &r, ValueRange yielded, ValueRange given,
            Cotangents &cotangents);
  void addResult(RuleBuilder &r, Value of, Value cotangent,
                 Cotangents &cotangents);
  void eraseUnused(size_t first);

  mlir::OpBuilder &builder;
  Activity &activity;
  /// What the rules built; some of it is for operands that want no cotangent.
  SmallVector<mlir::Operation *> built;
  Retired retired;
};

} // namespace astra
#endif // ASTRA_PASSES_REVERSEMODE_H
