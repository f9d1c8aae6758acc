// The typed program: what the checker makes and the emitter reads. Everything
// is resolved, typed and desugared: broadcasts, conversions of literals,
// default and named arguments, patterns, comprehensions, operators on structs
// are gone. What is left: locals, calls of function instances, trees (structs,
// tuples, arrays), primitives (Prims.def), control flow, and transformations.
// No MLIR.
//
// A function is checked once for each assignment of its type parameters and the
// ranks of its `..b` packs; dimensions, integer parameters and function
// parameters stay symbolic inside it and are substituted when the emitter
// inlines a call.
//
// Dimension names inside a Hir are unique: `n@7` is the `n` of scope 7.
// Messages and the final program show only the part before the `@`.
#ifndef ASTRA_FRONTEND_CHECK_HIR_H
#define ASTRA_FRONTEND_CHECK_HIR_H

#include "dialect/Dim.h"
#include "frontend/syntax/Source.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace astra::hir {

//===-- Types -------------------------------------------------------------===//

enum class DType {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64
};
llvm::StringRef getName(DType dtype); // "f32"
bool isFloat(DType dtype);
bool isInteger(DType dtype); // not bool

enum class TypeKind { Tensor, Struct, Tuple, Array, Fn };

struct StructInfo {         // one per struct declaration
  std::string module, name; // "nn", "Dense"
  std::string doc;
  bool isExport = false;
  std::vector<std::string> fieldNames;
  std::vector<std::string> fieldDocs;
};

/// Immutable, uniqued by TypeContext: pointer equality is type equality.
struct Type {
  TypeKind kind;
  DType dtype = DType::F32;           // Tensor
  std::vector<Dim> shape;             // Tensor
  const StructInfo *decl = nullptr;   // Struct
  std::vector<Dim> dimArgs;           // Struct: its <...> that are dimensions
  std::vector<const Type *> typeArgs; // Struct: its <...> that are types
  /// Struct: fields in order; Tuple: elements; Array: one; Fn: parameters, then
  /// the result last.
  std::vector<const Type *> elements;
  Dim count; // Array
};
using TypeRef = const Type *;

class TypeContext {
public:
  TypeRef getTensor(DType dtype, std::vector<Dim> shape);
  TypeRef getScalar(DType dtype) { return getTensor(dtype, {}); }
  TypeRef getStruct(const StructInfo *decl, std::vector<Dim> dimArgs,
                    std::vector<TypeRef> typeArgs, std::vector<TypeRef> fields);
  TypeRef getTuple(std::vector<TypeRef> elements);
  TypeRef getArray(TypeRef element, Dim count);
  TypeRef getFn(std::vector<TypeRef> params, TypeRef result);
  TypeRef getUnit() { return getTuple({}); }
  /// The type with every dimension name replaced.
  TypeRef
  substitute(TypeRef type,
             llvm::function_ref<std::optional<Dim>(llvm::StringRef)> map);

private:
  TypeRef unique(Type type);
  std::map<std::string, std::unique_ptr<Type>> types;
};

/// As written in the language: "f32[n, 64]", "nn.Dense<64, 32>".
std::string toString(TypeRef type);

//===-- Expressions -------------------------------------------------------===//

enum class Prim {
#define PRIM(Name, operands, doc) Name,
#include "frontend/check/Prims.def"
};
llvm::StringRef getName(Prim prim); // "Add"

struct Expr;
struct FnInstance;

/// A let, a parameter or a loop's state. Identity is the pointer.
struct Local {
  std::string name;
  TypeRef type = nullptr;
  SourceRange range;
};

/// A function literal: lambdas, and named or built-in functions wrapped in one.
/// It may use locals and dimensions of where it stands. Parameters are flat (no
/// patterns).
struct FnLit {
  std::vector<Local *> params;
  Expr *body = nullptr;
  /// When it only forwards to a parameter of function type: its index.
  int forwards = -1;
};

enum class ExprKind {
  Prim,
  Local,
  Block,
  Call,
  CallParam,
  Make,
  Get,
  ArrayIndex,
  If,
  For,
  While,
  Scan,
  Map,
  Reduce,
  Transform,
  On
};

struct Expr {
  ExprKind kind;
  TypeRef type;
  SourceRange range;
  Expr(ExprKind kind, TypeRef type, SourceRange range)
      : kind(kind), type(type), range(range) {}
};

#define ASTRA_HIR(NAME)                                                        \
  static bool classof(const Expr *e) { return e->kind == ExprKind::NAME; }     \
  NAME##Expr(TypeRef t, SourceRange r) : Expr(ExprKind::NAME, t, r) {}

/// A scalar's value: exactly as the literal says, rounded once to the type.
struct Literal {
  bool isInt = true;
  bool negative = false;
  uint64_t magnitude = 0; // integers and bools
  double value = 0;       // f64: the decimal text rounded once to f64
  float valueF32 = 0;     // f32: the decimal text rounded once to f32
  uint16_t valueHalf = 0; // f16 or bf16 bits, by the type
};

