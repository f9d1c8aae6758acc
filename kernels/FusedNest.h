// The views of a fused kernel as a loop nest: like Nest of View.h, but for any
// number of views and in bytes, since their elements differ in width. Copies
// between strided elements and consecutive ones stand here too. Knows nothing
// of what is computed.
#ifndef ASTRA_KERNELS_FUSEDNEST_H
#define ASTRA_KERNELS_FUSEDNEST_H

#include "kernels/Isa.h"
#include <cstring>
#include <type_traits>

ASTRA_KERNELS_BEGIN

constexpr int mostFusedArgs = ASTRA_FUSED_MOST_SLOTS;
using FusedOffsets = int64_t[mostFusedArgs];

class FusedNest {
public:
  enum Order { RowMajor, Any };

  /// The axes [begin, end) of the views; in any order, neighbours in memory
  /// come last.
  FusedNest(const astra_arg_t *args, const int64_t *widths, int count,
            uint32_t begin, uint32_t end, Order order)
      : count(count) {
    uint32_t axes[ASTRA_MAX_RANK];
    for (uint32_t axis = begin; axis < end; ++axis) {
      uint32_t place = axis - begin;
      for (; order == Any && place > 0 &&
             distance(args, widths, axes[place - 1]) <
                 distance(args, widths, axis);
           --place)
        axes[place] = axes[place - 1];
      axes[place] = axis;
    }
    for (uint32_t place = 0; place < end - begin; ++place)
      addAxis(args, widths, axes[place]);
    if (rank == 0) {
      rank = 1;
      shape[0] = 1;
      std::memset(strides[0], 0, sizeof(strides[0]));
    }
  }

  int64_t size() const { return total; }
  int64_t innerExtent() const { return shape[rank - 1]; }
  int64_t innerStride(int view) const { return strides[rank - 1][view]; }
  /// One run along one axis makes up all of it.
  bool isOneRun() const { return rank == 1; }
  /// Runs along one axis, from one to the next along another.
  bool isPlane() const { return rank == 2; }
  int64_t outerStride(int view) const { return strides[0][view]; }

  /// Calls body(offsets, count) for the runs along the innermost axis that make
  /// up the elements [begin, end) in row-major order.
  template <class Body>
  void walk(int64_t begin, int64_t end, Body &&body) const {
    walkRuns(
        begin, end,
        [](void *context, const FusedOffsets &offset, int64_t run) {
          (*static_cast<std::remove_reference_t<Body> *>(context))(offset, run);
        },
        &body);
  }

  /// The offsets of `n` elements one after the other.
  void offsetsFrom(int64_t first, int64_t n, FusedOffsets *to) const {
    walk(first, first + n, [&](const FusedOffsets &offset, int64_t run) {
      for (int64_t j = 0; j < run; ++j, ++to)
#pragma clang loop vectorize(disable)
        for (int i = 0; i < count; ++i)
          (*to)[i] = offset[i] + j * innerStride(i);
    });
  }

private:
  using Run = void (*)(void *context, const FusedOffsets &offset, int64_t run);

  ASTRA_SHARED void walkRuns(int64_t begin, int64_t end, Run body,
                             void *context) const {
    if (begin >= end)
      return;
    FusedOffsets offset = {};
    int64_t index[ASTRA_MAX_RANK + 1], rest = begin;
    for (int d = rank - 1; d > 0; --d) {
      index[d] = rest % shape[d];
      rest /= shape[d];
      move(d, index[d], offset);
    }
    index[0] = rest;
    move(0, rest, offset);
    int64_t start = index[rank - 1];
    while (true) {
      int64_t left = innerExtent() - start;
      int64_t run = left < end - begin ? left : end - begin;
      body(context, offset, run);
      begin += run;
      if (begin >= end)
        return;
      move(rank - 1, -start, offset);
      start = 0;
      int d = rank - 2;
      for (; ++index[d] == shape[d]; --d) {
        move(d, 1 - shape[d], offset);
        index[d] = 0;
      }
      move(d, 1, offset);
    }
  }

  void move(int axis, int64_t steps, FusedOffsets &offset) const {
#pragma clang loop vectorize(disable) // views are few
    for (int i = 0; i < count; ++i)
      offset[i] += steps * strides[axis][i];
  }

  /// How far apart neighbours along an axis are, in all views together.
  int64_t distance(const astra_arg_t *args, const int64_t *widths,
                   uint32_t axis) const {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) {
      int64_t stride = args[i].strides[axis] * widths[i];
      sum += stride < 0 ? -stride : stride;
    }
    return sum;
  }

  void addAxis(const astra_arg_t *args, const int64_t *widths, uint32_t axis) {
    int64_t extent = args[0].shape[axis];
    total *= extent;
    if (extent == 1)
      return;
    FusedOffsets stride;
    bool merges = rank > 0;
    for (int i = 0; i < count; ++i) {
      stride[i] = args[i].strides[axis] * widths[i];
      merges = merges && strides[rank - 1][i] == extent * stride[i];
    }
    if (merges)
      shape[rank - 1] *= extent;
    else
      shape[rank++] = extent;
    std::memcpy(strides[rank - 1], stride, sizeof(int64_t) * unsigned(count));
  }

  int count, rank = 0;
  int64_t total = 1;
  int64_t shape[ASTRA_MAX_RANK + 1];
  FusedOffsets strides[ASTRA_MAX_RANK + 1];
};

template <class T>
inline void gatherAs(const char *from, int64_t stride, int64_t n, char *to) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * int64_t(sizeof(T)), from + i * stride, sizeof(T));
}
template <class T>
inline void scatterAs(const char *from, int64_t n, char *to, int64_t stride) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * stride, from + i * int64_t(sizeof(T)), sizeof(T));
}

/// n elements, `stride` bytes apart, to consecutive memory.
inline void gather(const char *from, int64_t stride, int64_t n, int64_t width,
                   char *to) {
  if (stride == width)
    std::memcpy(to, from, size_t(n * width));
  else if (width == 4)
    gatherAs<uint32_t>(from, stride, n, to);
  else if (width == 8)
    gatherAs<uint64_t>(from, stride, n, to);
  else if (width == 2)
    gatherAs<uint16_t>(from, stride, n, to);
  else
    gatherAs<uint8_t>(from, stride, n, to);
}

/// Consecutive elements to places `stride` bytes apart.
inline void scatter(const char *from, int64_t n, int64_t width, char *to,
                    int64_t stride) {
  if (stride == width)
    std::memcpy(to, from, size_t(n * width));
  else if (width == 4)
    scatterAs<uint32_t>(from, n, to, stride);
  else if (width == 8)
    scatterAs<uint64_t>(from, n, to, stride);
  else if (width == 2)
    scatterAs<uint16_t>(from, n, to, stride);
  else
    scatterAs<uint8_t>(from, n, to, stride);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDNEST_H
