// Comprehensions and generators: [body for i in 0..n, j] and sum(body for k).
// They become maps. A tensor indexed by a generator over its whole axis is
// mapped itself, without a lookup; a sum of products of indexed tensors is a
// contraction. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

//===-- Walking the syntax tree -------------------------------------------===//

using Visit = llvm::function_ref<void(const ast::Expr *)>;

static void visitBlock(const ast::BlockExpr *block, Visit visit) {
  for (const ast::Statement &statement : block->statements)
    visit(statement.value);
  visit(block->result);
}

static void visitLoop(const ast::LoopExpr *loop, Visit visit) {
  for (const ast::LoopState &state : loop->state)
    visit(state.init);
  for (const ast::Expr *e :
       {(const ast::Expr *)loop->range, (const ast::Expr *)loop->condition,
        (const ast::Expr *)loop->body})
    visit(e);
}

/// Calls `visit` for each direct part of `e`; some may be null.
static void forEachPart(const ast::Expr *e, Visit visit) {
  auto all = [&](llvm::ArrayRef<ast::Expr *> list) {
    for (const ast::Expr *part : list)
      visit(part);
  };
  using namespace ast;
  switch (e->kind) {
  case ExprKind::Field:
    return visit(llvm::cast<FieldExpr>(e)->base);
  case ExprKind::Call:
    visit(llvm::cast<CallExpr>(e)->callee);
    for (const Argument &arg : llvm::cast<CallExpr>(e)->args)
      visit(arg.value);
    return;
  case ExprKind::Index:
    visit(llvm::cast<IndexExpr>(e)->base);
    return all(llvm::cast<IndexExpr>(e)->indices);
  case ExprKind::Range:
    visit(llvm::cast<RangeExpr>(e)->begin);
    return visit(llvm::cast<RangeExpr>(e)->end);
  case ExprKind::Unary:
    return visit(llvm::cast<UnaryExpr>(e)->operand);
  case ExprKind::Binary:
    visit(llvm::cast<BinaryExpr>(e)->lhs);
    return visit(llvm::cast<BinaryExpr>(e)->rhs);
  case ExprKind::As:
    return visit(llvm::cast<AsExpr>(e)->operand);
  case ExprKind::Lambda:
    return visit(llvm::cast<LambdaExpr>(e)->body);
  case ExprKind::If:
    visit(llvm::cast<IfExpr>(e)->condition);
    visit(llvm::cast<IfExpr>(e)->thenExpr);
    return visit(llvm::cast<IfExpr>(e)->elseExpr);
  case ExprKind::Block:
    return visitBlock(llvm::cast<BlockExpr>(e), visit);
  case ExprKind::Loop:
    return visitLoop(llvm::cast<LoopExpr>(e), visit);
  case ExprKind::StructLit:
    for (const FieldInit &field : llvm::cast<StructLitExpr>(e)->fields)
      visit(field.value);
    return;
  case ExprKind::Tuple:
    return all(llvm::cast<TupleExpr>(e)->elements);
  case ExprKind::Array:
    return all(llvm::cast<ArrayExpr>(e)->elements);
  case ExprKind::Comprehension:
    return visit(llvm::cast<ComprehensionExpr>(e)->body);
  case ExprKind::Generator:
    return visit(llvm::cast<GeneratorExpr>(e)->body);
  case ExprKind::With:
    visit(llvm::cast<WithExpr>(e)->base);
    all(llvm::cast<WithExpr>(e)->indices);
    return visit(llvm::cast<WithExpr>(e)->value);
  case ExprKind::On:
    return visit(llvm::cast<OnExpr>(e)->body);
  default:
    return;
  }
}

/// The name at the root of `a`, `m.w`, `t.0.b`; empty for anything else.
static llvm::StringRef rootName(const ast::Expr *e) {
  while (auto *field = llvm::dyn_cast<ast::FieldExpr>(e))
    e = field->base;
  auto *name = llvm::dyn_cast<ast::NameExpr>(e);
  return name ? name->name : "";
}

static bool isName(const ast::Expr *e, llvm::StringRef name) {
  auto *nameExpr = llvm::dyn_cast<ast::NameExpr>(e);
  return nameExpr && nameExpr->name == name;
}

//===-- Ranges ------------------------------------------------------------===//

