// What the loops of a fused kernel that works row by row share: its plan, and
// its views as rows and as the elements of a row.
#ifndef ASTRA_KERNELS_FUSEDSHAPE_H
#define ASTRA_KERNELS_FUSEDSHAPE_H

#include "kernels/FusedFold.h"
#include "kernels/FusedMap.h"
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

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

#if defined(__AVX512BW__)
/// A part of a vector of 128 bytes, read and written as vectors: what is stored
/// in pieces is not soon read as one.
inline __mmask64 maskOfPart(int64_t bytes, int64_t at) {
  int64_t n = bytes - at;
  return n >= 64 ? ~__mmask64(0) : n > 0 ? (__mmask64(1) << n) - 1 : 0;
}
inline void loadPart(const char *from, int64_t bytes, char *to) {
  for (int64_t at = 0; at < bytes; at += 64)
    _mm512_storeu_si512(
        to + at, _mm512_maskz_loadu_epi8(maskOfPart(bytes, at), from + at));
}
inline void storePart(const char *from, int64_t bytes, char *to) {
  for (int64_t at = 0; at < bytes; at += 64)
    _mm512_mask_storeu_epi8(to + at, maskOfPart(bytes, at),
                            _mm512_loadu_si512(from + at));
}
#else
inline void loadPart(const char *from, int64_t bytes, char *to) {
  std::memcpy(to, from, size_t(bytes));
}
inline void storePart(const char *from, int64_t bytes, char *to) {
  std::memcpy(to, from, size_t(bytes));
}
#endif

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDSHAPE_H
