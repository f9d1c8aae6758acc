// From the typed program to a module of the `astra` dialect. Every call is
// inlined, so each exported function and each test becomes one `func.func`
// whose types speak of its own dimensions only.
#ifndef ASTRA_FRONTEND_EMIT_EMIT_H
#define ASTRA_FRONTEND_EMIT_EMIT_H

#include "frontend/check/Hir.h"
#include "frontend/syntax/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace astra {

struct EmitOptions {
  bool exports = true;
  bool tests = true;
  /// Only the export of this name, if not empty.
  std::string only;
  /// A function that expands to more operations is an error.
  uint64_t maxOperations = 500000;
};

/// Null if the program is not to be compiled: `diags` has the errors, or (where
/// the compiler itself is wrong) the context's handler got them. The program
/// must have been checked without errors.
mlir::OwningOpRef<mlir::ModuleOp> emitProgram(const hir::Program &program,
                                              SourceManager &sources,
                                              DiagnosticEngine &diags,
                                              mlir::MLIRContext &context,
                                              const EmitOptions &options = {});

} // namespace astra
#endif // ASTRA_FRONTEND_EMIT_EMIT_H
