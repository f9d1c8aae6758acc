// Products that are too small, or have too few rows, for packing to be worth
// it: the operands are read where they are. Columns of b that lie side by side
// are read a vector at a time, up to the last one through a mask; columns that
// are consecutive along k are transposed in registers. Few rows make wide
// tiles: there must be chains enough to hide the latency of an fma, and long
// runs of memory.
#ifndef ASTRA_KERNELS_CPU_DIRECTPRODUCT_H
#define ASTRA_KERNELS_CPU_DIRECTPRODUCT_H

#include "kernels/Call.h"
#include "kernels/Contraction.h"
#include "kernels/cpu/Pack.h"

ASTRA_KERNELS_BEGIN

/// Vectors of columns that a tile of so many rows is wide.
template <class C> constexpr int vectorsOf(int rows) {
  if (Tile<C>::rows == 14)
    return rows == 1   ? 16
           : rows == 2 ? 12
           : rows == 3 ? 8
           : rows == 4 ? 6
           : rows <= 6 ? 4
           : rows <= 9 ? 3
                       : 2;
  return rows == 1 ? 8 : rows <= 3 ? 4 : rows == 4 ? 3 : 2;
}

/// One chain for M rows and N vectors of columns, the last of `last` columns.
template <class C, int M, int N> void directChain(const TileCall<C> &t) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes, groups = (M + 3) / 4;
  typename Tile<C>::Mask mask = firstLanes<C>(t.last);
  V chains[M][N] = {};
  const C *rows[groups], *b = t.b;
#pragma clang loop unroll(full)
  for (int g = 0; g < groups; ++g)
    rows[g] = t.a + 4 * g * t.aRow;
  for (int64_t i = 0; i < t.k; ++i, b += t.bStride) {
    V columns[N];
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      const C *from = b + v * lanes;
      columns[v] = v < N - 1 ? loadVector(from) : loadLanes(from, mask);
      __builtin_prefetch(from + rowsAhead * t.bStride);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = rows[r / 4][r % 4 * t.aRow];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
#pragma clang loop unroll(full)
    for (int g = 0; g < groups; ++g)
      rows[g] += t.aStep;
  }
  addChains<C, M, N, true>(t, chains, mask);
}

template <class C, int M, int... N>
inline TileFunction<C> chooseVectors(int64_t vectors,
                                     std::integer_sequence<int, N...>) {
  static constexpr TileFunction<C> table[] = {directChain<C, M, N + 1>...};
  return table[vectors - 1];
}
template <class C, int M> inline TileFunction<C> directOfRows(int64_t vectors) {
  return chooseVectors<C, M>(
      vectors, std::make_integer_sequence<int, vectorsOf<C>(M)>());
}
template <class C, int... M>
inline TileFunction<C> chooseDirect(int64_t rows, int64_t vectors,
                                    std::integer_sequence<int, M...>) {
  using Chooser = TileFunction<C> (*)(int64_t);
  static constexpr Chooser table[] = {directOfRows<C, M + 1>...};
  return table[rows - 1](vectors);
}
template <class C>
inline TileFunction<C> directOf(int64_t rows, int64_t vectors) {
  return chooseDirect<C>(rows, vectors,
                         std::make_integer_sequence<int, Tile<C>::rows>());
}

/// Elements of a line that are read ahead.
constexpr int64_t linesAhead = 128;

/// One chain for M rows and at most a vector of columns, each consecutive along
/// k; from one to the next it is bStride.
template <class C, int M> void lineChain(const TileCall<C> &t) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  V chains[M][1] = {};
  const C *lines[lanes];
  for (int j = 0; j < lanes; ++j)
    lines[j] = t.b + (j < t.last ? j : 0) * t.bStride;
  const C *a = t.a;
  auto step = [&](V columns) ASTRA_INLINE {
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r)
      chains[r][0] =
          __builtin_elementwise_fma(V(a[r * t.aRow]), columns, chains[r][0]);
    a += t.aStep;
  };
  for (int64_t i = 0; i < t.k; i += lanes) {
    int64_t count = t.k - i < lanes ? t.k - i : lanes;
    V square[lanes];
#pragma clang loop unroll(full)
    for (int j = 0; j < lanes; ++j) {
      square[j] = loadLine(lines[j] + i, count);
      __builtin_prefetch(lines[j] + i + linesAhead);
    }
    transposeSquare<lanes / 2>(square);
    if (count == lanes) {
#pragma clang loop unroll(full)
      for (int u = 0; u < lanes; ++u)
        step(square[u]);
    } else {
      for (int64_t u = 0; u < count; ++u)
        step(square[u]);
    }
  }
  addChains<C, M, 1, true>(t, chains, firstLanes<C>(t.last));
}

