// The copy kernel: strided views made dense. Planes in which each view is
// consecutive along another axis are transposed in registers, a tile at a time;
// short inner axes (windows, a few channels) are looped over without the
// bookkeeping of a nest; the rest goes in runs.
#include "kernels/Types.h"
#include "kernels/cpu/Tiles.h"
#include <utility>

using namespace astra;

namespace {

/// As loadRun and storeRun in one: out[i * so] = in[i * si].
template <class T>
void moveRun(const T *in, int64_t si, T *out, int64_t so, int64_t n) {
  if (so == 1)
    loadRun(in, si, n, out);
  else
    for (int64_t i = 0; i < n; ++i)
      out[i * so] = in[i * si];
}

/// A square of elements in registers; each row is a vector.
template <class T> struct Tile {
  static constexpr int size = sizeof(T) == 1 ? 16 : 32 / int(sizeof(T));
  typedef T Row __attribute__((ext_vector_type(size)));
  Row rows[size];

  /// A step interleaves the upper half of the rows with the lower, which turns
  /// the bits of a place (row, column) by one; as many steps as a row number
  /// has bits change the two over.
  ASTRA_INLINE void transpose() {
    for (int step = 1; step < size; step *= 2) {
      Row next[size];
      for (int i = 0; i < size / 2; ++i) {
        next[2 * i] = zip<0>(rows[i], rows[i + size / 2], lanes);
        next[2 * i + 1] = zip<1>(rows[i], rows[i + size / 2], lanes);
      }
      for (int i = 0; i < size; ++i)
        rows[i] = next[i];
    }
  }

private:
  static constexpr std::make_index_sequence<size> lanes{};

  /// a0 b0 a1 b1 ... of the lower (half 0) or upper (half 1) elements.
  template <int half, size_t... I>
  ASTRA_INLINE static Row zip(Row a, Row b, std::index_sequence<I...>) {
    return __builtin_shufflevector(
        a, b, (int(I) / 2 + half * size / 2 + (I % 2 ? size : 0))...);
  }
};

/// The plane out[i * so + j] = in[i + j * si].
template <class T> struct Transposition {
  int64_t rows, columns, si, so;
  static constexpr int64_t block = 64, tile = Tile<T>::size;

  /// Rows [begin, end), in blocks that fit in cache.
  void run(const T *in, T *out, int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; i += block)
      for (int64_t j = 0; j < columns; j += block)
        moveBlock(in, out, i, i + block < end ? i + block : end, j,
                  j + block < columns ? j + block : columns);
  }

private:
  void moveBlock(const T *in, T *out, int64_t iBegin, int64_t iEnd,
                 int64_t jBegin, int64_t jEnd) const {
    int64_t i = iBegin;
    for (; i + tile <= iEnd; i += tile) {
      int64_t j = jBegin;
      for (; j + tile <= jEnd; j += tile)
        moveTile(in + i + j * si, out + i * so + j);
      for (int64_t k = i; k < i + tile; ++k)
        moveRun(in + k + j * si, si, out + k * so + j, 1, jEnd - j);
    }
    for (; i < iEnd; ++i)
      moveRun(in + i + jBegin * si, si, out + i * so + jBegin, 1,
              jEnd - jBegin);
  }
  void moveTile(const T *in, T *out) const {
    Tile<T> t;
    for (int r = 0; r < tile; ++r)
      __builtin_memcpy(&t.rows[r], in + r * si, sizeof(t.rows[r]));
    t.transpose();
    for (int r = 0; r < tile; ++r)
      __builtin_memcpy(out + r * so, &t.rows[r], sizeof(t.rows[r]));
  }
};

/// The axis along which `in` is consecutive where `out` is so along the last;
/// -1 if that is the last too, or there is none.
int transposedAxis(const astra_arg_t &in, const astra_arg_t &out) {
  int last = int(in.rank) - 1, axis = -1;
  if (last < 1 || out.strides[last] != 1 || in.strides[last] == 1 ||
      in.shape[last] < 4)
    return -1;
  for (int d = 0; d < last; ++d)
    if (in.strides[d] == 1 && in.shape[d] >= 4)
      axis = d;
  return axis;
}

