// From a source file to a module at a phase, with every error printed. Inputs
// are Astra programs, or `astra` dialect text (.mlir). Knows the phases, no
// commands.
#ifndef ASTRA_TOOLS_ASTRAC_COMPILER_H
#define ASTRA_TOOLS_ASTRAC_COMPILER_H

#include "frontend/syntax/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Phases.h"
#include "tools/astrac/Options.h"

namespace astra {

/// What of a program is compiled.
enum class Part { Exports, Tests, Everything };

class Compiler {
public:
  explicit Compiler(const Options &options);

  /// Prints the syntax tree; stops before anything is checked.
  bool printSyntax(const std::string &path, llvm::raw_ostream &os);
  /// Prints the typed program.
  bool printProgram(const std::string &path, llvm::raw_ostream &os);
  /// Reads and checks only.
  bool check(const std::string &path);
  /// Reads, checks and emits: the module at the phase `astra`. `function` is an
  /// entry besides the exports.
  bool load(const std::string &path, Part part,
            const std::string &function = "");
  /// Runs the passes up to a phase (`llvm` at most).
  bool lowerTo(Phase phase, bool loadable);
  /// The object's bytes; after lowerTo(llvm).
  bool emitObject(llvm::SmallVectorImpl<char> &bytes);
  /// All of it: a loadable module written to `output`.
  bool makeLoadable(const std::string &output);

  /// No entry is left.
  bool isEmpty() { return getEntries().empty(); }
  /// The names of the entries that are left.
  std::vector<std::string> getEntries();
  mlir::ModuleOp getModule() { return *module; }

private:
  bool readInput(const std::string &path, uint32_t &file);
  bool finishFrontEnd();
  void keep(Part part, const std::string &function);

  const Options &options;
  SourceManager sources;
  DiagnosticEngine diagnostics;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Phase reached = Phase::ast;
};

/// The folder of the standard library: as asked for, else beside the program.
std::string findLibrary(const Options &options);
/// "astrac 0.1.0"
std::string getCompilerName();

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_COMPILER_H
