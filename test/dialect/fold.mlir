// Folds: each is exact, and no check is lost.
// RUN: astra-opt %s -canonicalize | FileCheck %s

!s = !astra.tensor<f32, []>
!v = !astra.tensor<f32, [n]>
!i = !astra.tensor<i64, []>

// x * 1, x - 0 and x + -0 keep all bits; x + 0 does not (-0).
// CHECK-LABEL: @floats
// CHECK-SAME: (%[[X:.*]]: !astra.tensor<f32, [n]>)
// CHECK: %[[Z:.*]] = astra.constant 0.000000e+00
// CHECK: %[[A:.*]] = astra.add %[[X]], %[[Z]]
// CHECK: return %[[X]], %[[X]], %[[X]], %[[A]], %[[X]]
func.func @floats(%x: !v) -> (!v, !v, !v, !v, !v) {
  %one = astra.constant 1.0 : f32 -> !v
  %zero = astra.constant 0.0 : f32 -> !v
  %minus = astra.constant -0.0 : f32 -> !v
  %0 = astra.mul %x, %one : !v
  %1 = astra.sub %x, %zero : !v
  %2 = astra.add %x, %minus : !v
  %3 = astra.add %x, %zero : !v
  %4 = astra.neg %x : !v
  %5 = astra.neg %4 : !v
  return %0, %1, %2, %3, %5 : !v, !v, !v, !v, !v
}

// Integer division rounds down; the remainder has the divisor's sign.
// CHECK-LABEL: @integers
// CHECK-DAG: %[[Q:.*]] = astra.constant -4 : i64
// CHECK-DAG: %[[R:.*]] = astra.constant 1 : i64
// CHECK-DAG: %[[T:.*]] = astra.constant true
// CHECK: return %[[Q]], %[[R]], %[[T]]
func.func @integers() -> (!i, !i, !astra.tensor<i1, []>) {
  %a = astra.constant -7 : i64 -> !i
  %b = astra.constant 2 : i64 -> !i
  %q = astra.div %a, %b : !i
  %r = astra.rem %a, %b : !i
  %c = astra.lt %a, %b : (!i, !i) -> !astra.tensor<i1, []>
  return %q, %r, %c : !i, !i, !astra.tensor<i1, []>
}

// A division that may fail stays though nobody uses it; one that cannot goes.
// CHECK-LABEL: @checks_stay
// CHECK-NEXT: astra.div
// CHECK-NEXT: astra.slice
// CHECK-NEXT: astra.reshape
// CHECK-NEXT: astra.max
// CHECK-NEXT: return
func.func @checks_stay(%a: !i, %x: !v, %y: !astra.tensor<f32, ["n + 1"]>) {
  %two = astra.constant 2 : i64 -> !i
  %0 = astra.div %a, %a : !i
  %1 = astra.div %a, %two : !i
  %2 = astra.slice %x, %a {starts = ["0"], dynamic_axes = array<i64: 0>} : (!v, !i) -> !astra.tensor<f32, [1]>
  %3 = astra.slice %y {starts = ["1"], dynamic_axes = array<i64>} : (!astra.tensor<f32, ["n + 1"]>) -> !v
  %4 = astra.reshape %x : (!v) -> !astra.tensor<f32, [m]>
  %5 = astra.max %x {axes = array<i64: 0>} : (!v) -> !s
  %6 = astra.max %y {axes = array<i64: 0>} : (!astra.tensor<f32, ["n + 1"]>) -> !s
  return
}

// A counter below the extent is inside: the slice has no effect and goes.
// CHECK-LABEL: @counter_is_inside
// CHECK-NOT: astra.slice
// CHECK: return
func.func @counter_is_inside(%x: !v) {
  %zero = astra.constant 0 : i64 -> !i
  %n = astra.dim "n" -> !i
  astra.for %zero to %n init() : !i, () -> () {
  ^bb0(%t: !i):
    %0 = astra.slice %x, %t {starts = ["0"], dynamic_axes = array<i64: 0>} : (!v, !i) -> !astra.tensor<f32, [1]>
    astra.yield
  }
  return
}

