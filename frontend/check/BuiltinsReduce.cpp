// Built-in functions that reduce or run along an axis: sum and its kin, mean,
// var, argmax, softmax, sort, cumsum, top_k. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

static bool isNumber(DType dtype) { return dtype != DType::Bool; }
static bool isBool(DType dtype) { return dtype == DType::Bool; }

/// Puts reduced axes back with extent 1.
hir::Expr *Checker::restoreAxes(hir::Expr *e, const Shape &full,
                                llvm::ArrayRef<int64_t> axes) {
  Shape shape = full;
  for (int64_t axis : axes)
    shape[axis] = Dim::constant(1);
  return reshape(e, shape);
}

/// Reads (x, axis, keepdims); nothing after a report.
std::optional<Checker::ReductionArgs> Checker::readReduction(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "axis", "keepdims"}, 1, args))
    return std::nullopt;
  ReductionArgs result;
  result.x = tensorArg(*args[0]);
  auto axes =
      result.x ? axesArg(args[1], result.x->type->shape.size()) : std::nullopt;
  if (!axes)
    return std::nullopt;
  result.axes = *axes;
  if (!args[2])
    return result;
  auto keep = args[2]->ast ? constantBool(args[2]->ast) : std::nullopt;
  if (!keep)
    return std::nullopt;
  result.keepdims = *keep;
  return result;
}

Value Checker::reduction(Call &call, llvm::function_ref<bool(DType)> allowed,
                         llvm::StringRef wanted) {
  auto given = readReduction(call);
  if (!given)
    return error();
  hir::Expr *x = given->x;
  if (!allowed(x->type->dtype)) {
    Diagnostic &d = report(DiagCode::bad_operand, x->range,
                           "`" + call.name + "` takes " + wanted);
    d.found = hir::toString(x->type);
    if (isBool(x->type->dtype))
      d.help = "count with `" + call.name.str() + "(i64(...))`";
    return error();
  }
  hir::Expr *result = reduce(call.prim, x, given->axes);
  return expr(given->keepdims ? restoreAxes(result, x->type->shape, given->axes)
                              : result);
}

Value Checker::reduceNumber(Call &call) {
  return reduction(call, isNumber, "numbers");
}
Value Checker::reduceFloat(Call &call) {
  return reduction(call, hir::isFloat, "floats");
}
Value Checker::reduceBool(Call &call) {
  return reduction(call, isBool, "bools");
}

/// The number of elements along `axes`, as a float scalar.
static Dim countAlong(const Shape &shape, llvm::ArrayRef<int64_t> axes) {
  Dim count = Dim::constant(1);
  for (int64_t axis : axes)
    count = count * shape[axis];
  return count;
}

/// Half floats are averaged in f32 and rounded once.
static DType workType(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

hir::Expr *Checker::average(hir::Expr *x, const std::vector<int64_t> &axes,
                            SourceRange range) {
  hir::Expr *wide = convert(x, workType(x->type->dtype));
  hir::Expr *total = reduce(Prim::Sum, wide, axes);
  hir::Expr *count = convert(dimValue(countAlong(x->type->shape, axes), range),
                             wide->type->dtype);
  return convert(binaryPrim(Prim::Div, total, splat(count, total->type->shape)),
                 x->type->dtype);
}

Value Checker::mean(Call &call) {
  auto given = readReduction(call);
  if (!given)
    return error();
  hir::Expr *x = given->x;
  DType dtype = x->type->dtype;
  if (!hir::isFloat(dtype))
    return fail(DiagCode::bad_operand, x->range,
                "`mean` takes floats, not `" + hir::toString(x->type) + "`",
                "convert it: `mean(f32(...))`");
  hir::Expr *result = average(x, given->axes, call.range);
  return expr(given->keepdims ? restoreAxes(result, x->type->shape, given->axes)
                              : result);
}

/// Two passes: the mean, then the mean of squared deviations from it.
Value Checker::variance(Call &call) {
  auto given = readReduction(call);
  if (!given)
    return error();
  hir::Expr *x = given->x;
  DType dtype = x->type->dtype;
  if (!hir::isFloat(dtype))
    return fail(DiagCode::bad_operand, x->range,
                "`var` takes floats, not `" + hir::toString(x->type) + "`",
                "convert it: `var(f32(...))`");
  const Shape &shape = x->type->shape;
  hir::Expr *wide = temp(convert(x, workType(dtype)));
  hir::Expr *count = convert(
      dimValue(countAlong(shape, given->axes), call.range), wide->type->dtype);
  auto average = [&](hir::Expr *e) {
    hir::Expr *total = reduce(Prim::Sum, e, given->axes);
    return binaryPrim(Prim::Div, total, splat(count, total->type->shape));
  };
  hir::Expr *center = restoreAxes(average(wide), shape, given->axes);
  hir::Expr *off =
      temp(binaryPrim(Prim::Sub, wide, broadcastTo(center, shape)));
  hir::Expr *result = convert(average(binaryPrim(Prim::Mul, off, off)), dtype);
  return expr(given->keepdims ? restoreAxes(result, shape, given->axes)
                              : result);
}

/// Without `axis`, over all elements in row-major order.
Value Checker::argReduce(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "axis", "keepdims"}, 1, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  if (!x)
    return error();
  if (!isNumber(x->type->dtype))
    return fail(DiagCode::bad_operand, args[0]->range,
                "`" + call.name + "` takes numbers, not `" +
                    hir::toString(x->type) + "`");
  auto keep = args[2] && args[2]->ast ? constantBool(args[2]->ast)
                                      : std::optional<bool>(false);
  Shape full = x->type->shape;
  std::vector<int64_t> dropped;
  int64_t axis = 0;
  if (!args[1]) {
    for (size_t i = 0; i < full.size(); ++i)
      dropped.push_back(i);
    x = reshape(x, {countAlong(full, dropped)});
  } else if (auto some = axisArg(args[1], full.size(), 0)) {
    axis = *some;
    dropped = {axis};
  } else {
    return error();
  }
  if (!keep)
    return error();
  Shape shape = x->type->shape;
  shape.erase(shape.begin() + axis);
  hir::Expr *result =
      prim(call.prim, tensor(DType::I32, shape), {x}, call.range, {axis});
  return expr(*keep ? restoreAxes(result, full, dropped) : result);
}

