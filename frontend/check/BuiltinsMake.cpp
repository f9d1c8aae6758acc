// Built-in functions that make tensors from types (zeros, ones, full, iota),
// and those with an effect or a mark: the asserts, debug, stop_gradient. No
// MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

/// A struct of the language's own, such as the result of top_k.
TypeRef Checker::builtinStruct(llvm::StringRef name,
                               std::vector<std::string> fields,
                               std::vector<TypeRef> fieldTypes) {
  for (const hir::StructInfo &info : program.structs)
    if (info.module.empty() && info.name == name)
      return types.getStruct(&info, {}, {}, fieldTypes);
  program.structs.emplace_back();
  hir::StructInfo &info = program.structs.back();
  info.name = name.str();
  info.fieldDocs.resize(fields.size());
  info.fieldNames = std::move(fields);
  return types.getStruct(&info, {}, {}, fieldTypes);
}

/// A tree of this type with `f` for each leaf; null after a report.
hir::Expr *Checker::buildTree(TypeRef type, SourceRange range,
                              llvm::function_ref<hir::Expr *(TypeRef)> f) {
  if (type->kind == hir::TypeKind::Tensor)
    return f(type);
  std::vector<hir::Expr *> elements;
  size_t count = type->elements.size();
  if (type->kind == hir::TypeKind::Array) {
    auto known = type->count.asConstant();
    if (!known || *known > 10000) {
      fail(DiagCode::not_constant, range,
           "the length of `" + hir::toString(type) +
               "` must be a constant of at most 10000",
           "make a struct of tensors instead, each with an axis more");
      return nullptr;
    }
    count = *known;
  }
  bool isArray = type->kind == hir::TypeKind::Array;
  for (size_t i = 0; i < count; ++i) {
    hir::Expr *e = buildTree(type->elements[isArray ? 0 : i], range, f);
    if (!e)
      return nullptr;
    elements.push_back(e);
  }
  return makeTree(type, elements, range);
}

Value Checker::fill(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"type"}, 1, args))
    return error();
  TypeRef type = typeArg(*args[0]);
  if (!type)
    return error();
  int64_t value = call.name == "ones" ? 1 : 0;
  return expr(buildTree(type, call.range, [&](TypeRef leaf) {
    hir::Expr *scalar = leaf->dtype == DType::Bool ? makeBool(value, call.range)
                        : hir::isFloat(leaf->dtype)
                            ? makeFloat(value, leaf->dtype, call.range)
                            : makeInt(value, leaf->dtype, call.range);
    return splat(scalar, leaf->shape);
  }));
}

Value Checker::full(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"type", "value"}, 2, args))
    return error();
  TypeRef type = typeArg(*args[0]);
  if (!type)
    return error();
  if (type->kind != hir::TypeKind::Tensor)
    return fail(DiagCode::bad_operand, args[0]->range,
                "`full` makes a tensor, not `" + hir::toString(type) + "`");
  hir::Expr *value = tensorArg(*args[1], Expected(type->dtype));
  if (!value || !requireType(value->type, types.getScalar(type->dtype),
                             args[1]->range, "the value of `full`"))
    return error();
  return expr(splat(value, type->shape));
}

Value Checker::iota(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"type", "axis"}, 1, args))
    return error();
  TypeRef type = typeArg(*args[0]);
  if (!type)
    return error();
  if (type->kind != hir::TypeKind::Tensor || type->dtype == DType::Bool ||
      type->shape.empty())
    return fail(DiagCode::bad_operand, args[0]->range,
                "`iota` counts along an axis of numbers, not in `" +
                    hir::toString(type) + "`");
  auto axis = axisArg(args[1], type->shape.size(), -1);
  return axis ? expr(prim(Prim::Iota, type, {}, call.range, {*axis})) : error();
}

//===-- Asserts -----------------------------------------------------------===//

Value Checker::assertFn(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"condition"}, 1, args))
    return error();
  hir::Expr *condition = tensorArg(*args[0]);
  if (!condition)
    return error();
  if (condition->type != types.getScalar(DType::Bool))
    return fail(DiagCode::condition_not_bool, args[0]->range,
                "`assert` takes a bool scalar, not `" +
                    hir::toString(condition->type) + "`",
                condition->type->dtype == DType::Bool ? "say `all(...)`" : "");
  return expr(prim(Prim::Assert, types.getUnit(), {condition}, call.range, {},
                   {}, sources.getText(args[0]->range).str()));
}

