// Every operation, printed and read back.
// RUN: astra-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: !astra.tensor<f32, [n, 64]>, %i: !astra.tensor<i32, [n]>, %b: !astra.tensor<i1, [n]>) {
  // CHECK: astra.neg %{{.*}} : !astra.tensor<f32, [n, 64]>
  %0 = astra.neg %x : !astra.tensor<f32, [n, 64]>
  // CHECK: astra.pow_int %{{.*}}, 3 : !astra.tensor<f32, [n, 64]>
  %1 = astra.pow_int %x, 3 : !astra.tensor<f32, [n, 64]>
  // CHECK: astra.polygamma %{{.*}}, 2 : !astra.tensor<f32, [n, 64]>
  %order = astra.polygamma %x, 2 : !astra.tensor<f32, [n, 64]>
  // CHECK: astra.add %{{.*}}, %{{.*}} : !astra.tensor<f32, [n, 64]>
  %2 = astra.add %0, %1 : !astra.tensor<f32, [n, 64]>
  // CHECK: astra.lt %{{.*}}, %{{.*}} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [n, 64]>) -> !astra.tensor<i1, [n, 64]>
  %3 = astra.lt %0, %1 : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [n, 64]>) -> !astra.tensor<i1, [n, 64]>
  // CHECK: astra.is_nan
  %4 = astra.is_nan %x : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<i1, [n, 64]>
  // CHECK: astra.select
  %5 = astra.select %3, %0, %1 : (!astra.tensor<i1, [n, 64]>, !astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [n, 64]>) -> !astra.tensor<f32, [n, 64]>
  // CHECK: astra.convert %{{.*}} : (!astra.tensor<i32, [n]>) -> !astra.tensor<bf16, [n]>
  %6 = astra.convert %i : (!astra.tensor<i32, [n]>) -> !astra.tensor<bf16, [n]>
  // CHECK: astra.bitcast %{{.*}} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<ui32, [n, 64]>
  %7 = astra.bitcast %x : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<ui32, [n, 64]>
  // CHECK: astra.not
  %8 = astra.not %b : !astra.tensor<i1, [n]>
  // CHECK: astra.shift_left
  %9 = astra.shift_left %i, %i : !astra.tensor<i32, [n]>
  return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: !astra.tensor<f32, [n, 8, 8]>, %v: !astra.tensor<f32, [8]>, %m: !astra.tensor<f32, [m, 2]>, %k: !astra.tensor<f32, ["2*n", 2]>) {
  // CHECK: astra.constant 1.500000e+00 : f32 -> !astra.tensor<f32, []>
  %c = astra.constant 1.5 : f32 -> !astra.tensor<f32, []>
  // CHECK: astra.constant 3 : ui8 -> !astra.tensor<ui8, [n, 2]>
  %d = astra.constant 3 : ui8 -> !astra.tensor<ui8, [n, 2]>
  // CHECK: astra.constant true -> !astra.tensor<i1, []>
  %t = astra.constant true -> !astra.tensor<i1, []>
  // CHECK: astra.dim "2*n + 1" -> !astra.tensor<i64, []>
  %n = astra.dim "2*n + 1" -> !astra.tensor<i64, []>
  // CHECK: astra.iota {axis = 1 : i64} -> !astra.tensor<i32, [n, 4]>
  %i = astra.iota {axis = 1 : i64} -> !astra.tensor<i32, [n, 4]>
  // CHECK: astra.broadcast %{{.*}} {axes = array<i64: 2>}
  %0 = astra.broadcast %v {axes = array<i64: 2>} : (!astra.tensor<f32, [8]>) -> !astra.tensor<f32, [n, 8, 8]>
  // CHECK: astra.reshape
  %1 = astra.reshape %x : (!astra.tensor<f32, [n, 8, 8]>) -> !astra.tensor<f32, [n, 64]>
  // CHECK: astra.transpose %{{.*}} {perm = array<i64: 2, 0, 1>}
  %2 = astra.transpose %x {perm = array<i64: 2, 0, 1>} : (!astra.tensor<f32, [n, 8, 8]>) -> !astra.tensor<f32, [8, n, 8]>
  // CHECK: astra.concat %{{.*}}, %{{.*}} {axis = 0 : i64} : (!astra.tensor<f32, [m, 2]>, !astra.tensor<f32, ["2*n", 2]>) -> !astra.tensor<f32, ["m + 2*n", 2]>
  %3 = astra.concat %m, %k {axis = 0 : i64} : (!astra.tensor<f32, [m, 2]>, !astra.tensor<f32, ["2*n", 2]>) -> !astra.tensor<f32, ["2*n + m", 2]>
  // CHECK: astra.pad
  %4 = astra.pad %v, %c {low = ["1"], high = ["n"]} : (!astra.tensor<f32, [8]>, !astra.tensor<f32, []>) -> !astra.tensor<f32, ["n + 9"]>
  // CHECK: astra.flip
  %5 = astra.flip %x {axes = array<i64: 1, 2>} : !astra.tensor<f32, [n, 8, 8]>
  // CHECK: astra.check_shape
  %6 = astra.check_shape %m : (!astra.tensor<f32, [m, 2]>) -> !astra.tensor<f32, [n, 2]>
  // CHECK: astra.stop_gradient
  %7 = astra.stop_gradient %x : !astra.tensor<f32, [n, 8, 8]>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: !astra.tensor<f32, [n, 64]>, %w: !astra.tensor<f32, [64, 32]>, %b: !astra.tensor<i1, [n]>) {
  // CHECK: astra.sum
  %0 = astra.sum %x {axes = array<i64: 0, 1>} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<f32, []>
  // CHECK: astra.max
  %1 = astra.max %x {axes = array<i64: 1>} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<f32, [n]>
  // CHECK: astra.any
  %2 = astra.any %b {axes = array<i64: 0>} : (!astra.tensor<i1, [n]>) -> !astra.tensor<i1, []>
  // CHECK: astra.logsumexp
  %3 = astra.logsumexp %x {axes = array<i64: 1>} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<f32, [n]>
  // CHECK: astra.argmax
  %4 = astra.argmax %x {axis = 1 : i64} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<i32, [n]>
  // CHECK: astra.softmax
  %5 = astra.softmax %x {axis = 1 : i64} : !astra.tensor<f32, [n, 64]>
  // CHECK: astra.argsort
  %6 = astra.argsort %x {axis = 1 : i64} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<i32, [n, 64]>
  // CHECK: astra.contract
  %7 = astra.contract %x, %w {batch_a = array<i64>, batch_b = array<i64>, contract_a = array<i64: 1>, contract_b = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [64, 32]>) -> !astra.tensor<f32, [n, 32]>
  return
}

