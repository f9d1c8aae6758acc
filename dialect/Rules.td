// Which rules the operations of a family have. `Written` declares the methods in
// the operations' classes, so that a missing definition does not link; `Default`
// leaves the interface's failing one.
#ifndef ASTRA_RULES_TD
#define ASTRA_RULES_TD

include "dialect/AstraTypes.td"
include "dialect/Interfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

defvar GradientDefault = GradientOpInterface;
defvar GradientWritten =
    DeclareOpInterfaceMethods<GradientOpInterface, ["buildVjp", "buildJvp"]>;
defvar BatchingDefault = BatchingOpInterface;
defvar BatchingWritten =
    DeclareOpInterfaceMethods<BatchingOpInterface, ["buildBatched"]>;
defvar KernelDefault = KernelOpInterface;
defvar KernelWritten =
    DeclareOpInterfaceMethods<KernelOpInterface, ["buildKernels"]>;
defvar ViewDefault = ViewOpInterface;
defvar ViewWritten =
    DeclareOpInterfaceMethods<ViewOpInterface, ["buildView"]>;

/// Operand and result have one shape, and an element of the result depends only
/// on the operands' elements at its place.
def DiagonalJacobian : NativeOpTrait<"DiagonalJacobian"> {
  let cppNamespace = "::astra";
}

/// A kernel rule (and a scalar rule) that one function gives a whole family.
class Astra_KernelRule<string kernels, string scalar = "">
    : NativeOpTrait<"FamilyLowering", [], [{
  ::mlir::LogicalResult buildKernels(::astra::KernelBuilder &builder) {
    return ::astra::}] # kernels # [{(getOperation(), builder);
  }
}] # !if(!empty(scalar), "", [{
  ::llvm::FailureOr<::mlir::Value> buildScalar(::mlir::OpBuilder &builder,
                                               ::mlir::ValueRange operands) {
    return ::astra::}] # scalar # [{(getOperation(), builder, operands);
  }
}])> {
  let cppNamespace = "::astra";
}

// <Family>Gradients.cpp. The rules of control flow and of transformations need
// the walk over their regions: passes/ReverseMode.h, passes/ForwardMode.h.
def ElementwiseGradient : TraitList<[GradientWritten, DiagonalJacobian]>;
defvar ShapeGradient = GradientWritten;
defvar ReductionGradient = GradientWritten;
defvar ContractionGradient = GradientWritten;
defvar AttentionGradient = GradientWritten;
defvar WindowGradient = GradientWritten;
defvar LinalgGradient = GradientWritten;
defvar IndexGradient = GradientWritten;
defvar ControlGradient = GradientDefault;
defvar TransformGradient = GradientDefault;
defvar TapeGradient = GradientWritten;
defvar EffectGradient = GradientWritten;

// <Family>Batching.cpp
defvar ElementwiseBatching = BatchingWritten;
defvar ShapeBatching = BatchingWritten;
defvar ReductionBatching = BatchingWritten;
defvar ContractionBatching = BatchingWritten;
defvar AttentionBatching = BatchingWritten;
defvar WindowBatching = BatchingWritten;
defvar LinalgBatching = BatchingWritten;
defvar IndexBatching = BatchingWritten;
defvar RandomBatching = BatchingWritten;
defvar ControlBatching = BatchingDefault;
defvar TransformBatching = BatchingDefault;
defvar TapeBatching = BatchingWritten;
defvar EffectBatching = BatchingWritten;
defvar FusionBatching = BatchingDefault; // made after batching

// <Family>Lowering.cpp
defvar ElementwiseKernel = TraitList<[KernelOpInterface, ScalarOpInterface,
    Astra_KernelRule<"buildElementwiseKernels", "buildElementwiseScalar">]>;
defvar ElementwiseView = ViewWritten;
defvar ShapeKernel = KernelWritten;
defvar ShapeView = ViewWritten;
defvar ReductionKernel =
    TraitList<[KernelOpInterface, Astra_KernelRule<"buildReductionKernels">]>;
defvar ContractionKernel = KernelWritten;
defvar AttentionKernel = KernelWritten;
defvar WindowKernel = KernelWritten;
defvar WindowView = ViewWritten;
defvar LinalgKernel =
    TraitList<[KernelOpInterface, Astra_KernelRule<"buildLinalgKernels">]>;
defvar IndexKernel = KernelWritten;
defvar IndexView = ViewWritten;
defvar RandomKernel =
    TraitList<[KernelOpInterface, Astra_KernelRule<"buildPlainKernels">]>;
defvar EffectKernel = KernelWritten;

//===- Bases --------------------------------------------------------------===//

class Astra_Op<string mnemonic, list<Trait> traits = []>
    : Op<Astra_Dialect, mnemonic, traits>;

/// Fails when the program runs unless its `cannotFail()` proves otherwise; then
/// it has no effect and may be removed or shared.
def Astra_MayFailTrait : NativeOpTrait<"MayFailAtRunTime", [], [{
  /// True if no value of the dimensions makes the operation fail.
  bool cannotFail();
}], [{
  void $cppClass::getEffects(
      ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
          ::mlir::MemoryEffects::Effect>> &effects) {
    if (!cannotFail())
      ::astra::addFailureEffect(effects);
  }
}]> {
  let cppNamespace = "::astra";
}
def MayFail : TraitList<[DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                         Astra_MayFailTrait]>;

#endif // ASTRA_RULES_TD
