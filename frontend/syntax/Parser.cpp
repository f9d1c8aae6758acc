// The parser's ground: tokens, names, lists, recovery and limits. Which text is
// which tree is in the other Parser*.cpp files.
#include "frontend/syntax/Parser.h"
#include "frontend/syntax/Habits.h"
#include "frontend/syntax/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace astra;
using llvm::StringRef;

namespace {
constexpr unsigned maxDepth = 256;
constexpr unsigned maxHeight = 512;
constexpr size_t maxTreeBytes = size_t(256) << 20;
} // namespace

std::unique_ptr<ast::Module> astra::parseFile(uint32_t file,
                                              SourceManager &sources,
                                              DiagnosticEngine &diagnostics) {
  auto module = std::make_unique<ast::Module>();
  module->name = llvm::sys::path::stem(sources.getPath(file)).str();
  module->file = file;
  Parser(file, sources, diagnostics, *module).parseModule();
  return module;
}

Parser::Parser(uint32_t file, SourceManager &sources,
               DiagnosticEngine &diagnostics, ast::Module &module)
    : file(file), text(sources.getText(file)), diagnostics(diagnostics),
      module(module), lexer(file, sources, diagnostics),
      errorsBefore(diagnostics.getErrorCount()) {}

void Parser::parseModule() {
  if (!lexer.checkEncoding())
    return;
  bump();
  lastEnd = 0;
  while (!at(Kind::Eof))
    parseItem();
}

//===-- Tokens ------------------------------------------------------------===//

const Token &Parser::peek() {
  if (!lookahead)
    lookahead = lexer.next();
  return *lookahead;
}

void Parser::bump() {
  lastEnd = token.end;
  if (lookahead) {
    token = *lookahead;
    lookahead.reset();
  } else {
    token = lexer.next();
  }
  checkLimits();
}

bool Parser::accept(Kind kind) {
  if (!at(kind))
    return false;
  bump();
  return true;
}

bool Parser::acceptWord(StringRef word) {
  if (!atWord(word))
    return false;
  bump();
  return true;
}

bool Parser::expect(Kind kind, StringRef where) {
  if (accept(kind))
    return true;
  reportExpected(DiagCode::unexpected_token, describe(kind), where);
  return false;
}

StringRef Parser::getText(const Token &token) const {
  return text.slice(token.begin, token.end);
}

SourceRange Parser::getRange(const Token &token) const {
  return {file, token.begin, token.end};
}

SourceRange Parser::since(uint32_t begin) const {
  return {file, begin, std::max(begin, lastEnd)};
}

std::string Parser::describeToken() const {
  switch (token.kind) {
  case Kind::Eof:
    return describe(Kind::Eof);
  case Kind::Ident:
  case Kind::Int:
  case Kind::Float:
    return "`" + getText(token).take_front(40).str() + "`";
  case Kind::String:
    return "a string";
  default:
    if (isKeyword(token.kind))
      return "the reserved word " + describe(token.kind);
    return describe(token.kind);
  }
}

//===-- Errors and recovery -----------------------------------------------===//

Diagnostic &Parser::report(DiagCode code, SourceRange range,
                           std::string message) {
  if (panic || stopped) {
    silent = Diagnostic{};
    return silent;
  }
  panic = true;
  ++errorCount;
  return diagnostics.report(code, range, std::move(message));
}

/// "expected `)` after the arguments", at the token; where the line ended too
/// early, behind what stands before it.
Diagnostic &Parser::reportExpected(DiagCode code, StringRef what,
                                   StringRef where) {
  bool isLineEnd = code != DiagCode::expected_item &&
                   ((token.newlineBefore && lastEnd != 0) || at(Kind::Eof));
  SourceRange range =
      isLineEnd ? SourceRange{file, lastEnd, lastEnd} : getRange(token);
  std::string message = "expected " + what.str();
  if (!where.empty())
    message += " " + where.str();
  std::string found = describeToken();
  if (isLineEnd && !at(Kind::Eof))
    found += " on the next line";
  Diagnostic &diagnostic = report(code, range, message);
  if (at(Kind::Bar))
    diagnostic.help = "there are no bit operators; for bits there is the "
                      "function bitwise_or, for truth values `||`";
  else if (at(Kind::Ident) && !isLineEnd)
    diagnostic.help = getHabitHelp(getText(token)).str();
  diagnostic.expected = what.str();
  diagnostic.found = found;
  return diagnostic;
}

