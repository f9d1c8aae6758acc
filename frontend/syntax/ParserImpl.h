// The recursive-descent parser, shared by the Parser*.cpp files: tokens and
// recovery in Parser.cpp, then one file each for items, types and patterns,
// operators, and everything that stands in braces or has a head.
//
// Recovery: the first error in a statement or list element sets `panic`, which
// silences further ones until the parser stands at a place from which it can go
// on (the next element, statement or item). Every loop eats at least one token
// a turn.
#ifndef ASTRA_FRONTEND_SYNTAX_PARSERIMPL_H
#define ASTRA_FRONTEND_SYNTAX_PARSERIMPL_H

#include "frontend/syntax/Ast.h"
#include "frontend/syntax/Lexer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace astra {

class Parser {
public:
  Parser(uint32_t file, SourceManager &sources, DiagnosticEngine &diagnostics,
         ast::Module &module);
  void parseModule();

private:
  using Kind = TokenKind;

  //===-- Tokens (Parser.cpp) ---------------------------------------------===//
  bool at(Kind kind) const { return token.kind == kind; }
  bool atWord(llvm::StringRef word) const {
    return at(Kind::Ident) && getText(token) == word;
  }
  const Token &peek();
  void bump();
  bool accept(Kind kind);
  bool acceptWord(llvm::StringRef word);
  bool expect(Kind kind, llvm::StringRef where);
  /// True if the token may not go on with the expression before it.
  bool isAtLineEnd() const { return token.newlineBefore && linesMatter; }
  llvm::StringRef getText(const Token &token) const;
  SourceRange getRange(const Token &token) const;
  SourceRange here() const { return getRange(token); }
  /// From `begin` to the end of the token eaten last.
  SourceRange since(uint32_t begin) const;
  std::string describeToken() const;

  //===-- Errors and recovery (Parser.cpp) --------------------------------===//
  Diagnostic &report(DiagCode code, SourceRange range, std::string message);
  Diagnostic &reportExpected(DiagCode code, llvm::StringRef what,
                             llvm::StringRef where = "");
  ast::Expr *makeError(SourceRange range);
  /// parseExpr, but Error if anything in it was wrong, so that nobody reports
  /// what follows from that.
  ast::Expr *parseSound();
  bool isItemStart() const;
  void skipBalanced();
  void syncElement(Kind close);
  void syncStatement();
  void syncItem();
  void giveUp();
  void checkLimits();

  /// One level of brackets or recursion; also keeps an upper bound of the
  /// height of the tree below, so that long chains of operators count too.
  class Nesting {
  public:
    explicit Nesting(Parser &parser);
    ~Nesting();
    Nesting(const Nesting &) = delete;

  private:
    Parser &parser;
    unsigned outerHeight;
  };
  friend class Nesting;
  /// The tree that is being built got one level higher.
  void grow();

  /// Sets a member for a scope.
  template <typename T> struct Scoped {
    T &place;
    T saved;
    Scoped(T &place, T value) : place(place), saved(place) { place = value; }
    ~Scoped() { place = saved; }
  };

  /// `element` until `close`, with commas between; eats `close`.
  void parseList(Kind open, Kind close, llvm::function_ref<void()> element);

  void reportSeparator(Kind close);

  //===-- Names (Parser.cpp) ----------------------------------------------===//
  enum class Case { Small, Capital, Any };
  ast::Ident parseIdent(llvm::StringRef what, Case wanted);
  void checkCase(const ast::Ident &ident, llvm::StringRef what, Case wanted);

  //===-- Items (ParserItems.cpp) -----------------------------------------===//
  llvm::StringRef parseDoc(const Token &token);
  void parseItem();
  void parseFn(llvm::StringRef doc, bool isExport, uint32_t begin);
  void parseFnBody(ast::FnItem *fn);
  void parseStruct(llvm::StringRef doc, bool isExport, uint32_t begin);
  void parseConst(llvm::StringRef doc);
  void parseImport();
  void parseTest();
  void parseDerivative();
  ast::LambdaExpr *parseRule(llvm::StringRef word);
  ast::List<ast::GenericParam> parseGenerics();
  ast::List<ast::Param> parseParams();
  ast::Device parseDevice();
  void endItem();
  void reportItemEnd();
  void reportStrayItem();

