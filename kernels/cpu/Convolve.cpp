// Convolutions with zeros around x. Where windows are read where they are
// (WindowProduct.h), a task sets out what a few rows of the result need of one
// sample, in memory that stays in its caches; else all of x is set out first.
// Where a fused map takes the result (FusedProduct.h), it gets it band by band.
#include "kernels/Convolution.h"
#include "kernels/FusedProduct.h"
#include "kernels/Window.h"
#include "kernels/cpu/PlaceProduct.h"
#include "kernels/cpu/WindowProduct.h"

using namespace astra;

#ifdef __AVX512F__
#define CONTRACT_NAME ASTRA_VARIANT_NAME(contract, f32, 14x32)
#else
#define CONTRACT_NAME ASTRA_VARIANT_NAME(contract, f32, 6x16)
#endif
#define SET_OUT_NAME ASTRA_VARIANT_NAME(set_out, b32, 1d)

extern "C" {
astra_outcome_t SET_OUT_NAME(const astra_call_t *, const astra_arg_t *,
                             const int64_t *);
astra_outcome_t CONTRACT_NAME(const astra_call_t *, const astra_arg_t *,
                              const int64_t *);
}

namespace {

/// A convolution cut into bands: rows of the outermost axis of O in a sample.
class Bands {
public:
  explicit Bands(const Convolution &c)
      : c(c), rows(c.out.shape[2]), weights(c.weights()) {
    height = rows;
    while (height > 1 && sizeOfRoom(height) > nearFloats)
      height = (height + 1) / 2;
    while (height > leastRows && count() < leastBands)
      height = (height + 1) / 2;
    room = c.room(1, height);
  }

  int64_t count() const { return c.x.shape[0] * inSample(); }

  /// The product of a band whose room is `memory`.
  struct Band {
    Contraction contraction;
    WindowProduct<float> product;
    Band(const Band &) = delete;
    Band(const Contraction &of, const float *memory, const float *w, float *out)
        : contraction(of), product(contraction, memory, w, out) {}
  };

  /// If the result is kept, a channel of it after the other.
  ASTRA_SHARED Band at(int64_t index, float *memory, float *kept) const {
    int64_t row = index % inSample() * height;
    int64_t of = rows - row < height ? rows - row : height;
    MadeView windows = c.windows(room, of), result = c.result(1, of);
    float *out = kept;
    if (kept) {
      int64_t stride = 1;
      for (uint32_t d = result.rank - 1; d-- > 0; stride *= result.shape[d])
        result.strides[d] = stride;
      result.strides[result.rank - 1] = stride;
    } else {
      out = static_cast<float *>(c.out.data) +
            index / inSample() * c.out.strides[0] + row * c.out.strides[2];
    }
    astra_arg_t args[] = {windows.at(memory, 0), weights.at(c.w.data, 0),
                          result.at(out, 0)};
    return Band(Contraction(args, 0, c.contracted()), memory,
                static_cast<const float *>(c.w.data), out);
  }

  /// Is it worth it, with a result that is kept or not?
  bool areFast(bool keeps) const {
    float none = 0, *kept = keeps ? &none : nullptr;
    return at(0, nullptr, kept).product.fits() &&
           at(count() - 1, nullptr, kept).product.isPossible();
  }

  /// Are channels of a band so short that a map of all of them is quicker?
  bool areShort() const { return height * lineOfResult() < 128; }

  int64_t sizeOfRoom() const { return sizeOfRoom(height); }
  /// Elements of a band's result.
  int64_t sizeOfResult() const {
    return height * lineOfResult() * c.w.shape[0];
  }

  /// Gives the result of a band to those who take it.
  ASTRA_SHARED void handOver(int64_t index, const FusedBoxes &boxes,
                             float *kept) const {
    int64_t row = index % inSample() * height, line = lineOfResult();
    int64_t of = rows - row < height ? rows - row : height;
    boxes.run({index / inSample(), row * line, of * line, 0, c.w.shape[0], kept,
               1, of * line});
  }

