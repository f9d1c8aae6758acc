// Values of no input (constants, dimensions, iota) and operations that move
// elements without changing them.
#ifndef ASTRA_SHAPE_OPS_TD
#define ASTRA_SHAPE_OPS_TD

include "dialect/Rules.td"

defvar NoInput = NotDifferentiable<"it has no inputs">;
defvar ShapeViewRules = [ShapeGradient, ShapeBatching, ShapeView];
defvar ShapeKernelRules = [ShapeGradient, ShapeBatching, ShapeKernel];

def Astra_ConstOp : Astra_Op<"constant",
    [Pure, ConstantLike, ShapeBatching, ShapeKernel, NoInput]> {
  let summary = "a constant, the same for every element";
  let description = [{
    The value is rounded to the element type already. Constraints: (C1) the value
    has the result's element type.

    Example:

    ```mlir
    %one = astra.constant 1.0 : f32 -> !astra.tensor<f32, []>
    %zeros = astra.constant 0 : ui8 -> !astra.tensor<ui8, [n, 64]>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$value attr-dict `->` custom<TensorType>(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [
    // A number that the element type holds exactly.
    OpBuilder<(ins "::astra::TensorType":$type, "double":$value)>
  ];
}

def Astra_DimValueOp : Astra_Op<"dim",
    [Pure, InferTypeOpAdaptor, ShapeBatching, ShapeKernel, NoInput]> {
  let summary = "a dimension expression as an i64 scalar";
  let description = [{
    Known when the function is entered, like every dimension.

    Example:

    ```mlir
    %n = astra.dim "2*n + 1" -> !astra.tensor<i64, []>
    ```
  }];
  let arguments = (ins Astra_DimAttr:$value);
  let results = (outs Astra_I64Scalar:$result);
  let assemblyFormat = "$value attr-dict `->` custom<TensorType>(type($result))";
  let hasFolder = 1;
}

def Astra_IotaOp : Astra_Op<"iota", [Pure, ShapeBatching, ShapeKernel, NoInput]> {
  let summary = "0, 1, 2, ... along one axis";
  let description = [{
    Each element is its index along `axis`. Constraints: (C1) the axis is one of
    the result's; (C2) the elements are numbers.

    Example:

    ```mlir
    %i = astra.iota {axis = 1 : i64} -> !astra.tensor<i32, [n, 64]>
    ```
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Astra_NumberTensor:$result);
  let assemblyFormat = "attr-dict `->` custom<TensorType>(type($result))";
  let hasVerifier = 1;
}

def Astra_BroadcastOp : Astra_Op<"broadcast",
    !listconcat([Pure], ShapeViewRules)> {
  let summary = "repeats a tensor along new axes and axes of extent 1";
  let description = [{
    `axes` gives for each operand axis its axis in the result. Constraints: (C1)
    one entry per operand axis; (C2) entries ascend and are axes of the result;
    (C3) an operand's extent is that of the result's axis, or 1; (C4) the element
    types are the same.

    Example:

    ```mlir
    %y = astra.broadcast %x {axes = array<i64: 1>} : (!astra.tensor<f32, [64]>) -> !astra.tensor<f32, [n, 64]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Astra_ReshapeOp : Astra_Op<"reshape", !listconcat([MayFail], ShapeViewRules)> {
  let summary = "the same elements in row-major order with other extents";
  let description = [{
    Where the numbers of elements are not provably equal, they are compared when
    the program runs, also where they are never equal. Constraints: (C1) the
    element types are the same.

    Example:

    ```mlir
    %y = astra.reshape %x : (!astra.tensor<f32, [n, 8, 8]>) -> !astra.tensor<f32, [n, 64]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Astra_CheckShapeOp : Astra_Op<"check_shape",
    !listconcat([MayFail], ShapeViewRules)> {
  let summary = "the same tensor under other extents, checked";
  let description = [{
    The `as` of the language: extents that are not provably equal are compared
    when the program runs, also where they are never equal. Constraints: (C1) the
    element types and ranks are the same.

    Example:

    ```mlir
    %y = astra.check_shape %x : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [m]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Astra_TransposeOp : Astra_Op<"transpose",
    !listconcat([Pure, InferTypeOpAdaptor], ShapeViewRules)> {
  let summary = "reorders the axes";
  let description = [{
    `perm` gives for each result axis its axis in the operand. Constraints: (C1)
    `perm` is a permutation of the operand's axes.

    Example:

    ```mlir
    %y = astra.transpose %x {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<f32, [64, n]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Astra_ConcatOp : Astra_Op<"concat",
    !listconcat([Pure, InferTypeOpAdaptor], ShapeKernelRules)> {
  let summary = "joins tensors along an axis";
  let description = [{
    Constraints: (C1) at least one operand; (C2) the axis is one of theirs; (C3)
    element types, ranks and all other extents are the same.

    Example:

    ```mlir
    %c = astra.concat %a, %b {axis = 0 : i64} : (!astra.tensor<f32, [n, 2]>, !astra.tensor<f32, [m, 2]>) -> !astra.tensor<f32, ["m + n", 2]>
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyTensor>:$inputs, I64Attr:$axis);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat =
      "$inputs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Astra_PadOp : Astra_Op<"pad",
    !listconcat([Pure, InferTypeOpAdaptor], ShapeKernelRules)> {
  let summary = "adds a border";
  let description = [{
    `low` elements before and `high` elements after each axis, all of value `fill`.
    Constraints: (C1) one entry of `low` and `high` per axis; (C2) the fill is a
    scalar of the same element type; (C3) no constant entry is negative.

    Example:

    ```mlir
    %y = astra.pad %x, %zero {low = ["1"], high = ["k"]} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) -> !astra.tensor<f32, ["k + n + 1"]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, Astra_AnyTensor:$fill,
                       Astra_DimArrayAttr:$low, Astra_DimArrayAttr:$high);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat =
      "$x `,` $fill attr-dict `:` functional-type(operands, results)";
}

def Astra_FlipOp : Astra_Op<"flip",
    !listconcat([Pure, SameOperandsAndResultType], ShapeViewRules)> {
  let summary = "reverses the order along axes";
  let description = [{
    Constraints: (C1) the axes ascend and are axes of the operand.

    Example:

    ```mlir
    %y = astra.flip %x {axes = array<i64: 0>} : !astra.tensor<f32, [n, 64]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` custom<TensorType>(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Astra_StopGradientOp : Astra_Op<"stop_gradient",
    [Pure, SameOperandsAndResultType, ShapeBatching, ShapeView,
     NotDifferentiable<"it says so: its value is constant to differentiation">]> {
  let summary = "the value, constant to differentiation";
  let description = [{
    Example:

    ```mlir
    %y = astra.stop_gradient %x : !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` custom<TensorType>(type($result))";
}

#endif // ASTRA_SHAPE_OPS_TD
