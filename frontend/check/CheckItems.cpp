// Items: the generics of a function, its instances (one for each assignment of
// its type parameters and pack ranks), exports, tests, and the check of
// functions that nobody calls, with representative types.
#include "frontend/check/Checker.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

//===-- Generics ----------------------------------------------------------===//

static void addGeneric(std::vector<Generic> &generics, llvm::StringRef name,
                       SourceRange range, GenericKind kind) {
  for (const Generic &generic : generics)
    if (generic.name == name)
      return;
  Generic generic;
  generic.name = name;
  generic.range = range;
  generic.kind = kind;
  generics.push_back(generic);
}

static void addDimName(const ast::Expr *e, std::vector<Generic> &generics) {
  if (auto *range = llvm::dyn_cast_or_null<ast::RangeExpr>(e)) {
    auto *name = range->begin || !range->end
                     ? nullptr
                     : llvm::dyn_cast<ast::NameExpr>(range->end);
    if (name)
      addGeneric(generics, name->name, e->range, GenericKind::Pack);
    return;
  }
  auto *name = llvm::dyn_cast_or_null<ast::NameExpr>(e);
  if (name && !isUpperCase(name->name.front()))
    addGeneric(generics, name->name, e->range, GenericKind::Dim);
}

void Checker::collectBinding(const ast::TypeExpr *type, Module &in,
                             std::vector<Generic> &generics) {
  if (!type)
    return;
  if (type->kind == ast::TypeKind::Tensor)
    for (const ast::Expr *dim : type->dims)
      addDimName(dim, generics);
  if (type->kind == ast::TypeKind::Named)
    for (const ast::Expr *arg : type->args) {
      if (auto *written = llvm::dyn_cast<ast::TypeArgExpr>(arg))
        collectBinding(written->type, in, generics);
      auto *name = llvm::dyn_cast<ast::NameExpr>(arg);
      if (name && !parseDType(name->name))
        addDimName(arg, generics);
    }
  for (const ast::TypeExpr *element : type->elements)
    collectBinding(element, in, generics);
  collectBinding(type->element, in, generics);
  if (type->count)
    addDimName(type->count, generics);
}

void Checker::collectGenerics(FnDecl &decl) {
  if (decl.collected)
    return;
  decl.collected = true;
  for (const ast::GenericParam &param : decl.item->generics) {
    Generic generic;
    generic.name = param.name.text;
    generic.range = param.name.range;
    generic.kind = classifyGeneric(param);
    generic.bound = param.bound.text;
    generic.isListed = true;
    decl.generics.push_back(generic);
  }
  for (const ast::Param &param : decl.item->params)
    collectBinding(param.type, *decl.module, decl.generics);
  std::map<llvm::StringRef, SourceRange> seen;
  for (const ast::Param &param : decl.item->params) {
    auto [it, isNew] = seen.try_emplace(param.name.text, param.name.range);
    if (isNew)
      continue;
    Diagnostic &d =
        report(DiagCode::duplicate_name, param.name.range,
               "two parameters are called `" + param.name.text + "`");
    d.notes.push_back({it->second, "the first"});
  }
}

//===-- Instances ---------------------------------------------------------===//

/// The dimension names of a tree's type in order of appearance.
/// `seen`: parts that types share are looked at once.
static void collectNames(TypeRef type, std::vector<std::string> &names,
                         llvm::DenseSet<TypeRef> &seen) {
  if (!seen.insert(type).second)
    return;
  auto add = [&](const Dim &dim) {
    std::set<std::string> found;
    dim.collectNames(found);
    for (const std::string &name : found)
      if (!llvm::is_contained(names, name))
        names.push_back(name);
  };
  llvm::for_each(type->shape, add);
  llvm::for_each(type->dimArgs, add);
  add(type->count);
  for (TypeRef arg : type->typeArgs)
    collectNames(arg, names, seen);
  for (TypeRef element : type->elements)
    collectNames(element, names, seen);
}

std::vector<std::string> Checker::treeNames(FnDecl &decl,
                                            const Substitution &subst) {
  std::vector<std::string> names;
  llvm::DenseSet<TypeRef> seen;
  for (const Generic &generic : decl.generics)
    if (generic.kind == GenericKind::Tree)
      collectNames(subst.types.at(generic.name.str()), names, seen);
  return names;
}

static std::optional<Dim> rename(llvm::ArrayRef<std::string> from,
                                 llvm::ArrayRef<std::string> to,
                                 llvm::StringRef name) {
  auto it = llvm::find(from, name.str());
  if (it == from.end())
    return std::nullopt;
  return Dim::name(to[it - from.begin()]);
}

