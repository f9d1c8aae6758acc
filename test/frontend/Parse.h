// Parses a text for a test and keeps what came of it.
#ifndef ASTRA_TEST_FRONTEND_PARSE_H
#define ASTRA_TEST_FRONTEND_PARSE_H

#include "frontend/syntax/Parser.h"
#include <gtest/gtest.h>
#include <set>

namespace astra::test {

struct Parsed {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  std::unique_ptr<ast::Module> module;

  explicit Parsed(std::string text) {
    uint32_t file = sources.addBuffer("t.astra", std::move(text));
    module = parseFile(file, sources, diagnostics);
  }
  /// The tree's text without its first line, or the codes of the errors.
  std::string getTree() {
    if (diagnostics.hasErrors())
      return getMessages();
    std::string text;
    llvm::raw_string_ostream os(text);
    printAst(*module, os);
    return text.substr(text.find('\n') + 1);
  }
  std::string getMessages() {
    std::string text;
    llvm::raw_string_ostream os(text);
    diagnostics.print(os);
    return text;
  }
  /// Each code once, in order.
  std::vector<std::string> getCodes() {
    std::set<std::string> codes;
    for (const Diagnostic &diagnostic : diagnostics.getAll())
      codes.insert(getCodeText(diagnostic.code).str());
    return {codes.begin(), codes.end()};
  }
  /// "E0202@1:7 E0217@3:5", in the order of reporting.
  std::string getPlaces() {
    std::string result;
    for (const Diagnostic &diagnostic : diagnostics.getAll()) {
      LineColumn place =
          sources.getLineColumn(diagnostic.range.file, diagnostic.range.begin);
      result += (result.empty() ? "" : " ") +
                getCodeText(diagnostic.code).str() + "@" +
                std::to_string(place.line) + ":" + std::to_string(place.column);
    }
    return result;
  }
};

} // namespace astra::test
#endif // ASTRA_TEST_FRONTEND_PARSE_H
