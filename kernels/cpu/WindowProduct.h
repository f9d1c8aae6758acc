// Convolutions as products. The rows of a are windows that overlap in memory:
// packed, each element would be written as often as windows hold it. So they
// are read where they are, one value of each row at a time, and meet whole
// vectors of columns, the weights, which are packed once for all. A tile keeps
// within a run of rows that lie side by side, and the result is transposed
// where its columns lie apart.
#ifndef ASTRA_KERNELS_CPU_WINDOWPRODUCT_H
#define ASTRA_KERNELS_CPU_WINDOWPRODUCT_H

#include "kernels/Call.h"
#include "kernels/Contraction.h"
#include "kernels/cpu/Pack.h"

ASTRA_KERNELS_BEGIN

/// Places in a window that are asked for ahead.
constexpr int64_t placesAhead = 8;

/// One chain for M rows, a[places[k] + row * Apart], and two packed vectors of
/// columns. Where the result will lie is asked for meanwhile: `next`, and
/// nextStep on for every eight k.
template <class C, int M, int Apart> void windowChain(const TileCall<C> &t) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes, N = 2, together = 4;
  V chains[M][N] = {};
  const C *a = t.a, *b = t.b, *next = t.next;
  const int64_t *places = t.places;
  auto step = [&](int u) ASTRA_INLINE {
    const C *ahead = a + places[u + placesAhead];
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + (M - 1) * Apart);
    V columns[N];
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      const C *from = b + u * N * lanes + v * lanes;
      columns[v] = loadVector(from);
      __builtin_prefetch(from + rowsAhead * N * lanes);
    }
    const C *window = a + places[u];
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = window[r * Apart];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
  };
  int64_t i = 0;
  for (; i + together <= t.k; i += together) {
    if (i % 8 == 0) {
      __builtin_prefetch(next, 1, 2);
      next += t.nextStep;
    }
#pragma clang loop unroll(full)
    for (int u = 0; u < together; ++u)
      step(u);
    b += together * N * lanes;
    places += together;
  }
  for (; i < t.k; ++i, b += N * lanes, ++places)
    step(0);
  addChains<C, M, N>(t, chains);
}

/// The fewest rows of a tile that are worth it.
template <class C> constexpr int windowRows = (Tile<C>::rows + 1) / 2;

template <class C, int Apart, int... M>
inline TileFunction<C> chooseWindow(int64_t rows,
                                    std::integer_sequence<int, M...>) {
  static constexpr TileFunction<C> table[] = {
      windowChain<C, windowRows<C> + M, Apart>...};
  return table[rows - windowRows<C>];
}
/// The tile of so many rows, which lie one or two elements apart.
template <class C>
inline TileFunction<C> windowOf(int64_t rows, int64_t apart) {
  using Choices =
      std::make_integer_sequence<int, Tile<C>::rows - windowRows<C> + 1>;
  return apart == 1 ? chooseWindow<C, 1>(rows, Choices())
                    : chooseWindow<C, 2>(rows, Choices());
}

