// Names: environments of locals, what a module and its imports declare,
// built-in functions, and the report of a name that is none of these, with a
// suggestion.
#include "frontend/check/Checker.h"
#include "frontend/syntax/Habits.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;

//===-- Environments ------------------------------------------------------===//

Env Checker::push(EnvEntry entry) {
  entry.parent = env;
  entry.depth = env ? env->depth + 1 : 0;
  envEntries.push_back(std::move(entry));
  return env = &envEntries.back();
}

Env Checker::bind(llvm::StringRef name, SourceRange range, Value value) {
  EnvEntry entry;
  entry.name = name;
  entry.range = range;
  entry.value = std::move(value);
  return push(std::move(entry));
}

Env Checker::bindType(llvm::StringRef name, TypeRef type) {
  EnvEntry entry;
  entry.kind = EnvEntry::TypeName;
  entry.name = name;
  entry.type = type;
  return push(std::move(entry));
}

Env Checker::bindPack(llvm::StringRef name, std::vector<Dim> dims) {
  EnvEntry entry;
  entry.kind = EnvEntry::PackName;
  entry.name = name;
  entry.pack = std::move(dims);
  return push(std::move(entry));
}

Env Checker::lookup(llvm::StringRef name) const {
  for (Env entry = env; entry; entry = entry->parent)
    if (entry->name == name)
      return entry;
  return nullptr;
}

FnValue *Checker::makeFn(FnValue value) {
  fnValues.push_back(std::move(value));
  return &fnValues.back();
}

const FnValue *Checker::declFn(FnDecl *decl, SourceRange range) {
  FnValue value;
  value.kind = FnValue::Decl;
  value.decl = decl;
  value.range = range;
  return makeFn(std::move(value));
}

//===-- Patterns ----------------------------------------------------------===//

void Checker::bindPattern(const ast::Pattern *pattern, Value value) {
  if (value.isExpr() && pattern->type) {
    TypeRef type = resolveType(pattern->type);
    if (!type || !requireType(value, type, "the value"))
      value = error();
  }
  if (!pattern->isTuple) {
    if (pattern->name.text == "_") {
      if (value.isExpr())
        temp(value.expr, "_");
      return;
    }
    if (value.isExpr() && !llvm::isa<hir::LocalExpr>(value.expr)) {
      hir::Local *l = program.makeLocal(pattern->name.text.str(), value.type(),
                                        pattern->range);
      bindings->push_back({l, value.expr});
      Value bound = localValue(l, pattern->range);
      if (value.dim)
        bound.dim = value.dim;
      value = bound;
    }
    bind(pattern->name.text, pattern->range, value);
    return;
  }
  bool isTuple = value.isExpr() && value.type()->kind == hir::TypeKind::Tuple;
  size_t count = value.kind == Value::Tuple ? value.elements->size()
                 : isTuple                  ? value.type()->elements.size()
                                            : 0;
  if (!value.isError() && count != pattern->elements.size()) {
    std::string found = value.isFn() ? "a function"
                        : value.isExpr()
                            ? "`" + hir::toString(value.type()) + "`"
                            : "a tuple of " + std::to_string(count);
    value = fail(DiagCode::pattern_mismatch, pattern->range,
                 "a pattern of " + llvm::Twine(pattern->elements.size()) +
                     " names for " + found);
  }
  hir::Expr *base = isTuple && !value.isError() ? temp(value.expr) : nullptr;
  for (auto [i, element] : llvm::enumerate(pattern->elements)) {
    if (value.isError())
      bindPattern(element, error());
    else if (base)
      bindPattern(element, expr(get(base, i, element->range)));
    else
      bindPattern(element, (*value.elements)[i]);
  }
}

//===-- Looking up --------------------------------------------------------===//

std::optional<Builtin> Checker::findBuiltin(llvm::StringRef name) const {
  static const std::map<llvm::StringRef, Builtin> table = {
#define BUILTIN(Id, name, handler, prim, signature) {name, Builtin::Id},
#include "frontend/check/Builtins.def"
  };
  auto it = table.find(name);
  if (it == table.end())
    return std::nullopt;
  return it->second;
}

static bool isAlias(const hir::Expr *e) {
  return llvm::isa<hir::LocalExpr>(e) ||
         (llvm::isa<hir::PrimExpr>(e) &&
          llvm::cast<hir::PrimExpr>(e)->operands.empty());
}

Value Checker::checkName(const ast::NameExpr *e, Expected expected) {
  if (Env entry = lookup(e->name)) {
    if (entry->kind != EnvEntry::ValueName)
      return fail(DiagCode::not_a_value, e->range,
                  "`" + e->name + "` is " +
                      (entry->kind == EnvEntry::TypeName
                           ? "a type"
                           : "a list of extents") +
                      ", not a value");
    if (entry->generator)
      entry->generator->usesCounter = true;
    Value value = entry->value;
    value.range = e->range;
    if (value.isExpr() && isAlias(value.expr)) {
      if (auto *l = llvm::dyn_cast<hir::LocalExpr>(value.expr))
        value.expr = local(l->local, e->range);
      else if (value.dim)
        value.expr = dimValue(*value.dim, e->range);
    }
    return value;
  }
  if (auto value = lookupModuleName(*module, e->name, e->range, expected))
    return *value;
  if (std::optional<Builtin> builtin = findBuiltin(e->name)) {
    FnValue value;
    value.kind = FnValue::BuiltinFn;
    value.builtin = *builtin;
    value.range = e->range;
    return fn(makeFn(std::move(value)));
  }
  if (module->imports.count(e->name) || e->name == "random")
    return fail(DiagCode::not_a_value, e->range,
                "`" + e->name + "` is a module, not a value");
  if (parseDType(e->name) || module->structs.count(e->name))
    return fail(DiagCode::not_a_value, e->range,
                "`" + e->name + "` is a type, not a value");
  for (const ast::ImportItem *import : module->tree->imports)
    if (import->name.text == e->name)
      return error(); // its import was reported
  reportUnknownName(e->name, e->range, "name");
  return error();
}

