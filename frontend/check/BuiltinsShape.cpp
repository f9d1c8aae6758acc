// Built-in functions that rearrange: concat, stack, reshape, transpose, flip,
// roll, pad, tile, repeat, squeeze, expand_dims, broadcast_to, diag, trace,
// tril, triu. They move elements and never round. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

//===-- Helpers -----------------------------------------------------------===//

std::optional<Dim> Checker::dimArg(Arg &arg) {
  if (arg.ast)
    return dimArgument(arg.ast);
  if (arg.value.isError())
    return std::nullopt;
  if (arg.value.isExpr() && arg.value.dim)
    return arg.value.dim;
  fail(DiagCode::not_a_dimension, arg.range,
       "this must be a dimension expression");
  return std::nullopt;
}

std::vector<const ast::Expr *> Checker::writtenElements(const ast::Expr *e) {
  llvm::ArrayRef<ast::Expr *> elements;
  if (auto *array = llvm::dyn_cast<ast::ArrayExpr>(e))
    elements = array->elements;
  else if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(e))
    elements = tuple->elements;
  else
    return {e};
  return {elements.begin(), elements.end()};
}

hir::Expr *Checker::zero(DType dtype, SourceRange range) {
  if (dtype == DType::Bool)
    return makeBool(false, range);
  return hir::isFloat(dtype) ? makeFloat(0, dtype, range)
                             : makeInt(0, dtype, range);
}

hir::Expr *Checker::iotaOf(const Shape &shape, unsigned axis,
                           SourceRange range) {
  return prim(Prim::Iota, tensor(DType::I64, shape), {}, range,
              {int64_t(axis)});
}

/// Transposes so that the axes of `front` come first, the others behind in
/// order.
hir::Expr *Checker::moveAxes(hir::Expr *e, llvm::ArrayRef<unsigned> front) {
  std::vector<int64_t> perm(front.begin(), front.end());
  for (unsigned axis = 0; axis < e->type->shape.size(); ++axis)
    if (!llvm::is_contained(front, axis))
      perm.push_back(axis);
  return transpose(e, perm);
}

/// x[.., i, i, ..] over the square axes `first` and `first + 1`, which become
/// one.
hir::Expr *Checker::gatherDiagonal(hir::Expr *x, unsigned first,
                                   SourceRange range) {
  Shape shape = x->type->shape;
  hir::Expr *index = temp(iotaOf({shape[first]}, 0, range));
  shape.erase(shape.begin() + first + 1);
  return prim(Prim::Gather, tensor(x->type->dtype, shape), {x, index, index},
              range, {int64_t(first), int64_t(first) + 1});
}

/// Tensors by position, of one dtype, and the argument `axis` by name.
bool Checker::takeTensors(Call &call, std::vector<hir::Expr *> &tensors,
                          Arg *&axis) {
  axis = nullptr;
  Expected hint;
  for (Arg &arg : call.args) {
    if (arg.name.text == "axis") {
      axis = &arg;
      continue;
    }
    if (!arg.name.text.empty()) {
      fail(DiagCode::unknown_argument, arg.name.range,
           "`" + call.name + "` has no parameter `" + arg.name.text + "`",
           "tensors come by position, and `axis` by name");
      return false;
    }
    hir::Expr *e = tensorArg(arg, hint);
    if (!e)
      return false;
    if (!tensors.empty() && tensors[0]->type->dtype != e->type->dtype) {
      Diagnostic &d =
          report(DiagCode::mixed_dtypes, arg.range,
                 "`" + call.name + "` joins tensors of one element type");
      d.expected = hir::toString(tensors[0]->type);
      d.found = hir::toString(e->type);
      return false;
    }
    hint = Expected(e->type->dtype);
    tensors.push_back(e);
  }
  if (tensors.empty())
    fail(DiagCode::argument_count, call.range,
         "`" + call.name + "` needs at least one tensor");
  return !tensors.empty();
}

hir::Expr *Checker::join(std::vector<hir::Expr *> tensors, unsigned axis,
                         SourceRange range) {
  Shape shape = tensors[0]->type->shape;
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Shape &other = tensors[i]->type->shape;
    if (other.size() != shape.size()) {
      Diagnostic &d = report(DiagCode::rank_mismatch, tensors[i]->range,
                             "tensors that are joined have one rank");
      d.expected = hir::toString(tensors[0]->type);
      d.found = hir::toString(tensors[i]->type);
      return nullptr;
    }
    for (unsigned k = 0; k < shape.size(); ++k)
      if (k != axis &&
          !requireEqual(other[k], tensors[0]->type->shape[k], tensors[i]->range,
                        "axis " + llvm::Twine(k)))
        return nullptr;
    shape[axis] = shape[axis] + other[axis];
  }
  DType dtype = tensors[0]->type->dtype;
  return prim(Prim::Concat, tensor(dtype, shape), tensors, range,
              {int64_t(axis)});
}