ast::Expr *Parser::makeError(SourceRange range) {
  return make<ast::ErrorExpr>(range);
}

ast::Expr *Parser::parseSound() {
  unsigned before = errorCount, lexerBefore = lexer.getErrorCount();
  ast::Expr *value = parseExpr();
  bool isSound = errorCount == before && lexer.getErrorCount() == lexerBefore;
  errorCount = before; // whoever stands around it may still be sound
  return isSound ? value : makeError(value->range);
}

bool Parser::isItemStart() const {
  if (!token.newlineBefore)
    return false;
  switch (token.kind) {
  case Kind::Fn:
  case Kind::Const:
  case Kind::Struct:
  case Kind::Import:
  case Kind::Export:
  case Kind::Test:
  case Kind::Derivative:
    return true;
  default:
    return false;
  }
}

static bool isOpening(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LBracket ||
         kind == TokenKind::LBrace;
}

static bool isClosing(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket ||
         kind == TokenKind::RBrace;
}

/// Skips one token, or a bracket with all that is in it; stops early where an
/// item begins, since a bracket is missing then.
void Parser::skipBalanced() {
  size_t open = 0;
  do {
    if (isOpening(token.kind))
      ++open;
    else if (isClosing(token.kind) && open > 0)
      --open;
    if (open > maxDepth)
      return giveUp(); // what stands here is reported, and there is no end
    bump();
  } while (open > 0 && !at(Kind::Eof) && !isItemStart());
}

/// To the next `,` or `close` of the list that is being read, or to a place
/// that shows that the list was never closed.
void Parser::syncElement(Kind close) {
  while (!at(Kind::Eof) && !at(Kind::Comma) && !isClosing(token.kind) &&
         !isItemStart()) {
    // A stray `->` shows that a head's `)` is missing.
    if (at(close) || at(Kind::Arrow) || (token.newlineBefore && at(Kind::Let)))
      return;
    skipBalanced();
  }
  if (at(Kind::Comma) || at(close))
    panic = false;
}

/// To the next statement of the innermost block.
void Parser::syncStatement() {
  while (!at(Kind::Eof) && !at(Kind::RBrace) && !at(Kind::Semicolon) &&
         !token.newlineBefore)
    skipBalanced();
  panic = false;
}

void Parser::syncItem() {
  while (!at(Kind::Eof) && !isItemStart())
    bump();
  panic = false;
}

/// Reads nothing more of this file; what is open ends here, silently.
void Parser::giveUp() {
  lexer.stop();
  lookahead.reset();
  token = lexer.next();
  stopped = true;
}

void Parser::checkLimits() {
  stopped |= lexer.isStopped();
  // What the lexer could not read makes the rest of the statement doubtful.
  panic |= lexer.getErrorCount() != lexerErrors;
  lexerErrors = lexer.getErrorCount();
  if (at(Kind::Eof) || stopped)
    return;
  if (diagnostics.getErrorCount() >= errorsBefore + Lexer::maxErrors)
    return giveUp();
  if (module.arena.getBytesAllocated() < maxTreeBytes)
    return;
  panic = false;
  report(DiagCode::program_too_large, here(), "the program is too large").help =
      "split it into modules, or load large data at run time";
  giveUp();
}

Parser::Nesting::Nesting(Parser &parser)
    : parser(parser), outerHeight(parser.height) {
  parser.height = 0;
  if (++parser.depth <= maxDepth || parser.at(Kind::Eof))
    return;
  parser.panic = false;
  parser
      .report(DiagCode::nested_too_deeply, parser.here(),
              "this is nested more than " + std::to_string(maxDepth) +
                  " levels deep")
      .help = "name parts of it with `let` or move them to functions";
  parser.giveUp();
}

