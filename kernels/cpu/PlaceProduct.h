// Convolutions whose result has 3 by 3 places: what the derivative of such
// weights is. Its k run over whole images, so windows that are packed would
// take longer than their products. Here lines of x are set out with zeros
// around them, a few at a time, and the nine windows of a channel are read
// where they are; they meet whole vectors of outputs, which are packed for all
// channels. Folds of chains are tasks; their sums are combined at last.
#ifndef ASTRA_KERNELS_CPU_PLACEPRODUCT_H
#define ASTRA_KERNELS_CPU_PLACEPRODUCT_H

#include "kernels/Call.h"
#include "kernels/Convolution.h"
#include "kernels/cpu/Pack.h"
#include <cstring>

ASTRA_KERNELS_BEGIN

/// One chain for 3 by 3 rows, a[places[k] + i * aRow + j], and two packed
/// vectors of columns.
template <class C> void placesChain(const TileCall<C> &t) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes, N = 2, side = 3;
  V chains[side * side][N] = {};
  const C *b = t.b;
#pragma clang loop unroll_count(2)
  for (int64_t at = 0; at < t.k; ++at, b += N * lanes) {
    const C *window = t.a + t.places[at];
    V columns[N];
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      columns[v] = loadVector(b + v * lanes);
#pragma clang loop unroll(full)
    for (int r = 0; r < side * side; ++r) {
      V x = window[r / side * t.aRow + r % side];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
  }
  addChains<C, side * side, N>(t, chains);
}

class PlaceProduct {
public:
  /// Are there registers for nine rows by two vectors?
  static constexpr bool isPossible = Tile<float>::rows == 14;

  explicit PlaceProduct(const Convolution &c) : c(c) {
    if (!hasPlaces())
      return;
    channels = c.x.shape[0];
    outputs = c.w.shape[0];
    height = c.w.shape[2];
    width = c.w.shape[3];
    for (uint32_t d = 1; d < c.w.rank; ++d)
      contracted.addAxis(c.w.shape[d], {c.w.strides[d]});
    k = contracted.size();
    folds = (k + foldSize - 1) / foldSize;
    panels = (outputs + panel - 1) / panel;
    line = width + side - 1;
  }

  /// Is it worth it?
  bool fits() const {
    return k >= foldSize && width >= 4 && width <= span &&
           4 * outputs >= 3 * panels * panel && c.w.strides[3] == 1 &&
           c.x.strides[3] == 1 &&
           folds * channels * sizeOfChannel() <= mostSums;
  }

  astra_outcome_t run(const astra_call_t *call) const {
    Scratch<float> sums(call, folds * channels * sizeOfChannel());
    if (!sums)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    int64_t groups = (channels + together - 1) / together;
    int64_t most = channels < together ? channels : together;
    bool failed = false;
    parallelFor(call, folds * groups, 1, [&](int64_t begin, int64_t end) {
      Scratch<float> room(call, most * sizeOfRoom());
      Scratch<float> packed(call, chainLength * panel);
      if (!room || !packed)
        __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
      for (; room && packed && begin < end; ++begin)
        makeFold(begin / groups, begin % groups * together, room.get(),
                 packed.get(), sums.get());
    });
    if (failed)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    parallelFor(call, channels, 1, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin)
        finish(begin, sums.get());
    });
    return ASTRA_OK;
  }

