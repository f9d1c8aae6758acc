// RUN: astra-opt %s --astra-llvm=loadable=true | FileCheck %s

// CHECK-DAG: llvm.mlir.global external constant @astra_module()
// CHECK-DAG: llvm.mlir.global external hidden constant @astra_note("\06\00\00\00\08\00\00\00\01\00\00\00Astra\00\00\00\03\00\00\00\01\00\00\00"){{.*}}section = ".note.astra"
module attributes {astra.module = "demo"} {
}