Parser::Nesting::~Nesting() {
  --parser.depth;
  parser.height = std::max(outerHeight, parser.height + 1);
}

void Parser::grow() {
  if (++height <= maxHeight || at(Kind::Eof))
    return;
  panic = false;
  report(DiagCode::nested_too_deeply, here(),
         "this expression is a chain of more than " +
             std::to_string(maxHeight) + " operations")
      .help = "name parts of it with `let` or move them to functions";
  giveUp();
}

void Parser::parseList(Kind open, Kind close,
                       llvm::function_ref<void()> element) {
  SourceRange opening = here();
  bump();
  Scoped<bool> lines(linesMatter, false);
  Scoped<bool> head(inHead, false);
  bool isReported = false;
  while (!at(close) && !at(Kind::Eof)) {
    uint32_t before = token.begin;
    element();
    if (accept(Kind::Comma)) {
      panic = false;
      continue;
    }
    if (at(close))
      break;
    bool isCut = at(Kind::Eof) || at(Kind::Let) || isItemStart() ||
                 isClosing(token.kind);
    if (!panic && isCut)
      break;
    isReported |= panic;
    if (!panic && !isReported)
      reportSeparator(close);
    isReported = true;
    if (!panic && token.begin != before)
      continue;
    syncElement(close);
    if (!accept(Kind::Comma))
      break;
    panic = false;
  }
  if (accept(close)) {
    panic = false;
    return;
  }
  panic |= isReported;
  report(DiagCode::unclosed_bracket, opening,
         "this " + describe(open) + " is not closed")
      .expected = describe(close);
}

/// Between the elements of a list. At a line's end the comma is the obvious
/// fix. There, and where a name follows, the list goes on as if it were there.
void Parser::reportSeparator(Kind close) {
  bool isLineEnd = token.newlineBefore;
  Diagnostic &diagnostic =
      reportExpected(DiagCode::unexpected_token, "`,` or " + describe(close));
  if (isLineEnd)
    diagnostic.fixits.push_back(
        {{file, lastEnd, lastEnd}, ",", "add the comma"});
  panic &= !isLineEnd && !at(Kind::Ident);
}

//===-- Names -------------------------------------------------------------===//

ast::Ident Parser::parseIdent(StringRef what, Case wanted) {
  if (at(Kind::Ident)) {
    ast::Ident ident{getText(token), here()};
    checkCase(ident, what, wanted);
    bump();
    return ident;
  }
  if (isKeyword(token.kind)) {
    report(DiagCode::reserved_word, here(),
           describe(token.kind) + " is a reserved word and cannot be " +
               what.str())
        .help =
        "choose another name, for example `" + getText(token).str() + "_`";
    if (!isItemStart() && !(token.newlineBefore && at(Kind::Let)))
      bump();
  } else {
    reportExpected(DiagCode::unexpected_token, what);
  }
  return {"", {file, lastEnd, lastEnd}};
}

/// Only the first letter counts: `_Hidden` begins with a capital.
void Parser::checkCase(const ast::Ident &ident, StringRef what, Case wanted) {
  StringRef word = ident.text.ltrim('_');
  if (wanted == Case::Any || word.empty() || panic)
    return;
  bool isCapital = word.front() >= 'A' && word.front() <= 'Z';
  bool isSmall = word.front() >= 'a' && word.front() <= 'z';
  if (wanted == Case::Capital ? isCapital : isSmall || !isCapital)
    return;
  std::string better = ident.text.str();
  char &letter = better[ident.text.size() - word.size()];
  letter =
      wanted == Case::Capital ? llvm::toUpper(letter) : llvm::toLower(letter);
  bool wantsCapital = wanted == Case::Capital;
  Diagnostic &diagnostic =
      diagnostics.report(DiagCode::wrong_case, ident.range,
                         what.str() + " begins with a " +
                             (wantsCapital ? "capital" : "small") + " letter");
  diagnostic.help = "types and constants begin with a capital letter, all else "
                    "with a small one";
  if (better != ident.text)
    diagnostic.fixits.push_back(
        {ident.range, better, "call it `" + better + "`"});
}
