// RUN: astra-opt %s --astra-fuse=kernels=false | FileCheck %s

// Equal values are shared and unused ones dropped; a check that may fail stays.
// CHECK-LABEL: func.func @share
func.func @share(%x: !astra.tensor<f32, [n]>, %i: !astra.tensor<i64, []>) -> !astra.tensor<f32, [n]> {
  // CHECK: %[[E:.*]] = astra.exp
  // CHECK-NOT: astra.exp
  // CHECK-NOT: astra.tanh
  %a = astra.exp %x : !astra.tensor<f32, [n]>
  %b = astra.exp %x : !astra.tensor<f32, [n]>
  %unused = astra.tanh %x : !astra.tensor<f32, [n]>
  // CHECK: astra.slice
  %checked = astra.slice %x, %i {starts = ["0"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [1]>
  // CHECK: astra.add %[[E]], %[[E]]
  %s = astra.add %a, %b : !astra.tensor<f32, [n]>
  return %s : !astra.tensor<f32, [n]>
}

// What is negated and then summed is summed and taken from +0.
// CHECK-LABEL: func.func @negated
// CHECK-DAG: %[[Z:.*]] = astra.constant 0.0{{.*}} : f32 -> !astra.tensor<f32, [n]>
// CHECK-DAG: %[[S:.*]] = astra.sum %arg0 {axes = array<i64: 0>}
// CHECK: %[[R:.*]] = astra.sub %[[Z]], %[[S]]
// CHECK: return %[[R]]
func.func @negated(%x: !astra.tensor<f32, [m, n]>) -> !astra.tensor<f32, [n]> {
  %g = astra.neg %x : !astra.tensor<f32, [m, n]>
  %s = astra.sum %g {axes = array<i64: 0>} : (!astra.tensor<f32, [m, n]>) -> !astra.tensor<f32, [n]>
  return %s : !astra.tensor<f32, [n]>
}

// Integers wrap either way, and stay as they are.
// CHECK-LABEL: func.func @negated_words
// CHECK: %[[G:.*]] = astra.neg
// CHECK: astra.sum %[[G]]
func.func @negated_words(%x: !astra.tensor<i32, [m, n]>) -> !astra.tensor<i32, [n]> {
  %g = astra.neg %x : !astra.tensor<i32, [m, n]>
  %s = astra.sum %g {axes = array<i64: 0>} : (!astra.tensor<i32, [m, n]>) -> !astra.tensor<i32, [n]>
  return %s : !astra.tensor<i32, [n]>
}
