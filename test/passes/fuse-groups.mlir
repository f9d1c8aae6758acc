// RUN: astra-opt %s --astra-fuse | FileCheck %s

// A chain is one kernel; constants go in, broadcasts stay views outside.
// CHECK-LABEL: func.func @chain
// CHECK: %[[B:.*]] = astra.broadcast %arg1
// CHECK: %[[R:.*]] = astra.fused(%arg0, %[[B]]) rows 0
// CHECK-NEXT: ^bb0(%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}}):
// CHECK-NEXT: %[[M:.*]] = astra.mul %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = astra.constant
// CHECK-NEXT: %[[A:.*]] = astra.add %[[M]], %[[C]]
// CHECK-NEXT: astra.yield %[[A]]
// CHECK: return %[[R]]
func.func @chain(%x: !astra.tensor<f32, [n, 4]>, %y: !astra.tensor<f32, [4]>) -> !astra.tensor<f32, [n, 4]> {
  %c = astra.constant 2.0 : f32 -> !astra.tensor<f32, [n, 4]>
  %b = astra.broadcast %y {axes = array<i64: 1>} : (!astra.tensor<f32, [4]>) -> !astra.tensor<f32, [n, 4]>
  %m = astra.mul %x, %b : !astra.tensor<f32, [n, 4]>
  %a = astra.add %m, %c : !astra.tensor<f32, [n, 4]>
  return %a : !astra.tensor<f32, [n, 4]>
}

// Two results of one input are one pass over it.
// CHECK-LABEL: func.func @siblings
// CHECK: %[[R:.*]]:2 = astra.fused(%arg0) rows 0
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @siblings(%x: !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>) {
  %s = astra.sin %x : !astra.tensor<f32, [n]>
  %c = astra.cos %x : !astra.tensor<f32, [n]>
  return %s, %c : !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>
}

// What another operation needs in between ends a group.
// CHECK-LABEL: func.func @between
// CHECK: %[[R:.*]]:2 = astra.fused(%arg0) rows 0
// CHECK: astra.exp
// CHECK: astra.neg
// CHECK: astra.yield
// CHECK: %[[S:.*]] = astra.sort %[[R]]#1
// CHECK: astra.fused({{.*}}%[[S]]{{.*}}) rows 0
// CHECK: astra.mul
// CHECK: astra.sub
func.func @between(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  %e = astra.exp %x : !astra.tensor<f32, [n]>
  %g = astra.neg %e : !astra.tensor<f32, [n]>
  %s = astra.sort %g {axis = 0 : i64} : !astra.tensor<f32, [n]>
  %m = astra.mul %s, %e : !astra.tensor<f32, [n]>
  %d = astra.sub %m, %e : !astra.tensor<f32, [n]>
  return %d : !astra.tensor<f32, [n]>
}

// An element that needs other elements of the group is outside.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[R:.*]] = astra.fused(%arg0) rows 0
// CHECK: astra.yield
// CHECK: %[[T:.*]] = astra.transpose %[[R]]
// CHECK: astra.add %[[R]], %[[T]]
func.func @transposed(%x: !astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]> {
  %e = astra.exp %x : !astra.tensor<f32, [n, n]>
  %g = astra.neg %e : !astra.tensor<f32, [n, n]>
  %t = astra.transpose %g {perm = array<i64: 1, 0>} : (!astra.tensor<f32, [n, n]>) -> !astra.tensor<f32, [n, n]>
  %a = astra.add %g, %t : !astra.tensor<f32, [n, n]>
  return %a : !astra.tensor<f32, [n, n]>
}

// Folds of rows, work on one value a row, and back: all of it one kernel.
// CHECK-LABEL: func.func @rows
// CHECK: %[[R:.*]] = astra.fused(%arg0) rows 1
// CHECK: astra.max
// CHECK: astra.sub
// CHECK: astra.sum
// CHECK: astra.log
// CHECK: astra.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @rows(%x: !astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n, m]> {
  %m = astra.max %x {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
  %mb = astra.broadcast %m {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, m]>
  %d = astra.sub %x, %mb : !astra.tensor<f32, [n, m]>
  %e = astra.exp %d : !astra.tensor<f32, [n, m]>
  %s = astra.sum %e {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
  %l = astra.log %s : !astra.tensor<f32, [n]>
  %k = astra.reshape %l : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, 1]>
  %lb = astra.broadcast %k {axes = array<i64: 0, 1>} : (!astra.tensor<f32, [n, 1]>) -> !astra.tensor<f32, [n, m]>
  %r = astra.sub %d, %lb : !astra.tensor<f32, [n, m]>
  return %r : !astra.tensor<f32, [n, m]>
}

// One operation alone, integers that are divided, and a lone fold stay.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: astra.fused
func.func @alone(%x: !astra.tensor<f32, [n, m]>, %i: !astra.tensor<i32, [n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<i32, [n]>) {
  %s = astra.sum %x {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
  %e = astra.exp %s : !astra.tensor<f32, [n]>
  %d = astra.div %i, %i : !astra.tensor<i32, [n]>
  %q = astra.add %d, %i : !astra.tensor<i32, [n]>
  return %e, %q : !astra.tensor<f32, [n]>, !astra.tensor<i32, [n]>
}

// Rows that are known to be short are no kernel; the elements are.
// CHECK-LABEL: func.func @short
// CHECK: astra.fused(%arg0) rows 0
// CHECK: astra.yield
// CHECK: astra.sum
func.func @short(%x: !astra.tensor<f32, [n, 4]>) -> !astra.tensor<f32, [n]> {
  %e = astra.exp %x : !astra.tensor<f32, [n, 4]>
  %d = astra.neg %e : !astra.tensor<f32, [n, 4]>
  %s = astra.sum %d {axes = array<i64: 1>} : (!astra.tensor<f32, [n, 4]>) -> !astra.tensor<f32, [n]>
  return %s : !astra.tensor<f32, [n]>
}

// Softmax works on the rows of its group.
// CHECK-LABEL: @softmax
// CHECK: astra.fused(%arg0) rows 1
// CHECK: mul
// CHECK: softmax
// CHECK: sum
// CHECK: astra.yield
// CHECK-NOT: softmax
func.func @softmax(%x: !astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]> {
  %y = astra.mul %x, %x : !astra.tensor<f32, [n, m]>
  %p = astra.softmax %y {axis = 1 : i64} : !astra.tensor<f32, [n, m]>
  %s = astra.sum %p {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
  return %s : !astra.tensor<f32, [n]>
}

// Along another axis it has a kernel of its own.
// CHECK-LABEL: @columns
// CHECK-NOT: astra.fused
// CHECK: return
func.func @columns(%x: !astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n, m]> {
  %y = astra.mul %x, %x : !astra.tensor<f32, [n, m]>
  %p = astra.softmax %y {axis = 0 : i64} : !astra.tensor<f32, [n, m]>
  return %p : !astra.tensor<f32, [n, m]>
}