//===-- Joining -----------------------------------------------------------===//

Value Checker::concat(Call &call) {
  std::vector<hir::Expr *> tensors;
  Arg *axisGiven;
  if (!takeTensors(call, tensors, axisGiven))
    return error();
  auto axis = axisArg(axisGiven, tensors[0]->type->shape.size(), 0);
  if (!axis)
    return error();
  hir::Expr *joined = join(tensors, *axis, call.range);
  return joined ? expr(joined) : error();
}

Value Checker::stack(Call &call) {
  std::vector<hir::Expr *> tensors;
  Arg *axisGiven;
  if (!takeTensors(call, tensors, axisGiven))
    return error();
  auto axis = axisArg(axisGiven, tensors[0]->type->shape.size() + 1, 0);
  if (!axis)
    return error();
  for (hir::Expr *&e : tensors)
    if (e->type->shape.size() != tensors[0]->type->shape.size())
      return fail(DiagCode::rank_mismatch, e->range,
                  "tensors that are stacked have one shape");
  for (hir::Expr *&e : tensors)
    e = expandAxis(e, *axis);
  hir::Expr *joined = join(tensors, *axis, call.range);
  return joined ? expr(joined) : error();
}

//===-- Shape alone -------------------------------------------------------===//

static Dim product(llvm::ArrayRef<Dim> shape) {
  Dim total = Dim::constant(1);
  for (const Dim &extent : shape)
    total = total * extent;
  return total;
}

Value Checker::reshapeFn(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "shape"}, 2, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  if (!x)
    return error();
  Dim total = product(x->type->shape);
  auto shape = shapeArg(*args[1], &total);
  if (!shape)
    return error();
  Dim wanted = product(*shape);
  if (Dim::compare(wanted, total) == DimProof::Different) {
    Diagnostic &d =
        report(DiagCode::bad_reshape, args[1]->range,
               "a reshape keeps the number of elements: " + show(total) +
                   " are not " + show(wanted));
    d.expected = show(total) + " elements, from " + hir::toString(x->type);
    d.found = show(wanted) + " elements";
    return error();
  }
  return expr(reshape(x, *shape));
}

Value Checker::transposeFn(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "axes"}, 1, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  if (!x)
    return error();
  unsigned rank = x->type->shape.size();
  std::vector<int64_t> perm;
  if (!args[1]) {
    for (unsigned axis = rank; axis-- > 0;)
      perm.push_back(axis);
    return expr(transpose(x, perm));
  }
  if (!args[1]->ast)
    return fail(DiagCode::not_constant, args[1]->range,
                "the order of axes must be written out",
                "write a list of all axes in their new order: `[1, 0]`");
  for (const ast::Expr *e : writtenElements(args[1]->ast)) {
    auto value = constantInt(e);
    auto axis = value ? normaliseAxis(*value, rank, e->range) : std::nullopt;
    if (!axis)
      return error();
    if (llvm::is_contained(perm, *axis))
      return fail(DiagCode::bad_axis, e->range,
                  "axis " + llvm::Twine(*axis) + " stands here twice");
    perm.push_back(*axis);
  }
  if (perm.size() != rank)
    return fail(DiagCode::bad_axis, args[1]->range,
                "a transpose names all " + llvm::Twine(rank) + " axes of `" +
                    hir::toString(x->type) + "`, here are " +
                    llvm::Twine(perm.size()));
  return expr(transpose(x, perm));
}

Value Checker::squeeze(Call &call) {
  Arg *which = nullptr;
  hir::Expr *x = tensorAndAxis(call, which);
  if (!x)
    return error();
  const Shape &shape = x->type->shape;
  std::vector<int64_t> axes;
  if (which) {
    auto given = axesArg(which, shape.size());
    if (!given)
      return error();
    axes = *given;
  } else {
    for (unsigned axis = 0; axis < shape.size(); ++axis)
      if (shape[axis].isConstant(1))
        axes.push_back(axis);
  }
  Shape rest;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    if (!llvm::is_contained(axes, int64_t(axis)))
      rest.push_back(shape[axis]);
    else if (!shape[axis].isConstant(1))
      return fail(DiagCode::bad_axis, which->range,
                  "only an axis of extent 1 can go; axis " + llvm::Twine(axis) +
                      " has extent " + show(shape[axis]));
  }
  return expr(reshape(x, rest));
}

Value Checker::expandDims(Call &call) {
  Arg *which = nullptr;
  hir::Expr *x = tensorAndAxis(call, which);
  if (!x)
    return error();
  auto axis = axisArg(which, x->type->shape.size() + 1, 0);
  return axis ? expr(expandAxis(x, *axis)) : error();
}

