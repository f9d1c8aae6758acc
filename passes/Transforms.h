// Pieces of code motion that the derivative and batching passes share: regions
// copied or moved in place, and each transformation replaced by its expansion.
#ifndef ASTRA_PASSES_TRANSFORMS_H
#define ASTRA_PASSES_TRANSFORMS_H

#include "dialect/Builder.h"
#include "passes/Activity.h"

namespace astra {

/// Copies a block's operations to the builder; gives what it yields.
SmallVector<Value> inlineBlock(OpBuilder &builder, mlir::Block &block,
                               ValueRange arguments);
/// Moves a block's operations before `op`, with `arguments` for the block's
/// arguments, and gives what it yielded. The block is left empty.
SmallVector<Value> spliceBefore(mlir::Operation *op, mlir::Block &block,
                                ValueRange arguments);

/// Makes the operation again, before it, with its regions moved to the new one.
/// The uses of its results stay with the old one.
mlir::Operation *rebuild(mlir::Operation *op, ValueRange operands,
                         mlir::TypeRange types,
                         ArrayRef<NamedAttribute> changed = {});

/// Each replaces the operation by the values and derivatives of its region,
/// which has no transformation inside any more. `before`: what the cotangents
/// of the arguments in `wrt` are already, null for none; the sums go on.
mlir::LogicalResult expandVjp(VjpOp op, ArrayRef<Value> before = {});
mlir::LogicalResult expandJvp(JvpOp op);

/// Fails, and says why, for an operation that has no derivative.
mlir::LogicalResult requireRule(mlir::Operation *op);

/// An own rule knows nothing of values from outside: they must be constants.
mlir::LogicalResult requireNoActiveCapture(CustomDerivativeOp op,
                                           const Activity &activity);

/// The reverse rule of an operation that states only its forward rule, which is
/// linear in the tangents: `operands` are the inputs and the cotangents.
mlir::FailureOr<SmallVector<Value>> transposeTangentRule(OpBuilder &builder,
                                                         CustomDerivativeOp op,
                                                         ValueRange operands);

/// Makes the values from outside that the region uses inputs of it.
void captureAsInputs(RematOp op);
/// The derivative of a rematerialised region: it computes the region again.
/// `operands` are the arguments and cotangents, `before` as in expandVjp().
mlir::FailureOr<RematOp> buildRematVjp(OpBuilder &builder, RematOp op,
                                       ValueRange operands, unsigned numArgs,
                                       ArrayRef<int64_t> wrt,
                                       ArrayRef<Value> before);
/// Replaces what is left of own rules and rematerialisation by plain code.
void inlineRegions(mlir::Operation *root);

/// Marks an `if` of batching, which runs a branch if any element takes it: what
/// it gives where none does is for elements that nobody looks at.
constexpr llvm::StringLiteral isForTaken = "astra.for_taken";

/// Exact simplifications, common subexpressions and dead code.
void cleanUp(mlir::Operation *root);

} // namespace astra
#endif // ASTRA_PASSES_TRANSFORMS_H
