// libFuzzer target: any bytes through the lexer. Tokens must lie in order
// inside the text, and the messages must print.
#include "frontend/syntax/Lexer.h"
#include <cstdlib>

using namespace astra;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  uint32_t file = sources.addBuffer(
      "fuzz.astra", std::string(reinterpret_cast<const char *>(data), size));
  Lexer lexer(file, sources, diagnostics);
  if (lexer.checkEncoding()) {
    uint32_t position = 0;
    for (Token token = lexer.next(); token.kind != TokenKind::Eof;
         token = lexer.next()) {
      if (token.begin < position || token.end <= token.begin ||
          token.end > size)
        std::abort();
      position = token.end;
    }
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.print(os, /*color=*/true);
  return 0;
}
