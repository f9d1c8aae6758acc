// Finding what a call's generics are from its arguments' types, and comparing
// types: what is equal, what differs, what cannot be proved.
#include "frontend/check/Checker.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;

static const Generic *findGeneric(llvm::ArrayRef<Generic> generics,
                                  llvm::StringRef name) {
  for (const Generic &generic : generics)
    if (generic.name == name)
      return &generic;
  return nullptr;
}

static const Generic *asGenericName(const ast::Expr *e,
                                    llvm::ArrayRef<Generic> generics) {
  auto *name = llvm::dyn_cast_or_null<ast::NameExpr>(e);
  return name ? findGeneric(generics, name->name) : nullptr;
}

/// `2 * n` or `n * 2` of a listed name: divides `actual` by the number, and
/// gives the name's generic if nothing is left over.
static const Generic *
asMultiple(const ast::Expr *e, llvm::ArrayRef<Generic> generics, Dim &actual) {
  auto *product = llvm::dyn_cast_or_null<ast::BinaryExpr>(e);
  if (!product || product->op != ast::BinaryOp::Mul)
    return nullptr;
  auto *number = llvm::dyn_cast<ast::IntLitExpr>(product->lhs);
  const Generic *generic =
      asGenericName(number ? product->rhs : product->lhs, generics);
  if (!number)
    number = llvm::dyn_cast<ast::IntLitExpr>(product->rhs);
  if (!number || !generic || !generic->isListed || number->value == 0 ||
      number->value > INT64_MAX)
    return nullptr;
  Dim factor = Dim::constant(int64_t(number->value));
  Dim quotient = Dim::floordiv(actual, factor);
  if (quotient * factor != actual)
    return nullptr;
  actual = quotient;
  return generic;
}

static void bindDim(const ast::Expr *e, Dim actual,
                    llvm::ArrayRef<Generic> generics, Substitution &subst) {
  const Generic *generic = asGenericName(e, generics);
  if (!generic)
    generic = asMultiple(e, generics, actual);
  if (generic &&
      (generic->kind == GenericKind::Dim || generic->kind == GenericKind::Int))
    subst.dims.try_emplace(generic->name.str(), actual);
}

static bool isPack(const ast::Expr *e) { return llvm::isa<ast::RangeExpr>(e); }

void Checker::matchDims(llvm::ArrayRef<ast::Expr *> pattern,
                        llvm::ArrayRef<Dim> actual,
                        llvm::ArrayRef<Generic> generics, Substitution &subst) {
  size_t front = 0;
  while (front < pattern.size() && !isPack(pattern[front]))
    ++front;
  if (front == pattern.size()) {
    for (size_t i = 0; i < std::min(pattern.size(), actual.size()); ++i)
      bindDim(pattern[i], actual[i], generics, subst);
    return;
  }
  size_t back = pattern.size() - front - 1;
  if (actual.size() < front + back)
    return;
  for (size_t i = 0; i < front; ++i)
    bindDim(pattern[i], actual[i], generics, subst);
  for (size_t i = 1; i <= back; ++i)
    bindDim(pattern[pattern.size() - i], actual[actual.size() - i], generics,
            subst);
  auto *range = llvm::cast<ast::RangeExpr>(pattern[front]);
  const Generic *generic = asGenericName(range->end, generics);
  if (generic && generic->kind == GenericKind::Pack)
    subst.packs.try_emplace(
        generic->name.str(),
        actual.slice(front, actual.size() - front - back).vec());
}

