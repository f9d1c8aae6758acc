// Structs: instantiation with their arguments, literals, fields, `with { }`,
// and walking trees of tensors leaf by leaf.
#include "frontend/check/Checker.h"
#include "frontend/syntax/Habits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

GenericKind Checker::classifyGeneric(const ast::GenericParam &param) {
  llvm::StringRef bound = param.bound.text;
  bool isLower = !isUpperCase(param.name.text.front());
  if (bound.empty())
    return isLower ? GenericKind::Dim : GenericKind::Tree;
  bool isClass = bound == "float" || bound == "number" || bound == "int";
  if (isLower ? bound != "int" : !isClass)
    fail(DiagCode::unknown_bound, param.bound.range,
         "`" + param.name.text + ": " + bound + "` is no class",
         "`h: int` is an integer; `T: float`, `T: int` and `T: number` are "
         "element types; `P` alone is any tree and `n` a dimension");
  return isLower ? GenericKind::Int : GenericKind::DTypeClass;
}

void Checker::collectGenerics(StructDecl &decl) {
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
  std::set<llvm::StringRef> names;
  for (const ast::FieldDecl &field : decl.item->fields)
    if (!names.insert(field.name.text).second)
      fail(DiagCode::duplicate_field, field.name.range,
           "the field `" + field.name.text + "` is declared twice");
}

static std::string keyOf(llvm::ArrayRef<Dim> dims,
                         llvm::ArrayRef<TypeRef> typeArgs) {
  std::string key;
  llvm::raw_string_ostream os(key);
  for (const Dim &dim : dims)
    os << dim.str() << ',';
  for (TypeRef arg : typeArgs)
    os << arg << ',';
  return key;
}

TypeRef Checker::instantiate(StructDecl &decl, std::vector<Dim> dims,
                             std::vector<TypeRef> typeArgs, SourceRange at) {
  collectGenerics(decl);
  if (dims.size() + typeArgs.size() != decl.generics.size()) {
    fail(DiagCode::type_arguments, at,
         "`" + decl.item->name.text + "` takes " +
             llvm::Twine(decl.generics.size()) + " arguments in `<...>`");
    return nullptr;
  }
  std::string key = keyOf(dims, typeArgs);
  auto known = decl.instances.find(key);
  if (known != decl.instances.end())
    return known->second;
  if (decl.inProgress) {
    if (!decl.failed)
      fail(DiagCode::recursive_struct, at,
           "`" + decl.item->name.text + "` contains itself",
           "every value has a size that is known when the program is compiled");
    decl.failed = true;
    return nullptr;
  }
  llvm::SaveAndRestore busy(decl.inProgress, true);
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  size_t nextDim = 0, nextType = 0;
  for (const Generic &generic : decl.generics)
    if (generic.kind == GenericKind::Dim || generic.kind == GenericKind::Int)
      bind(generic.name, generic.range,
           dimAsValue(dims[nextDim++], generic.range));
    else
      bindType(generic.name, typeArgs[nextType++]);
  std::vector<TypeRef> fields;
  bool ok = true;
  for (const ast::FieldDecl &field : decl.item->fields) {
    TypeRef type = resolveType(field.type);
    if (type && type->kind == TypeKind::Fn) {
      fail(DiagCode::function_as_value, field.type->range,
           "a field cannot be a function",
           "function values are known only while compiling");
      type = nullptr;
    }
    ok &= type != nullptr;
    fields.push_back(type);
  }
  TypeRef result = ok ? types.getStruct(decl.info, std::move(dims),
                                        std::move(typeArgs), std::move(fields))
                      : nullptr;
  if (!decl.failed || result)
    decl.instances[key] = result;
  return result;
}

//===-- Literals ----------------------------------------------------------===//

namespace {
struct FieldValue {
  const ast::FieldInit *init = nullptr;
  Value value;
};
} // namespace

Value Checker::checkInit(const ast::FieldInit &init, Expected expected) {
  if (init.value)
    return check(init.value, expected);
  ast::NameExpr name(init.name.range);
  name.name = init.name.text;
  return checkName(&name, expected);
}

