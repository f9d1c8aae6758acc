// vmap: which axes it maps, and what applying it makes: a MapExpr over the
// inner function as a literal. The other transformations are in Transforms.cpp.
// No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

/// `axes = (0, none)` or `axes = 1`; -1 stands for none.
bool Checker::parseVmapAxes(Arg &arg, FnValue &fn) {
  if (!arg.ast) {
    fail(DiagCode::bad_vmap_axes, arg.range, "`axes` must be written out",
         "write a number, or a tuple with a number or `none` for each "
         "argument: `axes = (0, none)`");
    return false;
  }
  for (const ast::Expr *e : writtenElements(arg.ast)) {
    if (llvm::isa<ast::NoneLitExpr>(e)) {
      fn.axes.push_back(-1);
      continue;
    }
    auto value = constantInt(e);
    if (!value)
      return false;
    if (*value < 0) {
      fail(DiagCode::bad_vmap_axes, e->range,
           "an axis of `vmap` is counted from 0",
           "write the axis as its place from the left");
      return false;
    }
    fn.axes.push_back(*value);
  }
  return true;
}

Value Checker::applyVmap(const FnValue &fn, Call &call) {
  std::vector<hir::Expr *> values;
  if (!takeValues(fn, call, values))
    return error();
  std::vector<int64_t> axes = fn.axes;
  if (axes.empty())
    axes.assign(values.size(), 0);
  if (axes.size() == 1 && values.size() > 1)
    axes.assign(values.size(), axes[0]);
  if (axes.size() != values.size())
    return fail(DiagCode::bad_vmap_axes, call.range,
                "`axes` names " + llvm::Twine(axes.size()) +
                    " arguments, and the call has " +
                    llvm::Twine(values.size()),
                "write one entry for each argument: the axis to run over, or "
                "`none`");
  std::vector<Value> args;
  for (hir::Expr *e : values)
    args.push_back(expr(e));
  return vmapValues(*fn.inner, args, axes, call.range);
}

/// A leaf's type without its mapped axis; the axis's extent must be `length`.
TypeRef Checker::unmapped(TypeRef leaf, int64_t axis,
                          std::optional<Dim> &length, SourceRange range) {
  if (axis >= int64_t(leaf->shape.size())) {
    Diagnostic &d = report(DiagCode::bad_vmap_axes, range,
                           "there is no axis " + llvm::Twine(axis) +
                               " to map over in `" + hir::toString(leaf) + "`");
    d.expected = "a tensor of rank " + std::to_string(axis + 1) + " or more";
    d.found = hir::toString(leaf);
    d.help = "name another axis in `axes`, or `none` for an argument that is "
             "the same for all";
    return nullptr;
  }
  Shape shape = leaf->shape;
  if (!length)
    length = shape[axis];
  else if (!requireEqual(shape[axis], *length, range, "a mapped axis"))
    return nullptr;
  shape.erase(shape.begin() + axis);
  return tensor(leaf->dtype, shape);
}

Value Checker::vmapValues(const FnValue &fn, std::vector<Value> args,
                          std::vector<int64_t> axes, SourceRange range) {
  std::optional<Dim> length;
  std::vector<TypeRef> params;
  std::vector<hir::Expr *> values;
  for (size_t i = 0; i < args.size(); ++i) {
    hir::Expr *e = toRuntime(args[i], args[i].range);
    if (!e)
      return error();
    values.push_back(e);
    TypeRef type = axes[i] < 0
                       ? e->type
                       : mapLeafTypes(
                             e->type,
                             [&](TypeRef leaf) {
                               return unmapped(leaf, axes[i], length, e->range);
                             });
    if (!type)
      return error();
    params.push_back(type);
  }
  if (!length)
    return fail(DiagCode::bad_vmap_axes, range,
                "nothing is mapped: at least one argument needs an axis",
                "name an axis in `axes`, or call the function without `vmap`");
  hir::FnLit lit = materialise(fn, params, range);
  if (!lit.body)
    return error();
  TypeRef type = mapLeafTypes(lit.body->type, [&](TypeRef leaf) {
    Shape shape = leaf->shape;
    shape.insert(shape.begin(), *length);
    return tensor(leaf->dtype, shape);
  });
  auto *map = program.make<hir::MapExpr>(type, range);
  map->fn = std::move(lit);
  map->args = std::move(values);
  map->axes = std::move(axes);
  map->length = *length;
  return expr(map);
}
