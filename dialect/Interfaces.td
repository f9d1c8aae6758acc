// The four things that an operation says about itself besides its shape rule:
// its derivative, its batched form, the kernel that computes it, or the view that
// it is. They know builders and values, and no pass. Every method has a default
// that fails, so an operation may lack a rule (a test lists those that do).
#ifndef ASTRA_INTERFACES_TD
#define ASTRA_INTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::astra";
  let description = [{
    The derivative of an operation. Rules only build operations at the builder's
    insertion point; values of the forward pass may be used freely. A null value
    stands for zero. Integers and bools never have cotangents or tangents.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the cotangents of the operands from those of the results.
        `operandCotangents` has one null value per operand on entry; the rule
        sets those that are not zero. Never called with null cotangents only.
      }],
      "::mlir::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::ValueRange":$resultCotangents,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandCotangents),
      "", "return ::mlir::failure();">,
    InterfaceMethod<[{
        Builds the tangents of the results from those of the operands.
        `resultTangents` has one null value per result on entry. Never called
        with null tangents only.
      }],
      "::mlir::LogicalResult", "buildJvp",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::ValueRange":$operandTangents,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$resultTangents),
      "", "return ::mlir::failure();">,
    InterfaceMethod<[{
        Why the operation has no rule; empty if it has one. What has a reason is
        constant to differentiation: no cotangent passes it.
      }],
      "::llvm::StringRef", "nonDifferentiableReason", (ins),
      "", "return {};">
  ];
}

def BatchingOpInterface : OpInterface<"BatchingOpInterface"> {
  let cppNamespace = "::astra";
  let description = [{
    The operation over a batch: some operands have a new axis 0 of the given
    length. Results are mapped on axis 0 too, or not at all.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the batched operation. `operands` are in the operation's order;
        the rule appends one entry per result.
      }],
      "::mlir::LogicalResult", "buildBatched",
      (ins "::mlir::OpBuilder &":$builder, "const ::astra::Dim &":$length,
           "::llvm::ArrayRef<::astra::BatchedValue>":$operands,
           "::llvm::SmallVectorImpl<::astra::BatchedValue> &":$results),
      "", "return ::mlir::failure();">
  ];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::astra";
  let description = "An operation that one prebuilt kernel computes.";
  let methods = [
    InterfaceMethod<
      "The kernel's import name, its parameters and its inputs.",
      "::llvm::FailureOr<::astra::KernelCall>", "getKernelCall", (ins),
      "", "return ::mlir::failure();">
  ];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::astra";
  let description = [{
    An operation whose result is its operand 0 seen with other extents, strides
    and offset: no kernel runs for it.
  }];
  let methods = [
    InterfaceMethod<
      "How the result lies in operand 0.",
      "::llvm::FailureOr<::astra::ViewDescription>", "getView", (ins),
      "", "return ::mlir::failure();">
  ];
}

/// For operations that differentiation takes as constants.
class Astra_GradientReason<string reason>
    : NativeOpTrait<"GradientReason", [], [{
  ::llvm::StringRef nonDifferentiableReason() { return "}] # reason # [{"; }
}]> {
  let cppNamespace = "::astra";
}
class NotDifferentiable<string reason>
    : TraitList<[GradientOpInterface, Astra_GradientReason<reason>]>;

#endif // ASTRA_INTERFACES_TD
