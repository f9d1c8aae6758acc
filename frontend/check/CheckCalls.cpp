// Calls: of declared functions (finding their generics, checking arguments), of
// lambdas, of function parameters, conversions, and functions as literals.
#include "frontend/check/Checker.h"
#include "frontend/syntax/Habits.h"
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

//===-- Declared functions ------------------------------------------------===//

Value Checker::callDecl(FnDecl &decl, Call &call) {
  if (decl.isDamaged)
    return error();
  collectGenerics(decl);
  std::vector<Arg *> byParam(decl.item->params.size());
  std::vector<Value> values(byParam.size());
  std::vector<FnLit> fnLits(byParam.size());
  Substitution subst;
  bool ok = assignArgs(decl, call, byParam, subst);
  ok &= inferArgs(decl, call, byParam, values, fnLits, subst);
  if (!ok || !completeSubstitution(decl, call, subst))
    return error();
  Instance *instance = getInstance(decl, subst, call.callee);
  if (!instance || instance->failed)
    return error();
  return emitCall(decl, *instance, call, values, fnLits, subst);
}

static const Generic *findListed(const FnDecl &decl, llvm::StringRef name) {
  for (const Generic &generic : decl.generics)
    if (generic.name == name && generic.isListed)
      return &generic;
  return nullptr;
}

/// `h = 4` for a parameter in `<...>`.
bool Checker::assignGeneric(const Generic &generic, Arg &arg,
                            Substitution &subst) {
  std::string name = generic.name.str();
  const ast::Expr *e = arg.ast;
  arg.ast = nullptr;
  if (generic.kind == GenericKind::Dim || generic.kind == GenericKind::Int) {
    std::optional<Dim> dim = e ? resolveDim(e) : arg.value.dim;
    if (dim)
      subst.dims[name] = *dim;
    return dim.has_value();
  }
  TypeRef type = e ? typeFromExpr(e, true) : nullptr;
  if (type)
    subst.types[name] = type;
  return type != nullptr;
}

bool Checker::assignArgs(FnDecl &decl, Call &call, std::vector<Arg *> &byParam,
                         Substitution &subst) {
  bool ok = true;
  size_t next = 0;
  llvm::StringRef fnName = decl.item->name.text;
  for (Arg &arg : call.args) {
    size_t index = next;
    if (arg.name.text.empty()) {
      ++next;
    } else {
      auto it = llvm::find_if(decl.item->params, [&](const ast::Param &param) {
        return param.name.text == arg.name.text;
      });
      index = it - decl.item->params.begin();
      if (index == byParam.size()) {
        if (const Generic *generic = findListed(decl, arg.name.text)) {
          ok &= assignGeneric(*generic, arg, subst);
          continue;
        }
        reportUnknownParameter(decl, arg);
        ok = false;
        continue;
      }
    }
    if (index >= byParam.size()) {
      fail(DiagCode::argument_count, arg.range,
           "`" + fnName + "` takes " + llvm::Twine(byParam.size()) +
               " arguments, and this is one more");
      return false;
    }
    if (byParam[index]) {
      fail(DiagCode::duplicate_argument, arg.range,
           "the argument `" + decl.item->params[index].name.text +
               "` is given twice");
      ok = false;
    }
    byParam[index] = &arg;
  }
  std::string missing;
  for (auto [i, param] : llvm::enumerate(decl.item->params))
    if (!byParam[i] && !param.defaultValue)
      missing += (missing.empty() ? "`" : ", `") + param.name.text.str() + "`";
  if (ok && !missing.empty()) {
    Diagnostic &d = report(DiagCode::argument_count, call.range,
                           "`" + fnName + "` is not given " + missing);
    d.notes.push_back({decl.item->range, "declared here"});
    ok = false;
  }
  return ok;
}

