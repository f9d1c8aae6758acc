// See Compiler.h. One context, no threads, and only the dialects that a phase
// needs: most of the time a compilation takes is spent starting.
#include "tools/astrac/Compiler.h"
#include "frontend/check/Check.h"
#include "frontend/emit/Emit.h"
#include "frontend/syntax/Parser.h"
#include "passes/Object.h"
#include "tools/astrac/Embedded.h"
#include "tools/astrac/Files.h"

#include "dialect/AstraDialect.h"
#include "dialect/CallsOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace astra;

/// Where the embedded library seems to be.
static constexpr char EmbeddedFolder[] = "<std>";

static DialectRegistry getRegistry() {
  DialectRegistry registry;
  registry.insert<AstraDialect, calls::CallsDialect, func::FuncDialect,
                  arith::ArithDialect, scf::SCFDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect>();
  registerObjectTranslations(registry);
  return registry;
}

//===-- Errors of the passes ----------------------------------------------===//

/// Where a location of the IR is in a source: it knows the file's last name.
static std::optional<SourceRange> findRange(const SourceManager &sources,
                                            FileLineColLoc place) {
  StringRef name = place.getFilename().getValue();
  for (uint32_t file = 0; file < sources.getFileCount(); ++file) {
    if (llvm::sys::path::filename(sources.getPath(file)) != name)
      continue;
    StringRef rest = sources.getText(file);
    for (unsigned line = 1; line < place.getLine() && !rest.empty(); ++line)
      rest = rest.split('\n').second;
    for (unsigned column = 1; column < place.getColumn() && !rest.empty();)
      if (rest = rest.drop_front(); (rest.empty() ? 0 : rest[0] & 0xc0) != 0x80)
        ++column;
    uint32_t begin = sources.getText(file).size() - rest.size();
    StringRef word =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    return SourceRange{file, begin, begin + std::max<uint32_t>(word.size(), 1)};
  }
  return std::nullopt;
}

/// The code that a pass has put in front of its message.
static DiagCode takeCode(StringRef &message) {
#define DIAG(code, name, severity, summary)                                    \
  if (message.consume_front(#code ": "))                                       \
    return DiagCode::name;
#include "frontend/syntax/Diagnostics.def"
  return DiagCode::not_compiled;
}

/// An error of a pass as the front end prints its own: with code and line.
static void printFromPass(SourceManager &sources, mlir::Diagnostic &from) {
  FileLineColLoc place;
  from.getLocation()->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  std::string text = from.str();
  StringRef message = text;
  bool isNote = from.getSeverity() == DiagnosticSeverity::Note;
  DiagCode code = takeCode(message);
  auto range = place ? findRange(sources, place) : std::nullopt;
  if (isNote || !range) {
    llvm::errs() << "astrac: " << (isNote ? "note: " : "error: ") << message
                 << "\n";
    return;
  }
  astra::DiagnosticEngine engine(sources);
  engine.report(code, *range, message.str());
  engine.print(llvm::errs(), llvm::errs().has_colors());
}

Compiler::Compiler(const Options &options)
    : options(options), diagnostics(sources),
      context(getRegistry(), MLIRContext::Threading::DISABLED) {
  context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    printFromPass(sources, diagnostic);
    return success();
  });
}

//===-- Front end ---------------------------------------------------------===//

bool Compiler::readInput(const std::string &path, uint32_t &file) {
  std::optional<std::string> text = readSource(path);
  if (!text)
    return false;
  file = sources.addBuffer(path, std::move(*text));
  return true;
}

bool Compiler::finishFrontEnd() {
  diagnostics.print(llvm::errs(), llvm::errs().has_colors());
  return !diagnostics.hasErrors();
}

bool Compiler::printSyntax(const std::string &path, llvm::raw_ostream &os) {
  uint32_t file;
  if (!readInput(path, file))
    return false;
  auto tree = parseFile(file, sources, diagnostics);
  printAst(*tree, os);
  return finishFrontEnd();
}

std::string astra::findLibrary(const Options &options) {
  if (!options.stdPath.empty())
    return options.stdPath;
  std::string program = llvm::sys::fs::getMainExecutable(
      options.program.c_str(), reinterpret_cast<void *>(&findLibrary));
  StringRef bin = llvm::sys::path::parent_path(program);
  // Installed, or in a build folder inside the source tree.
  for (const char *relative : {"../share/astra/std", "../../frontend/std"}) {
    llvm::SmallString<128> folder(bin);
    llvm::sys::path::append(folder, relative);
    llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    if (llvm::sys::fs::is_directory(folder))
      return folder.str().str();
  }
  return EmbeddedFolder;
}

