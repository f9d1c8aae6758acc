// Dense linear algebra: cholesky, qr, svd, eigh, solve, solve_triangular, inv,
// det, slogdet, lstsq. All work on the matrices of the last two axes and repeat
// over those before. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

/// min(m, n) as a dimension expression: one of them where that is provable.
/// Else m // n tells which: 1 // ((m + 1) // (n + 1) + 1) is 1 for m < n and 0
/// otherwise.
static Dim leastOf(const Dim &m, const Dim &n) {
  if ((m - n).isProvablyNonNegative())
    return n;
  if ((n - m).isProvablyNonNegative())
    return m;
  Dim one = Dim::constant(1);
  Dim isLess = Dim::floordiv(one, Dim::floordiv(m + one, n + one) + one);
  return n + (m - n) * isLess;
}

//===-- Arguments ---------------------------------------------------------===//

/// f32 or f64, and at least `axes` axes.
bool Checker::requireMatrix(hir::Expr *e, Call &call, size_t axes) {
  DType dtype = e->type->dtype;
  if (dtype != DType::F32 && dtype != DType::F64) {
    Diagnostic &d = report(DiagCode::bad_operand, e->range,
                           "`" + call.name + "` works in f32 or f64");
    d.found = hir::toString(e->type);
    d.help = "convert it: `f32(...)`";
    return false;
  }
  if (e->type->shape.size() >= axes)
    return true;
  Diagnostic &d = report(DiagCode::rank_mismatch, e->range,
                         "`" + call.name + "` takes matrices");
  d.expected = "a tensor of rank 2 or more, such as f32[n, n]";
  d.found = hir::toString(e->type);
  return false;
}

bool Checker::requireSquare(hir::Expr *a, Call &call) {
  const Shape &shape = a->type->shape;
  return requireEqual(shape[shape.size() - 2], shape.back(), a->range,
                      "the number of rows and columns that `" + call.name +
                          "` takes");
}

//===-- Of one matrix -----------------------------------------------------===//

/// [batch.., tail..] for a matrix [batch.., m, n].
static Shape behindBatch(const Shape &matrix, llvm::ArrayRef<Dim> tail) {
  Shape shape(matrix.begin(), matrix.end() - 2);
  shape.insert(shape.end(), tail.begin(), tail.end());
  return shape;
}

TypeRef Checker::decompositionType(Prim prim, TypeRef a) {
  const Shape &shape = a->shape;
  Dim m = shape[shape.size() - 2], n = shape.back(), k = leastOf(m, n);
  auto of = [&](llvm::ArrayRef<Dim> tail) {
    return tensor(a->dtype, behindBatch(shape, tail));
  };
  switch (prim) {
  case Prim::Det:
    return of({});
  case Prim::Slogdet:
    return builtinStruct("Slogdet", {"sign", "logabsdet"}, {of({}), of({})});
  case Prim::Eigh:
    return builtinStruct("Eigh", {"values", "vectors"}, {of({n}), a});
  case Prim::Qr:
    return builtinStruct("Qr", {"q", "r"}, {of({m, k}), of({k, n})});
  case Prim::Svd:
    return builtinStruct("Svd", {"u", "s", "vt"},
                         {of({m, k}), of({k}), of({k, n})});
  default: // cholesky, inv
    return a;
  }
}

Value Checker::decomposition(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"a"}, 1, args))
    return error();
  hir::Expr *a = floatArg(*args[0], call, call.expected);
  if (!a || !requireMatrix(a, call, 2))
    return error();
  bool isSquare = call.prim != Prim::Qr && call.prim != Prim::Svd;
  if (isSquare && !requireSquare(a, call))
    return error();
  return expr(
      prim(call.prim, decompositionType(call.prim, a->type), {a}, call.range));
}

//===-- Equations ---------------------------------------------------------===//

/// a [batch.., m, n] and b [batch.., m, k], with one batch; b of rank 1 is one
/// column. False after a report.
bool Checker::equationArgs(Call &call, Arg &first, Arg &second, Equation &out) {
  bool wantsF64 = call.expected.dtype == DType::F64;
  if (!checkTwo(first, second, out.a, out.b,
                Expected(wantsF64 ? DType::F64 : DType::F32)) ||
      !requireMatrix(out.a, call, 2) || !requireMatrix(out.b, call, 1))
    return false;
  if (out.a->type->dtype != out.b->type->dtype) {
    Diagnostic &d = report(DiagCode::mixed_dtypes, second.range,
                           "`" + call.name + "` takes two of one dtype");
    d.expected = hir::toString(out.a->type);
    d.found = hir::toString(out.b->type);
    return false;
  }
  out.isVector = out.b->type->shape.size() == 1;
  if (out.isVector)
    out.b = expandAxis(out.b, 1);
  const Shape &a = out.a->type->shape, &b = out.b->type->shape;
  if (!requireEqual(b[b.size() - 2], a[a.size() - 2], second.range,
                    "the number of rows"))
    return false;
  Shape batchA = behindBatch(a, {}), batchB = behindBatch(b, {});
  auto batch = broadcastShapes(batchA, batchB, call.range,
                               "the batches of `" + call.name.str() + "`");
  if (!batch)
    return false;
  auto spread = [&](hir::Expr *e) {
    const Shape &shape = e->type->shape;
    Shape full = *batch;
    full.insert(full.end(), shape.end() - 2, shape.end());
    return broadcastTo(e, full);
  };
  out.a = spread(out.a);
  out.b = spread(out.b);
  return true;
}

Value Checker::solution(Call &call, const Equation &equation,
                        std::vector<int64_t> flags) {
  Shape shape = equation.b->type->shape;
  shape[shape.size() - 2] = equation.a->type->shape.back();
  hir::Expr *x = prim(call.prim, tensor(equation.a->type->dtype, shape),
                      {equation.a, equation.b}, call.range, std::move(flags));
  if (!equation.isVector)
    return expr(x);
  shape.pop_back();
  return expr(reshape(x, shape));
}

Value Checker::solveFn(Call &call) {
  std::vector<Arg *> args;
  Equation equation;
  if (!takeArgs(call, {"a", "b"}, 2, args) ||
      !equationArgs(call, *args[0], *args[1], equation))
    return error();
  if (call.prim == Prim::Solve && !requireSquare(equation.a, call))
    return error();
  return solution(call, equation, {});
}

Value Checker::solveTriangular(Call &call) {
  std::vector<Arg *> args;
  Equation equation;
  if (!takeArgs(call, {"a", "b", "lower", "transpose", "unit_diagonal"}, 2,
                args) ||
      !equationArgs(call, *args[0], *args[1], equation) ||
      !requireSquare(equation.a, call))
    return error();
  std::vector<int64_t> flags = {1, 0, 0};
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!args[2 + i])
      continue;
    if (!args[2 + i]->ast)
      return fail(DiagCode::not_constant, args[2 + i]->range,
                  "this must be `true` or `false`",
                  "an `if` around two calls chooses when the program runs");
    auto given = constantBool(args[2 + i]->ast);
    if (!given)
      return error();
    flags[i] = *given;
  }
  return solution(call, equation, flags);
}
