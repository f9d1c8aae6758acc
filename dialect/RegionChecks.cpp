// See RegionChecks.h.
#include "dialect/RegionChecks.h"

using namespace mlir;

namespace astra {

SmallVector<Type> getYieldedTypes(Region &region) {
  if (region.empty() || region.front().empty())
    return {};
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (!yield)
    return {};
  return SmallVector<Type>(yield.getValues().getTypes());
}

LogicalResult checkTypes(Operation *op, TypeRange found, TypeRange expected,
                         const Twine &what) {
  if (found.size() != expected.size())
    return op->emitOpError(what + " are ")
           << found.size() << " values, not " << expected.size();
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] != expected[i])
      return op->emitOpError(what + " differ: value ")
             << i << " has type " << found[i] << ", not " << expected[i];
  return success();
}

LogicalResult checkArguments(Operation *op, Region &region, TypeRange expected,
                             const Twine &constraint) {
  return checkTypes(op, region.getArgumentTypes(), expected,
                    constraint + " the region's arguments");
}

LogicalResult checkYields(Operation *op, Region &region, TypeRange expected,
                          const Twine &constraint) {
  if (region.empty() || region.front().empty() ||
      !isa<YieldOp>(region.front().back()))
    return op->emitOpError("a region does not end in astra.yield");
  return checkTypes(op, getYieldedTypes(region), expected,
                    constraint + " the yielded values");
}

} // namespace astra