  //===-- Types and patterns (ParserTypes.cpp) ----------------------------===//
  ast::TypeExpr *parseType();
  ast::TypeExpr *parseNamedType();
  void parseTypeTail(ast::TypeExpr *type);
  ast::TypeExpr *parseFnType();
  ast::TypeExpr *parseTupleType();
  ast::TypeExpr *parseArrayType();
  ast::Expr *parseTypeArg();
  bool acceptGreater();
  ast::Pattern *parsePattern();
  ast::TypeExpr *makeType(ast::TypeKind kind, SourceRange range);

  //===-- Operators (ParserExpr.cpp) --------------------------------------===//
  ast::Expr *parseExpr();
  ast::Expr *parseOpenExpr();
  ast::Expr *parseWith();
  ast::Expr *parseWithTail(ast::Expr *base);
  ast::Expr *parseBinary(int level);
  ast::Expr *parseAs();
  ast::Expr *parseUnary();
  ast::Expr *parsePower();
  ast::Expr *parsePostfix();
  ast::Expr *parseField(ast::Expr *base);
  ast::Expr *parseCall(ast::Expr *callee);
  void parseArgument(llvm::SmallVectorImpl<ast::Argument> &args);
  ast::Expr *parseIndex(ast::Expr *base);
  ast::Expr *parseRangeOrExpr();
  ast::List<ast::Expr *> parseIndices();
  bool continuesExpression() const;
  int getLevel(Kind kind) const;

  //===-- Values (ParserValues.cpp) ---------------------------------------===//
  ast::Expr *parsePrimary();
  void reportNoValue();
  ast::Expr *parseInt();
  ast::Expr *parseFloat();
  ast::Expr *parseString();
  ast::Expr *parseName();
  ast::Expr *parseParenthesis();
  ast::Expr *parseArray();
  ast::Expr *parseLambda();
  ast::Expr *parseNoValue();
  bool isStructLiteral(const ast::Expr *base);
  ast::Expr *parseStructLit(ast::Expr *name);
  ast::List<ast::FieldInit> parseFieldInits();
  ast::List<ast::GeneratorRange> parseGenerators();

  //===-- Blocks and control flow (ParserControl.cpp) ---------------------===//
  ast::Expr *parseBlock(bool needsValue);
  bool parseStatement(llvm::SmallVectorImpl<ast::Statement> &statements);
  void reportStatementEnd(const ast::Statement &statement);
  void parseLet(ast::Statement &statement);
  void parseAssignment(const ast::Expr *target);
  ast::Expr *parseIf();
  ast::Expr *parseLoop();
  ast::Expr *parseOn();
  ast::Expr *parseBody(llvm::StringRef where);
  ast::Expr *parseHead();
  ast::List<ast::LoopState> parseLoopState();

  template <typename T> T *make(SourceRange range) {
    return module.make<T>(range);
  }

  uint32_t file;
  llvm::StringRef text;
  DiagnosticEngine &diagnostics;
  ast::Module &module;
  Lexer lexer;
  Token token;
  std::optional<Token> lookahead;
  uint32_t lastEnd = 0;      // end of the token eaten last
  bool panic = false;        // errors are silent until recovery
  bool stopped = false;      // errors are silent for good
  bool linesMatter = true;   // the innermost bracket is a block's
  bool inHead = false;       // no bare struct literal here
  unsigned depth = 0;        // Nesting levels that are open
  unsigned height = 0;       // of what the innermost level has built so far
  unsigned errorCount = 0;   // of report(); values with errors become Error
  unsigned errorsBefore = 0; // reported before this file
  unsigned lexerErrors = 0;  // of the lexer that `panic` has taken in
  Diagnostic silent{};       // where silenced messages go
};

} // namespace astra
#endif // ASTRA_FRONTEND_SYNTAX_PARSERIMPL_H
