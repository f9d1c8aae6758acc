// The derivative of a contraction: two more, each with the other operand, with
// the operands in the order that gives the wanted axes without a transpose
// where there is such an order.
#include "dialect/Builder.h"

using namespace mlir;

namespace astra {

namespace {
/// One operand of a contraction and what its axes are.
struct Side {
  Value value;
  Axes batch, over, free;
};
} // namespace

/// The places in a result [batch, free of a, free of b] where b's or a's free
/// axes begin.
static Axes rangeFrom(int64_t begin, int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(begin, begin + count));
}

/// The cotangent of `self`: the product of `d` and `other` over the free axes
/// of `other`, which lie at `otherFree` in `d`.
static Value cotangentOf(RuleBuilder &r, const Side &self, const Side &other,
                         Value d, ArrayRef<int64_t> selfFree,
                         ArrayRef<int64_t> otherFree) {
  int64_t batches = self.batch.size();
  Axes batchD = iotaAxes(batches);
  // Axes of `self` in the order in which the product will have them: batch,
  // then the free axes of d (those of self), then the free axes of other (its
  // summed axes, ascending, paired with those of self); or the last two
  // swapped.
  Axes summed;
  Axes order = other.over;
  llvm::sort(order);
  for (int64_t axis : order)
    summed.push_back(
        self.over[llvm::find(other.over, axis) - other.over.begin()]);
  Axes straight = self.batch, swapped = self.batch;
  llvm::append_range(straight, self.free);
  llvm::append_range(straight, summed);
  llvm::append_range(swapped, summed);
  llvm::append_range(swapped, self.free);
  bool swap = llvm::is_sorted(swapped) && !llvm::is_sorted(straight);
  Value product = swap ? r.contract(other.value, d, other.batch, batchD,
                                    other.free, otherFree)
                       : r.contract(d, other.value, batchD, other.batch,
                                    otherFree, other.free);
  const Axes &axes = swap ? swapped : straight;
  Axes perm(axes.size());
  for (auto [i, axis] : llvm::enumerate(axes))
    perm[axis] = i;
  return r.transpose(product, perm);
}

static std::pair<Side, Side> sidesOf(ContractOp op) {
  auto list = [](ArrayRef<int64_t> axes) { return Axes(axes); };
  Side a{op.getLhs(), list(op.getBatchA()), list(op.getContractA()),
         op.getFreeA()};
  Side b{op.getRhs(), list(op.getBatchB()), list(op.getContractB()),
         op.getFreeB()};
  return {a, b};
}

LogicalResult ContractOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                   SmallVectorImpl<Value> &operandCotangents) {
  RuleBuilder r(builder, getLoc());
  auto [a, b] = sidesOf(*this);
  int64_t batches = a.batch.size();
  Axes freeA = rangeFrom(batches, a.free.size());
  Axes freeB = rangeFrom(batches + a.free.size(), b.free.size());
  Value d = cotangents[0];
  // For b the roles change: in d its free axes come last.
  operandCotangents[0] = cotangentOf(r, a, b, d, freeA, freeB);
  operandCotangents[1] = cotangentOf(r, b, a, d, freeB, freeA);
  return success();
}

LogicalResult ContractOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                   SmallVectorImpl<Value> &resultTangents) {
  RuleBuilder r(builder, getLoc());
  auto product = [&](Value x, Value y) {
    return r.contract(x, y, getBatchA(), getBatchB(), getContractA(),
                      getContractB());
  };
  Value sum;
  if (tangents[0])
    sum = product(tangents[0], getRhs());
  if (tangents[1])
    sum = r.add(sum, product(getLhs(), tangents[1]));
  resultTangents[0] = sum;
  return success();
}

} // namespace astra
