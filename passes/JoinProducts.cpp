// A product whose result nothing reads but one fused kernel without folds of
// the same shape becomes one call with it (kernels/FusedProduct.h), and so does
// a product of which such a kernel makes an operand that nothing else reads:
// what is between the two has no memory of its own. Done on calls, before
// places are chosen; the first of the two moves to where the other stands. Part
// of the pass `calls`.
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

/// Whether a kernel may run as late as at `last`: up to there nothing writes
/// what it may read.
static bool canMove(calls::KernelOp first, Operation *last) {
  if (first->getBlock() != last->getBlock() || !first->isBeforeInBlock(last))
    return false;
  llvm::SmallPtrSet<Value, 4> read;
  for (Value input : first.getInputs())
    read.insert(getRoot(input));
  for (Operation *op = first->getNextNode(); op != last;
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

//===-- Operands ----------------------------------------------------------===//

namespace {
/// What makes an operand: the map, and which of the map's axes those of the
/// operand are.
struct Maker {
  calls::KernelOp map;
  SmallVector<size_t> axes;
};
} // namespace

/// The axes of a buffer that those of a view of all of it are, or nothing.
static std::optional<SmallVector<size_t>> findAxes(calls::ViewType buffer,
                                                   calls::ViewType view) {
  SmallVector<size_t> axes;
  for (size_t to = 0; to < view.getRank(); ++to)
    for (size_t from = 0; from < buffer.getRank(); ++from)
      if (buffer.getShape()[from] == view.getShape()[to] &&
          buffer.getStrides()[from] == view.getStrides()[to] &&
          !llvm::is_contained(axes, from)) {
        axes.push_back(from);
        break;
      }
  if (axes.size() != view.getRank() || axes.size() != buffer.getRank())
    return std::nullopt;
  return axes;
}

/// The map that makes an operand of a product for it alone.
static std::optional<Maker> findMaker(calls::KernelOp product, Value operand) {
  Value buffer = operand;
  if (auto view = operand.getDefiningOp<calls::ViewOp>()) {
    if (view.getOffset() != "0" || !view.getIndices().empty() ||
        !operand.hasOneUse())
      return std::nullopt;
    buffer = view.getBase();
  }
  if (!buffer.getDefiningOp<calls::AllocOp>() || !buffer.hasNUses(2))
    return std::nullopt;
  auto axes = findAxes(cast<calls::ViewType>(buffer.getType()),
                       cast<calls::ViewType>(operand.getType()));
  for (Operation *user : buffer.getUsers())
    if (auto map = dyn_cast<calls::KernelOp>(user);
        axes && map && map.getKernel() == "fused_map" &&
        llvm::equal(map.getOutputs(), ValueRange(buffer)) &&
        canMove(map, product))
      return Maker{map, *axes};
  return std::nullopt;
}

/// A view with its axes in another order.
static Value arrange(OpBuilder &builder, Location loc, Value view,
                     ArrayRef<size_t> axes) {
  auto type = cast<calls::ViewType>(view.getType());
  SmallVector<Attribute> shape, strides;
  for (size_t axis : axes) {
    shape.push_back(type.getShape()[axis]);
    strides.push_back(type.getStrides()[axis]);
  }
  auto arranged = calls::ViewType::get(view.getContext(), type.getElementType(),
                                       builder.getArrayAttr(shape),
                                       builder.getArrayAttr(strides));
  if (arranged == type)
    return view;
  return calls::ViewOp::create(builder, loc, arranged, view, ValueRange(), "0",
                               builder.getArrayAttr({}));
}

/// The maker's inputs take the operand's place among the views; its plan and
/// that place come before the product's own parameters.
static void joinMaker(calls::KernelOp product, const KernelRow &row,
                      Maker maker, unsigned operand) {
  OpBuilder builder(product);
  SmallVector<Value> inputs;
  for (const auto &[index, input] : llvm::enumerate(product.getInputs()))
    if (index != operand)
      inputs.push_back(input);
    else
      for (Value made : maker.map.getInputs())
        inputs.push_back(arrange(builder, product.getLoc(), made, maker.axes));
  SmallVector<Attribute> params(product.getParams().getValue());
  Attribute own[] = {maker.map.getParams()[0],
                     builder.getI64IntegerAttr(operand)};
  params.insert(params.end() - 2, std::begin(own), std::end(own));
  calls::KernelOp::create(builder, product.getLoc(), row.name, inputs,
                          product.getOutputs(), builder.getArrayAttr(params),
                          row.version);
  Value made = product.getInputs()[operand];
  product.erase();
  maker.map.erase();
  if (auto view = made.getDefiningOp<calls::ViewOp>()) {
    made = view.getBase();
    view.erase();
  }
  made.getDefiningOp()->erase();
}

/// Of two operands that are made the right one is joined, which is mostly what
/// a model's weights are made of.
static void joinOperand(calls::KernelOp product) {
  const KernelRow *row = findKernel(("map_" + product.getKernel()).str());
  for (unsigned operand : {1u, 0u})
    if (row)
      if (auto maker = findMaker(product, product.getInputs()[operand]))
        return joinMaker(product, *row, *maker, operand);
}

void astra::joinProducts(func::FuncOp function) {
  auto collect = [&](auto isWanted) {
    SmallVector<calls::KernelOp> found;
    function.walk([&](calls::KernelOp op) {
      if (isWanted(op.getKernel()))
        found.push_back(op);
    });
    return found;
  };
  llvm::for_each(collect([](StringRef name) { return name == "fused_map"; }),
                 joinLast);
  llvm::for_each(
      collect([](StringRef name) { return name.starts_with("contract_"); }),
      joinOperand);
}
