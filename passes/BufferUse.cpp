// See BufferUse.h. The order of operations within one block is what MLIR keeps;
// a use inside a region counts as one of the operation that has the region.
#include "passes/BufferUse.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include <set>

using namespace mlir;
using namespace astra;

Value astra::getRoot(Value view) {
  while (auto op = view.getDefiningOp<calls::ViewOp>())
    view = op.getBase();
  return view;
}

void astra::forEachUse(Value buffer,
                       llvm::function_ref<void(Operation *)> visit) {
  SmallVector<Value> work = {buffer};
  llvm::SmallPtrSet<void *, 16> seen;
  auto follow = [&](Value value) {
    if (isa<calls::ViewType>(value.getType()) &&
        seen.insert(value.getAsOpaquePointer()).second)
      work.push_back(value);
  };
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      visit(user);
      if (auto view = dyn_cast<calls::ViewOp>(user))
        follow(view.getView());
      if (!isa<scf::ForOp, scf::WhileOp>(user))
        continue;
      // The buffers of a loop's state may all stand for each other.
      llvm::for_each(user->getResults(), follow);
      for (Region &region : user->getRegions())
        llvm::for_each(region.getArguments(), follow);
    }
}

UseSpan astra::findSpan(Value buffer, Block &block) {
  UseSpan span;
  forEachUse(buffer, [&](Operation *user) {
    Operation *op = block.findAncestorOpInBlock(*user);
    bool isCarried = op && op == block.getTerminator();
    if (!op || isCarried || isa<calls::ViewOp>(op))
      return;
    if (!span.first || op->isBeforeInBlock(span.first))
      span.first = op;
    if (!span.last || span.last->isBeforeInBlock(op))
      span.last = op;
  });
  return span;
}

//===-- Kernels that work in place ----------------------------------------===//

static bool isDenseView(Value value) {
  return cast<calls::ViewType>(value.getType()).isDense();
}

/// Whether a view holds all elements of its buffer, in their order.
static bool isWhole(Value view) {
  Value base = view;
  while (auto op = base.getDefiningOp<calls::ViewOp>()) {
    if (op.getOffset() != "0" || !op.getIndices().empty())
      return false;
    base = op.getBase();
  }
  auto count = [](Value value) {
    return calls::getElementCount(
        cast<calls::ViewType>(value.getType()).getShapeDims());
  };
  return base == view || (isDenseView(view) && count(view) == count(base));
}

/// One type; the strides of a function's input are those of dense memory where
/// it is taken the place of.
static bool haveOneType(Value from, Value to) {
  auto a = cast<calls::ViewType>(from.getType());
  auto b = cast<calls::ViewType>(to.getType());
  bool isInput = isa<BlockArgument>(from) && !isDenseView(from);
  return a == b || (isInput && a.getElementType() == b.getElementType() &&
                    a.getShape() == b.getShape());
}

/// The kernels that compute each element from those at its own place.
static bool isElementwise(StringRef kernel) {
  static const std::set<StringRef> names = {
#define UNARY(op, dtype, version, doc) #op "_" #dtype,
#define BINARY(op, dtype, version, doc) #op "_" #dtype,
#define INT_DIVIDE(op, dtype, version, doc) #op "_" #dtype,
#define POW_INT(op, dtype, version, doc) #op "_" #dtype,
#define ORDERED(op, dtype, version, doc) #op "_" #dtype,
#define SELECT(op, width, version, doc) #op "_" #width,
#define COPY(op, width, version, doc) #op "_" #width,
#include "kernels/kernels.def"
  };
  return names.count(kernel) != 0;
}

/// A scatter begins as a copy of x, which is none where it lies.
static bool isScatter(StringRef kernel) {
  return kernel.starts_with("scatter_");
}

/// Whether no stage reads slot `from` once a stage has written slot `to`; a
/// stage itself reads each element before it writes there.
static bool stagesAllow(calls::FusedOp fused, int64_t from, int64_t to) {
  bool written = false;
  for (auto stage : fused.getBody().getOps<calls::StageOp>()) {
    if (written && llvm::is_contained(stage.getInputs(), from))
      return false;
    written |= llvm::is_contained(stage.getOutputs(), to);
  }
  return true;
}

