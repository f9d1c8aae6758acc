// The normative kernels of sliding windows: setting a tensor out with zeros
// around and between its elements, and adding overlapping windows up.
#include "kernels/Window.h"
#include "kernels/Ops.h"

using namespace astra;

namespace {

template <class T>
astra_outcome_t setOut(const astra_arg_t *args, int64_t count) {
  const astra_arg_t &x = args[0], &out = args[1 + count];
  Placement placement(args, count);
  T *to = static_cast<T *>(out.data);
  Nest<1> all;
  for (uint32_t d = 0; d < out.rank; ++d)
    all.addAxis(out.shape[d], {out.strides[d]});
  all.visit(0, all.size(), [&](const int64_t (&offset)[1], int64_t run) {
    for (int64_t i = 0; i < run; ++i)
      to[offset[0] + i * all.innerStride(0)] = T();
    return true;
  });
  const Nest<2> &kept = placement.kept;
  const T *from = static_cast<const T *>(x.data) + placement.from;
  to += placement.to;
  kept.visit(0, kept.size(), [&](const int64_t (&offset)[2], int64_t run) {
    for (int64_t i = 0; i < run; ++i)
      to[offset[1] + i * kept.innerStride(1)] =
          from[offset[0] + i * kept.innerStride(0)];
    return true;
  });
  return ASTRA_OK;
}

template <class T>
astra_outcome_t overlapAdd(const astra_arg_t *args, int64_t spatial) {
  Overlap overlap(args, spatial);
  const T *x = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  for (int64_t place = 0; place < overlap.places.size(); ++place) {
    int64_t at[2];
    overlap.places.offsetsAt(place, at);
    const Nest<2> &windows = overlap.windows;
    windows.visit(0, windows.size(),
                  [&](const int64_t (&offset)[2], int64_t run) {
                    for (int64_t i = 0; i < run; ++i)
                      out[at[1] + offset[1] + i * windows.innerStride(1)] +=
                          x[at[0] + offset[0] + i * windows.innerStride(0)];
                    return true;
                  });
  }
  return ASTRA_OK;
}

} // namespace

#define SET_OUT(op, width, version, doc)                                       \
  ASTRA_DEFINE_REF(op, width, setOut<T_##width>(args, params[0]))
#define OVERLAP_ADD(op, dtype, version, doc)                                   \
  ASTRA_DEFINE_REF(op, dtype, overlapAdd<T_##dtype>(args, params[0]))
#include "kernels/kernels.def"
