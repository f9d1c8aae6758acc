// Memory planning: each buffer of a function is live from its first to its last
// use; buffers that are never live together share a place, and so does a result
// that its kernel can write over an operand used there for the last time. Sizes
// are dimension expressions, so a place is shared only where one size provably
// holds the other. Part of the pass `calls`.
#include "dialect/Lowering.h"
#include "passes/BufferUse.h"
#include "passes/Passes.h"

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
  unsigned made = 0, begin = 0, end = 0;
  Operation *first = nullptr; // the use at `begin`
  Dim bytes;
  size_t place = 0;
};

class MemoryPlan {
public:
  explicit MemoryPlan(func::FuncOp function) : function(function) {}
  LogicalResult run();

private:
  void number();
  void findUses(Buffer &buffer);
  void choosePlaces();
  std::optional<size_t> takeOperand(Buffer &buffer);
  size_t takePlace(const Dim &bytes);
  LogicalResult assignOffsets();
  void dropCopies();

  func::FuncOp function;
  DenseMap<Operation *, unsigned> order;
  DenseMap<Operation *, unsigned> lastInside;
  std::vector<Buffer> buffers;
  std::vector<Dim> places;
  std::vector<size_t> free;
  std::multimap<unsigned, Buffer *> live; // by end
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
      buffers.push_back({alloc, order[op], order[op], order[op], nullptr,
                         calls::getElementCount(type.getShapeDims()) * width,
                         0});
    }
  });
}

/// A use inside a loop is a use from the loop's begin to its end.
void MemoryPlan::findUses(Buffer &buffer) {
  Block *home = buffer.alloc->getBlock();
  forEachUse(buffer.alloc.getView(), [&](Operation *user) {
    Operation *op = home->findAncestorOpInBlock(*user);
    op = op ? op : user;
    buffer.end = std::max(buffer.end, lastInside[op]);
    if (isa<calls::ViewOp>(op) ||
        (buffer.first && order[buffer.first] <= order[op]))
      return;
    buffer.first = op;
    buffer.begin = order[op];
  });
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

/// The place of an operand that ends where the buffer begins, if the kernel
/// there works in place.
std::optional<size_t> MemoryPlan::takeOperand(Buffer &buffer) {
  auto [at, end] = live.equal_range(buffer.begin);
  for (; at != end; ++at) {
    Buffer &operand = *at->second;
    if (!worksInPlace(buffer.first, operand.alloc.getView(),
                      buffer.alloc.getView()))
      continue;
    size_t place = operand.place;
    live.erase(at);
    return place;
  }
  return std::nullopt;
}

void MemoryPlan::choosePlaces() {
  llvm::sort(buffers, [](const Buffer &a, const Buffer &b) {
    return std::tie(a.begin, a.made) < std::tie(b.begin, b.made);
  });
  for (Buffer &buffer : buffers) {
    while (!live.empty() && live.begin()->first < buffer.begin) {
      free.push_back(live.begin()->second->place);
      live.erase(live.begin());
    }
    std::optional<size_t> operand = takeOperand(buffer);
    buffer.place = operand ? *operand : takePlace(buffer.bytes);
    live.emplace(buffer.end, &buffer);
  }
}

static bool isMultiple(const Dim &bytes) {
  return Dim::mod(bytes, Dim::constant(Alignment)) == Dim();
}

/// Places whose sizes keep the alignment come first. Behind them the offsets
/// are unaligned, and each place has room to round its address up: a sum of
/// sizes is a short expression, a sum of rounded sizes is not.
LogicalResult MemoryPlan::assignOffsets() {
  std::vector<std::string> offsets(places.size());
  Dim total;
  for (bool rounded : {false, true})
    for (const auto &[index, bytes] : llvm::enumerate(places)) {
      std::optional<int64_t> constant = bytes.asConstant();
      if ((constant || isMultiple(bytes)) == rounded)
        continue;
      offsets[index] = total.str();
      total = total +
              (constant
                   ? Dim::constant(int64_t(llvm::alignTo(*constant, Alignment)))
                   : bytes);
      if (rounded)
        total = total + Dim::constant(Alignment);
    }
  if (total.hasOverflow())
    return function.emitError("the memory that this function needs does not "
                              "fit 64 bits, or its expression is too long");
  OpBuilder builder(function.getContext());
  for (Buffer &buffer : buffers)
    buffer.alloc.setOffset(StringRef(offsets[buffer.place]));
  // A workspace of extent 0 is still asked for.
  if (!buffers.empty() && total == Dim())
    total = Dim::constant(Alignment);
  function->setAttr("calls.workspace", builder.getStringAttr(total.str()));
  return success();
}

/// Copies that planning has made needless: from a place to itself.
void MemoryPlan::dropCopies() {
  function.walk([](calls::KernelOp op) {
    if (!op.getKernel().starts_with("copy_"))
      return;
    auto from = op.getInputs()[0].getDefiningOp<calls::AllocOp>();
    auto to = op.getOutputs()[0].getDefiningOp<calls::AllocOp>();
    if (from && to && from.getOffset() == to.getOffset() &&
        from.getType() == to.getType())
      op->erase();
  });
}

static void describeDonations(func::FuncOp function) {
  SmallVector<int64_t> words;
  for (auto [output, input] : findDonations(function))
    words.append({output, input});
  if (!words.empty())
    function->setAttr("calls.donations",
                      DenseI64ArrayAttr::get(function.getContext(), words));
}

LogicalResult MemoryPlan::run() {
  joinLoopStates(function);
  writeToOutputs(function);
  number();
  for (Buffer &buffer : buffers)
    findUses(buffer);
  choosePlaces();
  if (failed(assignOffsets()))
    return failure();
  dropCopies();
  describeDonations(function);
  return success();
}
} // namespace

LogicalResult astra::planMemory(func::FuncOp function) {
  return MemoryPlan(function).run();
}