struct PrimExpr : Expr {
  ASTRA_HIR(Prim)
  Prim prim = Prim::Const;
  std::vector<Expr *> operands;
  std::vector<int64_t> ints;
  std::vector<Dim> dims;
  std::string text;
  Literal literal;
};
struct LocalExpr : Expr {
  ASTRA_HIR(Local)
  Local *local = nullptr;
};
struct Binding {
  Local *local = nullptr; // null: evaluated for its effect (asserts)
  Expr *value = nullptr;
};
struct BlockExpr : Expr {
  ASTRA_HIR(Block)
  std::vector<Binding> bindings;
  Expr *result = nullptr; // null: the empty tuple
};
struct CallExpr : Expr { // of a function instance
  ASTRA_HIR(Call)
  FnInstance *callee = nullptr;
  std::vector<Expr *> args;  // the value parameters
  std::vector<FnLit> fnArgs; // the function parameters, in order
  /// The callee's own dimension names and integer parameters, in the caller's.
  std::map<std::string, Dim> dims;
};
struct CallParamExpr : Expr { // of the enclosing instance's function parameter
  ASTRA_HIR(CallParam)
  unsigned index = 0; // among the function parameters
  std::vector<Expr *> args;
};
struct MakeExpr : Expr { // a struct, tuple or array of its elements
  ASTRA_HIR(Make)
  std::vector<Expr *> elements;
};
struct GetExpr : Expr { // field, tuple element, array element (constant)
  ASTRA_HIR(Get)
  Expr *base = nullptr;
  unsigned index = 0;
};
struct ArrayIndexExpr : Expr { // run-time index of an array of trees, checked
  ASTRA_HIR(ArrayIndex)
  Expr *base = nullptr, *index = nullptr;
};
struct IfExpr : Expr {
  ASTRA_HIR(If)
  Expr *condition = nullptr, *thenExpr = nullptr, *elseExpr = nullptr;
};
/// State s0.. with initial values; the body gives the next state (one value, or
/// a tuple when there are several). The result has the same form.
struct ForExpr : Expr {
  ASTRA_HIR(For)
  Expr *begin = nullptr, *end = nullptr; // i64 scalars
  Local *counter = nullptr;              // i64 scalar
  std::vector<Local *> state;
  std::vector<Expr *> init;
  Expr *body = nullptr;
  bool checkpoint = false;
};
struct WhileExpr : Expr {
  ASTRA_HIR(While)
  std::vector<Local *> state;
  std::vector<Expr *> init;
  Expr *condition = nullptr, *body = nullptr;
  bool checkpoint = false;
};
/// fn(h, x) -> (h2, y): the result is the tuple (last h, stacked y).
struct ScanExpr : Expr {
  ASTRA_HIR(Scan)
  FnLit fn;
  Expr *init = nullptr, *xs = nullptr;
  Dim length;
};
/// fn over an axis of its arguments (vmap; map and [.. for ..] are axis 0 of
/// all). The mapped axis comes first in every leaf of the result.
struct MapExpr : Expr {
  ASTRA_HIR(Map)
  FnLit fn;
  std::vector<Expr *> args;
  std::vector<int64_t>
      axes; // per argument, applied to all its leaves; -1: none
  Dim length;
};
struct ReduceExpr : Expr { // tree of adjacent pairs over axis 0, then init
  ASTRA_HIR(Reduce)
  FnLit fn;
  Expr *init = nullptr, *xs = nullptr;
  Dim length;
};
enum class TransformKind {
  Vjp,          // args, then cotangents like the result: (value, gradients)
  ValueAndGrad, // args: (value, gradients); one f32/f64/.. scalar result
  Jvp,          // args, then tangents of wrt: (value, tangent)
  Remat         // args: the value itself, recomputed where a gradient needs it
};
/// Results are a tuple (value, derivative); the derivative is one tree when wrt
/// has one entry, else a tuple of them.
struct TransformExpr : Expr {
  ASTRA_HIR(Transform)
  TransformKind transform = TransformKind::Vjp;
  FnLit fn;
  std::vector<Expr *> args;
  std::vector<Expr *>
      extra; // Vjp: one cotangent tree; Jvp: one tangent per wrt
  std::vector<unsigned> wrt;
};
struct OnExpr : Expr { // on cuda(0) { ... }
  ASTRA_HIR(On)
  std::string device;
  int64_t index = 0;
  Expr *body = nullptr;
};
#undef ASTRA_HIR

//===-- Functions and the program -----------------------------------------===//

/// One check of a function for given type parameters and pack ranks.
struct FnInstance {
  std::string module, name;          // "digits", "step"
  std::vector<std::string> dimNames; // its own names, "n@3", and int parameters
  std::vector<Local *> params;       // value parameters
  std::vector<TypeRef> fnParams;     // function parameters' types
  TypeRef result = nullptr;
  Expr *body = nullptr; // null if its check failed
  SourceRange range;
  /// From `derivative`: parameters are the function's, then cotangents (vjp) or
  /// tangents (jvp); empty when there is no rule.
  std::unique_ptr<FnLit> vjpRule, jvpRule;
  bool remat = false;
};

struct Export {
  FnInstance *fn = nullptr;
  std::string doc;
  std::string device; // "cpu", "cuda"
  int64_t deviceIndex = 0;
  std::vector<std::string> paramTypes; // as written, for the header
  std::string resultType;
};
struct Test {
  std::string name;
  FnInstance *fn = nullptr; // no parameters, result: the empty tuple
  SourceRange range;
};

/// Owns all nodes.
struct Program {
  std::string name; // the main module's
  TypeContext types;
  std::vector<Export> exports;
  std::vector<Test> tests; // of the main module
  std::vector<TypeRef>
      exportedStructs; // used by exports or marked, inner first

  std::deque<Local> locals;
  std::deque<FnInstance> instances;
  std::deque<StructInfo> structs;
  std::vector<std::shared_ptr<void>> nodes;
  template <typename T> T *make(TypeRef type, SourceRange range) {
    auto node = std::make_shared<T>(type, range);
    nodes.push_back(node);
    return node.get();
  }
  Local *makeLocal(std::string name, TypeRef type, SourceRange range) {
    locals.push_back({std::move(name), type, range});
    return &locals.back();
  }
};

/// Readable text of the typed program (for tests and people).
void print(const Program &program, llvm::raw_ostream &os);

} // namespace astra::hir
#endif // ASTRA_FRONTEND_CHECK_HIR_H
