// The kernels fused_map and fused_rows: the loops around a module's own code
// (astra_fused_desc_t of module.h). One source for all levels; a level differs
// in the blocks that it calls.
#ifndef ASTRA_KERNELS_FUSED_H
#define ASTRA_KERNELS_FUSED_H

#include "kernels/FusedRows.h"

ASTRA_KERNELS_BEGIN

template <class Loops>
astra_outcome_t runFused(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params) {
  const auto &plan =
      *reinterpret_cast<const astra_fused_desc_t *>(uintptr_t(params[0]));
  int64_t widths[mostFusedArgs];
  for (uint64_t s = 0; s < plan.slot_count; ++s)
    widths[s] = widthOf(plan.slots[s].dtype);
  return Loops(plan, args, widths).run(call);
}

inline astra_outcome_t runFusedMap(const astra_call_t *call,
                                   const astra_arg_t *args,
                                   const int64_t *params) {
  return runFused<FusedMap>(call, args, params);
}
inline astra_outcome_t runFusedRows(const astra_call_t *call,
                                    const astra_arg_t *args,
                                    const int64_t *params) {
  return runFused<FusedRows>(call, args, params);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSED_H
