// Types and dimensions as the program writes them, resolved in the environment.
#include "frontend/check/Checker.h"
#include "frontend/syntax/Habits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace astra;
using namespace astra::check;

Expected::Expected(TypeRef type) : type(type) {
  if (type && type->kind == hir::TypeKind::Tensor)
    dtype = type->dtype;
}

std::optional<DType> Checker::parseDType(llvm::StringRef name) {
  static const std::map<llvm::StringRef, DType> table = [] {
    std::map<llvm::StringRef, DType> map;
    for (unsigned i = 0; i <= static_cast<unsigned>(DType::F64); ++i)
      map[hir::getName(static_cast<DType>(i))] = static_cast<DType>(i);
    return map;
  }();
  auto it = table.find(name);
  if (it == table.end())
    return std::nullopt;
  return it->second;
}

std::optional<TypeRef> Checker::lookupType(llvm::StringRef name) {
  if (Env entry = lookup(name)) {
    if (entry->kind != EnvEntry::TypeName)
      return std::nullopt;
    return entry->type;
  }
  if (std::optional<DType> dtype = parseDType(name))
    return types.getScalar(*dtype);
  return std::nullopt;
}

StructDecl *Checker::findStruct(const ast::Ident &moduleName,
                                const ast::Ident &name, bool mustBe) {
  Module *m = module;
  if (!moduleName.text.empty()) {
    auto it = module->imports.find(moduleName.text);
    if (it == module->imports.end()) {
      for (const ast::ImportItem *import : module->tree->imports)
        if (import->name.text == moduleName.text)
          return nullptr; // its import was reported
      if (mustBe)
        reportUnknownName(moduleName.text, moduleName.range, "module");
      return nullptr;
    }
    m = it->second;
  }
  auto it = m->structs.find(name.text);
  if (it != m->structs.end()) {
    if (m == module || !name.text.starts_with("_"))
      return it->second;
    fail(DiagCode::private_name, name.range,
         "`" + name.text + "` belongs to the module `" + m->name + "` alone");
    return nullptr;
  }
  if (!mustBe)
    return nullptr;
  if (m != module) {
    reportUnknownName(name.text, name.range, "type", m);
    return nullptr;
  }
  Diagnostic &d = report(DiagCode::unknown_type, name.range,
                         "unknown type `" + name.text + "`");
  d.help = getHabitHelp(name.text).str();
  for (auto &[other, decl] : m->structs)
    if (name.text.edit_distance(other) <= getTypoLimit(name.text))
      d.help = "did you mean `" + other.str() + "`?";
  return nullptr;
}

//===-- Types -------------------------------------------------------------===//

TypeRef Checker::resolveType(const ast::TypeExpr *type) {
  if (!enter(type->range))
    return nullptr;
  llvm::SaveAndRestore saved(depth, depth + 1);
  switch (type->kind) {
  case ast::TypeKind::Error:
    return nullptr;
  case ast::TypeKind::Named:
    return resolveNamed(type);
  case ast::TypeKind::Tensor: {
    std::optional<TypeRef> element = lookupType(type->name.text);
    if (!type->module.text.empty() || !element ||
        (*element)->kind != hir::TypeKind::Tensor ||
        !(*element)->shape.empty()) {
      fail(
          DiagCode::unknown_type, type->name.range,
          "`" + type->name.text + "` is no element type of a tensor",
          "f32, f64, i32, bool and the like, or a type parameter with a class");
      return nullptr;
    }
    Shape shape;
    if (!resolveShape(type->dims, shape))
      return nullptr;
    return tensor((*element)->dtype, std::move(shape));
  }
  case ast::TypeKind::Tuple:
  case ast::TypeKind::Fn: {
    std::vector<TypeRef> elements;
    for (const ast::TypeExpr *element : type->elements) {
      TypeRef resolved = resolveType(element);
      if (!resolved)
        return nullptr;
      elements.push_back(resolved);
    }
    if (type->kind == ast::TypeKind::Tuple)
      return types.getTuple(std::move(elements));
    TypeRef result = type->element ? resolveType(type->element) : nullptr;
    return result ? types.getFn(std::move(elements), result) : nullptr;
  }
  case ast::TypeKind::Array: {
    TypeRef element = resolveType(type->element);
    std::optional<Dim> count = resolveDim(type->count);
    if (!element || !count)
      return nullptr;
    if (count->asConstant().value_or(0) < 0) {
      fail(DiagCode::negative_extent, type->count->range,
           "an array of " + show(*count) + " elements");
      return nullptr;
    }
    return types.getArray(element, *count);
  }
  }
  return nullptr;
}