void Checker::match(const ast::TypeExpr *pattern, TypeRef actual,
                    llvm::ArrayRef<Generic> generics, Module &in,
                    Substitution &subst) {
  if (!pattern || !actual)
    return;
  const Generic *generic = pattern->module.text.empty()
                               ? findGeneric(generics, pattern->name.text)
                               : nullptr;
  bool isTensor = actual->kind == hir::TypeKind::Tensor;
  switch (pattern->kind) {
  case ast::TypeKind::Error:
    return;
  case ast::TypeKind::Tensor:
    if (!isTensor)
      return;
    if (generic && generic->kind == GenericKind::DTypeClass)
      subst.types.try_emplace(generic->name.str(),
                              types.getScalar(actual->dtype));
    matchDims(pattern->dims, actual->shape, generics, subst);
    return;
  case ast::TypeKind::Named: {
    if (generic && generic->kind == GenericKind::Tree)
      subst.types.try_emplace(generic->name.str(), actual);
    else if (generic && isTensor)
      subst.types.try_emplace(generic->name.str(),
                              types.getScalar(actual->dtype));
    if (generic || actual->kind != hir::TypeKind::Struct)
      return;
    llvm::SaveAndRestore saved(module, &in);
    StructDecl *decl = findStruct(pattern->module, pattern->name, false);
    if (!decl || decl->info != actual->decl)
      return;
    size_t nextDim = 0, nextType = 0;
    for (size_t i = 0;
         i < std::min(pattern->args.size(), decl->generics.size()); ++i) {
      GenericKind kind = decl->generics[i].kind;
      if (kind == GenericKind::Dim || kind == GenericKind::Int) {
        bindDim(pattern->args[i], actual->dimArgs[nextDim++], generics, subst);
        continue;
      }
      TypeRef arg = actual->typeArgs[nextType++];
      if (auto *written = llvm::dyn_cast<ast::TypeArgExpr>(pattern->args[i]))
        match(written->type, arg, generics, in, subst);
      if (const Generic *g = asGenericName(pattern->args[i], generics))
        subst.types.try_emplace(g->name.str(), arg);
    }
    return;
  }
  case ast::TypeKind::Tuple:
  case ast::TypeKind::Fn: {
    bool isFn = pattern->kind == ast::TypeKind::Fn;
    if (actual->kind != (isFn ? hir::TypeKind::Fn : hir::TypeKind::Tuple) ||
        actual->elements.size() != pattern->elements.size() + isFn)
      return;
    for (auto [i, element] : llvm::enumerate(pattern->elements))
      match(element, actual->elements[i], generics, in, subst);
    if (isFn)
      match(pattern->element, actual->elements.back(), generics, in, subst);
    return;
  }
  case ast::TypeKind::Array:
    if (actual->kind != hir::TypeKind::Array)
      return;
    match(pattern->element, actual->elements[0], generics, in, subst);
    bindDim(pattern->count, actual->count, generics, subst);
    return;
  }
}

/// Whether an extent of the type says what the name is: an extent `a*n - b`,
/// for then no tensor makes the name negative, which all proofs rely on.
static bool tellsName(TypeRef type, llvm::StringRef name) {
  for (const Dim &extent : type->shape) {
    bool isName = false, others = false;
    for (const auto &[monomial, coefficient] : extent.getTerms()) {
      bool isIt = !monomial.empty() && coefficient > 0 &&
                  monomial == Dim::name(name).getTerms().begin()->first;
      isName |= isIt;
      others |= !isIt && !(monomial.empty() && coefficient < 0);
    }
    if (isName && !others)
      return true;
  }
  return llvm::any_of(type->elements, [&](TypeRef element) {
    return tellsName(element, name);
  });
}

/// Whether a caller from outside, who gives nothing but tensors, says what the
/// generic is.
bool Checker::isBoundByParam(FnDecl &decl, const Generic &generic) {
  Instance *instance =
      getInstance(decl, representatives(decl, false), decl.item->range);
  return llvm::any_of(instance->paramTypes, [&](TypeRef type) {
    return tellsName(type, instance->rigid.at(generic.name.str()).front());
  });
}

//===-- Comparing ---------------------------------------------------------===//

bool Checker::sameForm(TypeRef a, TypeRef b) {
  if (a == b)
    return true;
  if (a->kind != b->kind || a->decl != b->decl ||
      a->elements.size() != b->elements.size() ||
      a->shape.size() != b->shape.size() ||
      a->typeArgs.size() != b->typeArgs.size() ||
      (a->kind == hir::TypeKind::Tensor && a->dtype != b->dtype))
    return false;
  for (size_t i = 0; i < a->elements.size(); ++i)
    if (!sameForm(a->elements[i], b->elements[i]))
      return false;
  for (size_t i = 0; i < a->typeArgs.size(); ++i)
    if (!sameForm(a->typeArgs[i], b->typeArgs[i]))
      return false;
  return true;
}

std::optional<std::pair<Dim, Dim>> Checker::findDifference(TypeRef a,
                                                           TypeRef b) {
  if (a == b)
    return std::nullopt;
  auto differs = [&](const Dim &x, const Dim &y) {
    return !isProvablyEqual(x, y);
  };
  for (size_t i = 0; i < a->shape.size(); ++i)
    if (differs(a->shape[i], b->shape[i]))
      return std::pair(a->shape[i], b->shape[i]);
  for (size_t i = 0; i < a->dimArgs.size(); ++i)
    if (differs(a->dimArgs[i], b->dimArgs[i]))
      return std::pair(a->dimArgs[i], b->dimArgs[i]);
  if (differs(a->count, b->count))
    return std::pair(a->count, b->count);
  for (auto lists : {std::pair(&a->elements, &b->elements),
                     std::pair(&a->typeArgs, &b->typeArgs)})
    for (size_t i = 0; i < lists.first->size(); ++i)
      if (auto found = findDifference((*lists.first)[i], (*lists.second)[i]))
        return found;
  return std::nullopt;
}

