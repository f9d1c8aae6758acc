// RUN: astra-opt %s --astra-fuse --astra-calls | FileCheck %s

// A product and the kernel that alone reads it are one call: bias, activation. No
// memory is wanted for the product; the kernel has it as its argument 0.
// CHECK-LABEL: func.func @layer
// CHECK-SAME: calls.workspace = "0"
// CHECK-NOT: calls.alloc
// CHECK: %[[B:.*]] = calls.view %arg2
// CHECK-NEXT: calls.kernel "contract_map_f32" version 1(%arg0, %arg1, %[[B]]) -> (%arg3) params [@fused_0, 0, 0, 1]
// CHECK-NEXT: return
func.func @layer(%x: !astra.tensor<f32, [n, k]>, %w: !astra.tensor<f32, [k, m]>, %b: !astra.tensor<f32, [m]>) -> !astra.tensor<f32, [n, m]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %y = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  %bias = astra.broadcast %b {axes = array<i64: 1>} : (!astra.tensor<f32, [m]>) -> !astra.tensor<f32, [n, m]>
  %z = astra.add %y, %bias : !astra.tensor<f32, [n, m]>
  %r = astra.relu %z : !astra.tensor<f32, [n, m]>
  return %r : !astra.tensor<f32, [n, m]>
}

// One operation with a value of the product's size is worth it, whichever of its
// operands the product is; the result may be where that value was.
// CHECK-LABEL: func.func @residual
// CHECK-SAME: calls.donations = array<i64: 0, 2>
// CHECK: calls.kernel "contract_map_f64" version 1(%arg0, %arg1, %arg2) -> (%arg3) params [@fused_1, 1, 0, 1]
// CHECK-NEXT: return
func.func @residual(%x: !astra.tensor<f64, [n, k]>, %w: !astra.tensor<f64, [k, m]>, %s: !astra.tensor<f64, [n, m]>) -> !astra.tensor<f64, [n, m]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %y = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f64, [n, k]>, !astra.tensor<f64, [k, m]>) -> !astra.tensor<f64, [n, m]>
  %r = astra.sub %s, %y : !astra.tensor<f64, [n, m]>
  return %r : !astra.tensor<f64, [n, m]>
}

// Where the value is an operand of the product too, the result may not lie there.
// CHECK-LABEL: func.func @square
// CHECK-NOT: calls.donations
// CHECK: calls.kernel "contract_map_f64" version 1(%arg0, %arg0, %arg0) -> (%arg1)
func.func @square(%x: !astra.tensor<f64, [n, n]>) -> !astra.tensor<f64, [n, n]> attributes {astra.export = {dims = ["n"]}} {
  %y = astra.contract %x, %x {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f64, [n, n]>, !astra.tensor<f64, [n, n]>) -> !astra.tensor<f64, [n, n]>
  %r = astra.sub %x, %y : !astra.tensor<f64, [n, n]>
  return %r : !astra.tensor<f64, [n, n]>
}

// Of two products the last one is taken; a bias alone is added by its kernel.
// CHECK-LABEL: func.func @gated
// CHECK: calls.kernel "contract_f32" version 1(%arg0, %arg1) -> (%[[A:[0-9]+]])
// CHECK: calls.kernel "contract_map_f32" version 1(%arg0, %arg2, %[[A]]) -> (%{{.*}}) params [@fused_2, 1, 0, 1]
// CHECK: calls.kernel "contract_f32"
// CHECK: calls.kernel "add_f32"
func.func @gated(%x: !astra.tensor<f32, [n, k]>, %v: !astra.tensor<f32, [k, m]>, %w: !astra.tensor<f32, [k, m]>, %u: !astra.tensor<f32, [m, k]>, %b: !astra.tensor<f32, [k]>) -> !astra.tensor<f32, [n, k]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %y = astra.contract %x, %v {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  %z = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  %g = astra.relu %y : !astra.tensor<f32, [n, m]>
  %h = astra.mul %g, %z : !astra.tensor<f32, [n, m]>
  %o = astra.contract %h, %u {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, m]>, !astra.tensor<f32, [m, k]>) -> !astra.tensor<f32, [n, k]>
  %bias = astra.broadcast %b {axes = array<i64: 1>} : (!astra.tensor<f32, [k]>) -> !astra.tensor<f32, [n, k]>
  %r = astra.add %o, %bias : !astra.tensor<f32, [n, k]>
  return %r : !astra.tensor<f32, [n, k]>
}

