// What gather and scatter share: k adjacent axes of x are addressed by k index
// arrays of one shape S; in the other array ("taken": gather's result,
// scatter's value) the axes of S stand in their place.
#ifndef ASTRA_KERNELS_INDEXING_H
#define ASTRA_KERNELS_INDEXING_H

#include "kernels/Call.h"
#include "kernels/View.h"

ASTRA_KERNELS_BEGIN

class Indexing {
public:
  /// `indices` are the k index arrays, of i64.
  Indexing(const astra_arg_t &x, const astra_arg_t &taken,
           const astra_arg_t *indices, const int64_t *params)
      : x(x), indices(indices), count(params[0]), axes(params + 1) {
    uint32_t first = uint32_t(axes[0]), rank = indices[0].rank;
    placeStride = rank > 0 ? taken.strides[first] : 0;
    for (uint32_t d = 0; d < first; ++d)
      slice.addAxis(x.shape[d], {x.strides[d], taken.strides[d]});
    for (uint32_t d = 0; d < rank; ++d)
      places.addAxis(indices[0].shape[d], {taken.strides[first + d]});
    for (uint32_t d = first + uint32_t(count); d < x.rank; ++d)
      slice.addAxis(x.shape[d],
                    {x.strides[d], taken.strides[d - count + rank]});
  }

  /// Index tuples in row-major order of S.
  int64_t size() const { return places.size(); }
  int64_t takenOffset(int64_t place) const {
    if (indices[0].rank == 1)
      return place * placeStride;
    int64_t offset[1];
    places.offsetsAt(place, offset);
    return offset[0];
  }
  /// Index i of the tuple at a place.
  int64_t indexAt(int64_t place, int64_t i) const {
    const astra_arg_t &index = indices[i];
    int64_t offset = 0, rest = place;
    for (int d = int(index.rank) - 1; d > 0; --d) {
      offset += rest % index.shape[d] * index.strides[d];
      rest /= index.shape[d];
    }
    if (index.rank > 0)
      offset += rest * index.strides[0];
    return static_cast<const int64_t *>(index.data)[offset];
  }
  /// Where the tuple at a place points: as a row-major position over the
  /// addressed axes, or -1 if an index is out of range.
  int64_t destination(int64_t place) const {
    int64_t position = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = indexAt(place, i), extent = x.shape[axes[i]];
      if (index < 0 || index >= extent)
        return -1;
      position = position * extent + index;
    }
    return position;
  }
  /// The offset in a view with the axes of x of a destination.
  int64_t offsetOf(int64_t destination, const astra_arg_t &view) const {
    int64_t offset = 0;
    for (int64_t i = count - 1; i > 0; --i) {
      offset += destination % x.shape[axes[i]] * view.strides[axes[i]];
      destination /= x.shape[axes[i]];
    }
    return offset + destination * view.strides[axes[0]];
  }
  /// Destinations that there are.
  int64_t destinations() const {
    int64_t total = 1;
    for (int64_t i = 0; i < count; ++i)
      total *= x.shape[axes[i]];
    return total;
  }

  astra_outcome_t failAt(const astra_call_t *call, int64_t place) const {
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = indexAt(place, i), extent = x.shape[axes[i]];
      if (index >= 0 && index < extent)
        continue;
      Sentence s;
      s.text("index ").integer(index).text(" is out of range for axis ");
      s.integer(axes[i]).text(" of extent ").integer(extent);
      if (indices[i].rank)
        s.text(" (index array at ").index(indices[i], place).text(")");
      return call->api->fail(call, ASTRA_ERROR_OUT_OF_RANGE, s.get());
    }
    return ASTRA_OK;
  }

  /// Elements that one tuple addresses: offsets in x and in `taken`.
  Nest<2> slice;

private:
  const astra_arg_t &x, *indices;
  int64_t count;
  const int64_t *axes;
  int64_t placeStride; // of an index array of rank 1
  Nest<1> places;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_INDEXING_H
