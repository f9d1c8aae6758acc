// Control flow: operations with regions. A region uses values of the function
// around it freely.
#include "frontend/emit/Emitter.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace astra::emit {

//===-- Building ----------------------------------------------------------===//

Leaves Emitter::create(OperationState &state) {
  return Leaves(b.create(state)->getResults());
}

FailureOr<SmallVector<Type>> Emitter::buildRegion(Region *region, Location loc,
                                                  TypeRange arguments,
                                                  Body body, bool certain) {
  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore saved(isCertain, isCertain && certain);
  SmallVector<Location> locs(arguments.size(), loc);
  Block *block = b.createBlock(region, region->end(), arguments, locs);
  Result values = body(block->getArguments());
  if (failed(values))
    return failure();
  YieldOp::create(b, loc, *values);
  return typesOf(*values);
}

static Type sliceOf(Type type, int64_t axis) {
  auto tensor = cast<TensorType>(type);
  SmallVector<StringAttr> dims(tensor.getDims());
  if (axis < static_cast<int64_t>(dims.size()))
    dims.erase(dims.begin() + axis);
  return tensor.withDims(dims);
}

static Type stackOf(Type type, StringAttr length) {
  auto tensor = cast<TensorType>(type);
  SmallVector<StringAttr> dims(tensor.getDims());
  dims.insert(dims.begin(), length);
  return tensor.withDims(dims);
}

//===-- If and loops ------------------------------------------------------===//

Emitter::Result Emitter::emitIf(const hir::IfExpr *e, Scope &scope) {
  FailureOr<Value> condition = evaluateScalar(e->condition, scope);
  if (failed(condition))
    return failure();
  Location loc = getLoc(e->range);
  OperationState state(loc, IfOp::getOperationName());
  state.addOperands(*condition);
  SmallVector<Type> types;
  for (hir::Expr *branch : {e->thenExpr, e->elseExpr}) {
    auto yielded =
        buildRegion(state.addRegion(), loc, {}, [&](ValueRange) -> Result {
          Scope inner(&scope, scope.frame);
          return evaluate(branch, inner);
        });
    if (failed(yielded))
      return failure();
    types = *yielded;
  }
  state.addTypes(types);
  return create(state);
}

Emitter::Result Emitter::emitFor(const hir::ForExpr *e, Scope &scope) {
  Leaves operands;
  if (failed(evaluateAll({e->begin, e->end}, scope, operands)) ||
      failed(evaluateAll(e->init, scope, operands)))
    return failure();
  Location loc = getLoc(e->range);
  SmallVector<Type> types = typesOf(ArrayRef(operands).drop_front(2));
  OperationState state(loc, ForOp::getOperationName(), operands, types);
  if (e->checkpoint)
    state.addAttribute("checkpoint", b.getUnitAttr());
  SmallVector<Type> arguments{operands[0].getType()};
  llvm::append_range(arguments, types);
  auto yielded = buildRegion(state.addRegion(), loc, arguments,
                             [&](ValueRange args) -> Result {
                               Scope inner(&scope, scope.frame);
                               inner.values[e->counter] = Leaves{args.front()};
                               bind(inner, e->state, args.drop_front());
                               return evaluate(e->body, inner);
                             });
  return failed(yielded) ? Result(failure()) : Result(create(state));
}

Emitter::Result Emitter::emitWhile(const hir::WhileExpr *e, Scope &scope) {
  Leaves init;
  if (failed(evaluateAll(e->init, scope, init)))
    return failure();
  Location loc = getLoc(e->range);
  SmallVector<Type> types = typesOf(init);
  OperationState state(loc, WhileOp::getOperationName(), init, types);
  if (e->checkpoint)
    state.addAttribute("checkpoint", b.getUnitAttr());
  for (hir::Expr *part : {e->condition, e->body}) {
    auto yielded = buildRegion(state.addRegion(), loc, types,
                               [&](ValueRange args) -> Result {
                                 Scope inner(&scope, scope.frame);
                                 bind(inner, e->state, args);
                                 return evaluate(part, inner);
                               });
    if (failed(yielded))
      return failure();
  }
  return create(state);
}

//===-- Functions over slices ---------------------------------------------===//

Emitter::Result Emitter::emitScan(const hir::ScanExpr *e, Scope &scope) {
  Leaves init, inputs;
  if (failed(evaluateAll(e->init, scope, init)))
    return failure();
  inputs = init;
  if (failed(evaluateAll(e->xs, scope, inputs)))
    return failure();
  Location loc = getLoc(e->range);
  StringAttr length =
      toAttr(b.getContext(), substitute(e->length, *scope.frame));
  OperationState state(loc, ScanOp::getOperationName());
  state.addOperands(inputs);
  state.addAttribute("length", length);
  state.addAttribute("num_state", b.getI64IntegerAttr(init.size()));
  SmallVector<Type> arguments = typesOf(init);
  for (Value x : ArrayRef(inputs).drop_front(init.size()))
    arguments.push_back(sliceOf(x.getType(), 0));
  Closure closure = getClosure(e->fn, scope);
  auto yielded =
      buildRegion(state.addRegion(), loc, arguments,
                  [&](ValueRange args) { return callClosure(closure, args); });
  if (failed(yielded))
    return failure();
  for (auto [i, type] : llvm::enumerate(*yielded))
    state.addTypes(i < init.size() ? type : stackOf(type, length));
  return create(state);
}

Emitter::Result Emitter::emitMap(const hir::MapExpr *e, Scope &scope) {
  Leaves inputs;
  SmallVector<int64_t> axes;
  for (auto [arg, axis] : llvm::zip_equal(e->args, e->axes)) {
    if (failed(evaluateAll(arg, scope, inputs)))
      return failure();
    axes.resize(inputs.size(), axis);
  }
  Location loc = getLoc(e->range);
  StringAttr length =
      toAttr(b.getContext(), substitute(e->length, *scope.frame));
  OperationState state(loc, MapOp::getOperationName());
  state.addOperands(inputs);
  state.addAttribute("length", length);
  state.addAttribute("axes", b.getDenseI64ArrayAttr(axes));
  SmallVector<Type> arguments;
  for (auto [input, axis] : llvm::zip_equal(inputs, axes))
    arguments.push_back(axis < 0 ? input.getType()
                                 : sliceOf(input.getType(), axis));
  Closure closure = getClosure(e->fn, scope);
  auto yielded =
      buildRegion(state.addRegion(), loc, arguments,
                  [&](ValueRange args) { return callClosure(closure, args); });
  if (failed(yielded))
    return failure();
  for (Type type : *yielded)
    state.addTypes(stackOf(type, length));
  return create(state);
}

Emitter::Result Emitter::emitReduce(const hir::ReduceExpr *e, Scope &scope) {
  Leaves init, inputs;
  if (failed(evaluateAll(e->init, scope, init)))
    return failure();
  inputs = init;
  if (failed(evaluateAll(e->xs, scope, inputs)))
    return failure();
  Location loc = getLoc(e->range);
  SmallVector<Type> types = typesOf(init);
  OperationState state(loc, ReduceOp::getOperationName(), inputs, types);
  state.addAttribute(
      "length", toAttr(b.getContext(), substitute(e->length, *scope.frame)));
  SmallVector<Type> arguments = types;
  llvm::append_range(arguments, types);
  Closure closure = getClosure(e->fn, scope);
  auto yielded =
      buildRegion(state.addRegion(), loc, arguments,
                  [&](ValueRange args) { return callClosure(closure, args); });
  return failed(yielded) ? Result(failure()) : Result(create(state));
}

} // namespace astra::emit
