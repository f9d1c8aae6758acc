// Each constraint of linear algebra, broken.
// RUN: astra-opt %s -split-input-file -verify-diagnostics

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>) {
  // expected-error @+1 {{(C1) the matrices are not square}}
  %0 = astra.cholesky %a : !astra.tensor<f64, [n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>) {
  // expected-error @+1 {{(C1) the matrices are not square}}
  %0 = astra.inv %a : !astra.tensor<f64, [n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>) {
  // expected-error @+1 {{(C1) the matrices are not square}}
  %0 = astra.cofactor %a : !astra.tensor<f64, [n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f16, [n, n]>) {
  // expected-error @+1 {{must be matrices of f32 or f64}}
  %0 = astra.inv %a : !astra.tensor<f16, [n, n]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f32, [n]>) {
  // expected-error @+1 {{must be matrices of f32 or f64}}
  %0 = astra.det %a : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, []>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>) {
  // expected-error @+2 {{(C1) the matrices are not square}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.det %a : (!astra.tensor<f64, [n, k]>) -> !astra.tensor<f64, []>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>) {
  // expected-error @+2 {{(C1) the matrices are not square}}
  // expected-error @+1 {{failed to infer returned types}}
  %0, %1 = astra.slogdet %a : (!astra.tensor<f64, [n, k]>) -> (!astra.tensor<f64, []>, !astra.tensor<f64, []>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>) {
  // expected-error @+2 {{(C1) the matrices are not square}}
  // expected-error @+1 {{failed to infer returned types}}
  %0, %1 = astra.eigh %a : (!astra.tensor<f64, [n, k]>) -> (!astra.tensor<f64, [k]>, !astra.tensor<f64, [n, k]>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>, %b: !astra.tensor<f64, [n, k]>) {
  // expected-error @+2 {{(C1) the matrices are not square}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve %a, %b : (!astra.tensor<f64, [n, k]>, !astra.tensor<f64, [n, k]>) -> !astra.tensor<f64, [n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, n]>, %b: !astra.tensor<f64, [k, m]>) {
  // expected-error @+2 {{(C2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve %a, %b : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [k, m]>) -> !astra.tensor<f64, [k, m]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, n]>, %b: !astra.tensor<f32, [n, k]>) {
  // expected-error @+2 {{(C2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve %a, %b : (!astra.tensor<f64, [n, n]>, !astra.tensor<f32, [n, k]>) -> !astra.tensor<f32, [n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, n]>, %b: !astra.tensor<f64, [b, n, k]>) {
  // expected-error @+2 {{(C2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve %a, %b : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [b, n, k]>) -> !astra.tensor<f64, [b, n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>, %b: !astra.tensor<f64, [n, k]>) {
  // expected-error @+2 {{(C1) the matrices are not square}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve_triangular %a, %b : (!astra.tensor<f64, [n, k]>, !astra.tensor<f64, [n, k]>) -> !astra.tensor<f64, [n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, n]>, %b: !astra.tensor<f64, [k, m]>) {
  // expected-error @+2 {{(C2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve_triangular %a, %b : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [k, m]>) -> !astra.tensor<f64, [k, m]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, n]>, %b: !astra.tensor<f32, [n, k]>) {
  // expected-error @+2 {{(C2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve_triangular %a, %b : (!astra.tensor<f64, [n, n]>, !astra.tensor<f32, [n, k]>) -> !astra.tensor<f32, [n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, n]>, %b: !astra.tensor<f64, [b, n, k]>) {
  // expected-error @+2 {{(C2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.solve_triangular %a, %b : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [b, n, k]>) -> !astra.tensor<f64, [b, n, k]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>, %b: !astra.tensor<f64, [k, m]>) {
  // expected-error @+2 {{(C1)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = astra.lstsq %a, %b : (!astra.tensor<f64, [n, k]>, !astra.tensor<f64, [k, m]>) -> !astra.tensor<f64, [k, m]>
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [4, 3]>) {
  // expected-error @+1 {{(C1) these are not}}
  %0, %1 = astra.qr %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 4]>, !astra.tensor<f64, [4, 3]>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [4, 3]>) {
  // expected-error @+1 {{(C1) these are not}}
  %0, %1 = astra.qr %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 3]>, !astra.tensor<f64, [4, 3]>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [n, k]>) {
  // expected-error @+1 {{(C1) these are not}}
  %0, %1 = astra.qr %a : (!astra.tensor<f64, [n, k]>) -> (!astra.tensor<f64, [n, k]>, !astra.tensor<f64, [k, n]>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [4, 3]>) {
  // expected-error @+1 {{(C2) the element types differ}}
  %0, %1 = astra.qr %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 3]>, !astra.tensor<f32, [3, 3]>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [4, 3]>) {
  // expected-error @+1 {{(C1) these are not}}
  %0, %1, %2 = astra.svd %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 3]>, !astra.tensor<f64, [4]>, !astra.tensor<f64, [3, 3]>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [4, 3]>) {
  // expected-error @+1 {{(C1) these are not}}
  %0, %1, %2 = astra.svd %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 4]>, !astra.tensor<f64, [4]>, !astra.tensor<f64, [4, 3]>)
  return
}

// -----

func.func @f(%a: !astra.tensor<f64, [4, 3]>) {
  // expected-error @+1 {{(C2) the element types differ}}
  %0, %1, %2 = astra.svd %a : (!astra.tensor<f64, [4, 3]>) -> (!astra.tensor<f64, [4, 3]>, !astra.tensor<f32, [3]>, !astra.tensor<f64, [3, 3]>)
  return
}
