// Products of a batch whose operands are short lines of memory, one for each k,
// that may lie far apart: gradients of weights, which are summed over many
// rows. The lines of a chain are copied side by side, each once, and the tiles
// read both operands there. Where one line of a k has subnormals and the other
// is far from them, a power of two goes from one to the other as they are
// copied (Subnormal.h), which leaves their products as they are.
#ifndef ASTRA_KERNELS_CPU_LINEPRODUCT_H
#define ASTRA_KERNELS_CPU_LINEPRODUCT_H

#include "kernels/cpu/DirectProduct.h"

ASTRA_KERNELS_BEGIN

template <class C> class LineProduct {
public:
  LineProduct(const Contraction &c, const C *a, const C *b, C *out)
      : c(c), a(a), b(b), out(out), m(c.rows.size()), n(c.columns.size()),
        k(c.contracted.size()), ofA(m, c.contracted.innerStride(0)),
        ofB(n, c.contracted.innerStride(1)) {}

  /// Is it worth it? Products of the batch are what threads share.
  bool fits() const {
    return c.batch.size() >= 4 && k > chainLength / 2 &&
           k <= chainLength * foldLength && c.contracted.innerExtent() == k &&
           isLine(c.rows, m) && isLine(c.columns, n) &&
           c.columns.innerStride(1) == 1;
  }

  /// False if there is no memory.
  bool run(const astra_call_t *call) {
    int64_t work = m * n * k;
    bool failed = false;
    parallelFor(call, c.batch.size(), 100000 / work + 1,
                [&](int64_t begin, int64_t end) {
                  Scratch<C> lines(call, chainLength * (ofA.apart + ofB.apart));
                  if (!lines)
                    __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                  for (; lines && begin < end; ++begin)
                    make(begin, lines.get());
                });
    return !failed;
  }

private:
  static constexpr int64_t lanes = Tile<C>::lanes;
  static constexpr int64_t mostColumns = 4 * Tile<C>::columns;
  static constexpr bool scales = std::is_same_v<C, float>; // as PackedProduct.h

  /// Of one operand: its lines, and where copies of them are.
  struct Lines {
    Lines(int64_t length, int64_t step)
        : length(length), step(step),
          apart((length + lanes - 1) / lanes * lanes) {}
    int64_t length, step, apart;
  };

  static bool isLine(const Nest<2> &axes, int64_t size) {
    return size > Tile<C>::rows && size <= mostColumns &&
           axes.innerExtent() == size && axes.innerStride(0) == 1;
  }

  void make(int64_t index, C *lines) const {
    int64_t base[3], row = c.rows.innerStride(1);
    c.batch.offsetsAt(index, base);
    C *ofRows = lines, *ofColumns = lines + chainLength * ofA.apart;
    for (int64_t p = 0; p < k; p += chainLength) {
      int64_t ks = k - p < chainLength ? k - p : chainLength;
      copyLines(a + base[0] + p * ofA.step, b + base[1] + p * ofB.step, ks,
                k - p - ks, ofRows, ofColumns);
      TileCall<C> tile = {};
      tile.aRow = 1;
      tile.aStep = ofA.apart;
      tile.bStride = ofB.apart;
      tile.k = ks;
      tile.toStride = tile.fromStride = row;
      addRows(tile, ofRows, ofColumns, out + base[2], p > 0);
    }
  }

  /// Tiles differ by one row at most.
  void addRows(TileCall<C> &tile, const C *ofRows, const C *ofColumns, C *to,
               bool adds) const {
    int64_t tiles = (m + Tile<C>::rows - 1) / Tile<C>::rows;
    for (int64_t t = 0; t < tiles; ++t) {
      int64_t row = t * m / tiles, rows = (t + 1) * m / tiles - row;
      int64_t most = vectorsOf<C>(int(rows)) * lanes;
      tile.a = ofRows + row;
      for (int64_t j = 0; j < n; j += most) {
        int64_t count = n - j < most ? n - j : most;
        int64_t vectors = (count + lanes - 1) / lanes;
        tile.b = ofColumns + j;
        tile.last = count - (vectors - 1) * lanes;
        tile.to = to + row * tile.toStride + j;
        tile.from = adds ? tile.to : nullptr;
        directOf<C>(rows, vectors)(tile);
      }
    }
  }

  /// Copies the lines of some k, after which there are `more`.
  void copyLines(const C *rows, const C *columns, int64_t ks, int64_t more,
                 C *toRows, C *toColumns) const {
    for (int64_t i = 0; i < ks; ++i) {
      bool ahead = i + rowsAhead < ks + more;
      bool tinyRows = copyLine(ofA, rows, ahead, toRows);
      bool tinyColumns = copyLine(ofB, columns, ahead, toColumns);
      if constexpr (scales)
        if (tinyRows != tinyColumns)
          tinyRows ? scale(toRows, ofA.apart, toColumns, ofB.apart)
                   : scale(toColumns, ofB.apart, toRows, ofA.apart);
      rows += ofA.step;
      columns += ofB.step;
      toRows += ofA.apart;
      toColumns += ofB.apart;
    }
  }

  /// Copies a line, and +0 after its end. Has it subnormals?
  static ASTRA_INLINE bool copyLine(const Lines &of, const C *from, bool ahead,
                                    C *to) {
    Seen seen;
    for (int64_t i = 0; i < of.length; i += lanes) {
      if (ahead)
        __builtin_prefetch(from + rowsAhead * of.step + i);
      typename Tile<C>::Vector v =
          i + lanes <= of.length
              ? loadVector(from + i)
              : loadLanes(from + i, firstLanes<C>(of.length - i));
      storeVector(to + i, v);
      seen.add(v);
    }
    return seen.hasTiny();
  }

  /// Looks for subnormals, where that matters.
  struct Seen {
    using X = Tiny<float>;
    typename X::Naturals least = ~typename X::Naturals{}; // zeros are largest
    ASTRA_INLINE void add(typename Tile<C>::Vector v) {
      if constexpr (scales)
        least = __builtin_elementwise_min(
            least,
            __builtin_bit_cast(typename X::Naturals, X::magnitudes(v) - 1));
    }
    ASTRA_INLINE bool hasTiny() const {
      return scales &&
             __builtin_reduce_or(least < uint32_t(leastNormal - 1)) != 0;
    }
  };

  /// Makes a line with subnormals larger and the other one smaller by a power
  /// of two, unless a number that is not 0 would leave the normal ones.
  static void scale(C *tiny, int64_t ofTiny, C *other, int64_t ofOther) {
    C larger[mostColumns], smaller[mostColumns];
    Least least = leastOf(other, ofOther);
    if (!Scaled<C>().get(other, ofOther, least, false, smaller) ||
        !Scaled<C>().get(tiny, ofTiny, {}, true, larger))
      return;
    std::memcpy(tiny, larger, size_t(ofTiny) * sizeof(C));
    std::memcpy(other, smaller, size_t(ofOther) * sizeof(C));
  }

  const Contraction &c;
  const C *a, *b;
  C *out;
  int64_t m, n, k;
  Lines ofA, ofB;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_LINEPRODUCT_H
