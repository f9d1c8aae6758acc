// RUN: astra-opt %s --astra-place | FileCheck %s

// CHECK: func.func @f{{.*}} attributes {astra.device = "cpu"}
func.func @f(%x: !astra.tensor<f32, [n]>) -> !astra.tensor<f32, [n]> {
  return %x : !astra.tensor<f32, [n]>
}
