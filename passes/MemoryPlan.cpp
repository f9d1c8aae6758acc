// Memory planning: each buffer of a function is live from its allocation to its
// last use; buffers that are never live together share a place. Sizes are
// dimension expressions, so a place is shared only where one size provably
// holds the other. Part of the pass `calls`.
#include "dialect/CallsOps.h"
#include "dialect/Lowering.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace astra;

namespace {
constexpr int64_t Alignment = 64;
/// How many free places are compared with a size that none equals.
constexpr size_t MostCompared = 32;

struct Buffer {
  calls::AllocOp alloc;
  unsigned begin = 0, end = 0;
  Dim bytes;
  size_t place = 0;
};

class MemoryPlan {
public:
  explicit MemoryPlan(func::FuncOp function) : function(function) {}
  LogicalResult run();

private:
  void number();
  unsigned findEnd(calls::AllocOp alloc);
  void choosePlaces();
  size_t takePlace(const Dim &bytes);
  LogicalResult assignOffsets();

  func::FuncOp function;
  DenseMap<Operation *, unsigned> order;
  DenseMap<Operation *, unsigned> lastInside;
  std::vector<Buffer> buffers;
  std::vector<Dim> places;
  std::vector<size_t> free;
};

/// Numbers operations in program order; regions come behind their operation.
void MemoryPlan::number() {
  unsigned next = 0;
  function.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { order[op] = next++; });
  function.walk<WalkOrder::PostOrder>([&](Operation *op) {
    unsigned last = order[op];
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          last = std::max(last, lastInside[&block.back()]);
    lastInside[op] = last;
    if (auto alloc = dyn_cast<calls::AllocOp>(op)) {
      auto type = alloc.getView().getType();
      Dim width = Dim::constant(calls::getByteWidth(type.getElementType()));
      buffers.push_back({alloc, order[op], 0,
                         calls::getElementCount(type.getShapeDims()) * width,
                         0});
    }
  });
}

/// The last use of the memory under any name: views of it, and the state of a
/// loop that it enters, whose buffers may all stand for each other.
unsigned MemoryPlan::findEnd(calls::AllocOp alloc) {
  Block *home = alloc->getBlock();
  unsigned end = order[alloc];
  SmallVector<Value> work = {alloc.getView()};
  llvm::SmallPtrSet<void *, 16> seen;
  auto follow = [&](Value value) {
    if (isa<calls::ViewType>(value.getType()) &&
        seen.insert(value.getAsOpaquePointer()).second)
      work.push_back(value);
  };
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      // A use inside a loop is a use until the loop ends.
      Operation *outer = home->findAncestorOpInBlock(*user);
      end = std::max(end, lastInside[outer ? outer : user]);
      if (auto view = dyn_cast<calls::ViewOp>(user))
        follow(view.getView());
      if (!isa<scf::ForOp, scf::WhileOp>(user))
        continue;
      llvm::for_each(user->getResults(), follow);
      for (Region &region : user->getRegions())
        llvm::for_each(region.getArguments(), follow);
    }
  return end;
}

size_t MemoryPlan::takePlace(const Dim &bytes) {
  // The one freed last is warm: look from the end.
  std::optional<size_t> fitting, growing;
  for (size_t i = free.size(); i > 0 && free.size() - i < 4096; --i) {
    const Dim &size = places[free[i - 1]];
    if (size == bytes) {
      fitting = i - 1;
      growing.reset();
      break;
    }
    if (free.size() - i >= MostCompared)
      continue;
    if (!fitting && isNeverNegative(size - bytes))
      fitting = i - 1;
    else if (!growing && isNeverNegative(bytes - size))
      growing = i - 1;
  }
  std::optional<size_t> chosen = fitting ? fitting : growing;
  if (!chosen) {
    places.push_back(bytes);
    return places.size() - 1;
  }
  size_t place = free[*chosen];
  free.erase(free.begin() + *chosen);
  if (!fitting)
    places[place] = bytes;
  return place;
}

void MemoryPlan::choosePlaces() {
  llvm::sort(buffers, [](const Buffer &a, const Buffer &b) {
    return a.begin < b.begin;
  });
  std::multimap<unsigned, size_t> live; // by end
  for (Buffer &buffer : buffers) {
    while (!live.empty() && live.begin()->first < buffer.begin) {
      free.push_back(live.begin()->second);
      live.erase(live.begin());
    }
    buffer.place = takePlace(buffer.bytes);
    live.emplace(buffer.end, buffer.place);
  }
}

static Dim alignUp(const Dim &bytes) {
  Dim step = Dim::constant(Alignment);
  if (Dim::mod(bytes, step) == Dim())
    return bytes;
  return Dim::floordiv(bytes + Dim::constant(Alignment - 1), step) * step;
}

LogicalResult MemoryPlan::assignOffsets() {
  std::vector<std::string> offsets;
  Dim total;
  for (const Dim &bytes : places) {
    offsets.push_back(total.str());
    total = total + alignUp(bytes);
  }
  if (total.hasOverflow())
    return function.emitError("the memory that this function needs does not "
                              "fit 64 bits, or its expression is too long");
  OpBuilder builder(function.getContext());
  for (Buffer &buffer : buffers)
    buffer.alloc.setOffset(StringRef(offsets[buffer.place]));
  // A workspace of extent 0 is still asked for.
  if (!buffers.empty())
    total = total + Dim::constant(Alignment);
  function->setAttr("calls.workspace", builder.getStringAttr(total.str()));
  return success();
}

LogicalResult MemoryPlan::run() {
  number();
  for (Buffer &buffer : buffers)
    buffer.end = findEnd(buffer.alloc);
  choosePlaces();
  return assignOffsets();
}
} // namespace

LogicalResult astra::planMemory(func::FuncOp function) {
  return MemoryPlan(function).run();
}
