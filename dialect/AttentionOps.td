// Attention, an operation of its own with its own order of summation, and its
// gradient.
#ifndef ASTRA_ATTENTION_OPS_TD
#define ASTRA_ATTENTION_OPS_TD

include "dialect/Rules.td"

defvar AttentionRules = [Pure, AttentionGradient, AttentionBatching, AttentionKernel];

def Astra_AttentionOp : Astra_Op<"attention", AttentionRules> {
  let summary = "means of values, weighted by how well keys match queries";
  let description = [{
    q is [batch.., n, d], k [batch.., m, d], v [batch.., m, e] and the result
    [batch.., n, e]: row i is the mean of the rows j of v with the weights
    softmax(scale * q_i . k_j), over the keys that the query sees: where `mask`
    ([batch.., n, m]) is true and, if `causal`, j <= i. Other keys have no
    influence; a query that sees none gives 0. `scale` is 1 / sqrt(d) unless given.
    The second result is a statistic of each row, the logarithm of the sum of the
    exponentials of its scores: [batch.., n], f32 for f16 and bf16. It is there for
    `astra.attention_grad` and has no derivative of its own. Constraints: (C1) q, k
    and v have one element type and one rank, at least 2; (C2) the batch axes
    agree, and so do n, m, d and e; (C3) the results have the shapes and element
    types above.

    Example:

    ```mlir
    %o, %s = astra.attention %q, %k, %v {causal} : (!astra.tensor<f32, [h, n, 64]>, !astra.tensor<f32, [h, n, 64]>, !astra.tensor<f32, [h, n, 64]>) -> (!astra.tensor<f32, [h, n, 64]>, !astra.tensor<f32, [h, n]>)
    ```
  }];
  let arguments = (ins Astra_FloatTensor:$q, Astra_FloatTensor:$k,
                       Astra_FloatTensor:$v, Optional<Astra_BoolTensor>:$mask,
                       UnitAttr:$causal, OptionalAttr<F64Attr>:$scale);
  let results = (outs Astra_FloatTensor:$result, Astra_FloatTensor:$statistic);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`,` $mask^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Astra_AttentionGradOp : Astra_Op<"attention_grad", AttentionRules> {
  let summary = "the cotangents of the operands of attention";
  let description = [{
    From q, k, v (and a mask) of an `astra.attention`, its results and the
    cotangent of the first: the cotangents of q, k and v. `out` and `statistic`
    must be those results: its own derivative takes them for functions of q, k and
    v. Pairs that do not see one another have no influence. Constraints: (C1) to
    (C3) as those of `astra.attention`, `d_out` has the type of `out`, and the
    results have the types of q, k and v.

    Example:

    ```mlir
    %dq, %dk, %dv = astra.attention_grad %q, %k, %v, %o, %s, %do : (!astra.tensor<f32, [n, 8]>, !astra.tensor<f32, [m, 8]>, !astra.tensor<f32, [m, 4]>, !astra.tensor<f32, [n, 4]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n, 4]>) -> (!astra.tensor<f32, [n, 8]>, !astra.tensor<f32, [m, 8]>, !astra.tensor<f32, [m, 4]>)
    ```
  }];
  let arguments = (ins Astra_FloatTensor:$q, Astra_FloatTensor:$k,
                       Astra_FloatTensor:$v, Astra_FloatTensor:$out,
                       Astra_FloatTensor:$statistic, Astra_FloatTensor:$d_out,
                       Optional<Astra_BoolTensor>:$mask, UnitAttr:$causal,
                       OptionalAttr<F64Attr>:$scale);
  let results = (outs Astra_FloatTensor:$dq, Astra_FloatTensor:$dk,
                      Astra_FloatTensor:$dv);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $statistic `,` $d_out (`,` $mask^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // ASTRA_ATTENTION_OPS_TD
