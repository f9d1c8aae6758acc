// Walking strided views: a Nest is a loop nest over views of one shape, with
// axes of extent 1 dropped and neighbours merged where every view allows it.
// Offsets count elements; which element types they are is the kernel's
// business.
#ifndef ASTRA_KERNELS_VIEW_H
#define ASTRA_KERNELS_VIEW_H

#include "kernels/Isa.h"

ASTRA_KERNELS_BEGIN

template <int N> class Nest {
public:
  /// Adds an axis inside those added before.
  void addAxis(int64_t extent, const int64_t (&stride)[N]) {
    total *= extent;
    if (extent == 1)
      return;
    if (rank > 0 && merges(extent, stride)) {
      shape[rank - 1] *= extent;
    } else {
      ++rank;
      shape[rank - 1] = extent;
    }
    for (int i = 0; i < N; ++i)
      strides[rank - 1][i] = stride[i];
  }

  int64_t size() const { return total; }
  /// The innermost stride of view i; 0 if there is but one element.
  int64_t innerStride(int i) const { return rank ? strides[rank - 1][i] : 0; }
  int64_t innerExtent() const { return rank ? shape[rank - 1] : 1; }

  /// Calls body(offsets, count) for the runs along the innermost axis that make
  /// up elements [begin, end) in row-major order; a false result ends the walk.
  template <class Body>
  bool walk(int64_t begin, int64_t end, Body &&body) const {
    if (begin >= end || total == 0)
      return true;
    int64_t index[ASTRA_MAX_RANK + 1] = {}, offset[N] = {};
    int64_t inner = innerExtent(), rest = begin;
    for (int d = rank - 1; d >= 0; --d) {
      index[d] = rest % shape[d];
      rest /= shape[d];
      for (int i = 0; i < N; ++i)
        offset[i] += index[d] * strides[d][i];
    }
    int64_t start = rank ? index[rank - 1] : 0;
    while (true) {
      int64_t count = inner - start < end - begin ? inner - start : end - begin;
      if (!body(offset, count))
        return false;
      begin += count;
      if (begin >= end)
        return true;
      for (int i = 0; i < N; ++i)
        offset[i] -= start * innerStride(i);
      start = 0;
      advance(index, offset);
    }
  }

  /// The same with one loop for all bodies: for those of which there are many.
  template <class Body>
  bool visit(int64_t begin, int64_t end, const Body &body) const {
    return visitRuns(
        begin, end,
        [](const void *context, const int64_t (&offset)[N], int64_t count) {
          return (*static_cast<const Body *>(context))(offset, count);
        },
        &body);
  }

  /// The offsets of all views at a row-major position.
  void offsetsAt(int64_t position, int64_t (&offset)[N]) const {
    for (int i = 0; i < N; ++i)
      offset[i] = 0;
    for (int d = rank - 1; d >= 0; --d) {
      for (int i = 0; i < N; ++i)
        offset[i] += position % shape[d] * strides[d][i];
      position /= shape[d];
    }
  }

private:
  using Run = bool (*)(const void *context, const int64_t (&offset)[N],
                       int64_t count);

  ASTRA_SHARED bool visitRuns(int64_t begin, int64_t end, Run run,
                              const void *context) const {
    if (rank == 1 && begin < end && total != 0) { // most are one run
      int64_t offset[N];
      for (int i = 0; i < N; ++i)
        offset[i] = begin * strides[0][i];
      return run(context, offset, end - begin);
    }
    return walk(begin, end, [=](const int64_t (&offset)[N], int64_t count) {
      return run(context, offset, count);
    });
  }

  bool merges(int64_t extent, const int64_t (&stride)[N]) const {
    for (int i = 0; i < N; ++i)
      if (strides[rank - 1][i] != extent * stride[i])
        return false;
    return true;
  }

  void advance(int64_t (&index)[ASTRA_MAX_RANK + 1],
               int64_t (&offset)[N]) const {
    for (int d = rank - 2; d >= 0; --d) {
      for (int i = 0; i < N; ++i)
        offset[i] += strides[d][i];
      if (++index[d] < shape[d])
        return;
      for (int i = 0; i < N; ++i)
        offset[i] -= shape[d] * strides[d][i];
      index[d] = 0;
    }
  }

  int rank = 0;
  int64_t total = 1;
  int64_t shape[ASTRA_MAX_RANK + 1];
  int64_t strides[ASTRA_MAX_RANK + 1][N];
};

/// The nest over the first N arguments, which have one shape.
template <int N> ASTRA_SHARED inline Nest<N> nestOf(const astra_arg_t *args) {
  Nest<N> nest;
  for (uint32_t d = 0; d < args[0].rank; ++d) {
    int64_t stride[N];
    for (int i = 0; i < N; ++i)
      stride[i] = args[i].strides[d];
    nest.addAxis(args[0].shape[d], stride);
  }
  return nest;
}

inline int64_t sizeOf(const astra_arg_t &arg) {
  int64_t size = 1;
  for (uint32_t d = 0; d < arg.rank; ++d)
    size *= arg.shape[d];
  return size;
}

/// A reduction's two nests: over the elements of the result (offsets in x and
/// in the result) and, for each of them, over the elements of x that it
/// reduces.
struct Reduction {
  Nest<2> kept;
  Nest<1> reduced;
};

ASTRA_SHARED inline Reduction reductionOf(const astra_arg_t &x,
                                          const astra_arg_t &out,
                                          const int64_t *axes, int64_t count) {
  Reduction result;
  uint32_t outAxis = 0;
  for (uint32_t d = 0, next = 0; d < x.rank; ++d) {
    if (next < count && axes[next] == d) {
      ++next;
      result.reduced.addAxis(x.shape[d], {x.strides[d]});
    } else {
      result.kept.addAxis(x.shape[d], {x.strides[d], out.strides[outAxis++]});
    }
  }
  return result;
}

/// The lines of two views of one shape along an axis: where each starts, and
/// their extent and strides.
struct Lines {
  Nest<2> starts;
  int64_t extent, strideIn, strideOut;
};

ASTRA_SHARED inline Lines linesOf(const astra_arg_t &in, const astra_arg_t &out,
                                  int64_t axis) {
  Lines lines;
  for (uint32_t d = 0; d < in.rank; ++d)
    if (d != axis)
      lines.starts.addAxis(in.shape[d], {in.strides[d], out.strides[d]});
  lines.extent = in.shape[axis];
  lines.strideIn = in.strides[axis];
  lines.strideOut = out.strides[axis];
  return lines;
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_VIEW_H
