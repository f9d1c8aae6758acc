// The passes as functions that make them, from Passes.td.
#ifndef ASTRA_PASSES_PASSES_H
#define ASTRA_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace mlir {
class ModuleOp;
namespace arith {
class ArithDialect;
}
namespace cf {
class ControlFlowDialect;
}
namespace func {
class FuncDialect;
class FuncOp;
} // namespace func
namespace LLVM {
class LLVMDialect;
}
namespace scf {
class SCFDialect;
}
} // namespace mlir

namespace astra {
class AstraDialect;
namespace calls {
class CallsDialect;
}

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Makes products and the fused kernels that alone read their results one call.
void joinProducts(mlir::func::FuncOp function);

/// Gives each buffer of a function of calls its offset in the workspace, by
/// the range in which it is used.
mlir::LogicalResult planMemory(mlir::func::FuncOp function);

} // namespace astra
#endif // ASTRA_PASSES_PASSES_H
