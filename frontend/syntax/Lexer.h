// From text to tokens, one at a time and without memory of its own, so a file
// of any size costs nothing until it is parsed. Reports what is no token and
// goes on. Knows no grammar but one thing: after a `.` digits are a tuple's
// element.
#ifndef ASTRA_FRONTEND_SYNTAX_LEXER_H
#define ASTRA_FRONTEND_SYNTAX_LEXER_H

#include "frontend/syntax/Diagnostics.h"
#include "frontend/syntax/Source.h"

namespace astra {

enum class TokenKind {
#define TOKEN(Name, text) Name,
#include "frontend/syntax/Token.def"
};

/// As messages show it: "`let`", "a name".
std::string describe(TokenKind kind);
bool isKeyword(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::Eof;
  bool newlineBefore = false; // first of its line
  bool spaceAfter = false;    // blank, line end or comment behind it
  uint32_t begin = 0, end = 0;
  uint32_t docBegin = 0, docEnd = 0; // the `///` lines before it, if any
};

class Lexer {
public:
  Lexer(uint32_t file, SourceManager &sources, DiagnosticEngine &diagnostics)
      : file(file), text(sources.getText(file)), diagnostics(diagnostics) {}

  /// False, and a diagnostic, if the text cannot be read as characters at all.
  bool checkEncoding();
  Token next();
  /// Every token from here on is Eof.
  void stop() { stopped = true; }
  /// Also true once there were too many errors to go on.
  bool isStopped() const { return stopped; }
  unsigned getErrorCount() const { return errorCount; }
  /// Past this many errors the rest of a file is not read.
  static constexpr unsigned maxErrors = 100;

private:
  char peek(size_t ahead = 0) const {
    return position + ahead < text.size() ? text[position + ahead] : '\0';
  }
  Diagnostic &report(DiagCode code, uint32_t begin, uint32_t end,
                     std::string message);
  void skipBlanks(Token &token);
  void skipComment(Token &token);
  bool lexSign(Token &token);
  void lexWord(Token &token);
  void lexNumber(Token &token);
  void lexHexadecimal(Token &token);
  void skipDigits();
  void lexString(Token &token);
  void skipUnknown();
  void finish(Token &token, TokenKind kind);

  uint32_t file;
  llvm::StringRef text;
  DiagnosticEngine &diagnostics;
  uint32_t position = 0;
  TokenKind previous = TokenKind::Eof;
  unsigned errorCount = 0;
  bool stopped = false;
  bool hasCarriageReturn = false;
};

/// The text of a string token without quotes, escapes resolved.
std::string unescape(llvm::StringRef quoted);

} // namespace astra
#endif // ASTRA_FRONTEND_SYNTAX_LEXER_H