void Checker::reportUnknownParameter(FnDecl &decl, Arg &arg) {
  Diagnostic &d = report(DiagCode::unknown_argument, arg.name.range,
                         "`" + decl.item->name.text + "` has no parameter `" +
                             arg.name.text + "`");
  std::string names;
  for (const ast::Param &param : decl.item->params) {
    names += (names.empty() ? "" : ", ") + param.name.text.str();
    if (arg.name.text.edit_distance(param.name.text) <=
            getTypoLimit(arg.name.text) &&
        d.fixits.empty())
      d.fixits.push_back({arg.name.range, param.name.text.str(),
                          "did you mean `" + param.name.text.str() + "`?"});
  }
  if (d.fixits.empty())
    d.help = "its parameters are " + names;
}

bool Checker::inferArgs(FnDecl &decl, Call &call, llvm::ArrayRef<Arg *> byParam,
                        std::vector<Value> &values, std::vector<FnLit> &fnLits,
                        Substitution &subst) {
  bool ok = true;
  // Values, then literals (they take the type of the others), then functions.
  for (int step = 0; step < 3; ++step)
    for (auto [i, param] : llvm::enumerate(decl.item->params)) {
      Arg *arg = byParam[i];
      if (!arg || !param.type)
        continue;
      bool isFnParam = param.type->kind == ast::TypeKind::Fn;
      bool isLiteral = !isFnParam && arg->ast &&
                       literalClass(arg->ast) != LiteralClass::None;
      if (step != (isFnParam ? 2 : isLiteral ? 1 : 0))
        continue;
      if (isFnParam) {
        ok &= inferFnArg(decl, param, *arg, fnLits[i], subst, ok);
        continue;
      }
      Expected want;
      if (TypeRef type = resolveUnder(param.type, decl, subst))
        want = Expected(type);
      else
        want.dtype = dtypeUnder(param.type, subst);
      values[i] = argValue(*arg, want);
      values[i].range = arg->range;
      if (!toRuntime(values[i], arg->range)) {
        ok = false;
        continue;
      }
      if (!values[i].isExpr())
        values[i] = expr(toRuntime(values[i], arg->range));
      match(param.type, values[i].type(), decl.generics, *decl.module, subst);
    }
  return ok;
}

bool Checker::inferFnArg(FnDecl &decl, const ast::Param &param, Arg &arg,
                         FnLit &lit, Substitution &subst, bool othersOk) {
  Value value = asFunction(arg, decl.item->name.text);
  if (!value.isFn() || !othersOk)
    return false;
  std::vector<TypeRef> paramTypes;
  for (auto [i, element] : llvm::enumerate(param.type->elements)) {
    TypeRef type = resolveUnder(element, decl, subst);
    if (!type && value.fn->kind == FnValue::Lambda &&
        i < value.fn->lambda->params.size() &&
        value.fn->lambda->params[i]->type) {
      llvm::SaveAndRestore savedEnv(env, value.fn->env);
      type = resolveType(value.fn->lambda->params[i]->type);
      if (!type)
        return false;
      match(element, type, decl.generics, *decl.module, subst);
    }
    if (!type) {
      fail(DiagCode::cannot_infer, arg.range,
           "nothing says what type parameter " + llvm::Twine(i + 1) +
               " of this function has",
           "annotate it: `|v: f32[n]| ...`");
      return false;
    }
    paramTypes.push_back(type);
  }
  TypeRef result = resolveUnder(param.type->element, decl, subst);
  lit = materialise(*value.fn, paramTypes, arg.range,
                    result ? Expected(result) : Expected());
  if (!lit.body)
    return false;
  match(param.type->element, lit.body->type, decl.generics, *decl.module,
        subst);
  return true;
}

static bool mentionsUnbound(const ast::TypeExpr *type,
                            llvm::ArrayRef<Generic> generics,
                            const Substitution &subst, unsigned depth);

