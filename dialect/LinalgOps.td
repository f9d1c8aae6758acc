// Dense linear algebra. Every operation works on the matrices of the last two axes
// and repeats over the axes before them.
#ifndef ASTRA_LINALG_OPS_TD
#define ASTRA_LINALG_OPS_TD

include "dialect/Rules.td"

def Astra_Matrices
    : Type<And<[Astra_Tensor.predicate,
                Or<[CPred<"::llvm::cast<::astra::TensorType>($_self).getElementType().isF32()">,
                    CPred<"::llvm::cast<::astra::TensorType>($_self).getElementType().isF64()">]>,
                CPred<"::llvm::cast<::astra::TensorType>($_self).getRank() >= 2">]>,
           "matrices of f32 or f64", "::astra::TensorType">;

defvar LinalgRules = [LinalgGradient, LinalgBatching, LinalgKernel];

//===- From a matrix to one like it ---------------------------------------===//

class Astra_MatrixMap<string mnemonic, string what, string details,
                      list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat([SameOperandsAndResultType], LinalgRules,
                                     traits)> {
  let summary = what;
  let description = details # [{
Constraints: (C1) the matrices are square.

Example:

```mlir
%y = astra.}] # mnemonic # [{ %a : !astra.tensor<f64, [b, n, n]>
```
  }];
  let arguments = (ins Astra_Matrices:$a);
  let results = (outs Astra_Matrices:$result);
  let assemblyFormat = "$a attr-dict `:` custom<TensorType>(type($result))";
  let hasVerifier = 1;
}

def Astra_CholeskyOp : Astra_MatrixMap<"cholesky",
    "lower triangular factor of a positive definite matrix",
    "L with L transpose(L) = (a + transpose(a)) / 2, the part of a that is symmetric. An error when the program runs if that is not positive definite.",
    [MayFail]>;
def Astra_InvOp : Astra_MatrixMap<"inv", "inverse matrix",
    "An error when the program runs if the matrix is singular.", [MayFail]>;
def Astra_CofactorOp : Astra_MatrixMap<"cofactor", "matrix of cofactors",
    "The derivative of the determinant by each element; right for singular matrices too.",
    [Pure]>;

//===- Determinants -------------------------------------------------------===//