std::string Checker::instanceKey(FnDecl &decl, const Substitution &subst) {
  std::vector<std::string> names = treeNames(decl, subst), numbered;
  for (size_t i = 0; i < names.size(); ++i)
    numbered.push_back("$" + std::to_string(i));
  std::string key;
  llvm::raw_string_ostream os(key);
  for (const Generic &generic : decl.generics) {
    std::string name = generic.name.str();
    if (generic.kind == GenericKind::Pack)
      os << subst.packs.at(name).size() << ';';
    else if (generic.kind == GenericKind::DTypeClass)
      os << toString(subst.types.at(name)) << ';';
    else if (generic.kind == GenericKind::Tree)
      os << types.substitute(subst.types.at(name), [&](llvm::StringRef n) {
        return rename(names, numbered, n);
      }) << ';';
  }
  return key;
}

Instance *Checker::getInstance(FnDecl &decl, const Substitution &subst,
                               SourceRange at) {
  std::string key = instanceKey(decl, subst);
  auto known = decl.instances.find(key);
  if (known != decl.instances.end() && decl.inProgress == 0)
    return known->second.get();
  if (decl.inProgress) {
    fail(DiagCode::recursive_function, at,
         "`" + decl.item->name.text +
             "` calls itself, directly or through "
             "others",
         "write it as a `loop`: functions are expanded where they are called");
    return nullptr;
  }
  llvm::SaveAndRestore busy(decl.inProgress, decl.inProgress + 1);
  std::unique_ptr<Instance> made = makeInstance(decl, subst);
  Instance *instance = made.get();
  decl.instances[key] = std::move(made);
  if (!instance->failed)
    checkBody(decl, *instance);
  return instance;
}

/// Enters the generics of an instance under names of its own.
void Checker::bindGenerics(FnDecl &decl, const Substitution &subst,
                           Instance &instance) {
  std::string suffix = "@" + std::to_string(freshId());
  std::vector<std::string> outer = treeNames(decl, subst), inner;
  for (const std::string &name : outer) {
    std::string base = llvm::StringRef(name).split('@').first.str() + "_" +
                       std::to_string(inner.size());
    inner.push_back(base + suffix);
  }
  instance.rigid["$trees"] = inner;
  std::vector<std::string> &own = instance.hir->dimNames;
  own.insert(own.end(), inner.begin(), inner.end());
  for (const Generic &generic : decl.generics) {
    std::string name = generic.name.str();
    if (generic.kind == GenericKind::DTypeClass) {
      bindType(generic.name, subst.types.at(name));
      continue;
    }
    if (generic.kind == GenericKind::Tree) {
      bindType(generic.name,
               types.substitute(subst.types.at(name), [&](llvm::StringRef n) {
                 return rename(outer, inner, n);
               }));
      continue;
    }
    std::vector<std::string> names;
    Shape dims;
    size_t count =
        generic.kind == GenericKind::Pack ? subst.packs.at(name).size() : 1;
    for (size_t i = 0; i < count; ++i) {
      std::string axis = generic.kind == GenericKind::Pack
                             ? name + "_" + std::to_string(i)
                             : name;
      names.push_back(axis + suffix);
      dims.push_back(Dim::name(names.back()));
    }
    own.insert(own.end(), names.begin(), names.end());
    instance.rigid[name] = names;
    if (generic.kind == GenericKind::Pack)
      bindPack(generic.name, dims);
    else
      bind(generic.name, generic.range, dimAsValue(dims[0], generic.range));
  }
}

std::unique_ptr<Instance> Checker::makeInstance(FnDecl &decl,
                                                const Substitution &subst) {
  auto instance = std::make_unique<Instance>();
  program.instances.emplace_back();
  FnInstance &out = program.instances.back();
  instance->hir = &out;
  out.module = decl.module->name;
  out.name = decl.item->name.text.str();
  out.range = decl.item->range;
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  bindGenerics(decl, subst, *instance);
  Env generics = env;
  for (const ast::Param &param : decl.item->params) {
    llvm::SaveAndRestore saved(env, generics);
    TypeRef type = param.type ? resolveType(param.type) : nullptr;
    instance->paramTypes.push_back(type);
    instance->failed |= !type;
  }
  out.result =
      decl.item->result ? resolveType(decl.item->result) : types.getUnit();
  if (out.result && out.result->kind == TypeKind::Fn) {
    fail(DiagCode::function_as_value, decl.item->result->range,
         "a function cannot be the result of a function");
    out.result = nullptr;
  }
  instance->result = out.result;
  instance->failed |= !out.result;
  if (!instance->failed)
    bindParams(decl, *instance);
  instance->env = env;
  return instance;
}

