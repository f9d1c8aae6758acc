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

/// The sums of overlapping windows within one element of the axes before them.
template <class T> class OverlapSum {
public:
  OverlapSum(const astra_arg_t &in, const astra_arg_t &out, uint32_t spatial) {
    uint32_t first = in.rank - 2 * spatial;
    for (uint32_t d = first; d < first + spatial; ++d) {
      uint32_t k = d + spatial;
      windows.addAxis(in.shape[d], {in.strides[d], out.strides[d]});
      backwards.addAxis(in.shape[d], {-in.strides[d], -out.strides[d]});
      places.addAxis(in.shape[k], {in.strides[k], out.strides[k]});
      lastIn += (in.shape[d] - 1) * in.strides[d];
      lastOut += (in.shape[d] - 1) * out.strides[d];
      // Both count the elements of one axis of the result, the same way.
      fromLast &= (out.strides[d] > 0) == (out.strides[k] > 0) &&
                  out.strides[d] != 0 && out.strides[k] != 0;
    }
    fromLast &= places.size() <= limit;
    for (int64_t p = 0; fromLast && p < places.size(); ++p) {
      int64_t at[2];
      places.offsetsAt(p, at);
      placeIn[p] = at[0];
      placeOut[p] = at[1];
    }
  }
  int64_t size() const { return windows.size() * places.size(); }

  void run(const T *x, T *out) const {
    if (fromLast)
      addFromLast(x + lastIn, out + lastOut);
    else
      addByPlace(x, out);
  }

private:
  static constexpr int64_t limit = 128;

  /// Of the windows over one element, the last has it at its earliest place: so
  /// whole windows from the last to the first add in the order of the places.
  void addFromLast(const T *x, T *out) const {
    int64_t si = backwards.innerStride(0), so = backwards.innerStride(1),
            count = places.size();
    backwards.walk(0, backwards.size(),
                   [&](const int64_t (&offset)[2], int64_t run) {
                     for (int64_t i = 0; i < run; ++i) {
                       const T *from = x + offset[0] + i * si;
                       T *to = out + offset[1] + i * so;
                       for (int64_t p = 0; p < count; ++p)
                         to[placeOut[p]] += from[placeIn[p]];
                     }
                     return true;
                   });
  }
  void addByPlace(const T *x, T *out) const {
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

  Nest<2> windows, backwards, places;
  int64_t lastIn = 0, lastOut = 0;
  bool fromLast = true;
  int64_t placeIn[limit], placeOut[limit];
};

template <class T>
astra_outcome_t overlapAdd(const astra_call_t *call, const astra_arg_t *args,
                           int64_t spatial) {
  const astra_arg_t &in = args[0], &out = args[1];
  OverlapSum<T> sum(in, out, uint32_t(spatial));
  Nest<2> batch; // only the axes behind it name elements twice
  for (uint32_t d = 0; d + 2 * uint32_t(spatial) < in.rank; ++d)
    batch.addAxis(in.shape[d], {in.strides[d], out.strides[d]});
  auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && sum.size(); ++i) {
      int64_t at[2];
      batch.offsetsAt(i, at);
      sum.run(static_cast<const T *>(in.data) + at[0],
              static_cast<T *>(out.data) + at[1]);
    }
  };
  parallelFor(call, batch.size(), elementGrain / (sum.size() + 1) + 1, run);
  return ASTRA_OK;
}

} // namespace

#define SET_OUT(op, width, version, doc)                                       \
  ASTRA_DEFINE_VARIANT(op, width, 1d, setOut<T_##width>(call, args, params[0]))
#define OVERLAP_ADD(op, dtype, version, doc)                                   \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d,                                          \
                       overlapAdd<T_##dtype>(call, args, params[0]))
#include "kernels/kernels.def"
