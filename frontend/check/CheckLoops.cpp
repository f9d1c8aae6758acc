// Loops and what runs a function over leading axes: loop for, loop while, scan,
// map, reduce, tree_map. No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

//===-- loop --------------------------------------------------------------===//

/// A loop node's `range` is what it counts over; this is where it stands.
static SourceRange wholeRange(const ast::Expr *e) { return e->range; }

/// The initial values, and a local for each.
bool Checker::checkLoopState(const ast::LoopExpr *e, const Expected &expected,
                             std::vector<hir::Local *> &state,
                             std::vector<hir::Expr *> &init) {
  bool ok = true;
  std::vector<Expected> hints{expected};
  if (e->state.size() != 1)
    hints = partsOf(expected, e->state.size());
  for (auto [i, one] : llvm::enumerate(e->state)) {
    TypeRef type = one.type ? resolveType(one.type) : nullptr;
    hir::Expr *value = nullptr;
    SourceRange range = one.init ? one.init->range : one.name.range;
    if (one.init) {
      value = checkRuntime(one.init, type ? Expected(type) : hints[i]);
    } else {
      ast::NameExpr name(one.name.range);
      name.name = one.name.text;
      value = checkRuntime(&name);
    }
    if (!value || (one.type && !type) ||
        (type && !requireType(value->type, type, range,
                              "the first value of `" + one.name.text + "`"))) {
      ok = false;
      continue;
    }
    init.push_back(value);
    state.push_back(
        program.makeLocal(one.name.text.str(), value->type, one.name.range));
  }
  return ok;
}

/// Opens the scope of a loop's body.
void Checker::bindLoopState(llvm::ArrayRef<hir::Local *> state) {
  for (hir::Local *l : state)
    bind(l->name, l->range, localValue(l, l->range));
}

/// The body's value must be the next state.
hir::Expr *Checker::checkLoopBody(const ast::LoopExpr *e, TypeRef wanted) {
  return scoped([&]() -> hir::Expr * {
    hir::Expr *body = checkRuntime(e->body, Expected(wanted));
    if (!body)
      return nullptr;
    SourceRange range = e->body->range;
    if (auto *block = llvm::dyn_cast<ast::BlockExpr>(e->body))
      if (block->result)
        range = block->result->range;
    if (sameForm(body->type, wanted))
      return requireType(body->type, wanted, range, "the next state") ? body
                                                                      : nullptr;
    Diagnostic &d = report(DiagCode::loop_state, range,
                           "a loop's body gives the next state, of the types "
                           "that the first values have");
    d.expected = hir::toString(wanted);
    d.found = hir::toString(body->type);
    d.help = "convert the first value or the next one; what a loop carries "
             "keeps its type";
    return nullptr;
  });
}

static TypeRef stateType(hir::TypeContext &types,
                         llvm::ArrayRef<hir::Local *> state) {
  if (state.size() == 1)
    return state[0]->type;
  std::vector<TypeRef> elements;
  for (hir::Local *l : state)
    elements.push_back(l->type);
  return types.getTuple(elements);
}

Value Checker::checkLoop(const ast::LoopExpr *e, Expected expected) {
  std::vector<hir::Local *> state;
  std::vector<hir::Expr *> init;
  if (!checkLoopState(e, expected, state, init))
    return error();
  TypeRef type = stateType(types, state);
  return e->counter ? checkFor(e, type, state, init)
                    : checkWhile(e, type, state, init);
}

