// RUN: astra-opt %s --astra-calls | FileCheck %s

// A chain needs two places, however long it is: a value is dead when the next but
// one is made.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: calls.workspace = "128*((4*n + 63) / 64) + 64"
// CHECK: calls.alloc at "0"
// CHECK: calls.alloc at "64*((4*n + 63) / 64)"
// CHECK: calls.alloc at "0"
// CHECK: calls.alloc at "64*((4*n + 63) / 64)"
func.func @chain(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
  %a = astra.exp %x : !astra.tensor<f32, [n]>
  %b = astra.exp %a : !astra.tensor<f32, [n]>
  %c = astra.exp %b : !astra.tensor<f32, [n]>
  %d = astra.exp %c : !astra.tensor<f32, [n]>
  %e = astra.exp %d : !astra.tensor<f32, [n]>
  return %e : !astra.tensor<f32, [n]>
}

// A view keeps the memory that it looks at.
// CHECK-LABEL: func.func @seen
// CHECK: %[[A:.*]] = calls.alloc at "0"
// CHECK: calls.view %[[A]]
// CHECK: calls.alloc at "64"
// CHECK: calls.kernel "add_f32"
func.func @seen(%x: !astra.tensor<f32, [2, 3]>) -> !astra.tensor<f32, [3, 2]> attributes {astra.export = {dims = []}} {
  %a = astra.exp %x : !astra.tensor<f32, [2, 3]>
  %t = astra.transpose %a {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [2, 3]>) -> !astra.tensor<f32, [3, 2]>
  %b = astra.exp %t : !astra.tensor<f32, [3, 2]>
  %c = astra.add %b, %t : !astra.tensor<f32, [3, 2]>
  return %c : !astra.tensor<f32, [3, 2]>
}

// What a loop reads from outside lives until the loop ends: three buffers of 8
// bytes (the state's two and `a`) and the one inside, none shared.
// CHECK-LABEL: func.func @outside
// CHECK-SAME: calls.workspace = "320"
func.func @outside(%x: !astra.tensor<f32, [2]>, %k: !astra.tensor<i64, []>) -> !astra.tensor<f32, [2]> attributes {astra.export = {dims = []}} {
  %zero = astra.constant 0 : i64 -> !astra.tensor<i64, []>
  %a = astra.exp %x : !astra.tensor<f32, [2]>
  %r = astra.for %zero to %k init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, [2]>) -> !astra.tensor<f32, [2]> {
  ^bb0(%i: !astra.tensor<i64, []>, %s: !astra.tensor<f32, [2]>):
    %t = astra.add %s, %a : !astra.tensor<f32, [2]>
    %u = astra.exp %t : !astra.tensor<f32, [2]>
    astra.yield %u : !astra.tensor<f32, [2]>
  }
  return %r : !astra.tensor<f32, [2]>
}
