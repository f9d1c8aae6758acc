// Making nodes of the typed program: every broadcast, conversion, temporary and
// axis is spelled out here, so that the steps above say only what they mean.
#include "frontend/check/Checker.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

Value Checker::expr(Expr *e, std::optional<Dim> dim) {
  if (!e)
    return error();
  Value value;
  value.kind = Value::Expr;
  value.range = e->range;
  value.expr = e;
  value.dim = std::move(dim);
  return value;
}

Value Checker::fn(const FnValue *fn) {
  Value value;
  value.kind = Value::Fn;
  value.range = fn->range;
  value.fn = fn;
  return value;
}

Value Checker::fail(DiagCode code, SourceRange range, const llvm::Twine &text,
                    const llvm::Twine &help) {
  report(code, range, text).help = help.str();
  return error();
}

Expr *Checker::prim(Prim prim, TypeRef type, llvm::ArrayRef<Expr *> operands,
                    SourceRange range, std::vector<int64_t> ints,
                    std::vector<Dim> dims, std::string text) {
  auto *e = program.make<PrimExpr>(type, range);
  e->prim = prim;
  e->operands = operands.vec();
  e->ints = std::move(ints);
  e->dims = std::move(dims);
  e->text = std::move(text);
  return e;
}

Expr *Checker::compare(Prim p, Expr *a, Expr *b) {
  return prim(p, withDType(a->type, DType::Bool), {a, b}, a->range);
}

Expr *Checker::dimValue(const Dim &dim, SourceRange range) {
  if (std::optional<int64_t> constant = dim.asConstant())
    return makeInt(*constant, DType::I64, range);
  return prim(Prim::DimValue, types.getScalar(DType::I64), {}, range, {},
              {dim});
}

Value Checker::dimAsValue(const Dim &dim, SourceRange range) {
  return expr(dimValue(dim, range), dim);
}

Expr *Checker::local(Local *local, SourceRange range) {
  auto *e = program.make<LocalExpr>(local->type, range);
  e->local = local;
  return e;
}

static bool isIntegerScalar(TypeRef type) {
  return type->kind == TypeKind::Tensor && type->shape.empty() &&
         isInteger(type->dtype);
}

Value Checker::localValue(Local *l, SourceRange range) {
  std::optional<Dim> dim;
  if (isIntegerScalar(l->type))
    dim = Dim::name(l->name + "%" + std::to_string(freshId()));
  return expr(local(l, range), dim);
}

Expr *Checker::get(Expr *base, unsigned index, SourceRange range) {
  if (auto *make = llvm::dyn_cast<MakeExpr>(base))
    return make->elements[index];
  TypeRef type = base->type->kind == TypeKind::Array
                     ? base->type->elements[0]
                     : base->type->elements[index];
  auto *e = program.make<GetExpr>(type, range);
  e->base = base;
  e->index = index;
  return e;
}

Expr *Checker::makeTree(TypeRef type, llvm::ArrayRef<Expr *> elements,
                        SourceRange range) {
  auto *e = program.make<MakeExpr>(type, range);
  e->elements = elements.vec();
  return e;
}

Expr *Checker::makeTuple(llvm::ArrayRef<Expr *> elements, SourceRange range) {
  std::vector<TypeRef> elementTypes;
  for (Expr *element : elements)
    elementTypes.push_back(element->type);
  return makeTree(types.getTuple(std::move(elementTypes)), elements, range);
}

Expr *Checker::convert(Expr *e, DType dtype) {
  if (e->type->dtype == dtype)
    return e;
  return prim(Prim::Convert, withDType(e->type, dtype), {e}, e->range);
}

//===-- Shapes ------------------------------------------------------------===//

Expr *Checker::broadcastTo(Expr *e, const Shape &shape) {
  if (e->type->shape == shape)
    return e;
  std::vector<int64_t> axes;
  size_t missing = shape.size() - e->type->shape.size();
  for (size_t i = 0; i < e->type->shape.size(); ++i)
    axes.push_back(missing + i);
  return prim(Prim::Broadcast, tensor(e->type->dtype, shape), {e}, e->range,
              std::move(axes));
}

Expr *Checker::splat(Expr *scalar, const Shape &shape) {
  return broadcastTo(scalar, shape);
}

Expr *Checker::reshape(Expr *e, const Shape &shape) {
  if (e->type->shape == shape)
    return e;
  return prim(Prim::Reshape, tensor(e->type->dtype, shape), {e}, e->range);
}

