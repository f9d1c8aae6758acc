// Trees of tensors, leaf by leaf: structs, tuples and fixed arrays.
#include "frontend/check/Checker.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

/// How many children a tree's node has; an array of unknown count has one.
static size_t childCount(TypeRef type) {
  if (type->kind != TypeKind::Array)
    return type->elements.size();
  return type->count.asConstant().value_or(1);
}

static TypeRef childType(TypeRef type, size_t i) {
  return type->elements[type->kind == TypeKind::Array ? 0 : i];
}

static std::string childPath(TypeRef type, size_t i, const std::string &path) {
  if (type->kind == TypeKind::Array)
    return path + "[" + std::to_string(i) + "]";
  std::string name = type->kind == TypeKind::Struct ? type->decl->fieldNames[i]
                                                    : std::to_string(i);
  return path.empty() ? name : path + "." + name;
}

static void walk(TypeRef type, const std::string &path,
                 llvm::function_ref<void(TypeRef, const std::string &)> f) {
  if (type->kind == TypeKind::Tensor)
    return f(type, path);
  if (type->kind == TypeKind::Fn)
    return;
  size_t count = std::min<size_t>(childCount(type), 100000);
  for (size_t i = 0; i < count; ++i)
    walk(childType(type, i), childPath(type, i, path), f);
}

std::vector<TypeRef> Checker::leaves(TypeRef type) {
  std::vector<TypeRef> result;
  walk(type, "",
       [&](TypeRef leaf, const std::string &) { result.push_back(leaf); });
  return result;
}

std::vector<std::string> Checker::leafPaths(TypeRef type) {
  std::vector<std::string> result;
  walk(type, "",
       [&](TypeRef, const std::string &path) { result.push_back(path); });
  return result;
}

TypeRef Checker::mapLeafTypes(TypeRef type,
                              llvm::function_ref<TypeRef(TypeRef)> f) {
  if (type->kind == TypeKind::Tensor)
    return f(type);
  Type copy = *type;
  for (TypeRef &element : copy.elements)
    if (!(element = mapLeafTypes(element, f)))
      return nullptr;
  switch (type->kind) {
  case TypeKind::Tuple:
    return types.getTuple(copy.elements);
  case TypeKind::Array:
    return types.getArray(copy.elements[0], copy.count);
  case TypeKind::Struct:
    return copy.elements == type->elements
               ? type
               : types.getStruct(copy.decl, copy.dimArgs, copy.typeArgs,
                                 copy.elements);
  default:
    return type;
  }
}

Expr *Checker::mapLeaves(
    std::vector<Expr *> trees, SourceRange range,
    llvm::function_ref<Expr *(llvm::ArrayRef<Expr *>, const std::string &)> f,
    const std::string &path) {
  TypeRef type = trees.front()->type;
  if (!enter(range))
    return nullptr;
  if (type->kind == TypeKind::Tensor)
    return f(trees, path);
  if (type->kind == TypeKind::Array && !type->count.asConstant()) {
    fail(DiagCode::not_constant, range,
         "the length of `" + toString(type) +
             "` must be a constant to go over its leaves",
         "give the array's length in its type as a whole number or a constant");
    return nullptr;
  }
  for (Expr *&tree : trees)
    tree = temp(tree);
  std::vector<Expr *> elements;
  for (size_t i = 0; i < childCount(type); ++i) {
    std::vector<Expr *> children;
    for (Expr *tree : trees)
      children.push_back(get(tree, i, range));
    Expr *element = mapLeaves(children, range, f, childPath(type, i, path));
    if (!element)
      return nullptr;
    elements.push_back(element);
  }
  TypeRef result = type;
  if (type->kind == TypeKind::Array) {
    result = types.getArray(
        elements.empty() ? type->elements[0] : elements[0]->type, type->count);
  } else {
    std::vector<TypeRef> elementTypes;
    for (Expr *element : elements)
      elementTypes.push_back(element->type);
    if (type->kind == TypeKind::Tuple)
      result = types.getTuple(elementTypes);
    else if (elementTypes != type->elements)
      result = types.getStruct(type->decl, type->dimArgs, type->typeArgs,
                               elementTypes);
  }
  return makeTree(result, elements, range);
}