/// Which initialiser belongs to which field; false after a report.
static bool sortFields(const StructInfo &info, const ast::StructLitExpr *e,
                       DiagnosticEngine &diags,
                       std::vector<FieldValue> &fields) {
  bool ok = true;
  for (const ast::FieldInit &init : e->fields) {
    auto it = llvm::find(info.fieldNames, init.name.text.str());
    if (it == info.fieldNames.end()) {
      Diagnostic &d = diags.report(DiagCode::unknown_field, init.name.range,
                                   "`" + info.name + "` has no field `" +
                                       init.name.text.str() + "`");
      d.help = "its fields are " + llvm::join(info.fieldNames, ", ");
      ok = false;
      continue;
    }
    FieldValue &field = fields[it - info.fieldNames.begin()];
    if (field.init) {
      diags.report(DiagCode::duplicate_field, init.name.range,
                   "the field `" + init.name.text.str() + "` is given twice");
      ok = false;
    }
    field.init = &init;
  }
  std::string missing;
  for (size_t i = 0; i < fields.size(); ++i)
    if (!fields[i].init)
      missing += (missing.empty() ? "`" : ", `") + info.fieldNames[i] + "`";
  if (ok && !missing.empty()) {
    diags.report(DiagCode::missing_field, e->name.range,
                 "`" + info.name + "` needs " + missing);
    ok = false;
  }
  return ok;
}

Value Checker::checkStructLit(const ast::StructLitExpr *e, Expected expected) {
  StructDecl *decl = findStruct(e->module, e->name, true);
  if (!decl) {
    for (const ast::FieldInit &init : e->fields)
      checkInit(init, {});
    return error();
  }
  collectGenerics(*decl);
  std::vector<FieldValue> fields(decl->item->fields.size());
  bool ok = sortFields(*decl->info, e, diags, fields);
  Substitution subst;
  if (expected.type && expected.type->decl == decl->info)
    bindStructArgs(*decl, expected.type, subst);
  // Values that know their type first: they say what the arguments are.
  for (bool literals : {false, true})
    for (size_t i = 0; i < fields.size(); ++i) {
      FieldValue &field = fields[i];
      if (!field.init)
        continue;
      const ast::Expr *written = field.init->value;
      bool isLiteral = written && literalClass(written) != LiteralClass::None;
      if (isLiteral != literals)
        continue;
      const ast::TypeExpr *type = decl->item->fields[i].type;
      auto resolve = [&](const ast::TypeExpr *part) {
        return resolveField(part, *decl, subst);
      };
      field.value = checkInit(*field.init, hintUnder(type, subst, resolve));
      if (field.value.isExpr())
        match(type, field.value.type(), decl->generics, *decl->module, subst);
      ok &= !field.value.isError();
    }
  if (!ok)
    return error();
  return finishStructLit(e, *decl, subst, fields.size(),
                         [&](size_t i) { return fields[i].value; });
}

void Checker::bindStructArgs(StructDecl &decl, TypeRef type,
                             Substitution &subst) {
  size_t nextDim = 0, nextType = 0;
  for (const Generic &generic : decl.generics)
    if (generic.kind == GenericKind::Dim || generic.kind == GenericKind::Int)
      subst.dims.try_emplace(generic.name.str(), type->dimArgs[nextDim++]);
    else
      subst.types.try_emplace(generic.name.str(), type->typeArgs[nextType++]);
}

TypeRef Checker::resolveField(const ast::TypeExpr *type, StructDecl &decl,
                              const Substitution &subst) {
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  return resolveWith(type, decl.generics, subst);
}

Value Checker::finishStructLit(const ast::StructLitExpr *e, StructDecl &decl,
                               const Substitution &subst, size_t count,
                               llvm::function_ref<Value(size_t)> field) {
  std::vector<Dim> dims;
  std::vector<TypeRef> typeArgs;
  for (const Generic &generic : decl.generics) {
    std::string name = generic.name.str();
    bool isDim =
        generic.kind == GenericKind::Dim || generic.kind == GenericKind::Int;
    if (isDim ? !subst.dims.count(name) : !subst.types.count(name))
      return fail(DiagCode::cannot_infer, e->name.range,
                  "nothing says what `" + name + "` of `" +
                      decl.item->name.text + "` is",
                  "annotate the value: `let x: " + decl.item->name.text +
                      "<...> = ...`");
    if (isDim)
      dims.push_back(subst.dims.at(name));
    else
      typeArgs.push_back(subst.types.at(name));
  }
  TypeRef type =
      instantiate(decl, std::move(dims), std::move(typeArgs), e->name.range);
  if (!type)
    return error();
  std::vector<Expr *> elements;
  bool ok = true;
  for (size_t i = 0; i < count; ++i) {
    Value value = field(i);
    ok &= requireType(value, type->elements[i],
                      "the field `" + decl.info->fieldNames[i] + "`");
    elements.push_back(value.expr);
  }
  return ok ? expr(makeTree(type, elements, e->range)) : error();
}