static CheckOptions getCheckOptions(const Options &options) {
  CheckOptions check;
  check.stdPath = findLibrary(options);
  check.load = [](const std::string &path) -> std::optional<std::string> {
    StringRef name = path;
    if (name.consume_front(EmbeddedFolder) && name.consume_front("/")) {
      auto text = getLibraryFile(name);
      return text ? std::optional<std::string>(text->str()) : std::nullopt;
    }
    if (!llvm::sys::fs::exists(path))
      return std::nullopt;
    return readSource(path);
  };
  return check;
}

bool Compiler::printProgram(const std::string &path, llvm::raw_ostream &os) {
  uint32_t file;
  if (!readInput(path, file))
    return false;
  auto program =
      checkProgram(getCheckOptions(options), file, sources, diagnostics);
  if (!finishFrontEnd())
    return false;
  hir::print(*program, os);
  return true;
}

bool Compiler::check(const std::string &path) {
  uint32_t file;
  if (!readInput(path, file))
    return false;
  checkProgram(getCheckOptions(options), file, sources, diagnostics);
  return finishFrontEnd();
}

bool Compiler::load(const std::string &path, Part part,
                    const std::string &function) {
  uint32_t file;
  if (!readInput(path, file))
    return false;
  if (StringRef(path).ends_with(".mlir")) {
    StringRef name = llvm::sys::path::filename(path);
    module = parseSourceString<ModuleOp>(sources.getText(file),
                                         ParserConfig(&context), name);
    if (!module)
      return false;
  } else {
    auto program =
        checkProgram(getCheckOptions(options), file, sources, diagnostics);
    if (!finishFrontEnd())
      return false;
    EmitOptions emit;
    emit.exports = part != Part::Tests;
    emit.tests = part != Part::Exports;
    emit.only = function;
    module = emitProgram(*program, sources, diagnostics, context, emit);
    if (!finishFrontEnd() || !module)
      return false;
  }
  reached = Phase::astra;
  keep(part, function);
  if (options.batch)
    batchExports(*module);
  return succeeded(verifyPhase(*module, Phase::astra));
}

std::vector<std::string> Compiler::getEntries() {
  std::vector<std::string> names;
  for (auto entry : module->getOps<func::FuncOp>())
    names.push_back(entry.getName().str());
  return names;
}

/// Drops the entries that are not asked for.
void Compiler::keep(Part part, const std::string &function) {
  if (part == Part::Everything)
    return;
  SmallVector<func::FuncOp> dropped;
  for (auto entry : module->getOps<func::FuncOp>()) {
    bool isTest = entry->hasAttr(AstraDialect::kTestAttr);
    if (isTest != (part == Part::Tests) ||
        (!function.empty() && entry.getName() != function))
      dropped.push_back(entry);
  }
  for (func::FuncOp entry : dropped)
    entry.erase();
}

//===-- Passes and output -------------------------------------------------===//

bool Compiler::lowerTo(Phase phase, bool loadable) {
  PassManager passes(&context);
  LowerToLLVMPassOptions about;
  about.compiler = getCompilerName();
  about.loadable = loadable;
  about.target = options.target;
  FusePassOptions fusing;
  fusing.kernels = options.fuse;
  addPhases(passes, reached, phase, about, fusing);
  reached = phase;
  return succeeded(passes.run(*module));
}

bool Compiler::emitObject(llvm::SmallVectorImpl<char> &bytes) {
  ObjectOptions object;
  object.optimisation = options.optimisation;
  std::string error;
  if (astra::emitObject(*module, object, bytes, error))
    return true;
  llvm::errs() << "astrac: error: " << error << "\n";
  return false;
}

bool Compiler::makeLoadable(const std::string &output) {
  llvm::SmallVector<char, 0> object;
  TemporaryFolder folder;
  if (!folder.isValid() || !lowerTo(Phase::llvm, /*loadable=*/true) ||
      !emitObject(object))
    return false;
  std::string path = folder.getFile("module.o");
  std::string linked = folder.getFile("module.so"), error;
  if (!writeFiles({{path, StringRef(object.data(), object.size())}}))
    return false;
  if (!linkLoadable(path, linked, error)) {
    llvm::errs() << "astrac: error: " << error << "\n";
    return false;
  }
  std::optional<std::string> bytes = readBytes(linked);
  return bytes && writeFiles({{output, *bytes}});
}
