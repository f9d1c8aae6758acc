// Elementwise operations: all operands and the result have one shape.
#ifndef ASTRA_ELEMENTWISE_OPS_TD
#define ASTRA_ELEMENTWISE_OPS_TD

include "dialect/Rules.td"

defvar ElementwiseRules = [ElementwiseBatching, ElementwiseKernel];
defvar IntegerOnly = NotDifferentiable<"integers and bools have no gradient">;
defvar GivesBool = NotDifferentiable<"its result is bool">;

//===- One operand --------------------------------------------------------===//

class Astra_UnaryBase<string mnemonic, string what, string details,
                      Type tensor, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat(
          [Pure, SameOperandsAndResultType], ElementwiseRules, traits)> {
  let summary = what;
  let description = details # [{

Example:

```mlir
%y = astra.}] # mnemonic # [{ %x : !astra.tensor<}] #
!cond(!eq(tensor, Astra_BitsTensor) : "i32", true : "f32") # [{, [n, 64]>
```
  }];
  let arguments = (ins tensor:$x);
  let results = (outs tensor:$result);
  let assemblyFormat = "$x attr-dict `:` custom<TensorType>(type($result))";
}
class Astra_FloatUnary<string mnemonic, string what, string details,
                       list<Trait> gradient = [ElementwiseGradient]>
    : Astra_UnaryBase<mnemonic, what, details, Astra_FloatTensor, gradient>;
class Astra_NumberUnary<string mnemonic, string what, string details,
                        list<Trait> gradient = [ElementwiseGradient]>
    : Astra_UnaryBase<mnemonic, what, details, Astra_NumberTensor, gradient>;

def Astra_NegOp : Astra_NumberUnary<"neg", "negation",
    "Flips the sign of a float (also of zero and NaN); integers wrap."> {
  let hasFolder = 1;
}
def Astra_AbsOp : Astra_NumberUnary<"abs", "absolute value",
    "The gradient at 0 is 0. The least signed integer stays as it is.">;
def Astra_SignOp : Astra_NumberUnary<"sign", "sign",
    "-1, 0 or 1; zeros keep their sign and NaN is NaN.">;
def Astra_FloorOp : Astra_FloatUnary<"floor", "rounds down",
    "To the greatest whole number not above.">;
def Astra_CeilOp : Astra_FloatUnary<"ceil", "rounds up",
    "To the least whole number not below.">;
def Astra_RoundOp : Astra_FloatUnary<"round", "rounds to the nearest whole number",
    "Halves go to the even neighbour.">;
def Astra_ExpOp : Astra_FloatUnary<"exp", "exponential", "e to the x.">;
def Astra_Exp2Op : Astra_FloatUnary<"exp2", "power of two", "2 to the x.">;
def Astra_Expm1Op : Astra_FloatUnary<"expm1", "exponential less one",
    "exp(x) - 1, accurate near 0.">;
def Astra_LogOp : Astra_FloatUnary<"log", "natural logarithm",
    "-inf at 0, NaN below.">;
def Astra_Log1pOp : Astra_FloatUnary<"log1p", "logarithm of 1 + x",
    "log(1 + x), accurate near 0.">;
def Astra_Log2Op : Astra_FloatUnary<"log2", "logarithm to base 2",
    "-inf at 0, NaN below.">;
def Astra_Log10Op : Astra_FloatUnary<"log10", "logarithm to base 10",
    "-inf at 0, NaN below.">;
def Astra_SqrtOp : Astra_FloatUnary<"sqrt", "square root",
    "The IEEE square root; NaN below 0.">;
def Astra_RsqrtOp : Astra_FloatUnary<"rsqrt", "reciprocal square root",
    "1 / sqrt(x) with one definition of its rounding.">;
def Astra_CbrtOp : Astra_FloatUnary<"cbrt", "cube root",
    "Also of negative numbers.">;
def Astra_SinOp : Astra_FloatUnary<"sin", "sine", "Of an angle in radians.">;
def Astra_CosOp : Astra_FloatUnary<"cos", "cosine", "Of an angle in radians.">;
def Astra_TanOp : Astra_FloatUnary<"tan", "tangent", "Of an angle in radians.">;
def Astra_AsinOp : Astra_FloatUnary<"asin", "arc sine", "NaN outside -1..1.">;
def Astra_AcosOp : Astra_FloatUnary<"acos", "arc cosine", "NaN outside -1..1.">;
def Astra_AtanOp : Astra_FloatUnary<"atan", "arc tangent", "In -pi/2..pi/2.">;
def Astra_SinhOp : Astra_FloatUnary<"sinh", "hyperbolic sine",
    "(exp(x) - exp(-x)) / 2.">;