/// Checks two arguments that must have one type, whole trees included.
bool Checker::checkSameType(Arg &a, Arg &b, hir::Expr *&x, hir::Expr *&y) {
  bool literalFirst = a.ast && literalClass(a.ast) != LiteralClass::None;
  Arg &first = literalFirst ? b : a, &second = literalFirst ? a : b;
  Value one = argValue(first);
  hir::Expr *firstExpr = one.isError() ? nullptr : toRuntime(one, first.range);
  if (!firstExpr)
    return false;
  Value two = argValue(second, Expected(firstExpr->type));
  hir::Expr *secondExpr =
      two.isError() ? nullptr : toRuntime(two, second.range);
  if (!secondExpr || !requireType(secondExpr->type, firstExpr->type,
                                  second.range, "the other side"))
    return false;
  x = literalFirst ? secondExpr : firstExpr;
  y = literalFirst ? firstExpr : secondExpr;
  return true;
}

/// Emits `f` for each pair of leaves; the value of the whole is the empty
/// tuple.
Value Checker::comparePairs(Call &call, Arg &a, Arg &b,
                            llvm::function_ref<hir::Expr *(
                                hir::Expr *, hir::Expr *, const std::string &)>
                                f) {
  hir::Expr *x, *y;
  if (!checkSameType(a, b, x, y))
    return error();
  std::string text = sources.getText(a.range).str();
  x = temp(x);
  y = temp(y);
  mapLeaves({x, y}, call.range,
            [&](llvm::ArrayRef<hir::Expr *> pair, const std::string &path) {
              bool isField = !path.empty() && path[0] != '[';
              effect(
                  f(pair[0], pair[1],
                    path.empty() ? text : text + (isField ? "." : "") + path));
              return pair[0];
            });
  return expr(makeTuple({}, call.range));
}

Value Checker::assertEq(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"a", "b"}, 2, args))
    return error();
  return comparePairs(call, *args[0], *args[1],
                      [&](hir::Expr *x, hir::Expr *y, const std::string &text) {
                        return prim(Prim::AssertEq, types.getUnit(), {x, y},
                                    call.range, {}, {}, text);
                      });
}

Value Checker::assertClose(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"a", "b", "rtol", "atol"}, 2, args))
    return error();
  hir::Expr *tolerances[2];
  double byDefault[2] = {1e-5, 0};
  for (unsigned i = 0; i < 2; ++i) {
    Arg *arg = args[2 + i];
    tolerances[i] = arg ? tensorArg(*arg, Expected(DType::F64))
                        : makeFloat(byDefault[i], DType::F64, call.range);
    if (!tolerances[i])
      return error();
    tolerances[i] = convert(tolerances[i], DType::F64);
    if (!requireType(tolerances[i]->type, types.getScalar(DType::F64),
                     arg ? arg->range : call.range, "a tolerance"))
      return error();
  }
  return comparePairs(call, *args[0], *args[1],
                      [&](hir::Expr *x, hir::Expr *y, const std::string &text) {
                        if (!hir::isFloat(x->type->dtype))
                          return prim(Prim::AssertEq, types.getUnit(), {x, y},
                                      call.range, {}, {}, text);
                        return prim(Prim::AssertClose, types.getUnit(),
                                    {x, y, tolerances[0], tolerances[1]},
                                    call.range, {}, {}, text);
                      });
}

//===-- Marks -------------------------------------------------------------===//

Value Checker::debug(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "name"}, 2, args))
    return error();
  auto *name =
      args[1]->ast ? llvm::dyn_cast<ast::StringLitExpr>(args[1]->ast) : nullptr;
  if (!name)
    return fail(DiagCode::not_constant, args[1]->range,
                "the name that `debug` prints is a text, like \"loss\"",
                "write it in double quotes; values cannot stand in it");
  Value value = argValue(*args[0], call.expected);
  hir::Expr *x = value.isError() ? nullptr : toRuntime(value, args[0]->range);
  if (!x)
    return error();
  return expr(mapLeaves(
      {x}, call.range,
      [&](llvm::ArrayRef<hir::Expr *> leaf, const std::string &path) {
        std::string text = name->value.str() + (path.empty() ? "" : "." + path);
        return prim(Prim::Debug, leaf[0]->type, {leaf[0]}, call.range, {}, {},
                    text);
      }));
}

Value Checker::stopGradient(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x"}, 1, args))
    return error();
  Value value = argValue(*args[0], call.expected);
  hir::Expr *x = value.isError() ? nullptr : toRuntime(value, args[0]->range);
  if (!x)
    return error();
  return expr(
      mapLeaves({x}, call.range,
                [&](llvm::ArrayRef<hir::Expr *> leaf, const std::string &) {
                  return hir::isFloat(leaf[0]->type->dtype)
                             ? unary(Prim::StopGradient, leaf[0])
                             : leaf[0];
                }));
}