// Convolutions likewise.
// CHECK-LABEL: func.func @convolution
// CHECK: calls.kernel "conv_map_f32" version 1({{.*}}) -> (%arg2) params [@fused_3, 0, 3, 2]
func.func @convolution(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 8]> attributes {astra.export = {dims = ["n"]}} {
  %c = astra.constant 2.0 : f32 -> !astra.tensor<f32, [n, 16, 8]>
  %y = astra.conv %x, %w {batch = 0 : i64, strides = ["1"], low = ["1"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 8]>
  %z = astra.mul %y, %c : !astra.tensor<f32, [n, 16, 8]>
  %r = astra.relu %z : !astra.tensor<f32, [n, 16, 8]>
  return %r : !astra.tensor<f32, [n, 16, 8]>
}

// Not where something else reads the product, where it is seen in another shape,
// where rows are folded, and where it is of integers.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: contract_map
// CHECK: calls.kernel "contract_f32"
// CHECK: calls.kernel "fused_map"
func.func @read_twice(%x: !astra.tensor<f32, [n, k]>, %w: !astra.tensor<f32, [k, m]>) -> (!astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n, m]>) attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %y = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  %e = astra.exp %y : !astra.tensor<f32, [n, m]>
  %r = astra.relu %e : !astra.tensor<f32, [n, m]>
  return %y, %r : !astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n, m]>
}

// CHECK-LABEL: func.func @other_shape
// CHECK-NOT: contract_map
// CHECK: calls.kernel "fused_map"
func.func @other_shape(%x: !astra.tensor<f32, [n, k]>, %w: !astra.tensor<f32, [k, 6]>) -> !astra.tensor<f32, [n, 2, 3]> attributes {astra.export = {dims = ["n", "k"]}} {
  %y = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, 6]>) -> !astra.tensor<f32, [n, 6]>
  %s = astra.reshape %y : (!astra.tensor<f32, [n, 6]>) -> !astra.tensor<f32, [n, 2, 3]>
  %e = astra.exp %s : !astra.tensor<f32, [n, 2, 3]>
  %r = astra.relu %e : !astra.tensor<f32, [n, 2, 3]>
  return %r : !astra.tensor<f32, [n, 2, 3]>
}

// CHECK-LABEL: func.func @folded
// CHECK-NOT: contract_map
// CHECK: calls.kernel "fused_rows"
func.func @folded(%x: !astra.tensor<f32, [n, k]>, %w: !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %y = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, k]>, !astra.tensor<f32, [k, m]>) -> !astra.tensor<f32, [n, m]>
  %e = astra.exp %y : !astra.tensor<f32, [n, m]>
  %s = astra.sum %e {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
  return %s : !astra.tensor<f32, [n]>
}

// CHECK-LABEL: func.func @integers
// CHECK-NOT: contract_map
// CHECK: calls.kernel "fused_map"
func.func @integers(%x: !astra.tensor<i32, [n, k]>, %w: !astra.tensor<i32, [k, m]>) -> !astra.tensor<i32, [n, m]> attributes {astra.export = {dims = ["n", "k", "m"]}} {
  %y = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<i32, [n, k]>, !astra.tensor<i32, [k, m]>) -> !astra.tensor<i32, [n, m]>
  %a = astra.add %y, %y : !astra.tensor<i32, [n, m]>
  %r = astra.mul %a, %a : !astra.tensor<i32, [n, m]>
  return %r : !astra.tensor<i32, [n, m]>
}
