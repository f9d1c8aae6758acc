// The copy kernel of the own instruction set, for kernels whose result is x
// with something done to it.
#ifndef ASTRA_KERNELS_CPU_COPYALL_H
#define ASTRA_KERNELS_CPU_COPYALL_H

#include "kernels/Call.h"

#define ASTRA_DECLARE_COPY(width)                                              \
  extern "C" astra_outcome_t ASTRA_VARIANT_NAME(copy, width, 1d)(              \
      const astra_call_t *, const astra_arg_t *, const int64_t *);
ASTRA_DECLARE_COPY(b8)
ASTRA_DECLARE_COPY(b16)
ASTRA_DECLARE_COPY(b32)
ASTRA_DECLARE_COPY(b64)
#undef ASTRA_DECLARE_COPY

ASTRA_KERNELS_BEGIN

/// Copies x to out, of one shape; nothing where they are one view.
template <class T>
inline astra_outcome_t copyAll(const astra_call_t *call, const astra_arg_t &x,
                               const astra_arg_t &out) {
  bool same = x.data == out.data;
  for (uint32_t d = 0; d < x.rank; ++d)
    same &= x.strides[d] == out.strides[d] || x.shape[d] == 1;
  if (same)
    return ASTRA_OK;
  const astra_arg_t args[2] = {x, out};
  switch (sizeof(T)) {
  case 1:
    return ASTRA_VARIANT_NAME(copy, b8, 1d)(call, args, nullptr);
  case 2:
    return ASTRA_VARIANT_NAME(copy, b16, 1d)(call, args, nullptr);
  case 4:
    return ASTRA_VARIANT_NAME(copy, b32, 1d)(call, args, nullptr);
  default:
    return ASTRA_VARIANT_NAME(copy, b64, 1d)(call, args, nullptr);
  }
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_COPYALL_H
