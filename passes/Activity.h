// Which values depend on some given ones: the floats that a derivative flows
// through, or what differs along a batch. Knows the operations' regions and
// nothing of how derivatives or batches are made.
#ifndef ASTRA_PASSES_ACTIVITY_H
#define ASTRA_PASSES_ACTIVITY_H

#include "dialect/AstraOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace astra {

class Activity {
public:
  enum class Kind {
    Derivative, // floats; through data only
    Batch       // any value; through conditions too
  };
  explicit Activity(Kind kind = Kind::Derivative) : kind(kind) {}

  bool contains(mlir::Value v) const { return active.contains(v); }
  /// Makes `v` active. To a derivative only a float can be.
  bool insert(mlir::Value v);
  bool anyOf(mlir::ValueRange values) const;

  /// Adds what becomes active in the block, its operations' regions included.
  void propagate(mlir::Block &block);
  /// A tape that is active anywhere is so everywhere. True if that made any
  /// value active, for propagate() to go on from.
  bool matchTapes(mlir::Block &block);

private:
  void propagate(mlir::Operation &op);
  void propagateRegions(mlir::Operation &op);

  void insertAll(mlir::ValueRange values);

  Kind kind;
  llvm::DenseSet<mlir::Value> active;
};

/// The values from outside that an operation's regions use, in order of use.
llvm::SetVector<mlir::Value> capturesOf(mlir::Operation *op);

} // namespace astra
#endif // ASTRA_PASSES_ACTIVITY_H
