// Indexing and functional updates: x[i], x[a..b, .., idx], arrays of structs,
// and x with [i] = v. Every axis is classified first; then come at most one
// slice, one reshape that drops axes, and one gather. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

/// True if the value is known only when the program runs.
static bool isRuntime(const Dim &dim) {
  std::set<std::string> names;
  dim.collectNames(names);
  return llvm::any_of(names, [](const std::string &name) {
    return name.find('%') != std::string::npos;
  });
}

//===-- Classifying -------------------------------------------------------===//

/// A constant from the end, as NumPy counts; what is negative at run time is
/// out of range.
static Dim fromEnd(const Dim &dim, const Dim &extent) {
  auto value = dim.asConstant();
  return value && *value < 0 ? dim + extent : dim;
}

/// Reports a place that is out of range whatever the dimensions are.
bool Checker::requireInRange(const Dim &begin, const Dim &size,
                             const Dim &extent, SourceRange range,
                             llvm::StringRef what) {
  auto first = begin.asConstant(), room = (extent - begin - size).asConstant();
  if ((!first || *first >= 0) && (!room || *room >= 0))
    return true;
  fail(DiagCode::index_out_of_range, range,
       llvm::Twine(what) + " is out of range: the extent is " + show(extent));
  return false;
}

bool Checker::classifyRange(const ast::RangeExpr *e, const Dim &extent,
                            AxisIndex &axis) {
  axis.kind = AxisIndex::All;
  if (!e->begin && !e->end)
    return true;
  Dim ends[2] = {Dim(), extent};
  const ast::Expr *written[2] = {e->begin, e->end};
  for (unsigned i = 0; i < 2; ++i) {
    if (!written[i])
      continue;
    Value value = check(written[i], Expected(DType::I64));
    if (value.isError())
      return false;
    if (!value.isExpr() || !value.dim) {
      fail(DiagCode::slice_extent, written[i]->range,
           "the end of a slice is an integer",
           "give the slice a known extent, like `k..k + 2`");
      return false;
    }
    ends[i] = fromEnd(*value.dim, extent);
    if (i == 0 && isRuntime(ends[0]))
      axis.value = asI64(value.expr);
  }
  axis.kind = AxisIndex::Slice;
  axis.start = ends[0];
  axis.extent = ends[1] - ends[0];
  if (isRuntime(axis.extent)) {
    fail(DiagCode::slice_extent, e->range,
         "the extent of this slice, " + show(axis.extent) +
             ", is known only at run time",
         "give the slice a known extent, like `k..k + 2`");
    return false;
  }
  if (auto size = axis.extent.asConstant(); size && *size < 0) {
    fail(DiagCode::negative_extent, e->range,
         "this slice has the negative extent " + show(axis.extent));
    return false;
  }
  return requireInRange(axis.start, axis.extent, extent, e->range, "the slice");
}

bool Checker::classifyOne(const ast::Expr *e, const Dim &extent,
                          AxisIndex &axis) {
  axis.range = e->range;
  if (auto *range = llvm::dyn_cast<ast::RangeExpr>(e))
    return classifyRange(range, extent, axis);
  Value value = check(e, Expected(DType::I64));
  hir::Expr *index = value.isError() ? nullptr : toRuntime(value, e->range);
  if (!index)
    return false;
  if (index->type->kind != hir::TypeKind::Tensor ||
      !hir::isInteger(index->type->dtype)) {
    bool isMask = index->type->kind == hir::TypeKind::Tensor &&
                  index->type->dtype == DType::Bool;
    fail(DiagCode::index_type, e->range,
         "an index is an integer, not `" + hir::toString(index->type) + "`",
         isMask ? "the number of elements would depend on the data; use "
                  "`where(mask, x, 0)`"
                : "");
    return false;
  }
  if (!index->type->shape.empty()) {
    axis.kind = AxisIndex::Array;
    axis.value = index;
    return true;
  }
  axis.extent = Dim::constant(1);
  if (!value.dim || isRuntime(*value.dim)) {
    axis.kind = AxisIndex::Dynamic;
    axis.value = asI64(index);
    return true;
  }
  axis.kind = AxisIndex::Static;
  axis.start = fromEnd(*value.dim, extent);
  return requireInRange(axis.start, axis.extent, extent, e->range,
                        "index " + show(*value.dim));
}

