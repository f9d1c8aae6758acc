// Declarations: fn, struct, const, import, test, derivative. Part of the parser
// (ParserImpl.h).
#include "frontend/syntax/ParserImpl.h"

using namespace astra;
using namespace astra::ast;
using llvm::StringRef;

/// The text of `///` lines without the slashes and one blank.
StringRef Parser::parseDoc(const Token &token) {
  if (token.docEnd == 0)
    return "";
  std::string doc;
  StringRef rest = text.slice(token.docBegin, token.docEnd);
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    line = line.trim(" \t\r");
    if (!line.consume_front("///"))
      continue; // an ordinary comment between two doc lines
    line.consume_front(" ");
    if (!doc.empty())
      doc += '\n';
    doc += line;
  }
  return module.copy(StringRef(doc));
}

void Parser::parseItem() {
  linesMatter = true;
  uint32_t begin = token.begin;
  StringRef doc = parseDoc(token);
  bool isExport = accept(Kind::Export);
  if (isExport && !at(Kind::Fn) && !at(Kind::Struct)) {
    reportExpected(DiagCode::expected_item, "`fn` or `struct`",
                   "after `export`");
    return syncItem();
  }
  switch (token.kind) {
  case Kind::Fn:
    parseFn(doc, isExport, begin);
    break;
  case Kind::Struct:
    parseStruct(doc, isExport, begin);
    break;
  case Kind::Const:
    parseConst(doc);
    break;
  case Kind::Import:
    if (module.imports.empty())
      module.doc = doc;
    parseImport();
    break;
  case Kind::Test:
    parseTest();
    break;
  case Kind::Derivative:
    parseDerivative();
    break;
  case Kind::Semicolon:
    bump();
    return;
  default:
    reportStrayItem();
    skipBalanced();
    return syncItem();
  }
  endItem();
}

void Parser::reportItemEnd() {
  bool isIf = at(Kind::If);
  Diagnostic &diagnostic =
      reportExpected(DiagCode::missing_separator, "the end of the line",
                     "after the declaration");
  if (isIf)
    diagnostic.help = "a choice is written `if c { a } else { b }`";
}

void Parser::reportStrayItem() {
  bool isLet = at(Kind::Let);
  Diagnostic &diagnostic =
      reportExpected(DiagCode::expected_item, "a declaration");
  if (isLet)
    diagnostic.help = "a value of the whole module is a constant: `const NAME "
                      "= 3`";
  else if (diagnostic.help.empty())
    diagnostic.help = "at the top of a file stand import, const, struct, fn, "
                      "derivative and test";
}

/// An item ends with its line.
void Parser::endItem() {
  if (panic)
    return syncItem();
  if (at(Kind::Eof) || at(Kind::Semicolon) || isItemStart())
    return;
  if (!token.newlineBefore)
    reportItemEnd();
  if (panic)
    syncItem();
}

//===-- Functions ---------------------------------------------------------===//

List<GenericParam> Parser::parseGenerics() {
  llvm::SmallVector<GenericParam> generics;
  if (!at(Kind::Less))
    return {};
  parseList(Kind::Less, Kind::Greater, [&] {
    GenericParam param;
    param.name = parseIdent("a parameter", Case::Any);
    if (accept(Kind::Colon))
      param.bound = parseIdent("a class such as int or float", Case::Any);
    // `h: int` is an integer, `T: int` the type of one.
    if (!param.bound.text.empty() && param.bound.text != "int")
      checkCase(param.name, "a type parameter", Case::Capital);
    if (!param.name.text.empty())
      generics.push_back(param);
  });
  return module.copy<GenericParam>(generics);
}

List<Param> Parser::parseParams() {
  llvm::SmallVector<Param> params;
  if (!at(Kind::LParen)) {
    expect(Kind::LParen, "before the parameters");
    return {};
  }
  parseList(Kind::LParen, Kind::RParen, [&] {
    Param param;
    param.name = parseIdent("a parameter", Case::Small);
    if (expect(Kind::Colon, "and the parameter's type"))
      param.type = parseType();
    else
      param.type = makeType(TypeKind::Error, here());
    if (accept(Kind::Equal))
      param.defaultValue = parseExpr();
    params.push_back(param);
  });
  return module.copy<Param>(params);
}

/// `on cuda`, `on cuda(1)`, or nothing.
Device Parser::parseDevice() {
  Device device;
  if (!accept(Kind::On))
    return device;
  device.name = parseIdent("a device", Case::Small);
  if (!accept(Kind::LParen))
    return device;
  uint64_t index = 0;
  StringRef digits = getText(token);
  if (!at(Kind::Int) || digits.getAsInteger(10, index) || index > 1023)
    reportExpected(DiagCode::unexpected_token, "the device's number",
                   "(0 to 1023)");
  else
    bump();
  device.index = index;
  expect(Kind::RParen, "after the device's number");
  return device;
}

