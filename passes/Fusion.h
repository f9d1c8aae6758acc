// Which operations of a block run as one kernel. A group has one shape; its
// members work on elements of that shape or, once it folds rows, on one value a
// row. Groups are found in one walk in program order: a group is open until
// something outside it needs one of its values that cannot wait, so it can
// stand where its last member stands. Knows what operations say of themselves,
// no kernel.
#ifndef ASTRA_PASSES_FUSION_H
#define ASTRA_PASSES_FUSION_H

#include "dialect/AstraOps.h"
#include "llvm/ADT/DenseSet.h"

namespace astra {

class FusionGroup {
public:
  /// What an operation is to the group.
  enum class Role { None, Element, Fold, Rowwise, PerRow };

  FusionGroup(llvm::ArrayRef<mlir::StringAttr> shape, int64_t rows)
      : shape(shape.begin(), shape.end()), rows(rows) {}

  Role getRole(mlir::Operation *op) const;
  bool contains(mlir::Operation *op) const { return set.contains(op); }
  void add(mlir::Operation *op, Role role);
  /// The members of both, or nothing where the rows differ.
  std::optional<FusionGroup> mergedWith(const FusionGroup &other) const;
  /// Enough work to be worth a kernel.
  bool isWorthwhile() const;

  /// The value of the group that an operand stands for, seen through views that
  /// only repeat one value a row; else null.
  mlir::Value findOwn(mlir::Value operand) const;
  /// One value a row: the axes of a row are missing or of extent 1.
  bool isRowShape(llvm::ArrayRef<mlir::StringAttr> other) const;

  llvm::ArrayRef<mlir::Operation *> getMembers() const { return members; }
  llvm::ArrayRef<mlir::StringAttr> getShape() const { return shape; }
  /// The values that go in and out, constants left out.
  size_t countArguments() const;
  /// Trailing axes that make up a row; 0 while nothing folds.
  int64_t getRows() const { return rows; }
  bool isOpen() const { return open; }
  void close() { open = false; }

private:
  bool joinsProduct() const;

  llvm::SmallVector<mlir::StringAttr> shape; // extents by their texts
  int64_t rows;
  llvm::SmallVector<mlir::Operation *> members; // in program order
  llvm::DenseSet<mlir::Operation *> set;
  unsigned elements = 0, folds = 0;
  bool open = true;
};

/// A view without conditions: it can be moved behind what makes its operand.
bool isFreeView(mlir::Operation *op);

/// A copy of parts of values into one: what it needs is there in time if it
/// comes later, so groups that it reads may go on.
bool canWait(mlir::Operation *op);

/// The groups of a block that are worth a kernel.
std::vector<FusionGroup> findFusionGroups(mlir::Block &block);

/// Moves a group into one `astra.fused`.
void buildFusedOp(const FusionGroup &group);

/// Lets fused kernels make values of earlier ones again where that costs less
/// than to keep them.
void recomputeCheapResults(mlir::Operation *root);

} // namespace astra
#endif // ASTRA_PASSES_FUSION_H
