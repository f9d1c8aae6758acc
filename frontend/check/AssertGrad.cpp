// assert_grad(f, x, ...): the gradient of a function in reverse mode, along a
// fixed direction, against the central difference. Made of the same expressions
// that a program could write. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

namespace {
/// The step of the difference and what may be between it and the gradient. A
/// power of two keeps `x + h * d` exact where `d` is.
struct Precision {
  double step, rtol, atol;
};
} // namespace

static constexpr Precision Double = {1.0 / (1 << 17), 1e-6, 1e-8};
static constexpr Precision Single = {1.0 / (1 << 7), 1e-2, 1e-3};

/// Numbers between -1 and 1 in the form of `tree`, no two leaves alike: the
/// sines of an arithmetic sequence.
hir::Expr *Checker::directionLike(hir::Expr *tree, double start,
                                  SourceRange range) {
  return mapLeaves(
      {tree}, range,
      [&](llvm::ArrayRef<hir::Expr *> leaf, const std::string &) {
        TypeRef type = leaf[0]->type;
        Dim count = Dim::constant(1);
        for (const Dim &extent : type->shape)
          count = count * extent;
        auto constant = [&](double value) {
          return splat(makeFloat(value, type->dtype, range), type->shape);
        };
        hir::Expr *place = convert(
            reshape(iotaOf({count}, 0, range), type->shape), type->dtype);
        hir::Expr *spread = binaryPrim(Prim::Mul, place, constant(1.7));
        start += 0.6;
        return unary(Prim::Sin, binaryPrim(Prim::Add, spread, constant(start)));
      });
}

/// `tree + step * direction`, leaf by leaf.
hir::Expr *Checker::movedAlong(hir::Expr *tree, hir::Expr *direction,
                               double step, SourceRange range) {
  return mapLeaves({tree, direction}, range,
                   [&](llvm::ArrayRef<hir::Expr *> pair, const std::string &) {
                     TypeRef type = pair[0]->type;
                     hir::Expr *by = splat(makeFloat(step, type->dtype, range),
                                           type->shape);
                     return binaryPrim(Prim::Add, pair[0],
                                       binaryPrim(Prim::Mul, pair[1], by));
                   });
}

/// The sum of the products of all elements, in f64.
hir::Expr *Checker::dotTrees(hir::Expr *a, hir::Expr *b, SourceRange range) {
  hir::Expr *total = makeFloat(0, DType::F64, range);
  mapLeaves({a, b}, range,
            [&](llvm::ArrayRef<hir::Expr *> pair, const std::string &) {
              hir::Expr *product =
                  binaryPrim(Prim::Mul, convert(pair[0], DType::F64),
                             convert(pair[1], DType::F64));
              std::vector<int64_t> axes;
              for (size_t i = 0; i < product->type->shape.size(); ++i)
                axes.push_back(i);
              if (!axes.empty())
                product = reduce(Prim::Sum, product, axes);
              total = binaryPrim(Prim::Add, total, product);
              return pair[0];
            });
  return temp(total);
}

/// What fits all leaves; nothing if one is no f32 or f64, which is reported.
static const Precision *getPrecision(llvm::ArrayRef<TypeRef> leaves) {
  const Precision *result = &Double;
  for (TypeRef leaf : leaves) {
    if (leaf->dtype == DType::F32)
      result = &Single;
    else if (leaf->dtype != DType::F64)
      return nullptr;
  }
  return result;
}

Value Checker::assertGrad(Call &call) {
  if (call.args.size() < 2)
    return fail(DiagCode::argument_count, call.range,
                "`assert_grad` takes a function and its arguments");
  Value inner = asFunction(call.args[0], call.name);
  if (!inner.isFn())
    return error();
  Call rest = call;
  rest.args.erase(rest.args.begin());
  std::vector<hir::Expr *> values;
  std::vector<unsigned> wrt;
  std::vector<TypeRef> argTypes;
  if (!takeValues(*inner.fn, rest, values))
    return error();
  for (hir::Expr *value : values) {
    wrt.push_back(wrt.size());
    argTypes.push_back(value->type);
  }
  if (!requireDifferentiable(*inner.fn, values, wrt, call.range))
    return error();
  hir::FnLit lit = materialise(*inner.fn, argTypes, call.range);
  if (!lit.body)
    return error();
  std::vector<TypeRef> leafTypes = leaves(lit.body->type);
  for (hir::Expr *value : values)
    for (TypeRef leaf : leaves(value->type))
      leafTypes.push_back(leaf);
  const Precision *precision = getPrecision(leafTypes);
  if (!precision)
    return fail(DiagCode::gradient_result, call.range,
                "`assert_grad` compares in f32 or f64, and " +
                    describe(*inner.fn) + " has other arguments or results");
  return expr(compareGradient(*inner.fn, std::move(lit), values, wrt,
                              precision->step, precision->rtol, precision->atol,
                              call));
}

/// How the result moves along `direction` times a fixed cotangent, by the
/// pullback and by the difference.
hir::Expr *Checker::compareGradient(const FnValue &fn, hir::FnLit lit,
                                    llvm::ArrayRef<hir::Expr *> values,
                                    llvm::ArrayRef<unsigned> wrt, double step,
                                    double rtol, double atol, Call &call) {
  SourceRange range = call.range;
  std::vector<hir::Expr *> directions;
  std::vector<Value> ahead, behind;
  for (hir::Expr *value : values) {
    directions.push_back(temp(directionLike(value, directions.size(), range)));
    ahead.push_back(
        expr(temp(movedAlong(value, directions.back(), step, range))));
    behind.push_back(
        expr(temp(movedAlong(value, directions.back(), -step, range))));
  }
  Value after = applyValues(fn, ahead, range);
  Value before = applyValues(fn, behind, range);
  hir::Expr *high = after.isError() ? nullptr : toRuntime(after, range);
  hir::Expr *low = before.isError() ? nullptr : toRuntime(before, range);
  if (!high || !low)
    return makeTuple({}, range);
  high = temp(high);
  low = temp(low);
  hir::Expr *cotangent = temp(directionLike(high, 0.3, range));
  hir::Expr *rise = binaryPrim(Prim::Sub, dotTrees(cotangent, high, range),
                               dotTrees(cotangent, low, range));
  hir::Expr *numeric =
      binaryPrim(Prim::Mul, rise, makeFloat(1 / (2 * step), DType::F64, range));

  hir::TransformExpr *pullback =
      transformExpr(hir::TransformKind::Vjp, std::move(lit), values, wrt,
                    derivativeType(values, wrt), range);
  pullback->extra = {cotangent};
  hir::Expr *gradient = temp(get(temp(pullback), 1, range));
  hir::Expr *direction =
      wrt.size() == 1 ? directions[0] : temp(makeTuple(directions, range));
  effect(prim(Prim::AssertClose, types.getUnit(),
              {dotTrees(gradient, direction, range), temp(numeric),
               makeFloat(rtol, DType::F64, range),
               makeFloat(atol, DType::F64, range)},
              range, {}, {},
              "the gradient of " + sources.getText(call.args[0].range).str()));
  return makeTuple({}, range);
}
