// The syntax tree: what the parser makes and the checker reads. Names are not
// resolved and nothing is typed here; every node has the range of its text.
// Nodes live in the Module's arena and are never freed one by one. No MLIR.
//
// Ambiguities are left to the checker, which knows what names mean:
//  - `f32[n, 64]` in an expression is an Index of a Name; where a builtin wants
//  a
//    type argument the checker reads it as one (also `T[n]`, `Mlp`, `f32`);
//  - `f32(x)`, `T(x)` is a Call; `..b` inside an index is a Range without
//  begin;
//  - `nn.dense` is a Field of a Name.
//
// The parser limits the height of the tree, so whoever walks it may recurse.
#ifndef ASTRA_FRONTEND_SYNTAX_AST_H
#define ASTRA_FRONTEND_SYNTAX_AST_H

#include "frontend/syntax/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace astra::ast {

template <typename T> using List = llvm::ArrayRef<T>; // lives in the arena

struct Ident {
  llvm::StringRef text;
  SourceRange range;
};

struct Expr;
struct TypeExpr;
struct Pattern;

//===-- Expressions -------------------------------------------------------===//

enum class ExprKind {
  IntLit,
  FloatLit,
  BoolLit,
  StringLit,
  NoneLit,
  Name,
  Field,
  Call,
  Index,
  Range,
  Unary,
  Binary,
  As,
  Lambda,
  If,
  Block,
  Loop,
  StructLit,
  Tuple,
  Array,
  Comprehension,
  Generator,
  With,
  On,
  TypeArg,
  Error // what could not be parsed; already reported
};

struct Expr {
  ExprKind kind;
  SourceRange range;
  Expr(ExprKind kind, SourceRange range) : kind(kind), range(range) {}
};

#define ASTRA_EXPR(NAME)                                                       \
  static bool classof(const Expr *e) { return e->kind == ExprKind::NAME; }     \
  explicit NAME##Expr(SourceRange r) : Expr(ExprKind::NAME, r) {}