// CHECK-LABEL: @moves
// CHECK-SAME: (%[[X:.*]]: !astra.tensor<f32, [n, 4]>
// CHECK-DAG: %[[C:.*]] = astra.constant 2.000000e+00 : f32 -> !astra.tensor<f32, [n, 4]>
// CHECK-DAG: %[[B:.*]] = astra.broadcast %{{.*}} {axes = array<i64: 2>} : (!astra.tensor<f32, [4]>) -> !astra.tensor<f32, [k, n, 4]>
// CHECK: return %[[X]], %[[C]], %[[B]], %[[X]]
func.func @moves(%x: !astra.tensor<f32, [n, 4]>, %w: !astra.tensor<f32, [4]>) -> (!astra.tensor<f32, [n, 4]>, !astra.tensor<f32, [n, 4]>, !astra.tensor<f32, [k, n, 4]>, !astra.tensor<f32, [n, 4]>) {
  %0 = astra.transpose %x {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [n, 4]>) -> !astra.tensor<f32, [4, n]>
  %1 = astra.transpose %0 {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [4, n]>) -> !astra.tensor<f32, [n, 4]>
  %c = astra.constant 2.0 : f32 -> !s
  %2 = astra.broadcast %c {axes = array<i64>} : (!s) -> !astra.tensor<f32, [n, 4]>
  %3 = astra.broadcast %w {axes = array<i64: 1>} : (!astra.tensor<f32, [4]>) -> !astra.tensor<f32, [n, 4]>
  %4 = astra.broadcast %3 {axes = array<i64: 1, 2>} : (!astra.tensor<f32, [n, 4]>) -> !astra.tensor<f32, [k, n, 4]>
  %5 = astra.reshape %x : (!astra.tensor<f32, [n, 4]>) -> !astra.tensor<f32, ["4*n"]>
  %6 = astra.reshape %5 : (!astra.tensor<f32, ["4*n"]>) -> !astra.tensor<f32, [n, 4]>
  return %1, %2, %4, %6 : !astra.tensor<f32, [n, 4]>, !astra.tensor<f32, [n, 4]>, !astra.tensor<f32, [k, n, 4]>, !astra.tensor<f32, [n, 4]>
}

// CHECK-LABEL: @branches
// CHECK-SAME: (%[[X:.*]]: !astra.tensor<f32, []>, %[[Y:.*]]: !astra.tensor<f32, []>)
// CHECK: return %[[Y]], %[[X]]
func.func @branches(%x: !s, %y: !s) -> (!s, !s) {
  %no = astra.constant false -> !astra.tensor<i1, []>
  %0 = astra.if %no : !astra.tensor<i1, []> -> !s {
    astra.yield %x : !s
  } else {
    astra.yield %y : !s
  }
  %yes = astra.constant true -> !astra.tensor<i1, []>
  %1 = astra.select %yes, %x, %y : (!astra.tensor<i1, []>, !s, !s) -> !s
  return %0, %1 : !s, !s
}

// Concatenations along one axis are one; along another they stay.
// CHECK-LABEL: @joined
// CHECK-SAME: (%[[X:[^:]*]]: {{.*}}, %[[Y:[^:]*]]: {{.*}})
// CHECK: %[[A:.*]] = astra.concat %[[X]], %[[Y]], %[[X]] {axis = 0
// CHECK: %[[B:.*]] = astra.concat %[[A]], %[[A]] {axis = 1
// CHECK: return %[[B]]
func.func @joined(%x: !astra.tensor<f32, [n, 1]>, %y: !astra.tensor<f32, [2, 1]>) -> !astra.tensor<f32, ["2*n + 2", 2]> {
  %0 = astra.concat %x, %y {axis = 0 : i64} : (!astra.tensor<f32, [n, 1]>, !astra.tensor<f32, [2, 1]>) -> !astra.tensor<f32, ["n + 2", 1]>
  %1 = astra.concat %0, %x {axis = 0 : i64} : (!astra.tensor<f32, ["n + 2", 1]>, !astra.tensor<f32, [n, 1]>) -> !astra.tensor<f32, ["2*n + 2", 1]>
  %2 = astra.concat %1, %1 {axis = 1 : i64} : (!astra.tensor<f32, ["2*n + 2", 1]>, !astra.tensor<f32, ["2*n + 2", 1]>) -> !astra.tensor<f32, ["2*n + 2", 2]>
  return %2 : !astra.tensor<f32, ["2*n + 2", 2]>
}
