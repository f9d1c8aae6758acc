// The loop nests of sliding windows: which part of a tensor lands where when it
// is set out with zeros, and windows apart from the places in them.
#ifndef ASTRA_KERNELS_WINDOW_H
#define ASTRA_KERNELS_WINDOW_H

#include "kernels/View.h"

ASTRA_KERNELS_BEGIN

/// Floor of a / b for b > 0.
inline int64_t floorOver(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0);
}

/// Of set_out: the elements of x that the result has room for. Element s along
/// one of the last axes lies at low + s * step; the arguments are x, then low
/// and step of each of those axes (i64 scalars, `scalars` in all), then the
/// result.
struct Placement {
  Nest<2> kept; // offsets in x and in the result, from these on:
  int64_t from = 0, to = 0;

  Placement(const astra_arg_t *args, int64_t scalars) {
    const astra_arg_t &x = args[0], &out = args[1 + scalars];
    uint32_t first = x.rank - uint32_t(scalars / 2);
    for (uint32_t d = 0; d < first; ++d)
      kept.addAxis(x.shape[d], {x.strides[d], out.strides[d]});
    for (uint32_t d = first; d < x.rank; ++d) {
      int64_t low = valueOf(args[1 + 2 * (d - first)]);
      int64_t step = valueOf(args[2 + 2 * (d - first)]);
      // 0 <= low + s * step < extent.
      int64_t begin = low < 0 ? floorOver(step - 1 - low, step) : 0;
      int64_t end = floorOver(out.shape[d] - 1 - low, step) + 1;
      if (end > x.shape[d])
        end = x.shape[d];
      kept.addAxis(begin < end ? end - begin : 0,
                   {x.strides[d], step * out.strides[d]});
      from += begin * x.strides[d];
      to += (low + begin * step) * out.strides[d];
    }
  }

private:
  static int64_t valueOf(const astra_arg_t &scalar) {
    return *static_cast<const int64_t *>(scalar.data);
  }
};

/// Of overlap_add: x is [.., O.., K..], the result seen through windows of that
/// shape, which overlap; those of one place k do not.
struct Overlap {
  Nest<2> windows, places; // offsets in x and in the result

  Overlap(const astra_arg_t *args, int64_t spatial) {
    const astra_arg_t &x = args[0], &out = args[1];
    uint32_t first = x.rank - uint32_t(spatial);
    for (uint32_t d = 0; d < x.rank; ++d)
      (d < first ? windows : places)
          .addAxis(x.shape[d], {x.strides[d], out.strides[d]});
  }
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_WINDOW_H
