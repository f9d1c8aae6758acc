// Control flow that differs along a batch.
// RUN: astra-opt %s -astra-batch | FileCheck %s

!s = !astra.tensor<f32, []>
!v = !astra.tensor<f32, [n]>

// A branch is computed if any element takes it; a loop runs until all have
// stopped, and those that have keep their state.
// CHECK-LABEL: func.func @batch
// CHECK-SAME: (%[[ARG0:.*]]: {{.*}}%[[ARG1:.*]]: {{.*}}
// CHECK-NEXT: %[[V0:.*]] = astra.constant 0.000000e+00 : f32 -> !astra.tensor<f32, [n]>
// CHECK-NEXT: %[[V1:.*]] = astra.gt %[[ARG0]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = astra.any %[[V1]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V3:.*]] = astra.if %[[V2]]{{.*}} {
// CHECK-NEXT: %[[V13:.*]] = astra.log %[[ARG0]]
// CHECK-NEXT: astra.yield %[[V13]]
// CHECK-NEXT: } else{{.*}} {
// CHECK-NEXT: astra.yield %[[V0]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V4:.*]] = astra.not %[[V1]]
// CHECK-NEXT: %[[V5:.*]] = astra.any %[[V4]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V6:.*]] = astra.if %[[V5]]{{.*}} {
// CHECK-NEXT: astra.yield %[[ARG0]]
// CHECK-NEXT: } else{{.*}} {
// CHECK-NEXT: astra.yield %[[V0]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.*]] = astra.select %[[V1]], %[[V3]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = astra.gt %[[V7]], %[[V0]]
// CHECK-NEXT: %[[V9:.*]]:2 = astra.while init(%[[V7]], %[[V8]]){{.*}} cond {
// CHECK-NEXT: ^bb0(%[[ARG2:.*]]: {{.*}}, %[[ARG3:.*]]: {{.*}}):
// CHECK-NEXT: %[[V13:.*]] = astra.any %[[ARG3]] {axes = array<i64: 0>}
// CHECK-NEXT: astra.yield %[[V13]]
// CHECK-NEXT: } do{{.*}} {
// CHECK-NEXT: ^bb0(%[[ARG2:.*]]: {{.*}}, %[[ARG3:.*]]: {{.*}}):
// CHECK-NEXT: %[[V13:.*]] = astra.sub %[[ARG2]], %[[ARG0]]
// CHECK-NEXT: %[[V14:.*]] = astra.select %[[ARG3]], %[[V13]], %[[ARG2]]
// CHECK-NEXT: %[[V15:.*]] = astra.gt %[[V14]], %[[V0]]
// CHECK-NEXT: %[[V16:.*]] = astra.and %[[ARG3]], %[[V15]]
// CHECK-NEXT: astra.yield %[[V14]], %[[V16]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V10:.*]] = astra.broadcast %[[V9]]#0 {axes = array<i64: 0>}
// CHECK-NEXT: %[[V11:.*]] = astra.broadcast %[[ARG1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = astra.mul %[[V10]], %[[V11]]
// CHECK-NEXT: return %[[V12]]
// CHECK-NEXT: }
func.func @batch(%x: !v, %y: !astra.tensor<f32, [3]>) -> !astra.tensor<f32, [n, 3]> {
  %r = astra.map(%x) length "n" axes [0] : (!v) -> !astra.tensor<f32, [n, 3]> {
  ^bb0(%a: !s):
    %zero = astra.constant 0.0 : f32 -> !s
    %c = astra.gt %a, %zero : (!s, !s) -> !astra.tensor<i1, []>
    %z = astra.if %c : !astra.tensor<i1, []> -> !s {
      %l = astra.log %a : !s
      astra.yield %l : !s
    } else {
      astra.yield %a : !s
    }
    %w = astra.while init(%z) : (!s) -> !s cond {
    ^bb0(%s: !s):
      %g = astra.gt %s, %zero : (!s, !s) -> !astra.tensor<i1, []>
      astra.yield %g : !astra.tensor<i1, []>
    } do {
    ^bb0(%s: !s):
      %h = astra.sub %s, %a : !s
      astra.yield %h : !s
    }
    %b = astra.broadcast %w {axes = array<i64>} : (!s) -> !astra.tensor<f32, [3]>
    %m = astra.mul %b, %y : !astra.tensor<f32, [3]>
    astra.yield %m : !astra.tensor<f32, [3]>
  }
  return %r : !astra.tensor<f32, [n, 3]>
}

// A result that is used in one branch of the condition only, as residuals are, is
// that branch's: it has no other value to choose from.
// CHECK-LABEL: func.func @own
// CHECK: %[[C:.*]] = astra.gt
// CHECK: %[[A:.*]]:2 = astra.if {{.*}} {
// CHECK: %[[B:.*]] = astra.if {{.*}} {
// CHECK: %[[Y:.*]] = astra.select %[[C]], %[[A]]#0, %[[B]]
// CHECK: astra.mul %[[A]]#1, %[[A]]#1
// CHECK: %[[Z:.*]] = astra.select %[[C]]
// CHECK-NOT: astra.select
// CHECK: return %[[Y]], %[[Z]]
func.func @own(%x: !v) -> (!v, !v) {
  %r:2 = astra.map(%x) length "n" axes [0] : (!v) -> (!v, !v) {
  ^bb0(%a: !s):
    %zero = astra.constant 0.0 : f32 -> !s
    %c = astra.gt %a, %zero : (!s, !s) -> !astra.tensor<i1, []>
    %y:2 = astra.if %c : !astra.tensor<i1, []> -> !s, !s {
      %l = astra.log %a : !s
      %e = astra.exp %a : !s
      astra.yield %e, %l : !s, !s
    } else {
      astra.yield %a, %zero : !s, !s
    }
    %z = astra.if %c : !astra.tensor<i1, []> -> !s {
      %q = astra.mul %y#1, %y#1 : !s
      astra.yield %q : !s
    } else {
      astra.yield %a : !s
    }
    astra.yield %y#0, %z : !s, !s
  }
  return %r#0, %r#1 : !v, !v
}
