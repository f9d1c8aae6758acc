// astra-opt: reads a module in MLIR's text or bytecode, runs passes given on
// the command line, and prints it. For tests and for people who study a phase.
#include "dialect/AstraDialect.h"
#include "dialect/CallsOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/TransformPasses.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<astra::AstraDialect, astra::calls::CallsDialect,
                  mlir::func::FuncDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  astra::registerTransformPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "astra-opt: passes over the astra dialect\n", registry));
}