// CHECK-LABEL: func.func @sliding
func.func @sliding(%x: !astra.tensor<f32, [n, 3, 8]>, %w: !astra.tensor<f32, [16, 3, 3]>) {
  // CHECK: astra.conv %{{.*}}, %{{.*}} {batch = 0 : i64, dilations = ["1"], low = ["1"], spread = ["1"], strides = ["2"]}
  %0 = astra.conv %x, %w {batch = 0 : i64, strides = ["2"], low = ["1"], spread = ["1"], dilations = ["1"]} : (!astra.tensor<f32, [n, 3, 8]>, !astra.tensor<f32, [16, 3, 3]>) -> !astra.tensor<f32, [n, 16, 4]>
  // CHECK: astra.windows
  %1 = astra.windows %x {window = ["3"], strides = ["1"], dilations = ["2"]} : (!astra.tensor<f32, [n, 3, 8]>) -> !astra.tensor<f32, [n, 3, 4, 3]>
  // CHECK: astra.overlap_add
  %2 = astra.overlap_add %1 {strides = ["1"], dilations = ["2"]} : (!astra.tensor<f32, [n, 3, 4, 3]>) -> !astra.tensor<f32, [n, 3, 8]>
  // CHECK: astra.first_max
  %3 = astra.first_max %1 {axes = array<i64: 3>} : (!astra.tensor<f32, [n, 3, 4, 3]>) -> !astra.tensor<f32, [n, 3, 4]>
  return
}

