// Tapes: storage that grows with the steps of a loop. Only differentiation makes
// them; see passes/ReverseTape.cpp. A write gives the tape as it is then and
// ends the one before, so that it may happen in place.
#ifndef ASTRA_TAPE_OPS_TD
#define ASTRA_TAPE_OPS_TD

include "dialect/Rules.td"

def Astra_TapeNewOp : Astra_Op<"tape_new", [TapeBatching,
    NotDifferentiable<"it depends on nothing">]> {
  let summary = "a tape of zeros";
  let description = [{
    Two of them are two tapes, whatever they hold.

    Example:

    ```mlir
    %t = astra.tape_new -> !astra.tape<!astra.tensor<f32, [n]>>
    ```
  }];
  let results = (outs Res<Astra_AnyTape, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `->` custom<TensorType>(type($result))";
}

def Astra_TapeNoneOp : Astra_Op<"tape_none", [Pure, TapeBatching,
    NotDifferentiable<"it depends on nothing">]> {
  let summary = "the tape of a branch that was not taken";
  let description = [{
    Nothing is read from it or written to it.

    Example:

    ```mlir
    %t = astra.tape_none -> !astra.tape<!astra.tensor<f32, [n]>>
    ```
  }];
  let results = (outs Astra_AnyTape:$result);
  let assemblyFormat = "attr-dict `->` custom<TensorType>(type($result))";
}

def Astra_TapeEitherOp : Astra_Op<"tape_either",
    [Pure, SameOperandsAndResultType, TapeGradient, TapeBatching]> {
  let summary = "the first of two tapes, unless that is none";
  let description = [{
    Example:

    ```mlir
    %t = astra.tape_either %a, %b : !astra.tape<!astra.tensor<f32, [n]>>
    ```
  }];
  let arguments = (ins Astra_AnyTape:$lhs, Astra_AnyTape:$rhs);
  let results = (outs Astra_AnyTape:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` custom<TensorType>(type($result))";
}

def Astra_TapeAddOp : Astra_Op<"tape_add",
    [Pure, SameOperandsAndResultType, TapeGradient, TapeBatching]> {
  let summary = "the sums of the entries of two tapes";
  let description = [{
    Ends both.

    Example:

    ```mlir
    %t = astra.tape_add %a, %b : !astra.tape<!astra.tensor<f32, [n]>>
    ```
  }];
  let arguments = (ins Astra_AnyTape:$lhs, Astra_AnyTape:$rhs);
  let results = (outs Astra_AnyTape:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` custom<TensorType>(type($result))";
}

def Astra_TapeReadOp : Astra_Op<"tape_read",
    [Pure, TapeGradient, TapeBatching]> {
  let summary = "an entry of a tape";
  let description = [{
    Constraints: (C1) the result has the type of an entry.

    Example:

    ```mlir
    %v = astra.tape_read %t[%i] : !astra.tape<!astra.tensor<f32, [n]>>, !astra.tensor<i64, []> -> !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_AnyTape:$tape, Astra_I64Scalar:$index);
  let results = (outs Astra_AnyValue:$result);
  let assemblyFormat = [{
    $tape `[` $index `]` attr-dict `:` custom<TensorType>(type($tape)) `,`
    custom<TensorType>(type($index)) `->` custom<TensorType>(type($result))
  }];
  let hasVerifier = 1;
}

def Astra_TapeWriteOp : Astra_Op<"tape_write",
    [Pure, AllTypesMatch<["tape", "result"]>, TapeGradient, TapeBatching]> {
  let summary = "a tape with an entry replaced or added to";
  let description = [{
    Without `add` the entry is not one that was written before. Constraints: (C1)
    the value has the type of an entry.

    Example:

    ```mlir
    %u = astra.tape_write %t[%i], %v {add} : !astra.tape<!astra.tensor<f32, [n]>>, !astra.tensor<i64, []>, !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_AnyTape:$tape, Astra_I64Scalar:$index,
                       Astra_AnyValue:$value, UnitAttr:$add);
  let results = (outs Astra_AnyTape:$result);
  let assemblyFormat = [{
    $tape `[` $index `]` `,` $value attr-dict `:`
    custom<TensorType>(type($tape)) `,` custom<TensorType>(type($index)) `,`
    custom<TensorType>(type($value))
  }];
  let hasVerifier = 1;
}

#endif // ASTRA_TAPE_OPS_TD
