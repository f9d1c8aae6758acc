// libFuzzer target: any bytes through lexer, parser and checker. There is
// always a program; the standard library is not there, so imports fail.
#include "frontend/check/Check.h"

using namespace astra;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  CheckOptions options;
  options.load = [](const std::string &) { return std::nullopt; };
  uint32_t file = sources.addBuffer(
      "fuzz.astra", std::string(reinterpret_cast<const char *>(data), size));
  std::unique_ptr<hir::Program> program =
      checkProgram(options, file, sources, diagnostics);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!diagnostics.hasErrors())
    hir::print(*program, os);
  diagnostics.print(os);
  return 0;
}