Value Checker::checkFor(const ast::LoopExpr *e, TypeRef type,
                        std::vector<hir::Local *> state,
                        std::vector<hir::Expr *> init) {
  auto *range = llvm::dyn_cast<ast::RangeExpr>(e->range);
  if (!range || !range->begin || !range->end)
    return fail(DiagCode::loop_range, e->range->range,
                "a loop runs over `begin..end`");
  hir::Expr *ends[2];
  for (unsigned i = 0; i < 2; ++i) {
    const ast::Expr *end = i ? range->end : range->begin;
    ends[i] = checkRuntime(end, Expected(DType::I64));
    if (!ends[i])
      return error();
    if (ends[i]->type->kind != hir::TypeKind::Tensor ||
        !ends[i]->type->shape.empty() || !hir::isInteger(ends[i]->type->dtype))
      return fail(DiagCode::loop_range, end->range,
                  "a loop's range is made of integers, not `" +
                      hir::toString(ends[i]->type) + "`");
    ends[i] = asI64(ends[i]);
  }
  if (e->counter->isTuple)
    return fail(DiagCode::pattern_mismatch, e->counter->range,
                "a loop counts one integer");
  llvm::SaveAndRestore saved(env);
  hir::Local *counter =
      program.makeLocal(e->counter->name.text.str(),
                        types.getScalar(DType::I64), e->counter->range);
  bindLoopState(state);
  if (counter->name != "_")
    bind(counter->name, counter->range, localValue(counter, counter->range));
  hir::Expr *body = checkLoopBody(e, type);
  if (!body)
    return error();
  auto *loop = program.make<hir::ForExpr>(type, wholeRange(e));
  loop->begin = ends[0];
  loop->end = ends[1];
  loop->counter = counter;
  loop->state = std::move(state);
  loop->init = std::move(init);
  loop->body = body;
  loop->checkpoint = e->checkpoint;
  return expr(loop);
}

Value Checker::checkWhile(const ast::LoopExpr *e, TypeRef type,
                          std::vector<hir::Local *> state,
                          std::vector<hir::Expr *> init) {
  llvm::SaveAndRestore saved(env);
  bindLoopState(state);
  hir::Expr *condition = scoped([&] { return checkRuntime(e->condition); });
  if (condition && condition->type != types.getScalar(DType::Bool)) {
    fail(DiagCode::condition_not_bool, e->condition->range,
         "a loop goes on while a bool scalar is true, and this is `" +
             hir::toString(condition->type) + "`");
    condition = nullptr;
  }
  hir::Expr *body = checkLoopBody(e, type);
  if (!condition || !body)
    return error();
  auto *loop = program.make<hir::WhileExpr>(type, wholeRange(e));
  loop->state = std::move(state);
  loop->init = std::move(init);
  loop->condition = condition;
  loop->body = body;
  loop->checkpoint = e->checkpoint;
  return expr(loop);
}

//===-- Functions over leading axes ---------------------------------------===//

/// An argument that has a leading axis in every leaf, and what one step sees.
hir::Expr *Checker::sequenceArg(Arg &arg, std::optional<Dim> &length,
                                TypeRef &element) {
  Value value = argValue(arg);
  hir::Expr *e = value.isError() ? nullptr : toRuntime(value, arg.range);
  if (!e)
    return nullptr;
  element = mapLeafTypes(e->type, [&](TypeRef leaf) -> TypeRef {
    if (leaf->shape.empty()) {
      fail(DiagCode::leading_axis, arg.range,
           "`" + hir::toString(leaf) + "` has no leading axis to run over");
      return nullptr;
    }
    return unmapped(leaf, 0, length, arg.range);
  });
  if (element && !length)
    fail(DiagCode::leading_axis, arg.range, "there is nothing to run over");
  return element && length ? e : nullptr;
}

TypeRef Checker::withLeadingAxis(TypeRef type, const Dim &length) {
  return mapLeafTypes(type, [&](TypeRef leaf) {
    Shape shape = leaf->shape;
    shape.insert(shape.begin(), length);
    return tensor(leaf->dtype, shape);
  });
}

Value Checker::mapFn(Call &call) {
  if (call.args.size() < 2)
    return fail(DiagCode::argument_count, call.range,
                "`map` takes a function and at least one tensor");
  Value f = asFunction(call.args[0], call.name);
  if (!f.isFn())
    return error();
  std::vector<Value> values;
  std::optional<Dim> length;
  for (size_t i = 1; i < call.args.size(); ++i) {
    if (!call.args[i].name.text.empty())
      return fail(DiagCode::unknown_argument, call.args[i].name.range,
                  "`map` takes its arguments by position");
    TypeRef element;
    hir::Expr *e = sequenceArg(call.args[i], length, element);
    if (!e)
      return error();
    values.push_back(expr(e));
    values.back().range = call.args[i].range;
  }
  std::vector<int64_t> axes(values.size(), 0);
  return vmapValues(*f.fn, values, axes, call.range);
}

