// Transformations of functions: grad, value_and_grad, vjp, jvp, jacobian,
// hessian, remat; vmap is in Vmap.cpp. They give compile-time functions;
// applying one makes the typed program's TransformExpr or MapExpr over the
// inner function as a literal. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

//===-- Making them -------------------------------------------------------===//

/// `wrt = 1` or `wrt = (0, 2)`.
bool Checker::parseWrt(Arg &arg, FnValue &fn) {
  if (!arg.ast) {
    fail(DiagCode::bad_wrt, arg.range, "`wrt` must be written out",
         "write a number, or a tuple of numbers: `wrt = (0, 2)`");
    return false;
  }
  fn.wrtIsTuple = llvm::isa<ast::TupleExpr>(arg.ast);
  fn.wrt.clear();
  for (const ast::Expr *e : writtenElements(arg.ast)) {
    auto value = constantInt(e, arg.name.text.empty()
                                    ? "`grad(f)` is a function, called like "
                                      "any other: `grad(f)(x)`"
                                    : "");
    if (!value)
      return false;
    if (*value < 0 || *value > 1000 ||
        llvm::is_contained(fn.wrt, unsigned(*value))) {
      fail(DiagCode::bad_wrt, e->range,
           *value < 0
               ? "arguments are counted from 0"
               : "argument " + llvm::Twine(*value) +
                     (*value > 1000 ? " does not exist" : " stands here twice"),
           "write each argument to differentiate by once, by its place from "
           "the left, the first being 0");
      return false;
    }
    fn.wrt.push_back(*value);
  }
  if (fn.wrt.empty())
    fail(DiagCode::bad_wrt, arg.range, "`wrt` names no argument",
         "leave it out to differentiate by argument 0");
  return !fn.wrt.empty();
}

Value Checker::makeTransform(FnTransform transform, Call &call) {
  bool isVmap = transform == FnTransform::Vmap;
  std::vector<llvm::StringRef> names = {"f"};
  if (transform != FnTransform::Remat)
    names.push_back(isVmap ? "axes" : "wrt");
  std::vector<Arg *> args;
  if (!takeArgs(call, names, 1, args))
    return error();
  Value inner = asFunction(*args[0], call.name);
  if (!inner.isFn())
    return error();
  FnValue result;
  result.kind = FnValue::Transform;
  result.range = call.range;
  result.transform = transform;
  result.inner = inner.fn;
  result.wrt = {0};
  Arg *option = args.size() > 1 ? args[1] : nullptr;
  if (option &&
      !(isVmap ? parseVmapAxes(*option, result) : parseWrt(*option, result)))
    return error();
  return fn(makeFn(std::move(result)));
}

Value Checker::makeGrad(Call &call) {
  return makeTransform(FnTransform::Grad, call);
}
Value Checker::makeValueAndGrad(Call &call) {
  return makeTransform(FnTransform::ValueAndGrad, call);
}
Value Checker::makeJacobian(Call &call) {
  return makeTransform(FnTransform::Jacobian, call);
}
Value Checker::makeHessian(Call &call) {
  return makeTransform(FnTransform::Hessian, call);
}
Value Checker::makeVmap(Call &call) {
  return makeTransform(FnTransform::Vmap, call);
}
Value Checker::makeRemat(Call &call) {
  return makeTransform(FnTransform::Remat, call);
}

//===-- Applying them -----------------------------------------------------===//

Value Checker::applyTransform(const FnValue &fn, Call &call) {
  switch (fn.transform) {
  case FnTransform::Grad:
  case FnTransform::ValueAndGrad:
    return applyGrad(fn, call);
  case FnTransform::Jacobian:
    return applyJacobian(fn, call);
  case FnTransform::Hessian:
    return applyHessian(fn, call);
  case FnTransform::Vmap:
    return applyVmap(fn, call);
  case FnTransform::Remat:
    return applyRemat(fn, call);
  }
  return error();
}

