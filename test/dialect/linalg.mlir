// Linear algebra is read and printed; a second pass changes nothing.
// RUN: astra-opt %s | astra-opt | FileCheck %s

// CHECK-LABEL: func.func @square
func.func @square(%a: !astra.tensor<f64, [b, n, n]>, %x: !astra.tensor<f64, [b, n, k]>) {
  // CHECK: astra.cholesky %{{.*}} : !astra.tensor<f64, [b, n, n]>
  %0 = astra.cholesky %a : !astra.tensor<f64, [b, n, n]>
  // CHECK: astra.inv
  %1 = astra.inv %a : !astra.tensor<f64, [b, n, n]>
  // CHECK: astra.cofactor
  %2 = astra.cofactor %a : !astra.tensor<f64, [b, n, n]>
  // CHECK: astra.det %{{.*}} : (!astra.tensor<f64, [b, n, n]>) -> !astra.tensor<f64, [b]>
  %3 = astra.det %a : (!astra.tensor<f64, [b, n, n]>) -> !astra.tensor<f64, [b]>
  // CHECK: %{{.*}}, %{{.*}} = astra.slogdet
  %4, %5 = astra.slogdet %a : (!astra.tensor<f64, [b, n, n]>) -> (!astra.tensor<f64, [b]>, !astra.tensor<f64, [b]>)
  // CHECK: astra.solve %{{.*}}, %{{.*}} : (!astra.tensor<f64, [b, n, n]>, !astra.tensor<f64, [b, n, k]>)
  %6 = astra.solve %a, %x : (!astra.tensor<f64, [b, n, n]>, !astra.tensor<f64, [b, n, k]>) -> !astra.tensor<f64, [b, n, k]>
  // CHECK: astra.solve_triangular %{{.*}}, %{{.*}} {lower, unit_diagonal}
  %7 = astra.solve_triangular %a, %x {lower, unit_diagonal} : (!astra.tensor<f64, [b, n, n]>, !astra.tensor<f64, [b, n, k]>) -> !astra.tensor<f64, [b, n, k]>
  // CHECK: astra.eigh
  %8, %9 = astra.eigh %a : (!astra.tensor<f64, [b, n, n]>) -> (!astra.tensor<f64, [b, n]>, !astra.tensor<f64, [b, n, n]>)
  return
}

// CHECK-LABEL: func.func @thin
func.func @thin(%a: !astra.tensor<f32, ["n + 2", n]>, %x: !astra.tensor<f32, ["n + 2", 3]>) {
  // CHECK: astra.qr
  %0, %1 = astra.qr %a : (!astra.tensor<f32, ["n + 2", n]>) -> (!astra.tensor<f32, ["n + 2", n]>, !astra.tensor<f32, [n, n]>)
  // CHECK: astra.svd
  %2, %3, %4 = astra.svd %a : (!astra.tensor<f32, ["n + 2", n]>) -> (!astra.tensor<f32, ["n + 2", n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n, n]>)
  // CHECK: astra.lstsq
  %5 = astra.lstsq %a, %x : (!astra.tensor<f32, ["n + 2", n]>, !astra.tensor<f32, ["n + 2", 3]>) -> !astra.tensor<f32, [n, 3]>
  return
}
