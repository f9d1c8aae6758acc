// Control flow. Regions may use values from outside. A region ends in
// `astra.yield`.
#ifndef ASTRA_CONTROL_OPS_TD
#define ASTRA_CONTROL_OPS_TD

include "dialect/Rules.td"

class Astra_RegionOp<string mnemonic, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat([RecursiveMemoryEffects, SingleBlock], traits)>;

class Astra_ControlOp<string mnemonic, list<Trait> traits = []>
    : Astra_RegionOp<mnemonic, !listconcat(
          [ControlGradient, ControlBatching], traits)> {
  let results = (outs Variadic<Astra_AnyValue>:$results);
  let hasVerifier = 1;
}

def Astra_YieldOp : Astra_Op<"yield",
    [Pure, Terminator, ReturnLike, BatchingOpInterface,
     NotDifferentiable<"it ends a region; the operation around it has the rule">]> {
  let summary = "ends a region and gives its values";
  let description = [{
    Example:

    ```mlir
    astra.yield %a, %b : !astra.tensor<f32, [n]>, !astra.tensor<i64, []>
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyValue>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Astra_IfOp : Astra_ControlOp<"if"> {
  let summary = "one of two regions, by a condition";
  let description = [{
    Only the region taken is computed, with its checks. Constraints: (C1) the
    regions have no arguments; (C2) both yield the result types.

    Example:

    ```mlir
    %r = astra.if %c : !astra.tensor<i1, []> -> !astra.tensor<f32, [n]> {
      astra.yield %a : !astra.tensor<f32, [n]>
    } else {
      astra.yield %b : !astra.tensor<f32, [n]>
    }
    ```
  }];
  let arguments = (ins Astra_BoolScalar:$condition);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = [{
    $condition `:` custom<TensorType>(type($condition)) (`->` type($results)^)?
    attr-dict-with-keyword $then_region `else` $else_region
  }];
  let hasCanonicalizeMethod = 1;
}

def Astra_ForOp : Astra_ControlOp<"for", [AllTypesMatch<["begin", "end"]>]> {
  let summary = "a counted loop with state";
  let description = [{
    The counter runs from `begin` up to, not including, `end`, or with `reverse`
    from `end - 1` down to `begin`; the region gets the counter and the state and
    yields the next state. `checkpoint` asks the reverse pass to keep only some of
    the states. Constraints: (C1) the region's
    arguments are an i64 scalar and one value per init of its type; (C2) the
    region yields those types; (C3) they are the result types.

    Example:

    ```mlir
    %r = astra.for %b to %e init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
    ^bb0(%i: !astra.tensor<i64, []>, %s: !astra.tensor<f32, [n]>):
      %t = astra.add %s, %s : !astra.tensor<f32, [n]>
      astra.yield %t : !astra.tensor<f32, [n]>
    }
    ```
  }];
  let arguments = (ins Astra_I64Scalar:$begin, Astra_I64Scalar:$end,
                       Variadic<Astra_AnyValue>:$init, UnitAttr:$checkpoint,
                       UnitAttr:$reverse);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $begin `to` $end `init` `(` $init `)` `:` custom<TensorType>(type($begin)) `,`
    functional-type($init, $results) attr-dict-with-keyword $body
  }];
}

def Astra_WhileOp : Astra_ControlOp<"while"> {
  let summary = "a loop of unknown length with state";
  let description = [{
    `cond` gets the state and yields one bool; while it is true, `body` gives the
    next state. Constraints: (C1) the arguments of both regions are one value per
    init of its type; (C2) `cond` yields one bool scalar; (C3) `body` yields the
    state's types; (C4) they are the result types.

    Example:

    ```mlir
    %r = astra.while init(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> cond {
    ^bb0(%s: !astra.tensor<f32, []>):
      %c = astra.gt %s, %eps : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> !astra.tensor<i1, []>
      astra.yield %c : !astra.tensor<i1, []>
    } do {
    ^bb0(%s: !astra.tensor<f32, []>):
      %h = astra.mul %s, %half : !astra.tensor<f32, []>
      astra.yield %h : !astra.tensor<f32, []>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyValue>:$init, UnitAttr:$checkpoint);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `init` `(` $init `)` `:` functional-type($init, $results)
    attr-dict-with-keyword `cond` $cond `do` $body
  }];
}