static bool mentionsUnbound(const ast::Expr *e,
                            llvm::ArrayRef<Generic> generics,
                            const Substitution &subst, unsigned depth) {
  if (!e || depth > 200)
    return depth > 200;
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    std::string text = name->name.str();
    for (const Generic &generic : generics)
      if (generic.name == name->name)
        return !subst.dims.count(text) && !subst.types.count(text) &&
               !subst.packs.count(text);
    return false;
  }
  if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(e))
    return mentionsUnbound(unary->operand, generics, subst, depth + 1);
  if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(e))
    return mentionsUnbound(binary->lhs, generics, subst, depth + 1) ||
           mentionsUnbound(binary->rhs, generics, subst, depth + 1);
  if (auto *written = llvm::dyn_cast<ast::TypeArgExpr>(e))
    return mentionsUnbound(written->type, generics, subst, depth + 1);
  if (auto *range = llvm::dyn_cast<ast::RangeExpr>(e))
    return mentionsUnbound(range->end, generics, subst, depth + 1);
  return false;
}

static bool mentionsUnbound(const ast::TypeExpr *type,
                            llvm::ArrayRef<Generic> generics,
                            const Substitution &subst, unsigned depth) {
  if (!type || depth > 200)
    return depth > 200;
  ast::NameExpr name(type->range);
  name.name = type->name.text;
  if (mentionsUnbound(&name, generics, subst, depth))
    return true;
  auto inExpr = [&](const ast::Expr *e) {
    return mentionsUnbound(e, generics, subst, depth + 1);
  };
  auto inType = [&](const ast::TypeExpr *t) {
    return mentionsUnbound(t, generics, subst, depth + 1);
  };
  return llvm::any_of(type->args, inExpr) || llvm::any_of(type->dims, inExpr) ||
         llvm::any_of(type->elements, inType) || inType(type->element) ||
         inExpr(type->count);
}

TypeRef Checker::resolveUnder(const ast::TypeExpr *type, FnDecl &decl,
                              const Substitution &subst) {
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  return resolveWith(type, decl.generics, subst);
}

TypeRef Checker::resolveWith(const ast::TypeExpr *type,
                             llvm::ArrayRef<Generic> generics,
                             const Substitution &subst) {
  if (!type || mentionsUnbound(type, generics, subst, 0))
    return nullptr;
  for (const Generic &generic : generics) {
    std::string name = generic.name.str();
    if (auto it = subst.dims.find(name); it != subst.dims.end())
      bind(generic.name, generic.range, dimAsValue(it->second, generic.range));
    else if (auto it = subst.types.find(name); it != subst.types.end())
      bindType(generic.name, it->second);
    else if (auto it = subst.packs.find(name); it != subst.packs.end())
      bindPack(generic.name, it->second);
  }
  return resolveType(type);
}

std::optional<DType> Checker::dtypeUnder(const ast::TypeExpr *type,
                                         const Substitution &subst) {
  if (type->kind != ast::TypeKind::Tensor && type->kind != ast::TypeKind::Named)
    return std::nullopt;
  if (std::optional<DType> dtype = parseDType(type->name.text))
    return dtype;
  auto it = subst.types.find(type->name.text.str());
  if (it != subst.types.end() && it->second->kind == TypeKind::Tensor)
    return it->second->dtype;
  return std::nullopt;
}

static bool isOfClass(llvm::StringRef bound, DType dtype) {
  if (bound == "float")
    return isFloat(dtype);
  if (bound == "int")
    return isInteger(dtype);
  return dtype != DType::Bool;
}