/// A product of at least one element over at least one k.
template <class C> class WindowProduct {
public:
  WindowProduct(const Contraction &c, const C *a, const C *b, C *out)
      : c(c), a(a), b(b), out(out), n(c.columns.size()), k(c.contracted.size()),
        run(c.rows.innerExtent()), apart(c.rows.innerStride(0)),
        panels((n + panel - 1) / panel) {
    int64_t tilesInRun = (run + Tile<C>::rows - 1) / Tile<C>::rows;
    strips = (tilesInRun + tilesInStrip - 1) / tilesInStrip;
    total = c.rows.size() / run * strips;
    // As many strips as sums of them stay in the near caches.
    together = nearSums / (panels * stripSize);
    together = together < 1 ? 1 : together > 8 ? 8 : together;
  }

  /// Can it be made here?
  bool isPossible() const {
    return c.rows.innerStride(1) == 1 && c.columns.innerExtent() == n &&
           (apart == 1 || apart == 2) && run >= windowRows<C> &&
           c.batch.size() == 1 && k <= chainLength * foldLength;
  }

  /// Is it worth it? Else windows are packed beside each other: always if they
  /// are whole vectors, and where vectors and tiles are small.
  bool fits() const {
    if (!isPossible())
      return false;
    if (apart == 2 || run < lanes)
      return k >= 32 && 4 * n >= 3 * panels * panel;
    return Tile<C>::rows == 14 && run % lanes != 0 && k >= chainLength &&
           n <= 6 * panel && 8 * n >= 7 * panels * panel;
  }

  /// Memory for packed weights, and for where the k are in a window.
  int64_t sizeOfWeights() const {
    return (k + rowsAhead) * panels * panel +
           (k + placesAhead) * int64_t(sizeof(int64_t) / sizeof(C));
  }
  void packWeights(const astra_call_t *call, C *to) {
    useWeights(to);
    findPlaces(places);
    parallelFor(call, panels, 65536 / (k * panel) + 1,
                [&](int64_t begin, int64_t end) {
                  for (int64_t p = begin; p < end; ++p)
                    packPanel(p);
                });
  }
  /// Those that were packed before, for the same weights and windows.
  void useWeights(C *from) {
    packed = from;
    places =
        reinterpret_cast<int64_t *>(from + (k + rowsAhead) * panels * panel);
  }

  int64_t blocks() const { return (total + together - 1) / together; }
  int64_t sizeOfSums() const {
    return k > chainLength ? together * panels * stripSize : 0;
  }

  /// Some strips of the result, chain by chain.
  void make(int64_t block, C *sums) const {
    int64_t first = block * together;
    int64_t end = first + together < total ? first + together : total;
    for (int64_t firstK = 0; firstK < k; firstK += chainLength) {
      int64_t ks = k - firstK < chainLength ? k - firstK : chainLength;
      for (int64_t p = 0; p < panels; ++p)
        for (int64_t s = first; s < end; ++s)
          addStrip(stripAt(s), p, firstK, ks,
                   sums + (p * together + s - first) * stripSize);
    }
  }

  /// All of it; false if there is no memory.
  bool runAll(const astra_call_t *call) {
    Scratch<C> weights(call, sizeOfWeights());
    if (!weights)
      return false;
    packWeights(call, weights.get());
    int64_t work = together * stripRows * k * n;
    bool failed = false;
    parallelFor(call, blocks(), 200000 / (work + 1) + 1,
                [&](int64_t begin, int64_t end) {
                  Scratch<C> sums(call, sizeOfSums() + 1);
                  if (!sums)
                    __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                  for (; sums && begin < end; ++begin)
                    make(begin, sums.get());
                });
    return !failed;
  }

private:
  static constexpr int64_t lanes = Tile<C>::lanes, panel = Tile<C>::columns;
  static constexpr int64_t tilesInStrip = 4;
  static constexpr int64_t stripRows = tilesInStrip * Tile<C>::rows;
  static constexpr int64_t stripSize = stripRows * panel;
  static constexpr int64_t nearSums = 1 << 16;

  /// Consecutive rows within a run, in a few tiles.
  struct Strip {
    int64_t in, out, rows, tiles;
    int64_t rowsOf(int64_t tile) const {
      return rows / tiles + (tile < rows % tiles);
    }
  };

  Strip stripAt(int64_t index) const {
    int64_t begin = index % strips * run / strips;
    int64_t end = (index % strips + 1) * run / strips, at[2];
    c.rows.offsetsAt(index / strips * run + begin, at);
    return {at[0], at[1], end - begin,
            (end - begin + Tile<C>::rows - 1) / Tile<C>::rows};
  }

  /// The weights of a panel from k on: [chain][panel][k][column].
  C *weightsAt(int64_t panelIndex, int64_t firstK, int64_t ks) const {
    return packed + (firstK * panels + panelIndex * ks) * panel;
  }

  void packPanel(int64_t index) {
    int64_t count = n - index * panel < panel ? n - index * panel : panel;
    const C *lines[panel];
    for (int64_t j = 0; j < panel; ++j) {
      int64_t at[2];
      c.columns.offsetsAt(index * panel + (j < count ? j : 0), at);
      lines[j] = b + at[0];
    }
    int64_t step = c.contracted.innerStride(1);
    for (int64_t firstK = 0; firstK < k; firstK += chainLength) {
      int64_t ks = k - firstK < chainLength ? k - firstK : chainLength;
      C *to = weightsAt(index, firstK, ks);
      c.contracted.walk(
          firstK, firstK + ks, [&](const int64_t (&at)[2], int64_t length) {
            if (step == 1 && length >= lanes && count == panel)
              packTransposed(lines, at[1], panel, panel, length, to);
            else
              for (int64_t i = 0; i < length; ++i)
                for (int64_t j = 0; j < panel; ++j)
                  to[i * panel + j] =
                      j < count ? lines[j][at[1] + i * step] : C(0);
            to += length * panel;
            return true;
          });
    }
  }

  /// A few more are only looked at.
  void findPlaces(int64_t *to) const {
    c.contracted.walk(0, k, [&](const int64_t (&at)[2], int64_t length) {
      for (int64_t i = 0; i < length; ++i)
        *to++ = at[0] + i * c.contracted.innerStride(0);
      return true;
    });
    for (int64_t i = 0; i < placesAhead; ++i)
      to[i] = to[-1];
  }

  void addStrip(const Strip &strip, int64_t p, int64_t firstK, int64_t ks,
                C *sums) const {
    alignas(64) C edge[(stripRows + lanes) * panel];
    bool last = firstK + ks == k;
    int64_t at[2], row = 0;
    c.columns.offsetsAt(p * panel, at);
    C *to = out + strip.out + at[1];
    TileCall<C> tile = {};
    tile.b = weightsAt(p, firstK, ks);
    tile.k = ks;
    tile.fromStride = tile.toStride = panel;
    tile.places = places + firstK;
    // The result is asked for before the last chain, which may be short.
    bool soon = last ? k <= chainLength : firstK + 2 * chainLength >= k;
    tile.nextStep = soon ? c.columns.innerStride(1) : 0;
    for (int64_t i = 0; i < strip.tiles; ++i) {
      int64_t rows = strip.rowsOf(i);
      tile.a = a + strip.in + row * apart;
      tile.next = to + row;
      tile.from = firstK ? sums + row * panel : nullptr;
      tile.to = (last ? edge : sums) + row * panel;
      windowOf<C>(rows, apart)(tile);
      row += rows;
    }
    if (last)
      write(edge, strip.rows, p, to);
  }

  /// The rows of a strip become columns of the result's.
  void write(const C *from, int64_t rows, int64_t p, C *to) const {
    int64_t step = c.columns.innerStride(1);
    int64_t count = n - p * panel < panel ? n - p * panel : panel;
    for (int64_t j = 0; j < count; j += lanes)
      for (int64_t i = 0; i < rows; i += lanes) {
        typename Tile<C>::Vector square[lanes];
        typename Tile<C>::Mask mask = firstLanes<C>(rows - i);
#pragma clang loop unroll(full)
        for (int r = 0; r < lanes; ++r)
          square[r] = loadVector(from + (i + r) * panel + j);
        transposeSquare<lanes / 2>(square);
        int64_t wide = count - j < lanes ? count - j : lanes;
        C *at = to + j * step + i;
#pragma clang loop unroll(full)
        for (int r = 0; r < lanes; ++r, at += step)
          if (r < wide)
            storeLanes<C>(at, square[r], mask);
      }
  }

  const Contraction &c;
  const C *a, *b;
  C *out, *packed = nullptr;
  int64_t *places = nullptr; // of the k in a window
  int64_t n, k, run, apart, panels;
  int64_t strips;   // in a run
  int64_t total;    // strips of the result
  int64_t together; // strips of a block
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_WINDOWPRODUCT_H
