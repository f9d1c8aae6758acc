// Blocks, statements, if, loop and on. Part of the parser (ParserImpl.h).
#include "frontend/syntax/Habits.h"
#include "frontend/syntax/ParserImpl.h"

using namespace astra;
using namespace astra::ast;

Expr *Parser::parseBlock(bool needsValue) {
  auto *block = make<BlockExpr>(here());
  SourceRange opening = here();
  bump();
  Scoped<bool> lines(linesMatter, true);
  Scoped<bool> head(inHead, false);
  llvm::SmallVector<Statement> statements;
  bool hasError = false;
  while (!at(Kind::RBrace) && !at(Kind::Eof) && !isItemStart()) {
    if (accept(Kind::Semicolon))
      continue;
    hasError |= !parseStatement(statements);
  }
  if (!accept(Kind::RBrace))
    report(DiagCode::unclosed_bracket, opening, "this `{` is not closed")
        .expected = "`}`";
  bool hasValue = !statements.empty() && !statements.back().pattern;
  if (hasValue) {
    block->result = statements.back().value;
    statements.pop_back();
  } else if (needsValue && !hasError) {
    report(DiagCode::block_without_value,
           {file, std::max(opening.begin, lastEnd - 1), lastEnd},
           "this block does not end in a value")
        .help = "the last line of a block is its value";
    block->result = makeError(opening);
    panic = false;
  } else if (needsValue) {
    block->result = makeError(opening);
  }
  block->statements = module.copy<Statement>(statements);
  block->range = since(opening.begin);
  return block;
}

/// One statement and its end; false if it had an error.
bool Parser::parseStatement(llvm::SmallVectorImpl<Statement> &statements) {
  uint32_t begin = token.begin;
  unsigned errorsAtStart = errorCount;
  Statement statement;
  if (at(Kind::Let)) {
    parseLet(statement);
  } else {
    statement.value = parseSound();
    if (!isAtLineEnd() && (at(Kind::Equal) || at(Kind::PlusEqual)))
      parseAssignment(statement.value);
  }
  statement.range = since(begin);
  statements.push_back(statement);
  bool isEnd = at(Kind::RBrace) || at(Kind::Semicolon) || at(Kind::Eof) ||
               token.newlineBefore;
  if (!isEnd)
    reportStatementEnd(statement);
  errorCount = errorsAtStart; // the block around it goes on
  if (!panic)
    return true;
  if (token.begin == begin && !at(Kind::Eof))
    skipBalanced();
  syncStatement();
  return false;
}

void Parser::reportStatementEnd(const Statement &statement) {
  Diagnostic &diagnostic =
      reportExpected(DiagCode::missing_separator, "the end of the line or `;`",
                     "after the statement");
  auto *name = llvm::dyn_cast<NameExpr>(statement.value);
  if (name && diagnostic.help.empty())
    diagnostic.help = getHabitHelp(name->name).str();
}

void Parser::parseLet(Statement &statement) {
  bump();
  statement.pattern = parsePattern();
  if (expect(Kind::Equal, "and the variable's value"))
    statement.value = parseSound();
  else
    statement.value = makeError(here());
}

/// `x = 1` as a statement: what was meant is a new variable.
void Parser::parseAssignment(const Expr *target) {
  Diagnostic &diagnostic =
      report(DiagCode::assignment, here(), "values cannot be assigned to");
  if (llvm::isa<NameExpr>(target) && at(Kind::Equal))
    diagnostic.fixits.push_back(
        {{file, target->range.begin, target->range.begin},
         "let ",
         "make a new variable of that name"});
  else if (llvm::isa<IndexExpr>(target))
    diagnostic.help = "`x with [i] = v` is x with one element replaced";
  else
    diagnostic.help = "every value is immutable; `let` makes a new one, and a "
                      "loop carries its state in `loop (x = x0) ...`";
  bump();
  parseExpr();
}

/// A condition or a loop's bounds: no bare struct literal.
Expr *Parser::parseHead() {
  Scoped<bool> head(inHead, true);
  return parseRangeOrExpr();
}

Expr *Parser::parseIf() {
  Nesting nesting(*this);
  auto *result = make<IfExpr>(here());
  bump();
  {
    Scoped<bool> head(inHead, true);
    result->condition = parseExpr();
  }
  result->thenExpr = parseBody("after the condition");
  if (!at(Kind::Else)) {
    result->range = since(result->range.begin);
    result->elseExpr = makeError(result->range);
    report(DiagCode::missing_else, result->range, "this `if` has no `else`")
        .help = "an `if` is a value: give the one of the other case";
    return result;
  }
  bump();
  result->elseExpr = at(Kind::If) ? parseIf() : parseBody("after `else`");
  result->range = since(result->range.begin);
  return result;
}

/// The block of an if, loop or on.
Expr *Parser::parseBody(llvm::StringRef where) {
  if (at(Kind::LBrace))
    return parseBlock(/*needsValue=*/true);
  expect(Kind::LBrace, where);
  return makeError(here());
}

/// loop (x = x0, v) for t in a..b { } or loop (...) while c { }
Expr *Parser::parseLoop() {
  auto *loop = make<LoopExpr>(here());
  bump();
  loop->state = parseLoopState();
  if (accept(Kind::For)) {
    loop->counter = parsePattern();
    if (expect(Kind::In, "after the loop's variable"))
      loop->range = parseHead();
    else
      loop->range = makeError(here());
    auto *range = llvm::dyn_cast<RangeExpr>(loop->range);
    if (!range || !range->begin || !range->end)
      report(DiagCode::unexpected_token, loop->range->range,
             "expected a range with both ends")
          .help = "for example `for t in 0..n`";
  } else if (accept(Kind::While)) {
    Scoped<bool> head(inHead, true);
    loop->condition = parseExpr();
  } else {
    reportExpected(DiagCode::unexpected_token, "`for` or `while`",
                   "after the loop's state");
    loop->condition = makeError(here());
  }
  loop->checkpoint = acceptWord("checkpoint");
  loop->body = parseBody("and the loop's body");
  loop->Expr::range = since(loop->Expr::range.begin);
  return loop;
}

/// (x = x0, e: f32 = 1.0, v)
List<LoopState> Parser::parseLoopState() {
  llvm::SmallVector<LoopState> states;
  if (!at(Kind::LParen)) {
    expect(Kind::LParen, "and the loop's state, as in `loop (x = x0)`");
    return {};
  }
  parseList(Kind::LParen, Kind::RParen, [&] {
    LoopState state;
    state.name = parseIdent("a variable", Case::Small);
    if (accept(Kind::Colon))
      state.type = parseType();
    if (accept(Kind::Equal))
      state.init = parseExpr();
    states.push_back(state);
  });
  return module.copy<LoopState>(states);
}

/// on cuda(0) { ... }
Expr *Parser::parseOn() {
  auto *on = make<OnExpr>(here());
  Device device = parseDevice();
  on->device = device.name;
  on->index = device.index;
  on->body = parseBody("after the device");
  on->range = since(on->range.begin);
  return on;
}
