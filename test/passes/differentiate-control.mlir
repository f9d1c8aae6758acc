// Derivatives of control flow.
// RUN: astra-opt %s -astra-differentiate | FileCheck %s

!s = !astra.tensor<f32, []>
!v = !astra.tensor<f32, [n]>

// Each branch gives what its backward branch needs; they share a result.
// CHECK-LABEL: func.func @branch
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}%[[ARG2:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, []>
// CHECK-NEXT: %[[V1:.*]]:2 = astra.if %[[ARG1]]{{.*}} {
// CHECK-NEXT: %[[V3:.*]] = astra.exp %[[ARG0]]
// CHECK-NEXT: %[[V4:.*]] = astra.sin %[[V3]]
// CHECK-NEXT: astra.yield %[[V4]], %[[V3]]
// CHECK-NEXT: } else{{.*}} {
// CHECK-NEXT: %[[V3:.*]] = astra.mul %[[ARG0]], %[[ARG0]]
// CHECK-NEXT: astra.yield %[[V3]], %[[V0]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]] = astra.if %[[ARG1]]{{.*}} {
// CHECK-NEXT: %[[V3:.*]] = astra.cos %[[V1]]#1
// CHECK-NEXT: %[[V4:.*]] = astra.mul %[[ARG2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = astra.mul %[[V4]], %[[V1]]#1
// CHECK-NEXT: astra.yield %[[V5]]
// CHECK-NEXT: } else{{.*}} {
// CHECK-NEXT: %[[V3:.*]] = astra.mul %[[ARG2]], %[[ARG0]]
// CHECK-NEXT: %[[V4:.*]] = astra.add %[[V3]], %[[V3]]
// CHECK-NEXT: astra.yield %[[V4]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]#0, %[[V2]]
// CHECK-NEXT: }
func.func @branch(%x: !s, %c: !astra.tensor<i1, []>, %one: !s) -> (!s, !s) {
  %r:2 = astra.vjp(%x, %one) args 1 wrt [0] : (!s, !s) -> (!s, !s) {
  ^bb0(%a: !s):
    %y = astra.if %c : !astra.tensor<i1, []> -> !s {
      %e = astra.exp %a : !s
      %f = astra.sin %e : !s
      astra.yield %f : !s
    } else {
      %e = astra.mul %a, %a : !s
      astra.yield %e : !s
    }
    astra.yield %y : !s
  }
  return %r#0, %r#1 : !s, !s
}

// The cosine of the forward branch is the derivative of its sine.
// CHECK-LABEL: func.func @branch_shares
// CHECK-COUNT-1: astra.cos
// CHECK-NOT: astra.cos
// CHECK: return
func.func @branch_shares(%x: !s, %c: !astra.tensor<i1, []>, %one: !s) -> (!s, !s) {
  %r:2 = astra.vjp(%x, %one) args 1 wrt [0] : (!s, !s) -> (!s, !s) {
  ^bb0(%a: !s):
    %y = astra.if %c : !astra.tensor<i1, []> -> !s {
      %e = astra.exp %a : !s
      %f = astra.sin %e : !s
      %g = astra.cos %e : !s
      %h = astra.mul %f, %g : !s
      astra.yield %h : !s
    } else {
      astra.yield %a : !s
    }
    astra.yield %y : !s
  }
  return %r#0, %r#1 : !s, !s
}

// The scan stacks what it needs and the backward scan reads it in reverse; slices
// that it reads already are not stacked.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}%[[ARG2:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, []>
// CHECK-NEXT: %[[V1:.*]]:3 = astra.scan(%[[V0]], %[[ARG0]]) length "n" state 1{{.*}} {
// CHECK-NEXT: ^bb0(%[[ARG3:.*]]: {{.*}}, %[[ARG4:.*]]: {{.*}}):
// CHECK-NEXT: %[[V6:.*]] = astra.mul %[[ARG3]], %[[ARG1]]
// CHECK-NEXT: %[[V7:.*]] = astra.add %[[V6]], %[[ARG4]]
// CHECK-NEXT: %[[V8:.*]] = astra.tanh %[[V7]]
// CHECK-NEXT: astra.yield %[[V8]], %[[V7]], %[[ARG3]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]] = astra.flip %[[V1]]#1 {axes = array<i64: 0>}
// CHECK-NEXT: %[[V3:.*]] = astra.flip %[[V1]]#2 {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]]:3 = astra.scan(%[[ARG2]], %[[V0]], %[[V2]], %[[V3]]) length "n" state 2{{.*}} {
// CHECK-NEXT: ^bb0(%[[ARG3:.*]]: {{.*}}, %[[ARG4:.*]]: {{.*}}, %[[ARG5:.*]]: {{.*}}, %[[ARG6:.*]]: {{.*}}):
// CHECK-NEXT: %[[V6:.*]] = astra.sech2 %[[ARG5]]
// CHECK-NEXT: %[[V7:.*]] = astra.mul %[[ARG3]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = astra.mul %[[V7]], %[[ARG1]]
// CHECK-NEXT: %[[V9:.*]] = astra.mul %[[V7]], %[[ARG6]]
// CHECK-NEXT: %[[V10:.*]] = astra.add %[[ARG4]], %[[V9]]
// CHECK-NEXT: astra.yield %[[V8]], %[[V10]], %[[V7]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V5:.*]] = astra.flip %[[V4]]#2 {axes = array<i64: 0>}
// CHECK-NEXT: return %[[V1]]#0, %[[V5]], %[[V4]]#1
// CHECK-NEXT: }
func.func @scan(%x: !v, %w: !s, %one: !s) -> (!s, !v, !s) {
  %r:3 = astra.vjp(%x, %w, %one) args 2 wrt [0, 1] : (!v, !s, !s) -> (!s, !v, !s) {
  ^bb0(%a: !v, %b: !s):
    %zero = astra.constant 0.0 : f32 -> !s
    %h = astra.scan(%zero, %a) length "n" state 1 : (!s, !v) -> !s {
    ^bb0(%h0: !s, %xi: !s):
      %p = astra.mul %h0, %b : !s
      %q = astra.add %p, %xi : !s
      %t = astra.tanh %q : !s
      astra.yield %t : !s
    }
    astra.yield %h : !s
  }
  return %r#0, %r#1, %r#2 : !s, !v, !s
}

// A counted loop of known length is a scan over its counter.
// CHECK-LABEL: func.func @for
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}%[[ARG2:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, []>
// CHECK-NEXT: %[[V1:.*]] = astra.iota {axis = 0 : i64} -> !astra.tensor<i64, [n]>
// CHECK-NEXT: %[[V2:.*]]:2 = astra.scan(%[[V0]], %[[V1]]) length "n" state 1{{.*}} {
// CHECK-NEXT: ^bb0(%[[ARG3:.*]]: {{.*}}, %[[ARG4:.*]]: {{.*}}):
// CHECK-NEXT: %[[V5:.*]] = astra.slice %[[ARG0]], %[[ARG4]] {dynamic_axes = array<i64: 0>, starts = ["0"]}
// CHECK-NEXT: %[[V6:.*]] = astra.reshape %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = astra.mul %[[ARG3]], %[[ARG1]]
// CHECK-NEXT: %[[V8:.*]] = astra.add %[[V7]], %[[V6]]
// CHECK-NEXT: astra.yield %[[V8]], %[[ARG3]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.*]] = astra.flip %[[V2]]#1 {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]]:2 = astra.scan(%[[ARG2]], %[[V0]], %[[V3]]) length "n" state 2{{.*}} {
// CHECK-NEXT: ^bb0(%[[ARG3:.*]]: {{.*}}, %[[ARG4:.*]]: {{.*}}, %[[ARG5:.*]]: {{.*}}):
// CHECK-NEXT: %[[V5:.*]] = astra.mul %[[ARG3]], %[[ARG1]]
// CHECK-NEXT: %[[V6:.*]] = astra.mul %[[ARG3]], %[[ARG5]]
// CHECK-NEXT: %[[V7:.*]] = astra.add %[[ARG4]], %[[V6]]
// CHECK-NEXT: astra.yield %[[V5]], %[[V7]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V2]]#0, %[[V4]]#1
// CHECK-NEXT: }
func.func @for(%x: !v, %a0: !s, %one: !s) -> (!s, !s) {
  %r:2 = astra.vjp(%a0, %one) args 1 wrt [0] : (!s, !s) -> (!s, !s) {
  ^bb0(%a: !s):
    %zero = astra.constant 0.0 : f32 -> !s
    %b = astra.constant 0 : i64 -> !astra.tensor<i64, []>
    %e = astra.dim "n" -> !astra.tensor<i64, []>
    %h = astra.for %b to %e init(%zero) : !astra.tensor<i64, []>, (!s) -> !s {
    ^bb0(%i: !astra.tensor<i64, []>, %h0: !s):
      %xs = astra.slice %x, %i {starts = ["0"], dynamic_axes = array<i64: 0>} : (!v, !astra.tensor<i64, []>) -> !astra.tensor<f32, [1]>
      %xi = astra.reshape %xs : (!astra.tensor<f32, [1]>) -> !s
      %p = astra.mul %h0, %a : !s
      %q = astra.add %p, %xi : !s
      astra.yield %q : !s
    }
    astra.yield %h : !s
  }
  return %r#0, %r#1 : !s, !s
}

// Tangents go round beside the state.
// CHECK-LABEL: func.func @jvp
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, []>
// CHECK-NEXT: %[[V1:.*]]:2 = astra.scan(%[[V0]], %[[V0]], %[[ARG0]], %[[ARG1]]) length "n" state 2{{.*}} {
// CHECK-NEXT: ^bb0(%[[ARG2:.*]]: {{.*}}, %[[ARG3:.*]]: {{.*}}, %[[ARG4:.*]]: {{.*}}, %[[ARG5:.*]]: {{.*}}):
// CHECK-NEXT: %[[V2:.*]] = astra.sin %[[ARG2]]
// CHECK-NEXT: %[[V3:.*]] = astra.cos %[[ARG2]]
// CHECK-NEXT: %[[V4:.*]] = astra.mul %[[ARG3]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = astra.add %[[V2]], %[[ARG4]]
// CHECK-NEXT: %[[V6:.*]] = astra.add %[[V4]], %[[ARG5]]
// CHECK-NEXT: astra.yield %[[V5]], %[[V6]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]#0, %[[V1]]#1
// CHECK-NEXT: }
func.func @jvp(%x: !v, %dx: !v) -> (!s, !s) {
  %r:2 = astra.jvp(%x, %dx) args 1 wrt [0] : (!v, !v) -> (!s, !s) {
  ^bb0(%a: !v):
    %zero = astra.constant 0.0 : f32 -> !s
    %h = astra.scan(%zero, %a) length "n" state 1 : (!s, !v) -> !s {
    ^bb0(%h0: !s, %xi: !s):
      %p = astra.sin %h0 : !s
      %q = astra.add %p, %xi : !s
      astra.yield %q : !s
    }
    astra.yield %h : !s
  }
  return %r#0, %r#1 : !s, !s
}

// Parts of what is there before the loop are read again, not stacked.
// CHECK-LABEL: func.func @parts
// CHECK: astra.scan({{.*}} state 1 {{.*}} {
// CHECK: astra.yield %[[Y:.*]], %[[H:.*]] : !astra.tensor<f32, []>, !astra.tensor<f32, []>
// CHECK: astra.scan({{.*}} {
// CHECK: astra.slice %arg1
// CHECK: return
func.func @parts(%x: !v, %w: !v, %one: !s) -> (!v, !v) {
  %r:3 = astra.vjp(%x, %w, %one) args 2 wrt [0, 1] : (!v, !v, !s) -> (!s, !v, !v) {
  ^bb0(%a: !v, %b: !v):
    %zero = astra.constant 0.0 : f32 -> !s
    %h = astra.scan(%zero, %a) length "n" state 1 : (!s, !v) -> !s {
    ^bb0(%h0: !s, %ai: !s):
      %ws = astra.slice %b {starts = ["n - 1"], dynamic_axes = array<i64>} : (!v) -> !astra.tensor<f32, [1]>
      %wi = astra.reshape %ws : (!astra.tensor<f32, [1]>) -> !s
      %p = astra.mul %h0, %wi : !s
      %q = astra.add %p, %ai : !s
      astra.yield %q : !s
    }
    astra.yield %h : !s
  }
  return %r#1, %r#2 : !v, !v
}
