// Values, blocks and calls: the core of the emitter. What it expands to is
// bounded, so that a program that would grow without end is an error.
#include "frontend/emit/Emitter.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace astra::emit {

/// Deeper nesting would overrun the stack of the compiler.
static constexpr unsigned kMaxDepth = 4000;
/// Expressions that make no operation count too, but less.
static constexpr uint64_t kStepsPerOperation = 10;

const Leaves *Scope::find(const hir::Local *local) const {
  for (const Scope *scope = this; scope; scope = scope->parent)
    if (auto it = scope->values.find(local); it != scope->values.end())
      return &it->second;
  return nullptr;
}

void OpListener::notifyOperationInserted(Operation *op,
                                         OpBuilder::InsertPoint) {
  ++count;
  if (device)
    op->setAttr(AstraDialect::kDeviceAttr, device);
}

LogicalResult Emitter::fail(DiagCode code, SourceRange range,
                            const llvm::Twine &message, StringRef help) {
  diags.report(code, range, message.str()).help = help.str();
  return failure();
}

//===-- Expressions -------------------------------------------------------===//

Emitter::Result Emitter::evaluate(const hir::Expr *e, Scope &scope) {
  if (listener.count > options.maxOperations ||
      ++steps > options.maxOperations * kStepsPerOperation ||
      depth >= kMaxDepth)
    return fail(DiagCode::expansion_too_large, e->range,
                "`" + current + "` expands to more than " +
                    llvm::Twine(options.maxOperations) +
                    " operations or is nested too deeply",
                "calls are expanded where they stand: use a loop, `map` or "
                "`scan` for what repeats");
  llvm::SaveAndRestore deeper(depth, depth + 1);
  return dispatch(e, scope);
}

Emitter::Result Emitter::dispatch(const hir::Expr *e, Scope &scope) {
  switch (e->kind) {
#define ASTRA_EXPR(NAME)                                                       \
  case hir::ExprKind::NAME:                                                    \
    return emit##NAME(llvm::cast<hir::NAME##Expr>(e), scope);
    ASTRA_EXPR(Prim)
    ASTRA_EXPR(Local)
    ASTRA_EXPR(Block)
    ASTRA_EXPR(Call)
    ASTRA_EXPR(CallParam)
    ASTRA_EXPR(Get)
    ASTRA_EXPR(ArrayIndex)
    ASTRA_EXPR(If)
    ASTRA_EXPR(For)
    ASTRA_EXPR(While)
    ASTRA_EXPR(Scan)
    ASTRA_EXPR(Map)
    ASTRA_EXPR(Reduce)
    ASTRA_EXPR(Transform)
    ASTRA_EXPR(On)
#undef ASTRA_EXPR
  case hir::ExprKind::Make: {
    Leaves leaves;
    if (failed(
            evaluateAll(llvm::cast<hir::MakeExpr>(e)->elements, scope, leaves)))
      return failure();
    return leaves;
  }
  }
  return failure();
}

LogicalResult Emitter::evaluateAll(ArrayRef<hir::Expr *> list, Scope &scope,
                                   Leaves &leaves) {
  for (hir::Expr *e : list) {
    Result value = evaluate(e, scope);
    if (failed(value))
      return failure();
    llvm::append_range(leaves, *value);
  }
  return success();
}

FailureOr<Value> Emitter::evaluateScalar(const hir::Expr *e, Scope &scope) {
  Result value = evaluate(e, scope);
  if (failed(value))
    return failure();
  return value->front();
}

Emitter::Result Emitter::emitLocal(const hir::LocalExpr *e, Scope &scope) {
  const Leaves *leaves = scope.find(e->local);
  if (!leaves) {
    mlir::emitError(getLoc(e->range))
        << "no value for the local '" << e->local->name << "'";
    return failure();
  }
  return *leaves;
}

Emitter::Result Emitter::emitBlock(const hir::BlockExpr *e, Scope &scope) {
  for (const hir::Binding &binding : e->bindings) {
    Result value = evaluate(binding.value, scope);
    if (failed(value))
      return failure();
    if (binding.local)
      scope.values[binding.local] = std::move(*value);
  }
  return e->result ? evaluate(e->result, scope) : Result(Leaves());
}

//===-- Calls -------------------------------------------------------------===//

void Emitter::bind(Scope &scope, ArrayRef<hir::Local *> locals,
                   ValueRange leaves) {
  for (const hir::Local *local : locals) {
    size_t count = getLeafCount(local->type, *scope.frame);
    scope.values[local] = Leaves(leaves.take_front(count));
    leaves = leaves.drop_front(count);
  }
}

/// One that only forwards to a parameter is what that parameter stands for.
Closure Emitter::getClosure(const hir::FnLit &lit, Scope &scope) {
  if (lit.forwards >= 0)
    return scope.frame->fns[lit.forwards];
  return {&lit, &scope};
}

Emitter::Result Emitter::callClosure(const Closure &closure, ValueRange args) {
  Scope scope(closure.scope, closure.scope->frame);
  bind(scope, closure.lit->params, args);
  return evaluate(closure.lit->body, scope);
}