void Parser::parseFn(StringRef doc, bool isExport, uint32_t begin) {
  bump();
  auto *fn = module.make<FnItem>();
  fn->doc = doc;
  fn->isExport = isExport;
  fn->name = parseIdent("a function", Case::Small);
  fn->generics = parseGenerics();
  if (!panic || at(Kind::LParen))
    fn->params = parseParams();
  if (accept(Kind::Arrow))
    fn->result = parseType();
  fn->device = parseDevice();
  fn->range = since(begin);
  parseFnBody(fn);
  if (!fn->name.text.empty())
    module.fns.push_back(fn);
}

void Parser::parseFnBody(FnItem *fn) {
  if (accept(Kind::Equal)) {
    fn->body = parseSound();
    return;
  }
  if (at(Kind::LBrace)) {
    panic = false; // the head is behind us
    fn->body = parseBlock(/*needsValue=*/fn->result != nullptr);
    return;
  }
  if (at(Kind::Eof) || isItemStart()) {
    report(DiagCode::function_without_body, fn->range,
           "this function has no body")
        .expected = "`= value` or `{ ... }`";
  } else {
    reportExpected(DiagCode::unexpected_token, "`=` or `{`",
                   "and the function's body");
  }
  fn->body = makeError(here());
}

/// `derivative f(x: T) vjp |dy| e jvp |dx| e`
void Parser::parseDerivative() {
  auto *item = module.make<DerivativeItem>();
  uint32_t begin = token.begin;
  bump();
  item->name = parseIdent("a function", Case::Small);
  item->params = parseParams();
  item->range = since(begin);
  while (!panic && (atWord("vjp") || atWord("jvp"))) {
    StringRef word = getText(token);
    LambdaExpr *&rule = word == "vjp" ? item->vjp : item->jvp;
    if (rule)
      reportExpected(DiagCode::unexpected_token, "one rule of each kind");
    rule = parseRule(word);
  }
  if (!item->vjp && !item->jvp)
    report(DiagCode::derivative_without_rule, item->range,
           "this derivative gives no rule")
        .expected = "`vjp |dy| ...` or `jvp |dx| ...`";
  else
    module.derivatives.push_back(item);
}

LambdaExpr *Parser::parseRule(StringRef word) {
  bump();
  if (!at(Kind::Bar)) {
    reportExpected(DiagCode::unexpected_token, "a lambda `|...| ...`",
                   "after `" + word.str() + "`");
    return nullptr;
  }
  return llvm::cast<LambdaExpr>(parseLambda());
}

//===-- Other declarations ------------------------------------------------===//

void Parser::parseStruct(StringRef doc, bool isExport, uint32_t begin) {
  bump();
  auto *item = module.make<StructItem>();
  item->doc = doc;
  item->isExport = isExport;
  item->name = parseIdent("a struct", Case::Capital);
  item->generics = parseGenerics();
  item->range = since(begin);
  llvm::SmallVector<FieldDecl> fields;
  auto parseFieldDecl = [&] {
    FieldDecl field;
    field.doc = parseDoc(token);
    field.name = parseIdent("a field", Case::Small);
    if (expect(Kind::Colon, "and the field's type"))
      field.type = parseType();
    else
      field.type = makeType(TypeKind::Error, here());
    if (!field.name.text.empty())
      fields.push_back(field);
  };
  if (at(Kind::LBrace))
    parseList(Kind::LBrace, Kind::RBrace, parseFieldDecl);
  else
    expect(Kind::LBrace, "before the fields");
  item->fields = module.copy<FieldDecl>(fields);
  if (!item->name.text.empty())
    module.structs.push_back(item);
}

void Parser::parseConst(StringRef doc) {
  auto *item = module.make<ConstItem>();
  uint32_t begin = token.begin;
  bump();
  item->doc = doc;
  item->name = parseIdent("a constant", Case::Capital);
  if (accept(Kind::Colon))
    item->type = parseType();
  if (expect(Kind::Equal, "and the constant's value"))
    item->value = parseSound();
  else
    item->value = makeError(here());
  item->range = since(begin);
  if (!item->name.text.empty())
    module.consts.push_back(item);
}

/// `import nn`, `import ./layers`, `import ../shared/layers`
void Parser::parseImport() {
  auto *item = module.make<ImportItem>();
  uint32_t begin = token.begin;
  bump();
  uint32_t pathBegin = token.begin;
  while (at(Kind::Dot) || at(Kind::DotDot)) {
    bump();
    if (!expect(Kind::Slash, "in the path of a module"))
      return;
  }
  do
    item->name = parseIdent("a module", Case::Small);
  while (accept(Kind::Slash));
  item->path = text.slice(pathBegin, lastEnd);
  item->range = since(begin);
  if (!item->name.text.empty())
    module.imports.push_back(item);
}

void Parser::parseTest() {
  auto *item = module.make<TestItem>();
  uint32_t begin = token.begin;
  bump();
  if (at(Kind::String)) {
    item->name = module.copy(StringRef(unescape(getText(token))));
    bump();
  } else {
    reportExpected(DiagCode::unexpected_token, "the test's name in quotes");
  }
  item->range = since(begin);
  if (!at(Kind::LBrace)) {
    expect(Kind::LBrace, "and what the test does");
    return;
  }
  panic = false;
  item->body = parseBlock(/*needsValue=*/false);
  module.tests.push_back(item);
}
