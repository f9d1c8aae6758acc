// Checks of regions that control flow and transformations share: their
// arguments, what they yield, and lists of types.
#ifndef ASTRA_DIALECT_REGIONCHECKS_H
#define ASTRA_DIALECT_REGIONCHECKS_H

#include "dialect/Checks.h"

namespace astra {

/// The types that the region's terminator yields; none if it has no yield.
llvm::SmallVector<mlir::Type> getYieldedTypes(mlir::Region &region);

/// Compares two lists of types; `what` begins the message, "(C3) the results".
mlir::LogicalResult checkTypes(mlir::Operation *op, mlir::TypeRange found,
                               mlir::TypeRange expected,
                               const llvm::Twine &what);
mlir::LogicalResult checkArguments(mlir::Operation *op, mlir::Region &region,
                                   mlir::TypeRange expected,
                                   const llvm::Twine &constraint);
/// Also that the region ends in `astra.yield`.
mlir::LogicalResult checkYields(mlir::Operation *op, mlir::Region &region,
                                mlir::TypeRange expected,
                                const llvm::Twine &constraint);

} // namespace astra
#endif // ASTRA_DIALECT_REGIONCHECKS_H
