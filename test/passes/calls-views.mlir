// RUN: astra-opt %s --astra-calls | FileCheck %s

// Views move no data: one copy at the end brings the elements into the result.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[X:.*]]: !calls.view<f32, [n, 3], ["stride0@0", "stride1@0"]>, %[[Y:.*]]: !calls.view<f32, [3, n], [n, 1]>
// CHECK-SAME: calls.outputs = 1
// CHECK-SAME: calls.workspace = "0"
// CHECK-NEXT: %[[T:.*]] = calls.view %[[X]] offset "0" steps [] : {{.*}} -> <f32, [3, n], ["stride1@0", "stride0@0"]>
// CHECK-NEXT: calls.kernel "copy_b32" version {{[0-9]+}}(%[[T]]) -> (%[[Y]])
// CHECK-NEXT: return
func.func @transposed(%x: !astra.tensor<f32, [n, 3]>) -> !astra.tensor<f32, [3, n]> attributes {astra.export = {dims = ["n"]}} {
  %y = astra.transpose %x {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [n, 3]>) -> !astra.tensor<f32, [3, n]>
  return %y : !astra.tensor<f32, [3, n]>
}

// A stretched axis has stride 0, a reversed one a negative stride and an offset.
// CHECK-LABEL: func.func @stretched
// CHECK: calls.view {{.*}} offset "0" {{.*}} -> <f32, [n, 4], [0, "stride0@0"]>
// CHECK: calls.view {{.*}} offset "3*stride0@0" {{.*}} -> <f32, [n, 4], [0, "-stride0@0"]>
func.func @stretched(%x: !astra.tensor<f32, [4]>) -> !astra.tensor<f32, [n, 4]> attributes {astra.export = {dims = ["n"]}} {
  %y = astra.broadcast %x {axes = array<i64: 1>} : (!astra.tensor<f32, [4]>) -> !astra.tensor<f32, [n, 4]>
  %z = astra.flip %y {axes = array<i64: 1>} : !astra.tensor<f32, [n, 4]>
  return %z : !astra.tensor<f32, [n, 4]>
}

// A run-time start is checked before it is used.
// CHECK-LABEL: func.func @part
// CHECK: %[[K:.*]] = calls.load
// CHECK: calls.check_range %[[K]] size "2" extent "n" axis 0
// CHECK: calls.view {{.*}} indices(%[[K]]) steps ["stride0@0"]
func.func @part(%x: !astra.tensor<f32, [n]>, %k: !astra.tensor<i64, []>) -> !astra.tensor<f32, [2]> attributes {astra.export = {dims = ["n"]}} {
  %y = astra.slice %x, %k {starts = ["0"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [2]>
  return %y : !astra.tensor<f32, [2]>
}

// Elements in another order than rows cannot be reshaped where they are: they
// are copied, at once to where the result goes.
// CHECK-LABEL: func.func @flattened
// CHECK: %[[D:.*]] = calls.view %arg1 {{.*}} -> <f32, [4, 3], [3, 1]>
// CHECK: calls.kernel "copy_b32" {{.*}} -> (%[[D]])
// CHECK-NOT: calls.kernel
// CHECK: return
func.func @flattened(%x: !astra.tensor<f32, [3, 4]>) -> !astra.tensor<f32, [12]> attributes {astra.export = {dims = []}} {
  %t = astra.transpose %x {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [3, 4]>) -> !astra.tensor<f32, [4, 3]>
  %y = astra.reshape %t : (!astra.tensor<f32, [4, 3]>) -> !astra.tensor<f32, [12]>
  return %y : !astra.tensor<f32, [12]>
}

// Axes beside those that are reshaped keep their strides: heads of a slice.
// CHECK-LABEL: func.func @heads
// CHECK: %[[S:.*]] = calls.view %arg0 {{.*}} -> <f32, [t, d], ["stride0@0", "stride1@0"]>
// CHECK: %[[H:.*]] = calls.view %[[S]] {{.*}} -> <f32, [t, 8, "d / 8"], ["stride0@0", "stride1@0*(d / 8)", "stride1@0"]>
// CHECK: calls.kernel "neg_f32" {{.*}}(%[[H]])
// CHECK-NOT: copy
// CHECK: return
func.func @heads(%x: !astra.tensor<f32, [t, "3*d"]>) -> !astra.tensor<f32, [t, 8, "d / 8"]> attributes {astra.export = {dims = ["t", "d"]}} {
  %s = astra.slice %x {starts = ["0", "d"], dynamic_axes = array<i64>} : (!astra.tensor<f32, [t, "3*d"]>) -> !astra.tensor<f32, [t, d]>
  %h = astra.reshape %s : (!astra.tensor<f32, [t, d]>) -> !astra.tensor<f32, [t, 8, "d / 8"]>
  %r = astra.neg %h : !astra.tensor<f32, [t, 8, "d / 8"]>
  return %r : !astra.tensor<f32, [t, 8, "d / 8"]>
}

// Axes that lie one step apart join, whatever is around them.
// CHECK-LABEL: func.func @joined
// CHECK: %[[E:.*]] = calls.alloc {{.*}} : <f32, [2, 3, 4, n], ["12*n", "4*n", n, 1]>
// CHECK: calls.view {{.*}} -> <f32, [2, 12, k], ["12*n", n, 1]>
// CHECK: calls.kernel "neg_f32"
// CHECK-NOT: copy
// CHECK: return
func.func @joined(%x: !astra.tensor<f32, [2, 3, 4, n]>) -> !astra.tensor<f32, [2, 12, k]> attributes {astra.export = {dims = ["n", "k"]}} {
  %e = astra.exp %x : !astra.tensor<f32, [2, 3, 4, n]>
  %s = astra.slice %e {starts = ["0", "0", "0", "0"], dynamic_axes = array<i64>} : (!astra.tensor<f32, [2, 3, 4, n]>) -> !astra.tensor<f32, [2, 3, 4, k]>
  %j = astra.reshape %s : (!astra.tensor<f32, [2, 3, 4, k]>) -> !astra.tensor<f32, [2, 12, k]>
  %r = astra.neg %j : !astra.tensor<f32, [2, 12, k]>
  return %r : !astra.tensor<f32, [2, 12, k]>
}
