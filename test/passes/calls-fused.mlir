// RUN: astra-opt %s --astra-calls | FileCheck %s
// RUN: astra-opt %s --astra-calls --astra-llvm | FileCheck %s --check-prefix=LLVM

// Passes over a row are stages: the first folds, then one value a row, then
// elements again.
// CHECK-LABEL: func.func @rows
// CHECK: %[[S:.*]] = calls.view %{{.*}} : <f32, [n], [1]> -> <f32, [n, m], [1, 0]>
// CHECK: calls.kernel "fused_rows" version 1({{.*}}) -> ({{.*}}, %[[S]]) params [@fused_0]
// CHECK: calls.fused @fused_0 "exp sum sqrt div" args 3 rows 1
// The exponentials wait for the second pass where the quotients will be.
// CHECK-SAME: slots ["arg", "arg", "arg", "sum", "scalar"]
// CHECK: calls.stage [0] -> [1, 3] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT: %[[E:.*]] = calls.apply "exp_f32"(%[[X]])
// CHECK-NEXT: calls.yield %[[E]], %[[E]]
// CHECK: calls.stage [3] -> [2, 4] per_row {
// CHECK: calls.apply "sqrt_f32"
// CHECK: calls.stage [1, 4] -> [1] {
// CHECK: calls.apply "div_f32"

// One block for each stage and level, a loop of whole vectors; where it folds, a
// second loop keeps the lanes of one fold in registers, if the call's masks say so.
// LLVM: llvm.func internal @astra.fused_0.0.v3(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[COUNT:.*]]: i64)
// LLVM-SAME: target_cpu = "x86-64-v3"
// LLVM: llvm.icmp "eq"
// LLVM-NEXT: llvm.cond_br %{{.*}}, ^bb{{[0-9]+}}, ^[[REST:bb[0-9]+]](
// LLVM: ^[[REST]](%{{.*}}: i64):
// LLVM: ^[[LOOP:bb[0-9]+]](%[[INDEX:.*]]: i64):
// LLVM: llvm.icmp "slt" %[[INDEX]], %
// LLVM: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// LLVM: llvm.call @astra_l_exp_f32(
// LLVM: llvm.store %{{.*}} {alignment = 4 : i64} : vector<16xf32>
// LLVM: llvm.call @astra_l_add_f32(
// LLVM: llvm.br ^[[LOOP]](
// LLVM: ^[[PLAIN:bb[0-9]+]](%[[NEXT:.*]]: i64):
// LLVM: llvm.icmp "slt" %[[NEXT]], %[[COUNT]]
// LLVM: llvm.call @astra_l_exp_f32(
// LLVM: llvm.br ^[[PLAIN]](
// LLVM: llvm.func internal @astra.fused_0.0.v4(
// LLVM-SAME: target_cpu = "x86-64-v4"
// At this level two vectors go together, and where lanes are kept two of those
// take turns: what the one reads does not wait for what the other writes.
// LLVM: %[[TURN:.*]] = llvm.mlir.constant(-64 : i64)
// LLVM: llvm.and %{{.*}}, %[[TURN]]
// LLVM-NEXT: llvm.br ^[[WIDE:bb[0-9]+]](
// LLVM: ^[[WIDE]](%{{.*}}: i64):
// LLVM-COUNT-2: llvm.call @astra_l_wide_exp_f32(
// LLVM-COUNT-2: llvm.call @astra_l_wide_add_f32(
// LLVM: llvm.br ^[[WIDE]](
// A vector that fills no turn goes by itself, with the same lanes.
// LLVM: llvm.mlir.constant(-32 : i64)
// LLVM: llvm.call @astra_l_wide_exp_f32(
// LLVM: llvm.call @astra_l_wide_add_f32(
// The last of two vectors may be one, computed twice.
// LLVM: llvm.intr.smin
// LLVM: llvm.shufflevector %{{.*}} : vector<16xf32>
// LLVM: llvm.call @astra_l_wide_exp_f32(
// LLVM: llvm.func internal @astra.fused_0.2.v4(
// What divides all of a row is known before the loop, if the masks say so.
// LLVM: llvm.call @astra_l_wide_known_divisor_f32(
// LLVM: llvm.call @astra_l_wide_div_by_known_f32(
// A later pass over the row asks for what the next rows write.
// LLVM: llvm.getelementptr %{{.*}}[2048]
// LLVM-NEXT: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 1 : i32}>
// LLVM: llvm.call @astra_l_wide_div_f32(