def Astra_CoshOp : Astra_FloatUnary<"cosh", "hyperbolic cosine",
    "(exp(x) + exp(-x)) / 2.">;
def Astra_TanhOp : Astra_FloatUnary<"tanh", "hyperbolic tangent",
    "sinh(x) / cosh(x). Its derivative is sech2(x).">;
def Astra_Sech2Op : Astra_FloatUnary<"sech2", "derivative of tanh",
    "1 / cosh(x)^2: 1 - tanh(x)^2 has no correct digit for large x. Its derivative is -2 tanh(x) sech2(x).">;
def Astra_SigmoidOp : Astra_FloatUnary<"sigmoid", "logistic function",
    "1 / (1 + exp(-x)). Its derivative is sigmoid(x) * sigmoid(-x).">;
def Astra_LogSigmoidOp : Astra_FloatUnary<"log_sigmoid",
    "logarithm of the logistic function",
    "-softplus(-x). Its derivative is sigmoid(-x).">;
def Astra_SoftplusOp : Astra_FloatUnary<"softplus", "smooth maximum with 0",
    "log(1 + exp(x)). Its derivative is sigmoid(x).">;
def Astra_ReluOp : Astra_NumberUnary<"relu", "maximum with 0",
    "NaN stays NaN. The gradient at 0 is 0.">;
def Astra_GeluOp : Astra_FloatUnary<"gelu", "Gaussian error linear unit",
    "x times the normal distribution function of x, by erf.">;
def Astra_SiluOp : Astra_FloatUnary<"silu", "sigmoid linear unit",
    "x * sigmoid(x).">;
def Astra_ErfOp : Astra_FloatUnary<"erf", "error function",
    "2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.">;
def Astra_ErfcOp : Astra_FloatUnary<"erfc", "complementary error function",
    "1 - erf(x), accurate for large x.">;
def Astra_ErfinvOp : Astra_FloatUnary<"erfinv", "inverse error function",
    "Infinite at -1 and 1, NaN outside.">;
def Astra_LgammaOp : Astra_FloatUnary<"lgamma", "logarithm of |gamma(x)|",
    "Infinite at 0 and the negative whole numbers.">;
def Astra_DigammaOp : Astra_FloatUnary<"digamma", "derivative of lgamma",
    "Its own derivative is trigamma.">;
def Astra_TrigammaOp : Astra_FloatUnary<"trigamma", "derivative of digamma",
    "The second derivative of lgamma.">;
def Astra_NotOp : Astra_UnaryBase<"not", "logical or bitwise complement",
    "Of a bool the other bool, of an integer the complement of each bit.",
    Astra_BitsTensor, [IntegerOnly]> {
  let hasFolder = 1;
}

