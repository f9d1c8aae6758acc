// RUN: not astra-opt %s --astra-calls 2>&1 | FileCheck %s

// CHECK: calls-refused.mlir:[[@LINE+2]]:{{.*}} "astra.vjp" must be gone before the phase `calls`
func.func @f(%x: !astra.tensor<f32, []>, %one: !astra.tensor<f32, []>) -> !astra.tensor<f32, []> attributes {astra.export = {dims = []}} {
  %y, %dx = astra.vjp(%x, %one) args 1 wrt [0] : (!astra.tensor<f32, []>, !astra.tensor<f32, []>) -> (!astra.tensor<f32, []>, !astra.tensor<f32, []>) {
  ^bb0(%a: !astra.tensor<f32, []>):
    astra.yield %a : !astra.tensor<f32, []>
  }
  return %dx : !astra.tensor<f32, []>
}