// CHECK-LABEL: func.func @indexing
func.func @indexing(%x: !astra.tensor<f32, [n, 64]>, %i: !astra.tensor<i64, []>, %j: !astra.tensor<i32, [m]>, %v: !astra.tensor<f32, [1, 32]>, %w: !astra.tensor<f32, [m, 64]>, %key: !astra.tensor<ui32, [2]>) {
  // CHECK: astra.slice %{{.*}}, %{{.*}} {dynamic_axes = array<i64: 0>, starts = ["0", "1"]}
  %0 = astra.slice %x, %i {starts = ["0", "1"], dynamic_axes = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [1, 32]>
  // CHECK: astra.slice %{{[^,]*}} {dynamic_axes = array<i64>
  %1 = astra.slice %x {starts = ["0", "1"], dynamic_axes = array<i64>} : (!astra.tensor<f32, [n, 64]>) -> !astra.tensor<f32, [n, 32]>
  // CHECK: astra.update_slice %{{.*}}, %{{.*}}, %{{.*}} {add,
  %2 = astra.update_slice %x, %v, %i {starts = ["0", "1"], dynamic_axes = array<i64: 0>, add} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [1, 32]>, !astra.tensor<i64, []>) -> !astra.tensor<f32, [n, 64]>
  // CHECK: astra.gather
  %3 = astra.gather %x, %j {axes = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<i32, [m]>) -> !astra.tensor<f32, [m, 64]>
  // CHECK: astra.scatter
  %4 = astra.scatter %x, %w, %j {axes = array<i64: 0>} : (!astra.tensor<f32, [n, 64]>, !astra.tensor<f32, [m, 64]>, !astra.tensor<i32, [m]>) -> !astra.tensor<f32, [n, 64]>
  // CHECK: astra.random_bits
  %5 = astra.random_bits %key : (!astra.tensor<ui32, [2]>) -> !astra.tensor<ui32, [n]>
  // CHECK: astra.random_split
  %6 = astra.random_split %key : (!astra.tensor<ui32, [2]>) -> !astra.tensor<ui32, [n, 2]>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: !astra.tensor<f32, [h, n, 8]>, %k: !astra.tensor<f32, [h, m, 8]>, %v: !astra.tensor<f32, [h, m, 4]>, %b: !astra.tensor<i1, [h, n, m]>) {
  // CHECK: astra.attention %{{.*}}, %{{.*}}, %{{.*}} {causal} : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>) -> (!astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>)
  %o, %s = astra.attention %q, %k, %v {causal} : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>) -> (!astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>)
  // CHECK: astra.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64}
  %p, %t = astra.attention %q, %k, %v, %b {scale = 0.5 : f64} : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>, !astra.tensor<i1, [h, n, m]>) -> (!astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>)
  // CHECK: astra.attention_grad
  %dq, %dk, %dv = astra.attention_grad %q, %k, %v, %p, %t, %o, %b {scale = 0.5 : f64} : (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>, !astra.tensor<f32, [h, n, 4]>, !astra.tensor<f32, [h, n]>, !astra.tensor<f32, [h, n, 4]>, !astra.tensor<i1, [h, n, m]>) -> (!astra.tensor<f32, [h, n, 8]>, !astra.tensor<f32, [h, m, 8]>, !astra.tensor<f32, [h, m, 4]>)
  return
}

// CHECK-LABEL: func.func @effects
func.func @effects(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, [n]>, %t: !astra.tensor<f64, []>) {
  // CHECK: astra.assert %{{.*}}, "a < b" : !astra.tensor<i1, []>
  astra.assert %c, "a < b" : !astra.tensor<i1, []>
  // CHECK: astra.assert_eq
  astra.assert_eq %x, %x, "x, x" : !astra.tensor<f32, [n]>
  // CHECK: astra.assert_close
  astra.assert_close %x, %x, %t, %t, "x, x" : !astra.tensor<f32, [n]>, !astra.tensor<f64, []>
  // CHECK: astra.debug %{{.*}}, "x" : !astra.tensor<f32, [n]>
  %y = astra.debug %x, "x" : !astra.tensor<f32, [n]>
  return
}

