// Literals, names, brackets, lambdas and struct literals. Part of the parser
// (ParserImpl.h).
#include "frontend/syntax/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace astra;
using namespace astra::ast;
using llvm::StringRef;

Expr *Parser::parsePrimary() {
  switch (token.kind) {
  case Kind::Int:
    return parseInt();
  case Kind::Float:
    return parseFloat();
  case Kind::True:
  case Kind::False: {
    auto *literal = make<BoolLitExpr>(here());
    literal->value = at(Kind::True);
    bump();
    return literal;
  }
  case Kind::None: {
    auto *literal = make<NoneLitExpr>(here());
    bump();
    return literal;
  }
  case Kind::Ident:
    return parseName();
  case Kind::LParen:
    return parseParenthesis();
  case Kind::LBracket:
    return parseArray();
  case Kind::LBrace:
    return parseBlock(/*needsValue=*/true);
  case Kind::Bar:
    return parseLambda();
  case Kind::If:
    return parseIf();
  case Kind::Loop:
    return parseLoop();
  case Kind::On:
    return parseOn();
  default:
    return parseNoValue();
  }
}

/// What cannot begin a value, with the message that fits.
Expr *Parser::parseNoValue() {
  SourceRange range = here();
  if (at(Kind::String)) {
    report(DiagCode::string_as_value, range, "a string is no value").help =
        "strings stand only as arguments of einsum and debug and as names of "
        "tests";
    bump();
  } else if (at(Kind::DotDot)) {
    report(DiagCode::range_as_value, range, "a range is no value").help =
        "ranges stand in an index, behind `for ... in`, and nowhere else; "
        "iota makes a tensor of numbers";
    bump();
  } else if (at(Kind::OrOr)) {
    report(DiagCode::empty_lambda, range, "`||` is \"or\", not a lambda").help =
        "a lambda has at least one parameter; `|_| x` ignores it";
    bump();
  } else if (at(Kind::Dot) && peek().kind == Kind::Int &&
             peek().begin == token.end) {
    SourceRange number = range.to(getRange(peek()));
    Diagnostic &diagnostic = report(DiagCode::malformed_number, number,
                                    "a number does not begin with a point");
    diagnostic.fixits.push_back(
        {number, "0" + text.slice(number.begin, number.end).str(),
         "write the zero"});
    bump();
    bump();
  } else {
    reportNoValue();
  }
  return makeError(range);
}

/// No value begins here; some of what does begin here has a form of its own.
void Parser::reportNoValue() {
  const char *help = "";
  if (at(Kind::For) || at(Kind::While))
    help = "a loop is a value: `loop (s = 0.0) for i in 0..n { s + x[i] }`";
  else if (at(Kind::Let))
    help = "a value of several lines stands in braces: `{ let y = x; y + y }`";
  else if (at(Kind::Colon))
    help = "a slice is written `a..b`, a whole axis `..`";
  Diagnostic &diagnostic =
      reportExpected(DiagCode::expected_expression, "a value");
  if (*help)
    diagnostic.help = help;
}

Expr *Parser::parseInt() {
  auto *literal = make<IntLitExpr>(here());
  std::string digits;
  for (char c : getText(token))
    if (c != '_')
      digits += llvm::toLower(c);
  StringRef rest = digits;
  unsigned radix = rest.consume_front("0x") ? 16 : 10;
  // A malformed number was reported by the lexer; only its size is news here.
  bool isNumber = llvm::all_of(rest, [&](char c) {
    return radix == 16 ? llvm::isHexDigit(c) : llvm::isDigit(c);
  });
  if (isNumber && !rest.empty() && rest.getAsInteger(radix, literal->value))
    diagnostics
        .report(DiagCode::integer_too_large, here(),
                "this whole number does not fit 64 bits")
        .help = "the largest is 18446744073709551615; 1e20 is a float";
  bump();
  return literal;
}

Expr *Parser::parseFloat() {
  auto *literal = make<FloatLitExpr>(here());
  std::string digits;
  for (char c : getText(token))
    if (llvm::isDigit(c) || StringRef(".eE+-").contains(c))
      digits += c;
  literal->text = module.copy(StringRef(digits));
  bump();
  return literal;
}

/// The caller knows that a string may stand here.
Expr *Parser::parseString() {
  auto *literal = make<StringLitExpr>(here());
  literal->value = module.copy(StringRef(unescape(getText(token))));
  bump();
  return literal;
}

Expr *Parser::parseName() {
  if (getText(token) == "_") {
    report(DiagCode::expected_expression, here(), "`_` has no value").help =
        "`_` stands in a pattern, for what is not needed";
    bump();
    return makeError(since(lastEnd));
  }
  auto *name = make<NameExpr>(here());
  name->name = getText(token);
  bump();
  return name;
}

