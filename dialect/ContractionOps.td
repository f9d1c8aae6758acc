// Products with summed axes.
#ifndef ASTRA_CONTRACTION_OPS_TD
#define ASTRA_CONTRACTION_OPS_TD

include "dialect/Rules.td"

def Astra_ContractOp : Astra_Op<"contract",
    [Pure, InferTypeOpAdaptor, ContractionGradient, ContractionBatching,
     ContractionKernel]> {
  let summary = "generalised matrix product";
  let description = [{
    Sums products over the contracted axes (row-major over `contract_a`), for each
    index of the batch axes and of the free axes, which are the others in their
    order. Result axes: batch (in the order of `batch_a`), free of a, free of b.
    Constraints: (C1) both lists of batch axes have one length, and both of
    contracted axes; (C2) no axis is listed twice and all are axes of their
    operand; (C3) the extents of paired axes are the same; (C4) the element types
    are the same.

    Example:

    ```mlir
    %c = astra.contract %a, %b {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [64, 32]>) -> !astra.tensor<f32, [n, 32]>
    ```
  }];
  let arguments = (ins Astra_NumberTensor:$lhs, Astra_NumberTensor:$rhs,
                       DenseI64ArrayAttr:$batch_a, DenseI64ArrayAttr:$batch_b,
                       DenseI64ArrayAttr:$contract_a,
                       DenseI64ArrayAttr:$contract_b);
  let results = (outs Astra_NumberTensor:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// The axes that are neither batch nor contracted, ascending.
    ::llvm::SmallVector<int64_t> getFreeA();
    ::llvm::SmallVector<int64_t> getFreeB();
  }];
}

#endif // ASTRA_CONTRACTION_OPS_TD
