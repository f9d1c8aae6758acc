// The pages of the errors that the lexer and the parser find, and of files.
#include "test/frontend/ErrorPages.h"
#include "frontend/syntax/Explain.h"
#include "test/frontend/Parse.h"

using namespace astra;
using namespace astra::test;

static bool isOfParserOrFiles(const std::string &code) {
  return code < "E0300" || code > "E0900";
}

static std::vector<std::string> parse(const std::string &text) {
  return Parsed(text).getCodes();
}

TEST(ErrorPages, OfLexerParserAndFiles) {
  testErrorPages(isOfParserOrFiles, parse);
}

TEST(Documents, ExamplesOfTheLanguageParse) {
  testDocument(ASTRA_SOURCE_DIR "/docs/language.md", isOfParserOrFiles, parse);
}

TEST(ErrorPages, CodesInAnyCase) {
  EXPECT_TRUE(getExplanation("e0201").starts_with("# E0201"));
  EXPECT_TRUE(getExplanation("E9999").empty());
  EXPECT_TRUE(getExplanation("").empty());
}