TypeRef Checker::resolveNamed(const ast::TypeExpr *type) {
  if (type->module.text.empty() && type->args.empty())
    if (std::optional<TypeRef> known = lookupType(type->name.text))
      return *known;
  StructDecl *decl = findStruct(type->module, type->name, true);
  if (!decl)
    return nullptr;
  collectGenerics(*decl);
  if (decl->generics.size() != type->args.size()) {
    fail(DiagCode::type_arguments, type->range,
         "`" + type->name.text + "` takes " +
             llvm::Twine(decl->generics.size()) +
             " arguments in `<...>`, not " + llvm::Twine(type->args.size()));
    return nullptr;
  }
  std::vector<Dim> dims;
  std::vector<TypeRef> typeArgs;
  for (size_t i = 0; i < type->args.size(); ++i) {
    GenericKind kind = decl->generics[i].kind;
    if (kind == GenericKind::Dim || kind == GenericKind::Int) {
      std::optional<Dim> dim = resolveDim(type->args[i]);
      if (!dim)
        return nullptr;
      dims.push_back(*dim);
    } else {
      TypeRef arg = typeFromExpr(type->args[i], true);
      if (!arg)
        return nullptr;
      typeArgs.push_back(arg);
    }
  }
  return instantiate(*decl, std::move(dims), std::move(typeArgs), type->range);
}

bool Checker::looksLikeType(const ast::Expr *e) {
  if (auto *index = llvm::dyn_cast<ast::IndexExpr>(e))
    return llvm::isa<ast::NameExpr>(index->base) && looksLikeType(index->base);
  auto *name = llvm::dyn_cast<ast::NameExpr>(e);
  if (!name)
    return false;
  return lookupType(name->name).has_value() ||
         (!lookup(name->name) && module->structs.count(name->name));
}

TypeRef Checker::typeFromExpr(const ast::Expr *e, bool mustBe) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    if (std::optional<TypeRef> known = lookupType(name->name))
      return *known;
    StructDecl *decl = findStruct({}, {name->name, name->range}, false);
    if (decl)
      return instantiate(*decl, {}, {}, e->range);
  } else if (auto *index = llvm::dyn_cast<ast::IndexExpr>(e)) {
    TypeRef element =
        looksLikeType(index->base) ? typeFromExpr(index->base, false) : nullptr;
    if (element && element->kind == hir::TypeKind::Tensor) {
      Shape shape;
      if (!resolveShape(index->indices, shape))
        return nullptr;
      return tensor(element->dtype, std::move(shape));
    }
  } else if (auto *field = llvm::dyn_cast<ast::FieldExpr>(e)) {
    auto *base = llvm::dyn_cast<ast::NameExpr>(field->base);
    if (base && module->imports.count(base->name))
      if (StructDecl *decl =
              findStruct({base->name, base->range}, field->field, false))
        return instantiate(*decl, {}, {}, e->range);
  }
  if (auto *written = llvm::dyn_cast<ast::TypeArgExpr>(e))
    return resolveType(written->type);
  if (mustBe)
    fail(DiagCode::type_wanted, e->range, "a type is wanted here",
         "as in `zeros(f32[n, 64])`");
  return nullptr;
}

//===-- Dimensions --------------------------------------------------------===//

bool Checker::resolveShape(llvm::ArrayRef<ast::Expr *> dims, Shape &shape) {
  bool ok = true;
  for (const ast::Expr *e : dims) {
    if (auto *range = llvm::dyn_cast<ast::RangeExpr>(e)) {
      auto *name = range->begin || !range->end
                       ? nullptr
                       : llvm::dyn_cast<ast::NameExpr>(range->end);
      Env entry = name ? lookup(name->name) : nullptr;
      if (!entry || entry->kind != EnvEntry::PackName) {
        fail(DiagCode::unknown_dimension, e->range,
             "these leading extents are not bound by a parameter",
             "`..b` stands for the leading extents that a parameter binds");
        ok = false;
        continue;
      }
      shape.insert(shape.end(), entry->pack.begin(), entry->pack.end());
      continue;
    }
    std::optional<Dim> dim = resolveDim(e);
    if (dim && dim->asConstant().value_or(0) < 0) {
      fail(DiagCode::negative_extent, e->range,
           "the extent " + show(*dim) + " is negative");
      dim = std::nullopt;
    }
    if (dim)
      shape.push_back(*dim);
    ok &= dim.has_value();
  }
  if (ok && shape.size() > 16) {
    fail(DiagCode::rank_mismatch, dims.front()->range,
         "a tensor of " + llvm::Twine(shape.size()) +
             " axes; 16 is the most there can be");
    return false;
  }
  return ok;
}