struct IntLitExpr : Expr { // 42, 1_000, 0xff
  ASTRA_EXPR(IntLit)
  uint64_t value = 0;
};
struct FloatLitExpr : Expr { // 1.5, 1e8; rounded by whoever knows the type
  ASTRA_EXPR(FloatLit)
  llvm::StringRef text; // digits without underscores
};
struct BoolLitExpr : Expr {
  ASTRA_EXPR(BoolLit)
  bool value = false;
};
struct StringLitExpr : Expr { // only as an argument: einsum, debug
  ASTRA_EXPR(StringLit)
  llvm::StringRef value; // escapes resolved
};
struct NoneLitExpr : Expr { // none, in vmap axes
  ASTRA_EXPR(NoneLit)
};
struct NameExpr : Expr {
  ASTRA_EXPR(Name)
  llvm::StringRef name; // also `_` never: that is only a pattern
};
struct FieldExpr : Expr { // a.b, nn.dense, t.0, x.T
  ASTRA_EXPR(Field)
  Expr *base = nullptr;
  Ident field; // "0" for a tuple's element
};
struct Argument {
  Ident name; // empty text when positional
  Expr *value = nullptr;
};
struct CallExpr : Expr { // f(x, axis = 1); x |> f is a Call with isPipe
  ASTRA_EXPR(Call)
  Expr *callee = nullptr;
  List<Argument> args;
  bool isPipe = false;
};
struct IndexExpr : Expr { // x[i, 1..5, ..]
  ASTRA_EXPR(Index)
  Expr *base = nullptr;
  List<Expr *> indices;
};
struct RangeExpr : Expr { // a..b, ..b, a.., .. (only in index, generator, loop)
  ASTRA_EXPR(Range)
  Expr *begin = nullptr, *end = nullptr; // null when left out
};
enum class UnaryOp { Neg, Not };
struct UnaryExpr : Expr {
  ASTRA_EXPR(Unary)
  UnaryOp op = UnaryOp::Neg;
  Expr *operand = nullptr;
};
enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Pow,
  MatMul,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or
};
struct BinaryExpr : Expr {
  ASTRA_EXPR(Binary)
  BinaryOp op = BinaryOp::Add;
  SourceRange opRange;
  Expr *lhs = nullptr, *rhs = nullptr;
};
struct AsExpr : Expr { // x as f32[n, d]
  ASTRA_EXPR(As)
  Expr *operand = nullptr;
  TypeExpr *type = nullptr;
};
struct LambdaExpr : Expr { // |x, (a, _), v: f32[k]| body
  ASTRA_EXPR(Lambda)
  List<Pattern *> params;
  Expr *body = nullptr;
};
struct IfExpr : Expr { // elseExpr is a Block or another If, never null
  ASTRA_EXPR(If)
  Expr *condition = nullptr;
  Expr *thenExpr = nullptr, *elseExpr = nullptr;
};
struct Statement { // let p = e; or an expression (asserts, debug)
  SourceRange range;
  Pattern *pattern = nullptr; // null for an expression statement
  Expr *value = nullptr;
};
struct BlockExpr : Expr {
  ASTRA_EXPR(Block)
  List<Statement> statements;
  Expr *result = nullptr; // null: no value (only in test blocks)
};
struct LoopState {
  Ident name;
  TypeExpr *type = nullptr; // annotation or null
  Expr *init = nullptr;     // null: starts from the name in scope
};
struct LoopExpr : Expr { // loop (x = x0, v) for t in a..b { } / while c { }
  ASTRA_EXPR(Loop)
  List<LoopState> state;
  Pattern *counter = nullptr; // for; null for while
  Expr *range = nullptr;      // RangeExpr of a for
  Expr *condition = nullptr;  // of a while
  bool checkpoint = false;    // loop ... checkpoint { }
  Expr *body = nullptr;
};
struct FieldInit {
  Ident name;
  Expr *value = nullptr; // null: shorthand for the name itself
};
struct StructLitExpr : Expr { // Mlp { hidden: a, out }, nn.Dense { w, b }
  ASTRA_EXPR(StructLit)
  Ident module; // empty when unqualified
  Ident name;
  List<FieldInit> fields;
};
struct TupleExpr : Expr { // (a, b), (a,), ()
  ASTRA_EXPR(Tuple)
  List<Expr *> elements;
};
struct ArrayExpr : Expr { // [a, b]
  ASTRA_EXPR(Array)
  List<Expr *> elements;
};
struct GeneratorRange { // i in a..b; `range` null when left out
  Ident name;
  Expr *range = nullptr;
};
struct ComprehensionExpr : Expr { // [body for i in 0..n, j]
  ASTRA_EXPR(Comprehension)
  Expr *body = nullptr;
  List<GeneratorRange> ranges;
};
struct GeneratorExpr : Expr { // body for i, k  as the only argument of a call
  ASTRA_EXPR(Generator)
  Expr *body = nullptr;
  List<GeneratorRange> ranges;
};
struct WithExpr : Expr { // x with [i] = v, x with [i] += v, m with { lr: 1 }
  ASTRA_EXPR(With)
  Expr *base = nullptr;
  bool isFields = false;
  List<Expr *> indices;
  bool isAdd = false; // +=
  Expr *value = nullptr;
  List<FieldInit> fields;
};
struct OnExpr : Expr { // on cuda(0) { ... }
  ASTRA_EXPR(On)
  Ident device;
  int64_t index = 0;
  Expr *body = nullptr;
};
struct TypeArgExpr : Expr { // in a type's <...>, what is no expression:
  ASTRA_EXPR(TypeArg)       // State<Dense<3, 4>>, State<[Block<d>; 4]>
  TypeExpr *type = nullptr;
};
struct ErrorExpr : Expr {
  ASTRA_EXPR(Error)
};
#undef ASTRA_EXPR

//===-- Patterns ----------------------------------------------------------===//