bool Checker::classifyIndices(TypeRef base, llvm::ArrayRef<ast::Expr *> indices,
                              SourceRange range, std::vector<AxisIndex> &axes) {
  const Shape &shape = base->shape;
  if (indices.size() > shape.size()) {
    fail(DiagCode::index_count, range,
         "there are " + llvm::Twine(indices.size()) + " indices, and `" +
             hir::toString(base) + "` has " + llvm::Twine(shape.size()) +
             (shape.size() == 1 ? " axis" : " axes"));
    return false;
  }
  axes.resize(shape.size());
  bool ok = true, hasArray = false, ended = false;
  for (size_t i = 0; i < indices.size(); ++i) {
    ok &= classifyOne(indices[i], shape[i], axes[i]);
    bool isArray = axes[i].kind == AxisIndex::Array;
    if (isArray && ended) {
      fail(DiagCode::index_type, axes[i].range,
           "index arrays stand side by side",
           "transpose the tensor first, or index in two steps");
      return false;
    }
    hasArray |= isArray;
    ended |= hasArray && !isArray;
  }
  return ok;
}

//===-- Reading -----------------------------------------------------------===//

/// The part of `base` that the indices span, with axes of single indices kept
/// as 1.
hir::Expr *Checker::sliceOf(hir::Expr *base, llvm::ArrayRef<AxisIndex> axes,
                            SourceRange range) {
  std::vector<hir::Expr *> operands = {base};
  std::vector<int64_t> dynamic;
  Shape starts, shape;
  bool isWhole = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    const AxisIndex &axis = axes[i];
    bool whole = axis.kind == AxisIndex::All || axis.kind == AxisIndex::Array;
    isWhole &= whole;
    shape.push_back(whole ? base->type->shape[i] : axis.extent);
    bool isDynamic = !whole && axis.value;
    starts.push_back(whole || isDynamic ? Dim() : axis.start);
    if (isDynamic) {
      operands.push_back(axis.value);
      dynamic.push_back(i);
    }
  }
  if (isWhole)
    return base;
  return prim(Prim::Slice, tensor(base->type->dtype, shape), operands, range,
              dynamic, starts);
}

/// The shape without the axes of single indices.
static Shape droppedShape(const Shape &sliced, llvm::ArrayRef<bool> isSingle) {
  Shape shape;
  for (size_t i = 0; i < sliced.size(); ++i)
    if (!isSingle[i])
      shape.push_back(sliced[i]);
  return shape;
}

/// Index arrays broadcast to one shape, with their places among the kept axes.
bool Checker::indexArrays(llvm::ArrayRef<AxisIndex> axes,
                          std::vector<hir::Expr *> &arrays,
                          std::vector<int64_t> &places) {
  std::optional<Shape> common;
  size_t others = arrays.size(); // what the caller put in front
  int64_t place = 0;
  for (const AxisIndex &axis : axes) {
    if (axis.kind == AxisIndex::Static || axis.kind == AxisIndex::Dynamic)
      continue;
    if (axis.kind == AxisIndex::Array) {
      common = common ? broadcastShapes(*common, axis.value->type->shape,
                                        axis.range, "index arrays")
                      : axis.value->type->shape;
      if (!common)
        return false;
      arrays.push_back(axis.value);
      places.push_back(place);
    }
    ++place;
  }
  for (size_t i = others; i < arrays.size(); ++i)
    arrays[i] = broadcastTo(arrays[i], *common);
  return true;
}

llvm::SmallVector<bool> Checker::singleAxes(llvm::ArrayRef<AxisIndex> axes) {
  llvm::SmallVector<bool> flags;
  for (const AxisIndex &axis : axes)
    flags.push_back(axis.kind == AxisIndex::Static ||
                    axis.kind == AxisIndex::Dynamic);
  return flags;
}