def Astra_ScanOp : Astra_ControlOp<"scan"> {
  let summary = "a loop over slices that also stacks outputs";
  let description = [{
    The first `num_state` inputs are the state, the others are sliced along axis
    0, which has `length`. The region gets the state and one slice of each, and
    yields the next state and the outputs. Results: the last state, then the
    outputs stacked along a new axis 0. Runs in order. Constraints: (C1) axis 0 of
    every sliced input has the length; (C2) the region's arguments are the state's
    types and the slices'; (C3) it yields the state's types first; (C4) the
    results are those types, and the others with the length as a new axis 0.

    Example:

    ```mlir
    %h, %ys = astra.scan(%h0, %xs) length "n" state 1 : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) {
    ^bb0(%h1: !astra.tensor<f32, []>, %x: !astra.tensor<f32, []>):
      %s = astra.add %h1, %x : !astra.tensor<f32, []>
      astra.yield %s, %s : !astra.tensor<f32, []>, !astra.tensor<f32, []>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyValue>:$inputs, Astra_DimAttr:$length,
                       I64Attr:$num_state);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `length` $length `state` $num_state `:`
    functional-type($inputs, $results) attr-dict-with-keyword $body
  }];
}

def Astra_MapOp : Astra_ControlOp<"map"> {
  let summary = "a region over slices, all independent";
  let description = [{
    `axes` says for each input along which axis it is sliced, -1 if it is given
    whole. The region computes one element of the batch; results have the mapped
    axis first. Constraints: (C1) one axis per input, of its axes or -1; (C2)
    mapped axes have the length; (C3) the region's arguments have the inputs'
    types without the mapped axis; (C4) the results are what it yields with the
    length as a new axis 0.

    Example:

    ```mlir
    %ys = astra.map(%xs, %b) length "n" axes [0, -1] : (!astra.tensor<f32, [n, 4]>, !astra.tensor<f32, [4]>) -> !astra.tensor<f32, [n, 4]> {
    ^bb0(%x: !astra.tensor<f32, [4]>, %c: !astra.tensor<f32, [4]>):
      %y = astra.add %x, %c : !astra.tensor<f32, [4]>
      astra.yield %y : !astra.tensor<f32, [4]>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyTensor>:$inputs, Astra_DimAttr:$length,
                       DenseI64ArrayAttr:$axes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `length` $length `axes` $axes `:`
    functional-type($inputs, $results) attr-dict-with-keyword $body
  }];
}

def Astra_ReduceOp : Astra_ControlOp<"reduce"> {
  let summary = "combines slices by an associative region";
  let description = [{
    Inputs: the initial values, then as many arrays of slices along axis 0, which
    has the length. The slices are combined as the tree of adjacent pairs (an odd
    last one passes up), then combined with the initial values on the left; over
    nothing the initial values are the result. Constraints: (C1) as many inits as
    arrays; (C2) an array has its init's type with the length as a new axis 0;
    (C3) the region's arguments are the inits' types twice; (C4) it yields them;
    (C5) they are the result types.

    Example:

    ```mlir
    %r = astra.reduce(%one, %xs) length "n" : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> {
    ^bb0(%a: !astra.tensor<f32, []>, %b: !astra.tensor<f32, []>):
      %p = astra.mul %a, %b : !astra.tensor<f32, []>
      astra.yield %p : !astra.tensor<f32, []>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyTensor>:$inputs, Astra_DimAttr:$length);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `length` $length `:` functional-type($inputs, $results)
    attr-dict-with-keyword $body
  }];
}

#endif // ASTRA_CONTROL_OPS_TD
