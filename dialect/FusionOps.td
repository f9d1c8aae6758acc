// Regions that one kernel computes. Made by the phase `fused`, gone after
// `calls`; derivatives and batches never see them.
#ifndef ASTRA_FUSION_OPS_TD
#define ASTRA_FUSION_OPS_TD

include "dialect/Rules.td"

def Astra_FusedOp : Astra_Op<"fused",
    [RecursiveMemoryEffects, SingleBlock, IsolatedFromAbove, FusionBatching,
     NotDifferentiable<"it is made after derivatives are taken">]> {
  let summary = "operations that run as one kernel";
  let description = [{
    The region has operations on elements and, if `rows` is not 0, folds over
    the last `rows` axes of one shape and broadcasts of their results back to
    it. It means what it would mean inline. Constraints: (C1) the region's
    arguments are the inputs' types; (C2) it yields the result types.

    Example:

    ```mlir
    %y = astra.fused(%x) rows 0 : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
    ^bb0(%a: !astra.tensor<f32, [n]>):
      %b = astra.tanh %a : !astra.tensor<f32, [n]>
      %c = astra.mul %a, %b : !astra.tensor<f32, [n]>
      astra.yield %c : !astra.tensor<f32, [n]>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyTensor>:$inputs, I64Attr:$rows);
  let results = (outs Variadic<Astra_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `rows` $rows `:` functional-type($inputs, $results)
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

#endif // ASTRA_FUSION_OPS_TD