/// Functions that keep the shape and work along the last axis unless told.
Value Checker::alongAxis(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "axis"}, 1, args))
    return error();
  bool isSort = call.prim == Prim::Sort || call.prim == Prim::ArgSort;
  hir::Expr *x = isSort ? tensorArg(*args[0]) : floatArg(*args[0], call);
  if (!x)
    return error();
  if (!isNumber(x->type->dtype))
    return fail(DiagCode::bad_operand, args[0]->range,
                "`" + call.name + "` takes numbers, not `" +
                    hir::toString(x->type) + "`");
  if (x->type->shape.empty())
    return fail(DiagCode::rank_mismatch, args[0]->range,
                "`" + call.name +
                    "` works along an axis, and a scalar has none");
  auto axis = axisArg(args[1], x->type->shape.size(), -1);
  if (!axis)
    return error();
  TypeRef type =
      call.prim == Prim::ArgSort ? withDType(x->type, DType::I32) : x->type;
  return expr(prim(call.prim, type, {x}, call.range, {*axis}));
}

Value Checker::cumulative(Call &call) {
  Arg *which = nullptr;
  hir::Expr *x = tensorAndAxis(call, which);
  if (!x)
    return error();
  unsigned rank = x->type->shape.size();
  if (!isNumber(x->type->dtype) || rank == 0)
    return fail(DiagCode::bad_operand, x->range,
                "`" + call.name + "` takes a tensor of numbers, not `" +
                    hir::toString(x->type) + "`");
  if (!which && rank > 1)
    return fail(DiagCode::argument_count, call.range,
                "`" + call.name + "` of `" + hir::toString(x->type) +
                    "` needs an axis",
                "say which: `axis = 0`");
  auto axis = axisArg(which, rank, 0);
  return axis ? expr(prim(call.prim, x->type, {x}, call.range, {*axis}))
              : error();
}

/// The k greatest along an axis, greatest first, the first of equals first: the
/// stable ascending order of the flipped tensor, read from its end.
Value Checker::topK(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "k", "axis"}, 2, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  auto count = x ? dimArg(*args[1]) : std::nullopt;
  if (!count)
    return error();
  if (!isNumber(x->type->dtype) || x->type->shape.empty())
    return fail(DiagCode::bad_operand, args[0]->range,
                "`top_k` takes a tensor of numbers, not `" +
                    hir::toString(x->type) + "`");
  auto axis = axisArg(args[2], x->type->shape.size(), -1);
  if (!axis)
    return error();
  const Shape &shape = x->type->shape;
  auto constant = (shape[*axis] - *count).asConstant();
  if (constant && *constant < 0)
    return fail(DiagCode::index_out_of_range, args[1]->range,
                "there are only " + show(shape[*axis]) + " elements, not " +
                    show(*count));
  x = temp(x);
  TypeRef order = withDType(x->type, DType::I32);
  auto flipped = [&](hir::Expr *e) {
    return prim(Prim::Flip, e->type, {e}, call.range, {*axis});
  };
  hir::Expr *sorted =
      flipped(prim(Prim::ArgSort, order, {flipped(x)}, call.range, {*axis}));
  hir::Expr *last =
      splat(convert(dimValue(shape[*axis] - Dim::constant(1), call.range),
                    DType::I32),
            shape);
  hir::Expr *indices = temp(
      sliceAxis(binaryPrim(Prim::Sub, last, sorted), *axis, Dim(), *count));
  std::vector<hir::Expr *> operands = {x};
  std::vector<int64_t> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back(i);
    operands.push_back(int64_t(i) == *axis
                           ? indices
                           : iotaOf(indices->type->shape, i, call.range));
  }
  hir::Expr *values =
      prim(Prim::Gather, withDType(indices->type, x->type->dtype), operands,
           call.range, axes);
  return expr(makeTree(builtinStruct("TopK", {"values", "indices"},
                                     {values->type, indices->type}),
                       {values, indices}, call.range));
}
