// Products that are too small, or have too few rows, for packing to be worth
// it: the operands are read where they are. Columns of b that lie side by side
// are read a vector at a time, up to the last one through a mask; columns that
// are consecutive along k are transposed in registers. Few rows make wide
// tiles: there must be chains enough to hide the latency of an fma, and long
// runs of memory. Where b is far away it is read a few rows at a time, in runs
// that the processor sees coming, and the chains wait in cache meanwhile. A
// fused map that takes the result of many rows gets some of them at a time.
#ifndef ASTRA_KERNELS_CPU_DIRECTPRODUCT_H
#define ASTRA_KERNELS_CPU_DIRECTPRODUCT_H

#include "kernels/Call.h"
#include "kernels/Contraction.h"
#include "kernels/FusedProduct.h"
#include "kernels/cpu/Pack.h"
#include "kernels/cpu/Subnormal.h"
#include <optional>

ASTRA_KERNELS_BEGIN

/// Memory of a task: its own while it is small, else scratch.
template <class C> class Buffer {
public:
  Buffer(const astra_call_t *call, int64_t size) {
    if (size > own)
      memory = scratch.emplace(call, size).get();
  }
  explicit operator bool() const { return memory != nullptr; }
  C *get() const { return memory; }

private:
  static constexpr int64_t own = 2048;
  alignas(64) C small[own];
  std::optional<Scratch<C>> scratch;
  C *memory = small;
};

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

/// The rows of a tile, where they are: one address, and the distances of the
/// odd rows, so that each row is one operand of an instruction.
template <class C, int M> class Rows {
public:
  ASTRA_INLINE Rows(const C *first, int64_t apart) : at(address(first)) {
#pragma clang loop unroll(full)
    for (int odd = 1; odd < M; odd += 2) {
      int64_t distance = odd * apart * int64_t(sizeof(C));
      asm("" : "+r"(distance)); // not to be made of another
      distances[odd / 2] = distance;
    }
  }
  ASTRA_INLINE C operator[](int row) const {
    int shift = row ? __builtin_ctz(unsigned(row)) : 0;
    int64_t distance = row ? distances[(row >> shift) / 2] << shift : 0;
    C value;
    __builtin_memcpy(&value, at + distance, sizeof(C));
    return value;
  }
  ASTRA_INLINE void advance(int64_t step) { at += step * int64_t(sizeof(C)); }

private:
  static const char *address(const C *p) {
    return reinterpret_cast<const char *>(p);
  }
  const char *at;
  int64_t distances[M / 2 + 1];
};

template <class C, int M, int N>
ASTRA_INLINE inline void loadChains(const TileCall<C> &t,
                                    typename Tile<C>::Vector (&chains)[M][N]) {
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      chains[r][v] = loadVector(t.chains + r * t.apart + v * Tile<C>::lanes);
}
template <class C, int M, int N>
ASTRA_INLINE inline void
storeChains(const TileCall<C> &t,
            const typename Tile<C>::Vector (&chains)[M][N]) {
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      storeVector(t.chains + r * t.apart + v * Tile<C>::lanes, chains[r][v]);
}

/// Rows of b that are read ahead where more than four rows of a meet them; of
/// fewer, the loads themselves are far enough ahead.
constexpr int64_t rowsSoon = 4;

/// A piece of a chain for M rows and N vectors of columns, the last of `last`
/// columns.
template <class C, int M, int N> void directChain(const TileCall<C> &t) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  typename Tile<C>::Mask mask = firstLanes<C>(t.last);
  V chains[M][N] = {};
  if (t.begun)
    loadChains<C, M, N>(t, chains);
  Rows<C, M> rows(t.a, t.aRow);
  const C *b = t.b;
  for (int64_t i = 0; i < t.k; ++i, b += t.bStride) {
    V columns[N];
    if (M > 4)
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        __builtin_prefetch(b + rowsSoon * t.bStride + v * lanes);
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      columns[v] = v < N - 1 ? loadVector(b + v * lanes)
                             : loadLanes(b + v * lanes, mask);
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = rows[r];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
    rows.advance(t.aStep);
  }
  if (t.unfinished)
    storeChains<C, M, N>(t, chains);
  else
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

