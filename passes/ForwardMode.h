// Forward-mode differentiation of a block: walks its operations from first to
// last and builds the tangent of each result behind it. Loops, branches and
// maps are made again with the tangents of their active values beside the
// values.
#ifndef ASTRA_PASSES_FORWARDMODE_H
#define ASTRA_PASSES_FORWARDMODE_H

#include "dialect/Builder.h"
#include "passes/Activity.h"
#include "llvm/ADT/DenseMap.h"

namespace astra {

class ForwardMode {
public:
  explicit ForwardMode(Activity &activity) : activity(activity) {}

  void setTangent(Value of, Value tangent) { tangents[of] = tangent; }
  /// Null if it is zero.
  Value getTangent(Value of) const { return tangents.lookup(of); }
  Value tangentOrZero(RuleBuilder &r, Value of) const;

  mlir::LogicalResult walk(mlir::Block &block);

private:
  mlir::LogicalResult visit(mlir::Operation &op);
  mlir::LogicalResult visitWithRule(mlir::Operation &op);
  mlir::LogicalResult visitCustom(CustomDerivativeOp op);
  mlir::LogicalResult visitRegions(mlir::Operation &op);

  /// The tangents of those of `values` whose counterpart in `like` is active.
  SmallVector<Value> tangentsWhereActive(RuleBuilder &r, ValueRange values,
                                         ValueRange like) const;
  /// Gives the active ones of the block's arguments from `first` on a tangent
  /// argument each, from `at` on.
  void addTangentArguments(mlir::Block &block, unsigned first, unsigned count,
                           unsigned at);
  /// Appends to what the block yields the tangents of those that are active in
  /// `like`.
  void yieldTangents(mlir::Block &block, unsigned first, ValueRange like,
                     unsigned at);

  Activity &activity;
  llvm::DenseMap<Value, Value> tangents;
};

} // namespace astra
#endif // ASTRA_PASSES_FORWARDMODE_H
