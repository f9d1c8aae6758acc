// The derivatives of linear algebra have only the parts that are needed.
// RUN: astra-opt %s -astra-differentiate -cse | FileCheck %s

// The gradient of eigenvalues makes no quotients of differences.
// CHECK-LABEL: func.func @eigenvalues
// CHECK: %[[W:.*]], %[[V:.*]] = astra.eigh
// CHECK-NEXT: %[[D:.*]] = astra.broadcast %{{.*}} {axes = array<i64: 1>}
// CHECK-NEXT: %[[S:.*]] = astra.mul %[[V]], %[[D]]
// CHECK-NEXT: %[[G:.*]] = astra.contract %[[S]], %[[V]]
// CHECK-NEXT: return %[[G]]
func.func @eigenvalues(%a: !astra.tensor<f64, [n, n]>, %dw: !astra.tensor<f64, [n]>) -> !astra.tensor<f64, [n, n]> {
  %out:2 = astra.vjp(%a, %dw) args 1 wrt [0] : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [n]>) -> (!astra.tensor<f64, [n]>, !astra.tensor<f64, [n, n]>) {
  ^bb0(%x: !astra.tensor<f64, [n, n]>):
    %w, %v = astra.eigh %x : (!astra.tensor<f64, [n, n]>) -> (!astra.tensor<f64, [n]>, !astra.tensor<f64, [n, n]>)
    astra.yield %w : !astra.tensor<f64, [n]>
  }
  return %out#1 : !astra.tensor<f64, [n, n]>
}

// That of singular values neither.
// CHECK-LABEL: func.func @singular_values
// CHECK: astra.svd
// CHECK-NOT: astra.div
// CHECK-NOT: astra.select
// CHECK: return
func.func @singular_values(%a: !astra.tensor<f64, [n, n]>, %ds: !astra.tensor<f64, [n]>) -> !astra.tensor<f64, [n, n]> {
  %out:2 = astra.vjp(%a, %ds) args 1 wrt [0] : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [n]>) -> (!astra.tensor<f64, [n]>, !astra.tensor<f64, [n, n]>) {
  ^bb0(%x: !astra.tensor<f64, [n, n]>):
    %u, %s, %vt = astra.svd %x : (!astra.tensor<f64, [n, n]>) -> (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [n]>, !astra.tensor<f64, [n, n]>)
    astra.yield %s : !astra.tensor<f64, [n]>
  }
  return %out#1 : !astra.tensor<f64, [n, n]>
}

// A right-hand side alone: one more solution, and no product for the matrix.
// CHECK-LABEL: func.func @right_side
// CHECK: astra.transpose
// CHECK: astra.solve
// CHECK-NOT: astra.contract
// CHECK: return
func.func @right_side(%a: !astra.tensor<f64, [n, n]>, %b: !astra.tensor<f64, [n, 2]>) -> !astra.tensor<f64, [n, 2]> {
  %out:2 = astra.vjp(%b, %b) args 1 wrt [0] : (!astra.tensor<f64, [n, 2]>, !astra.tensor<f64, [n, 2]>) -> (!astra.tensor<f64, [n, 2]>, !astra.tensor<f64, [n, 2]>) {
  ^bb0(%y: !astra.tensor<f64, [n, 2]>):
    %x = astra.solve %a, %y : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [n, 2]>) -> !astra.tensor<f64, [n, 2]>
    astra.yield %x : !astra.tensor<f64, [n, 2]>
  }
  return %out#1 : !astra.tensor<f64, [n, 2]>
}
