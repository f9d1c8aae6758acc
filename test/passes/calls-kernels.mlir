// RUN: astra-opt %s --astra-calls | FileCheck %s

// Results are written where they go, and what one is computed from in place too.
// CHECK-LABEL: func.func @layer
// CHECK-SAME: %[[X:[^:]*]]: {{[^%]*}} %[[W:[^:]*]]: {{[^%]*}} %[[OUT:[^:]*]]:
// CHECK-NOT: calls.alloc
// CHECK: calls.kernel "contract_f32" version {{[0-9]+}}(%[[X]], %[[W]]) -> (%[[OUT]]) params [0, 1]
// CHECK: calls.kernel "relu_f32" version {{[0-9]+}}(%[[OUT]]) -> (%[[OUT]]) params []
func.func @layer(%x: !astra.tensor<f32, [n, 4]>, %w: !astra.tensor<f32, [4, 3]>) -> !astra.tensor<f32, [n, 3]> attributes {astra.export = {dims = ["n"]}} {
  %p = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, 4]>, !astra.tensor<f32, [4, 3]>) -> !astra.tensor<f32, [n, 3]>
  %r = astra.relu %p : !astra.tensor<f32, [n, 3]>
  return %r : !astra.tensor<f32, [n, 3]>
}

// The kernel takes [batch, free, contracted] and [batch, contracted, free].
// CHECK-LABEL: func.func @arranged
// CHECK: calls.view {{.*}} -> <f32, [b, n, 4], ["stride1@0", "stride2@0", "stride0@0"]>
// CHECK: calls.view {{.*}} -> <f32, [b, 4, m], ["stride0@1", "stride2@1", "stride1@1"]>
// CHECK: calls.kernel "contract_f32" {{.*}} params [1, 1]
func.func @arranged(%x: !astra.tensor<f32, [4, b, n]>, %y: !astra.tensor<f32, [b, m, 4]>) -> !astra.tensor<f32, [b, n, m]> attributes {astra.export = {dims = ["b", "n", "m"]}} {
  %p = astra.contract %x, %y {batch_a = array<i64: 1>, batch_b = array<i64: 0>, contract_a = array<i64: 0>, contract_b = array<i64: 2>} : (!astra.tensor<f32, [4, b, n]>, !astra.tensor<f32, [b, m, 4]>) -> !astra.tensor<f32, [b, n, m]>
  return %p : !astra.tensor<f32, [b, n, m]>
}

// Names and parameters of kernels of several kinds.
// CHECK-LABEL: func.func @names
// CHECK: calls.kernel "sum_f32" {{.*}} params [2, 0, 1]
// CHECK: calls.kernel "argmax_f32" {{.*}} params [1]
// CHECK: calls.kernel "convert_i32_i64"
// CHECK: calls.kernel "gather_b32" {{.*}} params [1, 0]
// CHECK: calls.kernel "pow_int_f32" {{.*}} params [3]
func.func @names(%x: !astra.tensor<f32, [n, 4]>, %i: !astra.tensor<i32, [m]>) -> (!astra.tensor<f32, []>, !astra.tensor<i32, [n]>, !astra.tensor<f32, [m, 4]>) attributes {astra.export = {dims = ["n", "m"]}} {
  %s = astra.sum %x {axes = array<i64: 0, 1>} : (!astra.tensor<f32, [n, 4]>) -> !astra.tensor<f32, []>
  %a = astra.argmax %x {axis = 1 : i64} : (!astra.tensor<f32, [n, 4]>) -> !astra.tensor<i32, [n]>
  %g = astra.gather %x, %i {axes = array<i64: 0>} : (!astra.tensor<f32, [n, 4]>, !astra.tensor<i32, [m]>) -> !astra.tensor<f32, [m, 4]>
  %p = astra.pow_int %g, 3 : !astra.tensor<f32, [m, 4]>
  return %s, %a, %p : !astra.tensor<f32, []>, !astra.tensor<i32, [n]>, !astra.tensor<f32, [m, 4]>
}

// Parts are copied into place: one after the other, and inside a border.
// CHECK-LABEL: func.func @joined
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, ["n + 2"], [1]>)
// CHECK: %[[A:.*]] = calls.view %[[OUT]] offset "0" {{.*}} -> <f32, [n], [1]>
// CHECK: calls.kernel "copy_b32" {{.*}} -> (%[[A]])
// CHECK: %[[B:.*]] = calls.view %[[OUT]] offset "n" {{.*}} -> <f32, [2], [1]>
// CHECK: calls.kernel "copy_b32" {{.*}} -> (%[[B]])
func.func @joined(%x: !astra.tensor<f32, [n]>, %y: !astra.tensor<f32, [2]>) -> !astra.tensor<f32, ["n + 2"]> attributes {astra.export = {dims = ["n"]}} {
  %c = astra.concat %x, %y {axis = 0 : i64} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [2]>) -> !astra.tensor<f32, ["n + 2"]>
  return %c : !astra.tensor<f32, ["n + 2"]>
}

// Many columns are copied in blocks of rows, and the rows that are left.
// CHECK-LABEL: func.func @columns
// CHECK: scf.for
// CHECK-COUNT-4: calls.kernel "copy_b32" {{.*}}<f32, [256, 1], {{.*}}<f32, [256, 1], [4, 1]>
// CHECK-COUNT-4: calls.kernel "copy_b32" {{.*}}<f32, ["n % 256", 1], {{.*}}<f32, ["n % 256", 1], [4, 1]>
// CHECK-NOT: calls.kernel
// CHECK: return
!column = !astra.tensor<f32, [n, 1]>
func.func @columns(%x: !column, %y: !column) -> !astra.tensor<f32, [n, 4]> attributes {astra.export = {dims = ["n"]}} {
  %c = astra.concat %x, %y, %y, %x {axis = 1 : i64} : (!column, !column, !column, !column) -> !astra.tensor<f32, [n, 4]>
  return %c : !astra.tensor<f32, [n, 4]>
}

// Scalars that generated code computes exactly need no kernel; exp does.
// CHECK-LABEL: func.func @scalars
// CHECK: arith.addf
// CHECK: arith.cmpf olt
// CHECK: arith.select
// CHECK: calls.kernel "exp_f32"
func.func @scalars(%a: !astra.tensor<f32, []>, %b: !astra.tensor<f32, []>) -> !astra.tensor<f32, []> attributes {astra.export = {dims = []}} {
  %s = astra.add %a, %b : !astra.tensor<f32, []>
  %c = astra.lt %s, %b : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> !astra.tensor<i1, []>
  %m = astra.select %c, %s, %a : (!astra.tensor<i1, []>, !astra.tensor<f32, []>, !astra.tensor<f32, []>) -> !astra.tensor<f32, []>
  %e = astra.exp %m : !astra.tensor<f32, []>
  return %e : !astra.tensor<f32, []>
}

// f16 rounds after each operation: a kernel's work.
// CHECK-LABEL: func.func @halves
// CHECK: calls.kernel "add_f16"
func.func @halves(%a: !astra.tensor<f16, []>, %b: !astra.tensor<f16, []>) -> !astra.tensor<f16, []> attributes {astra.export = {dims = []}} {
  %s = astra.add %a, %b : !astra.tensor<f16, []>
  return %s : !astra.tensor<f16, []>
}