Expr *Checker::transpose(Expr *e, std::vector<int64_t> perm) {
  Shape shape;
  bool isIdentity = true;
  for (auto [i, axis] : llvm::enumerate(perm)) {
    shape.push_back(e->type->shape[axis]);
    isIdentity &= static_cast<int64_t>(i) == axis;
  }
  if (isIdentity)
    return e;
  return prim(Prim::Transpose, tensor(e->type->dtype, std::move(shape)), {e},
              e->range, std::move(perm));
}

Expr *Checker::reduce(Prim p, Expr *e, std::vector<int64_t> axes) {
  if (axes.empty())
    return e;
  Shape shape;
  for (auto [i, dim] : llvm::enumerate(e->type->shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      shape.push_back(dim);
  return prim(p, tensor(e->type->dtype, std::move(shape)), {e}, e->range,
              std::move(axes));
}

Expr *Checker::expandAxis(Expr *e, unsigned axis) {
  Shape shape = e->type->shape;
  shape.insert(shape.begin() + axis, Dim::constant(1));
  return reshape(e, shape);
}

Expr *Checker::contract(Expr *a, Expr *b, std::vector<int64_t> batchA,
                        std::vector<int64_t> batchB, std::vector<int64_t> onA,
                        std::vector<int64_t> onB) {
  Shape shape;
  for (int64_t axis : batchA)
    shape.push_back(a->type->shape[axis]);
  auto addFree = [&](Expr *e, llvm::ArrayRef<int64_t> batch,
                     llvm::ArrayRef<int64_t> on) {
    for (auto [i, dim] : llvm::enumerate(e->type->shape))
      if (!llvm::is_contained(batch, static_cast<int64_t>(i)) &&
          !llvm::is_contained(on, static_cast<int64_t>(i)))
        shape.push_back(dim);
  };
  addFree(a, batchA, onA);
  addFree(b, batchB, onB);
  std::vector<int64_t> ints = {static_cast<int64_t>(batchA.size()),
                               static_cast<int64_t>(onA.size())};
  for (const std::vector<int64_t> *list : {&batchA, &batchB, &onA, &onB})
    ints.insert(ints.end(), list->begin(), list->end());
  return prim(Prim::Contract, tensor(a->type->dtype, std::move(shape)), {a, b},
              a->range.to(b->range), std::move(ints));
}

Expr *Checker::sliceAxis(Expr *e, unsigned axis, Dim begin, Dim extent) {
  std::vector<Dim> starts(e->type->shape.size());
  starts[axis] = std::move(begin);
  Shape shape = e->type->shape;
  shape[axis] = std::move(extent);
  return prim(Prim::Slice, tensor(e->type->dtype, std::move(shape)), {e},
              e->range, {}, std::move(starts));
}

static bool isOne(const Dim &dim) { return dim.isConstant(1); }

std::optional<Shape> Checker::broadcastShapes(const Shape &a, const Shape &b,
                                              SourceRange range,
                                              llvm::StringRef what) {
  size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t i = 0; i < rank; ++i) { // i axes from the end
    Dim &out = result[rank - 1 - i];
    const Dim *x = i < a.size() ? &a[a.size() - 1 - i] : nullptr;
    const Dim *y = i < b.size() ? &b[b.size() - 1 - i] : nullptr;
    if (!x || !y) {
      out = x ? *x : *y;
    } else if (*x == *y || isOne(*y)) {
      out = *x;
    } else if (isOne(*x)) {
      out = *y;
    } else if (isProvablyEqual(*x, *y)) {
      out = *x;
    } else {
      requireEqual(*y, *x, range, what + ": axis " + llvm::Twine(rank - 1 - i));
      return std::nullopt;
    }
  }
  return result;
}

//===-- Lets --------------------------------------------------------------===//

/// Cheap to write twice: no operation comes of it, or a constant.
static bool isSimple(const Expr *e) {
  while (auto *getExpr = llvm::dyn_cast<GetExpr>(e))
    e = getExpr->base;
  if (auto *primExpr = llvm::dyn_cast<PrimExpr>(e))
    return primExpr->operands.empty() && primExpr->prim != Prim::Iota;
  return llvm::isa<LocalExpr>(e);
}

Expr *Checker::temp(Expr *e, llvm::StringRef name) {
  if (isSimple(e))
    return e;
  Local *l = program.makeLocal(name.str(), e->type, e->range);
  bindings->push_back({l, e});
  return local(l, e->range);
}

void Checker::effect(Expr *e) { bindings->push_back({nullptr, e}); }

Expr *Checker::scoped(llvm::function_ref<Expr *()> f) {
  std::vector<Binding> inner;
  llvm::SaveAndRestore saved(bindings, &inner);
  Expr *result = f();
  if (!result || inner.empty())
    return result;
  auto *block = program.make<BlockExpr>(result->type, result->range);
  block->bindings = std::move(inner);
  block->result = result;
  return block;
}
