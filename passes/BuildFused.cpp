// Moving a fusion group into one `astra.fused`: its inputs and outputs, the
// region, and users of its values that stood before it.
#include "mlir/IR/IRMapping.h"
#include "passes/Fusion.h"

using namespace mlir;
using namespace astra;

namespace {
class FusedBuilder {
public:
  explicit FusedBuilder(const FusionGroup &group) : group(group) {}
  void run();
  size_t countArguments();

private:
  void collect();
  void collectCopies();
  bool isUsedOutside(Value value) const;
  Location getLoc() const;
  Value map(Value operand);
  void fillBody(FusedOp fused);
  void replaceMembers(FusedOp fused);

  const FusionGroup &group;
  llvm::SmallSetVector<Value, 8> inputs;
  llvm::SmallSetVector<Operation *, 8> adaptors; // views inside
  SmallVector<Value> outputs;
  SmallVector<OpOperand *> copies; // what the last outputs are for
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
  collectCopies();
}

/// A value that leaves the block in several places is written to each of them,
/// and so is one that a scan was given and stacks: that is less than copies
/// cost.
void FusedBuilder::collectCopies() {
  Operation *end = group.getMembers().front()->getBlock()->getTerminator();
  auto scan = dyn_cast<ScanOp>(end->getParentOp());
  llvm::SmallPtrSet<Value, 8> written;
  for (OpOperand &use : end->getOpOperands()) {
    Value value = use.get();
    bool isStacked = scan && use.getOperandNumber() >= scan.getNumState() &&
                     isa<BlockArgument>(value) && inputs.contains(value) &&
                     group.getRows() == 0;
    bool isMade =
        group.contains(value.getDefiningOp()) && !written.insert(value).second;
    if (isStacked || isMade) {
      outputs.push_back(value);
      copies.push_back(&use);
    }
  }
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

/// What uses the results and stood before the operation goes behind it: views,
/// what can wait, and what these are used by.
static void sinkUsers(FusedOp fused) {
  llvm::SmallSetVector<Operation *, 8> users;
  SmallVector<Operation *> work = {fused};
  while (!work.empty())
    for (Operation *inner : work.pop_back_val()->getUsers())
      if (Operation *user = fused->getBlock()->findAncestorOpInBlock(*inner);
          user->isBeforeInBlock(fused) && users.insert(user))
        work.push_back(user);
  SmallVector<Operation *> inOrder(users.begin(), users.end());
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Operation *last = fused;
  for (Operation *user : inOrder) {
    user->moveAfter(last);
    last = user;
  }
}

void FusedBuilder::replaceMembers(FusedOp fused) {
  size_t made = outputs.size() - copies.size();
  for (auto [copy, result] :
       llvm::zip(copies, fused.getResults().drop_front(made)))
    copy->set(result);
  outputs.truncate(made);
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
  sinkUsers(fused);
}

size_t FusedBuilder::countArguments() {
  collect();
  return inputs.size() + outputs.size();
}

void FusedBuilder::run() {
  collect();
  if (inputs.empty())
    return;
  // Users of another group may have moved: the last one is what stands last.
  OpBuilder outside(
      *llvm::max_element(group.getMembers(), [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      }));
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  auto fused = FusedOp::create(outside, getLoc(), types, inputs.getArrayRef(),
                               group.getRows());
  fillBody(fused);
  replaceMembers(fused);
}
} // namespace

size_t FusionGroup::countArguments() const {
  return FusedBuilder(*this).countArguments();
}

void astra::buildFusedOp(const FusionGroup &group) {
  FusedBuilder(group).run();
}