  /// Sets out what a band needs.
  void fill(int64_t index, float *memory) const {
    int64_t low[ASTRA_MAX_RANK], one = 1;
    MadeView part;
    for (uint32_t d = 1; d < room.rank; ++d)
      part.add(room.shape[d], room.strides[d]);
    astra_arg_t args[2 * ASTRA_MAX_RANK + 2] = {c.x};
    args[0].shape += 1;
    args[0].strides += 1;
    --args[0].rank;
    for (uint32_t i = 0; i < c.spatial; ++i) {
      int64_t above = i ? 0 : index % inSample() * height * c.axes[0].stride;
      low[i] = c.axes[i].low - above;
      args[1 + 2 * i] = {&low[i], nullptr, nullptr, 0, 0};
      args[2 + 2 * i] = {&one, nullptr, nullptr, 0, 0};
    }
    args[1 + 2 * c.spatial] = part.at(memory, 0);
    Placement placement(args, 2 * int64_t(c.spatial));
    const Nest<2> &kept = placement.kept;
    const float *from = static_cast<const float *>(c.x.data) +
                        index / inSample() * c.x.strides[0] + placement.from;
    const float zero = 0;
    loadRun(&zero, 0, sizeOfRoom(), memory);
    int64_t si = kept.innerStride(0), so = kept.innerStride(1);
    kept.walk(0, kept.size(), [&](const int64_t (&at)[2], int64_t run) {
      float *to = memory + placement.to + at[1];
      const float *source = from + at[0];
      for (int64_t i = 0; i < run; i += perLine) // of the next channel
        __builtin_prefetch(source + c.x.strides[1] + i);
      if (si == 1 && so == 1)
        copyShort(source, run, to);
      else
        for (int64_t i = 0; i < run; ++i)
          to[i * so] = source[i * si];
      return true;
    });
  }

private:
  static constexpr int64_t perLine = 16, nearFloats = 1 << 16;
  static constexpr int64_t leastRows = 8, leastBands = 16; // for threads

  int64_t inSample() const { return (rows + height - 1) / height; }
  /// Places of a row of the outermost axis.
  ASTRA_SHARED int64_t lineOfResult() const {
    int64_t places = 1;
    for (uint32_t d = 3; d < c.out.rank; ++d)
      places *= c.out.shape[d];
    return places;
  }
  int64_t sizeOfRoom(int64_t of) const {
    MadeView view = c.room(1, of);
    return view.strides[0];
  }

  const Convolution &c;
  int64_t rows, height;
  MadeView room, weights;
};

/// Band by band, given to those who take the result if there are any; it may
/// have no place else.
astra_outcome_t convolveBands(const astra_call_t *call, const Bands &bands,
                              bool keeps, const FusedBoxes *boxes) {
  float none = 0;
  Bands::Band first = bands.at(0, nullptr, keeps ? &none : nullptr);
  Scratch<float> weights(call, first.product.sizeOfWeights());
  if (!weights)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  first.product.packWeights(call, weights.get());
  bool failed = false;
  parallelFor(call, bands.count(), 1, [&](int64_t begin, int64_t end) {
    Scratch<float> room(call, bands.sizeOfRoom());
    Scratch<float> sums(call, first.product.sizeOfSums() + 1);
    Scratch<float> kept(call, keeps ? bands.sizeOfResult() : 1);
    if (!room || !sums || !kept)
      __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
    for (; room && sums && kept && begin < end; ++begin) {
      bands.fill(begin, room.get());
      float *place = keeps ? kept.get() : nullptr;
      Bands::Band band = bands.at(begin, room.get(), place);
      band.product.useWeights(weights.get());
      for (int64_t i = 0; i < band.product.blocks(); ++i)
        band.product.make(i, sums.get());
      if (boxes)
        bands.handOver(begin, *boxes, place);
    }
  });
  return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
}

astra_outcome_t convolve(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params);

/// If there is a map, it takes the result, band by band where that is possible.
ASTRA_SHARED astra_outcome_t multiply(const astra_call_t *call,
                                      const astra_arg_t *args,
                                      const int64_t *params, ProductMap *map) {
  Convolution c(args, params[0]);
  if constexpr (PlaceProduct::isPossible)
    if (PlaceProduct places(c); places.fits())
      return map ? map->runInTurn(call, convolve) : places.run(call);
  if (sizeOf(c.out) > 0 && sizeOf(c.w) > 0) {
    Bands bands(c);
    bool keeps = map && !map->hasRoom;
    if (!(map && bands.areShort()) && bands.areFast(keeps)) {
      std::optional<FusedBoxes> boxes;
      if (map)
        boxes.emplace(*map, FusedBoxes::Axes{0, 1},
                      FusedBoxes::Axes{2, c.out.rank}, FusedBoxes::Axes{1, 2});
      return convolveBands(call, bands, keeps, boxes ? &*boxes : nullptr);
    }
  }
  return map ? map->runInTurn(call, convolve)
             : convolveWhole<float>(call, c, SET_OUT_NAME, CONTRACT_NAME);
}

astra_outcome_t convolve(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params) {
  return multiply(call, args, params, nullptr);
}
astra_outcome_t convolveMap(const astra_call_t *call, const astra_arg_t *args,
                            const int64_t *params) {
  ProductMap map(args, params, 2 + params[2]);
  return multiply(call, map.alone().all, map.own, &map);
}

} // namespace

ASTRA_DEFINE_VARIANT(conv, f32, bands, convolve(call, args, params))
ASTRA_DEFINE_VARIANT(conv_map, f32, bands, convolveMap(call, args, params))
