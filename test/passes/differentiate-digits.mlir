// The gradient of the digits network, operation by operation.
// RUN: astra-opt %s -astra-differentiate | FileCheck %s



// A careful person's gradient of a network with one hidden layer: two products
// for the second layer, one for the first, nothing for the data.
// CHECK-LABEL: func.func @digits
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}%[[ARG2:.*]]: {{.*}}%[[ARG3:.*]]: {{.*}}%[[ARG4:.*]]: {{.*}}%[[ARG5:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, [n, 32]>
// CHECK-NEXT: %[[V1:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, [n, 10]>
// CHECK-NEXT: %[[V2:.*]] = astra.constant -1.000000e+00 : f32 -> !astra.tensor<f32, []>
// CHECK-NEXT: %[[V3:.*]] = astra.contract %[[ARG0]], %[[ARG1]] {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = astra.broadcast %[[ARG2]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = astra.add %[[V3]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = astra.relu %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = astra.contract %[[V6]], %[[ARG3]] {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = astra.broadcast %[[ARG4]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V9:.*]] = astra.add %[[V7]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = astra.log_softmax %[[V9]] {axis = 1 : i64}
// CHECK-NEXT: %[[V11:.*]] = astra.iota {axis = 0 : i64} -> !astra.tensor<i64, [n]>
// CHECK-NEXT: %[[V12:.*]] = astra.convert %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = astra.gather %[[V10]], %[[V12]], %[[ARG5]] {axes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V14:.*]] = astra.sum %[[V13]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V15:.*]] = astra.dim "n" -> !astra.tensor<i64, []>
// CHECK-NEXT: %[[V16:.*]] = astra.convert %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = astra.div %[[V14]], %[[V16]]
// CHECK-NEXT: %[[V18:.*]] = astra.neg %[[V17]]
// CHECK-NEXT: %[[V19:.*]] = astra.div %[[V2]], %[[V16]]
// CHECK-NEXT: %[[V20:.*]] = astra.broadcast %[[V19]] {axes = array<i64>}
// CHECK-NEXT: %[[V21:.*]] = astra.scatter %[[V1]], %[[V20]], %[[V12]], %[[ARG5]] {add, axes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V22:.*]] = astra.exp %[[V10]]
// CHECK-NEXT: %[[V23:.*]] = astra.sum %[[V21]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V24:.*]] = astra.broadcast %[[V23]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V25:.*]] = astra.mul %[[V22]], %[[V24]]
// CHECK-NEXT: %[[V26:.*]] = astra.sub %[[V21]], %[[V25]]
// CHECK-NEXT: %[[V27:.*]] = astra.sum %[[V26]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V28:.*]] = astra.contract %[[V26]], %[[ARG3]] {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 1>}
// CHECK-NEXT: %[[V29:.*]] = astra.contract %[[V6]], %[[V26]] {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 0>, contract_b = array<i64: 0>}
// CHECK-NEXT: %[[V30:.*]] = astra.le %[[V5]], %[[V0]]
// CHECK-NEXT: %[[V31:.*]] = astra.select %[[V30]], %[[V0]], %[[V28]]
// CHECK-NEXT: %[[V32:.*]] = astra.sum %[[V31]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V33:.*]] = astra.contract %[[ARG0]], %[[V31]] {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 0>, contract_b = array<i64: 0>}
// CHECK-NEXT: return %[[V18]], %[[V33]], %[[V32]], %[[V29]], %[[V27]]
// CHECK-NEXT: }
func.func @digits(%x: !astra.tensor<f32, [n, 64]>, %w1: !astra.tensor<f32, [64, 32]>, %b1: !astra.tensor<f32, [32]>, %w2: !astra.tensor<f32, [32, 10]>, %b2: !astra.tensor<f32, [10]>, %y: !astra.tensor<i32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [64, 32]>, !astra.tensor<f32, [32]>, !astra.tensor<f32, [32, 10]>, !astra.tensor<f32, [10]>) {
  %one = astra.constant 1.0 : f32 -> !astra.tensor<f32, []>
  %r:5 = astra.vjp(%w1, %b1, %w2, %b2, %one) args 4 wrt [0, 1, 2, 3] : (!astra.tensor<f32, [64, 32]>, !astra.tensor<f32, [32]>, !astra.tensor<f32, [32, 10]>, !astra.tensor<f32, [10]>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [64, 32]>, !astra.tensor<f32, [32]>, !astra.tensor<f32, [32, 10]>, !astra.tensor<f32, [10]>) {
  ^bb0(%a: !astra.tensor<f32, [64, 32]>, %b: !astra.tensor<f32, [32]>, %c: !astra.tensor<f32, [32, 10]>, %d: !astra.tensor<f32, [10]>):
    %0 = astra.contract %x, %a {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [64, 32]>) -> !astra.tensor<f32, [n, 32]>
    %1 = astra.broadcast %b {axes = array<i64: 1>} : (!astra.tensor<f32, [32]>) -> !astra.tensor<f32, [n, 32]>
    %2 = astra.add %0, %1 : !astra.tensor<f32, [n, 32]>
    %3 = astra.relu %2 : !astra.tensor<f32, [n, 32]>
    %4 = astra.contract %3, %c {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, 32]>, !astra.tensor<f32, [32, 10]>) -> !astra.tensor<f32, [n, 10]>
    %5 = astra.broadcast %d {axes = array<i64: 1>} : (!astra.tensor<f32, [10]>) -> !astra.tensor<f32, [n, 10]>
    %6 = astra.add %4, %5 : !astra.tensor<f32, [n, 10]>
    %7 = astra.log_softmax %6 {axis = 1 : i64} : !astra.tensor<f32, [n, 10]>
    %i = astra.iota {axis = 0 : i64} -> !astra.tensor<i64, [n]>
    %i32 = astra.convert %i : (!astra.tensor<i64, [n]>) -> !astra.tensor<i32, [n]>
    %8 = astra.gather %7, %i32, %y {axes = array<i64: 0, 1>} : (!astra.tensor<f32, [n, 10]>, !astra.tensor<i32, [n]>, !astra.tensor<i32, [n]>) -> !astra.tensor<f32, [n]>
    %9 = astra.sum %8 {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, []>
    %10 = astra.dim "n" -> !astra.tensor<i64, []>
    %11 = astra.convert %10 : (!astra.tensor<i64, []>) -> !astra.tensor<f32, []>
    %12 = astra.div %9, %11 : !astra.tensor<f32, []>
    %13 = astra.neg %12 : !astra.tensor<f32, []>
    astra.yield %13 : !astra.tensor<f32, []>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !astra.tensor<f32, []>, !astra.tensor<f32, [64, 32]>, !astra.tensor<f32, [32]>, !astra.tensor<f32, [32, 10]>, !astra.tensor<f32, [10]>
}
