// Types and patterns. Part of the parser (ParserImpl.h).
#include "frontend/syntax/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace astra;
using namespace astra::ast;
using llvm::StringRef;

TypeExpr *Parser::makeType(TypeKind kind, SourceRange range) {
  auto *type = module.make<TypeExpr>();
  type->kind = kind;
  type->range = range;
  return type;
}

TypeExpr *Parser::parseType() {
  Nesting nesting(*this);
  switch (token.kind) {
  case Kind::Ident:
    return parseNamedType();
  case Kind::Fn:
    return parseFnType();
  case Kind::LParen:
    return parseTupleType();
  case Kind::LBracket:
    return parseArrayType();
  default:
    reportExpected(DiagCode::expected_type, "a type").help =
        "for example f32, f32[n, 64], Mlp, (f32, i32) or [Block<d>; 4]";
    return makeType(TypeKind::Error, here());
  }
}

/// f32, T, Mlp, nn.Dense<64, 2*d>, f32[n, 64]
TypeExpr *Parser::parseNamedType() {
  TypeExpr *type = makeType(TypeKind::Named, here());
  type->name = parseIdent("a type", Case::Any);
  if (at(Kind::Dot)) {
    bump();
    type->module = type->name;
    type->name = parseIdent("a type", Case::Any);
  }
  parseTypeTail(type);
  type->range = since(type->range.begin);
  return type;
}

/// The <...> and [...] behind a type's name.
void Parser::parseTypeTail(TypeExpr *type) {
  if (at(Kind::Less) && !isAtLineEnd()) {
    llvm::SmallVector<Expr *> args;
    SourceRange opening = here();
    bump();
    Scoped<bool> lines(linesMatter, false);
    Scoped<bool> head(inHead, false);
    do {
      if (at(Kind::Greater))
        break; // a trailing comma
      args.push_back(parseTypeArg());
    } while (!panic && accept(Kind::Comma));
    type->args = module.copy<Expr *>(args);
    if (!acceptGreater() && !panic) {
      Diagnostic &diagnostic =
          reportExpected(DiagCode::unexpected_token, "`,` or `>`");
      if (!panic)
        return;
      diagnostic.notes.push_back({opening, "the `<` is here"});
    }
  }
  if (at(Kind::LBracket) && !isAtLineEnd()) {
    type->kind = TypeKind::Tensor;
    type->dims = parseIndices();
  }
}

/// `>`, also as the front half of `>=`: `let x: Dense<2>= e`.
bool Parser::acceptGreater() {
  if (accept(Kind::Greater))
    return true;
  if (!at(Kind::GreaterEqual))
    return false;
  lastEnd = ++token.begin;
  token.kind = Kind::Equal;
  return true;
}

/// A dimension, the name of a type, or a type that is no expression.
Expr *Parser::parseTypeArg() {
  uint32_t begin = token.begin;
  TypeExpr *type = nullptr;
  if (at(Kind::LBracket) || at(Kind::Fn)) {
    type = parseType();
  } else {
    Nesting nesting(*this);
    Expr *arg = parseBinary(getLevel(Kind::Plus));
    if (!at(Kind::Less))
      return arg;
    // An expression ends before `<`; what has parameters is a type.
    type = makeType(TypeKind::Named, arg->range);
    if (auto *name = llvm::dyn_cast<NameExpr>(arg)) {
      type->name = {name->name, name->range};
    } else if (auto *field = llvm::dyn_cast<FieldExpr>(arg);
               field && llvm::isa<NameExpr>(field->base)) {
      auto *base = llvm::cast<NameExpr>(field->base);
      type->module = {base->name, base->range};
      type->name = field->field;
    } else {
      reportExpected(DiagCode::unexpected_token, "`,` or `>`");
      return arg;
    }
    parseTypeTail(type);
    type->range = since(begin);
  }
  auto *arg = make<TypeArgExpr>(type->range);
  arg->type = type;
  return arg;
}

TypeExpr *Parser::parseFnType() {
  TypeExpr *type = makeType(TypeKind::Fn, here());
  bump();
  llvm::SmallVector<TypeExpr *> params;
  if (at(Kind::LParen))
    parseList(Kind::LParen, Kind::RParen,
              [&] { params.push_back(parseType()); });
  else
    expect(Kind::LParen, "before the parameters' types");
  type->elements = module.copy<TypeExpr *>(params);
  if (expect(Kind::Arrow, "and the result's type"))
    type->element = parseType();
  else
    type->element = makeType(TypeKind::Error, here());
  type->range = since(type->range.begin);
  return type;
}

/// (A, B), (A,), (); (A) is A.
TypeExpr *Parser::parseTupleType() {
  TypeExpr *type = makeType(TypeKind::Tuple, here());
  llvm::SmallVector<TypeExpr *> elements;
  bool hasComma = false;
  parseList(Kind::LParen, Kind::RParen, [&] {
    elements.push_back(parseType());
    hasComma |= at(Kind::Comma);
  });
  if (elements.size() == 1 && !hasComma)
    return elements.front();
  type->elements = module.copy<TypeExpr *>(elements);
  type->range = since(type->range.begin);
  return type;
}

/// [Block<d>; 4]
TypeExpr *Parser::parseArrayType() {
  TypeExpr *type = makeType(TypeKind::Array, here());
  SourceRange opening = here();
  bump();
  Scoped<bool> lines(linesMatter, false);
  Scoped<bool> head(inHead, false);
  type->element = parseType();
  if (!expect(Kind::Semicolon, "and the number of elements, as in [f32; 4]")) {
    type->count = makeError(here());
    syncElement(Kind::RBracket);
  } else {
    type->count = parseExpr();
  }
  if (!accept(Kind::RBracket))
    report(DiagCode::unclosed_bracket, opening, "this `[` is not closed")
        .expected = "`]`";
  type->range = since(type->range.begin);
  return type;
}

/// A name, `_` or a tuple of patterns; each may have a type.
Pattern *Parser::parsePattern() {
  Nesting nesting(*this);
  auto *pattern = module.make<Pattern>();
  pattern->range = here();
  if (at(Kind::LParen)) {
    pattern->isTuple = true;
    llvm::SmallVector<Pattern *> elements;
    parseList(Kind::LParen, Kind::RParen,
              [&] { elements.push_back(parsePattern()); });
    pattern->elements = module.copy<Pattern *>(elements);
  } else if (at(Kind::Ident) || isKeyword(token.kind)) {
    pattern->name = parseIdent("a variable", Case::Small);
    if (pattern->name.text.empty())
      pattern->name.text = "_"; // reported; takes whatever comes
  } else {
    reportExpected(DiagCode::expected_pattern, "a name or a pattern").help =
        "for example x, _ or (a, b)";
    pattern->name.text = "_";
    return pattern;
  }
  if (accept(Kind::Colon))
    pattern->type = parseType();
  pattern->range = since(pattern->range.begin);
  return pattern;
}