def Astra_PowIntOp : Astra_Op<"pow_int", !listconcat(
    [Pure, SameOperandsAndResultType, ElementwiseGradient], ElementwiseRules)> {
  let summary = "power with a constant whole exponent";
  let description = [{
    By repeated squaring: exponent 2 is `x * x`, exponent 0 is 1. Constraints:
    (C1) the exponent is at least 0.

    Example:

    ```mlir
    %y = astra.pow_int %x, 3 : !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_NumberTensor:$x, I64Attr:$exponent);
  let results = (outs Astra_NumberTensor:$result);
  let assemblyFormat =
      "$x `,` $exponent attr-dict `:` custom<TensorType>(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

/// A function that carries an order, which counts derivatives: the next order is
/// its own derivative.
class Astra_OrderedUnary<string mnemonic, string what, string details>
    : Astra_Op<mnemonic, !listconcat(
          [Pure, SameOperandsAndResultType, DiagonalJacobian,
           DeclareOpInterfaceMethods<GradientOpInterface,
               ["buildVjp", "buildJvp", "nonDifferentiableReason"]>],
          ElementwiseRules)> {
  let summary = what;
  let description = details # [{ Constraints: (C1) the order is within 0..32.

Example:

```mlir
%y = astra.}] # mnemonic # [{ %x, 2 : !astra.tensor<f32, [n]>
```
  }];
  let arguments = (ins Astra_FloatTensor:$x, I64Attr:$order);
  let results = (outs Astra_FloatTensor:$result);
  let assemblyFormat =
      "$x `,` $order attr-dict `:` custom<TensorType>(type($result))";
  let hasVerifier = 1;
}
def Astra_PolygammaOp : Astra_OrderedUnary<"polygamma", "derivative of digamma",
    "Order 0 is digamma itself, order 1 trigamma.">;
def Astra_SincOp : Astra_OrderedUnary<"sinc", "derivative of sin(pi x) / (pi x)",
    "Order 0 is the function itself, which is 1 at 0.">;
def Astra_ExprelOp : Astra_OrderedUnary<"exprel",
    "derivative of (exp(x) - 1) / x",
    "Order 0 is the function itself, which is 1 at 0.">;

class Astra_Predicate<string mnemonic, string what, string details>
    : Astra_Op<mnemonic, !listconcat([Pure, InferTypeOpAdaptor, GivesBool],
                                     ElementwiseRules)> {
  let summary = what;
  let description = details # [{

Example:

```mlir
%y = astra.}] # mnemonic # [{ %x : (!astra.tensor<f32, [n]>) -> !astra.tensor<i1, [n]>
```
  }];
  let arguments = (ins Astra_FloatTensor:$x);
  let results = (outs Astra_BoolTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def Astra_IsNanOp : Astra_Predicate<"is_nan", "whether an element is NaN",
    "True where the element is not a number.">;
def Astra_IsInfOp : Astra_Predicate<"is_inf", "whether an element is infinite",
    "True where the element is plus or minus infinity.">;

//===- Two operands -------------------------------------------------------===//

class Astra_BinaryBase<string mnemonic, string what, string details,
                       Type tensor, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat(
          [SameOperandsAndResultType], ElementwiseRules, traits)> {
  let summary = what;
  let description = details # [{

Example:

```mlir
%c = astra.}] # mnemonic # [{ %a, %b : !astra.tensor<}] #
!cond(!eq(tensor, Astra_FloatTensor) : "f32",
      !eq(tensor, Astra_NumberTensor) : "f32", true : "i32") # [{, [n, 64]>
```
  }];
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` custom<TensorType>(type($result))";
}
class Astra_NumberBinary<string mnemonic, string what, string details,
                         list<Trait> traits = [Pure]>
    : Astra_BinaryBase<mnemonic, what, details, Astra_NumberTensor,
                       !listconcat([ElementwiseGradient], traits)>;
class Astra_BitsBinary<string mnemonic, string what, string details,
                       Type tensor = Astra_BitsTensor>
    : Astra_BinaryBase<mnemonic, what, details, tensor, [Pure, IntegerOnly]>;

def Astra_AddOp : Astra_NumberBinary<"add", "sum of two elements",
    "IEEE addition; integers wrap.", [Pure, Commutative]> {
  let hasFolder = 1;
}
def Astra_SubOp : Astra_NumberBinary<"sub", "difference of two elements",
    "IEEE subtraction; integers wrap."> {
  let hasFolder = 1;
}
def Astra_MulOp : Astra_NumberBinary<"mul", "product of two elements",
    "IEEE multiplication; integers wrap.", [Pure, Commutative]> {
  let hasFolder = 1;
}
def Astra_DivOp : Astra_NumberBinary<"div", "quotient of two elements",
    "IEEE division. Integers round down; a divisor 0 is an error when the program runs, and the least number divided by -1 is itself.",
    [MayFail]> {
  let hasFolder = 1;
}
def Astra_RemOp : Astra_NumberBinary<"rem", "remainder of two elements",
    "Has the divisor's sign, also for floats. An integer divisor 0 is an error when the program runs.",
    [MayFail]> {
  let hasFolder = 1;
}
def Astra_PowOp : Astra_NumberBinary<"pow", "power of two elements",
    "lhs to the power rhs.">;
def Astra_Atan2Op : Astra_BinaryBase<"atan2", "angle of a point",
    "The angle of the point (rhs, lhs), in -pi..pi.", Astra_FloatTensor,
    [ElementwiseGradient, Pure]>;
def Astra_MaximumOp : Astra_NumberBinary<"maximum", "greater of two elements",
    "NaN wins, and -0 is less than +0. At a tie each operand gets half of the gradient.",
    [Pure, Commutative]>;
def Astra_MinimumOp : Astra_NumberBinary<"minimum", "lesser of two elements",
    "NaN wins, and -0 is less than +0. At a tie each operand gets half of the gradient.",
    [Pure, Commutative]>;
