// Counter-based random numbers: Threefry-2x32 of a key and the element's index.
#ifndef ASTRA_RANDOM_OPS_TD
#define ASTRA_RANDOM_OPS_TD

include "dialect/Rules.td"

class Astra_RandomOp<string mnemonic>
    : Astra_Op<mnemonic, [Pure, RandomBatching, RandomKernel,
                          NotDifferentiable<"integers have no gradient">]> {
  let arguments = (ins Astra_Key:$key);
  let results = (outs Astra_IntTensor:$result);
  let assemblyFormat = "$key attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Astra_RandomBitsOp : Astra_RandomOp<"random_bits"> {
  let summary = "random words";
  let description = [{
    Element i in row-major order is word i of the key's stream. Constraints: (C1)
    the elements are ui32.

    Example:

    ```mlir
    %b = astra.random_bits %key : (!astra.tensor<ui32, [2]>) -> !astra.tensor<ui32, [n, 64]>
    ```
  }];
}

def Astra_RandomSplitOp : Astra_RandomOp<"random_split"> {
  let summary = "new keys from a key";
  let description = [{
    Row i is the block of counter i. Constraints: (C1) the result is ui32 of shape
    [n, 2].

    Example:

    ```mlir
    %k = astra.random_split %key : (!astra.tensor<ui32, [2]>) -> !astra.tensor<ui32, [3, 2]>
    ```
  }];
}

#endif // ASTRA_RANDOM_OPS_TD