/// (e), (a, b), (a,), ()
Expr *Parser::parseParenthesis() {
  uint32_t begin = token.begin;
  llvm::SmallVector<Expr *> elements;
  bool hasComma = false;
  parseList(Kind::LParen, Kind::RParen, [&] {
    elements.push_back(parseExpr());
    hasComma |= at(Kind::Comma);
  });
  if (elements.size() == 1 && !hasComma) {
    elements.front()->range = since(begin);
    return elements.front();
  }
  auto *tuple = make<TupleExpr>(since(begin));
  tuple->elements = module.copy<Expr *>(elements);
  return tuple;
}

/// [a, b] or [body for i in 0..n, j]
Expr *Parser::parseArray() {
  uint32_t begin = token.begin;
  llvm::SmallVector<Expr *> elements;
  List<GeneratorRange> ranges;
  bool isComprehension = false;
  parseList(Kind::LBracket, Kind::RBracket, [&] {
    if (isComprehension)
      report(DiagCode::generator_not_alone, here(),
             "nothing stands beside a comprehension in its brackets");
    elements.push_back(parseExpr());
    if (!at(Kind::For))
      return;
    if (elements.size() != 1)
      report(DiagCode::generator_not_alone, here(),
             "a comprehension has one value in front of its `for`");
    isComprehension = true;
    ranges = parseGenerators();
  });
  if (isComprehension) {
    auto *comprehension = make<ComprehensionExpr>(since(begin));
    comprehension->body = elements.front();
    comprehension->ranges = ranges;
    return comprehension;
  }
  auto *array = make<ArrayExpr>(since(begin));
  array->elements = module.copy<Expr *>(elements);
  return array;
}

/// for i in 0..n, j
List<GeneratorRange> Parser::parseGenerators() {
  llvm::SmallVector<GeneratorRange> ranges;
  bump();
  do {
    GeneratorRange range;
    range.name = parseIdent("a variable", Case::Small);
    if (at(Kind::Equal))
      report(DiagCode::generator_not_alone, since(range.name.range.begin),
             "a generator is the only argument of its call")
          .help = "put the generator in brackets to make an array of it";
    if (accept(Kind::In)) {
      range.range = parseRangeOrExpr();
      auto *bounds = llvm::dyn_cast<RangeExpr>(range.range);
      if (!bounds || !bounds->begin || !bounds->end)
        report(DiagCode::unexpected_token, range.range->range,
               "expected a range with both ends")
            .help = "for example `for i in 0..n`";
    }
    ranges.push_back(range);
  } while (!panic && accept(Kind::Comma));
  return module.copy<GeneratorRange>(ranges);
}

/// |x, (a, _), v: f32[k]| body
Expr *Parser::parseLambda() {
  auto *lambda = make<LambdaExpr>(here());
  llvm::SmallVector<Pattern *> params;
  parseList(Kind::Bar, Kind::Bar, [&] { params.push_back(parsePattern()); });
  lambda->params = module.copy<Pattern *>(params);
  lambda->body = parseExpr();
  lambda->range = since(lambda->range.begin);
  return lambda;
}

static bool isCapital(StringRef name) {
  name = name.ltrim('_');
  return !name.empty() && llvm::isUpper(name.front());
}

/// Whether the `{` behind `base` is a struct literal's and not a block's.
bool Parser::isStructLiteral(const Expr *base) {
  if (isAtLineEnd())
    return false;
  StringRef name;
  if (auto *plain = llvm::dyn_cast<NameExpr>(base))
    name = plain->name;
  else if (auto *field = llvm::dyn_cast<FieldExpr>(base);
           field && llvm::isa<NameExpr>(field->base))
    name = field->field.text;
  if (!isCapital(name))
    return false;
  if (!inHead)
    return true;
  // In a head it is a block, unless `{ name:` shows what was meant.
  StringRef inside = text.substr(token.end).ltrim();
  size_t length =
      inside.find_if_not([](char c) { return llvm::isAlnum(c) || c == '_'; });
  bool isMeant = length != 0 && length != StringRef::npos &&
                 inside.drop_front(length).ltrim().starts_with(":");
  if (isMeant)
    report(DiagCode::struct_literal_in_head, base->range.to(here()),
           "a struct literal does not stand bare in the head of `if`, `loop` "
           "or `on`")
        .help = "put parentheses around it";
  return isMeant;
}

Expr *Parser::parseStructLit(Expr *name) {
  auto *literal = make<StructLitExpr>(name->range);
  if (auto *field = llvm::dyn_cast<FieldExpr>(name)) {
    auto *base = llvm::cast<NameExpr>(field->base);
    literal->module = {base->name, base->range};
    literal->name = field->field;
  } else {
    literal->name = {llvm::cast<NameExpr>(name)->name, name->range};
  }
  literal->fields = parseFieldInits();
  literal->range = since(name->range.begin);
  return literal;
}

/// { a: x, b }
List<FieldInit> Parser::parseFieldInits() {
  llvm::SmallVector<FieldInit> fields;
  parseList(Kind::LBrace, Kind::RBrace, [&] {
    FieldInit field;
    field.name = parseIdent("a field", Case::Any);
    if (accept(Kind::Colon))
      field.value = parseExpr();
    if (!field.name.text.empty())
      fields.push_back(field);
  });
  return module.copy<FieldInit>(fields);
}