static std::optional<Dim> combine(ast::BinaryOp op, const Dim &a,
                                  const Dim &b) {
  switch (op) {
  case ast::BinaryOp::Add:
    return a + b;
  case ast::BinaryOp::Sub:
    return a - b;
  case ast::BinaryOp::Mul:
    return a * b;
  case ast::BinaryOp::Div:
    return b.isConstant(0) ? std::nullopt : std::optional(Dim::floordiv(a, b));
  case ast::BinaryOp::Rem:
    return b.isConstant(0) ? std::nullopt : std::optional(Dim::mod(a, b));
  case ast::BinaryOp::Pow: {
    std::optional<int64_t> power = b.asConstant();
    if (!power || *power < 0 || *power > 62)
      return std::nullopt;
    Dim result = Dim::constant(1);
    for (int64_t i = 0; i < *power && !result.hasOverflow(); ++i)
      result = result * a;
    return result;
  }
  default:
    return std::nullopt;
  }
}

std::optional<Dim> Checker::foldDim(ast::BinaryOp op, const Value &lhs,
                                    const Value &rhs) {
  if (!lhs.dim || !rhs.dim)
    return std::nullopt;
  std::optional<Dim> dim = combine(op, *lhs.dim, *rhs.dim);
  if (dim && dim->hasOverflow())
    return std::nullopt;
  return dim;
}

bool Checker::isClosed(const Dim &dim) {
  std::set<std::string> names;
  dim.collectNames(names);
  for (const std::string &name : names)
    if (name.find('%') != std::string::npos)
      return false;
  return true;
}

std::optional<Dim> Checker::resolveDim(const ast::Expr *e) {
  if (!enter(e->range))
    return std::nullopt;
  llvm::SaveAndRestore saved(depth, depth + 1);
  auto give = [&](std::optional<Dim> dim) -> std::optional<Dim> {
    if (!dim || !dim->hasOverflow())
      return dim;
    fail(DiagCode::dimension_overflow, e->range,
         "this dimension does not fit 64 bits");
    return std::nullopt;
  };
  if (auto *lit = llvm::dyn_cast<ast::IntLitExpr>(e)) {
    if (lit->value <= uint64_t(INT64_MAX))
      return Dim::constant(lit->value);
    fail(DiagCode::dimension_overflow, e->range,
         "this dimension does not fit 64 bits");
    return std::nullopt;
  }
  if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(e);
      unary && unary->op == ast::UnaryOp::Neg) {
    std::optional<Dim> operand = resolveDim(unary->operand);
    return operand ? give(Dim() - *operand) : std::nullopt;
  }
  if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(e)) {
    std::optional<Dim> lhs = resolveDim(binary->lhs);
    std::optional<Dim> rhs = lhs ? resolveDim(binary->rhs) : std::nullopt;
    if (!rhs)
      return std::nullopt;
    if (std::optional<Dim> dim = combine(binary->op, *lhs, *rhs))
      return give(*dim);
    fail(DiagCode::not_a_dimension, e->range,
         rhs->isConstant(0) ? "a dimension is divided by zero"
                            : "this is not integer arithmetic on dimensions",
         "dimensions are made of names and whole numbers with + - * / %");
    return std::nullopt;
  }
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    if (Env entry = lookup(name->name)) {
      if (entry->kind == EnvEntry::ValueName && entry->value.isError())
        return std::nullopt;
      if (entry->kind == EnvEntry::ValueName && entry->value.dim &&
          isClosed(*entry->value.dim))
        return *entry->value.dim;
      fail(DiagCode::not_a_dimension, e->range,
           "`" + name->name + "` is not known when the program is compiled",
           "dimensions are made of dimension names, constants and `let`s of "
           "integer arithmetic on them");
      return std::nullopt;
    }
    if (module->consts.count(name->name)) {
      Value value = checkConst(*module->consts[name->name], e->range,
                               Expected(DType::I64));
      if (value.isError())
        return std::nullopt;
      if (value.dim)
        return *value.dim;
      fail(DiagCode::not_a_dimension, e->range,
           "`" + name->name + "` is no whole number");
      return std::nullopt;
    }
    Diagnostic &d = report(DiagCode::unknown_dimension, e->range,
                           "unknown dimension `" + name->name + "`");
    d.help = llvm::isUpper(name->name.front())
                 ? "a dimension's name begins with a small letter"
                 : "a dimension is bound where its name stands alone in a "
                   "parameter's type, or is listed in `<...>`; the value of a "
                   "parameter is none";
    return std::nullopt;
  }
  if (llvm::isa<ast::FieldExpr>(e)) {
    Value value = check(e, Expected(DType::I64));
    if (value.isError())
      return std::nullopt;
    if (value.dim && isClosed(*value.dim))
      return *value.dim;
  }
  if (!llvm::isa<ast::ErrorExpr>(e))
    fail(DiagCode::not_a_dimension, e->range,
         "this is not known as a dimension",
         "dimensions are made of names and whole numbers with + - * / %");
  return std::nullopt;
}

std::optional<Dim> Checker::dimArgument(const ast::Expr *e) {
  return resolveDim(e);
}

std::string Checker::show(const Dim &dim) {
  return dim.str([](llvm::StringRef name) {
    return name.take_until([](char c) { return c == '@' || c == '%'; }).str();
  });
}