Emitter::Result Emitter::emitBody(const hir::FnInstance &fn, Frame &frame,
                                  ValueRange args) {
  Scope scope(nullptr, &frame);
  bind(scope, fn.params, args);
  return evaluate(fn.body, scope);
}

Emitter::Result Emitter::emitCall(const hir::CallExpr *e, Scope &scope) {
  Leaves args;
  if (failed(evaluateAll(e->args, scope, args)))
    return failure();
  Frame frame;
  for (const auto &[name, dim] : e->dims)
    frame.dims[name] = substitute(dim, *scope.frame);
  for (const hir::FnLit &lit : e->fnArgs)
    frame.fns.push_back(getClosure(lit, scope));
  const hir::FnInstance &callee = *e->callee;
  if (callee.vjpRule || callee.jvpRule)
    return emitWithRules(callee, getLoc(e->range), frame, args);
  if (!callee.remat)
    return emitBody(callee, frame, args);
  return emitRemat(getLoc(e->range), args, [&](ValueRange inner) {
    return emitBody(callee, frame, inner);
  });
}

Emitter::Result Emitter::emitCallParam(const hir::CallParamExpr *e,
                                       Scope &scope) {
  Leaves args;
  if (failed(evaluateAll(e->args, scope, args)))
    return failure();
  return callClosure(scope.frame->fns[e->index], args);
}

//===-- Trees -------------------------------------------------------------===//

Emitter::Result Emitter::emitGet(const hir::GetExpr *e, Scope &scope) {
  Result base = evaluate(e->base, scope);
  if (failed(base))
    return failure();
  hir::TypeRef type = e->base->type;
  size_t begin = 0;
  if (type->kind == hir::TypeKind::Array)
    begin = getLeafCount(type->elements[0], *scope.frame) * e->index;
  else
    for (unsigned i = 0; i < e->index; ++i)
      begin += getLeafCount(type->elements[i], *scope.frame);
  size_t count = getLeafCount(e->type, *scope.frame);
  if (begin + count > base->size())
    return fail(DiagCode::index_out_of_range, e->range,
                "index " + llvm::Twine(e->index) + " is out of range for `" +
                    hir::toString(type) + "`");
  return Leaves(ArrayRef<Value>(*base).slice(begin, count));
}

/// The same leaf of every element as one tensor with a new axis 0.
static Value stack(OpBuilder &b, Location loc, ArrayRef<Value> values) {
  auto type = getTensorType(values.front());
  SmallVector<StringAttr> dims(type.getDims());
  dims.insert(dims.begin(), toAttr(b.getContext(), Dim::constant(1)));
  TensorType one = type.withDims(dims);
  SmallVector<Value> rows;
  for (Value value : values)
    rows.push_back(ReshapeOp::create(b, loc, one, value));
  dims[0] = toAttr(b.getContext(), Dim::constant(values.size()));
  return ConcatOp::create(b, loc, type.withDims(dims), rows, 0);
}

/// The row at a run-time index, which the slice checks.
static Value takeRow(OpBuilder &b, Location loc, Value rows, Value index) {
  TensorType type = getTensorType(rows);
  SmallVector<Dim> shape = type.getShape();
  SmallVector<Dim> starts(shape.size());
  shape[0] = Dim::constant(1);
  Value row = SliceOp::create(b, loc, type.withShape(shape), rows, index,
                              toAttr(b.getContext(), starts),
                              b.getDenseI64ArrayAttr({0}));
  return ReshapeOp::create(b, loc, type.withDims(type.getDims().drop_front()),
                           row);
}

Emitter::Result Emitter::emitArrayIndex(const hir::ArrayIndexExpr *e,
                                        Scope &scope) {
  Result base = evaluate(e->base, scope);
  if (failed(base))
    return failure();
  FailureOr<Value> index = evaluateScalar(e->index, scope);
  if (failed(index))
    return failure();
  size_t length = getCount(e->base->type, *scope.frame);
  if (length == 0)
    return fail(DiagCode::index_out_of_range, e->range,
                "the array has no elements");
  Location loc = getLoc(e->range);
  if (!getTensorType(*index).getElementType().isSignlessInteger(64))
    index = ConvertOp::create(b, loc, *index, b.getI64Type()).getResult();
  size_t count = base->size() / length;
  Leaves leaves;
  for (size_t leaf = 0; leaf < count; ++leaf) {
    SmallVector<Value> column;
    for (size_t i = 0; i < length; ++i)
      column.push_back((*base)[i * count + leaf]);
    leaves.push_back(takeRow(b, loc, stack(b, loc, column), *index));
  }
  return leaves;
}

Emitter::Result Emitter::emitOn(const hir::OnExpr *e, Scope &scope) {
  std::string device = e->device + ":" + std::to_string(e->index);
  llvm::SaveAndRestore saved(listener.device, b.getStringAttr(device));
  return evaluate(e->body, scope);
}

} // namespace astra::emit
