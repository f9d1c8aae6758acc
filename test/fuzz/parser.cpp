// libFuzzer target: any bytes through the parser. There is always a tree, it
// can be printed, and a tree with an Error node comes with a message.
#include "frontend/syntax/Parser.h"
#include <cstdlib>

using namespace astra;

static bool hasErrorNode(llvm::StringRef tree) {
  while (!tree.empty()) {
    llvm::StringRef line;
    std::tie(line, tree) = tree.split('\n');
    if (line.trim() == "<error>")
      return true;
  }
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  uint32_t file = sources.addBuffer(
      "fuzz.astra", std::string(reinterpret_cast<const char *>(data), size));
  std::unique_ptr<ast::Module> module = parseFile(file, sources, diagnostics);
  std::string tree, messages;
  llvm::raw_string_ostream treeStream(tree), messageStream(messages);
  printAst(*module, treeStream);
  diagnostics.print(messageStream);
  if (!diagnostics.hasErrors() && hasErrorNode(tree))
    std::abort();
  return 0;
}