def Astra_AndOp : Astra_BitsBinary<"and", "logical or bitwise and",
    "Of bools, or of each bit of integers."> {
  let hasFolder = 1;
}
def Astra_OrOp : Astra_BitsBinary<"or", "logical or bitwise or",
    "Of bools, or of each bit of integers."> {
  let hasFolder = 1;
}
def Astra_XorOp : Astra_BitsBinary<"xor", "logical or bitwise exclusive or",
    "Of bools, or of each bit of integers."> {
  let hasFolder = 1;
}
def Astra_ShiftLeftOp : Astra_BitsBinary<"shift_left", "shift to the left",
    "By rhs bits; a distance outside 0..width - 1 gives 0.", Astra_IntTensor> {
  let hasFolder = 1;
}
def Astra_ShiftRightOp : Astra_BitsBinary<"shift_right", "shift to the right",
    "By rhs bits; signed integers keep their sign. A distance outside 0..width - 1 gives 0, or -1 for a negative lhs.",
    Astra_IntTensor> {
  let hasFolder = 1;
}

class Astra_Compare<string mnemonic, string what, string details>
    : Astra_Op<mnemonic, !listconcat(
          [Pure, SameTypeOperands, InferTypeOpAdaptor, GivesBool],
          ElementwiseRules)> {
  let summary = what;
  let description = details # [{

Example:

```mlir
%c = astra.}] # mnemonic # [{ %a, %b : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>) -> !astra.tensor<i1, [n]>
```
  }];
  let arguments = (ins Astra_AnyTensor:$lhs, Astra_AnyTensor:$rhs);
  let results = (outs Astra_BoolTensor:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}
def Astra_EqOp : Astra_Compare<"eq", "whether two elements are equal",
    "NaN equals nothing, and -0 equals +0.">;
def Astra_NeOp : Astra_Compare<"ne", "whether two elements differ",
    "True for NaN, false for -0 and +0.">;
def Astra_LtOp : Astra_Compare<"lt", "whether lhs is less than rhs",
    "False for NaN.">;
def Astra_LeOp : Astra_Compare<"le", "whether lhs is at most rhs",
    "False for NaN.">;
def Astra_GtOp : Astra_Compare<"gt", "whether lhs is greater than rhs",
    "False for NaN.">;
def Astra_GeOp : Astra_Compare<"ge", "whether lhs is at least rhs",
    "False for NaN.">;

//===- Others -------------------------------------------------------------===//

def Astra_SelectOp : Astra_Op<"select", !listconcat(
    [Pure, InferTypeOpAdaptor, ElementwiseGradient], ElementwiseRules)> {
  let summary = "one of two elements, by a condition";
  let description = [{
    `if_true` where the condition holds, else `if_false`; both are computed.
    Constraints: (C1) the two values have the result's type; (C2) the condition
    has the result's shape.

    Example:

    ```mlir
    %r = astra.select %c, %a, %b : (!astra.tensor<i1, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]>
    ```
  }];
  let arguments = (ins Astra_BoolTensor:$condition, Astra_AnyTensor:$if_true,
                       Astra_AnyTensor:$if_false);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = [{
    $condition `,` $if_true `,` $if_false attr-dict `:`
    functional-type(operands, results)
  }];
  let hasFolder = 1;
}

class Astra_ConversionBase<string mnemonic, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat([Pure], traits)> {
  let arguments = (ins Astra_AnyTensor:$x);
  let results = (outs Astra_AnyTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Type":$element)>];
}
def Astra_ConvertOp : Astra_ConversionBase<"convert",
    !listconcat([ElementwiseGradient], ElementwiseRules)> {
  let summary = "conversion to another element type";
  let description = [{
    To floats: round to nearest even. Floats to integers: truncate and saturate,
    NaN gives 0. Integers to narrower integers wrap. To bool: whether not 0.
    Constraints: (C1) the shapes are the same.

    Example:

    ```mlir
    %y = astra.convert %x : (!astra.tensor<i32, [n]>) -> !astra.tensor<f32, [n]>
    ```
  }];
}
def Astra_BitcastOp : Astra_ConversionBase<"bitcast",
    [ElementwiseBatching, ElementwiseView,
     NotDifferentiable<"it reads bits as another type">]> {
  let summary = "the same bits as another element type";
  let description = [{
    Constraints: (C1) the shapes are the same; (C2) the element types have one
    width.

    Example:

    ```mlir
    %y = astra.bitcast %x : (!astra.tensor<f32, [n]>) -> !astra.tensor<ui32, [n]>
    ```
  }];
}

#endif // ASTRA_ELEMENTWISE_OPS_TD
