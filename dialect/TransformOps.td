// Transformations of a region: derivatives, own derivative rules and
// rematerialisation. The phase `differentiated` leaves none of them. Regions may
// use values from outside; to a derivative those are constants.
#ifndef ASTRA_TRANSFORM_OPS_TD
#define ASTRA_TRANSFORM_OPS_TD

include "dialect/Rules.td"

defvar TakenFirst = NotDifferentiable<
    "it is replaced before the derivative of what is around it is taken">;

class Astra_TransformOp<string mnemonic, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat(
          [RecursiveMemoryEffects, TransformBatching], traits)> {
  let results = (outs Variadic<Astra_AnyValue>:$results);
  let hasVerifier = 1;
}

def Astra_VjpOp : Astra_TransformOp<"vjp", [TakenFirst, SingleBlock]> {
  let summary = "values and gradients of a region";
  let description = [{
    The first `num_args` inputs are the region's arguments; the others are the
    cotangents of what it yields, one for each float. Results: what the region
    yields, then the gradient of each argument listed in `wrt`. Constraints: (C1)
    the region's arguments have the types of the first inputs; (C2) one cotangent
    for each float that the region yields, of its type; (C3) `wrt` lists float
    arguments; (C4) the results are what the region yields, then the types of the
    arguments in `wrt`.

    Example:

    ```mlir
    %y, %dx = astra.vjp(%x, %one) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
    ^bb0(%a: !astra.tensor<f32, []>):
      %b = astra.mul %a, %a : !astra.tensor<f32, []>
      astra.yield %b : !astra.tensor<f32, []>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyValue>:$inputs, I64Attr:$num_args,
                       DenseI64ArrayAttr:$wrt);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `args` $num_args `wrt` $wrt `:`
    functional-type($inputs, $results) attr-dict-with-keyword $body
  }];
}

def Astra_JvpOp : Astra_TransformOp<"jvp", [TakenFirst, SingleBlock]> {
  let summary = "values and tangents of a region";
  let description = [{
    The first `num_args` inputs are the region's arguments; the others are the
    tangents of the arguments listed in `wrt`. Results: what the region yields,
    then the tangent of each float among them. Constraints: (C1) the region's
    arguments have the types of the first inputs; (C2) `wrt` lists float
    arguments; (C3) one tangent for each entry of `wrt`, of its type; (C4) the
    results are what the region yields, then the types of the floats among them.

    Example:

    ```mlir
    %y, %dy = astra.jvp(%x, %one) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
    ^bb0(%a: !astra.tensor<f32, []>):
      %b = astra.mul %a, %a : !astra.tensor<f32, []>
      astra.yield %b : !astra.tensor<f32, []>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyValue>:$inputs, I64Attr:$num_args,
                       DenseI64ArrayAttr:$wrt);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `args` $num_args `wrt` $wrt `:`
    functional-type($inputs, $results) attr-dict-with-keyword $body
  }];
}

def Astra_CustomDerivativeOp
    : Astra_TransformOp<"custom_derivative", [TransformGradient]> {
  let summary = "a region with derivative rules of its own";
  let description = [{
    `primal` computes the values. `vjp` gets the arguments and the cotangents of
    the float results, and yields the cotangents of the float arguments; `jvp`
    gets the arguments and the tangents of the float arguments, and yields the
    tangents of the float results. A rule that the program does not give is an
    empty region. Constraints: (C1) the arguments of `primal` are the inputs'
    types, and it yields the result types; (C2) those of `vjp` and what it yields
    are as above; (C3) likewise for `jvp`; (C4) there is at least one rule.

    Example:

    ```mlir
    %y = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
    ^bb0(%a: !astra.tensor<f32, []>):
      %b = astra.softplus %a : !astra.tensor<f32, []>
      astra.yield %b : !astra.tensor<f32, []>
    } vjp {
    ^bb0(%a: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>):
      %s = astra.sigmoid %a : !astra.tensor<f32, []>
      %g = astra.mul %d, %s : !astra.tensor<f32, []>
      astra.yield %g : !astra.tensor<f32, []>
    } jvp {
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyValue>:$inputs);
  let regions = (region SizedRegion<1>:$primal, MaxSizedRegion<1>:$vjp,
                        MaxSizedRegion<1>:$jvp);
  let assemblyFormat = [{
    `(` $inputs `)` `:` functional-type($inputs, $results)
    attr-dict-with-keyword `primal` $primal `vjp` $vjp `jvp` $jvp
  }];
}

def Astra_RematOp : Astra_TransformOp<"remat", [TransformGradient, SingleBlock]> {
  let summary = "a region that the reverse pass computes again";
  let description = [{
    Constraints: (C1) the region's arguments are the inputs' types; (C2) it yields
    the result types.

    Example:

    ```mlir
    %y = astra.remat(%x) : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
    ^bb0(%a: !astra.tensor<f32, [n]>):
      %b = astra.tanh %a : !astra.tensor<f32, [n]>
      astra.yield %b : !astra.tensor<f32, [n]>
    }
    ```
  }];
  let arguments = (ins Variadic<Astra_AnyValue>:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `:` functional-type($inputs, $results)
    attr-dict-with-keyword $body
  }];
}

#endif // ASTRA_TRANSFORM_OPS_TD
