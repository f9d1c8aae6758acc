// A product whose result nothing reads but one fused kernel without folds of
// the same shape becomes one call with it (kernels/FusedProduct.h): the result
// has no memory of its own. Done on calls, before places are chosen; the
// product moves to where the fused kernel stands. Part of the pass `calls`.
#include "kernels/KernelTable.h"
#include "passes/BufferUse.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace astra;

/// The kernel that is a product and a map of its result, or null.
static const KernelRow *findJoined(calls::KernelOp product) {
  auto [op, dtype] = product.getKernel().split('_');
  return findKernel((op + "_map_" + dtype).str());
}

/// The product that makes `view` for one reader, if it can be joined with it.
static calls::KernelOp findProduct(Value view) {
  auto alloc = view.getDefiningOp<calls::AllocOp>();
  if (!alloc || !view.hasNUses(2))
    return {};
  for (Operation *user : view.getUsers())
    if (auto product = dyn_cast<calls::KernelOp>(user);
        product && llvm::equal(product.getOutputs(), ValueRange(view)) &&
        findJoined(product))
      return product;
  return {};
}

/// Memory that is no other value's: the parts of a loop's state may be.
static bool isOwnMemory(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return !argument || isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Whether a product may be computed as late as at `last`: up to there nothing
/// writes what may be an operand.
static bool canMove(calls::KernelOp product, Operation *last) {
  if (product->getBlock() != last->getBlock() ||
      !product->isBeforeInBlock(last))
    return false;
  llvm::SmallPtrSet<Value, 4> read;
  for (Value input : product.getInputs())
    read.insert(getRoot(input));
  for (Operation *op = product->getNextNode(); op != last;
       op = op->getNextNode()) {
    if (isMemoryEffectFree(op) || isa<calls::AllocOp>(op))
      continue;
    auto kernel = dyn_cast<calls::KernelOp>(op);
    if (!kernel || llvm::any_of(kernel.getOutputs(), [&](Value output) {
          Value root = getRoot(output);
          return read.contains(root) || !isOwnMemory(root);
        }))
      return false;
  }
  return true;
}

static void join(calls::KernelOp product, calls::KernelOp map, unsigned place) {
  OpBuilder builder(map);
  SmallVector<Value> inputs(product.getInputs());
  for (const auto &[index, input] : llvm::enumerate(map.getInputs()))
    if (index != place)
      inputs.push_back(input);
  SmallVector<Attribute> params = {map.getParams()[0],
                                   builder.getI64IntegerAttr(place)};
  llvm::append_range(params, product.getParams());
  const KernelRow *row = findJoined(product);
  calls::KernelOp::create(builder, product.getLoc(), row->name, inputs,
                          map.getOutputs(), builder.getArrayAttr(params),
                          row->version);
  Operation *alloc = map.getInputs()[place].getDefiningOp();
  product.erase();
  map.erase();
  alloc->erase();
}

/// Of several products the last one is joined: the others are far from the map.
static void joinLast(calls::KernelOp map) {
  calls::KernelOp last;
  unsigned place = 0;
  for (const auto &[index, input] : llvm::enumerate(map.getInputs()))
    if (calls::KernelOp product = findProduct(input);
        product && canMove(product, map) &&
        (!last || last->isBeforeInBlock(product))) {
      last = product;
      place = index;
    }
  if (last)
    join(last, map, place);
}

void astra::joinProducts(func::FuncOp function) {
  SmallVector<calls::KernelOp> maps;
  function.walk([&](calls::KernelOp op) {
    if (op.getKernel() == "fused_map")
      maps.push_back(op);
  });
  llvm::for_each(maps, joinLast);
}
