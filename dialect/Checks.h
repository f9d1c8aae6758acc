// Small helpers that shape rules and verifiers share. A message begins with the
// number of the constraint in the operation's description.
#ifndef ASTRA_DIALECT_CHECKS_H
#define ASTRA_DIALECT_CHECKS_H

#include "dialect/AstraOps.h"

namespace astra {

/// Reports a broken constraint from a shape rule, which has no operation yet.
template <typename Op, typename... Args>
mlir::LogicalResult broken(std::optional<mlir::Location> loc, Args &&...args) {
  return mlir::emitOptionalError(loc, "'", Op::getOperationName(), "' op ",
                                 std::forward<Args>(args)...);
}

inline bool isAxis(int64_t axis, int64_t rank) {
  return axis >= 0 && axis < rank;
}

/// Strictly ascending axes of a tensor of that rank.
inline bool areAscendingAxes(llvm::ArrayRef<int64_t> axes, int64_t rank) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (!isAxis(axes[i], rank) || (i > 0 && axes[i] <= axes[i - 1]))
      return false;
  return true;
}

/// The integer (or bool) that a folded operand is everywhere.
inline std::optional<llvm::APInt> getSplatInt(mlir::Attribute attr) {
  if (auto value = llvm::dyn_cast_or_null<mlir::IntegerAttr>(attr))
    return value.getValue();
  return std::nullopt;
}
inline std::optional<llvm::APFloat> getSplatFloat(mlir::Attribute attr) {
  if (auto value = llvm::dyn_cast_or_null<mlir::FloatAttr>(attr))
    return value.getValue();
  return std::nullopt;
}

} // namespace astra
#endif // ASTRA_DIALECT_CHECKS_H