/// Rows for which it is worth transposing columns in registers.
template <class C>
constexpr int64_t narrowRows = Tile<C>::rows == 14 ? 14 : 2 * Tile<C>::rows;

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
  // Vectors that do not straddle lines of the cache, if the columns allow it.
  int64_t count = lanes - int64_t(reinterpret_cast<uintptr_t>(t.b) / sizeof(C) %
                                  uintptr_t(lanes));
  for (int64_t i = 0; i < t.k; i += count, count = lanes) {
    count = t.k - i < count ? t.k - i : count;
    V square[lanes];
    typename Tile<C>::Mask mask = firstLanes<C>(count);
#pragma clang loop unroll(full)
    for (int j = 0; j < lanes; ++j)
      square[j] = loadLanes<C>(lines[j] + i, mask);
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

template <class C, int... M>
inline TileFunction<C> chooseLine(int64_t rows,
                                  std::integer_sequence<int, M...>) {
  static constexpr TileFunction<C> table[] = {lineChain<C, M + 1>...};
  return table[rows - 1];
}
template <class C> inline TileFunction<C> lineOf(int64_t rows) {
  return chooseLine<C>(rows, std::make_integer_sequence<int, Tile<C>::rows>());
}

/// A product of operands that are each one run along every group of axes. Many
/// rows are made tile by tile, and where rows lie farther apart than problems,
/// the same rows of all problems follow one another.
template <class C> class DirectProduct {
public:
  DirectProduct(const Contraction &c, const C *a, const C *b, C *out)
      : c(c), a(a), b(b), out(out), m(c.rows.size()), n(c.columns.size()),
        k(c.contracted.size()), aRow(c.rows.innerStride(0)),
        aStep(c.contracted.innerStride(0)), bColumn(c.columns.innerStride(0)),
        bStep(c.contracted.innerStride(1)) {
    lines = n > 1 && bColumn != 1;
    bool tall = m > Tile<C>::rows && n <= 4 * Tile<C>::columns && n * k <= 8192;
    size = !tall || isOne(1) ? 1 : c.batch.size();
    turns = tall && lines && bStep == 1 && m > narrowRows<C> &&
            size * k * turnedRow() * int64_t(sizeof(C)) <= nearBytes;
    if (turns) {
      lines = false;
      bColumn = 1;
      bStep = turnedRow();
    }
    far = !lines && n * k * int64_t(sizeof(C)) > farBytes;
    spread = n > 1 && c.columns.innerStride(1) != 1;
    rowTiles = (m + Tile<C>::rows - 1) / Tile<C>::rows;
    leastRows = divide(m, rowTiles);
    higherTiles = m - leastRows * rowTiles;
    width = lanes;
    if (!lines) {
      int64_t step = vectorsOf<C>(int(divide(m + rowTiles - 1, rowTiles)));
      width *= divide(widest / lanes + step - 1, step) * step;
    }
    reach = far && width < n ? 2 * width : width;
    copies = far && m > 4 && aStep == 1 && aRow * int64_t(sizeof(C)) % 512 == 0;
    groups = tall && !lines && !far && !spread ? rowTiles : 1;
    across = groups > 1 && size * k * n * int64_t(sizeof(C)) <= nearBytes &&
             c.batch.innerExtent() == c.batch.size() &&
             magnitude(aRow) > magnitude(c.batch.innerStride(0));
  }

  /// Is it worth it?
  bool fits() const {
    if (c.contracted.innerExtent() != k || c.rows.innerExtent() != m ||
        c.columns.innerExtent() != n || k > chainLength * foldLength)
      return false;
    if (lines)
      return m <= narrowRows<C> && bStep == 1;
    return m <= Tile<C>::rows || (n <= 4 * Tile<C>::columns && n * k <= 8192) ||
           (far && m <= rowsAtMost);
  }

  /// Can boxes take the result?
  bool hasGroups() const { return groups > 1 && !across; }

  /// Those that take the result, if there are any; without `out` it has no
  /// other place.
  bool run(const astra_call_t *call, const FusedBoxes *takers = nullptr) {
    boxes = takers;
    std::optional<Scratch<C>> scratch;
    if (turns) {
      turned = scratch.emplace(call, size * k * turnedRow()).get();
      if (!turned)
        return false;
      turnColumns(call);
    }
    int64_t pieces = divide(n + width - 1, width);
    int64_t work = divide(m, groups) * k * (n < width ? n : width);
    int64_t grain = work < 100000 ? divide(100000, work) : 1;
    bool failed = false;
    parallelFor(call, c.batch.size() * groups * pieces, grain,
                [&](int64_t begin, int64_t end) {
                  Scratches own(call, *this);
                  if (!own)
                    __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                  while (own && begin < end) {
                    int64_t index = divide(begin, pieces);
                    int64_t piece = begin - index * pieces, count = 1;
                    if (width < reach && piece + 1 < pieces && begin + 1 < end)
                      count = 2;
                    makePiece(index, piece * width, count * width, own);
                    begin += count;
                    if (boxes)
                      handOver(index, begin == end, own);
                  }
                });
    return !failed;
  }

private:
  /// Division is slow beside a small product.
  static int64_t divide(int64_t a, int64_t b) {
    if (b == 1 || a < b)
      return b == 1 ? a : 0;
    return (a | b) >> 32 ? a / b : int64_t(uint32_t(a) / uint32_t(b));
  }

  static constexpr int64_t lanes = Tile<C>::lanes;
  static constexpr int64_t widest = 512; // columns at once
  static constexpr int64_t rowsAtMost = 2 * Tile<C>::rows;
  static constexpr int64_t farBytes = 1 << 18;  // of b, beyond the near caches
  static constexpr int64_t nearBytes = 1 << 19; // of all b together
  /// Rows of b that are read side by side where it is far: as many as streams
  /// that the processor follows.
  static constexpr int64_t farRows = 32;

  /// Memory of a thread.
  struct Scratches {
    Scratches(const astra_call_t *call, const DirectProduct &p)
        : chains(call, p.far ? p.m * p.reach : 0),
          sums(call, p.spread    ? p.m * p.reach
                     : p.keeps() ? boxSize + Tile<C>::rows * p.n
                                 : 0),
          rows(call, p.copies ? p.m * p.copiedRow() : 0) {}
    explicit operator bool() const { return chains && sums && rows; }
    Buffer<C> chains, sums, rows;
    int64_t waiting = 0; // rows that are to be given away
  };

  /// Elements that are given away together: they are in a near cache then.
  static constexpr int64_t boxSize = 8192;
  bool keeps() const { return boxes && !out; }

  /// A group of rows is complete: gives it away, or lets it wait for the next.
  ASTRA_SHARED void handOver(int64_t index, bool isLast, Scratches &own) const {
    int64_t batch = divide(index, groups), group = index - batch * groups;
    own.waiting += leastRows + (group < higherTiles);
    if (!isLast && group + 1 < groups && own.waiting * n < boxSize)
      return;
    boxes->run({batch, rowOf(group + 1) - own.waiting, own.waiting, 0, n,
                keeps() ? own.sums.get() : nullptr, n, 1});
    own.waiting = 0;
  }

  int64_t copiedRow() const { return k + lanes; }

  bool isOne(int operand) const {
    return c.batch.innerExtent() == c.batch.size() &&
           c.batch.innerStride(operand) == 0;
  }
  static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }
  void offsetsOf(int64_t batch, int64_t (&base)[3]) const {
    if (c.batch.innerExtent() != c.batch.size())
      return c.batch.offsetsAt(batch, base);
    for (int i = 0; i < 3; ++i)
      base[i] = batch * c.batch.innerStride(i);
  }

  //===-- Columns that are turned into rows
  //-------------------------------------------------------------------===//

  int64_t turnedRow() const { return (n + lanes - 1) / lanes * lanes; }

  void turnColumns(const astra_call_t *call) const {
    parallelFor(call, size, divide(elementGrain, n * k) + 1,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    turnColumns(i);
                });
  }

  void turnColumns(int64_t batch) const {
    int64_t base[3], column = c.columns.innerStride(0);
    c.batch.offsetsAt(batch, base);
    C *to = turned + batch * k * turnedRow();
    for (int64_t j = 0; j < n; j += 2 * lanes) {
      const C *from[2 * lanes];
      for (int64_t i = 0; i < 2 * lanes; ++i)
        from[i] = b + base[1] + (j + i < n ? j + i : j) * column;
      packTransposed(from, 0, n - j < 2 * lanes ? n - j : 2 * lanes,
                     turnedRow(), k, to + j);
    }
  }

  //===-- One piece of the result
  //-------------------------------------------------------------------===//

  /// Columns of one product and group of rows, chain by chain.
  void makePiece(int64_t index, int64_t column, int64_t most,
                 const Scratches &own) const {
    int64_t apart = across ? c.batch.size() : groups;
    int64_t outer = divide(index, apart), inner = index - outer * apart;
    int64_t batch = across ? inner : outer, group = across ? outer : inner;
    int64_t base[3], columns = n - column < most ? n - column : most;
    offsetsOf(batch, base);
    const C *b =
        turns ? turned + (size > 1 ? batch * k * bStep : 0) : this->b + base[1];
    int64_t row = groups > 1 ? rowOf(group) : 0;
    base[0] += row * aRow;
    base[2] += row * c.rows.innerStride(1);
    TileCall<C> tile = {};
    tile.bStride = lines ? bColumn : bStep;
    tile.chains = own.chains.get();
    tile.apart = reach;
    tile.aStep = aStep;
    const C *rows =
        copies ? copyRows(a + base[0], own.rows.get()) : a + base[0];
    tile.aRow = copies ? copiedRow() : aRow;
    tile.b = b + column * bColumn;
    tile.to = spread    ? own.sums.get()
              : keeps() ? own.sums.get() + own.waiting * n
                        : out + base[2] + column;
    tile.toStride = spread ? reach : keeps() ? n : c.rows.innerStride(1);
    tile.fromStride = tile.toStride;
    for (int64_t p = 0; p < k; p += tile.k) {
      int64_t chain = p / chainLength * chainLength + chainLength;
      int64_t end = far && p + farRows < chain ? p + farRows : chain;
      tile.k = (end < k ? end : k) - p;
      tile.a = rows + p * aStep;
      tile.begun = p % chainLength != 0;
      tile.unfinished = end < chain && end < k;
      if (groups > 1)
        addGroup(tile, leastRows + (group < higherTiles), columns,
                 p >= chainLength);
      else
        addRows(tile, columns, p >= chainLength);
      tile.b += tile.k * bStep;
    }
    if (spread)
      writeColumns(own.sums.get(), columns,
                   out + base[2] + column * c.columns.innerStride(1));
  }

  C *copyRows(const C *from, C *to) const {
    for (int64_t i = 0; i < m; ++i)
      loadRun(from + i * aRow, 1, k, to + i * copiedRow());
    return to;
  }

  /// Where a tile of rows begins.
  int64_t rowOf(int64_t tile) const {
    return tile * leastRows + (tile < higherTiles ? tile : higherTiles);
  }

  void addRows(TileCall<C> tile, int64_t columns, bool adds) const {
    for (int64_t t = 0; t < rowTiles; ++t) {
      int64_t rows = leastRows + (t < higherTiles);
      addColumns(tile, rows, columns, adds);
      advance(tile, rows);
    }
  }

  static void advance(TileCall<C> &tile, int64_t rows) {
    tile.a += rows * tile.aRow;
    tile.to += rows * tile.toStride;
    tile.chains += rows * tile.apart;
  }

  void addGroup(const TileCall<C> &tile, int64_t rows, int64_t columns,
                bool adds) const {
    if constexpr (sizeof(C) == 4)
      if (aStep == 1 && columns >= 2 * lanes &&
          haveTiny(tile.a, aRow, rows, tile.k,
                   across ? c.batch.innerStride(0) : rows * aRow)) {
        addWithTiny(tile, rows, columns, adds);
        return;
      }
    addColumns(tile, rows, columns, adds);
  }

  /// Tiny rows by themselves, and those between them.
  void addWithTiny(TileCall<C> tile, int64_t rows, int64_t columns,
                   bool adds) const {
    while (rows > 0) {
      int64_t count = 0;
      while (count < rows && !isTinyRow(tile.a + count * tile.aRow, tile.k))
        ++count;
      if (count > 0)
        addColumns(tile, count, columns, adds);
      advance(tile, count);
      rows -= count;
      if (rows > 0) {
        addTinyRow(tile, columns, adds);
        advance(tile, 1);
        --rows;
      }
    }
  }

  static void addTinyRow(TileCall<C> tile, int64_t columns, bool adds) {
    constexpr int64_t most = 4 * lanes;
    for (int64_t j = 0; j < columns; j += most) {
      int64_t count = columns - j < most ? columns - j : most;
      int64_t vectors = (count + lanes - 1) / lanes;
      tile.last = count - (vectors - 1) * lanes;
      tile.from = adds ? tile.to : nullptr;
      static constexpr TileFunction<C> table[] = {
          tinyChain<C, 1>, tinyChain<C, 2>, tinyChain<C, 3>, tinyChain<C, 4>};
      table[vectors - 1](tile);
      tile.b += most;
      tile.to += most;
    }
  }

  void addColumns(TileCall<C> tile, int64_t rows, int64_t columns,
                  bool adds) const {
    int64_t at = lines ? lanes : vectorsOf<C>(int(rows)) * lanes;
    for (int64_t j = 0; j < columns; j += at) {
      int64_t count = columns - j < at ? columns - j : at;
      int64_t vectors = (count + lanes - 1) / lanes;
      tile.last = count - (vectors - 1) * lanes;
      tile.from = adds ? tile.to : nullptr;
      (lines ? lineOf<C>(rows) : directOf<C>(rows, vectors))(tile);
      tile.b += at;
      tile.to += at;
      tile.chains += at;
    }
  }

  void writeColumns(const C *sums, int64_t columns, C *to) const {
    int64_t row = c.rows.innerStride(1), column = c.columns.innerStride(1);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < m; ++i)
        to[j * column + i * row] = sums[i * reach + j];
  }

  const Contraction &c;
  const C *a, *b;
  C *out;
  int64_t m, n, k, aRow, aStep, bColumn, bStep;
  int64_t size; // of the batch of b
  int64_t rowTiles, leastRows, higherTiles;
  int64_t groups; // of rows that are tasks by themselves
  int64_t width;  // columns that are worth a task
  int64_t reach;  // columns that a thread makes at once, if it has them
  bool lines;     // the columns of b are consecutive along k, not side by side
  bool far;       // b comes from far away
  bool spread;    // columns of the result do not lie side by side
  bool copies;    // rows of a whose places in the cache would be the same
  bool turns;     // columns of b are made rows before
  bool across;    // the same rows of all problems follow one another
  C *turned = nullptr;
  const FusedBoxes *boxes = nullptr; // that take the result
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_DIRECTPRODUCT_H
