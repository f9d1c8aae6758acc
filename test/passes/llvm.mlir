// RUN: astra-opt %s --astra-llvm | FileCheck %s

module attributes {astra.module = "demo"} {
  // The entry: dimensions and tables, the workspace, then the kernel.
  // CHECK: llvm.func internal @astra.entry.0(%[[CALL:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
  // CHECK: llvm.alloca
  // CHECK: %[[STATUS:.*]] = llvm.call %{{.*}}(%[[CALL]], %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: %[[BAD:.*]] = llvm.icmp "ne" %[[STATUS]], %[[ZERO]]
  // CHECK: llvm.cond_br %[[BAD]]
  // CHECK: llvm.call %{{.*}}(%[[CALL]], %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32) -> ()
  func.func @f(%x: !calls.view<f32, [n], ["stride0@0"]>, %y: !calls.view<f32, [n], [1]>) attributes {astra.export = {dims = ["n"], doc = "Doubles."}, calls.outputs = 1 : i64} {
    calls.kernel "add_f32" version 1(%x, %x) -> (%y) params [] : (!calls.view<f32, [n], ["stride0@0"]>, !calls.view<f32, [n], ["stride0@0"]>) -> (!calls.view<f32, [n], [1]>)
    return
  }
}
// CHECK-DAG: llvm.mlir.global private unnamed_addr constant @{{.*}}("add_f32\00")
// CHECK-DAG: llvm.mlir.global private unnamed_addr constant @{{.*}}("Doubles.\00")
// CHECK-DAG: llvm.mlir.global external constant @astra_module_demo()
// CHECK-NOT: calls.
