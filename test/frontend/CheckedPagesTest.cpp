// The pages of all errors and the examples of the language reference, with
// lexer, parser and checker.
#include "frontend/check/Check.h"
#include "test/frontend/ErrorPages.h"
#include <gtest/gtest.h>
#include <set>

using namespace astra;
using namespace astra::test;

static std::vector<std::string> check(const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  CheckOptions options;
  options.stdPath = ASTRA_SOURCE_DIR "/frontend/std";
  uint32_t file = sources.addBuffer("page.astra", text);
  checkProgram(options, file, sources, diagnostics);
  std::set<std::string> codes;
  for (const Diagnostic &diagnostic : diagnostics.getAll())
    codes.insert(getCodeText(diagnostic.code).str());
  return {codes.begin(), codes.end()};
}

static bool isAny(const std::string &) { return true; }

TEST(CheckedPages, OfAllErrors) { testErrorPages(isAny, check); }

TEST(CheckedPages, ExamplesOfTheLanguage) {
  testDocument(ASTRA_SOURCE_DIR "/docs/language.md", isAny, check);
}
