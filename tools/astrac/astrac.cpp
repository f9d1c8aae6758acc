// astrac: the compiler's command line. Picks the command; what a command does
// is in the libraries and the files beside this one.
#include "astra/module.h"
#include "frontend/syntax/Explain.h"
#include "passes/CHeader.h"
#include "passes/Object.h"
#include "passes/Target.h"
#include "tools/astrac/Commands.h"
#include "tools/astrac/Compiler.h"
#include "tools/astrac/Files.h"
#include "llvm/Support/Path.h"

using namespace astra;
using llvm::StringRef;

std::string astra::getCompilerName() { return "astrac " ASTRA_VERSION_TEXT; }

static int printVersion() {
  llvm::outs() << getCompilerName() << "\nobject ABI "
               << ASTRA_OBJECT_ABI_VERSION << "\narithmetic "
               << ASTRA_ARITHMETIC_VERSION << "\ntargets " << getTargetNames()
               << "\n";
  return 0;
}

static int explain(StringRef code) {
  StringRef page = getExplanation(code);
  if (!page.empty()) {
    llvm::outs() << page.rtrim() << "\n";
    return 0;
  }
  llvm::errs() << "astrac: there is no error code `" << code
               << "`; codes look like E0201\n";
  return 1;
}

static int check(const Options &options) {
  bool good = true;
  for (const std::string &file : options.inputs)
    good &= Compiler(options).check(file);
  return good ? 0 : 1;
}

/// Standard output, or the file that is asked for.
static int giveText(const Options &options, StringRef text) {
  if (options.output.empty()) {
    llvm::outs() << text;
    return 0;
  }
  return writeFiles({{options.output, text}}) ? 0 : 1;
}

static bool getPhaseText(const Options &options, Phase phase,
                         llvm::raw_ostream &os) {
  Compiler compiler(options);
  bool machine = phase == Phase::object;
  if (!compiler.load(options.inputs[0],
                     machine ? Part::Exports : Part::Everything) ||
      !compiler.lowerTo(machine ? Phase::llvm : phase, options.shared))
    return false;
  if (!machine) {
    compiler.getModule().print(os);
    os << "\n";
    return true;
  }
  llvm::SmallVector<char, 0> object;
  if (!compiler.emitObject(object))
    return false;
  std::string text, error;
  if (!describeObject(StringRef(object.data(), object.size()), text, error)) {
    llvm::errs() << "astrac: error: " << error << "\n";
    return false;
  }
  os << text;
  return true;
}

static int printPhase(const Options &options) {
  std::optional<Phase> phase = getPhase(options.emit);
  if (!phase && options.emit != "hir") {
    llvm::errs() << "astrac: there is no phase `" << options.emit
                 << "`; `astrac -h` lists them\n";
    return 2;
  }
  const std::string &file = options.inputs[0];
  std::string text;
  llvm::raw_string_ostream os(text);
  bool good = !phase                 ? Compiler(options).printProgram(file, os)
              : *phase == Phase::ast ? Compiler(options).printSyntax(file, os)
                                     : getPhaseText(options, *phase, os);
  int written = good || phase == Phase::ast ? giveText(options, text) : 1;
  return good ? written : 1;
}

/// The object, and the header beside it under the same name.
static int compileObject(const Options &options) {
  Compiler compiler(options);
  if (!compiler.load(options.inputs[0], Part::Exports))
    return 1;
  std::string source = llvm::sys::path::filename(options.inputs[0]).str();
  std::string header = makeCHeader(
      getModuleName(compiler.getModule()), source, getCompilerName(),
      readExports(compiler.getModule()), readStructs(compiler.getModule()));
  llvm::SmallVector<char, 0> object;
  if (!compiler.lowerTo(Phase::llvm, /*loadable=*/false) ||
      !compiler.emitObject(object))
    return 1;
  llvm::SmallString<128> headerPath(options.output);
  llvm::sys::path::replace_extension(headerPath, "h");
  return writeFiles({{options.output, StringRef(object.data(), object.size())},
                     {headerPath.str().str(), header}})
             ? 0
             : 1;
}

static int compileLoadable(const Options &options) {
  Compiler compiler(options);
  return compiler.load(options.inputs[0],
                       options.tests ? Part::Tests : Part::Exports) &&
                 compiler.makeLoadable(options.output)
             ? 0
             : 1;
}

static int run(const Options &options) {
  switch (options.command) {
  case Command::Help:
    printHelp(llvm::outs());
    return 0;
  case Command::Version:
    return printVersion();
  case Command::Explain:
    return explain(options.explain);
  case Command::Check:
    return check(options);
  case Command::Run:
    return runFunction(options);
  case Command::Test:
    return runTests(options);
  case Command::Compile:
    if (!options.emit.empty())
      return printPhase(options);
    return options.shared ? compileLoadable(options) : compileObject(options);
  }
  return 2;
}

int main(int argc, char **argv) {
  Options options;
  if (!parseOptions(argc, argv, options))
    return 2;
  int status = run(options);
  // A full disk behind standard output is an error like any other.
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    printFileError(false, "standard output", llvm::outs().error().message());
    llvm::outs().clear_error();
    return 1;
  }
  return status;
}