Value Checker::indexTensor(hir::Expr *base, llvm::ArrayRef<ast::Expr *> indices,
                           SourceRange range) {
  std::vector<AxisIndex> axes;
  if (!classifyIndices(base->type, indices, range, axes))
    return error();
  hir::Expr *part = sliceOf(base, axes, range);
  part = reshape(part, droppedShape(part->type->shape, singleAxes(axes)));
  std::vector<hir::Expr *> operands = {part};
  std::vector<int64_t> places;
  if (!indexArrays(axes, operands, places))
    return error();
  if (places.empty())
    return expr(part);
  Shape shape = part->type->shape;
  const Shape &common = operands[1]->type->shape;
  shape.erase(shape.begin() + places.front(),
              shape.begin() + places.back() + 1);
  shape.insert(shape.begin() + places.front(), common.begin(), common.end());
  return expr(prim(Prim::Gather, tensor(part->type->dtype, shape), operands,
                   range, places));
}

Value Checker::indexArray(Value base, const ast::IndexExpr *e) {
  if (e->indices.size() != 1)
    return fail(DiagCode::index_count, e->range,
                "`" + hir::toString(base.type()) + "` takes one index",
                "index its elements in a second step: `a[i].field[j]`");
  if (llvm::isa<ast::RangeExpr>(e->indices[0]))
    return fail(DiagCode::not_indexable, e->range,
                "an array of structs is indexed one by one");
  AxisIndex axis;
  const Dim &count = base.type()->count;
  if (!classifyOne(e->indices[0], count, axis))
    return error();
  if (axis.kind == AxisIndex::Array)
    return fail(DiagCode::index_type, e->indices[0]->range,
                "an array of structs is indexed by one integer");
  auto known = axis.start.asConstant();
  if (axis.kind == AxisIndex::Static && known && count.asConstant())
    return expr(get(base.expr, *known, e->range));
  auto *index =
      program.make<hir::ArrayIndexExpr>(base.type()->elements[0], e->range);
  index->base = base.expr;
  index->index = axis.kind == AxisIndex::Static ? dimValue(axis.start, e->range)
                                                : axis.value;
  return expr(index);
}

Value Checker::checkIndex(const ast::IndexExpr *e, Expected expected) {
  Value base = check(e->base);
  if (base.isError())
    return error();
  if (base.isExpr() && base.type()->kind == hir::TypeKind::Array)
    return indexArray(base, e);
  if (!base.isExpr() || base.type()->kind != hir::TypeKind::Tensor) {
    bool isTuple = base.kind == Value::Tuple ||
                   (base.isExpr() && base.type()->kind == hir::TypeKind::Tuple);
    return fail(DiagCode::not_indexable, e->base->range,
                base.isExpr()
                    ? "`" + hir::toString(base.type()) + "` cannot be indexed"
                    : "this cannot be indexed",
                isTuple ? "an element of a tuple is `t.0`" : "");
  }
  std::vector<ast::Expr *> indices = e->indices.vec();
  hir::Expr *tensor = generatorSlice(e, base.expr, indices);
  return indices.empty() ? expr(tensor)
                         : indexTensor(tensor, indices, e->range);
}

//===-- Updates -----------------------------------------------------------===//

Value Checker::checkWith(const ast::WithExpr *e, Expected expected) {
  Value base = check(e->base, expected);
  if (base.isError())
    return error();
  return e->isFields ? checkWithFields(e, base) : checkUpdate(e, base);
}

/// x with [2] = v for an array of structs.
Value Checker::updateArray(const ast::WithExpr *e, Value base) {
  AxisIndex axis;
  TypeRef type = base.type();
  if (e->indices.size() != 1 || !classifyOne(e->indices[0], type->count, axis))
    return e->indices.size() == 1
               ? error()
               : fail(DiagCode::index_count, e->range,
                      "`" + hir::toString(type) + "` takes one index");
  auto place = axis.start.asConstant(), count = type->count.asConstant();
  if (axis.kind != AxisIndex::Static || !place || !count || e->isAdd)
    return fail(DiagCode::bad_update, e->range,
                "an element of an array of structs is replaced at a constant "
                "index");
  hir::Expr *value = checkRuntime(e->value, Expected(type->elements[0]));
  if (!value || !requireType(value->type, type->elements[0], e->value->range,
                             "the new element"))
    return error();
  hir::Expr *old = temp(base.expr);
  std::vector<hir::Expr *> elements;
  for (int64_t i = 0; i < *count; ++i)
    elements.push_back(i == *place ? value : get(old, i, e->range));
  return expr(makeTree(type, elements, e->range));
}

