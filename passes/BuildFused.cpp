// Moving a fusion group into one `astra.fused`: its inputs and outputs, the
// region, and views of its values that stood before it.
#include "mlir/IR/IRMapping.h"
#include "passes/Fusion.h"

using namespace mlir;
using namespace astra;

/// What the plan of a fused kernel can hold (ASTRA_FUSED_MOST_SLOTS), less what
/// stages hand on.
static constexpr size_t MostArguments = 24;

namespace {
class FusedBuilder {
public:
  explicit FusedBuilder(const FusionGroup &group) : group(group) {}
  void run();

private:
  void collect();
  bool isUsedOutside(Value value) const;
  Location getLoc() const;
  Value map(Value operand);
  void fillBody(FusedOp fused);
  void replaceMembers(FusedOp fused);

  const FusionGroup &group;
  llvm::SmallSetVector<Value, 8> inputs;
  llvm::SmallSetVector<Operation *, 8> adaptors; // views inside
  SmallVector<Value> outputs;
  IRMapping mapping;
  OpBuilder *builder = nullptr;
};

static bool isSplat(Value value) { return value.getDefiningOp<ConstOp>(); }

void FusedBuilder::collect() {
  for (Operation *member : group.getMembers())
    for (Value operand : member->getOperands()) {
      if (Value own = group.findOwn(operand)) {
        for (Value at = operand; at != own;
             at = at.getDefiningOp()->getOperand(0))
          adaptors.insert(at.getDefiningOp());
      } else if (!isSplat(operand)) {
        inputs.insert(operand);
      }
    }
  for (Operation *member : group.getMembers())
    if (isUsedOutside(member->getResult(0)))
      outputs.push_back(member->getResult(0));
}

bool FusedBuilder::isUsedOutside(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (adaptors.contains(user))
      return isUsedOutside(user->getResult(0));
    return !group.contains(user);
  });
}

/// A failure is the extreme's, if there is one.
Location FusedBuilder::getLoc() const {
  for (Operation *member : group.getMembers())
    if (isa<MaxOp, MinOp>(member))
      return member->getLoc();
  return group.getMembers().back()->getLoc();
}

/// The value inside the region that an operand of a member stands for.
Value FusedBuilder::map(Value operand) {
  if (Value known = mapping.lookupOrNull(operand))
    return known;
  Operation *op = operand.getDefiningOp();
  if (adaptors.contains(op))
    map(op->getOperand(0));
  builder->clone(*op, mapping);
  return mapping.lookup(operand);
}

void FusedBuilder::fillBody(FusedOp fused) {
  Block &body = fused.getBody().emplaceBlock();
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  builder = &inside;
  for (Operation *member : group.getMembers()) {
    for (Value operand : member->getOperands())
      map(operand);
    inside.clone(*member, mapping);
  }
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(inside, fused.getLoc(), yielded);
}

/// Views of the results that stood before the operation go behind it.
static void sinkViews(FusedOp fused) {
  llvm::SmallSetVector<Operation *, 8> views;
  SmallVector<Operation *> work = {fused};
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers())
      if (user->getBlock() == fused->getBlock() &&
          user->isBeforeInBlock(fused) && views.insert(user))
        work.push_back(user);
  SmallVector<Operation *> inOrder(views.begin(), views.end());
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Operation *last = fused;
  for (Operation *view : inOrder) {
    view->moveAfter(last);
    last = view;
  }
}

void FusedBuilder::replaceMembers(FusedOp fused) {
  for (auto [output, result] : llvm::zip(outputs, fused.getResults()))
    output.replaceAllUsesWith(result);
  SmallVector<Operation *> views(adaptors.begin(), adaptors.end());
  llvm::sort(views,
             [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *member : llvm::reverse(group.getMembers())) {
    member->dropAllUses();
    member->erase();
  }
  for (Operation *view : views)
    if (view->use_empty())
      view->erase();
  sinkViews(fused);
}

void FusedBuilder::run() {
  collect();
  if (inputs.empty() || inputs.size() + outputs.size() > MostArguments)
    return;
  OpBuilder outside(group.getMembers().back());
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  auto fused = FusedOp::create(outside, getLoc(), types, inputs.getArrayRef(),
                               group.getRows());
  fillBody(fused);
  replaceMembers(fused);
}
} // namespace

void astra::buildFusedOp(const FusionGroup &group) {
  FusedBuilder(group).run();
}