def Astra_DetOp : Astra_Op<"det", !listconcat([Pure, InferTypeOpAdaptor],
                                              LinalgRules)> {
  let summary = "determinant";
  let description = [{
    Of a matrix without rows it is 1. Constraints: (C1) the matrices are square.

    Example:

    ```mlir
    %d = astra.det %a : (!astra.tensor<f64, [b, n, n]>) -> !astra.tensor<f64, [b]>
    ```
  }];
  let arguments = (ins Astra_Matrices:$a);
  let results = (outs Astra_FloatTensor:$result);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Astra_SlogdetOp : Astra_Op<"slogdet", !listconcat([Pure, InferTypeOpAdaptor],
                                                      LinalgRules)> {
  let summary = "sign and logarithm of the magnitude of the determinant";
  let description = [{
    Of a singular matrix they are 0 and -inf. The sign is constant to
    differentiation. Constraints: (C1) the matrices are square.

    Example:

    ```mlir
    %s, %l = astra.slogdet %a : (!astra.tensor<f64, [b, n, n]>) -> (!astra.tensor<f64, [b]>, !astra.tensor<f64, [b]>)
    ```
  }];
  let arguments = (ins Astra_Matrices:$a);
  let results = (outs Astra_FloatTensor:$sign, Astra_FloatTensor:$logabsdet);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

//===- Equations ----------------------------------------------------------===//

class Astra_Solve<string mnemonic, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat([InferTypeOpAdaptor], LinalgRules, traits)> {
  let results = (outs Astra_Matrices:$result);
  let assemblyFormat = [{
    $a `,` $b attr-dict `:` functional-type(operands, results)
  }];
}

def Astra_SolveOp : Astra_Solve<"solve", [MayFail]> {
  let summary = "solution of a x = b";
  let description = [{
    An error when the program runs if a matrix of a is singular. Constraints: (C1)
    the matrices of a are square; (C2) a and b have one element type, the same
    leading axes and the same number of rows.

    Example:

    ```mlir
    %x = astra.solve %a, %b : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [n, k]>) -> !astra.tensor<f64, [n, k]>
    ```
  }];
  let arguments = (ins Astra_Matrices:$a, Astra_Matrices:$b);
}

def Astra_SolveTriangularOp : Astra_Solve<"solve_triangular", [Pure]> {
  let summary = "solution of a x = b for triangular a";
  let description = [{
    Reads the lower triangle of a where `lower` is set, else the upper one; with
    `unit_diagonal` the diagonal is taken to be 1 and not read; with `transpose`
    the triangle is transposed then. A 0 on the diagonal divides as floats do.
    Constraints: (C1) the matrices of a are square; (C2) a and b have one element
    type, the same leading axes and the same number of rows.

    Example:

    ```mlir
    %x = astra.solve_triangular %a, %b {lower} : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [n, k]>) -> !astra.tensor<f64, [n, k]>
    ```
  }];
  let arguments = (ins Astra_Matrices:$a, Astra_Matrices:$b, UnitAttr:$lower,
                       UnitAttr:$transpose, UnitAttr:$unit_diagonal);
}

def Astra_LstsqOp : Astra_Solve<"lstsq", [Pure]> {
  let summary = "shortest solution of least squares";
  let description = [{
    The x for which b - a x is shortest, of those the shortest. Pivots not above
    the largest times the precision and the larger extent count as 0.
    Constraints: (C1) a and b have one element type, the same leading axes and the
    same number of rows.

    Example:

    ```mlir
    %x = astra.lstsq %a, %b : (!astra.tensor<f64, [m, n]>, !astra.tensor<f64, [m, k]>) -> !astra.tensor<f64, [n, k]>
    ```
  }];
  let arguments = (ins Astra_Matrices:$a, Astra_Matrices:$b);
}

//===- Decompositions -----------------------------------------------------===//

class Astra_Decomposition<string mnemonic, list<Trait> traits>
    : Astra_Op<mnemonic, !listconcat(LinalgRules, traits)> {
  let arguments = (ins Astra_Matrices:$a);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Astra_EighOp : Astra_Decomposition<"eigh", [MayFail, InferTypeOpAdaptor]> {
  let summary = "eigenvalues and eigenvectors of a symmetric matrix";
  let description = [{
    Of (a + transpose(a)) / 2, the part of a that is symmetric. The values ascend;
    the vectors are the columns of an orthogonal matrix. An error when the program
    runs if the iteration does not converge. Constraints: (C1) the matrices are
    square.

    Example:

    ```mlir
    %w, %v = astra.eigh %a : (!astra.tensor<f64, [b, n, n]>) -> (!astra.tensor<f64, [b, n]>, !astra.tensor<f64, [b, n, n]>)
    ```
  }];
  let results = (outs Astra_FloatTensor:$values, Astra_Matrices:$vectors);
}

def Astra_QrOp : Astra_Decomposition<"qr", [Pure]> {
  let summary = "orthogonal columns times an upper triangle";
  let description = [{
    For a of m rows and n columns: q has m rows and k columns, r has k rows and n
    columns, with k = min(m, n). Constraints: (C1) the extents of the results are
    those; (C2) the element types are the same.

    Example:

    ```mlir
    %q, %r = astra.qr %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 3]>, !astra.tensor<f64, [3, 3]>)
    ```
  }];
  let results = (outs Astra_Matrices:$q, Astra_Matrices:$r);
  let hasVerifier = 1;
}

def Astra_SvdOp : Astra_Decomposition<"svd", [MayFail]> {
  let summary = "singular values and vectors, thin";
  let description = [{
    For a of m rows and n columns: u has m rows and k columns, s has k elements that
    do not ascend, vt has k rows and n columns, with k = min(m, n). An error when
    the program runs if the iteration does not converge. Constraints: (C1) the
    extents of the results are those; (C2) the element types are the same.

    Example:

    ```mlir
    %u, %s, %vt = astra.svd %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 3]>, !astra.tensor<f64, [3]>, !astra.tensor<f64, [3, 3]>)
    ```
  }];
  let results = (outs Astra_Matrices:$u, Astra_FloatTensor:$s,
                      Astra_Matrices:$vt);
  let hasVerifier = 1;
}

#endif // ASTRA_LINALG_OPS_TD