private:
  static constexpr int64_t side = 3, panel = Tile<float>::columns;
  static constexpr int64_t foldSize = chainLength * foldLength;
  static constexpr int64_t span = 4 * chainLength; // k that are set out at once
  static constexpr int64_t together = 64;          // channels of a task
  static constexpr int64_t mostSums = 1 << 24;

  bool hasPlaces() const {
    if (c.spatial != 2 || sizeOf(c.w) == 0 || sizeOf(c.out) == 0)
      return false;
    for (uint32_t i = 0; i < 2; ++i)
      if (c.out.shape[2 + i] != side || c.axes[i].stride != 1 ||
          c.axes[i].dilation != 1)
        return false;
    return true;
  }

  int64_t sizeOfChannel() const { return panels * side * side * panel; }
  float *sumsOf(int64_t fold, int64_t channel, float *sums) const {
    return sums + (fold * channels + channel) * sizeOfChannel();
  }

  /// Of one channel: the lines that windows of so many k touch.
  int64_t sizeOfRoom() const {
    int64_t images = span / (height * width) + 2;
    return (span / width + 2 + images * (side - 1)) * line;
  }

  /// All chains of a fold for some channels.
  void makeFold(int64_t fold, int64_t channel, float *room, float *packed,
                float *sums) const {
    int64_t first = fold * foldSize, places[span];
    int64_t end = first + foldSize < k ? first + foldSize : k;
    int64_t last =
        channel + together < channels ? channel + together : channels;
    for (int64_t at = first; at < end; at += span) {
      int64_t stop = at + span < end ? at + span : end;
      setOut(at, stop, channel, last, room, places);
      for (int64_t p = at; p < stop; p += chainLength) {
        TileCall<float> tile = {};
        tile.k = stop - p < chainLength ? stop - p : chainLength;
        tile.places = places + (p - at);
        tile.aRow = line;
        tile.b = packed;
        tile.fromStride = tile.toStride = panel;
        for (int64_t q = 0; q < panels; ++q) {
          packPanel(q, p, tile.k, packed);
          for (int64_t i = channel; i < last; ++i) {
            tile.a = room + (i - channel) * sizeOfRoom();
            tile.to = sumsOf(fold, i, sums) + q * side * side * panel;
            tile.from = p == first ? nullptr : tile.to;
            placesChain<float>(tile);
          }
        }
      }
    }
  }

  /// Sets out the lines around the k in [at, stop), image by image, and finds
  /// where the windows begin.
  void setOut(int64_t at, int64_t stop, int64_t channel, int64_t last,
              float *room, int64_t *places) const {
    for (int64_t used = 0; at < stop;) {
      int64_t image = at / (height * width), of = at % (height * width);
      int64_t count =
          height * width - of < stop - at ? height * width - of : stop - at;
      int64_t top = of / width;
      int64_t lines = (of + count - 1) / width - top + side;
      for (int64_t i = channel; i < last; ++i)
        fill(image, i, top, lines, room + (i - channel) * sizeOfRoom() + used);
      for (int64_t i = of; i < of + count; ++i)
        *places++ = used + (i / width - top) * line + i % width;
      used += lines * line;
      at += count;
    }
  }

  void fill(int64_t image, int64_t channel, int64_t top, int64_t lines,
            float *to) const {
    const float *from = static_cast<const float *>(c.x.data) +
                        channel * c.x.strides[0] + image * c.x.strides[1];
    int64_t low = c.axes[1].low, begin = low > 0 ? low : 0;
    int64_t end = low + c.x.shape[3] < line ? low + c.x.shape[3] : line;
    for (int64_t i = 0; i < lines; ++i, to += line) {
      int64_t row = top + i - c.axes[0].low;
      bool any = row >= 0 && row < c.x.shape[2] && begin < end;
      int64_t left = any ? begin : line;
      std::memset(to, 0, size_t(left) * sizeof(float));
      if (!any)
        continue;
      copyShort(from + row * c.x.strides[2] + begin - low, end - begin,
                to + begin);
      std::memset(to + end, 0, size_t(line - end) * sizeof(float));
    }
  }

  /// to[k][output], the first of them again where there is none.
  void packPanel(int64_t index, int64_t firstK, int64_t ks, float *to) const {
    const float *lines[panel];
    for (int64_t j = 0; j < panel; ++j) {
      int64_t output = index * panel + j;
      lines[j] = static_cast<const float *>(c.w.data) +
                 (output < outputs ? output : index * panel) * c.w.strides[0];
    }
    contracted.visit(firstK, firstK + ks,
                     [&](const int64_t (&at)[1], int64_t run) {
                       packTransposed(lines, at[0], panel, panel, run, to);
                       to += run * panel;
                       return true;
                     });
  }

  /// The tree over the folds, and the result.
  void finish(int64_t channel, float *sums) const {
    for (int64_t apart = 1; apart < folds; apart *= 2)
      for (int64_t f = 0; f + apart < folds; f += 2 * apart) {
        float *left = sumsOf(f, channel, sums);
        const float *right = sumsOf(f + apart, channel, sums);
        for (int64_t i = 0; i < sizeOfChannel(); ++i)
          left[i] += right[i];
      }
    const float *sum = sumsOf(0, channel, sums);
    float *to = static_cast<float *>(c.out.data) + channel * c.out.strides[0];
    for (int64_t j = 0; j < outputs; ++j)
      for (int64_t r = 0; r < side * side; ++r)
        to[j * c.out.strides[1] + r / side * c.out.strides[2] +
           r % side * c.out.strides[3]] =
            sum[(j / panel * side * side + r) * panel + j % panel];
  }

  const Convolution &c;
  Nest<1> contracted;
  int64_t channels = 0, outputs = 0, height = 0, width = 0;
  int64_t k = 0, folds = 0, panels = 0;
  int64_t line = 0; // of x with zeros around it
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PLACEPRODUCT_H
