// Calls: of declared functions (finding their generics, checking arguments), of
// lambdas, of function parameters, conversions, and functions as literals.
#include "frontend/check/Checker.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

Value Checker::checkCall(const ast::CallExpr *e, Expected expected) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e->callee))
    if (std::optional<TypeRef> type = lookupType(name->name);
        type && (*type)->kind == TypeKind::Tensor && (*type)->shape.empty())
      return checkConversion((*type)->dtype, e);
  Value callee = check(e->callee);
  if (callee.isError()) {
    for (const ast::Argument &arg : e->args)
      if (!llvm::isa<ast::LambdaExpr, ast::GeneratorExpr, ast::StringLitExpr,
                     ast::NoneLitExpr>(arg.value) &&
          !looksLikeType(arg.value))
        check(arg.value);
    return error();
  }
  if (!callee.isFn())
    return fail(DiagCode::not_a_function, e->callee->range,
                callee.isExpr() ? "this is `" + toString(callee.type()) +
                                      "`, not a function"
                                : "this is a tuple, not a function",
                e->isPipe ? "`x |> f` is `f(x)`; with more arguments write "
                            "`x |> |v| f(v, ...)`"
                          : "");
  if (e->args.size() == 1)
    if (auto *generator = llvm::dyn_cast<ast::GeneratorExpr>(e->args[0].value))
      return checkGeneratorCall(e, generator, *callee.fn, expected);
  Call call;
  call.range = e->range;
  call.callee = e->callee->range;
  call.expected = expected;
  for (const ast::Argument &arg : e->args)
    call.args.push_back({arg.name, arg.value->range, arg.value, {}});
  return apply(*callee.fn, call);
}

Value Checker::checkConversion(DType dtype, const ast::CallExpr *e) {
  llvm::StringRef name = getName(dtype);
  if (e->args.size() != 1 || !e->args[0].name.text.empty())
    return fail(DiagCode::argument_count, e->range,
                "the conversion `" + name + "(x)` takes one value");
  const ast::Expr *written = e->args[0].value;
  LiteralClass literal = literalClass(written);
  Value value;
  bool adapts = literal != LiteralClass::None && dtype != DType::Bool &&
                (literal == LiteralClass::Int || isFloat(dtype));
  if (adapts) {
    size_t before = diags.mark();
    value = check(written, Expected(dtype));
    if (!value.isError())
      return value;
    diags.rollback(before); // too large for it: convert as any other value
  }
  value = check(written);
  Expr *x = toRuntime(value, written->range);
  if (!x)
    return error();
  if (isTree(x->type))
    return fail(DiagCode::bad_operand, e->range,
                "`" + name + "(...)` converts tensors, and this is `" +
                    toString(x->type) + "`");
  if (dtype == DType::Bool && x->type->dtype != DType::Bool) {
    Expr *zero = splat(makeInt(0, x->type->dtype, e->range), x->type->shape);
    return expr(compare(Prim::Ne, x, zero));
  }
  Expr *result = convert(x, dtype);
  return expr(result, isInteger(dtype) ? value.dim : std::nullopt);
}

Value Checker::apply(const FnValue &f, Call &call) {
  if (!enter(call.range))
    return error();
  llvm::SaveAndRestore deeper(depth, depth + 2);
  switch (f.kind) {
  case FnValue::Decl:
    return callDecl(*f.decl, call);
  case FnValue::Lambda:
    return callLambda(f, call);
  case FnValue::BuiltinFn:
    return callBuiltin(f.builtin, call);
  case FnValue::Param:
    return callParam(f, call);
  case FnValue::Transform:
    return applyTransform(f, call);
  case FnValue::Pullback:
    return applyPullback(f, call);
  }
  return error();
}

Value Checker::argValue(Arg &arg, Expected expected) {
  if (!arg.ast)
    return arg.value;
  arg.value = check(arg.ast, expected);
  arg.ast = nullptr;
  return arg.value;
}

//===-- Lambdas and function parameters -----------------------------------===//

