// The kernel fused_rows: passes over a row that stays in cache, with folds
// (canonical sums, extremes) between them, and work on one value a row. Short
// rows, and rows that stand side by side in memory, are taken many at a time
// (FusedBeside.h); others one after the other (FusedAlong.h).
#ifndef ASTRA_KERNELS_FUSEDROWS_H
#define ASTRA_KERNELS_FUSEDROWS_H

#include "kernels/FusedAlong.h"
#include "kernels/FusedBeside.h"

ASTRA_KERNELS_BEGIN

class FusedRows {
public:
  FusedRows(const astra_fused_desc_t &plan, const astra_arg_t *args,
            const int64_t *widths)
      : shape(plan, args, widths) {}

  astra_outcome_t run(const astra_call_t *call) const {
    if (shape.rows.size() == 0)
      return ASTRA_OK;
    if (const char *name = shape.length == 0 ? findExtreme() : nullptr)
      return failOverNothing(call, name);
    if (shape.rows.size() < 8 && shape.length >= 8 * fusedGrain)
      return FusedAlong(shape).runWide(call);
    if (isBeside())
      return runBatches(call, FusedBeside(shape));
    return runBatches(call, FusedAlong(shape));
  }

private:
  /// Rows below it are never worth a pass each.
  static constexpr int64_t shortLength = 4 * blockLanes;

  template <class Loops>
  astra_outcome_t runBatches(const astra_call_t *call,
                             const Loops &loops) const {
    int64_t batch = loops.batch, grain = fusedGrain / (shape.length + 16) + 1;
    int64_t part = (grain / 4 + batch - 1) / batch * batch;
    bool enough = true;
    parallelFor(call, shape.rows.size(), grain, part,
                [&](int64_t begin, int64_t end) {
                  Scratch<char> memory(call, loops.roomBytes);
                  if (!memory) {
                    __atomic_store_n(&enough, false, __ATOMIC_RELAXED);
                    return;
                  }
                  typename Loops::Worker worker(loops, memory.get());
                  for (int64_t at = begin; at < end; at += batch)
                    worker.runBatch(at, end - at < batch ? end - at : batch);
                });
    return enough ? ASTRA_OK : ASTRA_ERROR_OUT_OF_MEMORY;
  }

  /// Elements of neighbouring rows are neighbours for all that is read.
  bool isBeside() const {
    if (shape.length < shortLength)
      return true;
    if (shape.length > foldChunkSize)
      return false;
    bool any = false;
    for (uint32_t i = 0; i < shape.plan.arg_count; ++i) {
      int64_t width = shape.widths[i];
      if (shape.isPerRow(i))
        continue;
      if (shape.row.innerStride(int(i)) == width)
        return false;
      any = any || shape.rows.innerStride(int(i)) == width;
    }
    return any;
  }

  /// The first extreme that is folded: of nothing there is none.
  const char *findExtreme() const {
    for (uint64_t s = 0; s < shape.plan.slot_count; ++s) {
      if (shape.plan.slots[s].kind == ASTRA_SLOT_MAX)
        return "max";
      if (shape.plan.slots[s].kind == ASTRA_SLOT_MIN)
        return "min";
    }
    return nullptr;
  }

  FusedShape shape;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDROWS_H