struct Pattern { // a name, `_`, or a tuple of patterns
  SourceRange range;
  Ident name;               // text "_" ignores; empty for a tuple
  List<Pattern *> elements; // of a tuple
  bool isTuple = false;
  TypeExpr *type = nullptr; // annotation or null
};

//===-- Types -------------------------------------------------------------===//

enum class TypeKind { Named, Tensor, Tuple, Array, Fn, Error };

struct TypeExpr {
  TypeKind kind = TypeKind::Error;
  SourceRange range;
  // Named: f32, T, Mlp, nn.Dense<64, 2*d>; Tensor: the same with `dims`.
  Ident module, name;
  List<Expr *> args;         // of <...>: dimension expressions, Names of types,
                             // or TypeArgs
  List<Expr *> dims;         // of [...]; a Range without begin is `..b`
  List<TypeExpr *> elements; // Tuple's elements, Fn's parameters
  TypeExpr *element = nullptr; // Array's element, Fn's result
  Expr *count = nullptr;       // Array's
};

//===-- Items -------------------------------------------------------------===//

struct GenericParam { // n, h: int, T: float, P
  Ident name;
  Ident bound; // "int", "float", "number" or empty
};
struct Param {
  Ident name;
  TypeExpr *type = nullptr;
  Expr *defaultValue = nullptr;
};
struct Device { // on cuda, on cuda(1)
  Ident name;   // empty when not given
  int64_t index = 0;
};
struct FnItem {
  SourceRange range; // of the head
  llvm::StringRef doc;
  bool isExport = false;
  Ident name;
  List<GenericParam> generics;
  List<Param> params;
  TypeExpr *result = nullptr; // null when left out: the empty tuple
  Device device;
  Expr *body = nullptr;
};
struct FieldDecl {
  llvm::StringRef doc;
  Ident name;
  TypeExpr *type = nullptr;
};
struct StructItem {
  SourceRange range;
  llvm::StringRef doc;
  bool isExport = false;
  Ident name;
  List<GenericParam> generics;
  List<FieldDecl> fields;
};
struct ConstItem {
  SourceRange range;
  llvm::StringRef doc;
  Ident name;
  TypeExpr *type = nullptr; // or null
  Expr *value = nullptr;
};
struct ImportItem { // import nn, import ./layers
  SourceRange range;
  llvm::StringRef path; // "nn", "./layers"
  Ident name;           // the last part: what the module is called here
};
struct TestItem {
  SourceRange range;
  llvm::StringRef name;
  Expr *body = nullptr; // a Block
};
struct DerivativeItem { // derivative f(x: T) vjp |dy| e jvp |dx| e
  SourceRange range;
  Ident name;
  List<Param> params;
  LambdaExpr *vjp = nullptr; // either may be null, not both
  LambdaExpr *jvp = nullptr;
};

/// One parsed file. Items keep source order within their kind.
struct Module {
  std::string name;    // "digits"
  llvm::StringRef doc; // the doc comment in front of the first import
  uint32_t file = 0;
  std::vector<ImportItem *> imports;
  std::vector<ConstItem *> consts;
  std::vector<StructItem *> structs;
  std::vector<FnItem *> fns;
  std::vector<DerivativeItem *> derivatives;
  std::vector<TestItem *> tests;

  llvm::BumpPtrAllocator arena;
  template <typename T, typename... Args> T *make(Args &&...args) {
    return new (arena.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  template <typename T> List<T> copy(llvm::ArrayRef<T> items) {
    T *data = arena.Allocate<T>(items.size());
    std::uninitialized_copy(items.begin(), items.end(), data);
    return {data, items.size()};
  }
  llvm::StringRef copy(llvm::StringRef text) {
    char *data = arena.Allocate<char>(text.size() + 1);
    std::memcpy(data, text.data(), text.size());
    data[text.size()] = 0;
    return {data, text.size()};
  }
};

} // namespace astra::ast
#endif // ASTRA_FRONTEND_SYNTAX_AST_H