/// What a literal in argument `index` should be, where the function says it.
std::optional<DType> Checker::parameterDType(const FnValue &fn, size_t index) {
  const FnValue *inner = &fn;
  while (inner->kind == FnValue::Transform)
    inner = inner->inner;
  const ast::TypeExpr *type = nullptr;
  if (inner->kind == FnValue::Decl && index < inner->decl->item->params.size())
    type = inner->decl->item->params[index].type;
  else if (inner->kind == FnValue::Lambda &&
           index < inner->lambda->params.size())
    type = inner->lambda->params[index]->type;
  if (!type || (type->kind != ast::TypeKind::Named &&
                type->kind != ast::TypeKind::Tensor))
    return std::nullopt;
  return parseDType(type->name.text);
}

/// The arguments as run-time values, each a local so that it may be used twice.
bool Checker::takeValues(const FnValue &fn, Call &call,
                         std::vector<hir::Expr *> &values) {
  for (auto [index, arg] : llvm::enumerate(call.args)) {
    if (!arg.name.text.empty()) {
      fail(DiagCode::unknown_argument, arg.name.range,
           "a transformed function takes its arguments by position");
      return false;
    }
    auto hint = parameterDType(fn, index);
    Value value = argValue(arg, hint ? Expected(*hint) : Expected());
    hir::Expr *e = value.isError() ? nullptr : toRuntime(value, arg.range);
    if (!e)
      return false;
    values.push_back(temp(e));
  }
  return true;
}

static std::vector<TypeRef> typesOf(llvm::ArrayRef<hir::Expr *> values) {
  std::vector<TypeRef> result;
  for (hir::Expr *e : values)
    result.push_back(e->type);
  return result;
}

/// Every `wrt` must be an argument made of floats; its leaves are named if not.
bool Checker::requireDifferentiable(const FnValue &fn,
                                    llvm::ArrayRef<hir::Expr *> values,
                                    llvm::ArrayRef<unsigned> wrt,
                                    SourceRange range) {
  for (unsigned index : wrt) {
    if (index >= values.size()) {
      fail(DiagCode::bad_wrt, range,
           "`wrt` names argument " + llvm::Twine(index) +
               ", and the call has " + llvm::Twine(values.size()),
           "arguments are counted from 0");
      return false;
    }
    auto leafTypes = leaves(values[index]->type);
    auto paths = leafPaths(values[index]->type);
    for (size_t i = 0; i < leafTypes.size(); ++i) {
      if (hir::isFloat(leafTypes[i]->dtype))
        continue;
      std::string which = "argument " + std::to_string(index) +
                          (paths[i].empty() ? "" : ", `" + paths[i] + "`,");
      fail(DiagCode::gradient_of_integer, values[index]->range,
           which + " is `" + hir::toString(leafTypes[i]) +
               "`, and only floats have a gradient",
           "differentiate by other arguments with `wrt`, or capture this one: "
           "`|m| f(m, x)`");
      return false;
    }
  }
  return true;
}

/// The type of a derivative by `wrt`: one argument's, or a tuple of them.
TypeRef Checker::derivativeType(llvm::ArrayRef<hir::Expr *> values,
                                llvm::ArrayRef<unsigned> wrt) {
  if (wrt.size() == 1)
    return values[wrt[0]]->type;
  std::vector<TypeRef> elements;
  for (unsigned index : wrt)
    elements.push_back(values[index]->type);
  return types.getTuple(elements);
}

hir::TransformExpr *Checker::transformExpr(
    hir::TransformKind kind, hir::FnLit lit, llvm::ArrayRef<hir::Expr *> values,
    llvm::ArrayRef<unsigned> wrt, TypeRef derivative, SourceRange range) {
  TypeRef type = types.getTuple({lit.body->type, derivative});
  auto *e = program.make<hir::TransformExpr>(type, range);
  e->transform = kind;
  e->fn = std::move(lit);
  e->args = values.vec();
  e->wrt = wrt.vec();
  return e;
}

/// The way out where a function's result has no derivative at all.
static constexpr char NothingToDifferentiate[] =
    "whole numbers and bools, such as what `argmax` gives, do not change with "
    "small steps: differentiate a float, such as `max` or `softmax`, instead";

static bool hasFloat(llvm::ArrayRef<TypeRef> leafTypes) {
  return llvm::any_of(leafTypes,
                      [](TypeRef leaf) { return hir::isFloat(leaf->dtype); });
}