// CHECK-LABEL: func.func @control
func.func @control(%c: !astra.tensor<i1, []>, %x: !astra.tensor<f32, []>, %xs: !astra.tensor<f32, [n]>, %n: !astra.tensor<i64, []>) {
  // CHECK: astra.if %{{.*}} : !astra.tensor<i1, []> -> !astra.tensor<f32, []> {
  // CHECK: } else {
  %0 = astra.if %c : !astra.tensor<i1, []> -> !astra.tensor<f32, []> {
    astra.yield %x : !astra.tensor<f32, []>
  } else {
    %z = astra.neg %x : !astra.tensor<f32, []>
    astra.yield %z : !astra.tensor<f32, []>
  }
  // CHECK: astra.if %{{.*}} : !astra.tensor<i1, []> {
  astra.if %c : !astra.tensor<i1, []> {
    astra.yield
  } else {
    astra.yield
  }
  // CHECK: astra.for %{{.*}} to %{{.*}} init(%{{.*}}) : !astra.tensor<i64, []>, (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> attributes {checkpoint}
  %1 = astra.for %n to %n init(%x) : !astra.tensor<i64, []>, (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> attributes {checkpoint} {
  ^bb0(%i: !astra.tensor<i64, []>, %s: !astra.tensor<f32, []>):
    astra.yield %s : !astra.tensor<f32, []>
  }
  // CHECK: astra.while init(%{{.*}})
  // CHECK: do
  %2 = astra.while init(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> cond {
  ^bb0(%s: !astra.tensor<f32, []>):
    astra.yield %c : !astra.tensor<i1, []>
  } do {
  ^bb0(%s: !astra.tensor<f32, []>):
    astra.yield %s : !astra.tensor<f32, []>
  }
  // CHECK: astra.scan(%{{.*}}, %{{.*}}) length "n" state 1
  %3, %4 = astra.scan(%x, %xs) length "n" state 1 : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) {
  ^bb0(%h: !astra.tensor<f32, []>, %e: !astra.tensor<f32, []>):
    %s = astra.add %h, %e : !astra.tensor<f32, []>
    astra.yield %s, %s : !astra.tensor<f32, []>, !astra.tensor<f32, []>
  }
  // CHECK: astra.map(%{{.*}}, %{{.*}}) length "n" axes [0, -1]
  %5 = astra.map(%xs, %x) length "n" axes [0, -1] : (!astra.tensor<f32, [n]>, !astra.tensor<f32, []>) -> !astra.tensor<f32, [n]> {
  ^bb0(%a: !astra.tensor<f32, []>, %b: !astra.tensor<f32, []>):
    %s = astra.add %a, %b : !astra.tensor<f32, []>
    astra.yield %s : !astra.tensor<f32, []>
  }
  // CHECK: astra.reduce(%{{.*}}, %{{.*}}) length "n"
  %6 = astra.reduce(%x, %xs) length "n" : (!astra.tensor<f32, []>, !astra.tensor<f32, [n]>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>, %b: !astra.tensor<f32, []>):
    %s = astra.mul %a, %b : !astra.tensor<f32, []>
    astra.yield %s : !astra.tensor<f32, []>
  }
  return
}

// CHECK-LABEL: func.func @transforms
func.func @transforms(%x: !astra.tensor<f32, []>) {
  // CHECK: astra.vjp(%{{.*}}, %{{.*}}) args 1 wrt [0]
  %0, %1 = astra.vjp(%x, %x) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  // CHECK: astra.jvp(%{{.*}}, %{{.*}}) args 1 wrt [0]
  %2, %3 = astra.jvp(%x, %x) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  // CHECK: astra.custom_derivative(%{{.*}}) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  // CHECK: } vjp {
  // CHECK: } jvp {
  // CHECK-NEXT: }
  %4 = astra.custom_derivative(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> primal {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  } vjp {
  ^bb0(%a: !astra.tensor<f32, []>, %d: !astra.tensor<f32, []>):
    astra.yield %d : !astra.tensor<f32, []>
  } jvp {
  }
  // CHECK: astra.remat(%{{.*}})
  %5 = astra.remat(%x) : (!astra.tensor<f32, []>) -> !astra.tensor<f32, []> {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return
}
