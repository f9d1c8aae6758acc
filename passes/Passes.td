// The passes of the back half, in the order of Phases.def. Each can be run alone
// by astra-opt.
#ifndef ASTRA_PASSES
#define ASTRA_PASSES

include "mlir/Pass/PassBase.td"

def FusePass : Pass<"astra-fuse", "::mlir::ModuleOp"> {
  let summary = "fold, share equal values, gather operations into kernels";
  let description = [{
    Runs each operation's own folds and canonical forms, shares equal values
    within a function and drops operations without effect that nothing uses.
    Then operations on elements of one shape that use each other's values (or
    read the same ones), with the folds of rows between them, become one
    `astra.fused`. No rounding changes: folds that compute numbers are those
    that the arithmetic defines.
  }];
  let dependentDialects = ["::astra::AstraDialect"];
  let options = [
    Option<"kernels", "kernels", "bool", "true",
           "gather operations into fused kernels">
  ];
}

def PlacePass : Pass<"astra-place", "::mlir::ModuleOp"> {
  let summary = "say on which device each function runs";
  let description = [{
    Every function gets the attribute `astra.device`. Only "cpu" is known:
    anything else, on a function or an operation, is an error.
  }];
}

def LowerToCallsPass : Pass<"astra-calls", "::mlir::ModuleOp"> {
  let summary = "values become buffers, operations become kernel calls";
  let description = [{
    Asks each operation for its view, kernel or scalar rule (dialect/Lowering.h).
    Control flow becomes scf over buffers; scalars that generated code can
    compute exactly stay values. Afterwards memory planning has given every
    buffer its place in the workspace.
  }];
  let dependentDialects = ["::astra::calls::CallsDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::func::FuncDialect"];
}

def LowerToLLVMPass : Pass<"astra-llvm", "::mlir::ModuleOp"> {
  let summary = "functions of calls become entries in the LLVM dialect";
  let description = [{
    Makes one entry function of module.h for each function, and the module's
    descriptor: exports, leaves, dimension expressions, imported kernels and
    places in the source, as constants.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::arith::ArithDialect"];
  let options = [
    Option<"compiler", "compiler", "std::string", "\"astrac\"",
           "name and version that the descriptor states">,
    Option<"stated", "stated", "std::string", "\"\"",
           "options that the descriptor states">,
    Option<"loadable", "loadable", "bool", "false",
           "for a module loaded by path: its fixed symbol and note">,
    Option<"target", "target", "std::string", "\"\"",
           "the processor, a name of passes/Target.cpp (the first if empty)">
  ];
}

#endif // ASTRA_PASSES