Value Checker::applyGrad(const FnValue &fn, Call &call) {
  std::vector<hir::Expr *> values;
  if (!takeValues(fn, call, values) ||
      !requireDifferentiable(fn, values, fn.wrt, call.range))
    return error();
  hir::FnLit lit = materialise(*fn.inner, typesOf(values), call.range);
  if (!lit.body)
    return error();
  TypeRef result = lit.body->type;
  if (result->kind != hir::TypeKind::Tensor || !result->shape.empty() ||
      !hir::isFloat(result->dtype))
    return fail(DiagCode::gradient_result, call.range,
                "a gradient is of one scalar float, and " +
                    describe(*fn.inner) + " gives `" + hir::toString(result) +
                    "`",
                hasFloat(leaves(result))
                    ? "reduce it with `sum` or `mean`, or use `jacobian` or "
                      "`vjp`"
                    : NothingToDifferentiate);
  hir::Expr *both = temp(
      transformExpr(hir::TransformKind::ValueAndGrad, std::move(lit), values,
                    fn.wrt, derivativeType(values, fn.wrt), call.range));
  hir::Expr *gradient = get(both, 1, call.range);
  if (fn.wrtIsTuple && fn.wrt.size() == 1)
    gradient = makeTuple({gradient}, call.range);
  if (fn.transform == FnTransform::Grad)
    return expr(gradient);
  return expr(makeTuple({get(both, 0, call.range), gradient}, call.range));
}

//===-- Jacobians ---------------------------------------------------------===//

static Dim elementCount(TypeRef type) {
  Dim count = Dim::constant(1);
  for (const Dim &extent : type->shape)
    count = count * extent;
  return count;
}

/// The unit vectors of a tensor's space: [count, its shape].
hir::Expr *Checker::basis(TypeRef type, SourceRange range) {
  Dim count = elementCount(type);
  Shape square = {count, count}, shape = {count};
  shape.insert(shape.end(), type->shape.begin(), type->shape.end());
  hir::Expr *isUnit =
      compare(Prim::Eq, iotaOf(square, 0, range), iotaOf(square, 1, range));
  return reshape(convert(isUnit, type->dtype), shape);
}

Value Checker::applyJacobian(const FnValue &fn, Call &call) {
  std::vector<hir::Expr *> values;
  if (!takeValues(fn, call, values) ||
      !requireDifferentiable(fn, values, fn.wrt, call.range))
    return error();
  hir::FnLit lit = materialise(*fn.inner, typesOf(values), call.range);
  if (!lit.body)
    return error();
  TypeRef y = lit.body->type;
  if (y->kind != hir::TypeKind::Tensor || !hir::isFloat(y->dtype))
    return fail(DiagCode::gradient_result, call.range,
                "a Jacobian is of one float tensor, and " +
                    describe(*fn.inner) + " gives `" + hir::toString(y) + "`",
                hasFloat(leaves(y))
                    ? "give it a function that picks one tensor of the result, "
                      "or use `vjp` or `jvp`"
                    : NothingToDifferentiate);
  std::vector<hir::Expr *> jacobians;
  for (unsigned index : fn.wrt) {
    jacobians.push_back(
        jacobianBy(lit, values, index, y, values[index]->type, call.range));
    if (!jacobians.back())
      return error();
  }
  return expr(fn.wrtIsTuple ? makeTuple(jacobians, call.range) : jacobians[0]);
}

