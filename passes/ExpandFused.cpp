// What softmax and its relations are inside a fused kernel: the maximum and the
// sum of a row, and operations on elements between them, in the order that
// docs/arithmetic.md fixes. Part of the lowering of `astra.fused`; nothing
// outside a kernel sees these operations.
#include "dialect/Builder.h"
#include "passes/CallsLowering.h"

using namespace mlir;
using namespace astra;

namespace {
/// One row that is folded twice. Small floats are computed in f32.
class RowExpansion {
public:
  RowExpansion(Operation *op, ArrayRef<int64_t> axes, OpBuilder &builder)
      : r(builder, op->getLoc()), axes(axes),
        element(typeOf(op->getResult(0)).getElementType()) {
    Type computed = element.isF64() ? element : builder.getF32Type();
    x = r.convert(op->getOperand(0), computed);
    largest = fold<MaxOp>(x);
    largest.getDefiningOp()->setAttr(TotalAttrName, builder.getUnitAttr());
  }

  /// exp(x - m) / s; a fully masked row gives 0.
  Value softmax() {
    Value shares = r.unary<ExpOp>(centre());
    return narrow(r.div(shares, spread(sumOrOne(shares))));
  }
  /// (x - m) - log(s); a fully masked row gives -infinity.
  Value logSoftmax() {
    Value centred = centre();
    Value sum = sumOrOne(r.unary<ExpOp>(centred));
    return narrow(r.sub(centred, spread(r.unary<LogOp>(sum))));
  }
  /// m + log(s), or m where that is infinite.
  Value logSumExp() {
    Value sum = fold<SumOp>(r.unary<ExpOp>(r.sub(x, spread(largest))));
    Value size = r.unary<AbsOp>(largest);
    Value isInfinite = r.compare<EqOp>(
        size, r.splatLike(size, std::numeric_limits<double>::infinity()));
    return narrow(
        r.select(isInfinite, largest, r.add(largest, r.unary<LogOp>(sum))));
  }

private:
  template <class Op> Value fold(Value value) {
    astra::TensorType type = typeOf(value);
    SmallVector<Dim> kept = type.getShape();
    kept.resize(kept.size() - axes.size());
    return r.make<Op>(
        astra::TensorType::get(type.getContext(), type.getElementType(), kept),
        {value}, {r.ints("axes", axes)});
  }
  Value spread(Value perRow) { return r.expand(perRow, x, axes); }
  Value narrow(Value value) { return r.convert(value, element); }

  /// x - m, and x where m is -infinity: all of it is then.
  Value centre() {
    masked = r.compare<EqOp>(
        largest,
        r.splatLike(largest, -std::numeric_limits<double>::infinity()));
    return r.sub(x, spread(r.select(masked, r.splatLike(largest, 0), largest)));
  }
  Value sumOrOne(Value shares) {
    Value sum = fold<SumOp>(shares);
    return r.select(masked, r.splatLike(sum, 1), sum);
  }

  RuleBuilder r;
  SmallVector<int64_t> axes;
  Type element;
  Value x, largest, masked;
};
} // namespace

static Value expand(Operation *op, OpBuilder &builder) {
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return RowExpansion(op, int64_t(softmax.getAxis()), builder).softmax();
  if (auto softmax = dyn_cast<LogSoftmaxOp>(op))
    return RowExpansion(op, int64_t(softmax.getAxis()), builder).logSoftmax();
  if (auto sum = dyn_cast<LogSumExpOp>(op))
    return RowExpansion(op, sum.getAxes(), builder).logSumExp();
  return {};
}

void astra::expandRowOperations(FusedOp fused) {
  SmallVector<Operation *> ops;
  for (Operation &op : fused.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    OpBuilder builder(op);
    if (Value value = expand(op, builder)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
}
