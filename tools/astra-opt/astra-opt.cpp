// astra-opt: reads a module in MLIR's text or bytecode, runs passes given on
// the command line, and prints it. For tests and for people who study a phase.
#include "dialect/AstraDialect.h"
#include "dialect/CallsOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/TransformPasses.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<astra::AstraDialect, astra::calls::CallsDialect,
                  mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::scf::SCFDialect, mlir::cf::ControlFlowDialect,
                  mlir::LLVM::LLVMDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  astra::registerTransformPasses();
  astra::registerAstraPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "astra-opt: passes over the astra dialect\n", registry));
}
