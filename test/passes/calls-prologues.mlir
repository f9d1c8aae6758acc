// RUN: astra-opt %s --astra-fuse --astra-calls | FileCheck %s

// The kernel that makes an operand of one product is one call with it: no memory is
// wanted for the operand, whose maker's inputs stand in its place.
// CHECK-LABEL: func.func @activated
// CHECK-SAME: calls.workspace = "0"
// CHECK-NOT: calls.alloc
// CHECK: %[[B:.*]] = calls.view %arg1
// CHECK-NEXT: calls.kernel "map_contract_f32" version 1(%arg0, %[[B]], %arg2) -> (%arg3) params [@fused_0, 0, 0, 1]
// CHECK-NEXT: return
func.func @activated(%x: !astra.tensor<f32, [n, k]>, %b: !astra.tensor<f32, [k]>, %w: !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %bias = astra.broadcast %b {axes = array<i64: 1>} : (!astra.tensor<f32, [k]>) -> !astra.tensor<f32, [n, k]>
  %z = astra.add %x, %bias : !astra.tensor<f32, [n, k]>
  %r = astra.relu %z : !astra.tensor<f32, [n, k]>
  %y = astra.contract %r, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  return %y : !astra.tensor<f32, [n, m]>
}

// One conversion is worth it. The axes of what the operand is made of are those of the
// operand, which the product sees in another order.
// CHECK-LABEL: func.func @converted
// CHECK-SAME: calls.workspace = "0"
// CHECK: %[[W:.*]] = calls.view %arg1 offset "0" steps [] : <f16, [m, k], ["stride0@1", "stride1@1"]> -> <f16, [k, m], ["stride1@1", "stride0@1"]>
// CHECK-NEXT: calls.kernel "map_contract_f32" version 1(%arg0, %[[W]]) -> (%arg2) params [@fused_1, 1, 0, 1]
func.func @converted(%x: !astra.tensor<f32, [n, k]>, %w: !astra.tensor<f16, [m, k]>) -> !astra.tensor<f32, [n, m]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %f = astra.convert %w : (!astra.tensor<f16, [m, k]>) -> !astra.tensor<f32, [m, k]>
  %y = astra.contract %x, %f {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 1>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [m, k]>) -> !astra.tensor<f32, [n, m]>
  return %y : !astra.tensor<f32, [n, m]>
}

// Together with one that takes the result, which may lie where what that reads was, but
// never where what makes the operand reads.
// CHECK-LABEL: func.func @both
// CHECK-SAME: calls.donations = array<i64: 0, 2>
// CHECK: calls.kernel "map_contract_map_f32" version 1(%arg0, %arg1, %arg2) -> (%arg3) params [@fused_{{[0-9]+}}, 0, @fused_{{[0-9]+}}, 1, 0, 1]
func.func @both(%x: !astra.tensor<f32, [n, n]>, %w: !astra.tensor<f32, [n, n]>, %r: !astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]> attributes {astra.export = {dims = ["n"]}} {
  %e = astra.exp %w : !astra.tensor<f32, [n, n]>
  %y = astra.contract %x, %e {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, n]>, !astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]>
  %s = astra.add %y, %r : !astra.tensor<f32, [n, n]>
  return %s : !astra.tensor<f32, [n, n]>
}

// CHECK-LABEL: func.func @alone
// CHECK-NOT: calls.donations
// CHECK: calls.kernel "map_contract_f32" version 1(%arg0, %arg1) -> (%arg2)
func.func @alone(%x: !astra.tensor<f32, [n, n]>, %w: !astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]> attributes {astra.export = {dims = ["n"]}} {
  %e = astra.exp %w : !astra.tensor<f32, [n, n]>
  %y = astra.contract %x, %e {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, n]>, !astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]>
  return %y : !astra.tensor<f32, [n, n]>
}

// Of two operands the right one is made; what comes between two products goes with the
// first.
// CHECK-LABEL: func.func @two
// CHECK: calls.kernel "fused_map"
// CHECK: calls.kernel "map_contract_map_f32"
// CHECK: calls.kernel "contract_f32"
func.func @two(%x: !astra.tensor<f32, [n, k]>, %v: !astra.tensor<f32, [k, m]>, %w: !astra.tensor<f32, [m, k]>) -> !astra.tensor<f32, [n, k]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %a = astra.exp %x : !astra.tensor<f32, [n, k]>
  %b = astra.tanh %v : !astra.tensor<f32, [k, m]>
  %y = astra.contract %a, %b {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  %r = astra.relu %y : !astra.tensor<f32, [n, m]>
  %z = astra.contract %r, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, m]>, !astra.tensor<f32, [m, k]>) -> !astra.tensor<f32, [n, k]>
  return %z : !astra.tensor<f32, [n, k]>
}

// Not where something else reads the operand, where it is both, and where it is of f16.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: map_contract
// CHECK: return
func.func @read_twice(%x: !astra.tensor<f32, [n, k]>, %w: !astra.tensor<f32, [k, m]>) -> (!astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n, k]>) attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %e = astra.exp %x : !astra.tensor<f32, [n, k]>
  %r = astra.relu %e : !astra.tensor<f32, [n, k]>
  %y = astra.contract %r, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  return %y, %r : !astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n, k]>
}

// CHECK-LABEL: func.func @square
// CHECK-NOT: map_contract
// CHECK: return
func.func @square(%x: !astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]> attributes {astra.export = {dims = ["n"]}} {
  %e = astra.exp %x : !astra.tensor<f32, [n, n]>
  %r = astra.relu %e : !astra.tensor<f32, [n, n]>
  %y = astra.contract %r, %r {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, n]>, !astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]>
  return %y : !astra.tensor<f32, [n, n]>
}

// CHECK-LABEL: func.func @small_floats
// CHECK-NOT: map_contract
// CHECK: return
func.func @small_floats(%x: !astra.tensor<f16, [n, k]>, %w: !astra.tensor<f16, [k, m]>) -> !astra.tensor<f16, [n, m]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %e = astra.exp %x : !astra.tensor<f16, [n, k]>
  %r = astra.relu %e : !astra.tensor<f16, [n, k]>
  %y = astra.contract %r, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f16, [n, k]>, !astra.tensor<f16, [k, m]>) -> !astra.tensor<f16, [n, m]>
  return %y : !astra.tensor<f16, [n, m]>
}
