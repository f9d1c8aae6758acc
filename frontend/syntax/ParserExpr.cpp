// Operators, calls, fields and indices, from loose to tight. Part of the parser
// (ParserImpl.h).
#include "frontend/syntax/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace astra;
using namespace astra::ast;
using llvm::StringRef;

namespace {
struct OperatorRow {
  TokenKind kind;
  BinaryOp op;
  int level; // higher binds tighter
};
constexpr int comparisonLevel = 3;
const OperatorRow operators[] = {
    {TokenKind::OrOr, BinaryOp::Or, 1},
    {TokenKind::AndAnd, BinaryOp::And, 2},
    {TokenKind::EqualEqual, BinaryOp::Eq, comparisonLevel},
    {TokenKind::NotEqual, BinaryOp::Ne, comparisonLevel},
    {TokenKind::Less, BinaryOp::Lt, comparisonLevel},
    {TokenKind::LessEqual, BinaryOp::Le, comparisonLevel},
    {TokenKind::Greater, BinaryOp::Gt, comparisonLevel},
    {TokenKind::GreaterEqual, BinaryOp::Ge, comparisonLevel},
    {TokenKind::Plus, BinaryOp::Add, 4},
    {TokenKind::Minus, BinaryOp::Sub, 4},
    {TokenKind::Star, BinaryOp::Mul, 5},
    {TokenKind::Slash, BinaryOp::Div, 5},
    {TokenKind::Percent, BinaryOp::Rem, 5},
    {TokenKind::At, BinaryOp::MatMul, 5},
};
} // namespace

static const OperatorRow *findOperator(TokenKind kind) {
  for (const OperatorRow &row : operators)
    if (row.kind == kind)
      return &row;
  return nullptr;
}

/// 0 if the token is no binary operator of this table.
int Parser::getLevel(Kind kind) const {
  const OperatorRow *row = findOperator(kind);
  return row ? row->level : 0;
}

/// Whether the token, if it is a binary operator, belongs to the expression
/// before it: at a line's beginning `-s` is a value and `- s` goes on.
bool Parser::continuesExpression() const {
  return !isAtLineEnd() || !at(Kind::Minus) || token.spaceAfter;
}

/// A whole value; `..` behind it is an error.
Expr *Parser::parseExpr() {
  Expr *value = parseOpenExpr();
  return at(Kind::DotDot) ? parseNoValue() : value;
}

/// A value that may be the beginning of a range: pipes, with lambdas as
/// operands.
Expr *Parser::parseOpenExpr() {
  Nesting nesting(*this);
  Expr *lhs = parseWith();
  while (at(Kind::PipeGreater)) {
    grow();
    bump();
    Expr *callee = parseWith();
    auto *call = make<CallExpr>(lhs->range.to(callee->range));
    call->callee = callee;
    call->isPipe = true;
    Argument argument;
    argument.value = lhs;
    call->args = module.copy<Argument>({argument});
    lhs = call;
  }
  return lhs;
}

Expr *Parser::parseWith() {
  Expr *value = parseBinary(1);
  while (at(Kind::With)) {
    grow();
    value = parseWithTail(value);
  }
  return value;
}

/// `with [i] = v`, `with [i] += v`, `with { lr: 0.1 }`
Expr *Parser::parseWithTail(Expr *base) {
  auto *with = make<WithExpr>(base->range);
  bump();
  with->base = base;
  if (at(Kind::LBrace)) {
    with->isFields = true;
    with->fields = parseFieldInits();
  } else if (at(Kind::LBracket)) {
    with->indices = parseIndices();
    with->isAdd = at(Kind::PlusEqual);
    if (at(Kind::Equal) || at(Kind::PlusEqual)) {
      bump();
      with->value = parseBinary(1);
    } else {
      reportExpected(DiagCode::unexpected_token, "`=` or `+=`",
                     "and the new value");
      with->value = makeError(here());
    }
  } else {
    reportExpected(DiagCode::unexpected_token, "`[` or `{`", "after `with`");
    return makeError(since(base->range.begin));
  }
  with->range = since(base->range.begin);
  return with;
}

Expr *Parser::parseBinary(int level) {
  Expr *lhs = parseAs();
  bool hasComparison = false;
  while (const OperatorRow *row = findOperator(token.kind)) {
    if (row->level < level || !continuesExpression())
      break;
    bool isComparison = row->level == comparisonLevel;
    if (isComparison && hasComparison)
      report(DiagCode::chained_comparison, here(), "comparisons do not chain")
          .help = "write a < b && b < c";
    hasComparison = isComparison;
    SourceRange opRange = here();
    grow();
    bump();
    Expr *rhs;
    {
      Nesting nesting(*this);
      rhs = parseBinary(row->level + 1);
    }
    auto *binary = make<BinaryExpr>(lhs->range.to(rhs->range));
    binary->op = row->op;
    binary->opRange = opRange;
    binary->lhs = lhs;
    binary->rhs = rhs;
    lhs = binary;
  }
  return lhs;
}

