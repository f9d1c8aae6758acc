// Convolution and sliding windows.
#ifndef ASTRA_WINDOW_OPS_TD
#define ASTRA_WINDOW_OPS_TD

include "dialect/Rules.td"

defvar WindowRules = [WindowGradient, WindowBatching];

def Astra_ConvOp : Astra_Op<"conv",
    !listconcat([Pure, WindowKernel], WindowRules)> {
  let summary = "convolution with any stride, offset and dilation";
  let description = [{
    x is [batch.., n, c, S..], w is [batch.., o, c, K..] and the result
    [batch.., n, o, O..], with `batch` leading axes that all three share and one
    or more spatial axes. Along each spatial axis x is spread so that its elements
    lie `spread` apart, and the result is

        result[n, o, i] = sum over c, k of
            w[o, c, k] * spread_x[n, c, i * stride + k * dilation - low]

    in which x is 0 outside and between its elements; k ascends in row-major
    order within c. The extents O are the result's own: nothing about x bounds
    them. With that the derivatives of a convolution are convolutions.
    Constraints: (C1) x, w and the result have one rank, which leaves a spatial
    axis; (C2) the batch axes, n, o and c agree; (C3) one entry of each list per
    spatial axis; (C4) no constant stride, spread or dilation is below 1; (C5) the
    element types are the same.

    Example:

    ```mlir
    %y = astra.conv %x, %w {batch = 0 : i64, strides = ["2"], low = ["1"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 4]>
    ```
  }];
  let arguments = (ins Astra_NumberTensor:$x, Astra_NumberTensor:$w,
                       I64Attr:$batch, Astra_DimArrayAttr:$strides,
                       Astra_DimArrayAttr:$low, Astra_DimArrayAttr:$spread,
                       Astra_DimArrayAttr:$dilations);
  let results = (outs Astra_NumberTensor:$result);
  let assemblyFormat = "$x `,` $w attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getSpatialRank() { return getType().getRank() - getBatch() - 2; }
    /// The extents of the spatial axes of x, of w or of the result.
    ::llvm::SmallVector<Dim> getSpatialShape(::mlir::Value value);
  }];
}

def Astra_WindowsOp : Astra_Op<"windows",
    !listconcat([Pure, InferTypeOpAdaptor, WindowView], WindowRules)> {
  let summary = "the windows of a tensor, without a copy";
  let description = [{
    Each of the last axes, one per entry of `window`, becomes two: where the
    window is, and the place in it. The result is [.., O.., K..] with K = window
    and O = (S - dilation * (K - 1) - 1) / stride + 1, and its element (i, k) is
    the operand's element i * stride + k * dilation. Constraints: (C1) one entry
    of each list per axis, for at most all axes of x; (C2) no constant entry is
    below 1.

    Example:

    ```mlir
    %y = astra.windows %x {window = ["3"], strides = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 8]>) -> !astra.tensor<f32, [n, 6, 3]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, Astra_DimArrayAttr:$window,
                       Astra_DimArrayAttr:$strides,
                       Astra_DimArrayAttr:$dilations);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Astra_OverlapAddOp : Astra_Op<"overlap_add",
    !listconcat([Pure, WindowKernel], WindowRules)> {
  let summary = "adds overlapping windows up, the transpose of `astra.windows`";
  let description = [{
    From [.., O.., K..] to [.., S..]: each element of the result is the sum, from
    +0, of the operand's elements that `astra.windows` would have taken from
    there, in ascending row-major order of their places in the window.
    Constraints: (C1) `astra.windows` with these strides and dilations would give
    the operand's shape from the result's.

    Example:

    ```mlir
    %y = astra.overlap_add %x {strides = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 6, 3]>) -> !astra.tensor<f32, [n, 8]>
    ```
  }];
  let arguments = (ins Astra_FloatTensor:$x, Astra_DimArrayAttr:$strides,
                       Astra_DimArrayAttr:$dilations);
  let results = (outs Astra_FloatTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // ASTRA_WINDOW_OPS_TD
