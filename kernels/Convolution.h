// A convolution as a product: x, set out with zeros around its elements, is
// seen as windows that overlap in memory. The arguments: w [o, c, K..],
// x [n, c, X..], then low, stride and dilation of each axis of X (i64 scalars,
// params[0] in all), and the result [n, o, O..].
#ifndef ASTRA_KERNELS_CONVOLUTION_H
#define ASTRA_KERNELS_CONVOLUTION_H

#include "kernels/Call.h"
#include "kernels/View.h"

ASTRA_KERNELS_BEGIN

/// A view made axis by axis.
struct MadeView {
  int64_t shape[ASTRA_MAX_RANK], strides[ASTRA_MAX_RANK];
  uint32_t rank = 0;

  void add(int64_t extent, int64_t stride) {
    shape[rank] = extent;
    strides[rank++] = stride;
  }
  astra_arg_t at(void *data, uint32_t dtype) const {
    return {data, shape, strides, dtype, rank};
  }
};

struct Convolution {
  const astra_arg_t &w, &x, &out;
  uint32_t spatial;
  struct Axis {
    int64_t low, stride, dilation;
  } axes[ASTRA_MAX_RANK];

  Convolution(const astra_arg_t *args, int64_t scalars)
      : w(args[0]), x(args[1]), out(args[2 + scalars]),
        spatial(uint32_t(scalars / 3)) {
    for (uint32_t i = 0; i < spatial; ++i)
      axes[i] = {valueOf(args[2 + 3 * i]), valueOf(args[3 + 3 * i]),
                 valueOf(args[4 + 3 * i])};
  }

  /// How far so many windows reach along an axis.
  int64_t reach(uint32_t axis, int64_t windows) const {
    int64_t places = w.shape[2 + axis];
    return windows * places == 0 ? 0
                                 : (windows - 1) * axes[axis].stride +
                                       (places - 1) * axes[axis].dilation + 1;
  }

  /// So many samples of x, set out for the first `rows` of the outermost axis
  /// of O, densely.
  MadeView room(int64_t samples, int64_t rows) const {
    int64_t extents[ASTRA_MAX_RANK] = {samples, x.shape[1]}, stride = 1;
    MadeView view;
    view.rank = 2 + spatial;
    for (uint32_t i = 0; i < spatial; ++i)
      extents[2 + i] = reach(i, i ? out.shape[2 + i] : rows);
    for (uint32_t d = view.rank; d-- > 0; stride *= extents[d]) {
      view.shape[d] = extents[d];
      view.strides[d] = stride;
    }
    return view;
  }

  /// [n, O.., c, K..] of what is set out, `rows` of the outermost O.
  MadeView windows(const MadeView &room, int64_t rows) const {
    MadeView view;
    view.add(room.shape[0], room.strides[0]);
    for (uint32_t i = 0; i < spatial; ++i)
      view.add(i ? out.shape[2 + i] : rows,
               axes[i].stride * room.strides[2 + i]);
    view.add(room.shape[1], room.strides[1]);
    for (uint32_t i = 0; i < spatial; ++i)
      view.add(w.shape[2 + i], axes[i].dilation * room.strides[2 + i]);
    return view;
  }
  /// [c, K.., o].
  MadeView weights() const {
    MadeView view;
    for (uint32_t d = 1; d < w.rank; ++d)
      view.add(w.shape[d], w.strides[d]);
    view.add(w.shape[0], w.strides[0]);
    return view;
  }
  /// [n, O.., o], `rows` of the outermost O.
  MadeView result(int64_t samples, int64_t rows) const {
    MadeView view;
    view.add(samples, out.strides[0]);
    for (uint32_t d = 2; d < out.rank; ++d)
      view.add(d > 2 ? out.shape[d] : rows, out.strides[d]);
    view.add(out.shape[1], out.strides[1]);
    return view;
  }
  int64_t contracted() const { return 1 + int64_t(spatial); }

private:
  static int64_t valueOf(const astra_arg_t &scalar) {
    return *static_cast<const int64_t *>(scalar.data);
  }
};

/// All of x is set out at once, by the kernels that are given.
template <class T>
inline astra_outcome_t
convolveWhole(const astra_call_t *call, const Convolution &c,
              astra_kernel_fn setOut, astra_kernel_fn contract) {
  int64_t samples = c.x.shape[0], rows = c.out.shape[2], one = 1;
  MadeView room = c.room(samples, rows), windows = c.windows(room, rows),
           weights = c.weights(), result = c.result(samples, rows);
  Scratch<T> memory(call, room.shape[0] * room.strides[0] + 1);
  if (!memory)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  astra_arg_t place[2 * ASTRA_MAX_RANK + 2] = {c.x};
  int64_t low[ASTRA_MAX_RANK], scalars = 2 * int64_t(c.spatial);
  for (uint32_t i = 0; i < c.spatial; ++i) {
    low[i] = c.axes[i].low;
    place[1 + 2 * i] = {&low[i], nullptr, nullptr, 0, 0};
    place[2 + 2 * i] = {&one, nullptr, nullptr, 0, 0};
  }
  place[1 + scalars] = room.at(memory.get(), c.x.dtype);
  astra_outcome_t outcome = setOut(call, place, &scalars);
  if (outcome != ASTRA_OK)
    return outcome;
  astra_arg_t product[] = {windows.at(memory.get(), c.x.dtype),
                           weights.at(c.w.data, c.w.dtype),
                           result.at(c.out.data, c.out.dtype)};
  int64_t params[] = {0, c.contracted()};
  return contract(call, product, params);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CONVOLUTION_H