/// The new value, with the shape that the indexed place has.
hir::Expr *Checker::updateValue(const ast::WithExpr *e, DType dtype,
                                const Shape &shape) {
  hir::Expr *value = checkRuntime(e->value, Expected(dtype));
  if (!value)
    return nullptr;
  TypeRef wanted = tensor(dtype, shape);
  if (value->type->kind == hir::TypeKind::Tensor &&
      value->type->dtype == dtype && value->type->shape.size() < shape.size())
    if (auto wide = broadcastShapes(value->type->shape, shape, e->value->range,
                                    "the new value"))
      value = broadcastTo(value, *wide);
  return requireType(value->type, wanted, e->value->range, "the new value")
             ? value
             : nullptr;
}

Value Checker::checkUpdate(const ast::WithExpr *e, Value base) {
  if (base.isExpr() && base.type()->kind == hir::TypeKind::Array)
    return updateArray(e, base);
  if (!base.isExpr() || base.type()->kind != hir::TypeKind::Tensor)
    return fail(DiagCode::bad_update, e->base->range,
                "only tensors and arrays are updated by index",
                "a field is replaced with `m with { field: value }`");
  hir::Expr *x = temp(base.expr);
  DType dtype = x->type->dtype;
  if (e->isAdd && dtype == DType::Bool)
    return fail(DiagCode::bad_update, e->range, "bools do not add");
  std::vector<AxisIndex> axes;
  if (!classifyIndices(x->type, e->indices, e->range, axes))
    return error();
  hir::Expr *part = sliceOf(x, axes, e->range);
  Shape dropped = droppedShape(part->type->shape, singleAxes(axes));
  std::vector<hir::Expr *> arrays;
  std::vector<int64_t> places;
  if (!indexArrays(axes, arrays, places))
    return error();
  std::string mode = e->isAdd ? "add" : "set";
  if (places.empty()) {
    hir::Expr *value = updateValue(e, dtype, dropped);
    return value ? expr(updateSlice(x, part, reshape(value, part->type->shape),
                                    mode, e->range))
                 : error();
  }
  Shape place = dropped;
  const Shape &common = arrays[0]->type->shape;
  place.erase(place.begin() + places.front(),
              place.begin() + places.back() + 1);
  place.insert(place.begin() + places.front(), common.begin(), common.end());
  hir::Expr *value = updateValue(e, dtype, place);
  if (!value)
    return error();
  hir::Expr *old = reshape(part, dropped);
  std::vector<hir::Expr *> operands = {old, value};
  operands.insert(operands.end(), arrays.begin(), arrays.end());
  hir::Expr *scattered =
      prim(Prim::Scatter, old->type, operands, e->range, places, {}, mode);
  return expr(updateSlice(x, part, reshape(scattered, part->type->shape), "set",
                          e->range));
}

/// Writes `value` where `part`, a slice of `x` or `x` itself, was read.
hir::Expr *Checker::updateSlice(hir::Expr *x, hir::Expr *part, hir::Expr *value,
                                std::string mode, SourceRange range) {
  if (part == x && mode == "set")
    return value;
  if (part == x)
    return binaryPrim(Prim::Add, x, value);
  auto *slice = llvm::cast<hir::PrimExpr>(part);
  std::vector<hir::Expr *> operands = {x, value};
  operands.insert(operands.end(), slice->operands.begin() + 1,
                  slice->operands.end());
  return prim(Prim::UpdateSlice, x->type, operands, range, slice->ints,
              slice->dims, mode);
}