/// Extents of axes that `name` indexes bare, in tensors that are in scope now.
void Checker::findExtent(const ast::Expr *e, llvm::StringRef name,
                         std::vector<std::pair<Dim, SourceRange>> &found) {
  if (!e)
    return;
  if (auto *index = llvm::dyn_cast<ast::IndexExpr>(e)) {
    for (size_t axis = 0; axis < index->indices.size(); ++axis) {
      if (!isName(index->indices[axis], name) || rootName(index->base).empty())
        continue;
      size_t before = diags.mark();
      Value base = check(index->base);
      diags.rollback(before); // what is wrong with it is said later
      if (!base.isExpr())
        continue;
      TypeRef type = base.type();
      if (type->kind == hir::TypeKind::Tensor && axis < type->shape.size())
        found.push_back({type->shape[axis], index->indices[axis]->range});
      else if (type->kind == hir::TypeKind::Array && axis == 0)
        found.push_back({type->count, index->indices[axis]->range});
    }
  }
  forEachPart(e, [&](const ast::Expr *part) { findExtent(part, name, found); });
}

/// (begin, length) of every generator, given or worked out.
bool Checker::generatorExtents(const ast::Expr *body,
                               llvm::ArrayRef<ast::GeneratorRange> ranges,
                               std::vector<std::pair<Dim, Dim>> &extents) {
  for (const ast::GeneratorRange &generator : ranges) {
    if (generator.range) {
      auto *range = llvm::dyn_cast<ast::RangeExpr>(generator.range);
      if (!range || !range->begin || !range->end) {
        fail(DiagCode::generator_range, generator.range->range,
             "a generator runs over `begin..end`");
        return false;
      }
      auto begin = dimArgument(range->begin), end = dimArgument(range->end);
      if (!begin || !end)
        return false;
      Dim length = *end - *begin;
      if (auto value = length.asConstant(); value && *value < 0) {
        fail(DiagCode::negative_extent, generator.range->range,
             "this range has the negative extent " + show(length));
        return false;
      }
      extents.push_back({*begin, length});
      continue;
    }
    std::vector<std::pair<Dim, SourceRange>> found;
    findExtent(body, generator.name.text, found);
    if (found.empty()) {
      fail(DiagCode::generator_range, generator.name.range,
           "nothing says over what `" + generator.name.text + "` runs",
           "give its range: `for " + generator.name.text + " in 0..n`");
      return false;
    }
    for (auto &[extent, range] : found)
      if (!requireEqual(extent, found[0].first, range,
                        "the axes that `" + generator.name.text + "` indexes"))
        return false;
    extents.push_back({Dim(), found[0].first});
  }
  return true;
}

//===-- Building maps -----------------------------------------------------===//

static bool isInChain(Env entry, Env chain) {
  for (; chain; chain = chain->parent)
    if (chain == entry)
      return true;
  return false;
}

/// `a[i, j]` with generators i and j over whole axes of a tensor from outside:
/// the outermost generator's map takes `a` itself. Used indices leave `rest`.
hir::Expr *Checker::generatorSlice(const ast::IndexExpr *e, hir::Expr *base,
                                   std::vector<ast::Expr *> &rest) {
  llvm::StringRef root = rootName(e->base);
  Env source = root.empty() ? nullptr : lookup(root);
  if (!source || source->generator)
    return base;
  unsigned depth = 0; // generators from here inwards may still take the tensor
  while (true) {
    size_t place = rest.size();
    Env best = nullptr;
    for (size_t i = 0; i < rest.size() && i < base->type->shape.size(); ++i) {
      auto *name = llvm::dyn_cast<ast::NameExpr>(rest[i]);
      Env entry = name ? lookup(name->name) : nullptr;
      if (!entry || !entry->generator || entry->depth < depth ||
          (best && entry->depth >= best->depth) ||
          !isInChain(source, entry->generator->outside) ||
          !entry->generator->begin.isConstant(0) ||
          !isProvablyEqual(entry->generator->length, base->type->shape[i]))
        continue;
      best = entry;
      place = i;
    }
    if (!best)
      return base;
    base = sliceByGenerator(*best->generator, base, place);
    rest.erase(rest.begin() + place);
    depth = best->depth + 1;
  }
}

/// One argument of the generator's map, made once for each tensor and axis.
hir::Expr *Checker::sliceByGenerator(Generator &generator, hir::Expr *base,
                                     size_t axis) {
  auto *source = llvm::dyn_cast<hir::LocalExpr>(base);
  for (size_t i = 0; source && i < generator.params.size(); ++i)
    if (generator.argKeys[i] == source->local &&
        generator.axes[i] == int64_t(axis))
      return local(generator.params[i], base->range);
  Shape shape = base->type->shape;
  shape.erase(shape.begin() + axis);
  hir::Local *param =
      program.makeLocal("slice", tensor(base->type->dtype, shape), base->range);
  generator.params.push_back(param);
  generator.args.push_back(base);
  generator.axes.push_back(axis);
  generator.argKeys.push_back(source ? source->local : nullptr);
  return local(param, base->range);
}

