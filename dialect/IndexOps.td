// Reading and updating parts of a tensor. Run-time indices are checked when the
// program runs, before anything is read.
#ifndef ASTRA_INDEX_OPS_TD
#define ASTRA_INDEX_OPS_TD

include "dialect/Rules.td"

def Astra_SliceOp : Astra_Op<"slice",
    [MayFail, IndexGradient, IndexBatching, IndexView]> {
  let summary = "a box of a tensor";
  let description = [{
    `starts` gives the first index along each axis, the result's extents the
    sizes. For the axes in `dynamic_axes` the start is the i64 scalar in
    `indices` instead (and `starts` holds 0). Constraints: (C1) element types and
    ranks are the same; (C2) one start per axis; (C3) dynamic axes ascend, are
    axes of x, and have one index each; (C4) the box is not provably outside.

    Example:

    ```mlir
    %row = astra.slice %x, %i {starts = ["0", "1"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [1, 32]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, Variadic<Astra_I64Scalar>:$indices,
                       Astra_DimArrayAttr:$starts,
                       DenseI64ArrayAttr:$dynamic_axes);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = [{
    $x (`,` $indices^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Astra_UpdateSliceOp : Astra_Op<"update_slice",
    [MayFail, InferTypeOpAdaptor, IndexGradient, IndexBatching, IndexKernel]> {
  let summary = "a tensor with a box replaced or added to";
  let description = [{
    The result is x, with `value` in the box that begins at the starts (as those
    of `astra.slice`), or with `value` added to it where `add` is set.
    Constraints: (C1) element types and ranks of x and value are the same; (C2)
    one start per axis; (C3) dynamic axes ascend, are axes of x, and have one
    index each; (C4) the box is not provably outside.

    Example:

    ```mlir
    %y = astra.update_slice %x, %v, %i {starts = ["0"], dynamic_axes = array<i64: 0>, add} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [1]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, Astra_AnyTensor:$value,
                       Variadic<Astra_I64Scalar>:$indices,
                       Astra_DimArrayAttr:$starts,
                       DenseI64ArrayAttr:$dynamic_axes, UnitAttr:$add);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = [{
    $x `,` $value (`,` $indices^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Astra_GatherOp : Astra_Op<"gather",
    [MayFail, InferTypeOpAdaptor, IndexGradient, IndexBatching, IndexKernel]> {
  let summary = "elements at given indices";
  let description = [{
    The k adjacent axes in `axes` are replaced by the shape of the k index arrays,
    which is one for all. An index outside its axis, also a negative one, is an
    error when the program runs. Constraints: (C1) one index array per axis, at
    least one; (C2) the axes are adjacent, ascending axes of x; (C3) the index
    arrays have one shape.

    Example:

    ```mlir
    %y = astra.gather %x, %i {axes = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<i32, [m]>) -> !astra.tensor<f32, [m, 64]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, Variadic<Astra_IntTensor>:$indices,
                       DenseI64ArrayAttr:$axes);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat =
      "$x `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Astra_ScatterOp : Astra_Op<"scatter",
    [MayFail, InferTypeOpAdaptor, IndexGradient, IndexBatching, IndexKernel]> {
  let summary = "a tensor with elements at given indices replaced or added to";
  let description = [{
    The reverse of `astra.gather`: `value` has the shape that the gather would
    give. With `add` all values of one place are added to the old one, in
    ascending order; without it the last one wins. Constraints: (C1) one index
    array per axis, at least one; (C2) the axes are adjacent, ascending axes of
    x; (C3) the index arrays have one shape; (C4) `value` has the shape of the
    gathered tensor and the element type of x.

    Example:

    ```mlir
    %y = astra.scatter %x, %v, %i {axes = array<i64: 0>, add} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [m, 64]>, !astra.tensor<i32, [m]>) -> !astra.tensor<f32, [n, 64]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, Astra_AnyTensor:$value,
                       Variadic<Astra_IntTensor>:$indices,
                       DenseI64ArrayAttr:$axes, UnitAttr:$add);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = [{
    $x `,` $value `,` $indices attr-dict `:` functional-type(operands, results)
  }];
}

#endif // ASTRA_INDEX_OPS_TD