//===-- Fields ------------------------------------------------------------===//

Value Checker::checkField(const ast::FieldExpr *e, Expected expected) {
  if (auto member = lookupMember(e, expected))
    return *member;
  return getField(check(e->base), e->field, e->range);
}

Value Checker::getField(Value base, const ast::Ident &field,
                        SourceRange range) {
  if (base.isError())
    return error();
  unsigned index;
  if (base.kind == Value::Tuple && !field.text.getAsInteger(10, index) &&
      index < base.elements->size())
    return (*base.elements)[index];
  Expr *e = toRuntime(base, range);
  if (!e)
    return error();
  TypeRef type = e->type;
  if (field.text == "T" && type->kind == TypeKind::Tensor) {
    if (type->shape.size() != 2)
      return fail(DiagCode::rank_mismatch, range,
                  "`.T` is for two axes, and this is `" + toString(type) + "`",
                  "`transpose(x, [...])` orders any number of axes");
    return expr(transpose(e, {1, 0}));
  }
  if (type->kind == TypeKind::Tuple && !field.text.getAsInteger(10, index)) {
    if (index < type->elements.size())
      return expr(get(e, index, range));
    return fail(DiagCode::unknown_field, field.range,
                "`" + toString(type) + "` has no element " + field.text);
  }
  if (type->kind != TypeKind::Struct) {
    if (type->kind == TypeKind::Array)
      return fail(
          DiagCode::unknown_field, field.range,
          "`" + toString(type) + "` has no field `" + field.text + "`",
          "an element is `x[i]`, a new array `[f(x[i]) for i in 0..n]`");
    bool isBuiltin = findBuiltin(field.text).has_value();
    return fail(DiagCode::unknown_field, field.range,
                "`" + toString(type) + "` has no field `" + field.text + "`",
                isBuiltin ? "there are no methods: write `" + field.text +
                                "(x)` or `x |> " + field.text + "`"
                          : llvm::Twine(getHabitHelp(field.text)));
  }
  auto it = llvm::find(type->decl->fieldNames, field.text.str());
  if (it != type->decl->fieldNames.end())
    return expr(get(e, it - type->decl->fieldNames.begin(), range));
  Diagnostic &d =
      report(DiagCode::unknown_field, field.range,
             "`" + toString(type) + "` has no field `" + field.text + "`");
  for (const std::string &name : type->decl->fieldNames)
    if (field.text.edit_distance(name) <= getTypoLimit(field.text) &&
        d.fixits.empty())
      d.fixits.push_back({field.range, name, "did you mean `" + name + "`?"});
  if (d.fixits.empty())
    d.help = "its fields are " + llvm::join(type->decl->fieldNames, ", ");
  return error();
}

Value Checker::checkWithFields(const ast::WithExpr *e, Value base) {
  Expr *old = toRuntime(base, e->base->range);
  if (!old)
    return error();
  if (old->type->kind != TypeKind::Struct)
    return fail(DiagCode::bad_update, e->base->range,
                "`with { }` replaces fields of a struct, and this is `" +
                    toString(old->type) + "`");
  old = temp(old);
  std::vector<Expr *> elements(old->type->elements.size());
  bool ok = true;
  for (const ast::FieldInit &init : e->fields) {
    auto it = llvm::find(old->type->decl->fieldNames, init.name.text.str());
    if (it == old->type->decl->fieldNames.end()) {
      getField(expr(old), init.name, init.name.range);
      ok = false;
      continue;
    }
    size_t index = it - old->type->decl->fieldNames.begin();
    Value value = checkInit(init, Expected(old->type->elements[index]));
    ok &= requireType(value, old->type->elements[index],
                      "the field `" + init.name.text + "`");
    if (elements[index]) {
      fail(DiagCode::duplicate_field, init.name.range,
           "the field `" + init.name.text + "` is given twice");
      ok = false;
    }
    elements[index] = value.expr;
  }
  if (!ok)
    return error();
  for (size_t i = 0; i < elements.size(); ++i)
    if (!elements[i])
      elements[i] = get(old, i, e->range);
  return expr(makeTree(old->type, elements, e->range));
}