Value Checker::broadcastToFn(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "shape"}, 2, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  auto shape = x ? shapeArg(*args[1], nullptr) : std::nullopt;
  if (!shape)
    return error();
  const Shape &from = x->type->shape;
  if (from.size() > shape->size())
    return fail(DiagCode::rank_mismatch, args[1]->range,
                "`" + hir::toString(x->type) + "` has more axes than this");
  size_t missing = shape->size() - from.size();
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (!from[axis].isConstant(1) &&
        !requireEqual(from[axis], (*shape)[missing + axis], args[1]->range,
                      "axis " + llvm::Twine(missing + axis)))
      return error();
  return expr(broadcastTo(x, *shape));
}

//===-- Moving elements ---------------------------------------------------===//

Value Checker::flip(Call &call) {
  Arg *which = nullptr;
  hir::Expr *x = tensorAndAxis(call, which);
  auto axes = x ? axesArg(which, x->type->shape.size()) : std::nullopt;
  if (!axes)
    return error();
  return expr(prim(Prim::Flip, x->type, {x}, call.range, *axes));
}

/// Element i comes from (i - shift) mod n: the same for shifts known at run
/// time.
Value Checker::roll(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "shift", "axis"}, 2, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  hir::Expr *shift = x ? tensorArg(*args[1], Expected(DType::I64)) : nullptr;
  if (!shift)
    return error();
  if (!hir::isInteger(shift->type->dtype) || !shift->type->shape.empty())
    return fail(DiagCode::bad_operand, args[1]->range,
                "a shift is one integer, not `" + hir::toString(shift->type) +
                    "`");
  Shape full = x->type->shape;
  unsigned axis = 0;
  bool flat = !args[2] && full.size() != 1;
  if (flat)
    x = reshape(x, {product(full)});
  else if (auto given = axisArg(args[2], full.size(), 0))
    axis = *given;
  else
    return error();
  Dim extent = x->type->shape[axis];
  TypeRef indexType = tensor(DType::I64, {extent});
  hir::Expr *back = binaryPrim(Prim::Sub, iotaOf({extent}, 0, call.range),
                               splat(asI64(shift), {extent}));
  hir::Expr *length = splat(dimValue(extent, call.range), {extent});
  hir::Expr *index = prim(Prim::Rem, indexType, {back, length}, call.range);
  hir::Expr *moved =
      prim(Prim::Gather, x->type, {x, index}, call.range, {int64_t(axis)});
  return expr(flat ? reshape(moved, full) : moved);
}

/// [(low, high), ...] per axis, (low, high) for rank 1, or one number for all.
bool Checker::parsePads(Arg &arg, unsigned rank, Shape &low, Shape &high) {
  auto addPair = [&](const ast::Expr *a, const ast::Expr *b) {
    auto lo = dimArgument(a), hi = dimArgument(b);
    if (!lo || !hi)
      return false;
    for (const Dim &width : {*lo, *hi})
      if (auto value = width.asConstant(); value && *value < 0) {
        fail(DiagCode::negative_extent, arg.range, "a pad is negative");
        return false;
      }
    low.push_back(*lo);
    high.push_back(*hi);
    return true;
  };
  if (!arg.ast) {
    fail(DiagCode::not_constant, arg.range, "pads must be written out",
         "write a list with a pair (low, high) for each axis: `[(1, 1)]`");
    return false;
  }
  auto pairs = writtenElements(arg.ast);
  bool onePair = llvm::isa<ast::TupleExpr>(arg.ast) && pairs.size() == 2 &&
                 !llvm::isa<ast::TupleExpr>(pairs[0]);
  if (onePair && rank == 1)
    return addPair(pairs[0], pairs[1]);
  if (pairs.size() == 1 && pairs[0] == arg.ast) {
    for (unsigned axis = 0; axis < rank; ++axis)
      if (!addPair(arg.ast, arg.ast))
        return false;
    return true;
  }
  if (pairs.size() != rank) {
    fail(DiagCode::argument_count, arg.range,
         "a pad gives (low, high) for each of the " + llvm::Twine(rank) +
             " axes, here are " + llvm::Twine(pairs.size()));
    return false;
  }
  for (const ast::Expr *pair : pairs) {
    auto ends = writtenElements(pair);
    if (ends.size() != 2) {
      fail(DiagCode::argument_count, pair->range,
           "a pad of an axis is written (low, high)");
      return false;
    }
    if (!addPair(ends[0], ends[1]))
      return false;
  }
  return true;
}

