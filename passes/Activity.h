// Which values a derivative flows through: the floats that depend on the values
// differentiated with respect to. Knows the operations' regions and nothing of
// how derivatives are made.
#ifndef ASTRA_PASSES_ACTIVITY_H
#define ASTRA_PASSES_ACTIVITY_H

#include "dialect/AstraOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace astra {

class Activity {
public:
  bool contains(mlir::Value v) const { return active.contains(v); }
  /// Makes `v` active; a value that is no float stays inactive.
  bool insert(mlir::Value v);
  bool anyOf(mlir::ValueRange values) const;

  /// Adds what becomes active in the block, its operations' regions included.
  void propagate(mlir::Block &block);

private:
  void propagate(mlir::Operation &op);
  void propagateRegions(mlir::Operation &op);

  llvm::DenseSet<mlir::Value> active;
};

/// The values from outside that an operation's regions use, in order of use.
llvm::SetVector<mlir::Value> capturesOf(mlir::Operation *op);

} // namespace astra
#endif // ASTRA_PASSES_ACTIVITY_H
