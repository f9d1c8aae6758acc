// What the checker knows of names and expressions while it works: values
// (run-time expressions, compile-time functions, tuples that hold functions),
// environments, declarations. Internal to frontend/check. No MLIR.
#ifndef ASTRA_FRONTEND_CHECK_VALUES_H
#define ASTRA_FRONTEND_CHECK_VALUES_H

#include "frontend/check/Hir.h"
#include "frontend/syntax/Ast.h"
#include <map>
#include <optional>

namespace astra::check {

struct FnValue;
struct Module;
struct EnvEntry;
using Env = const EnvEntry *; // innermost first; null: only the module's names

/// What an expression denotes.
struct Value {
  enum Kind { Error, Expr, Fn, Tuple };
  Kind kind = Error;
  SourceRange range;
  hir::Expr *expr = nullptr; // Expr: never null
  /// Expr that is an integer scalar: its value. Names with a `%` stand for
  /// values known only at run time, so that `k + 2 - k` is still 2.
  std::optional<Dim> dim;
  const FnValue *fn = nullptr;                  // Fn
  const std::vector<Value> *elements = nullptr; // Tuple (with functions inside)

  static Value error() { return {}; }
  bool isError() const { return kind == Error; }
  bool isExpr() const { return kind == Expr; }
  bool isFn() const { return kind == Fn; }
  hir::TypeRef type() const { return expr->type; }
};

/// A generator variable or mapped axis that is being built: `a[i]` over the
/// whole axis becomes a slice that the map takes, not a lookup.
struct Generator {
  hir::Local *counter = nullptr; // its i64 value; a parameter of the map
  Dim begin, length;
  bool usesCounter = false;
  std::vector<hir::Local *> params;
  std::vector<hir::Expr *> args;
  std::vector<int64_t> axes;
  std::vector<hir::Local *> argKeys; // the local that was sliced, for reuse
  Env outside = nullptr;             // names that the arguments may use
};

/// One name in scope. Entries are never changed, so a lambda keeps its `Env`.
struct EnvEntry {
  enum Kind { ValueName, TypeName, PackName };
  Kind kind = ValueName;
  llvm::StringRef name;
  SourceRange range;
  Value value;                    // ValueName
  hir::TypeRef type = nullptr;    // TypeName: a scalar for T: float
  std::vector<Dim> pack;          // PackName
  Generator *generator = nullptr; // ValueName of a generator
  Env parent = nullptr;
  unsigned depth = 0;
};

enum class Builtin : unsigned {
#define BUILTIN(Id, name, handler, prim, signature) Id,
#include "frontend/check/Builtins.def"
};

enum class FnTransform { Grad, ValueAndGrad, Jacobian, Hessian, Vmap, Remat };

struct FnDecl;

/// A function that the compiler knows: never a run-time value.
struct FnValue {
  enum Kind { Decl, Lambda, BuiltinFn, Param, Transform, Pullback };
  Kind kind = Decl;
  SourceRange range;
  FnDecl *decl = nullptr;                  // Decl
  const ast::LambdaExpr *lambda = nullptr; // Lambda, with where it stands:
  Env env = nullptr;
  Module *module = nullptr;
  Builtin builtin{};  // BuiltinFn
  unsigned param = 0; // Param: index, and its type
  hir::TypeRef type = nullptr;
  FnTransform transform{}; // Transform of `inner`
  const FnValue *inner = nullptr;
  std::vector<unsigned> wrt; // Grad, ValueAndGrad, ..., Pullback
  bool wrtIsTuple = false;
  std::vector<int64_t> axes; // Vmap; empty: 0 of all
  std::vector<Value> args;   // Pullback
};

//===-- Declarations ------------------------------------------------------===//

/// Types and constants begin with a capital.
inline bool isUpperCase(char c) { return c >= 'A' && c <= 'Z'; }

/// What a name in `<...>` or a parameter's type stands for.
enum class GenericKind { Dim, Int, DTypeClass, Tree, Pack };
struct Generic {
  llvm::StringRef name;
  SourceRange range;
  GenericKind kind = GenericKind::Dim;
  llvm::StringRef bound; // "float", "int", "number" of a DTypeClass
  bool isListed = false; // stands in <...>
};

/// Types, ranks and dimensions found for the generics of a call.
struct Substitution {
  std::map<std::string, Dim> dims;
  std::map<std::string, hir::TypeRef> types;
  std::map<std::string, std::vector<Dim>> packs;
};

/// One instance's signature, in its own (rigid) dimension names.
struct Instance {
  hir::FnInstance *hir = nullptr;
  Env env = nullptr;                    // generics as they are inside
  std::vector<hir::TypeRef> paramTypes; // all parameters, in order
  hir::TypeRef result = nullptr;
  /// Own names of each generic: "n" -> "n@4"; "b" -> its names; P's dims.
  std::map<std::string, std::vector<std::string>> rigid;
  std::vector<Value> params; // as the body sees them
  bool failed = false;
};

struct FnDecl {
  const ast::FnItem *item = nullptr;
  Module *module = nullptr;
  const ast::DerivativeItem *derivative = nullptr;
  bool collected = false;
  bool isDamaged = false; // the parser reported something in it
  std::vector<Generic> generics;
  unsigned inProgress = 0;
  std::map<std::string, std::unique_ptr<Instance>> instances;
};

struct StructDecl {
  const ast::StructItem *item = nullptr;
  Module *module = nullptr;
  hir::StructInfo *info = nullptr;
  std::vector<Generic> generics;
  bool collected = false, inProgress = false, failed = false;
  std::map<std::string, hir::TypeRef> instances;
};

struct ConstDecl {
  const ast::ConstItem *item = nullptr;
  Module *module = nullptr;
  bool inProgress = false;
};

struct Module {
  std::string name, path; // path: of the file, as messages show it
  std::unique_ptr<ast::Module> tree;
  bool isStd = false, loading = false, failed = false;
  std::map<llvm::StringRef, FnDecl *> fns;
  std::map<llvm::StringRef, StructDecl *> structs;
  std::map<llvm::StringRef, ConstDecl *> consts;
  std::map<llvm::StringRef, Module *> imports;
};

} // namespace astra::check
#endif // ASTRA_FRONTEND_CHECK_VALUES_H
