// RUN: astra-opt %s --astra-calls | FileCheck %s

// A chain needs no place, however long it is: each value is written over the one
// before, and all where the result goes. That may be written over the argument.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, [n], [1]>)
// CHECK-SAME: calls.donations = array<i64: 0, 0>
// CHECK-SAME: calls.workspace = "0"
// CHECK: calls.kernel "exp_f32" version {{[0-9]+}}(%arg0) -> (%[[OUT]])
// CHECK-COUNT-4: calls.kernel "exp_f32" version {{[0-9]+}}(%[[OUT]]) -> (%[[OUT]])
func.func @chain(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
  %a = astra.exp %x : !astra.tensor<f32, [n]>
  %b = astra.exp %a : !astra.tensor<f32, [n]>
  %c = astra.exp %b : !astra.tensor<f32, [n]>
  %d = astra.exp %c : !astra.tensor<f32, [n]>
  %e = astra.exp %d : !astra.tensor<f32, [n]>
  return %e : !astra.tensor<f32, [n]>
}

// Places of their own: of a chain of which nothing goes out.
// CHECK-LABEL: func.func @summed
// CHECK-SAME: calls.workspace = "4*n + 64"
// CHECK: calls.alloc at "0"
// CHECK: calls.alloc at "0"
// CHECK: return
func.func @summed(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> attributes {astra.export = {dims = ["n"]}} {
  %a = astra.exp %x : !astra.tensor<f32, [n]>
  %b = astra.exp %a : !astra.tensor<f32, [n]>
  %s = astra.sum %b {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, []>
  return %s : !astra.tensor<f32, []>
}

// What is subtracted is not made where the result goes: that is to be written
// over an argument which is read until the end.
// CHECK-LABEL: func.func @step
// CHECK-SAME: calls.donations = array<i64: 0, 0, 0, 1>
// CHECK-SAME: calls.workspace = "4*n + 64"
// CHECK: %[[G:.*]] = calls.alloc at "0"
// CHECK: calls.kernel "exp_f32" {{.*}} -> (%[[G]])
func.func @step(%p: !astra.tensor<f32, [n]>, %x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
  %g = astra.exp %x : !astra.tensor<f32, [n]>
  %q = astra.sub %p, %g : !astra.tensor<f32, [n]>
  return %q : !astra.tensor<f32, [n]>
}

// A view keeps the memory that it looks at.
// CHECK-LABEL: func.func @seen
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, [3, 2], [2, 1]>)
// CHECK: %[[A:.*]] = calls.alloc at "0"
// CHECK: calls.view %[[A]]
// CHECK: calls.kernel "exp_f32" {{.*}} -> (%[[OUT]])
// CHECK: calls.kernel "add_f32" {{.*}} -> (%[[OUT]])
func.func @seen(%x: !astra.tensor<f32, [2, 3]>) -> !astra.tensor<f32, [3, 2]> attributes {astra.export = {dims = []}} {
  %a = astra.exp %x : !astra.tensor<f32, [2, 3]>
  %t = astra.transpose %a {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [2, 3]>) -> !astra.tensor<f32, [3, 2]>
  %b = astra.exp %t : !astra.tensor<f32, [3, 2]>
  %c = astra.add %b, %t : !astra.tensor<f32, [3, 2]>
  return %c : !astra.tensor<f32, [3, 2]>
}

// What a loop reads from outside lives until the loop ends: `a` and the buffer
// inside share nothing. The state is in the result's memory.
// CHECK-LABEL: func.func @outside
// CHECK-SAME: calls.workspace = "128"
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

// The update of a value that dies copies nothing but the part, also in a loop.
// CHECK-LABEL: func.func @updated
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, [n], [1]>)
// CHECK-SAME: calls.donations = array<i64: 0, 0>
// CHECK: calls.kernel "copy_b32" {{.*}} -> (%[[OUT]])
// CHECK: scf.for
// CHECK-NOT: calls.kernel {{.*}} -> (%[[OUT]])
// CHECK: %[[PART:.*]] = calls.view %[[OUT]]
// CHECK-NOT: calls.kernel {{.*}} -> (%[[OUT]])
// CHECK: calls.kernel "copy_b32" {{.*}} -> (%[[PART]])
// CHECK-NOT: calls.kernel
// CHECK: return
func.func @updated(%x: !astra.tensor<f32, [n]>, %k: !astra.tensor<i64, []>, %v: !astra.tensor<f32, [1]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
  %zero = astra.constant 0 : i64 -> !astra.tensor<i64, []>
  %r = astra.for %zero to %k init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  ^bb0(%i: !astra.tensor<i64, []>, %s: !astra.tensor<f32, [n]>):
    %t = astra.update_slice %s, %v, %i {starts = ["0"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [1]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [n]>
    astra.yield %t : !astra.tensor<f32, [n]>
  }
  return %r : !astra.tensor<f32, [n]>
}

// An argument that is read after the result was begun, or is of another type, is
// not written over.
// CHECK-LABEL: func.func @late
// CHECK-NOT: calls.donations
// CHECK: return
func.func @late(%x: !astra.tensor<f32, [n]>, %i: !astra.tensor<i32, [n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) attributes {astra.export = {dims = ["n"]}} {
  %a = astra.exp %x : !astra.tensor<f32, [n]>
  %s = astra.sum %x {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, []>
  return %a, %s : !astra.tensor<f32, [n]>, !astra.tensor<f32, []>
}
