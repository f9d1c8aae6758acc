// The place of the largest or smallest: of consecutive lines by chunks, whose
// extremes are found first and the place afterwards, in one chunk; of others
// many lines side by side, each lane with its best and its place.
#include "kernels/Ops.h"
#include "kernels/cpu/Fold.h"

using namespace astra;

namespace {

/// Is `a` to be taken instead of `best`, which comes earlier and is no NaN?
template <bool largest, class C> ASTRA_INLINE inline bool beats(C a, C best) {
  return largest ? !(a <= best) : !(a >= best);
}

/// The extreme of n consecutive elements and whether one is NaN, in which case
/// the extreme means nothing.
template <bool largest, class C>
C extremeOfChunk(const C *x, int64_t n, bool &hasNan) {
  C best = x[0];
  int64_t k = 0;
  if (n >= laneCount) {
    Lanes<C> lanes = loadLanes(x);
    auto nan = lanes != lanes;
    for (; k + laneCount <= n; k += laneCount) {
      Lanes<C> v = loadLanes(x + k);
      nan |= v != v;
      lanes = (largest ? v > lanes : v < lanes) ? v : lanes;
    }
    for (int i = 0; i < laneCount; ++i) {
      hasNan |= nan[i] != 0;
      best = (largest ? lanes[i] > best : lanes[i] < best) ? lanes[i] : best;
    }
  }
  for (; k < n; ++k) {
    hasNan |= isNan(x[k]);
    best = (largest ? x[k] > best : x[k] < best) ? x[k] : best;
  }
  return best;
}

template <bool largest, class T>
int32_t argOfLine(const T *x, int64_t stride, int64_t n) {
  using C = Compute<T>;
  alignas(64) C buffer[chunkSize];
  auto chunkAt = [&](int64_t at, int64_t size) -> const C * {
    if constexpr (!isSmallFloat<T>)
      if (stride == 1)
        return x + at;
    loadRun(x + at * stride, stride, size, buffer);
    return buffer;
  };
  auto sizeAt = [&](int64_t at) {
    return n - at < chunkSize ? n - at : chunkSize;
  };
  C best{};
  int64_t bestAt = -1;
  bool hasNan = false;
  for (int64_t at = 0; at < n && !hasNan; at += chunkSize) {
    C extreme =
        extremeOfChunk<largest>(chunkAt(at, sizeAt(at)), sizeAt(at), hasNan);
    if (hasNan || bestAt < 0 || (largest ? extreme > best : extreme < best)) {
      best = extreme;
      bestAt = at;
    }
  }
  const C *chunk = chunkAt(bestAt, sizeAt(bestAt));
  int64_t i = 0;
  while (hasNan ? !isNan(chunk[i]) : chunk[i] != best)
    ++i;
  return int32_t(bestAt + i);
}

constexpr int64_t argWidth = 64;

/// Of `columns` lines that are `apart` from one another.
template <bool largest, class T>
void argOfColumns(const T *x, int64_t apart, int64_t columns, int64_t stride,
                  int64_t n, int32_t *out, int64_t strideOut) {
  using C = Compute<T>;
  alignas(64) C best[argWidth] = {}, row[argWidth] = {};
  alignas(64) int32_t place[argWidth] = {};
  loadRun(x, apart, columns, best);
  for (int64_t i = 1; i < n; ++i) {
    loadRun(x + i * stride, apart, columns, row);
    ASTRA_VECTOR_LOOP
    for (int64_t c = 0; c < argWidth; ++c) {
      bool take = beats<largest>(row[c], best[c]) && !isNan(best[c]);
      best[c] = take ? row[c] : best[c];
      place[c] = take ? int32_t(i) : place[c];
    }
  }
  for (int64_t c = 0; c < columns; ++c)
    out[c * strideOut] = place[c];
}

template <bool largest, class T>
astra_outcome_t argReduce(const astra_call_t *call, const astra_arg_t *args,
                          int64_t axis, const char *name) {
  Reduction r = reductionOf(args[0], args[1], &axis, 1);
  const Nest<2> &kept = r.kept;
  int64_t extent = args[0].shape[axis], stride = args[0].strides[axis];
  if (kept.size() == 0)
    return ASTRA_OK;
  if (extent == 0)
    return call->api->fail(call, ASTRA_ERROR_INVALID_ARGUMENT,
                           Sentence()
                               .text(name)
                               .text(" over nothing: a reduced extent is 0")
                               .get());
  if (extent > INT32_MAX)
    return call->api->fail(call, ASTRA_ERROR_OVERFLOW,
                           "an index of argmax or argmin does not fit in i32");
  bool alongLines =
      kept.innerExtent() < 8 || (stride == 1 && extent >= 4 * laneCount);
  int64_t si = kept.innerStride(0), so = kept.innerStride(1);
  const T *x = static_cast<const T *>(args[0].data);
  int32_t *out = static_cast<int32_t *>(args[1].data);
  auto run = [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; i += alongLines ? 1 : argWidth) {
      const T *from = x + offset[0] + i * si;
      int32_t *to = out + offset[1] + i * so;
      if (alongLines)
        *to = argOfLine<largest>(from, stride, extent);
      else
        argOfColumns<largest>(from, si,
                              count - i < argWidth ? count - i : argWidth,
                              stride, extent, to, so);
    }
    return true;
  };
  parallelFor(call, kept.size(), elementGrain / (extent + 16) + 1,
              [&](int64_t begin, int64_t end) { kept.visit(begin, end, run); });
  return ASTRA_OK;
}

} // namespace

#define FOR_NUMBER(dtype)                                                      \
  ASTRA_DEFINE_VARIANT(                                                        \
      argmax, dtype, lanes,                                                    \
      argReduce<true, T_##dtype>(call, args, params[0], "argmax"))             \
  ASTRA_DEFINE_VARIANT(                                                        \
      argmin, dtype, lanes,                                                    \
      argReduce<false, T_##dtype>(call, args, params[0], "argmin"))
#include "kernels/cpu/ForNumbers.h"