/// `x as f32[n, d]`
Expr *Parser::parseAs() {
  Expr *value = parseUnary();
  while (at(Kind::As)) {
    grow();
    bump();
    auto *as = make<AsExpr>(value->range);
    as->operand = value;
    as->type = parseType();
    as->range = since(value->range.begin);
    value = as;
  }
  return value;
}

Expr *Parser::parseUnary() {
  if (!at(Kind::Minus) && !at(Kind::Not))
    return parsePower();
  Nesting nesting(*this);
  auto *unary = make<UnaryExpr>(here());
  unary->op = at(Kind::Minus) ? UnaryOp::Neg : UnaryOp::Not;
  bump();
  unary->operand = parseUnary();
  unary->range = since(unary->range.begin);
  return unary;
}

/// `**` groups to the right, and its right side may have a sign: `x ** -2`.
Expr *Parser::parsePower() {
  Expr *base = parsePostfix();
  if (!at(Kind::StarStar))
    return base;
  Nesting nesting(*this);
  SourceRange opRange = here();
  grow();
  bump();
  Expr *exponent = parseUnary();
  auto *power = make<BinaryExpr>(base->range.to(exponent->range));
  power->op = BinaryOp::Pow;
  power->opRange = opRange;
  power->lhs = base;
  power->rhs = exponent;
  return power;
}

Expr *Parser::parsePostfix() {
  Expr *value = parsePrimary();
  while (true) {
    if (at(Kind::Dot))
      value = parseField(value);
    else if (at(Kind::LParen) && !isAtLineEnd())
      value = parseCall(value);
    else if (at(Kind::LBracket) && !isAtLineEnd())
      value = parseIndex(value);
    else if (at(Kind::LBrace) && isStructLiteral(value))
      value = parseStructLit(value);
    else
      return value;
    grow();
  }
}

/// a.b, t.0, x.T
Expr *Parser::parseField(Expr *base) {
  auto *field = make<FieldExpr>(base->range);
  bump();
  field->base = base;
  if (at(Kind::Int)) {
    field->field = {getText(token), here()};
    bump();
  } else {
    field->field = parseIdent("a field", Case::Any);
  }
  field->range = since(base->range.begin);
  return field;
}

Expr *Parser::parseCall(Expr *callee) {
  auto *call = make<CallExpr>(callee->range);
  llvm::SmallVector<Argument> args;
  call->callee = callee;
  parseList(Kind::LParen, Kind::RParen, [&] { parseArgument(args); });
  bool isAlone = args.size() == 1;
  for (const Argument &arg : args)
    if (!isAlone && llvm::isa<GeneratorExpr>(arg.value))
      report(DiagCode::generator_not_alone, arg.value->range,
             "a generator is the only argument of its call")
          .help = "put the generator in brackets to make an array of it";
  call->args = module.copy<Argument>(args);
  call->range = since(callee->range.begin);
  return call;
}

/// f(x), f(axis = 1), einsum("ij->ji", x), sum(x[i] for i)
void Parser::parseArgument(llvm::SmallVectorImpl<Argument> &args) {
  Argument arg;
  if (at(Kind::Ident) && peek().kind == Kind::Equal) {
    arg.name = parseIdent("a parameter", Case::Any);
    bump();
  }
  arg.value = at(Kind::String) ? parseString() : parseExpr();
  if (at(Kind::For)) {
    auto *generator = make<GeneratorExpr>(arg.value->range);
    generator->body = arg.value;
    generator->ranges = parseGenerators();
    generator->range = since(arg.value->range.begin);
    grow();
    if (!arg.name.text.empty())
      report(DiagCode::generator_not_alone, generator->range,
             "a generator is not given by name");
    arg.value = generator;
  }
  args.push_back(arg);
}

Expr *Parser::parseIndex(Expr *base) {
  auto *index = make<IndexExpr>(base->range);
  index->base = base;
  index->indices = parseIndices();
  index->range = since(base->range.begin);
  return index;
}

/// [i, 1..5, .., ..b] of an index, an update or a tensor's type.
List<Expr *> Parser::parseIndices() {
  llvm::SmallVector<Expr *> indices;
  parseList(Kind::LBracket, Kind::RBracket,
            [&] { indices.push_back(parseRangeOrExpr()); });
  return module.copy<Expr *>(indices);
}

/// a..b, ..b, a.., .. or a value.
Expr *Parser::parseRangeOrExpr() {
  Nesting nesting(*this);
  uint32_t begin = token.begin;
  Expr *first = at(Kind::DotDot) ? nullptr : parseOpenExpr();
  if (!at(Kind::DotDot))
    return first;
  bump();
  auto *range = make<RangeExpr>(since(begin));
  range->begin = first;
  if (at(Kind::Equal))
    report(DiagCode::unexpected_token, here(), "a range has no `=`").help =
        "the end of a range is exclusive: write 0..n + 1";
  bool isOpen = at(Kind::Comma) || at(Kind::RBracket) || at(Kind::RParen) ||
                at(Kind::RBrace) || at(Kind::LBrace) || at(Kind::Eof);
  if (!isOpen && !panic)
    range->end = parseBinary(getLevel(Kind::Plus));
  range->range = since(begin);
  return range;
}
