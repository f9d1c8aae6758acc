// Code motion for the derivative and batching passes: see Transforms.h.
#include "passes/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace astra {

SmallVector<Value> inlineBlock(OpBuilder &builder, Block &block,
                               ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value v) { return mapping.lookupOrDefault(v); });
}

SmallVector<Value> spliceBefore(Operation *op, Block &block,
                                ValueRange arguments) {
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  Operation *end = block.getTerminator();
  SmallVector<Value> results(end->getOperands());
  end->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations());
  return results;
}

Operation *rebuild(Operation *op, ValueRange operands, TypeRange types,
                   ArrayRef<NamedAttribute> changed) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (NamedAttribute attribute : changed)
    attributes.set(attribute.getName(), attribute.getValue());
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttributes(attributes);
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *made = OpBuilder(op).create(state);
  for (auto [to, from] : llvm::zip_equal(made->getRegions(), op->getRegions()))
    to.takeBody(from);
  return made;
}

LogicalResult requireRule(Operation *op) {
  auto rule = dyn_cast<GradientOpInterface>(op);
  StringRef name = op->getName().stripDialect();
  if (!rule)
    return op->emitError("E0707: `") << name << "` has no derivative rule";
  if (!rule.nonDifferentiableReason().empty())
    return op->emitError("E0707: `")
           << name
           << "` cannot be differentiated: " << rule.nonDifferentiableReason();
  return success();
}

//===-- Own rules ---------------------------------------------------------===//

LogicalResult requireNoActiveCapture(CustomDerivativeOp op,
                                     const Activity &activity) {
  if (!activity.anyOf(capturesOf(op).getArrayRef()))
    return success();
  return op.emitError("a function with its own derivative uses a value "
                      "from outside that is differentiated; make it a "
                      "parameter");
}

FailureOr<SmallVector<Value>> transposeTangentRule(OpBuilder &builder,
                                                   CustomDerivativeOp op,
                                                   ValueRange operands) {
  // The gradient of the rule with respect to its tangents; where they are does
  // not matter, since the rule is linear in them.
  RuleBuilder r(builder, op.getLoc());
  unsigned numInputs = op.getInputs().size();
  SmallVector<Value> inputs(operands.take_front(numInputs));
  SmallVector<Type> types;
  Axes wrt;
  for (BlockArgument tangent :
       op.getJvp().front().getArguments().drop_front(numInputs)) {
    wrt.push_back(inputs.size());
    inputs.push_back(r.splatLike(tangent, 0));
  }
  int64_t numArgs = inputs.size();
  llvm::append_range(inputs, operands.drop_front(numInputs));
  llvm::append_range(types,
                     op.getJvp().front().getTerminator()->getOperandTypes());
  unsigned numValues = types.size();
  for (int64_t i : wrt)
    types.push_back(inputs[i].getType());
  auto vjp =
      VjpOp::create(builder, op.getLoc(), types, inputs,
                    {r.integer("num_args", numArgs), r.ints("wrt", wrt)});
  IRMapping mapping;
  op.getJvp().cloneInto(&vjp.getBody(), mapping);
  // Results of the expansion, kept alive through it.
  auto hold = YieldOp::create(builder, op.getLoc(),
                              vjp->getResults().drop_front(numValues));
  if (failed(expandVjp(vjp)))
    return failure();
  SmallVector<Value> parts(hold->getOperands());
  builder.setInsertionPointAfter(hold);
  hold->erase();
  return parts;
}

//===-- Rematerialisation -------------------------------------------------===//

/// Marks a region that the reverse pass runs again.
static constexpr llvm::StringLiteral kAgain = "again";

void captureAsInputs(RematOp op) {
  for (Value capture : capturesOf(op)) {
    op->insertOperands(op->getNumOperands(), capture);
    BlockArgument inside =
        op.getBody().addArgument(capture.getType(), op.getLoc());
    capture.replaceUsesWithIf(inside, [&](OpOperand &use) {
      return op.getBody().isAncestor(use.getOwner()->getParentRegion());
    });
  }
}

FailureOr<RematOp> buildRematVjp(OpBuilder &builder, RematOp op,
                                 ValueRange operands, unsigned numArgs,
                                 ArrayRef<int64_t> wrt,
                                 ArrayRef<Value> before) {
  RuleBuilder r(builder, op.getLoc());
  SmallVector<Type> gradients, results(op.getResultTypes());
  for (int64_t i : wrt)
    gradients.push_back(operands[i].getType());
  llvm::append_range(results, gradients);
  // The sums that go on come in behind the arguments and cotangents.
  SmallVector<Value> all(operands), inside(before);
  llvm::copy_if(before, std::back_inserter(all), [](Value v) { return !!v; });
  auto again =
      RematOp::create(builder, op.getLoc(), gradients, all,
                      {builder.getNamedAttr(kAgain, builder.getUnitAttr())});
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(all.size(), op.getLoc());
  Block *body = builder.createBlock(&again.getBody(), {},
                                    TypeRange(ValueRange(all)), locs);
  unsigned next = operands.size();
  for (Value &part : inside)
    if (part)
      part = body->getArgument(next++);
  auto vjp =
      VjpOp::create(builder, op.getLoc(), results,
                    body->getArguments().take_front(operands.size()),
                    {r.integer("num_args", numArgs), r.ints("wrt", wrt)});
  IRMapping mapping;
  op.getBody().cloneInto(&vjp.getBody(), mapping);
  YieldOp::create(builder, op.getLoc(),
                  vjp->getResults().take_back(gradients.size()));
  if (failed(expandVjp(vjp, inside)))
    return failure();
  return again;
}

void inlineRegions(Operation *root) {
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    if (isa<RematOp, CustomDerivativeOp>(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    OpBuilder builder(op);
    SmallVector<Value> inputs(op->getOperands());
    // To common subexpression elimination these are other values than those of
    // the forward pass; else it would undo the rematerialisation.
    if (op->hasAttr(kAgain))
      for (Value &input : inputs)
        if (isa<TensorType>(input.getType()))
          input =
              RuleBuilder(builder, op->getLoc()).unary<StopGradientOp>(input);
    op->replaceAllUsesWith(spliceBefore(op, op->getRegion(0).front(), inputs));
    op->erase();
  }
}

//===-- Clean-up ----------------------------------------------------------===//

void cleanUp(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  for (RegisteredOperationName name :
       root->getContext()->getRegisteredOperations())
    if (name.getDialectNamespace() == "astra")
      name.getCanonicalizationPatterns(patterns, root->getContext());
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setUseTopDownTraversal(true);
  (void)applyPatternsGreedily(root, std::move(patterns), config);
  DominanceInfo dominance(root);
  IRRewriter rewriter(root->getContext());
  eliminateCommonSubExpressions(rewriter, dominance, root);
}

} // namespace astra
