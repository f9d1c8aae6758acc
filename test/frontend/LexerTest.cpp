// Tokens: numbers, words, signs, strings, comments, and what is no token.
#include "frontend/syntax/Lexer.h"
#include <gtest/gtest.h>

using namespace astra;

namespace {
struct Lexed {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  std::vector<Token> tokens;
  std::string text;

  explicit Lexed(std::string source) : text(source) {
    uint32_t file = sources.addBuffer("t.astra", std::move(source));
    Lexer lexer(file, sources, diagnostics);
    if (!lexer.checkEncoding())
      return;
    do
      tokens.push_back(lexer.next());
    while (tokens.back().kind != TokenKind::Eof);
  }
  /// The tokens' texts with one blank between, `\n ` in front of a new line.
  std::string getTexts() const {
    std::string result;
    for (const Token &token : tokens) {
      if (token.kind == TokenKind::Eof)
        break;
      if (!result.empty())
        result += token.newlineBefore ? "\n" : " ";
      result += text.substr(token.begin, token.end - token.begin);
    }
    return result;
  }
  std::string getCode() const {
    return diagnostics.getAll().size() == 1
               ? getCodeText(diagnostics.getAll()[0].code).str()
               : std::to_string(diagnostics.getAll().size()) + " errors";
  }
};
} // namespace

static TokenKind getKind(const char *text) {
  return Lexed(text).tokens[0].kind;
}

TEST(Lexer, SignsAreTheLongest) {
  EXPECT_EQ(Lexed("a**b*c+=d->e|>f||g|h..i.j").getTexts(),
            "a ** b * c += d -> e |> f || g | h .. i . j");
  EXPECT_EQ(Lexed("<=<>=>==!=!&&").getTexts(), "<= < >= >= = != ! &&");
}

TEST(Lexer, Numbers) {
  EXPECT_EQ(getKind("42"), TokenKind::Int);
  EXPECT_EQ(getKind("1_000"), TokenKind::Int);
  EXPECT_EQ(getKind("0xFf_00"), TokenKind::Int);
  EXPECT_EQ(getKind("1.5"), TokenKind::Float);
  EXPECT_EQ(getKind("1e8"), TokenKind::Float);
  EXPECT_EQ(getKind("1.5e-3"), TokenKind::Float);
  EXPECT_EQ(Lexed("1.5e-3 1E+8").getTexts(), "1.5e-3 1E+8");
}

TEST(Lexer, RangesAndFieldsAreNotNumbers) {
  EXPECT_EQ(Lexed("1..5").getTexts(), "1 .. 5");
  EXPECT_EQ(Lexed("t.0.1").getTexts(), "t . 0 . 1");
  EXPECT_EQ(Lexed("x[1..]").getTexts(), "x [ 1 .. ]");
  EXPECT_EQ(Lexed("2.5..3.5").getTexts(), "2.5 .. 3.5");
}

TEST(Lexer, MalformedNumbers) {
  for (const char *text : {"1.", "0x", "0xg", "1f32", "1e", "12abc", "0x_"})
    EXPECT_EQ(Lexed(text).getCode(), "E0106") << text;
}

TEST(Lexer, WordsAndReservedWords) {
  EXPECT_EQ(getKind("let"), TokenKind::Let);
  EXPECT_EQ(getKind("lets"), TokenKind::Ident);
  EXPECT_EQ(getKind("_x1"), TokenKind::Ident);
  EXPECT_EQ(getKind("none"), TokenKind::None);
  EXPECT_EQ(getKind("vjp"), TokenKind::Ident);
  EXPECT_EQ(getKind("checkpoint"), TokenKind::Ident);
}

TEST(Lexer, Strings) {
  EXPECT_EQ(unescape(R"("a\n\t\"\\ b")"), "a\n\t\"\\ b");
  EXPECT_EQ(unescape(R"("open)"), "open");
  EXPECT_EQ(Lexed(R"("a" "b\"c")").getTexts(), R"("a" "b\"c")");
  EXPECT_EQ(Lexed("\"abc\nx").getCode(), "E0104");
  EXPECT_EQ(Lexed("\"abc\nx").getTexts(), "\"abc\nx");
  EXPECT_EQ(Lexed("\"abc\\").getCode(), "2 errors");
  EXPECT_EQ(Lexed(R"("\q")").getCode(), "E0105");
}

TEST(Lexer, LinesAndComments) {
  EXPECT_EQ(Lexed("a // x ( \n b //").getTexts(), "a\nb");
  EXPECT_EQ(Lexed("a\r\nb\r\n").getTexts(), "a\nb");
  Lexed minus("- a -b -//\n-\n");
  EXPECT_TRUE(minus.tokens[0].spaceAfter);
  EXPECT_FALSE(minus.tokens[2].spaceAfter);
  EXPECT_TRUE(minus.tokens[4].spaceAfter);
  EXPECT_TRUE(minus.tokens[5].spaceAfter);
}

TEST(Lexer, DocCommentsBelongToTheNextToken) {
  Lexed lexed("/// one\n/// two\nfn //// no\nx");
  const Token &fn = lexed.tokens[0];
  EXPECT_EQ(lexed.text.substr(fn.docBegin, fn.docEnd - fn.docBegin),
            "/// one\n/// two");
  EXPECT_EQ(lexed.tokens[1].docEnd, 0u);
}

TEST(Lexer, Encoding) {
  EXPECT_EQ(Lexed("a\xFFz").getCode(), "E0101");
  EXPECT_EQ(Lexed("a\xC3").getCode(), "E0101");
  EXPECT_EQ(Lexed(std::string("a\0b", 3)).getCode(), "E0102");
  EXPECT_EQ(Lexed("\xEF\xBB\xBFlet").tokens[0].kind, TokenKind::Let);
  EXPECT_EQ(Lexed("// \xC3\xA9\nx").getTexts(), "x");
}

TEST(Lexer, UnknownCharactersAreOneMessageARun) {
  EXPECT_EQ(Lexed("a $$$ b").getCode(), "E0103");
  EXPECT_EQ(Lexed("a $$$ b").getTexts(), "a b");
  EXPECT_EQ(Lexed("na\xC3\xAFve").getCode(), "E0103");
  EXPECT_EQ(Lexed("a & b").getCode(), "E0109");
  EXPECT_EQ(Lexed("a\rb\rc").getCode(), "E0108");
}

TEST(Lexer, StopsAfterTooManyErrors) {
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += "$ ";
  EXPECT_EQ(Lexed(text).diagnostics.getErrorCount(), Lexer::maxErrors);
}
