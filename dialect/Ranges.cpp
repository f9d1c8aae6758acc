// Bounds of integer tensors, see Ranges.h. Only what cannot wrap is followed.
#include "dialect/Ranges.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace astra {

/// Chains of definitions are followed this far.
static constexpr unsigned kMaxDepth = 8;

std::optional<Dim> getDimOf(Value value) {
  if (auto dim = value.getDefiningOp<DimValueOp>())
    return dim.getValue();
  auto constant = value.getDefiningOp<ConstOp>();
  if (!constant)
    return std::nullopt;
  auto attr = dyn_cast<IntegerAttr>(constant.getValue());
  if (!attr)
    return std::nullopt;
  const APInt &number = attr.getValue();
  bool isUnsigned = constant.getType().isUnsigned();
  if (isUnsigned ? number.getActiveBits() > 63 : !number.isSignedIntN(64))
    return std::nullopt;
  return Dim::constant(isUnsigned ? static_cast<int64_t>(number.getZExtValue())
                                  : number.getSExtValue());
}

static std::optional<ValueRangeOfDims> getBounds(Value value, unsigned depth);

/// A counter runs over [begin, end); the argument of a map or scan over what is
/// sliced.
static std::optional<ValueRangeOfDims> getArgumentBounds(BlockArgument arg,
                                                         unsigned depth) {
  Operation *op = arg.getOwner()->getParentOp();
  unsigned index = arg.getArgNumber();
  if (auto loop = dyn_cast_or_null<ForOp>(op)) {
    if (index != 0)
      return std::nullopt;
    std::optional<ValueRangeOfDims> begin = getBounds(loop.getBegin(), depth);
    std::optional<ValueRangeOfDims> end = getBounds(loop.getEnd(), depth);
    if (!begin || !end)
      return std::nullopt;
    return ValueRangeOfDims{begin->low, end->high - Dim::constant(1)};
  }
  if (auto map = dyn_cast_or_null<MapOp>(op))
    return getBounds(map.getInputs()[index], depth);
  if (auto scan = dyn_cast_or_null<ScanOp>(op))
    if (index >= scan.getNumState())
      return getBounds(scan.getInputs()[index], depth);
  return std::nullopt;
}

static std::optional<ValueRangeOfDims> getBounds(Value value, unsigned depth) {
  if (depth == 0)
    return std::nullopt;
  if (std::optional<Dim> dim = getDimOf(value))
    return ValueRangeOfDims{*dim, *dim};
  if (auto arg = dyn_cast<BlockArgument>(value))
    return getArgumentBounds(arg, depth - 1);
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast<IotaOp>(op)) {
    Dim extent = iota.getType().getDim(iota.getAxis());
    // A narrow iota may wrap.
    unsigned width = iota.getType().getElementType().getIntOrFloatBitWidth();
    if (width < 64 &&
        extent.asConstant().value_or(INT64_MAX) > (int64_t(1) << (width - 1)))
      return std::nullopt;
    return ValueRangeOfDims{Dim(), extent - Dim::constant(1)};
  }
  if (isa<BroadcastOp, ReshapeOp, TransposeOp, FlipOp, SliceOp, CheckShapeOp>(
          op))
    return getBounds(op->getOperand(0), depth - 1);
  return std::nullopt;
}

std::optional<ValueRangeOfDims> getBounds(Value value) {
  return getBounds(value, kMaxDepth);
}

bool isProvablyWithin(Value value, const Dim &last) {
  std::optional<ValueRangeOfDims> bounds = getBounds(value, kMaxDepth);
  return bounds && bounds->low.isProvablyNonNegative() &&
         (last - bounds->high).isProvablyNonNegative();
}

} // namespace astra