template <class T>
astra_outcome_t copyTransposed(const astra_call_t *call, const astra_arg_t &in,
                               const astra_arg_t &out, uint32_t t) {
  uint32_t last = in.rank - 1, next = last;
  int64_t columns = in.shape[last];
  // Axes that go on where the last ends belong to it.
  auto continues = [&](uint32_t d, const astra_arg_t &arg) {
    return arg.strides[d] == arg.shape[d + 1] * arg.strides[d + 1];
  };
  while (next > t + 1 && continues(next - 1, in) && continues(next - 1, out))
    columns *= in.shape[--next];
  Nest<2> planes;
  for (uint32_t d = 0; d < next; ++d)
    if (d != t)
      planes.addAxis(in.shape[d], {in.strides[d], out.strides[d]});
  Transposition<T> plane{in.shape[t], columns, in.strides[last],
                         out.strides[t]};
  // A work item is a block of rows of a plane.
  int64_t blocks = (plane.rows + plane.block - 1) / plane.block;
  auto run = [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      int64_t offset[2], row = item % blocks * plane.block;
      planes.offsetsAt(item / blocks, offset);
      plane.run(static_cast<const T *>(in.data) + offset[0],
                static_cast<T *>(out.data) + offset[1], row,
                row + plane.block < plane.rows ? row + plane.block
                                               : plane.rows);
    }
  };
  parallelFor(call, planes.size() * blocks,
              elementGrain / (plane.block * plane.columns + 1) + 1, run);
  return ASTRA_OK;
}

/// Loops over the last three axes of which the last is short.
template <class T> struct ShortRuns {
  int64_t shape[3], si[3], so[3];
  Nest<2> outer;

  ShortRuns(const astra_arg_t &in, const astra_arg_t &out) {
    uint32_t first = in.rank - 3;
    for (uint32_t d = 0; d < first; ++d)
      outer.addAxis(in.shape[d], {in.strides[d], out.strides[d]});
    for (uint32_t d = 0; d < 3; ++d) {
      shape[d] = in.shape[first + d];
      si[d] = in.strides[first + d];
      so[d] = out.strides[first + d];
    }
  }
  void run(const T *in, T *out) const {
    if (shape[2] == 3 && si[2] == 1 && so[2] == 1)
      runOf<3>(in, out, 1, 1);
    else if (shape[2] == 2 && si[2] == 1 && so[2] == 1)
      runOf<2>(in, out, 1, 1);
    else
      runOf<0>(in, out, si[2], so[2]);
  }

private:
  /// `fixed` is the extent of the last axis where it is known.
  template <int fixed>
  ASTRA_INLINE void runOf(const T *in, T *out, int64_t stepIn,
                          int64_t stepOut) const {
    int64_t n = fixed ? fixed : shape[2];
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j) {
        const T *from = in + i * si[0] + j * si[1];
        T *to = out + i * so[0] + j * so[1];
        for (int64_t k = 0; k < n; ++k)
          to[k * stepOut] = from[k * stepIn];
      }
  }
};

template <class T>
astra_outcome_t copyShort(const astra_call_t *call, const astra_arg_t &in,
                          const astra_arg_t &out) {
  ShortRuns<T> runs(in, out);
  int64_t each = runs.shape[0] * runs.shape[1] * runs.shape[2];
  parallelFor(call, runs.outer.size(), elementGrain / (each + 1) + 1,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  int64_t offset[2];
                  runs.outer.offsetsAt(i, offset);
                  runs.run(static_cast<const T *>(in.data) + offset[0],
                           static_cast<T *>(out.data) + offset[1]);
                }
              });
  return ASTRA_OK;
}

template <class T>
astra_outcome_t copy(const astra_call_t *call, const astra_arg_t *args) {
  if (args[0].data == args[1].data) // then it is one view
    return ASTRA_OK;
  int transposed = transposedAxis(args[0], args[1]);
  if (transposed >= 0)
    return copyTransposed<T>(call, args[0], args[1], uint32_t(transposed));
  Nest<2> nest = nestOf<2>(args);
  uint32_t rank = args[0].rank;
  if (rank >= 3 && nest.innerExtent() < 8 &&
      nest.innerExtent() == args[0].shape[rank - 1])
    return copyShort<T>(call, args[0], args[1]);
  const T *in = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  int64_t si = nest.innerStride(0), so = nest.innerStride(1);
  parallelFor(call, nest.size(), elementGrain, [&](int64_t begin, int64_t end) {
    nest.walk(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
      moveRun(in + offset[0], si, out + offset[1], so, count);
      return true;
    });
  });
  return ASTRA_OK;
}

} // namespace

#define COPY(op, width, version, doc)                                          \
  ASTRA_DEFINE_VARIANT(op, width, 1d, copy<T_##width>(call, args))
#include "kernels/kernels.def"