std::optional<Value> Checker::lookupModuleName(Module &m, llvm::StringRef name,
                                               SourceRange range,
                                               Expected expected) {
  if (auto it = m.fns.find(name); it != m.fns.end())
    return fn(declFn(it->second, range));
  if (auto it = m.consts.find(name); it != m.consts.end())
    return checkConst(*it->second, range, expected);
  return std::nullopt;
}

Module *Checker::asModule(const ast::Expr *e, bool &isModule) {
  isModule = false;
  auto *name = llvm::dyn_cast<ast::NameExpr>(e);
  if (!name || lookup(name->name) || module->fns.count(name->name) ||
      module->consts.count(name->name))
    return nullptr;
  if (auto it = module->imports.find(name->name); it != module->imports.end()) {
    isModule = true;
    return it->second;
  }
  for (const ast::ImportItem *import : module->tree->imports)
    if (import->name.text == name->name)
      isModule = true; // not found, already reported
  if (name->name == "random" && !isModule) {
    isModule = true;
    return getStdModule("random");
  }
  return nullptr;
}

std::optional<Value> Checker::lookupMember(const ast::FieldExpr *e,
                                           Expected expected) {
  bool isModule;
  Module *m = asModule(e->base, isModule);
  if (!isModule)
    return std::nullopt;
  llvm::StringRef moduleName = llvm::cast<ast::NameExpr>(e->base)->name;
  if (moduleName == "random")
    if (auto builtin = findBuiltin("random." + e->field.text.str())) {
      FnValue value;
      value.kind = FnValue::BuiltinFn;
      value.builtin = *builtin;
      value.range = e->range;
      return fn(makeFn(std::move(value)));
    }
  if (!m) {
    if (moduleName == "random")
      reportUnknownName(e->field.text, e->field.range, "function of `random`");
    return error();
  }
  if (e->field.text.starts_with("_"))
    return fail(DiagCode::private_name, e->field.range,
                "`" + e->field.text + "` belongs to the module `" + m->name +
                    "` alone");
  if (auto value = lookupModuleName(*m, e->field.text, e->range, expected))
    return *value;
  if (m->structs.count(e->field.text))
    return fail(DiagCode::not_a_value, e->range,
                "`" + moduleName + "." + e->field.text +
                    "` is a type, not a value");
  reportUnknownName(e->field.text, e->field.range, "name", m);
  return error();
}

//===-- Unknown names -----------------------------------------------------===//

static void addNames(Module &m, bool isForeign,
                     std::vector<llvm::StringRef> &names) {
  auto add = [&](llvm::StringRef name) {
    if (!isForeign || !name.starts_with("_"))
      names.push_back(name);
  };
  for (auto &[name, decl] : m.fns)
    add(name);
  for (auto &[name, decl] : m.consts)
    add(name);
  for (auto &[name, decl] : m.structs)
    add(name);
  if (!isForeign)
    for (auto &[name, import] : m.imports)
      add(name);
}

void Checker::reportUnknownName(llvm::StringRef name, SourceRange range,
                                llvm::StringRef what, Module *in) {
  std::vector<llvm::StringRef> names;
  if (in) {
    addNames(*in, in != module, names);
  } else {
    for (Env entry = env; entry; entry = entry->parent)
      names.push_back(entry->name);
    addNames(*module, false, names);
#define BUILTIN(Id, name, handler, prim, signature) names.push_back(name);
#include "frontend/check/Builtins.def"
  }
  unsigned bestDistance = getTypoLimit(name) + 1;
  llvm::StringRef best;
  bool isOnly = true;
  for (llvm::StringRef candidate : names) {
    unsigned distance = name.edit_distance(candidate, true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
      isOnly = true;
    } else if (distance == bestDistance && !best.empty() && candidate != best) {
      isOnly = false;
    }
  }
  bool inModule = in && in != module;
  Diagnostic &d = report(
      inModule ? DiagCode::unknown_member : DiagCode::unknown_name, range,
      inModule ? "the module `" + in->name + "` has no " + what.str() + " `" +
                     name.str() + "`"
               : "unknown " + what.str() + " `" + name.str() + "`");
  if (!in)
    d.help = getHabitHelp(name).str();
  if (!in && d.help.empty() && isStdModule(name))
    d.help = "the module `" + name.str() + "` is there after `import " +
             name.str() + "`";
  if (best.empty() || !d.help.empty())
    return;
  if (isOnly)
    d.fixits.push_back(
        {range, best.str(), "did you mean `" + best.str() + "`?"});
  else
    d.help = "did you mean `" + best.str() + "`?";
}