void Checker::bindParams(FnDecl &decl, Instance &instance) {
  for (auto [i, param] : llvm::enumerate(decl.item->params)) {
    TypeRef type = instance.paramTypes[i];
    Value value;
    if (type->kind == TypeKind::Fn) {
      FnValue f;
      f.kind = FnValue::Param;
      f.param = instance.hir->fnParams.size();
      f.type = type;
      f.range = param.name.range;
      instance.hir->fnParams.push_back(type);
      value = fn(makeFn(std::move(f)));
    } else {
      Local *l =
          program.makeLocal(param.name.text.str(), type, param.name.range);
      instance.hir->params.push_back(l);
      value = localValue(l, param.name.range);
    }
    instance.params.push_back(value);
    bind(param.name.text, param.name.range, value);
  }
}

/// The expression whose value a body gives: where its type is reported.
static const ast::Expr *resultOf(const ast::Expr *e) {
  while (auto *block = llvm::dyn_cast<ast::BlockExpr>(e)) {
    if (!block->result)
      break;
    e = block->result;
  }
  return e;
}

void Checker::checkBody(FnDecl &decl, Instance &instance) {
  if (!decl.item->body || !enter(decl.item->range))
    return;
  llvm::SaveAndRestore deeper(depth, depth + 4);
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, instance.env);
  instance.hir->body = scoped([&]() -> Expr * {
    Value value = check(decl.item->body, Expected(instance.result));
    value.range = resultOf(decl.item->body)->range;
    if (!requireType(value, instance.result,
                     "the result of `" + decl.item->name.text + "`"))
      return nullptr;
    return value.expr;
  });
  if (decl.derivative)
    checkDerivative(decl, instance);
}

//===-- Roots of the program ----------------------------------------------===//

void Checker::checkItems(Module &m, bool isMain) {
  llvm::SaveAndRestore saved(module, &m);
  for (auto &[name, decl] : m.structs)
    checkStruct(*decl);
  for (const ast::ConstItem *item : m.tree->consts)
    if (m.consts.count(item->name.text))
      scoped([&] {
        return checkConst(*m.consts[item->name.text], item->range, {}).expr;
      });
  for (const ast::FnItem *item : m.tree->fns) {
    auto it = m.fns.find(item->name.text);
    if (it == m.fns.end() || it->second->item != item || it->second->isDamaged)
      continue;
    if (isMain && item->isExport)
      checkExport(*it->second);
    else
      checkGenerically(*it->second);
  }
  if (!isMain)
    return;
  for (const ast::TestItem *test : m.tree->tests)
    if (!hasReports(test->range, test->body))
      checkTest(*test, m);
  for (const ast::StructItem *item : m.tree->structs) {
    auto it = m.structs.find(item->name.text);
    if (item->isExport && it != m.structs.end() && it->second->generics.empty())
      if (TypeRef type = instantiate(*it->second, {}, {}, item->range))
        collectStructs(type);
  }
}

void Checker::checkStruct(StructDecl &decl) {
  collectGenerics(decl);
  std::vector<Dim> dims;
  std::vector<TypeRef> typeArgs;
  for (const Generic &generic : decl.generics)
    if (generic.kind == GenericKind::Dim || generic.kind == GenericKind::Int)
      dims.push_back(Dim::name(generic.name.str() + "@0"));
    else
      typeArgs.push_back(
          types.getScalar(generic.bound == "int" ? DType::I32 : DType::F32));
  instantiate(decl, std::move(dims), std::move(typeArgs),
              decl.item->name.range);
}

