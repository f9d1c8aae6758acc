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
  %d = astra.abs %e : !astra.tensor<f32, [n, 4]>
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

// What only puts values into their places waits for the group to end, and so
// does what it is used by.
// CHECK-LABEL: func.func @waiting
// CHECK: %[[R:.*]]:3 = astra.fused(%arg0) rows 0
// CHECK: astra.exp
// CHECK: astra.neg
// CHECK: astra.mul
// CHECK: astra.yield
// CHECK: %[[V:.*]] = astra.reshape %[[R]]#0
// CHECK: %[[U:.*]] = astra.update_slice %arg1, %[[V]]
// CHECK: return %[[R]]#1, %[[R]]#2, %[[U]]
func.func @waiting(%x: !astra.tensor<f32, [n]>, %w: !astra.tensor<f32, [4, n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [4, n]>) {
  %e = astra.exp %x : !astra.tensor<f32, [n]>
  %v = astra.reshape %e : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [1, n]>
  %u = astra.update_slice %w, %v {dynamic_axes = array<i64>, starts = ["1", "0"]} : (!astra.tensor<f32, [4, n]>, !astra.tensor<f32, [1, n]>) -> !astra.tensor<f32, [4, n]>
  %g = astra.neg %e : !astra.tensor<f32, [n]>
  %m = astra.mul %g, %e : !astra.tensor<f32, [n]>
  return %g, %m, %u : !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [4, n]>
}

// Nothing waits for itself: what reads the places is no part of the group, not
// by way of a group of its own either.
// CHECK-LABEL: func.func @cycle
// CHECK: %[[R:.*]]:2 = astra.fused(%arg0) rows 0
// CHECK: %[[U:.*]] = astra.update_slice
// CHECK: %[[S:.*]] = astra.slice %[[U]]
// CHECK: %[[F:.*]] = astra.reshape %[[S]]
// CHECK: %[[Q:.*]] = astra.fused({{.*}}%[[F]]{{.*}}) rows 0
// CHECK: astra.sin
// CHECK: astra.add
// CHECK: return %[[Q]]
func.func @cycle(%x: !astra.tensor<f32, [n]>, %w: !astra.tensor<f32, [4, n]>) -> !astra.tensor<f32, [n]> {
  %e = astra.exp %x : !astra.tensor<f32, [n]>
  %v = astra.reshape %e : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [1, n]>
  %u = astra.update_slice %w, %v {dynamic_axes = array<i64>, starts = ["1", "0"]} : (!astra.tensor<f32, [4, n]>, !astra.tensor<f32, [1, n]>) -> !astra.tensor<f32, [4, n]>
  %s = astra.slice %u {dynamic_axes = array<i64>, starts = ["0", "0"]} : (!astra.tensor<f32, [4, n]>) -> !astra.tensor<f32, [1, n]>
  %f = astra.reshape %s : (!astra.tensor<f32, [1, n]>) -> !astra.tensor<f32, [n]>
  %g = astra.neg %e : !astra.tensor<f32, [n]>
  %q = astra.sin %f : !astra.tensor<f32, [n]>
  %r = astra.add %q, %g : !astra.tensor<f32, [n]>
  return %r : !astra.tensor<f32, [n]>
}

// A value that leaves its block twice, and one that a turn was given and
// stacks, are written by the kernel to each place.
// CHECK-LABEL: func.func @stacked
// CHECK: astra.scan
// CHECK: ^bb0(%[[H:.*]]: {{.*}}, %[[X:.*]]: {{.*}}):
// CHECK: %[[R:.*]]:3 = astra.fused(%[[H]], %[[X]]) rows 0
// CHECK: ^bb0(%[[A:.*]]: {{.*}}, %{{.*}}):
// CHECK: %[[E:.*]] = astra.exp
// CHECK: astra.yield %[[E]], %[[E]], %[[A]]
// CHECK: astra.yield %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @stacked(%h: !astra.tensor<f32, [n]>, %xs: !astra.tensor<f32, [4, n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [4, n]>, !astra.tensor<f32, [4, n]>) {
  %r:3 = astra.scan(%h, %xs) length "4" state 1 : (!astra.tensor<f32, [n]>, !astra.tensor<f32, [4, n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [4, n]>, !astra.tensor<f32, [4, n]>) {
  ^bb0(%s: !astra.tensor<f32, [n]>, %x: !astra.tensor<f32, [n]>):
    %a = astra.add %s, %x : !astra.tensor<f32, [n]>
    %e = astra.exp %a : !astra.tensor<f32, [n]>
    astra.yield %e, %e, %s : !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>
  }
  return %r#0, %r#1, %r#2 : !astra.tensor<f32, [n]>, !astra.tensor<f32, [4, n]>, !astra.tensor<f32, [4, n]>
}

// A group of more values than a kernel can have becomes several kernels.
// CHECK-LABEL: func.func @wide
// CHECK-COUNT-2: astra.fused(
// CHECK-NOT: astra.fused(
// CHECK: return
func.func @wide(%x0: !astra.tensor<f32, [n]>, %x1: !astra.tensor<f32, [n]>, %x2: !astra.tensor<f32, [n]>, %x3: !astra.tensor<f32, [n]>, %x4: !astra.tensor<f32, [n]>, %x5: !astra.tensor<f32, [n]>, %x6: !astra.tensor<f32, [n]>, %x7: !astra.tensor<f32, [n]>, %x8: !astra.tensor<f32, [n]>, %x9: !astra.tensor<f32, [n]>, %x10: !astra.tensor<f32, [n]>, %x11: !astra.tensor<f32, [n]>, %x12: !astra.tensor<f32, [n]>, %x13: !astra.tensor<f32, [n]>, %x14: !astra.tensor<f32, [n]>, %x15: !astra.tensor<f32, [n]>, %x16: !astra.tensor<f32, [n]>, %x17: !astra.tensor<f32, [n]>, %x18: !astra.tensor<f32, [n]>, %x19: !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>) {
  %a0 = astra.add %x0, %x1 : !astra.tensor<f32, [n]>
  %a1 = astra.add %x1, %x2 : !astra.tensor<f32, [n]>
  %a2 = astra.add %x2, %x3 : !astra.tensor<f32, [n]>
  %a3 = astra.add %x3, %x4 : !astra.tensor<f32, [n]>
  %a4 = astra.add %x4, %x5 : !astra.tensor<f32, [n]>
  %a5 = astra.add %x5, %x6 : !astra.tensor<f32, [n]>
  %a6 = astra.add %x6, %x7 : !astra.tensor<f32, [n]>
  %a7 = astra.add %x7, %x8 : !astra.tensor<f32, [n]>
  %a8 = astra.add %x8, %x9 : !astra.tensor<f32, [n]>
  %a9 = astra.add %x9, %x10 : !astra.tensor<f32, [n]>
  %a10 = astra.add %x10, %x11 : !astra.tensor<f32, [n]>
  %a11 = astra.add %x11, %x12 : !astra.tensor<f32, [n]>
  %a12 = astra.add %x12, %x13 : !astra.tensor<f32, [n]>
  %a13 = astra.add %x13, %x14 : !astra.tensor<f32, [n]>
  %a14 = astra.add %x14, %x15 : !astra.tensor<f32, [n]>
  %a15 = astra.add %x15, %x16 : !astra.tensor<f32, [n]>
  %a16 = astra.add %x16, %x17 : !astra.tensor<f32, [n]>
  %a17 = astra.add %x17, %x18 : !astra.tensor<f32, [n]>
  %a18 = astra.add %x18, %x19 : !astra.tensor<f32, [n]>
  %a19 = astra.add %x19, %x0 : !astra.tensor<f32, [n]>
  %b0 = astra.mul %a0, %a1 : !astra.tensor<f32, [n]>
  %b1 = astra.mul %b0, %a2 : !astra.tensor<f32, [n]>
  %b2 = astra.mul %b1, %a3 : !astra.tensor<f32, [n]>
  %b3 = astra.mul %b2, %a4 : !astra.tensor<f32, [n]>
  %b4 = astra.mul %b3, %a5 : !astra.tensor<f32, [n]>
  %b5 = astra.mul %b4, %a6 : !astra.tensor<f32, [n]>
  %b6 = astra.mul %b5, %a7 : !astra.tensor<f32, [n]>
  %b7 = astra.mul %b6, %a8 : !astra.tensor<f32, [n]>
  %b8 = astra.mul %b7, %a9 : !astra.tensor<f32, [n]>
  %b9 = astra.mul %b8, %a10 : !astra.tensor<f32, [n]>
  %b10 = astra.mul %b9, %a11 : !astra.tensor<f32, [n]>
  %b11 = astra.mul %b10, %a12 : !astra.tensor<f32, [n]>
  %b12 = astra.mul %b11, %a13 : !astra.tensor<f32, [n]>
  %b13 = astra.mul %b12, %a14 : !astra.tensor<f32, [n]>
  %b14 = astra.mul %b13, %a15 : !astra.tensor<f32, [n]>
  %b15 = astra.mul %b14, %a16 : !astra.tensor<f32, [n]>
  %b16 = astra.mul %b15, %a17 : !astra.tensor<f32, [n]>
  %b17 = astra.mul %b16, %a18 : !astra.tensor<f32, [n]>
  %b18 = astra.mul %b17, %a19 : !astra.tensor<f32, [n]>
  return %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17, %a18, %a19, %b18 : !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>
}

// What a few products make of values that a later kernel reads is made there
// again, and not kept; what costs more is kept.
// CHECK-LABEL: func.func @recomputed
// CHECK: %[[F:.*]]:2 = astra.fused(%arg0) rows 0
// CHECK: astra.yield %{{.*}}, %{{.*}} :
// CHECK: %[[S:.*]] = astra.sort %[[F]]#1
// CHECK: astra.fused(%[[S]], %[[F]]#0, %arg0) rows 0
// CHECK-NEXT: ^bb0(%[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[X:.*]]: {{.*}}):
// CHECK-NEXT: %[[M:.*]] = astra.mul %[[X]], %[[X]]
// CHECK-NEXT: astra.mul %[[A]], %[[B]]
// CHECK-NEXT: astra.mul %{{.*}}, %[[M]]
// CHECK-NEXT: astra.add %{{.*}}, %[[X]]
func.func @recomputed(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  %m = astra.mul %x, %x : !astra.tensor<f32, [n]>
  %t = astra.tanh %m : !astra.tensor<f32, [n]>
  %g = astra.neg %t : !astra.tensor<f32, [n]>
  %s = astra.sort %g {axis = 0 : i64} : !astra.tensor<f32, [n]>
  %a = astra.mul %s, %t : !astra.tensor<f32, [n]>
  %b = astra.mul %a, %m : !astra.tensor<f32, [n]>
  %c = astra.add %b, %x : !astra.tensor<f32, [n]>
  return %c : !astra.tensor<f32, [n]>
}

// A value that another operation needs too is kept, and so is one whose
// operands the later kernel does not have.
// CHECK-LABEL: func.func @kept
// CHECK: %[[F:.*]]:3 = astra.fused(%arg0, %arg1) rows 0
// CHECK: astra.fused({{.*}}%[[F]]#0{{.*}}) rows 0
func.func @kept(%x: !astra.tensor<f32, [n]>, %y: !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>) {
  %m = astra.mul %x, %y : !astra.tensor<f32, [n]>
  %k = astra.add %x, %x : !astra.tensor<f32, [n]>
  %t = astra.tanh %k : !astra.tensor<f32, [n]>
  %g = astra.neg %t : !astra.tensor<f32, [n]>
  %s = astra.sort %g {axis = 0 : i64} : !astra.tensor<f32, [n]>
  %a = astra.mul %s, %m : !astra.tensor<f32, [n]>
  %b = astra.add %a, %x : !astra.tensor<f32, [n]>
  %c = astra.add %b, %k : !astra.tensor<f32, [n]>
  return %c, %k : !astra.tensor<f32, [n]>, !astra.tensor<f32, [n]>
}