static calls::FusedOp getFused(calls::KernelOp op) {
  if (op.getParams().empty())
    return {};
  auto name = dyn_cast<FlatSymbolRefAttr>(op.getParams()[0]);
  return name ? SymbolTable::lookupNearestSymbolFrom<calls::FusedOp>(op, name)
              : calls::FusedOp();
}

/// Whether the kernel may have output `to` where input `from` is.
static bool allows(calls::KernelOp op, unsigned from, unsigned to) {
  if (calls::FusedOp fused = getFused(op)) {
    // What only makes an operand writes no result.
    StringRef name = op.getKernel();
    if (name.starts_with("map_") && !name.contains("_map_"))
      return false;
    size_t views = op.getInputs().size() + op.getOutputs().size();
    // With a product, the fused kernel has all views but its operands, and the
    // product itself. Operands are read until the last element is written.
    if (fused.getArgs() < views)
      return from + fused.getArgs() > views;
    return stagesAllow(fused, from, op.getInputs().size() + to);
  }
  return isElementwise(op.getKernel()) ||
         (isScatter(op.getKernel()) && from == 0);
}

bool astra::worksInPlace(Operation *op, Value from, Value to) {
  auto kernel = dyn_cast<calls::KernelOp>(op);
  if (!kernel)
    return false;
  std::optional<unsigned> place;
  for (const auto &[index, output] : llvm::enumerate(kernel.getOutputs())) {
    Value root = getRoot(output);
    if (root == from || (root == to && (place || !isWhole(output))))
      return false;
    if (root == to)
      place = index;
  }
  if (!place)
    return false;
  Value output = kernel.getOutputs()[*place];
  bool isRead = false;
  for (const auto &[index, input] : llvm::enumerate(kernel.getInputs())) {
    if (getRoot(input) == to)
      return false;
    if (getRoot(input) != from)
      continue;
    if (!isWhole(input) || !haveOneType(input, output) ||
        !allows(kernel, index, *place))
      return false;
    isRead = true;
  }
  return isRead;
}

bool astra::canFollow(Value from, Operation *last, Value to, Operation *next) {
  return !last || !next || last->isBeforeInBlock(next) ||
         (last == next && worksInPlace(next, from, to));
}

//===-- Loops -------------------------------------------------------------===//

/// Whether the body can write the next state where the current one is.
static bool isInPlace(Value current, Value next, Block &body) {
  UseSpan reads = findSpan(current, body), writes = findSpan(next, body);
  return writes.first && canFollow(current, reads.last, next, writes.first);
}

/// Whether one buffer does for a part of the state: the body leaves it as it
/// is, or yields the two swapped and can work in place.
static bool canJoin(Value current, Value next, ValueRange yielded, size_t at,
                    Block &body) {
  if (yielded[at] == current && yielded[at + 1] == next)
    return !findSpan(next, body).first;
  return yielded[at] == next && yielded[at + 1] == current &&
         isInPlace(current, next, body);
}

/// Loops keep (current, next) side by side in their state.
template <class LoopOp>
static void joinStates(LoopOp loop, Block &body, OperandRange inits,
                       Block::BlockArgListType arguments) {
  ValueRange yielded = body.getTerminator()->getOperands();
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    Value current = arguments[i], next = arguments[i + 1];
    auto first = inits[i].template getDefiningOp<calls::AllocOp>();
    auto second = inits[i + 1].template getDefiningOp<calls::AllocOp>();
    if (!first || !second || first == second ||
        first.getType() != second.getType() ||
        !canJoin(current, next, yielded, i, body))
      continue;
    Value buffer = first.getView();
    second.getView().replaceAllUsesWith(buffer);
    second->erase();
    // Nothing of it moves any more: all names become the buffer's.
    for (size_t k : {i, i + 1}) {
      loop->getResult(k).replaceAllUsesWith(buffer);
      for (Region &region : loop->getRegions()) {
        size_t others = region.getNumArguments() - arguments.size();
        region.getArgument(others + k).replaceAllUsesWith(buffer);
      }
    }
    ++i;
  }
}

static bool isCopy(calls::KernelOp op) {
  return op.getKernel().starts_with("copy_");
}

