// From text to tokens. May not know the grammar or the tree.
#include "frontend/syntax/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"

using namespace astra;
using llvm::StringRef;

std::string astra::describe(TokenKind kind) {
  switch (kind) {
#define TOKEN(Name, text)                                                      \
  case TokenKind::Name:                                                        \
    return text;
#define PUNCT(Name, text)                                                      \
  case TokenKind::Name:                                                        \
    return "`" text "`";
#define KEYWORD(Name, text) PUNCT(Name, text)
#include "frontend/syntax/Token.def"
  }
  return "";
}

bool astra::isKeyword(TokenKind kind) {
  switch (kind) {
#define KEYWORD(Name, text)                                                    \
  case TokenKind::Name:                                                        \
    return true;
#define TOKEN(Name, text)
#define PUNCT(Name, text)
#include "frontend/syntax/Token.def"
  default:
    return false;
  }
}

static bool isWordStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_'; }

Diagnostic &Lexer::report(DiagCode code, uint32_t begin, uint32_t end,
                          std::string message) {
  stopped |= ++errorCount >= maxErrors;
  return diagnostics.report(code, {file, begin, end}, std::move(message));
}

bool Lexer::checkEncoding() {
  auto begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *end = begin + text.size(), *at = begin;
  bool isLegal = llvm::isLegalUTF8String(&at, end);
  uint32_t bad = at - begin;
  if (!isLegal) {
    Diagnostic &diagnostic =
        report(DiagCode::invalid_utf8, bad, bad + 1,
               "byte " + std::to_string(bad) + " (0x" +
                   llvm::utohexstr(begin[bad]) + ") is not UTF-8 text");
    bool isWide = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
    diagnostic.help = isWide ? "the file looks like UTF-16: save it as UTF-8"
                             : "save the file as UTF-8";
    return false;
  }
  size_t zero = text.find('\0');
  if (zero != StringRef::npos) {
    report(DiagCode::nul_byte, zero, zero + 1,
           "byte " + std::to_string(zero) + " is NUL")
        .help = "this looks like a binary file, not an Astra program";
    return false;
  }
  if (text.starts_with("\xEF\xBB\xBF")) // a byte order mark says nothing here
    position = 3;
  return true;
}

/// `//` to the end of the line; the lines of `///` are kept for what follows.
void Lexer::skipComment(Token &token) {
  size_t end = std::min(text.find('\n', position), text.size());
  StringRef line = text.slice(position, end);
  if (line.starts_with("///") && !line.starts_with("////")) {
    if (token.docEnd == 0)
      token.docBegin = position;
    token.docEnd = end;
  }
  position = end;
}

