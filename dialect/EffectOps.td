// Operations that are there for what they do: assertions and debug output.
#ifndef ASTRA_EFFECT_OPS_TD
#define ASTRA_EFFECT_OPS_TD

include "dialect/Rules.td"

defvar NoResult = NotDifferentiable<"it has no result">;

class Astra_EffectOp<string mnemonic, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat(
          [MemoryEffects<[MemWrite]>, EffectBatching, EffectKernel], traits)>;

def Astra_AssertOp : Astra_EffectOp<"assert", [NoResult]> {
  let summary = "fails if a condition does not hold";
  let description = [{
    `text` is the condition's source, for the message.

    Example:

    ```mlir
    astra.assert %c, "after < before" : !astra.tensor<i1, []>
    ```
  }];
  let arguments = (ins Astra_BoolScalar:$condition, StrAttr:$text);
  let assemblyFormat =
      "$condition `,` $text attr-dict `:` custom<TensorType>(type($condition))";
}

def Astra_AssertEqOp : Astra_EffectOp<"assert_eq", [SameTypeOperands, NoResult]> {
  let summary = "fails if two tensors do not have the same bits";
  let description = [{
    NaN equals NaN; -0 does not equal +0.

    Example:

    ```mlir
    astra.assert_eq %a, %b, "f(x), 4.0" : !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$lhs, Astra_AnyTensor:$rhs, StrAttr:$text);
  let assemblyFormat =
      "$lhs `,` $rhs `,` $text attr-dict `:` custom<TensorType>(type($lhs))";
}

def Astra_AssertCloseOp : Astra_EffectOp<"assert_close",
    [AllTypesMatch<["lhs", "rhs"]>, AllTypesMatch<["rtol", "atol"]>, NoResult]> {
  let summary = "fails if two tensors are not close";
  let description = [{
    Passes where `|lhs - rhs| <= atol + rtol * |rhs|`, or the bits are equal.

    Example:

    ```mlir
    astra.assert_close %a, %b, %rtol, %atol, "f(x), 4.0" : !astra.tensor<f32, [n]>, !astra.tensor<f64, []>
    ```
  }];
  let arguments = (ins Astra_FloatTensor:$lhs, Astra_FloatTensor:$rhs,
                       Astra_F64Scalar:$rtol, Astra_F64Scalar:$atol,
                       StrAttr:$text);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $rtol `,` $atol `,` $text attr-dict `:`
    custom<TensorType>(type($lhs)) `,` custom<TensorType>(type($rtol))
  }];
}

def Astra_DebugOp : Astra_EffectOp<"debug",
    [SameOperandsAndResultType, EffectGradient]> {
  let summary = "prints a value and gives it";
  let description = [{
    Example:

    ```mlir
    %y = astra.debug %x, "x" : !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_AnyTensor:$x, StrAttr:$text);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat =
      "$x `,` $text attr-dict `:` custom<TensorType>(type($result))";
}

#endif // ASTRA_EFFECT_OPS_TD