/// Something to check a body with: the first or the second choice of each
/// class.
Substitution Checker::representatives(FnDecl &decl, bool second) {
  Substitution subst;
  for (const Generic &generic : decl.generics) {
    std::string name = generic.name.str();
    switch (generic.kind) {
    case GenericKind::Dim:
    case GenericKind::Int:
      subst.dims[name] = Dim::name(name);
      break;
    case GenericKind::Pack:
      for (int i = 0; i < (second ? 2 : 0); ++i)
        subst.packs[name].push_back(Dim::name(name + std::to_string(i)));
      subst.packs[name];
      break;
    case GenericKind::DTypeClass:
      subst.types[name] = types.getScalar(
          generic.bound == "int"     ? (second ? DType::I64 : DType::I32)
          : generic.bound == "float" ? (second ? DType::F64 : DType::F32)
                                     : (second ? DType::I32 : DType::F32));
      break;
    case GenericKind::Tree: {
      program.structs.emplace_back();
      StructInfo &info = program.structs.back();
      info.name = name;
      info.fieldNames = {"_0", "_1"};
      subst.types[name] = types.getStruct(
          &info, {}, {},
          {types.getScalar(DType::F32),
           tensor(DType::F32, {Dim::name("i"), Dim::name("j")})});
      break;
    }
    }
  }
  return subst;
}

void Checker::checkGenerically(FnDecl &decl) {
  collectGenerics(decl);
  bool hasChoice = llvm::any_of(decl.generics, [](const Generic &generic) {
    return generic.kind == GenericKind::Pack ||
           generic.kind == GenericKind::DTypeClass;
  });
  bool hasTypes =
      hasChoice || llvm::any_of(decl.generics, [](const Generic &g) {
        return g.kind == GenericKind::Tree;
      });
  if (hasTypes && !decl.instances.empty() && diags.hasErrors())
    return; // a call has shown what is wrong
  getInstance(decl, representatives(decl, false), decl.item->range);
  if (hasChoice)
    getInstance(decl, representatives(decl, true), decl.item->range);
}

/// Why a function cannot be exported, or "".
static std::string exportProblem(const FnDecl &decl, const Instance *instance) {
  for (const Generic &generic : decl.generics)
    if (generic.kind != GenericKind::Dim)
      return "the parameter `" + generic.name.str() +
             "` is no dimension: an exported function has a fixed number of "
             "axes and fixed types";
  if (instance && !instance->hir->fnParams.empty())
    return "an exported function cannot take functions";
  return "";
}

void Checker::checkExport(FnDecl &decl) {
  collectGenerics(decl);
  std::string problem = exportProblem(decl, nullptr);
  Instance *instance = nullptr;
  if (problem.empty()) {
    instance =
        getInstance(decl, representatives(decl, false), decl.item->range);
    if (!instance || instance->failed)
      return;
    problem = exportProblem(decl, instance);
  }
  for (const Generic &generic : decl.generics)
    if (problem.empty() && !isBoundByParam(decl, generic))
      problem = "no parameter says what `" + generic.name.str() +
                "` is: no extent is the name alone or a multiple of it";
  if (!problem.empty()) {
    fail(DiagCode::export_signature, decl.item->name.range,
         "`" + decl.item->name.text + "` cannot be exported: " + problem);
    return;
  }
  const ast::Device &device = decl.item->device;
  if (!device.name.text.empty() && !isDevice(device.name))
    return;
  Export out;
  out.fn = instance->hir;
  out.doc = decl.item->doc.str();
  out.device = device.name.text.str();
  out.deviceIndex = device.index;
  for (const ast::Param &param : decl.item->params)
    out.paramTypes.push_back(sources.getText(param.type->range).str());
  out.resultType = decl.item->result
                       ? sources.getText(decl.item->result->range).str()
                       : "()";
  program.exports.push_back(std::move(out));
  for (TypeRef type : instance->paramTypes)
    collectStructs(type);
  collectStructs(instance->result);
}

void Checker::collectStructs(TypeRef type) {
  for (TypeRef element : type->elements)
    collectStructs(element);
  if (type->kind == TypeKind::Struct &&
      !llvm::is_contained(program.exportedStructs, type))
    program.exportedStructs.push_back(type);
}

void Checker::checkTest(const ast::TestItem &test, Module &m) {
  program.instances.emplace_back();
  FnInstance &out = program.instances.back();
  out.module = m.name;
  out.name = test.name.str();
  out.range = test.range;
  out.result = types.getUnit();
  llvm::SaveAndRestore savedModule(module, &m);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  out.body = scoped([&]() -> Expr * {
    auto *block = llvm::dyn_cast_or_null<ast::BlockExpr>(test.body);
    if (!block)
      return nullptr;
    for (const ast::Statement &statement : block->statements)
      checkStatement(statement);
    if (block->result) {
      Value value = check(block->result);
      if (value.isExpr())
        effect(value.expr);
    }
    return makeTuple({}, test.range);
  });
  program.tests.push_back({test.name.str(), &out, test.range});
}