void Lexer::skipBlanks(Token &token) {
  while (position < text.size()) {
    char c = peek();
    if (c == '\n') {
      token.newlineBefore = true;
    } else if (c == '\r' && peek(1) != '\n') {
      if (!hasCarriageReturn) // one message stands for a whole file of them
        report(DiagCode::stray_carriage_return, position, position + 1,
               "a carriage return alone does not end a line")
            .help = "end lines with a line feed, or with both";
      hasCarriageReturn = true;
      token.newlineBefore = true;
    } else if (c == '/' && peek(1) == '/') {
      skipComment(token);
      continue;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
    ++position;
  }
}

void Lexer::finish(Token &token, TokenKind kind) {
  token.kind = kind;
  token.end = position;
  char c = peek();
  token.spaceAfter = position >= text.size() || c == ' ' || c == '\t' ||
                     c == '\n' || c == '\r' || (c == '/' && peek(1) == '/');
  previous = kind;
}

Token Lexer::next() {
  Token token;
  token.newlineBefore = position == 0;
  while (true) {
    skipBlanks(token);
    token.begin = position;
    if (stopped || position >= text.size()) {
      position = text.size();
      token.begin = position;
      token.newlineBefore = true;
      finish(token, TokenKind::Eof);
      return token;
    }
    char c = peek();
    if (isWordStart(c))
      lexWord(token);
    else if (llvm::isDigit(c))
      lexNumber(token);
    else if (c == '"')
      lexString(token);
    else if (!lexSign(token)) {
      skipUnknown();
      continue;
    }
    return token;
  }
}

namespace {
struct Sign {
  StringRef text;
  TokenKind kind;
};
/// The signs by their first byte, longer ones first.
struct SignTable {
  std::vector<Sign> byFirst[256];
  SignTable() {
#define TOKEN(Name, text)
#define KEYWORD(Name, text)
#define PUNCT(Name, text)                                                      \
  byFirst[static_cast<unsigned char>(text[0])].push_back(                      \
      {text, TokenKind::Name});
#include "frontend/syntax/Token.def"
    for (std::vector<Sign> &signs : byFirst)
      llvm::sort(signs, [](const Sign &a, const Sign &b) {
        return a.text.size() > b.text.size();
      });
  }
};
} // namespace

bool Lexer::lexSign(Token &token) {
  static const SignTable table;
  StringRef rest = text.substr(position, 2);
  for (const Sign &sign : table.byFirst[static_cast<unsigned char>(peek())]) {
    if (!rest.starts_with(sign.text))
      continue;
    position += sign.text.size();
    finish(token, sign.kind);
    return true;
  }
  return false;
}

void Lexer::lexWord(Token &token) {
  while (isWordPart(peek()))
    ++position;
  StringRef word = text.slice(token.begin, position);
  TokenKind kind = llvm::StringSwitch<TokenKind>(word)
#define TOKEN(Name, text)
#define PUNCT(Name, text)
#define KEYWORD(Name, text) .Case(text, TokenKind::Name)
#include "frontend/syntax/Token.def"
                       .Default(TokenKind::Ident);
  finish(token, kind);
}

void Lexer::skipDigits() {
  while (llvm::isDigit(peek()) || peek() == '_')
    ++position;
}

void Lexer::lexHexadecimal(Token &token) {
  position += 2;
  uint32_t digits = position;
  while (llvm::isHexDigit(peek()) || peek() == '_')
    ++position;
  uint32_t end = position;
  while (isWordPart(peek()))
    ++position;
  if (end == position &&
      text.slice(digits, end).find_if(llvm::isHexDigit) != StringRef::npos)
    return;
  report(DiagCode::malformed_number, token.begin, position,
         "`" + text.slice(token.begin, position).str() +
             "` is not a hexadecimal number")
      .help = "write 0x and then digits 0-9 and a-f";
}

/// Digits, then a fraction and an exponent. After a `.` only digits, so that
/// `t.0.1` selects twice.
void Lexer::lexNumber(Token &token) {
  if (previous == TokenKind::Dot) {
    while (llvm::isDigit(peek()))
      ++position;
    return finish(token, TokenKind::Int);
  }
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    lexHexadecimal(token);
    return finish(token, TokenKind::Int);
  }
  TokenKind kind = TokenKind::Int;
  skipDigits();
  bool endsInPoint = false;
  if (peek() == '.' && llvm::isDigit(peek(1))) {
    kind = TokenKind::Float;
    ++position;
    skipDigits();
  } else if (peek() == '.' && peek(1) != '.' && !isWordStart(peek(1))) {
    endsInPoint = true; // `1.`
    ++position;
  }
  size_t sign = peek(1) == '+' || peek(1) == '-';
  if ((peek() == 'e' || peek() == 'E') && llvm::isDigit(peek(1 + sign))) {
    kind = TokenKind::Float;
    position += 1 + sign;
    skipDigits();
  }
  uint32_t end = position;
  while (isWordPart(peek()))
    ++position;
  finish(token, endsInPoint ? TokenKind::Float : kind);
  std::string spelling = text.slice(token.begin, token.end).str();
  if (end != position) {
    report(DiagCode::malformed_number, token.begin, token.end,
           "`" + spelling + "` is no number")
        .help = "a number has no suffix: its type comes from where it stands, "
                "or from a conversion such as f32(1.5)";
  } else if (endsInPoint) {
    Diagnostic &diagnostic =
        report(DiagCode::malformed_number, token.begin, token.end,
               "a number does not end in a point");
    diagnostic.fixits.push_back(
        {{file, token.begin, token.end}, spelling + "0", "write the zero"});
  }
}

void Lexer::lexString(Token &token) {
  ++position;
  while (position < text.size() && peek() != '"' && peek() != '\n') {
    if (peek() != '\\') {
      ++position;
      continue;
    }
    if (!StringRef("nrt\"\\").contains(peek(1)) ||
        position + 1 >= text.size()) {
      Diagnostic &diagnostic = report(DiagCode::unknown_escape, position,
                                      position + 1, "this escape is not known");
      diagnostic.expected = R"(\n, \r, \t, \" or \\)";
      ++position;
      continue;
    }
    position += 2;
  }
  if (peek() == '"') {
    ++position;
  } else {
    report(DiagCode::unterminated_string, token.begin, position,
           "this string is not closed")
        .help = "a string ends with `\"` on the line where it begins";
  }
  finish(token, TokenKind::String);
}

/// Skips a run of characters that begin no token, with one message.
void Lexer::skipUnknown() {
  uint32_t begin = position;
  char c = peek();
  if (c == '&' || c == '^' || c == '~') {
    ++position;
    StringRef name = c == '&'   ? "bitwise_and"
                     : c == '^' ? "bitwise_xor"
                                : "bitwise_not";
    report(DiagCode::bit_operator, begin, position,
           std::string("there is no operator `") + c + "`")
        .help = "for bits there is the function " + name.str() +
                (c == '&'   ? "; for truth values the operator `&&`"
                 : c == '^' ? "; a power is `x ** 2`"
                            : "");
    return;
  }
  do
    ++position;
  while (position < text.size() && peek() != '\n' &&
         (c == '#' || peek() == c || (peek() & 0x80)));
  Diagnostic &diagnostic = report(DiagCode::unknown_character, begin, position,
                                  "the language does not use this character");
  if (c == '#')
    diagnostic.help = "a comment begins with //";
  else if (c == '\'')
    diagnostic.help = "strings stand in double quotes";
  else if (c == '?')
    diagnostic.help = "a choice is written `if c { a } else { b }`";
  else if (c & 0x80)
    diagnostic.help = "names are made of the letters a-z and A-Z, digits and _";
}

std::string astra::unescape(StringRef quoted) {
  quoted.consume_front("\"");
  std::string result;
  bool isClosed = false;
  for (size_t i = 0; i < quoted.size() && !isClosed; ++i) {
    if (quoted[i] == '"') {
      isClosed = true;
    } else if (quoted[i] == '\\' && i + 1 < quoted.size()) {
      char c = quoted[++i];
      result += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    } else {
      result += quoted[i];
    }
  }
  return result;
}
