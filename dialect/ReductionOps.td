// Reductions, and operations that work along one axis and keep it.
#ifndef ASTRA_REDUCTION_OPS_TD
#define ASTRA_REDUCTION_OPS_TD

include "dialect/Rules.td"

defvar ReductionRules = [ReductionBatching, ReductionKernel];

class Astra_Reduction<string mnemonic, string what, string details, Type tensor,
                      list<Trait> traits = [Pure, ReductionGradient]>
    : Astra_Op<mnemonic, !listconcat([InferTypeOpAdaptor], ReductionRules, traits)> {
  let summary = what;
  let description = details # [{
The axes in `axes` are removed. Constraints: (C1) the axes ascend and are
axes of the operand.

Example:

```mlir
%y = astra.}] # mnemonic # [{ %x {axes = array<i64: 1>} : (!astra.tensor<}] #
!cond(!eq(tensor, Astra_BoolTensor) : "i1", true : "f32") #
[{, [n, 64]>) -> !astra.tensor<}] #
!cond(!eq(tensor, Astra_BoolTensor) : "i1", true : "f32") # [{, [n]>
```
  }];
  let arguments = (ins tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs tensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Astra_SumOp : Astra_Reduction<"sum", "sum over axes",
    "In the canonical order of the arithmetic, over the reduced elements in row-major order; over nothing it is 0.",
    Astra_NumberTensor>;
def Astra_ProdOp : Astra_Reduction<"prod", "product over axes",
    "Over nothing it is 1.", Astra_NumberTensor>;
def Astra_MaxOp : Astra_Reduction<"max", "greatest element over axes",
    "NaN wins. Over nothing it is an error when the program runs. Equal greatest elements share the gradient.",
    Astra_NumberTensor, [MayFail, ReductionGradient]>;
def Astra_MinOp : Astra_Reduction<"min", "least element over axes",
    "NaN wins. Over nothing it is an error when the program runs. Equal least elements share the gradient.",
    Astra_NumberTensor, [MayFail, ReductionGradient]>;
def Astra_FirstMaxOp : Astra_Reduction<"first_max",
    "greatest element over axes, the first of equals",
    "The value of `astra.max`; the first of equal greatest elements, in row-major order, has the whole gradient.",
    Astra_NumberTensor, [MayFail, ReductionGradient]>;
def Astra_AnyOp : Astra_Reduction<"any", "whether any element is true",
    "False over nothing.", Astra_BoolTensor,
    [Pure, NotDifferentiable<"bools have no gradient">]>;
def Astra_AllOp : Astra_Reduction<"all", "whether all elements are true",
    "True over nothing.", Astra_BoolTensor,
    [Pure, NotDifferentiable<"bools have no gradient">]>;
def Astra_NormOp : Astra_Reduction<"norm", "square root of the sum of squares",
    "The gradient at 0 is 0.", Astra_FloatTensor>;
def Astra_LogSumExpOp : Astra_Reduction<"logsumexp",
    "logarithm of the sum of exponentials",
    "The maximum is taken out first; over nothing, or of -inf only, it is -inf.",
    Astra_FloatTensor>;

/// The index of an element along one axis, which is removed.
class Astra_ArgReduction<string mnemonic, string what, string details>
    : Astra_Op<mnemonic, !listconcat([InferTypeOpAdaptor, MayFail,
          NotDifferentiable<"its result is an index">], ReductionRules)> {
  let summary = what;
  let description = details # [{
Over nothing it is an error when the program runs. Constraints: (C1) the axis
is one of the operand's.

Example:

```mlir
%i = astra.}] # mnemonic # [{ %x {axis = 1 : i64} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<i32, [n]>
```
  }];
  let arguments = (ins Astra_NumberTensor:$x, I64Attr:$axis);
  let results = (outs Astra_IntTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def Astra_ArgMaxOp : Astra_ArgReduction<"argmax", "index of the greatest element",
    "The first of equals; NaN counts as the greatest.">;
def Astra_ArgMinOp : Astra_ArgReduction<"argmin", "index of the least element",
    "The first of equals; NaN counts as the least.">;

/// Works along one axis and keeps the shape.
class Astra_AlongAxis<string mnemonic, string what, string details, Type tensor>
    : Astra_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType,
          ReductionGradient], ReductionRules)> {
  let summary = what;
  let description = details # [{
Constraints: (C1) the axis is one of the operand's.

Example:

```mlir
%y = astra.}] # mnemonic # [{ %x {axis = 1 : i64} : !astra.tensor<f32, [n, 64]>
```
  }];
  let arguments = (ins tensor:$x, I64Attr:$axis);
  let results = (outs tensor:$result);
  let assemblyFormat = "$x attr-dict `:` custom<TensorType>(type($result))";
  let hasVerifier = 1;
}
def Astra_SoftmaxOp : Astra_AlongAxis<"softmax",
    "exponentials divided by their sum",
    "The maximum is taken out first; a row of -inf only gives 0.",
    Astra_FloatTensor>;
def Astra_LogSoftmaxOp : Astra_AlongAxis<"log_softmax",
    "logarithm of softmax", "x less the maximum, less the logarithm of the sum.",
    Astra_FloatTensor>;
def Astra_CumSumOp : Astra_AlongAxis<"cumsum", "running sum",
    "Each element is the sum up to and with it.", Astra_NumberTensor>;
def Astra_CumProdOp : Astra_AlongAxis<"cumprod", "running product",
    "Each element is the product up to and with it.", Astra_NumberTensor>;
def Astra_SortOp : Astra_AlongAxis<"sort", "ascending order",
    "Stable; NaN comes last and -0 equals +0.", Astra_NumberTensor>;

def Astra_ArgSortOp : Astra_Op<"argsort", !listconcat(
    [Pure, InferTypeOpAdaptor, NotDifferentiable<"its result is an index">],
    ReductionRules)> {
  let summary = "the indices that sort";
  let description = [{
    For each place of the sorted axis the index that its element had. Stable; NaN
    comes last. Constraints: (C1) the axis is one of the operand's.

    Example:

    ```mlir
    %i = astra.argsort %x {axis = 0 : i64} : (!astra.tensor<f32, [n]>) -> !astra.tensor<i32, [n]>
    ```
  }];
  let arguments = (ins Astra_NumberTensor:$x, I64Attr:$axis);
  let results = (outs Astra_IntTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif // ASTRA_REDUCTION_OPS_TD