// What waits for the last pass lies in the result, though that pass reads an
// input of the same type: one that is repeated has no memory to lend.
// CHECK: calls.fused @fused_1
// CHECK-SAME: slots ["arg", "arg", "arg", "sum", "sum"]
// CHECK: calls.stage [0] -> [3] {
// CHECK: calls.stage [0, 3] -> [2, 4] {
// CHECK: calls.stage [2, 4, 1] -> [2] {

// Exponentials take longer than memory to answer: their pass asks for the place
// of the result soon before it comes there, and so the last pass does not.
// CHECK: calls.fused @fused_2 "softmax"
// LLVM: llvm.func internal @astra.fused_2.2.v4(
// LLVM: llvm.getelementptr %{{.*}}[1024]
// LLVM-NEXT: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 1 : i32}>
// LLVM: llvm.func internal @astra.fused_2.4.v4(
// LLVM-NOT: rw = 1
module attributes {astra.module = "demo"} {
func.func @rows(%x: !astra.tensor<f32, [n, m]>) -> (!astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n]>) attributes {astra.export = {dims = ["n", "m"], doc = ""}} {
  %r:2 = astra.fused(%x) rows 1 : (!astra.tensor<f32, [n, m]>) -> (!astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n]>) {
  ^bb0(%a: !astra.tensor<f32, [n, m]>):
    %e = astra.exp %a : !astra.tensor<f32, [n, m]>
    %s = astra.sum %e {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
    %q = astra.sqrt %s : !astra.tensor<f32, [n]>
    %b = astra.broadcast %q {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, m]>
    %d = astra.div %e, %b : !astra.tensor<f32, [n, m]>
    astra.yield %d, %q : !astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n]>
  }
  return %r#0, %r#1 : !astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n]>
}
func.func @centred(%x: !astra.tensor<f32, [n, m]>, %w: !astra.tensor<f32, [m]>) -> !astra.tensor<f32, [n, m]> attributes {astra.export = {dims = ["n", "m"], doc = ""}} {
  %all = astra.broadcast %w {axes = array<i64: 1>} : (!astra.tensor<f32, [m]>) -> !astra.tensor<f32, [n, m]>
  %r = astra.fused(%x, %all) rows 1 : (!astra.tensor<f32, [n, m]>, !astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n, m]> {
  ^bb0(%a: !astra.tensor<f32, [n, m]>, %b: !astra.tensor<f32, [n, m]>):
    %s = astra.sum %a {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
    %t = astra.broadcast %s {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, m]>
    %c = astra.sub %a, %t : !astra.tensor<f32, [n, m]>
    %p = astra.sum %c {axes = array<i64: 1>} : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n]>
    %q = astra.broadcast %p {axes = array<i64: 0>} : (!astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n, m]>
    %d = astra.div %c, %q : !astra.tensor<f32, [n, m]>
    %e = astra.mul %d, %b : !astra.tensor<f32, [n, m]>
    astra.yield %e : !astra.tensor<f32, [n, m]>
  }
  return %r : !astra.tensor<f32, [n, m]>
}
func.func @normal(%x: !astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n, m]> attributes {astra.export = {dims = ["n", "m"], doc = ""}} {
  %r = astra.fused(%x) rows 1 : (!astra.tensor<f32, [n, m]>) -> !astra.tensor<f32, [n, m]> {
  ^bb0(%a: !astra.tensor<f32, [n, m]>):
    %p = astra.softmax %a {axis = 1 : i64} : !astra.tensor<f32, [n, m]>
    astra.yield %p : !astra.tensor<f32, [n, m]>
  }
  return %r : !astra.tensor<f32, [n, m]>
}
}
