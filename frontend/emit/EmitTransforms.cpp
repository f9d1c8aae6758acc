// Transformations: derivatives of a function literal, functions with rules of
// their own, and rematerialisation. In the dialect only floats have cotangents
// and tangents; the typed program's trees have one for every leaf, so zeros are
// filled in for integers and left out again.
#include "frontend/emit/Emitter.h"

using namespace mlir;

namespace astra::emit {

static SmallVector<Type> floatsOf(ArrayRef<Type> types) {
  return llvm::to_vector(llvm::make_filter_range(types, isFloatTensor));
}
static Leaves floatsOf(ValueRange values) {
  Leaves floats;
  for (Value value : values)
    if (isFloatTensor(value.getType()))
      floats.push_back(value);
  return floats;
}

Leaves Emitter::fillZeros(Location loc, ValueRange floats,
                          ArrayRef<Type> types) {
  Leaves all;
  for (Type type : types) {
    if (isFloatTensor(type)) {
      all.push_back(floats.front());
      floats = floats.drop_front();
    } else {
      all.push_back(ConstOp::create(b, loc, cast<TensorType>(type), 0.0));
    }
  }
  return all;
}

//===-- vjp, jvp and remat of a literal -----------------------------------===//

Emitter::Result Emitter::emitTransform(const hir::TransformExpr *e,
                                       Scope &scope) {
  Leaves inputs;
  if (failed(evaluateAll(e->args, scope, inputs)))
    return failure();
  if (e->transform == hir::TransformKind::Jvp)
    return emitJvp(e, scope, std::move(inputs));
  if (e->transform != hir::TransformKind::Remat)
    return emitVjp(e, scope, std::move(inputs));
  Closure closure = getClosure(e->fn, scope);
  return emitRemat(getLoc(e->range), inputs,
                   [&](ValueRange args) { return callClosure(closure, args); });
}

/// The leaves of the arguments that `wrt` lists.
SmallVector<int64_t> Emitter::getWrtLeaves(const hir::TransformExpr *e,
                                           Scope &scope) {
  SmallVector<int64_t> first{0};
  for (hir::Expr *arg : e->args)
    first.push_back(first.back() + getLeafCount(arg->type, *scope.frame));
  SmallVector<int64_t> leaves;
  for (unsigned index : e->wrt)
    for (int64_t leaf = first[index]; leaf < first[index + 1]; ++leaf)
      leaves.push_back(leaf);
  return leaves;
}

Emitter::Result Emitter::emitVjp(const hir::TransformExpr *e, Scope &scope,
                                 Leaves inputs) {
  Location loc = getLoc(e->range);
  SmallVector<Type> arguments = typesOf(inputs);
  Leaves cotangents;
  if (failed(evaluateAll(e->extra, scope, cotangents)))
    return failure();
  OperationState state(loc, VjpOp::getOperationName());
  Closure closure = getClosure(e->fn, scope);
  auto yielded = buildRegion(
      state.addRegion(), loc, arguments,
      [&](ValueRange args) { return callClosure(closure, args); },
      /*certain=*/true);
  if (failed(yielded))
    return failure();
  if (e->transform == hir::TransformKind::ValueAndGrad)
    for (Type type : floatsOf(*yielded))
      cotangents.push_back(
          ConstOp::create(b, loc, cast<TensorType>(type), 1.0));
  SmallVector<int64_t> wrt = getWrtLeaves(e, scope);
  state.addOperands(inputs);
  state.addOperands(floatsOf(cotangents));
  state.addAttribute("num_args", b.getI64IntegerAttr(inputs.size()));
  state.addAttribute("wrt", b.getDenseI64ArrayAttr(wrt));
  state.addTypes(*yielded);
  for (int64_t leaf : wrt)
    state.addTypes(arguments[leaf]);
  return create(state);
}

Emitter::Result Emitter::emitJvp(const hir::TransformExpr *e, Scope &scope,
                                 Leaves inputs) {
  Location loc = getLoc(e->range);
  SmallVector<Type> arguments = typesOf(inputs);
  OperationState state(loc, JvpOp::getOperationName());
  state.addAttribute("num_args", b.getI64IntegerAttr(inputs.size()));
  state.addAttribute("wrt", b.getDenseI64ArrayAttr(getWrtLeaves(e, scope)));
  if (failed(evaluateAll(e->extra, scope, inputs)))
    return failure();
  state.addOperands(inputs);
  Closure closure = getClosure(e->fn, scope);
  auto yielded = buildRegion(
      state.addRegion(), loc, arguments,
      [&](ValueRange args) { return callClosure(closure, args); },
      /*certain=*/true);
  if (failed(yielded))
    return failure();
  state.addTypes(*yielded);
  state.addTypes(floatsOf(*yielded));
  ValueRange results = b.create(state)->getResults();
  Leaves all(results.take_front(yielded->size()));
  llvm::append_range(
      all, fillZeros(loc, results.drop_front(yielded->size()), *yielded));
  return all;
}

Emitter::Result Emitter::emitRemat(Location loc, ValueRange inputs, Body body) {
  OperationState state(loc, RematOp::getOperationName());
  state.addOperands(inputs);
  auto yielded = buildRegion(state.addRegion(), loc, typesOf(inputs), body,
                             /*certain=*/true);
  if (failed(yielded))
    return failure();
  state.addTypes(*yielded);
  return create(state);
}

//===-- Own rules ---------------------------------------------------------===//

/// A rule gets the arguments and a value for each leaf of `given`; only its
/// float results are kept.
FailureOr<SmallVector<Type>>
Emitter::buildRule(Region *region, Location loc, const hir::FnLit &rule,
                   Frame &frame, ArrayRef<Type> args, ArrayRef<Type> given) {
  SmallVector<Type> arguments(args);
  llvm::append_range(arguments, floatsOf(given));
  return buildRegion(region, loc, arguments, [&](ValueRange inner) -> Result {
    Leaves all(inner.take_front(args.size()));
    llvm::append_range(all,
                       fillZeros(loc, inner.drop_front(args.size()), given));
    Scope scope(nullptr, &frame);
    Result results = callClosure({&rule, &scope}, all);
    return failed(results) ? Result(failure()) : Result(floatsOf(*results));
  });
}

Emitter::Result Emitter::emitWithRules(const hir::FnInstance &fn, Location loc,
                                       Frame &frame, ValueRange args) {
  SmallVector<Type> arguments = typesOf(args);
  OperationState state(loc, CustomDerivativeOp::getOperationName());
  state.addOperands(args);
  auto results = buildRegion(
      state.addRegion(), loc, arguments,
      [&](ValueRange inner) { return emitBody(fn, frame, inner); },
      /*certain=*/true);
  if (failed(results))
    return failure();
  Region *vjp = state.addRegion(), *jvp = state.addRegion();
  if (fn.vjpRule &&
      failed(buildRule(vjp, loc, *fn.vjpRule, frame, arguments, *results)))
    return failure();
  if (fn.jvpRule &&
      failed(buildRule(jvp, loc, *fn.jvpRule, frame, arguments, arguments)))
    return failure();
  state.addTypes(*results);
  return create(state);
}

} // namespace astra::emit