/// Copies of a buffer to itself.
static void dropCopies(func::FuncOp function) {
  function.walk([](calls::KernelOp op) {
    if (isCopy(op) && op.getInputs()[0] == op.getOutputs()[0])
      op->erase();
  });
}

void astra::joinLoopStates(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      joinStates(loop, *loop.getBody(), loop.getInitArgs(),
                 loop.getRegionIterArgs());
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      joinStates(loop, *loop.getAfterBody(), loop.getInits(),
                 loop.getAfterArguments());
  });
  dropCopies(function);
}

//===-- Inputs and outputs ------------------------------------------------===//

static unsigned countInputs(func::FuncOp function) {
  auto outputs = function->getAttrOfType<IntegerAttr>("calls.outputs");
  return function.getNumArguments() - (outputs ? outputs.getInt() : 0);
}

/// Whether an output first used in `next` may have an input's memory.
static bool canDonate(Value input, Value output, Operation *next,
                      Block &block) {
  return cast<calls::ViewType>(output.getType()).getRank() &&
         haveOneType(input, output) &&
         canFollow(input, findSpan(input, block).last, output, next);
}

/// Whether an output that is `buffer` too, and so in use from `earlier` instead
/// of `first`, can no more have the memory of an input that it could have.
static bool losesDonation(Value output, Operation *first, Value buffer,
                          Operation *earlier, Block &block, unsigned inputs) {
  return llvm::any_of(
      block.getArguments().take_front(inputs), [&](Value input) {
        return canDonate(input, output, first, block) &&
               !canFollow(input, findSpan(input, block).last, buffer, earlier);
      });
}

/// The buffer that `kernel`, the first to use an output, uses for the last time
/// and copies there or can have there; null if there is none.
static calls::AllocOp findPrecursor(Value output, calls::KernelOp kernel,
                                    Block &block, unsigned inputs) {
  for (Value input : kernel.getInputs()) {
    auto alloc = getRoot(input).getDefiningOp<calls::AllocOp>();
    if (!alloc || alloc->getBlock() != &block)
      continue;
    UseSpan span = findSpan(alloc.getView(), block);
    if (span.last != kernel)
      continue;
    if (isCopy(kernel) && isWhole(input) && input.getType() == output.getType())
      return alloc;
    if (worksInPlace(kernel, alloc.getView(), output) &&
        !losesDonation(output, kernel, alloc.getView(), span.first, block,
                       inputs))
      return alloc;
  }
  return {};
}

/// Buffers that end in an output which nothing has used before are that output,
/// perhaps of other extents.
void astra::writeToOutputs(func::FuncOp function) {
  Block &block = function.getBody().front();
  unsigned inputs = countInputs(function);
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (Value output : block.getArguments().drop_front(inputs)) {
    for (;;) {
      Operation *first = findSpan(output, block).first;
      auto kernel = dyn_cast_or_null<calls::KernelOp>(first);
      if (!kernel || !llvm::is_contained(kernel.getOutputs(), output))
        break;
      calls::AllocOp alloc = findPrecursor(output, kernel, block, inputs);
      if (!alloc)
        break;
      Value buffer = alloc.getView(), place = output;
      if (buffer.getType() != output.getType())
        place = calls::ViewOp::create(builder, alloc.getLoc(), buffer.getType(),
                                      output, ValueRange(), "0",
                                      builder.getArrayAttr({}));
      buffer.replaceAllUsesWith(place);
      alloc->erase();
      if (isCopy(kernel))
        kernel->erase();
    }
  }
}

SmallVector<std::pair<unsigned, unsigned>>
astra::findDonations(func::FuncOp function) {
  Block &block = function.getBody().front();
  unsigned inputs = countInputs(function);
  SmallVector<std::pair<unsigned, unsigned>> found;
  for (unsigned out = inputs; out < block.getNumArguments(); ++out) {
    Value output = block.getArgument(out);
    Operation *first = findSpan(output, block).first;
    for (unsigned in = 0; in < inputs; ++in)
      if (canDonate(block.getArgument(in), output, first, block))
        found.push_back({out - inputs, in});
  }
  return found;
}
