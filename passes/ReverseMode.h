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

/// Gives a loop further states behind its own: `inits` before the first step,
/// and what `next` makes of their values at the end of the body after each.
/// `loop` becomes the new operation; the states' results are returned.
SmallVector<Value> addStates(
    mlir::Operation *&loop, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(RuleBuilder &, ValueRange)> next,
    Retired &retired);
/// The number of steps of a loop; any but a `for` is made to count them, with
/// its last state.
Value countSteps(mlir::Operation *&loop, Retired &retired);
/// Has each step push values of the loop's body on tapes, one for each. Gives
/// the tapes and the number of steps.
std::pair<SmallVector<Value>, Value>
pushOnTapes(mlir::Operation *&loop, ArrayRef<Value> values, Retired &retired);

/// The backward pass of one step of a loop while it is built, in a region that
/// belongs to no operation yet.
struct BackwardStep {
  BackwardStep() { region.emplaceBlock(); }
  mlir::Block &block() { return region.front(); }

  mlir::Region region;
  SmallVector<unsigned> states; // those that are active
  SmallVector<Value> targets;   // from outside, to whose cotangents it adds
  SmallVector<Value> next;      // cotangents of the states, then of targets
  Cotangents cotangents;        // in the block
  size_t firstBuilt = 0, firstRetired = 0;
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
  /// Builds the step backwards over `forward`, whose arguments from `first` on
  /// are the states. `outputs`: cotangents of what is yielded behind these.
  mlir::LogicalResult buildStep(mlir::Block &forward, unsigned first,
                                ValueRange states, ArrayRef<Value> outputs,
                                BackwardStep &step);
  /// Removes what the step, which has its end now, does not need.
  void eraseStep(BackwardStep &step);
  /// The results of the backward loop: those of the states, then of targets.
  void addStepResults(RuleBuilder &r, BackwardStep &step, ArrayRef<Value> inits,
                      ValueRange results, Cotangents &outer);
  // ReverseTape.cpp
  mlir::LogicalResult reverseTaped(mlir::Operation *op, ArrayRef<Value> given,
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