/// The map of one generator around `body`, which is made inside its scope.
hir::Expr *Checker::mapOverGenerator(Generator &generator, hir::Expr *body,
                                     SourceRange range) {
  TypeRef type = withLeadingAxis(body->type, generator.length);
  auto *map = program.make<hir::MapExpr>(type, range);
  map->fn.params = generator.params;
  map->args = generator.args;
  map->axes = generator.axes;
  if (generator.usesCounter || generator.params.empty()) {
    hir::Expr *counts = iotaOf({generator.length}, 0, range);
    if (!generator.begin.isConstant(0))
      counts = binaryPrim(
          Prim::Add, counts,
          splat(dimValue(generator.begin, range), {generator.length}));
    map->fn.params.push_back(generator.counter);
    map->args.push_back(counts);
    map->axes.push_back(0);
  }
  map->fn.body = body;
  map->length = generator.length;
  return map;
}

hir::Expr *Checker::comprehendFrom(const ast::Expr *body,
                                   llvm::ArrayRef<ast::GeneratorRange> ranges,
                                   llvm::ArrayRef<std::pair<Dim, Dim>> extents,
                                   SourceRange range, Expected expected) {
  if (ranges.empty())
    return checkRuntime(body, expected);
  generators.emplace_back();
  Generator &generator = generators.back();
  llvm::StringRef name = ranges[0].name.text;
  generator.counter = program.makeLocal(name.str(), types.getScalar(DType::I64),
                                        ranges[0].name.range);
  std::tie(generator.begin, generator.length) = extents[0];
  generator.outside = env;
  llvm::SaveAndRestore saved(env);
  EnvEntry entry;
  entry.name = name;
  entry.range = ranges[0].name.range;
  entry.value = localValue(generator.counter, ranges[0].name.range);
  entry.generator = &generator;
  push(std::move(entry));
  hir::Expr *inner = scoped([&] {
    return comprehendFrom(body, ranges.drop_front(), extents.drop_front(),
                          range, expected);
  });
  return inner ? mapOverGenerator(generator, inner, range) : nullptr;
}

hir::Expr *Checker::comprehend(const ast::Expr *body,
                               llvm::ArrayRef<ast::GeneratorRange> ranges,
                               SourceRange range, Expected expected) {
  std::vector<std::pair<Dim, Dim>> extents;
  if (!generatorExtents(body, ranges, extents))
    return nullptr;
  return comprehendFrom(body, ranges, extents, range, expected);
}

/// Trees come as fixed arrays: element k of the map's leaves, for each k.
Value Checker::arrayFromMap(hir::Expr *mapped, const Dim &length,
                            SourceRange range) {
  auto count = length.asConstant();
  if (!count || *count > 10000)
    return fail(DiagCode::not_constant, range,
                "an array of structs has a constant length of at most 10000, "
                "and this one has " +
                    show(length),
                "make a struct of tensors instead, each with an axis more");
  hir::Expr *all = temp(mapped);
  TypeRef element = mapLeafTypes(all->type, [&](TypeRef leaf) {
    return tensor(leaf->dtype, {leaf->shape.begin() + 1, leaf->shape.end()});
  });
  std::vector<hir::Expr *> elements;
  for (int64_t k = 0; k < *count; ++k)
    elements.push_back(
        mapLeaves({all}, range,
                  [&](llvm::ArrayRef<hir::Expr *> leaf, const std::string &) {
                    hir::Expr *slice = sliceAxis(leaf[0], 0, Dim::constant(k),
                                                 Dim::constant(1));
                    const Shape &shape = slice->type->shape;
                    return reshape(slice, {shape.begin() + 1, shape.end()});
                  }));
  return expr(makeTree(types.getArray(element, length), elements, range));
}

Value Checker::checkComprehension(const ast::ComprehensionExpr *e,
                                  Expected expected) {
  Expected element;
  if (expected.dtype)
    element = Expected(*expected.dtype);
  if (expected.type && expected.type->kind == hir::TypeKind::Array)
    element = Expected(expected.type->elements[0]);
  hir::Expr *mapped = comprehend(e->body, e->ranges, e->range, element);
  if (!mapped)
    return error();
  if (mapped->type->kind == hir::TypeKind::Tensor)
    return expr(mapped);
  if (e->ranges.size() > 1)
    return fail(DiagCode::generator_misplaced, e->range,
                "an array of structs has one generator");
  return arrayFromMap(mapped, llvm::cast<hir::MapExpr>(mapped)->length,
                      e->range);
}

//===-- Reductions over generators ----------------------------------------===//

