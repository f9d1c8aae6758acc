// Reverse mode of straight-line code.
// RUN: astra-opt %s -astra-differentiate | FileCheck %s

!s = !astra.tensor<f32, []>
!v = !astra.tensor<f32, [n]>

// What is used several times is summed from its last use to its first.
// CHECK-LABEL: func.func @uses
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.sin %[[ARG0]]
// CHECK-NEXT: %[[V1:.*]] = astra.cos %[[ARG0]]
// CHECK-NEXT: %[[V2:.*]] = astra.mul %[[ARG1]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = astra.mul %[[ARG1]], %[[V0]]
// CHECK-NEXT: %[[V4:.*]] = astra.mul %[[V3]], %[[V0]]
// CHECK-NEXT: %[[V5:.*]] = astra.sub %[[ARG1]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = astra.mul %[[V2]], %[[V1]]
// CHECK-NEXT: %[[V7:.*]] = astra.add %[[V5]], %[[V6]]
// CHECK-NEXT: return %[[V7]]
// CHECK-NEXT: }
func.func @uses(%x: !v, %d: !v) -> !v {
  %r:2 = astra.vjp(%x, %d) args 1 wrt [0] : (!v, !v) -> (!v, !v) {
  ^bb0(%a: !v):
    %p = astra.sin %a : !v
    %q = astra.cos %a : !v
    %y = astra.mul %p, %q : !v
    %z = astra.add %y, %a : !v
    astra.yield %z : !v
  }
  return %r#1 : !v
}

// The element not taken is dropped after the multiplication: no 0 * inf.
// CHECK-LABEL: func.func @untaken
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}%[[ARG2:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, [n]>
// CHECK-NEXT: %[[V1:.*]] = astra.constant 5.000000e-01 : f32 -> !astra.tensor<f32, [n]>
// CHECK-NEXT: %[[V2:.*]] = astra.sqrt %[[ARG0]]
// CHECK-NEXT: %[[V3:.*]] = astra.mul %[[ARG2]], %[[V1]]
// CHECK-NEXT: %[[V4:.*]] = astra.div %[[V3]], %[[V2]]
// CHECK-NEXT: %[[V5:.*]] = astra.select %[[ARG1]], %[[ARG2]], %[[V0]]
// CHECK-NEXT: %[[V6:.*]] = astra.select %[[ARG1]], %[[V0]], %[[V4]]
// CHECK-NEXT: %[[V7:.*]] = astra.add %[[V5]], %[[V6]]
// CHECK-NEXT: return %[[V7]]
// CHECK-NEXT: }
func.func @untaken(%x: !v, %c: !astra.tensor<i1, [n]>, %d: !v) -> !v {
  %r:2 = astra.vjp(%x, %d) args 1 wrt [0] : (!v, !v) -> (!v, !v) {
  ^bb0(%a: !v):
    %p = astra.sqrt %a : !v
    %y = astra.select %c, %a, %p : (!astra.tensor<i1, [n]>, !v, !v) -> !v
    astra.yield %y : !v
  }
  return %r#1 : !v
}

// Equal values are not the same variable: b is a constant to the inner
// derivative, d/db [d/da (a - b)^2] is -2.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 2.000000e+00 : f32 -> !astra.tensor<f32, []>
// CHECK-NEXT: %[[V1:.*]] = astra.mul %[[ARG1]], %[[ARG1]]
// CHECK-NEXT: %[[V2:.*]] = astra.mul %[[V1]], %[[V0]]
// CHECK-NEXT: %[[V3:.*]] = astra.sub %[[V2]], %[[V2]]
// CHECK-NEXT: return %[[V3]]
// CHECK-NEXT: }
func.func @nested(%x: !s, %one: !s) -> !s {
  %r:2 = astra.vjp(%x, %one) args 1 wrt [0] : (!s, !s) -> (!s, !s) {
  ^bb0(%b: !s):
    %q:2 = astra.vjp(%b, %one) args 1 wrt [0] : (!s, !s) -> (!s, !s) {
    ^bb0(%a: !s):
      %e = astra.sub %a, %b : !s
      %f = astra.pow_int %e, 2 : !s
      astra.yield %f : !s
    }
    astra.yield %q#1 : !s
  }
  return %r#1 : !s
}

// A constant and what does not depend on the argument have gradient zero.
// CHECK-LABEL: func.func @constant
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}%[[ARG2:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, [n]>
// CHECK-NEXT: return %[[V0]]
// CHECK-NEXT: }
func.func @constant(%x: !v, %w: !v, %d: !v) -> !v {
  %r:2 = astra.vjp(%x, %d) args 1 wrt [0] : (!v, !v) -> (!v, !v) {
  ^bb0(%a: !v):
    %s = astra.stop_gradient %a : !v
    %y = astra.mul %s, %w : !v
    astra.yield %y : !v
  }
  return %r#1 : !v
}

// Two reads of a tensor make one cotangent, added to in place.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}%[[ARG2:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, []>
// CHECK-NEXT: %[[V1:.*]] = astra.slice %[[ARG0]], %[[ARG1]] {dynamic_axes = array<i64: 0>, starts = ["0"]}
// CHECK-NEXT: %[[V2:.*]] = astra.slice %[[ARG0]] {dynamic_axes = array<i64>, starts = ["2"]}
// CHECK-NEXT: %[[V3:.*]] = astra.pad %[[ARG2]], %[[V0]] {high = ["n - 3"], low = ["2"]}
// CHECK-NEXT: %[[V4:.*]] = astra.update_slice %[[V3]], %[[ARG2]], %[[ARG1]] {add, dynamic_axes = array<i64: 0>, starts = ["0"]}
// CHECK-NEXT: return %[[V4]]
// CHECK-NEXT: }
func.func @parts(%x: !v, %i: !astra.tensor<i64, []>, %d: !astra.tensor<f32, [1]>) -> !v {
  %r:2 = astra.vjp(%x, %d) args 1 wrt [0] : (!v, !astra.tensor<f32, [1]>) -> (!astra.tensor<f32, [1]>, !v) {
  ^bb0(%a: !v):
    %p = astra.slice %a, %i {starts = ["0"], dynamic_axes = array<i64: 0>} : (!v, !astra.tensor<i64, []>) -> !astra.tensor<f32, [1]>
    %q = astra.slice %a {starts = ["2"], dynamic_axes = array<i64>} : (!v) -> !astra.tensor<f32, [1]>
    %y = astra.add %p, %q : !astra.tensor<f32, [1]>
    astra.yield %y : !astra.tensor<f32, [1]>
  }
  return %r#1 : !v
}

// A sign moves outwards through products until a sum or another sign takes it up.
// CHECK-LABEL: func.func @signs
// CHECK-NOT: astra.neg
// CHECK: return
func.func @signs(%x: !v, %y: !v, %d: !v) -> (!v, !v) {
  %r:3 = astra.vjp(%x, %y, %d) args 2 wrt [0, 1] : (!v, !v, !v) -> (!v, !v, !v) {
  ^bb0(%a: !v, %b: !v):
    %p = astra.mul %a, %b : !v
    %q = astra.mul %a, %p : !v
    %z = astra.sub %b, %q : !v
    %m = astra.neg %z : !v
    %w = astra.sub %p, %m : !v
    astra.yield %w : !v
  }
  return %r#1, %r#2 : !v, !v
}
