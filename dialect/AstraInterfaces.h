// The interfaces of operations, with what their methods speak of. Knows no
// operation and no pass.
#ifndef ASTRA_DIALECT_ASTRAINTERFACES_H
#define ASTRA_DIALECT_ASTRAINTERFACES_H

#include "dialect/AstraTypes.h"
#include "dialect/Lowering.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace astra {

/// A value of a batched program: with the batch as axis 0, or the same for all.
struct BatchedValue {
  mlir::Value value;
  bool mapped = false;
};

/// The operation has a reason why it has no derivative.
template <typename ConcreteOp>
class GradientReason
    : public mlir::OpTrait::TraitBase<ConcreteOp, GradientReason> {};

/// Elementwise, so that its Jacobian is diagonal for each operand.
template <typename ConcreteOp>
class DiagonalJacobian
    : public mlir::OpTrait::TraitBase<ConcreteOp, DiagonalJacobian> {};

/// The operation says by `cannotFail()` whether it may fail at run time.
template <typename ConcreteOp>
class MayFailAtRunTime
    : public mlir::OpTrait::TraitBase<ConcreteOp, MayFailAtRunTime> {};

/// The operation's kernels are chosen by a rule of its family.
template <typename ConcreteOp>
class FamilyLowering
    : public mlir::OpTrait::TraitBase<ConcreteOp, FamilyLowering> {};

/// Rules for whole families, in <Family>Lowering.cpp.
mlir::LogicalResult buildPlainKernels(mlir::Operation *op,
                                      KernelBuilder &builder);
mlir::LogicalResult buildElementwiseKernels(mlir::Operation *op,
                                            KernelBuilder &builder);
llvm::FailureOr<mlir::Value> buildElementwiseScalar(mlir::Operation *op,
                                                    mlir::OpBuilder &builder,
                                                    mlir::ValueRange operands);
mlir::LogicalResult buildLinalgKernels(mlir::Operation *op,
                                       KernelBuilder &builder);
mlir::LogicalResult buildReductionKernels(mlir::Operation *op,
                                          KernelBuilder &builder);

/// The effect of a possible failure: the check must be kept.
void addFailureEffect(llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                          mlir::MemoryEffects::Effect>> &effects);

} // namespace astra

#include "dialect/Interfaces.h.inc"

#endif // ASTRA_DIALECT_ASTRAINTERFACES_H