/// The operand with the summed names replaced by their ranges; null if one of
/// them does not stand bare exactly once.
static ast::IndexExpr *withRanges(ast::Module &tree, const ast::Expr *e,
                                  llvm::ArrayRef<ast::GeneratorRange> ranges,
                                  llvm::SmallVectorImpl<unsigned> &order) {
  auto *index = llvm::dyn_cast<ast::IndexExpr>(e);
  if (!index)
    return nullptr;
  std::vector<ast::Expr *> indices = index->indices.vec();
  llvm::SmallVector<bool> seen(ranges.size(), false);
  for (ast::Expr *&one : indices)
    for (unsigned k = 0; k < ranges.size(); ++k) {
      if (!isName(one, ranges[k].name.text))
        continue;
      if (seen[k])
        return nullptr;
      seen[k] = true;
      order.push_back(k);
      one = ranges[k].range ? ranges[k].range
                            : tree.make<ast::RangeExpr>(one->range);
      break;
    }
  if (!llvm::all_of(seen, [](bool one) { return one; }))
    return nullptr;
  auto *result = tree.make<ast::IndexExpr>(e->range);
  result->base = index->base;
  result->indices = tree.copy<ast::Expr *>(indices);
  return result;
}

/// sum(a[i, k] * b[k, j] for k) as a contraction; nothing if it has another
/// form.
std::optional<Value>
Checker::productPattern(const ast::Expr *body,
                        llvm::ArrayRef<ast::GeneratorRange> ranges,
                        SourceRange range) {
  auto *product = llvm::dyn_cast<ast::BinaryExpr>(body);
  if (!product || product->op != ast::BinaryOp::Mul)
    return std::nullopt;
  llvm::SmallVector<unsigned> orderA, orderB;
  ast::IndexExpr *a = withRanges(*module->tree, product->lhs, ranges, orderA);
  ast::IndexExpr *b =
      a ? withRanges(*module->tree, product->rhs, ranges, orderB) : nullptr;
  if (!b)
    return std::nullopt;
  hir::Expr *x = checkRuntime(a), *y = x ? checkRuntime(b) : nullptr;
  if (!y)
    return error();
  for (hir::Expr *e : {x, y})
    if (e->type->kind != hir::TypeKind::Tensor ||
        e->type->dtype == DType::Bool || e->type->dtype != x->type->dtype ||
        e->type->shape.size() != ranges.size())
      return std::nullopt; // something else is indexed too: an ordinary sum
  std::vector<int64_t> onA, onB;
  for (unsigned axis = 0; axis < ranges.size(); ++axis) {
    int64_t other = llvm::find(orderB, orderA[axis]) - orderB.begin();
    if (!requireEqual(
            y->type->shape[other], x->type->shape[axis], product->rhs->range,
            "the axes that `" + ranges[orderA[axis]].name.text + "` indexes"))
      return error();
    onA.push_back(axis);
    onB.push_back(other);
  }
  return expr(contract(x, y, {}, {}, onA, onB));
}

static bool takesGenerator(Builtin builtin) {
  switch (builtin) {
  case Builtin::Sum:
  case Builtin::Prod:
  case Builtin::Max:
  case Builtin::Min:
  case Builtin::Mean:
  case Builtin::Var:
  case Builtin::Any:
  case Builtin::All:
  case Builtin::ArgMax:
  case Builtin::ArgMin:
  case Builtin::Norm:
  case Builtin::LogSumExp:
    return true;
  default:
    return false;
  }
}

Value Checker::checkGeneratorCall(const ast::CallExpr *call,
                                  const ast::GeneratorExpr *e,
                                  const FnValue &fn, Expected expected) {
  if (fn.kind != FnValue::BuiltinFn || !takesGenerator(fn.builtin))
    return fail(DiagCode::generator_misplaced, e->range,
                "a generator is the argument of a reduction such as `sum`",
                "write a comprehension: `[... for ...]`");
  if (fn.builtin == Builtin::Sum)
    if (auto product = productPattern(e->body, e->ranges, call->range))
      return *product;
  Expected element = expected.dtype ? Expected(*expected.dtype) : Expected();
  hir::Expr *mapped = comprehend(e->body, e->ranges, e->range, element);
  if (!mapped)
    return error();
  if (mapped->type->kind != hir::TypeKind::Tensor)
    return fail(DiagCode::bad_operand, e->range,
                "a reduction is over tensors, not `" +
                    hir::toString(mapped->type) + "`");
  // The generators' axes become one, in row-major order, and axis 0 is reduced.
  Shape shape = mapped->type->shape;
  Dim total = Dim::constant(1);
  for (size_t i = 0; i < e->ranges.size(); ++i)
    total = total * shape[i];
  shape.erase(shape.begin(), shape.begin() + e->ranges.size());
  shape.insert(shape.begin(), total);
  Call inner;
  inner.range = call->range;
  inner.callee = call->callee->range;
  inner.expected = expected;
  inner.args.push_back({{}, e->range, nullptr, expr(reshape(mapped, shape))});
  auto *axis = module->tree->make<ast::IntLitExpr>(e->range);
  inner.args.push_back({{"axis", e->range}, e->range, axis, {}});
  return callBuiltin(fn.builtin, inner);
}