Value Checker::pad(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "widths", "value"}, 2, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  if (!x)
    return error();
  Shape low, high, shape = x->type->shape;
  if (!parsePads(*args[1], shape.size(), low, high))
    return error();
  DType dtype = x->type->dtype;
  hir::Expr *value =
      args[2] ? tensorArg(*args[2], Expected(dtype)) : zero(dtype, call.range);
  if (!value || !requireType(value->type, types.getScalar(dtype), value->range,
                             "the value of a pad"))
    return error();
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    shape[axis] = shape[axis] + low[axis] + high[axis];
  low.insert(low.end(), high.begin(), high.end());
  return expr(
      prim(Prim::Pad, tensor(dtype, shape), {x, value}, call.range, {}, low));
}

Value Checker::tile(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "reps"}, 2, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  auto reps = x ? shapeArg(*args[1], nullptr) : std::nullopt;
  if (!reps)
    return error();
  Shape shape = x->type->shape;
  while (shape.size() < reps->size())
    shape.insert(shape.begin(), Dim::constant(1));
  while (reps->size() < shape.size())
    reps->insert(reps->begin(), Dim::constant(1));
  Shape single, repeated, result;
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    single.insert(single.end(), {Dim::constant(1), shape[axis]});
    repeated.insert(repeated.end(), {(*reps)[axis], shape[axis]});
    result.push_back((*reps)[axis] * shape[axis]);
  }
  return expr(reshape(broadcastTo(reshape(x, single), repeated), result));
}

Value Checker::repeat(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "repeats", "axis"}, 2, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  auto count = x ? dimArg(*args[1]) : std::nullopt;
  if (!count)
    return error();
  if (!args[2] && x->type->shape.size() != 1)
    x = reshape(x, {product(x->type->shape)});
  auto axis = axisArg(args[2], x->type->shape.size(), 0);
  if (!axis)
    return error();
  hir::Expr *wide = expandAxis(x, *axis + 1);
  Shape shape = wide->type->shape, result = x->type->shape;
  shape[*axis + 1] = *count;
  result[*axis] = result[*axis] * *count;
  return expr(reshape(broadcastTo(wide, shape), result));
}

//===-- Diagonals and triangles -------------------------------------------===//

Value Checker::diag(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x"}, 1, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  if (!x)
    return error();
  const Shape &shape = x->type->shape;
  if (shape.size() == 2) {
    if (!requireEqual(shape[0], shape[1], args[0]->range, "a diagonal's axes"))
      return error();
    return expr(gatherDiagonal(x, 0, call.range));
  }
  if (shape.size() != 1)
    return fail(DiagCode::rank_mismatch, args[0]->range,
                "`diag` takes a vector or a square matrix, not `" +
                    hir::toString(x->type) + "`");
  Shape square = {shape[0], shape[0]};
  hir::Expr *onDiagonal = compare(Prim::Eq, iotaOf(square, 0, call.range),
                                  iotaOf(square, 1, call.range));
  hir::Expr *zeros = splat(zero(x->type->dtype, call.range), square);
  return expr(prim(Prim::Select, zeros->type,
                   {onDiagonal, broadcastTo(x, square), zeros}, call.range));
}

Value Checker::trace(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x"}, 1, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  if (!x)
    return error();
  if (x->type->shape.size() != 2 || x->type->dtype == DType::Bool)
    return fail(DiagCode::bad_operand, args[0]->range,
                "`trace` takes a square matrix of numbers, not `" +
                    hir::toString(x->type) + "`");
  if (!requireEqual(x->type->shape[0], x->type->shape[1], args[0]->range,
                    "a trace's axes"))
    return error();
  return expr(reduce(Prim::Sum, gatherDiagonal(x, 0, call.range), {0}));
}

/// tril keeps i >= j - k, triu i <= j - k, over the last two axes.
Value Checker::triangle(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "k"}, 1, args))
    return error();
  hir::Expr *x = tensorArg(*args[0]);
  if (!x)
    return error();
  const Shape &shape = x->type->shape;
  if (shape.size() < 2)
    return fail(DiagCode::rank_mismatch, args[0]->range,
                "`" + call.name + "` takes a matrix, not `" +
                    hir::toString(x->type) + "`");
  auto offset = args[1] ? dimArg(*args[1]) : Dim();
  if (!offset)
    return error();
  hir::Expr *row = iotaOf(shape, shape.size() - 2, call.range);
  hir::Expr *column = iotaOf(shape, shape.size() - 1, call.range);
  hir::Expr *shifted = binaryPrim(Prim::Sub, column,
                                  splat(dimValue(*offset, call.range), shape));
  hir::Expr *kept = compare(call.prim, row, shifted);
  hir::Expr *zeros = splat(zero(x->type->dtype, call.range), shape);
  return expr(prim(Prim::Select, x->type, {kept, x, zeros}, call.range));
}
