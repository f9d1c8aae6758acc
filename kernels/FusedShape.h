// What the loops of a fused kernel that works row by row share: its plan, and
// its views as rows and as the elements of a row.
#ifndef ASTRA_KERNELS_FUSEDSHAPE_H
#define ASTRA_KERNELS_FUSEDSHAPE_H

#include "kernels/FusedFold.h"
#include "kernels/FusedMap.h"
#include "kernels/Parts.h"

ASTRA_KERNELS_BEGIN

struct FusedShape {
  FusedShape(const astra_fused_desc_t &plan, const astra_arg_t *args,
             const int64_t *widths)
      : plan(plan), widths(widths),
        rows(args, widths, int(plan.arg_count), 0, args[0].rank - plan.row_axes,
             FusedNest::Any),
        row(args, widths, int(plan.arg_count), args[0].rank - plan.row_axes,
            args[0].rank, FusedNest::RowMajor),
        length(row.size()) {
    for (uint32_t i = 0; i < plan.arg_count; ++i) {
      base[i] = static_cast<char *>(args[i].data);
      repeated[i] = rows.size() > 1;
      for (uint32_t axis = 0; axis < args[i].rank - plan.row_axes; ++axis)
        repeated[i] = repeated[i] &&
                      (args[i].shape[axis] == 1 || args[i].strides[axis] == 0);
    }
  }

  uint32_t kindOf(int64_t slot) const { return plan.slots[slot].kind; }
  static bool isFold(uint32_t kind) { return kind >= ASTRA_SLOT_SUM; }
  /// An argument that repeats one value along each row.
  bool isPerRow(int64_t slot) const {
    return row.isOneRun() && row.innerStride(int(slot)) == 0;
  }

  static constexpr int mostFolds = 8;

  const astra_fused_desc_t &plan;
  const int64_t *widths;
  FusedNest rows, row;
  int64_t length;
  char *base[mostFusedArgs];
  bool repeated[mostFusedArgs]; // the same in all rows, of which are several
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDSHAPE_H