Value Checker::callLambda(const FnValue &f, Call &call) {
  llvm::ArrayRef<ast::Pattern *> params = f.lambda->params;
  if (params.size() != call.args.size()) {
    Diagnostic &d =
        report(DiagCode::lambda_parameters, call.range,
               "the function takes " + llvm::Twine(params.size()) +
                   " values and is given " + llvm::Twine(call.args.size()));
    d.notes.push_back({f.range, "the function"});
    return error();
  }
  std::vector<Value> values;
  for (auto [i, arg] : llvm::enumerate(call.args)) {
    if (!arg.name.text.empty())
      return fail(DiagCode::unknown_argument, arg.name.range,
                  "a lambda's parameters are given by position");
    Expected want;
    if (params[i]->type)
      if (auto dtype = parseDType(params[i]->type->name.text))
        want.dtype = dtype;
    values.push_back(argValue(arg, want));
  }
  llvm::SaveAndRestore savedEnv(env, f.env);
  llvm::SaveAndRestore savedModule(module, f.module);
  for (size_t i = 0; i < params.size(); ++i) {
    bindAnnotation(params[i]->type, values[i]);
    bindPattern(params[i], values[i]);
  }
  return check(f.lambda->body, call.expected);
}

/// Names in a lambda's annotation that nothing else declares are bound by it.
void Checker::bindAnnotation(const ast::TypeExpr *type, const Value &value) {
  if (!type || !value.isExpr())
    return;
  std::vector<Generic> found, fresh;
  collectBinding(type, *module, found);
  for (const Generic &generic : found)
    if (!lookup(generic.name))
      fresh.push_back(generic);
  Substitution subst;
  match(type, value.type(), fresh, *module, subst);
  for (const Generic &generic : fresh) {
    std::string name = generic.name.str();
    if (subst.dims.count(name))
      bind(generic.name, generic.range,
           dimAsValue(subst.dims[name], generic.range));
    else if (subst.packs.count(name))
      bindPack(generic.name, subst.packs[name]);
  }
}

Value Checker::callParam(const FnValue &f, Call &call) {
  size_t count = f.type->elements.size() - 1;
  TypeRef result = f.type->elements.back();
  if (call.args.size() != count)
    return fail(DiagCode::lambda_parameters, call.range,
                "the function takes " + llvm::Twine(count) +
                    " values and is given " + llvm::Twine(call.args.size()));
  std::vector<Expr *> args;
  bool ok = true;
  for (auto [i, arg] : llvm::enumerate(call.args)) {
    Value value = argValue(arg, Expected(f.type->elements[i]));
    ok &= requireType(value, f.type->elements[i],
                      "argument " + llvm::Twine(i + 1));
    args.push_back(value.expr);
  }
  if (!ok)
    return error();
  auto *e = program.make<CallParamExpr>(result, call.range);
  e->index = f.param;
  e->args = std::move(args);
  return expr(e);
}

Value Checker::applyValues(const FnValue &f, llvm::ArrayRef<Value> args,
                           SourceRange range, Expected expected) {
  Call call;
  call.range = call.callee = range;
  call.expected = expected;
  for (const Value &value : args)
    call.args.push_back({{}, value.range, nullptr, value});
  return apply(f, call);
}

std::string Checker::nameOfParam(const FnValue &f, size_t i) {
  if (f.kind == FnValue::Lambda && i < f.lambda->params.size() &&
      !f.lambda->params[i]->isTuple)
    return f.lambda->params[i]->name.text.str();
  if (f.kind == FnValue::Decl && i < f.decl->item->params.size())
    return f.decl->item->params[i].name.text.str();
  return "x" + std::to_string(i);
}

std::string Checker::describe(const FnValue &f) {
  if (f.kind == FnValue::Decl)
    return "`" + f.decl->item->name.text.str() + "`";
  if (f.kind == FnValue::BuiltinFn)
    return "`" + getBuiltin(f.builtin).name.str() + "`";
  return "the function";
}

FnLit Checker::materialise(const FnValue &f, llvm::ArrayRef<TypeRef> params,
                           SourceRange range, Expected expected) {
  FnLit lit;
  std::vector<Value> args;
  for (auto [i, type] : llvm::enumerate(params)) {
    Local *l = program.makeLocal(nameOfParam(f, i), type, range);
    lit.params.push_back(l);
    args.push_back(localValue(l, range));
  }
  lit.body = scoped([&]() -> Expr * {
    return toRuntime(applyValues(f, args, range, expected), range);
  });
  if (f.kind == FnValue::Param)
    lit.forwards = f.param;
  return lit;
}

Value Checker::asFunction(Arg &arg, llvm::StringRef of) {
  Value value = argValue(arg);
  if (value.isFn() || value.isError())
    return value;
  return fail(DiagCode::function_wanted, arg.range,
              "`" + of + "` takes a function here",
              "a name of a function, or a lambda: `|x| x * x`");
}
