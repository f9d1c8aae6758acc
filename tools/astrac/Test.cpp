// `astrac test`: compiles the test blocks of each file to a temporary loadable
// module, runs them one by one and counts. A file that does not compile is one
// failure.
#include "tools/astrac/Commands.h"
#include "tools/astrac/Compiler.h"
#include "tools/astrac/Files.h"
#include "tools/astrac/Session.h"

using namespace astra;
using llvm::StringRef;

namespace {
struct Tally {
  unsigned passed = 0, failed = 0;
};

void runFile(const Options &options, const std::string &path, Tally &tally) {
  auto fail = [&](const std::string &name, const std::string &why) {
    llvm::outs() << "FAILED " << path << ": " << name << "\n";
    if (!why.empty())
      llvm::outs() << "  " << why << "\n";
    ++tally.failed;
  };
  TemporaryFolder folder;
  if (!folder.isValid())
    return fail("cannot be run", "");
  std::string module = folder.getFile("test.so");
  {
    Compiler compiler(options);
    if (!compiler.load(path, Part::Tests))
      return fail("does not compile", "");
    if (compiler.isEmpty())
      return;
    if (!compiler.makeLoadable(module))
      return fail("does not compile", "");
  }
  Session session;
  if (!session.open(options.threads, options.cpuLevel) ||
      !session.watch(/*trace=*/false, options.stopAt) || !session.load(module))
    return fail("cannot be loaded", session.getError());
  for (size_t i = 0; i < session.getFunctionCount(); ++i) {
    astra_function_t function;
    astra_function_info_t info;
    if (!session.getFunction(i, function, info)) {
      fail("cannot be loaded", session.getError());
      continue;
    }
    StringRef name = info.name;
    if (!name.contains(options.filter))
      continue;
    std::vector<astra_tensor_t> outputs;
    if (session.call(function, {}, outputs))
      ++tally.passed;
    else
      fail("\"" + name.str() + "\"", session.getError());
  }
}
} // namespace

int astra::runTests(const Options &options) {
  std::vector<std::string> files;
  if (!findSources(options.inputs, files))
    return 1;
  Tally tally;
  for (const std::string &file : files)
    runFile(options, file, tally);
  llvm::outs() << tally.passed << " passed, " << tally.failed << " failed\n";
  if (!options.filter.empty() && tally.passed + tally.failed == 0) {
    llvm::errs() << "astrac: error: no test has `" << options.filter
                 << "` in its name\n";
    return 1;
  }
  return tally.failed == 0 ? 0 : 1;
}
