// Cotangents and their sums: see Cotangents.h.
#include "passes/Cotangents.h"

using namespace mlir;

namespace astra {

Value Cotangents::apply(RuleBuilder &r, const Cotangent &part) {
  if (!part.value || !part.condition)
    return part.value;
  Value zero = r.splatLike(part.value, 0);
  return part.whereTrue ? r.select(part.condition, part.value, zero)
                        : r.select(part.condition, zero, part.value);
}

/// Adding a part of a tensor to a sum adds only that part: a loop that reads
/// one element in each step must not touch the whole tensor in each.
static Value addPart(RuleBuilder &r, Value sum, Value part) {
  Operation *op = part.getDefiningOp();
  if (auto box = dyn_cast_or_null<UpdateSliceOp>(op)) {
    if (splatOf(box.getX()) != 0.0)
      return nullptr;
    SmallVector<Value> operands{sum, box.getValue()};
    llvm::append_range(operands, box.getIndices());
    return r.make<UpdateSliceOp>(sum.getType(), operands,
                                 {r.dims("starts", box.getStarts()),
                                  r.ints("dynamic_axes", box.getDynamicAxes()),
                                  r.unit("add")});
  }
  if (auto write = dyn_cast_or_null<TapeWriteOp>(op)) {
    if (!write.getTape().getDefiningOp<TapeNewOp>())
      return nullptr;
    return r.writeTape(sum, write.getIndex(), write.getValue(), /*add=*/true);
  }
  if (auto pad = dyn_cast_or_null<PadOp>(op)) {
    if (splatOf(pad.getFill()) != 0.0)
      return nullptr;
    return r.make<UpdateSliceOp>(sum.getType(), {sum, pad.getX()},
                                 {r.dims("starts", pad.getLow()),
                                  r.ints("dynamic_axes", {}), r.unit("add")});
  }
  auto scatter = dyn_cast_or_null<ScatterOp>(op);
  if (!scatter || !scatter.getAdd() || splatOf(scatter.getX()) != 0.0)
    return nullptr;
  return r.scatter(sum, scatter.getValue(), scatter.getIndices(),
                   scatter.getAxes(), /*add=*/true);
}

void Cotangents::add(RuleBuilder &r, Value of, Cotangent part) {
  if (!part.value)
    return;
  auto [it, fresh] = parts.try_emplace(of, part);
  if (fresh)
    return;
  Cotangent &sum = it->second;
  if (sum.condition && sum.condition == part.condition &&
      sum.whereTrue == part.whereTrue) {
    sum.value = r.add(sum.value, part.value);
    return;
  }
  Value before = apply(r, sum);
  Value after = part.condition ? nullptr : addPart(r, before, part.value);
  sum = {after ? after : r.add(before, apply(r, part)), nullptr, true};
}

Cotangent restrict(RuleBuilder &r, Cotangent part, Value condition,
                   bool whereTrue) {
  if (!part.condition)
    return {part.value, condition, whereTrue};
  if (part.condition == condition && part.whereTrue == whereTrue)
    return part;
  auto plain = [&](Value v, bool positive) {
    return positive ? v : r.unary<NotOp>(v);
  };
  Value both = r.binary<AndOp>(plain(part.condition, part.whereTrue),
                               plain(condition, whereTrue));
  return {part.value, both, true};
}

} // namespace astra