bool Checker::isDevice(const ast::Ident &name) {
  if (name.text == "cpu" || name.text == "cuda" || name.text == "rocm")
    return true;
  fail(DiagCode::unknown_device, name.range,
       "unknown device `" + name.text + "`", "there are cpu, cuda and rocm");
  return false;
}

//===-- Own derivatives ---------------------------------------------------===//

void Checker::checkDerivative(FnDecl &decl, Instance &instance) {
  const ast::DerivativeItem &item = *decl.derivative;
  if (!instance.hir->fnParams.empty()) {
    fail(DiagCode::bad_rule, item.name.range,
         "`" + item.name.text +
             "` takes a function, so it has no derivative "
             "of its own",
         "give the rule to the function that is passed");
    return;
  }
  if (item.params.size() != instance.paramTypes.size()) {
    fail(DiagCode::bad_rule, item.name.range,
         "the derivative of `" + item.name.text + "` takes " +
             llvm::Twine(item.params.size()) + " parameters, the function " +
             llvm::Twine(instance.paramTypes.size()),
         "a derivative repeats the parameters of its function");
    return;
  }
  if (item.vjp)
    instance.hir->vjpRule = checkRule(item.vjp, true, decl, instance);
  if (item.jvp)
    instance.hir->jvpRule = checkRule(item.jvp, false, decl, instance);
}

std::unique_ptr<FnLit> Checker::checkRule(const ast::LambdaExpr *rule,
                                          bool isVjp, FnDecl &decl,
                                          Instance &instance) {
  const ast::DerivativeItem &item = *decl.derivative;
  auto lit = std::make_unique<FnLit>();
  llvm::SaveAndRestore savedEnv(env, instance.env);
  std::vector<Generic> generics;
  Substitution subst;
  for (auto [i, param] : llvm::enumerate(item.params)) {
    collectBinding(param.type, *decl.module, generics);
    match(param.type, instance.paramTypes[i], generics, *decl.module, subst);
  }
  for (auto &[name, dim] : subst.dims)
    for (const Generic &generic : generics)
      if (generic.name == name)
        bind(generic.name, generic.range, dimAsValue(dim, generic.range));
  for (auto &[name, dims] : subst.packs)
    for (const Generic &generic : generics)
      if (generic.name == name)
        bindPack(generic.name, dims);
  for (auto [i, param] : llvm::enumerate(item.params)) {
    TypeRef type = param.type ? resolveType(param.type) : nullptr;
    if (!type || !requireType(type, instance.paramTypes[i], param.type->range,
                              "the parameter `" + param.name.text + "`"))
      return nullptr;
    Local *l = program.makeLocal(param.name.text.str(), type, param.name.range);
    lit->params.push_back(l);
    bind(param.name.text, param.name.range, localValue(l, param.name.range));
  }
  std::vector<TypeRef> given =
      isVjp ? std::vector<TypeRef>{instance.result} : instance.paramTypes;
  if (rule->params.size() != given.size()) {
    fail(DiagCode::bad_rule, rule->range,
         "this rule takes " + llvm::Twine(given.size()) + " values, not " +
             llvm::Twine(rule->params.size()),
         isVjp ? "`vjp |dy| ...` is given the gradient of the result"
               : "`jvp |dx, ...| ...` is given one tangent for each parameter");
    return nullptr;
  }
  TypeRef want = !isVjp ? instance.result
                 : instance.paramTypes.size() == 1
                     ? instance.paramTypes[0]
                     : types.getTuple(instance.paramTypes);
  lit->body = scoped([&]() -> Expr * {
    for (auto [i, pattern] : llvm::enumerate(rule->params)) {
      Local *l = program.makeLocal("d", given[i], pattern->range);
      if (!pattern->isTuple)
        l->name = pattern->name.text.str();
      lit->params.push_back(l);
      bindPattern(pattern, localValue(l, pattern->range));
    }
    Value value = check(rule->body, Expected(want));
    if (value.isExpr() && !sameForm(value.type(), want)) {
      Diagnostic &d = report(DiagCode::bad_rule, rule->body->range,
                             "the rule gives another type than it should");
      d.expected = toString(want);
      d.found = toString(value.type());
      d.help = isVjp ? "a vjp rule gives the gradients of all parameters, a "
                       "tuple for several"
                     : "a jvp rule gives the tangent of the result";
      return nullptr;
    }
    if (!requireType(value, want, "the result of the rule"))
      return nullptr;
    return value.expr;
  });
  return lit->body ? std::move(lit) : nullptr;
}
