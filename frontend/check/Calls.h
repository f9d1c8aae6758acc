// A call under way, as the steps of the checker hand it on: its arguments and
// what the surroundings want of it. Internal to frontend/check. No MLIR.
#ifndef ASTRA_FRONTEND_CHECK_CALLS_H
#define ASTRA_FRONTEND_CHECK_CALLS_H

#include "frontend/check/Values.h"

namespace astra::check {

using hir::DType;
using hir::Prim;
using hir::TypeRef;
using Shape = std::vector<Dim>;

/// What the surroundings want. Both may be missing; `dtype` alone is a hint for
/// literals, `type` also fixes what only a result says (`dense_init`).
struct Expected {
  TypeRef type = nullptr;
  std::optional<DType> dtype;
  /// Of a tuple whose type is not known as a whole; one of an array.
  std::vector<Expected> parts;
  Expected() = default;
  Expected(TypeRef type);
  Expected(DType dtype) : dtype(dtype) {}
};

/// An argument, written (checked when its turn comes) or already checked.
struct Arg {
  ast::Ident name; // empty: positional
  SourceRange range;
  const ast::Expr *ast = nullptr;
  Value value; // when `ast` is null
};

/// A call under way, as built-in functions see it.
struct Call {
  SourceRange range;  // of the whole call
  SourceRange callee; // of the function's name
  std::vector<Arg> args;
  Expected expected;
  llvm::StringRef name;              // of the built-in
  hir::Prim prim = hir::Prim::Const; // of its row
};

enum class LiteralClass { None, Int, Float };

} // namespace astra::check
#endif // ASTRA_FRONTEND_CHECK_CALLS_H