static DiagCode codeOf(TypeRef found, TypeRef expected) {
  bool tensors = found->kind == hir::TypeKind::Tensor &&
                 expected->kind == hir::TypeKind::Tensor;
  if (tensors && found->dtype != expected->dtype)
    return DiagCode::mixed_dtypes;
  if (tensors && found->shape.size() != expected->shape.size())
    return DiagCode::rank_mismatch;
  return DiagCode::type_mismatch;
}

static std::string axes(size_t count) {
  return count == 0   ? "is a scalar"
         : count == 1 ? "has 1 axis"
                      : "has " + std::to_string(count) + " axes";
}

static constexpr char ChangeAnExtent[] =
    "give both the same extent: change a declaration, or bring the value to "
    "the form that is wanted with a slice, `reshape` or `pad`";

/// Nothing can be said of extents that left 64 bits.
static constexpr char OutOfRange[] = ": an extent does not fit 64 bits";
static bool isOutOfRange(const Dim &a, const Dim &b) {
  return a.hasOverflow() || b.hasOverflow();
}

bool Checker::requireType(TypeRef found, TypeRef expected, SourceRange range,
                          const llvm::Twine &what) {
  if (found == expected)
    return true;
  DiagCode code;
  std::string message, help;
  if (!sameForm(found, expected)) {
    code = codeOf(found, expected);
    if (code == DiagCode::mixed_dtypes) {
      llvm::StringRef want = hir::getName(expected->dtype);
      message =
          (what + " is of " + hir::getName(found->dtype) + ", not " + want)
              .str();
      help =
          "convert with `" + want.str() + "(...)`: nothing converts silently";
    } else if (code == DiagCode::rank_mismatch) {
      message = (what + " " + axes(found->shape.size()) + " where " +
                 std::to_string(expected->shape.size()) + " are wanted")
                    .str();
    } else {
      message = (what + " has another type than is wanted").str();
    }
  } else {
    auto difference = findDifference(found, expected);
    if (!difference)
      return true;
    auto &[a, b] = *difference;
    if (isOutOfRange(a, b)) {
      fail(DiagCode::dimension_overflow, range, what + OutOfRange);
      return false;
    }
    bool isRefuted = Dim::compare(a, b) == DimProof::Different;
    code = isRefuted ? DiagCode::shape_mismatch : DiagCode::unproved_dimension;
    message = (what + ": the extent is `" + show(a) + "`, but `" + show(b) +
               "` is wanted")
                  .str();
    help = ChangeAnExtent;
    if (!isRefuted) {
      message = (what + ": nothing proves that `" + show(a) + "` is `" +
                 show(b) + "`")
                    .str();
      help = "where you know it, write `as " + hir::toString(expected) +
             "`: it is checked where it runs";
    }
  }
  Diagnostic &d = report(code, range, message);
  d.expected = hir::toString(expected);
  d.found = hir::toString(found);
  d.help = help;
  return false;
}

bool Checker::requireType(Value &value, TypeRef expected,
                          const llvm::Twine &what) {
  if (value.isError())
    return false;
  if (!value.isExpr()) {
    toRuntime(value, value.range);
    return false;
  }
  return requireType(value.type(), expected, value.range, what);
}

bool Checker::requireEqual(const Dim &a, const Dim &b, SourceRange range,
                           const llvm::Twine &what) {
  if (isOutOfRange(a, b)) {
    fail(DiagCode::dimension_overflow, range, what + OutOfRange);
    return false;
  }
  DimProof proof = a == b ? DimProof::Equal : Dim::compare(a, b);
  if (proof == DimProof::Equal)
    return true;
  if (proof == DimProof::Different) {
    Diagnostic &d = report(DiagCode::shape_mismatch, range,
                           what + " is `" + show(b) + "` on one side and `" +
                               show(a) + "` on the other");
    d.expected = show(b);
    d.found = show(a);
    d.help = ChangeAnExtent;
    return false;
  }
  Diagnostic &d = report(DiagCode::unproved_dimension, range,
                         what + ": nothing proves that `" + show(a) + "` is `" +
                             show(b) + "`");
  d.expected = show(b);
  d.found = show(a);
  d.help = "where you know it, write `as` with the type that it has: it is "
           "checked where it runs";
  return false;
}
