// Calls of declared functions: sorting arguments to parameters, finding what
// the names in `<...>` stand for, and the call in the typed program. No MLIR.
#include "frontend/check/Checker.h"
#include "frontend/syntax/Habits.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

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
      auto resolve = [&](const ast::TypeExpr *type) {
        return resolveUnder(type, decl, subst);
      };
      values[i] = argValue(*arg, hintUnder(param.type, subst, resolve));
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

Expected
Checker::hintUnder(const ast::TypeExpr *type, const Substitution &subst,
                   llvm::function_ref<TypeRef(const ast::TypeExpr *)> resolve) {
  if (TypeRef known = resolve(type))
    return Expected(known);
  Expected hint;
  hint.dtype = dtypeUnder(type, subst);
  if (type->kind == ast::TypeKind::Tuple)
    for (const ast::TypeExpr *element : type->elements)
      hint.parts.push_back(hintUnder(element, subst, resolve));
  else if (type->kind == ast::TypeKind::Array)
    hint.parts.push_back(hintUnder(type->element, subst, resolve));
  return hint;
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
