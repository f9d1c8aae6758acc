// Types of the typed program: uniquing, substitution of dimensions, and their
// text as the language writes it. Knows nothing of checking.
#include "frontend/check/Hir.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace astra;
using namespace astra::hir;

static constexpr llvm::StringLiteral DTypeNames[] = {
    "bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
    "u32",  "u64", "f16", "bf16", "f32", "f64"};

llvm::StringRef hir::getName(DType dtype) {
  return DTypeNames[static_cast<unsigned>(dtype)];
}
bool hir::isFloat(DType dtype) { return dtype >= DType::F16; }
bool hir::isInteger(DType dtype) {
  return dtype != DType::Bool && !isFloat(dtype);
}

llvm::StringRef hir::getName(Prim prim) {
  static constexpr llvm::StringLiteral names[] = {
#define PRIM(Name, operands, doc) #Name,
#include "frontend/check/Prims.def"
  };
  return names[static_cast<unsigned>(prim)];
}

//===-- Uniquing ----------------------------------------------------------===//

static std::string makeKey(const Type &type) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << static_cast<int>(type.kind) << ' ' << static_cast<int>(type.dtype)
     << ' ' << type.decl;
  for (const Dim &dim : type.shape)
    os << '[' << dim.str();
  for (const Dim &dim : type.dimArgs)
    os << '<' << dim.str();
  for (TypeRef arg : type.typeArgs)
    os << ':' << arg;
  for (TypeRef element : type.elements)
    os << ',' << element;
  os << '#' << type.count.str();
  return key;
}

TypeRef TypeContext::unique(Type type) {
  std::unique_ptr<Type> &slot = types[makeKey(type)];
  if (!slot)
    slot = std::make_unique<Type>(std::move(type));
  return slot.get();
}

TypeRef TypeContext::getTensor(DType dtype, std::vector<Dim> shape) {
  Type type;
  type.kind = TypeKind::Tensor;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return unique(std::move(type));
}

TypeRef TypeContext::getStruct(const StructInfo *decl, std::vector<Dim> dimArgs,
                               std::vector<TypeRef> typeArgs,
                               std::vector<TypeRef> fields) {
  Type type;
  type.kind = TypeKind::Struct;
  type.decl = decl;
  type.dimArgs = std::move(dimArgs);
  type.typeArgs = std::move(typeArgs);
  type.elements = std::move(fields);
  return unique(std::move(type));
}

TypeRef TypeContext::getTuple(std::vector<TypeRef> elements) {
  Type type;
  type.kind = TypeKind::Tuple;
  type.elements = std::move(elements);
  return unique(std::move(type));
}

TypeRef TypeContext::getArray(TypeRef element, Dim count) {
  Type type;
  type.kind = TypeKind::Array;
  type.elements = {element};
  type.count = std::move(count);
  return unique(std::move(type));
}

TypeRef TypeContext::getFn(std::vector<TypeRef> params, TypeRef result) {
  Type type;
  type.kind = TypeKind::Fn;
  type.elements = std::move(params);
  type.elements.push_back(result);
  return unique(std::move(type));
}

namespace {
/// Trees of types share their parts: each is done once, or a tuple of a tuple
/// of a tuple would take exponential time.
class Substitution {
public:
  using Map = llvm::function_ref<std::optional<Dim>(llvm::StringRef)>;
  using Unique = llvm::function_ref<TypeRef(Type)>;
  Substitution(Map map, Unique unique) : map(map), unique(unique) {}

  TypeRef run(TypeRef type) {
    auto known = done.find(type);
    if (known != done.end())
      return known->second;
    Type copy = *type;
    for (Dim &dim : copy.shape)
      dim = dim.substitute(map);
    for (Dim &dim : copy.dimArgs)
      dim = dim.substitute(map);
    for (TypeRef &arg : copy.typeArgs)
      arg = run(arg);
    for (TypeRef &element : copy.elements)
      element = run(element);
    copy.count = copy.count.substitute(map);
    return done[type] = unique(std::move(copy));
  }

private:
  Map map;
  Unique unique;
  llvm::DenseMap<TypeRef, TypeRef> done;
};
} // namespace

TypeRef TypeContext::substitute(
    TypeRef type, llvm::function_ref<std::optional<Dim>(llvm::StringRef)> map) {
  auto makeUnique = [&](Type copy) { return unique(std::move(copy)); };
  return Substitution(map, makeUnique).run(type);
}

//===-- Text --------------------------------------------------------------===//

/// The part of a unique name that people know: "n" of "n@7".
static std::string visibleName(llvm::StringRef name) {
  return name.take_until([](char c) { return c == '@' || c == '%'; }).str();
}

static void printDims(llvm::ArrayRef<Dim> dims, llvm::raw_ostream &os) {
  llvm::interleave(
      dims, os, [&](const Dim &dim) { os << dim.str(visibleName); }, ", ");
}

/// Types may share parts and then have exponentially long texts, so what lies
/// deeper than this is shown as "...".
static constexpr unsigned maxPrintDepth = 10;

static void printType(TypeRef type, llvm::raw_ostream &os, unsigned depth);

static void printList(llvm::ArrayRef<TypeRef> list, llvm::raw_ostream &os,
                      unsigned depth) {
  llvm::interleave(
      list, os, [&](TypeRef type) { printType(type, os, depth); }, ", ");
}

static void printStruct(TypeRef type, llvm::raw_ostream &os, unsigned depth) {
  if (!type->decl->module.empty())
    os << type->decl->module << '.';
  os << type->decl->name;
  if (type->dimArgs.empty() && type->typeArgs.empty())
    return;
  os << '<';
  printDims(type->dimArgs, os);
  if (!type->dimArgs.empty() && !type->typeArgs.empty())
    os << ", ";
  printList(type->typeArgs, os, depth);
  os << '>';
}

static void printTensor(TypeRef type, llvm::raw_ostream &os) {
  os << getName(type->dtype);
  if (type->shape.empty())
    return;
  os << '[';
  printDims(type->shape, os);
  os << ']';
}

static void printType(TypeRef type, llvm::raw_ostream &os, unsigned depth) {
  if (depth > maxPrintDepth && type->kind != TypeKind::Tensor) {
    os << "...";
    return;
  }
  switch (type->kind) {
  case TypeKind::Tensor:
    printTensor(type, os);
    break;
  case TypeKind::Struct:
    printStruct(type, os, depth + 1);
    break;
  case TypeKind::Tuple:
    os << '(';
    printList(type->elements, os, depth + 1);
    os << (type->elements.size() == 1 ? ",)" : ")");
    break;
  case TypeKind::Array:
    os << '[';
    printType(type->elements[0], os, depth + 1);
    os << "; " << type->count.str(visibleName) << ']';
    break;
  case TypeKind::Fn:
    os << "fn(";
    printList(llvm::ArrayRef(type->elements).drop_back(), os, depth + 1);
    os << ") -> ";
    printType(type->elements.back(), os, depth + 1);
    break;
  }
}

std::string hir::toString(TypeRef type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printType(type, os, 0);
  return text;
}
