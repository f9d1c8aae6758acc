// RUN: not astra-opt %s --astra-place 2>&1 | FileCheck %s

// CHECK: place-refused.mlir:[[@LINE+1]]:{{.*}} this release makes code for "cpu" only, not for "cuda:0"
func.func @f(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> attributes {astra.device = "cuda:0"} {
  return %x : !astra.tensor<f32, [n]>
}
