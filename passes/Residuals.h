// What the reverse pass of a region needs of its forward pass. The reverse walk
// uses forward values freely, as if both stood in one block; afterwards this
// class finds the values that cross over. Cheap ones are computed again, the
// others are named to whoever can carry them from one region to the other.
#ifndef ASTRA_PASSES_RESIDUALS_H
#define ASTRA_PASSES_RESIDUALS_H

#include "dialect/Builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace astra {

class Residuals {
public:
  /// `backward` is complete, with its dead operations gone.
  Residuals(mlir::Block &forward, mlir::Region &backward);

  /// The forward values to carry over, in order of use.
  ArrayRef<Value> getValues() const { return values.getArrayRef(); }
  /// Puts what was carried over, one for each of getValues(), in their place.
  void replace(ValueRange carried);
  /// What is computed again goes where the builder stands.
  void replace(OpBuilder &builder, ValueRange carried);

private:
  bool crosses(Value v) const { return v.getParentBlock() == &forward; }
  void collect(Value v);
  Value available(OpBuilder &builder, Value v);

  mlir::Block &forward;
  mlir::Region &backward;
  SmallVector<mlir::OpOperand *> uses;
  llvm::SetVector<Value> values;
  llvm::DenseMap<Value, Value> found;
};

/// Operations of `backward` that compute what one of `forward` does give way to
/// it: to carry a value over costs less than another sine. For blocks that run
/// equally often, before their residuals are collected.
void useForward(mlir::Block &forward, mlir::Block &backward);

} // namespace astra
#endif // ASTRA_PASSES_RESIDUALS_H
