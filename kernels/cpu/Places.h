// What gather and scatter read of their index arrays, a block of places at a
// time, and the runs that one index tuple addresses: axes before the indexed
// ones outermost, so that results are written in their own order.
#ifndef ASTRA_KERNELS_CPU_PLACES_H
#define ASTRA_KERNELS_CPU_PLACES_H

#include "kernels/Indexing.h"

ASTRA_KERNELS_BEGIN

/// As Indexing, where x has the indexed axes and `taken` those of the index
/// arrays instead. Index arrays that are one run are read without a division.
class Places {
public:
  static constexpr int64_t block = 256, none = INT64_MIN;

  ASTRA_SHARED Places(const astra_arg_t &x, const astra_arg_t &taken,
                      const astra_arg_t *indices, const int64_t *params)
      : indexing(x, taken, indices, params), x(x), indices(indices),
        count(params[0]), axes(params + 1) {
    uint32_t first = uint32_t(axes[0]), rank = indices[0].rank;
    Nest<1> places;
    for (uint32_t d = 0; d < rank; ++d)
      places.addAxis(indices[0].shape[d], {taken.strides[first + d]});
    takenStride = strideOf(places);
  }

  int64_t size() const { return indexing.size(); }
  int64_t destinations() const { return indexing.destinations(); }

  int64_t takenOffset(int64_t place) const {
    return takenStride != none ? place * takenStride
                               : indexing.takenOffset(place);
  }

  /// Where the tuples at places [begin, begin + n) point, as offsets into x;
  /// false if one is out of range.
  bool offsets(int64_t begin, int64_t n, int64_t *result) const {
    return combine(begin, n, true, result);
  }
  /// The same as row-major positions over the indexed axes.
  bool positions(int64_t begin, int64_t n, int64_t *result) const {
    return combine(begin, n, false, result);
  }
  int64_t offsetOf(int64_t position) const {
    return indexing.offsetOf(position, x);
  }
  /// From one position to the next in x; `none` if that differs.
  ASTRA_SHARED int64_t positionStride() const {
    Nest<1> nest;
    for (int64_t k = 0; k < count; ++k)
      nest.addAxis(x.shape[axes[k]], {x.strides[axes[k]]});
    return strideOf(nest);
  }
  ASTRA_SHARED bool allInRange() const {
    int64_t scratch[block];
    for (int64_t at = 0; at < size(); at += block)
      if (!offsets(at, smaller(size() - at), scratch))
        return false;
    return true;
  }

  /// Reports the first place that is out of range; there is one.
  ASTRA_SHARED astra_outcome_t fail(const astra_call_t *call) const {
    int64_t place = 0;
    while (indexing.destination(place) >= 0)
      ++place;
    return indexing.failAt(call, place);
  }

  static int64_t smaller(int64_t n) { return n < block ? n : block; }

private:
  static int64_t strideOf(const Nest<1> &nest) {
    return nest.innerExtent() == nest.size() ? nest.innerStride(0) : none;
  }

  /// Sums of the tuples' numbers times strides, or times the extents behind.
  ASTRA_SHARED bool combine(int64_t begin, int64_t n, bool byStrides,
                            int64_t *result) const {
    bool wrong = false;
    for (int64_t i = 0; i < n; ++i)
      result[i] = 0;
    for (int64_t k = 0; k < count; ++k) {
      int64_t extent = x.shape[axes[k]];
      int64_t raise = byStrides ? 1 : extent;
      int64_t factor = byStrides ? x.strides[axes[k]] : 1;
      int64_t stride = strideOf(nestOf<1>(indices + k));
      const int64_t *data = static_cast<const int64_t *>(indices[k].data);
      auto take = [=, &wrong](int64_t i, int64_t at) ASTRA_INLINE {
        wrong |= uint64_t(at) >= uint64_t(extent);
        result[i] = result[i] * raise + at * factor;
      };
      if (stride == 1)
        for (int64_t i = 0; i < n; ++i)
          take(i, data[begin + i]);
      else
        for (int64_t i = 0; i < n; ++i)
          take(i, stride != none ? data[(begin + i) * stride]
                                 : indexing.indexAt(begin + i, k));
    }
    return !wrong;
  }

  Indexing indexing;
  const astra_arg_t &x, *indices;
  int64_t count;
  const int64_t *axes;
  int64_t takenStride;
};

/// What one tuple addresses, in x and in `taken`.
class Runs {
public:
  int64_t length, stride, takenStride;
  int64_t count; // of runs
  int64_t size() const { return count * length; }

  ASTRA_SHARED Runs(const astra_arg_t &x, const astra_arg_t &taken,
                    uint32_t indexRank, const int64_t *params) {
    uint32_t first = uint32_t(params[1]), indexed = uint32_t(params[0]);
    for (uint32_t d = 0; d < first; ++d)
      before.addAxis(x.shape[d], {x.strides[d], taken.strides[d]});
    for (uint32_t d = first + indexed; d < x.rank; ++d)
      after.addAxis(x.shape[d],
                    {x.strides[d], taken.strides[d - indexed + indexRank]});
    length = after.innerExtent();
    stride = after.innerStride(0);
    takenStride = after.innerStride(1);
    each = length ? after.size() / length : 0;
    count = before.size() * each;
  }
  bool isOneElement() const { return count == 1 && length == 1; }
  bool isConsecutive() const { return stride == 1 && takenStride == 1; }

  /// Where run r starts in x and in `taken`.
  ASTRA_SHARED void startOf(int64_t r, int64_t (&offset)[2]) const {
    int64_t inner[2];
    before.offsetsAt(r / each, offset);
    after.offsetsAt(r % each * length, inner);
    offset[0] += inner[0];
    offset[1] += inner[1];
  }

private:
  Nest<2> before, after;
  int64_t each; // runs for each element of `before`
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PLACES_H