bool Checker::completeSubstitution(FnDecl &decl, Call &call,
                                   Substitution &subst) {
  if (decl.item->result && call.expected.type)
    match(decl.item->result, call.expected.type, decl.generics, *decl.module,
          subst);
  for (const Generic &generic : decl.generics) {
    std::string name = generic.name.str();
    bool known =
        generic.kind == GenericKind::Pack ? subst.packs.count(name)
        : generic.kind == GenericKind::Dim || generic.kind == GenericKind::Int
            ? subst.dims.count(name)
            : subst.types.count(name);
    if (!known) {
      std::string help = generic.isListed
                             ? "give it by name, `" + name +
                                   " = ...`, or annotate the result: "
                                   "`let y: ... = ...`"
                             : "";
      Diagnostic &d = report(DiagCode::cannot_infer, call.range,
                             "nothing says what `" + name + "` of `" +
                                 decl.item->name.text + "` is");
      d.help = help;
      d.notes.push_back({generic.range, "`" + name + "` stands here"});
      return false;
    }
    if (generic.kind != GenericKind::DTypeClass)
      continue;
    TypeRef type = subst.types.at(name);
    if (type->kind == TypeKind::Tensor && type->shape.empty() &&
        isOfClass(generic.bound, type->dtype))
      continue;
    fail(DiagCode::class_mismatch, call.range,
         "`" + decl.item->name.text + "` wants `" + name + ": " +
             generic.bound + "`, and it is `" + toString(type) + "`");
    return false;
  }
  return true;
}

/// The instance's own names in terms of the caller's dimensions.
static std::map<std::string, Dim>
callerDims(const FnDecl &decl, const Instance &instance,
           const Substitution &subst, llvm::ArrayRef<std::string> treeNames) {
  std::map<std::string, Dim> dims;
  const std::vector<std::string> &inner = instance.rigid.at("$trees");
  for (size_t i = 0; i < inner.size(); ++i)
    dims[inner[i]] = Dim::name(treeNames[i]);
  for (const Generic &generic : decl.generics) {
    std::string name = generic.name.str();
    auto it = instance.rigid.find(name);
    if (it == instance.rigid.end())
      continue;
    if (generic.kind == GenericKind::Pack)
      for (size_t i = 0; i < it->second.size(); ++i)
        dims[it->second[i]] = subst.packs.at(name)[i];
    else
      dims[it->second[0]] = subst.dims.at(name);
  }
  return dims;
}

Value Checker::emitCall(FnDecl &decl, Instance &instance, Call &call,
                        std::vector<Value> &values, std::vector<FnLit> &fnLits,
                        const Substitution &subst) {
  std::map<std::string, Dim> dims =
      callerDims(decl, instance, subst, treeNames(decl, subst));
  auto outside = [&](TypeRef type) {
    return types.substitute(type, [&](llvm::StringRef name) {
      auto it = dims.find(name.str());
      return it == dims.end() ? std::nullopt : std::optional(it->second);
    });
  };
  auto *e = program.make<CallExpr>(outside(instance.result), call.range);
  e->callee = instance.hir;
  bool ok = true;
  for (auto [i, param] : llvm::enumerate(decl.item->params)) {
    TypeRef type = outside(instance.paramTypes[i]);
    std::string what = "the argument `" + param.name.text.str() + "`";
    if (type->kind == TypeKind::Fn) {
      TypeRef result = type->elements.back();
      ok &= requireType(fnLits[i].body->type, result, fnLits[i].body->range,
                        "the result of " + what);
      e->fnArgs.push_back(fnLits[i]);
      continue;
    }
    if (values[i].isError() && param.defaultValue)
      values[i] = checkDefault(decl, param, type);
    ok &= requireType(values[i], type, what);
    e->args.push_back(values[i].expr);
  }
  if (!ok)
    return error();
  e->dims = std::move(dims);
  for (const auto &[name, dim] : e->dims)
    if (dim.asConstant().value_or(0) < 0 && !isIntGeneric(decl, name))
      return fail(DiagCode::negative_extent, call.range,
                  "`" + llvm::StringRef(name).split('@').first + "` of `" +
                      decl.item->name.text + "` is " + show(dim));
  return expr(e);
}

bool Checker::isIntGeneric(FnDecl &decl, llvm::StringRef rigid) {
  llvm::StringRef name = rigid.split('@').first;
  return llvm::any_of(decl.generics, [&](const Generic &generic) {
    return generic.name == name && generic.kind == GenericKind::Int;
  });
}

Value Checker::checkDefault(FnDecl &decl, const ast::Param &param,
                            TypeRef type) {
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  return check(param.defaultValue, Expected(type));
}
