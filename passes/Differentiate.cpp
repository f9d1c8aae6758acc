// The pass that replaces `vjp`, `jvp`, `custom_derivative` and `remat` by plain
// operations, innermost first, so that a derivative only ever meets operations
// with a rule. An argument of a transformation is its own block argument until
// its derivative is complete, and values from outside are constants to it: two
// derivatives with respect to equal values cannot be taken for one another.
#include "mlir/Pass/Pass.h"
#include "passes/BatchMode.h"
#include "passes/ForwardMode.h"
#include "passes/ReverseMode.h"
#include "passes/TransformPasses.h"
#include "passes/Transforms.h"

using namespace mlir;

namespace astra {

/// Ends the body with its values and then `derivatives`, and puts it in the
/// operation's place.
static void replaceByBody(Operation *op, Block &body,
                          ArrayRef<Value> derivatives, ValueRange arguments) {
  Operation *end = body.getTerminator();
  end->insertOperands(end->getNumOperands(), derivatives);
  op->replaceAllUsesWith(spliceBefore(op, body, arguments));
  op->erase();
}

LogicalResult expandVjp(VjpOp op, ArrayRef<Value> before) {
  Block &body = op.getBody().front();
  unsigned numArgs = op.getNumArgs();
  ValueRange given = op.getInputs().drop_front(numArgs);
  Activity activity;
  for (int64_t i : op.getWrt())
    activity.insert(body.getArgument(i));
  activity.propagate(body);

  OpBuilder builder(body.getTerminator());
  RuleBuilder r(builder, op.getLoc());
  Cotangents cotangents;
  for (auto [i, part] : llvm::zip(op.getWrt(), before))
    cotangents.add(r, body.getArgument(i), {part, nullptr, true});
  for (Value yielded : body.getTerminator()->getOperands())
    if (isFloatTensor(yielded)) {
      if (activity.contains(yielded))
        cotangents.add(r, yielded, {given.front(), nullptr, true});
      given = given.drop_front();
    }
  ReverseMode reverse(builder, activity);
  if (failed(reverse.walk(body, cotangents)))
    return failure();

  SmallVector<Value> gradients;
  for (int64_t i : op.getWrt()) {
    Value argument = body.getArgument(i);
    gradients.push_back(cotangents.has(argument)
                            ? cotangents.getApplied(r, argument)
                            : r.splatLike(argument, 0));
  }
  replaceByBody(op, body, gradients, op.getInputs().take_front(numArgs));
  reverse.finish();
  return success();
}

LogicalResult expandJvp(JvpOp op) {
  Block &body = op.getBody().front();
  unsigned numArgs = op.getNumArgs();
  Activity activity;
  for (int64_t i : op.getWrt())
    activity.insert(body.getArgument(i));
  activity.propagate(body);

  ForwardMode forward(activity);
  for (auto [i, tangent] :
       llvm::zip_equal(op.getWrt(), op.getInputs().drop_front(numArgs)))
    forward.setTangent(body.getArgument(i), tangent);
  if (failed(forward.walk(body)))
    return failure();

  OpBuilder builder(body.getTerminator());
  RuleBuilder r(builder, op.getLoc());
  SmallVector<Value> tangents;
  for (Value yielded : body.getTerminator()->getOperands())
    if (isFloatTensor(yielded))
      tangents.push_back(forward.tangentOrZero(r, yielded));
  replaceByBody(op, body, tangents, op.getInputs().take_front(numArgs));
  return success();
}

static bool isInTransform(Operation *op) {
  return op->getParentOfType<VjpOp>() || op->getParentOfType<JvpOp>();
}

static LogicalResult expand(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](VjpOp vjp) { return expandVjp(vjp); })
      .Case<JvpOp>(expandJvp)
      .Case<MapOp>(expandMap);
}

namespace {

struct DifferentiatePass
    : PassWrapper<DifferentiatePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DifferentiatePass)
  StringRef getArgument() const final { return "astra-differentiate"; }
  StringRef getDescription() const final {
    return "Replace derivatives by the operations that compute them";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<AstraDialect>();
  }

  void runOnOperation() final {
    // Inner before outer; a map inside a derivative becomes batched operations
    // first, one outside is left to the batching pass.
    SmallVector<Operation *> transforms;
    getOperation().walk([&](Operation *op) {
      if (isa<VjpOp, JvpOp>(op) || (isa<MapOp>(op) && isInTransform(op)))
        transforms.push_back(op);
    });
    for (Operation *op : transforms)
      if (failed(expand(op)))
        return signalPassFailure();
    cleanUp(getOperation());
    inlineRegions(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> createDifferentiatePass() {
  return std::make_unique<DifferentiatePass>();
}

void registerTransformPasses() {
  registerPass(createDifferentiatePass);
  registerPass(createBatchPass);
}
} // namespace astra
