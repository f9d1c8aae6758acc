// RUN: astra-opt %s --astra-calls | FileCheck %s

// Each branch writes into the result; nothing is computed outside.
// CHECK-LABEL: func.func @branch
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, [n], [1]>)
// CHECK: scf.if
// CHECK-NEXT: calls.kernel "exp_f32" {{.*}} -> (%[[OUT]])
// CHECK-NEXT: } else {
// CHECK-NEXT: calls.kernel "copy_b32" {{.*}} -> (%[[OUT]])
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @branch(%c: !astra.tensor<i1, []>, %a: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
  %r = astra.if %c : !astra.tensor<i1, []> -> !astra.tensor<f32, [n]> {
    %e = astra.exp %a : !astra.tensor<f32, [n]>
    astra.yield %e : !astra.tensor<f32, [n]>
  } else {
    astra.yield %a : !astra.tensor<f32, [n]>
  }
  return %r : !astra.tensor<f32, [n]>
}

// A kernel that works in place writes the state of a tensor where it is, here
// the result's memory from the start; that of a scalar is a value.
// CHECK-LABEL: func.func @power
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, [n], [1]>, %{{[^:]*}}: !calls.view<i64
// CHECK-SAME: calls.workspace = "0"
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[OUT]], %{{.*}} = %[[OUT]], %[[C:.*]] = %{{.*}})
// CHECK-NEXT: calls.kernel "mul_f32" {{.*}}(%[[OUT]], %{{.*}}) -> (%[[OUT]])
// CHECK-NEXT: %[[D:.*]] = arith.addi %[[C]]
func.func @power(%x: !astra.tensor<f32, [n]>, %k: !astra.tensor<i64, []>) -> (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) attributes {astra.export = {dims = ["n"]}} {
  %zero = astra.constant 0 : i64 -> !astra.tensor<i64, []>
  %ones = astra.constant 1.0 : f32 -> !astra.tensor<f32, [n]>
  %r:2 = astra.for %zero to %k init(%ones, %zero) : !astra.tensor<i64, []>, (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) -> (!astra.tensor<f32, [n]>, !astra.tensor<i64, []>) {
  ^bb0(%i: !astra.tensor<i64, []>, %s: !astra.tensor<f32, [n]>, %c: !astra.tensor<i64, []>):
    %t = astra.mul %s, %x : !astra.tensor<f32, [n]>
    %d = astra.add %c, %i : !astra.tensor<i64, []>
    astra.yield %t, %d : !astra.tensor<f32, [n]>, !astra.tensor<i64, []>
  }
  return %r#0, %r#1 : !astra.tensor<f32, [n]>, !astra.tensor<i64, []>
}

// What reads an element that is overwritten already needs two buffers, which swap.
// CHECK-LABEL: func.func @turned
// CHECK: scf.for {{.*}} iter_args(%[[CUR:.*]] = %{{.*}}, %[[NEXT:.*]] = %{{.*}})
// CHECK: %[[BACK:.*]] = calls.view %[[CUR]] offset "n - 1"
// CHECK: calls.kernel "mul_f32" {{.*}}(%[[CUR]], %[[BACK]]) -> (%[[NEXT]])
// CHECK-NEXT: scf.yield %[[NEXT]], %[[CUR]]
func.func @turned(%x: !astra.tensor<f32, [n]>, %k: !astra.tensor<i64, []>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
  %zero = astra.constant 0 : i64 -> !astra.tensor<i64, []>
  %r = astra.for %zero to %k init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  ^bb0(%i: !astra.tensor<i64, []>, %s: !astra.tensor<f32, [n]>):
    %b = astra.flip %s {axes = array<i64: 0>} : !astra.tensor<f32, [n]>
    %t = astra.mul %s, %b : !astra.tensor<f32, [n]>
    astra.yield %t : !astra.tensor<f32, [n]>
  }
  return %r : !astra.tensor<f32, [n]>
}

// State that a turn leaves as it is stays where it is.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, [n], [1]>)
// CHECK: scf.while (%{{.*}} = %[[OUT]], %{{.*}} = %[[OUT]], %{{.*}} = %{{.*}})
// CHECK: scf.yield %[[OUT]], %[[OUT]],
func.func @kept(%x: !astra.tensor<f32, [n]>, %e: !astra.tensor<f32, []>) -> !astra.tensor<f32, [n]> attributes {astra.export = {dims = ["n"]}} {
  %half = astra.constant 0.5 : f32 -> !astra.tensor<f32, []>
  %r:2 = astra.while init(%x, %e) : (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) cond {
  ^bb0(%s: !astra.tensor<f32, [n]>, %t: !astra.tensor<f32, []>):
    %c = astra.gt %t, %half : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> !astra.tensor<i1, []>
    astra.yield %c : !astra.tensor<i1, []>
  } do {
  ^bb0(%s: !astra.tensor<f32, [n]>, %t: !astra.tensor<f32, []>):
    %u = astra.mul %t, %half : !astra.tensor<f32, []>
    astra.yield %s, %u : !astra.tensor<f32, [n]>, !astra.tensor<f32, []>
  }
  return %r#0 : !astra.tensor<f32, [n]>
}

// A stacked output is written slice by slice into the result.
// CHECK-LABEL: func.func @stacked
// CHECK-SAME: %[[OUT:[^:]*]]: !calls.view<f32, [n, 2], [2, 1]>)
// CHECK: scf.for %[[I:.*]] = %{{.*}} to
// CHECK: %[[Y:.*]] = calls.view %[[OUT]] offset "0" indices(%[[I]]) steps ["2"]
// CHECK: calls.kernel "exp_f32" {{.*}} -> (%[[Y]])
func.func @stacked(%h0: !astra.tensor<f32, [2]>, %xs: !astra.tensor<f32, [n, 2]>) -> !astra.tensor<f32, [n, 2]> attributes {astra.export = {dims = ["n"]}} {
  %h, %ys = astra.scan(%h0, %xs) length "n" state 1 : (!astra.tensor<f32, [2]>, !astra.tensor<f32, [n, 2]>) -> (!astra.tensor<f32, [2]>, !astra.tensor<f32, [n, 2]>) {
  ^bb0(%h1: !astra.tensor<f32, [2]>, %x: !astra.tensor<f32, [2]>):
    %s = astra.add %h1, %x : !astra.tensor<f32, [2]>
    %e = astra.exp %s : !astra.tensor<f32, [2]>
    astra.yield %s, %e : !astra.tensor<f32, [2]>, !astra.tensor<f32, [2]>
  }
  return %ys : !astra.tensor<f32, [n, 2]>
}