/// More rows than this are worth transposing b into memory.
constexpr int64_t lineRows = 4;

template <class C, int... M>
inline TileFunction<C> chooseLine(int64_t rows,
                                  std::integer_sequence<int, M...>) {
  static constexpr TileFunction<C> table[] = {lineChain<C, M + 1>...};
  return table[rows - 1];
}

/// A product of operands that are each one run along every group of axes.
template <class C> class DirectProduct {
public:
  DirectProduct(const Contraction &c, const C *a, const C *b, C *out)
      : c(c), a(a), b(b), out(out), m(c.rows.size()), n(c.columns.size()),
        k(c.contracted.size()) {
    tile.aRow = c.rows.innerStride(0);
    tile.aStep = c.contracted.innerStride(0);
    tile.fromStride = tile.toStride = c.rows.innerStride(1);
    lines = n > 1 && c.columns.innerStride(0) != 1;
    tile.bStride =
        lines ? c.columns.innerStride(0) : c.contracted.innerStride(1);
    rowTiles = (m + Tile<C>::rows - 1) / Tile<C>::rows;
    width = lines ? Tile<C>::lanes
                  : vectorsOf<C>(int((m + rowTiles - 1) / rowTiles)) *
                        Tile<C>::lanes;
  }

  /// Is it worth it? The result holds the sums.
  bool fits() const {
    bool runs = c.contracted.innerExtent() == k && c.rows.innerExtent() == m &&
                c.columns.innerExtent() == n &&
                (n == 1 || c.columns.innerStride(1) == 1) &&
                k <= chainLength * foldLength;
    if (!runs)
      return false;
    if (lines)
      return m <= lineRows && c.contracted.innerStride(1) == 1;
    return m <= Tile<C>::rows || (n <= 4 * Tile<C>::columns && n * k <= 8192);
  }

  void run(const astra_call_t *call) {
    int64_t pieces = (n + width - 1) / width;
    int64_t grain = 100000 / (m * k * width + 1) + 1;
    parallelFor(call, c.batch.size() * pieces, grain,
                [&](int64_t begin, int64_t end) {
                  while (begin < end) {
                    int64_t batch = begin / pieces, first = begin % pieces;
                    int64_t last = first + (end - begin);
                    last = last < pieces ? last : pieces;
                    makeColumns(batch, first * width,
                                last * width < n ? last * width : n);
                    begin += last - first;
                  }
                });
  }

private:
  /// Columns of one product, chain by chain.
  void makeColumns(int64_t batch, int64_t begin, int64_t end) const {
    int64_t base[3];
    c.batch.offsetsAt(batch, base);
    for (int64_t p = 0; p < k; p += chainLength)
      for (int64_t t = 0, row = 0; t < rowTiles; ++t) {
        int64_t rows = m / rowTiles + (t < m % rowTiles);
        TileCall<C> call = tile;
        call.k = k - p < chainLength ? k - p : chainLength;
        call.a = a + base[0] + row * tile.aRow + p * tile.aStep;
        call.b = b + base[1] + p * c.contracted.innerStride(1);
        call.to = out + base[2] + row * tile.toStride;
        addRows(call, rows, p > 0, begin, end);
        row += rows;
      }
  }

  void addRows(const TileCall<C> &of, int64_t rows, bool adds, int64_t begin,
               int64_t end) const {
    constexpr int64_t lanes = Tile<C>::lanes;
    int64_t step = lines ? lanes : vectorsOf<C>(int(rows)) * lanes;
    for (int64_t j = begin; j < end; j += step) {
      TileCall<C> call = of;
      int64_t count = end - j < step ? end - j : step;
      int64_t vectors = (count + lanes - 1) / lanes;
      call.last = count - (vectors - 1) * lanes;
      call.b += j * (lines ? tile.bStride : 1);
      call.to += j;
      call.from = adds ? call.to : nullptr;
      tileFor(rows, vectors)(call);
    }
  }

  TileFunction<C> tileFor(int64_t rows, int64_t vectors) const {
    if (lines)
      return chooseLine<C>(rows, std::make_integer_sequence<int, lineRows>());
    return directOf<C>(rows, vectors);
  }

  const Contraction &c;
  const C *a, *b;
  C *out;
  int64_t m, n, k, rowTiles, width;
  bool lines; // the columns of b are consecutive along k, not side by side
  TileCall<C> tile = {};
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_DIRECTPRODUCT_H