/// Maps a derivative over a basis: forward over the argument's when that is a
/// tensor known to be no larger than the result, else in reverse over the
/// result's. By a tree it is a tree, the result's axes in front of each leaf's.
hir::Expr *Checker::jacobianBy(const hir::FnLit &lit,
                               llvm::ArrayRef<hir::Expr *> values,
                               unsigned index, TypeRef y, TypeRef x,
                               SourceRange range) {
  Dim countY = elementCount(y);
  std::optional<int64_t> spare;
  if (x->kind == hir::TypeKind::Tensor)
    spare = (countY - elementCount(x)).asConstant();
  bool forward = spare && *spare >= 0;
  TypeRef along = forward ? x : y, rest = forward ? y : x;
  Dim length = elementCount(along);
  hir::Local *unit = program.makeLocal("unit", along, range);
  hir::TransformExpr *step =
      transformExpr(forward ? hir::TransformKind::Jvp : hir::TransformKind::Vjp,
                    lit, values, {index}, rest, range);
  step->extra = {local(unit, range)};
  TypeRef rows = mapLeafTypes(rest, [&](TypeRef leaf) {
    Shape shape = leaf->shape;
    shape.insert(shape.begin(), length);
    return tensor(leaf->dtype, shape);
  });
  auto *map = program.make<hir::MapExpr>(rows, range);
  map->fn.params = {unit};
  map->fn.body = get(step, 1, range);
  map->args = {basis(along, range)};
  map->axes = {0};
  map->length = length;
  return mapLeaves(
      {map}, range, [&](llvm::ArrayRef<hir::Expr *> leaf, const std::string &) {
        hir::Expr *table = leaf[0];
        const Shape &shape = table->type->shape;
        Shape result = y->shape;
        if (forward) { // the argument's axis goes last
          std::vector<int64_t> perm;
          for (size_t axis = 1; axis < shape.size(); ++axis)
            perm.push_back(axis);
          perm.push_back(0);
          table = transpose(table, perm);
          result.insert(result.end(), x->shape.begin(), x->shape.end());
        } else {
          result.insert(result.end(), shape.begin() + 1, shape.end());
        }
        return reshape(table, result);
      });
}

/// The Jacobian of the gradient.
Value Checker::applyHessian(const FnValue &fn, Call &call) {
  FnValue gradient = fn;
  gradient.transform = FnTransform::Grad;
  gradient.wrtIsTuple = false;
  if (fn.wrt.size() != 1)
    return fail(DiagCode::bad_wrt, call.range, "a Hessian is by one argument",
                "name one in `wrt`; a mixed block is `jacobian(grad(f, wrt = "
                "0), wrt = 1)`");
  FnValue jacobian = fn;
  jacobian.transform = FnTransform::Jacobian;
  jacobian.inner = makeFn(std::move(gradient));
  return applyJacobian(*makeFn(std::move(jacobian)), call);
}

//===-- remat, vjp, jvp ---------------------------------------------------===//

Value Checker::applyRemat(const FnValue &fn, Call &call) {
  std::vector<hir::Expr *> values;
  if (!takeValues(fn, call, values))
    return error();
  hir::FnLit lit = materialise(*fn.inner, typesOf(values), call.range);
  if (!lit.body)
    return error();
  auto *e = program.make<hir::TransformExpr>(lit.body->type, call.range);
  e->transform = hir::TransformKind::Remat;
  e->fn = std::move(lit);
  e->args = std::move(values);
  return expr(e);
}

/// vjp(f, x, ...): the value, and a function from its cotangent to theirs.
Value Checker::vjpFn(Call &call) {
  if (call.args.empty())
    return fail(DiagCode::argument_count, call.range,
                "`vjp` takes a function and its arguments");
  Value inner = asFunction(call.args[0], call.name);
  if (!inner.isFn())
    return error();
  Call rest = call;
  rest.args.erase(rest.args.begin());
  std::vector<hir::Expr *> values;
  if (!takeValues(*inner.fn, rest, values))
    return error();
  if (values.empty())
    return fail(DiagCode::argument_count, call.range,
                "`vjp` needs at least one argument to differentiate by");
  FnValue pullback;
  pullback.kind = FnValue::Pullback;
  pullback.range = call.range;
  pullback.inner = inner.fn;
  for (unsigned i = 0; i < values.size(); ++i) {
    pullback.wrt.push_back(i);
    pullback.args.push_back(expr(values[i]));
  }
  if (!requireDifferentiable(*inner.fn, values, pullback.wrt, call.range))
    return error();
  Value value = applyValues(*inner.fn, pullback.args, call.range);
  if (value.isError() || !toRuntime(value, call.range))
    return error();
  Value result;
  result.kind = Value::Tuple;
  result.range = call.range;
  valueLists.push_back({value, this->fn(makeFn(std::move(pullback)))});
  result.elements = &valueLists.back();
  return result;
}

