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
