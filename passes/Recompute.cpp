// Results of fused kernels that cost less to compute again than to keep. What a
// few sums and products make of values that a later kernel reads anyway is made
// in that kernel: the one writes it no more, the other does not read it, and no
// memory holds it in between. Derivatives have many such values. The operations
// and their operands stay the same, and so do the bits.
#include "passes/Fusion.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace astra;

/// Operations that take less time than an element's way through memory.
static bool isCheap(Operation *op) {
  return isa<AddOp, SubOp, MulOp, NegOp>(op);
}

namespace {
/// How a later kernel makes values of an earlier one.
class Recipe {
public:
  Recipe(FusedOp maker, FusedOp user) : maker(maker), user(user) {}

  /// Can a value of the maker's region be made, in few steps, of what the user
  /// reads?
  bool isEasy(Value value) {
    llvm::SmallPtrSet<Operation *, 8> steps;
    return isEasy(value, steps);
  }
  /// Makes it at the beginning of the user's region.
  Value make(Value value);

private:
  static constexpr size_t mostSteps = 8;

  bool isEasy(Value value, llvm::SmallPtrSet<Operation *, 8> &steps);
  /// What the user calls an argument of the maker, or null.
  Value findOwn(BlockArgument argument) {
    Value input = maker.getInputs()[argument.getArgNumber()];
    for (auto [given, own] :
         llvm::zip(user.getInputs(), user.getBody().getArguments()))
      if (given == input)
        return own;
    return nullptr;
  }

  FusedOp maker, user;
  IRMapping mapping;
  Operation *last = nullptr; // that was made
};

bool Recipe::isEasy(Value value, llvm::SmallPtrSet<Operation *, 8> &steps) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return findOwn(argument) != nullptr;
  Operation *op = value.getDefiningOp();
  if (isa<ConstOp>(op) || steps.contains(op))
    return true;
  if (!isCheap(op) || steps.size() == mostSteps)
    return false;
  steps.insert(op);
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isEasy(operand, steps); });
}

Value Recipe::make(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    mapping.map(value, findOwn(argument));
    return mapping.lookup(value);
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    make(operand);
  OpBuilder builder = OpBuilder::atBlockBegin(&user.getBody().front());
  if (last)
    builder.setInsertionPointAfter(last);
  last = builder.clone(*op, mapping);
  return mapping.lookup(value);
}
} // namespace

static Value yieldedAs(OpResult result) {
  Block &body = cast<FusedOp>(result.getOwner()).getBody().front();
  return body.getTerminator()->getOperand(result.getResultNumber());
}

/// Is every user a kernel that can make the value itself? Those that fold rows
/// would make it in each of their passes.
static bool isBetterMadeAgain(OpResult result) {
  auto maker = cast<FusedOp>(result.getOwner());
  return !result.use_empty() &&
         llvm::all_of(result.getUsers(), [&](Operation *op) {
           auto user = dyn_cast<FusedOp>(op);
           return user && user.getRows() == 0 &&
                  Recipe(maker, user).isEasy(yieldedAs(result));
         });
}

/// Makes the values in one of their users.
static void makeAgain(FusedOp user, FusedOp maker,
                      const llvm::SmallSetVector<Value, 8> &results) {
  Recipe recipe(maker, user);
  Block &body = user.getBody().front();
  for (size_t i = user.getInputs().size(); i-- > 0;) {
    auto result = dyn_cast<OpResult>(user.getInputs()[i]);
    if (!result || !results.contains(result))
      continue;
    body.getArgument(i).replaceAllUsesWith(recipe.make(yieldedAs(result)));
    user->eraseOperand(i);
    body.eraseArgument(i);
  }
}

/// Leaves out results without users and what only they need.
static void dropUnused(FusedOp op) {
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  SmallVector<Value> results;
  SmallVector<Type> types;
  for (OpResult result : llvm::reverse(op->getResults()))
    if (result.use_empty())
      yield->eraseOperand(result.getResultNumber());
    else
      results.insert(results.begin(), result);
  SmallVector<Operation *> work;
  for (Operation &inner : body.without_terminator())
    work.push_back(&inner);
  for (Operation *inner : llvm::reverse(work))
    if (inner->use_empty())
      inner->erase();
  for (size_t i = op.getInputs().size(); i-- > 0;)
    if (body.getArgument(i).use_empty()) {
      op->eraseOperand(i);
      body.eraseArgument(i);
    }
  if (results.empty())
    return op.erase();
  for (Value result : results)
    types.push_back(result.getType());
  OpBuilder builder(op);
  auto smaller = FusedOp::create(builder, op.getLoc(), types, op.getInputs(),
                                 op.getRows());
  smaller.getBody().takeBody(op.getBody());
  for (auto [old, result] : llvm::zip(results, smaller.getResults()))
    old.replaceAllUsesWith(result);
  op.erase();
}

void astra::recomputeCheapResults(Operation *root) {
  SmallVector<FusedOp> makers;
  root->walk([&](FusedOp op) { makers.push_back(op); });
  for (FusedOp maker : makers) {
    llvm::SmallSetVector<Value, 8> results;
    llvm::SmallSetVector<Operation *, 8> users;
    for (OpResult result : maker->getResults())
      if (isBetterMadeAgain(result)) {
        results.insert(result);
        users.insert(result.user_begin(), result.user_end());
      }
    for (Operation *user : users)
      makeAgain(cast<FusedOp>(user), maker, results);
    if (!results.empty())
      dropUnused(maker);
  }
}
