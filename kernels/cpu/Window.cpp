// Sliding windows over the call's threads, in runs along the innermost axis.
// Windows of different elements of the axes before them do not overlap, so the
// threads share those, and the order of additions stays that of the places.
#include "kernels/Window.h"
#include "kernels/Ops.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

template <class T>
astra_outcome_t setOut(const astra_call_t *call, const astra_arg_t *args,
                       int64_t count) {
  const astra_arg_t &out = args[1 + count];
  Placement placement(args, count);
  T *to = static_cast<T *>(out.data);
  Nest<1> all;
  for (uint32_t d = 0; d < out.rank; ++d)
    all.addAxis(out.shape[d], {out.strides[d]});
  parallelFor(call, all.size(), elementGrain, [&](int64_t begin, int64_t end) {
    all.walk(begin, end, [&](const int64_t (&offset)[1], int64_t run) {
      const T zero = T();
      if (all.innerStride(0) == 1)
        loadRun(&zero, 0, run, to + offset[0]);
      else
        for (int64_t i = 0; i < run; ++i)
          to[offset[0] + i * all.innerStride(0)] = zero;
      return true;
    });
  });
  const Nest<2> &kept = placement.kept;
  const T *from = static_cast<const T *>(args[0].data) + placement.from;
  T *at = to + placement.to;
  int64_t si = kept.innerStride(0), so = kept.innerStride(1);
  parallelFor(call, kept.size(), elementGrain, [&](int64_t begin, int64_t end) {
    kept.walk(begin, end, [&](const int64_t (&offset)[2], int64_t run) {
      if (so == 1)
        loadRun(from + offset[0], si, run, at + offset[1]);
      else
        for (int64_t i = 0; i < run; ++i)
          at[offset[1] + i * so] = from[offset[0] + i * si];
      return true;
    });
  });
  return ASTRA_OK;
}

template <class T>
void addRun(const T *from, int64_t si, T *to, int64_t so, int64_t n) {
  if (si == 1 && so == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      to[i] += from[i];
    return;
  }
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    to[i * so] += from[i * si];
}

/// All places of the windows of one element of the axes before them: what they
/// overlap in stays in cache.
template <class T>
void addPlaces(const Nest<2> &windows, const Nest<2> &places, const T *x,
               T *out) {
  int64_t si = windows.innerStride(0), so = windows.innerStride(1);
  for (int64_t place = 0; place < places.size(); ++place) {
    int64_t at[2];
    places.offsetsAt(place, at);
    windows.walk(
        0, windows.size(), [&](const int64_t (&offset)[2], int64_t run) {
          addRun(x + at[0] + offset[0], si, out + at[1] + offset[1], so, run);
          return true;
        });
  }
}

template <class T>
astra_outcome_t overlapAdd(const astra_call_t *call, const astra_arg_t *args,
                           int64_t spatial) {
  const astra_arg_t &in = args[0], &to = args[1];
  // [batch.., O.., K..]; only O and K name elements of the result twice.
  Nest<2> axes[3];
  uint32_t first = in.rank - 2 * uint32_t(spatial);
  for (uint32_t d = 0; d < in.rank; ++d)
    axes[d < first ? 0 : 1 + (d - first) / uint32_t(spatial)].addAxis(
        in.shape[d], {in.strides[d], to.strides[d]});
  const T *x = static_cast<const T *>(in.data);
  T *out = static_cast<T *>(to.data);
  int64_t each = axes[1].size() * axes[2].size();
  parallelFor(call, axes[0].size(), elementGrain / (each + 1) + 1,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  int64_t at[2];
                  axes[0].offsetsAt(i, at);
                  addPlaces(axes[1], axes[2], x + at[0], out + at[1]);
                }
              });
  return ASTRA_OK;
}

} // namespace

#define SET_OUT(op, width, version, doc)                                       \
  ASTRA_DEFINE_VARIANT(op, width, 1d, setOut<T_##width>(call, args, params[0]))
#define OVERLAP_ADD(op, dtype, version, doc)                                   \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d,                                          \
                       overlapAdd<T_##dtype>(call, args, params[0]))
#include "kernels/kernels.def"