Value Checker::scanFn(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"f", "init", "xs"}, 3, args))
    return error();
  Value f = asFunction(*args[0], call.name);
  if (!f.isFn())
    return error();
  Value initial = argValue(*args[1]);
  hir::Expr *init =
      initial.isError() ? nullptr : toRuntime(initial, args[1]->range);
  std::optional<Dim> length;
  TypeRef element;
  hir::Expr *xs = init ? sequenceArg(*args[2], length, element) : nullptr;
  if (!xs)
    return error();
  hir::FnLit lit = materialise(*f.fn, {init->type, element}, call.range);
  if (!lit.body)
    return error();
  TypeRef pair = lit.body->type;
  if (pair->kind != hir::TypeKind::Tuple || pair->elements.size() != 2)
    return fail(DiagCode::loop_state, args[0]->range,
                "a step of `scan` gives a pair (next state, output), not `" +
                    hir::toString(pair) + "`");
  if (!requireType(pair->elements[0], init->type, args[0]->range,
                   "the next state of `scan`"))
    return error();
  auto *scan = program.make<hir::ScanExpr>(
      types.getTuple({init->type, withLeadingAxis(pair->elements[1], *length)}),
      call.range);
  scan->fn = std::move(lit);
  scan->init = init;
  scan->xs = xs;
  scan->length = *length;
  return expr(scan);
}

Value Checker::reduceFn(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"f", "init", "xs"}, 3, args))
    return error();
  Value f = asFunction(*args[0], call.name);
  if (!f.isFn())
    return error();
  std::optional<Dim> length;
  TypeRef element;
  hir::Expr *xs = sequenceArg(*args[2], length, element);
  if (!xs)
    return error();
  Value initial = argValue(*args[1], Expected(element));
  hir::Expr *init =
      initial.isError() ? nullptr : toRuntime(initial, args[1]->range);
  if (!init || !requireType(init->type, element, args[1]->range,
                            "the first value of `reduce`"))
    return error();
  hir::FnLit lit = materialise(*f.fn, {element, element}, call.range);
  if (!lit.body || !requireType(lit.body->type, element, args[0]->range,
                                "what the function of `reduce` gives"))
    return error();
  auto *result = program.make<hir::ReduceExpr>(element, call.range);
  result->fn = std::move(lit);
  result->init = init;
  result->xs = xs;
  result->length = *length;
  return expr(result);
}

Value Checker::treeMap(Call &call) {
  if (call.args.size() < 2)
    return fail(DiagCode::argument_count, call.range,
                "`tree_map` takes a function and at least one tree");
  Value f = asFunction(call.args[0], call.name);
  if (!f.isFn())
    return error();
  std::vector<hir::Expr *> trees;
  for (size_t i = 1; i < call.args.size(); ++i) {
    Value value = argValue(call.args[i]);
    hir::Expr *e =
        value.isError() ? nullptr : toRuntime(value, call.args[i].range);
    if (!e)
      return error();
    if (!trees.empty() && !sameForm(e->type, trees[0]->type)) {
      Diagnostic &d = report(DiagCode::type_mismatch, call.args[i].range,
                             "the trees of `tree_map` have one form");
      d.expected = hir::toString(trees[0]->type);
      d.found = hir::toString(e->type);
      return error();
    }
    trees.push_back(e);
  }
  return expr(mapLeaves(trees, call.range,
                        [&](llvm::ArrayRef<hir::Expr *> leaves,
                            const std::string &) -> hir::Expr * {
                          std::vector<Value> values;
                          for (hir::Expr *leaf : leaves)
                            values.push_back(expr(temp(leaf)));
                          Value result = applyValues(*f.fn, values, call.range);
                          return result.isError()
                                     ? nullptr
                                     : toRuntime(result, call.range);
                        }));
}