Value Checker::applyPullback(const FnValue &fn, Call &call) {
  if (call.args.size() != 1)
    return fail(DiagCode::argument_count, call.range,
                "a pullback takes one cotangent, like the function's value");
  std::vector<hir::Expr *> values;
  for (const Value &value : fn.args)
    values.push_back(value.expr);
  hir::FnLit lit = materialise(*fn.inner, typesOf(values), call.range);
  if (!lit.body)
    return error();
  Value given = argValue(call.args[0], Expected(lit.body->type));
  hir::Expr *cotangent =
      given.isError() ? nullptr : toRuntime(given, call.args[0].range);
  if (!cotangent || !requireType(cotangent->type, lit.body->type,
                                 call.args[0].range, "a cotangent"))
    return error();
  hir::TransformExpr *step =
      transformExpr(hir::TransformKind::Vjp, std::move(lit), values, fn.wrt,
                    derivativeType(values, fn.wrt), call.range);
  step->extra = {cotangent};
  return expr(get(temp(step), 1, call.range));
}

/// The elements of a tuple argument; anything else stands for itself.
bool Checker::takeTuple(Arg &arg, std::vector<hir::Expr *> &values,
                        llvm::ArrayRef<TypeRef> hints) {
  llvm::SmallVector<Arg> parts;
  if (arg.ast) {
    for (const ast::Expr *e : writtenElements(arg.ast))
      parts.push_back({{}, e->range, e, {}});
    if (llvm::isa<ast::ArrayExpr>(arg.ast))
      parts = {arg};
  } else {
    parts.push_back(arg);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    Expected hint = i < hints.size() ? Expected(hints[i]) : Expected();
    Value value = argValue(parts[i], hint);
    hir::Expr *e = value.isError() ? nullptr : toRuntime(value, parts[i].range);
    if (!e)
      return false;
    values.push_back(temp(e));
  }
  return true;
}

/// jvp(f, (x,), (dx,)): the value and its tangent.
Value Checker::jvpFn(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"f", "primals", "tangents"}, 3, args))
    return error();
  Value inner = asFunction(*args[0], call.name);
  if (!inner.isFn())
    return error();
  std::vector<TypeRef> hints; // for literals, as in a call of the function
  size_t count = args[1]->ast ? writtenElements(args[1]->ast).size() : 0;
  for (size_t i = 0; i < count; ++i) {
    auto dtype = parameterDType(*inner.fn, i);
    hints.push_back(dtype ? types.getScalar(*dtype) : nullptr);
  }
  std::vector<hir::Expr *> values, tangents;
  if (!takeTuple(*args[1], values, hints) ||
      !takeTuple(*args[2], tangents, typesOf(values)))
    return error();
  if (values.size() != tangents.size())
    return fail(DiagCode::bad_tangents, args[2]->range,
                "there are " + llvm::Twine(values.size()) + " arguments and " +
                    llvm::Twine(tangents.size()) + " tangents");
  std::vector<unsigned> wrt;
  for (unsigned i = 0; i < values.size(); ++i) {
    wrt.push_back(i);
    if (!sameForm(tangents[i]->type, values[i]->type)) {
      Diagnostic &d = report(DiagCode::bad_tangents, tangents[i]->range,
                             "the tangent of argument " + llvm::Twine(i) +
                                 " does not have the argument's type");
      d.expected = hir::toString(values[i]->type);
      d.found = hir::toString(tangents[i]->type);
      return error();
    }
    if (!requireType(tangents[i]->type, values[i]->type, tangents[i]->range,
                     "the tangent of argument " + llvm::Twine(i)))
      return error();
  }
  if (!requireDifferentiable(*inner.fn, values, wrt, call.range))
    return error();
  hir::FnLit lit = materialise(*inner.fn, typesOf(values), call.range);
  if (!lit.body)
    return error();
  for (TypeRef leaf : leaves(lit.body->type))
    if (!hir::isFloat(leaf->dtype))
      return fail(DiagCode::gradient_result, call.range,
                  "a tangent is of floats, and " + describe(*inner.fn) +
                      " gives `" + hir::toString(lit.body->type) + "`",
                  hasFloat(leaves(lit.body->type))
                      ? "give it a function that leaves the whole numbers out"
                      : NothingToDifferentiate);
  TypeRef result = lit.body->type;
  hir::TransformExpr *step = transformExpr(
      hir::TransformKind::Jvp, std::move(lit), values, wrt, result, call.range);
  step->extra = tangents;
  return expr(step);
}
