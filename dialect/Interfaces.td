// What an operation says about itself besides its shape rule: its derivative, its
// batched form, and how it becomes kernel calls, a view or scalar code. They know
// builders and values, and no pass. Every method has a default that fails, so an
// operation may lack a rule (a test lists those that do).
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
  let description = "An operation that prebuilt kernels compute.";
  let methods = [
    InterfaceMethod<
      "Writes the results into the views that the builder gives.",
      "::mlir::LogicalResult", "buildKernels",
      (ins "::astra::KernelBuilder &":$builder),
      "", "return ::mlir::failure();">
  ];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::astra";
  let description = [{
    An operation whose result is its operand 0 seen with another layout: no data
    moves for it.
  }];
  let methods = [
    InterfaceMethod<[{
        The result's layout, given the operand's. The builder is there for checks
        and run-time starts. Fails where only a copy will do (a reshape of a
        strided view).
      }],
      "::llvm::FailureOr<::astra::Layout>", "buildView",
      (ins "::astra::KernelBuilder &":$builder, "const ::astra::Layout &":$source),
      "", "return ::mlir::failure();">
  ];
}

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::astra";
  let description = [{
    An operation that generated code computes itself when it works on scalars:
    loop counters, indices and conditions.
  }];
  let methods = [
    InterfaceMethod<
      "The result as a builtin value, from the operands as builtin values.",
      "::llvm::FailureOr<::mlir::Value>", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands),
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
