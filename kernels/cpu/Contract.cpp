// Products of floats in tiles: columns of b are packed once into panels, each
// task packs a few rows of a for 256 k at a time, and a tile of the result is
// one fma chain in registers over those 256 k, then added to the fold. Order:
// kernels/Canonical.h. f16 and bf16 widen as they are packed.
#include "kernels/Contraction.h"
#include "kernels/Ops.h"
#include "kernels/cpu/Fold.h"
#include <utility>

using namespace astra;

namespace {

constexpr int64_t chain = 256; // k in one fma chain
constexpr int64_t fold = 16;   // chains in one left fold

template <class C> struct Tile {
  // Rows and vector registers of a tile: as many accumulators as registers
  // allow.
#ifdef __AVX512F__
  static constexpr int rows = 14, vectorBytes = 64;
#else
  static constexpr int rows = 6, vectorBytes = 32;
#endif
  static constexpr int perVector = vectorBytes / int(sizeof(C));
  static constexpr int columns = 2 * perVector;
  typedef C Vector __attribute__((ext_vector_type(perVector)));
};

template <class V, class C> inline V loadVector(const C *from) {
  V v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}

/// One chain of k for M rows and N vectors of columns; sum += chain, or
/// sum = +0 + chain for the first of a fold. a is [k][rows]; rows of b lie
/// bStride apart.
template <class C, int M, int N>
void tileChain(const C *a, const C *b, int64_t bStride, int64_t k, C *sum,
               int64_t stride, bool first) {
  using V = typename Tile<C>::Vector;
  constexpr int width = Tile<C>::perVector;
  V chains[M][N] = {};
  for (int64_t i = 0; i < k; ++i) {
    V columns[N];
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      columns[v] = loadVector<V>(b + v * width);
      if (M <= 2) // from memory, and each row lies on another page
        __builtin_prefetch(b + 16 * bStride + v * width);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = a[r];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
    a += Tile<C>::rows;
    b += bStride;
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r, sum += stride)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      V zero = {};
      V s = (first ? zero : loadVector<V>(sum + v * width)) + chains[r][v];
      __builtin_memcpy(sum + v * width, &s, sizeof(V));
    }
}

template <class C>
using TileFunction = void (*)(const C *, const C *, int64_t, int64_t, C *,
                              int64_t, bool);

template <class C, int... M>
TileFunction<C> tileFor(int64_t rows, std::integer_sequence<int, M...>) {
  static constexpr TileFunction<C> table[] = {tileChain<C, M + 1, 2>...};
  return table[rows - 1];
}

template <class T> class Product {
public:
  using C = Compute<T>;
  static constexpr int64_t tileRows = Tile<C>::rows;
  static constexpr int64_t tileColumns = Tile<C>::columns;
  static constexpr int64_t blockRows = 4 * tileRows;
  static constexpr int64_t wideColumns = 4 * tileColumns; // of few rows at once
  static constexpr int64_t blockColumns = 16 * tileColumns;

  Product(const astra_call_t *call, const Contraction &c)
      : call(call), c(c), m(c.rows.size()), n(c.columns.size()),
        k(c.contracted.size()), panels((n + tileColumns - 1) / tileColumns),
        levels(levelsFor((k + chain * fold - 1) / (chain * fold))),
        rowBlocks((m + blockRows - 1) / blockRows),
        columnBlocks((n + blockColumns - 1) / blockColumns),
        height(m < blockRows ? m : blockRows),
        width(columnBlocks > 1 ? blockColumns : panels * tileColumns),
        inPlace(readsInPlace(c)),
        packed(call, (inPlace ? 1 : panels) * tileColumns * k),
        // The sums of each block; those that wait in the tree beside them.
        sums(call, rowBlocks * columnBlocks * levels * height * width) {}

  bool hasMemory() const { return packed && sums; }

  void run(const T *a, const T *b, T *out) {
    matrix = b;
    int64_t grain = elementGrain / (k * tileColumns + 1) + 1;
    parallelFor(call, panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        if (!panelInPlace(p))
          packPanel(b, p);
    });
    int64_t work = k * height * width;
    parallelFor(call, rowBlocks * columnBlocks, 200000 / (work + 1) + 1,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    block(a, out, i / columnBlocks, i % columnBlocks, i);
                });
  }

private:
  /// With few rows, packing b would cost as much as the product: whole panels
  /// are read where they lie, if their columns are consecutive.
  static bool readsInPlace(const Contraction &c) {
    return !isSmallFloat<T> && c.rows.size() <= 2 * tileRows &&
           c.columns.innerStride(0) == 1 &&
           c.columns.innerExtent() == c.columns.size() &&
           c.contracted.innerExtent() == c.contracted.size();
  }
  bool panelInPlace(int64_t panel) const {
    return inPlace && (panel + 1) * tileColumns <= n;
  }
  /// Where a panel is packed: the last one if the others are read in place.
  C *packedPanel(int64_t panel) const {
    return packed.get() + (inPlace ? 0 : panel * tileColumns * k);
  }

  /// Sums that may wait at once, and the one being made.
  static int64_t levelsFor(int64_t folds) {
    int64_t levels = 1;
    for (; folds > 1; folds = (folds + 1) / 2)
      ++levels;
    return levels;
  }

  /// packed[panel][k][column], zero where there is no column.
  void packPanel(const T *b, int64_t panel) {
    C *to = packedPanel(panel);
    int64_t first = panel * tileColumns;
    int64_t count = n - first < tileColumns ? n - first : tileColumns;
    if (count < tileColumns)
      for (int64_t i = 0; i < k * tileColumns; ++i)
        to[i] = C(0);
    int64_t sk = c.contracted.innerStride(1), column = 0;
    c.columns.walk(
        first, first + count, [&](const int64_t (&at)[2], int64_t run) {
          int64_t sc = c.columns.innerStride(0), done = 0;
          c.contracted.walk(0, k, [&](const int64_t (&offset)[2], int64_t ks) {
            packRun(b + at[0] + offset[1], sk, ks, sc, run,
                    to + done * tileColumns + column);
            done += ks;
            return true;
          });
          column += run;
          return true;
        });
  }

  /// to[i * tileColumns + j] = from[i * sk + j * sc].
  static void packRun(const T *from, int64_t sk, int64_t ks, int64_t sc,
                      int64_t columns, C *to) {
    if (sc == 1 && columns == tileColumns) {
      for (int64_t i = 0; i < ks; ++i)
        loadRun(from + i * sk, 1, tileColumns, to + i * tileColumns);
      return;
    }
    if (sc == 1) {
      for (int64_t i = 0; i < ks; ++i)
        loadRun(from + i * sk, 1, columns, to + i * tileColumns);
      return;
    }
    constexpr int64_t square = 64; // keeps the lines of `to` in cache
    for (int64_t i = 0; i < ks; i += square) {
      int64_t end = i + square < ks ? i + square : ks;
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t l = i; l < end; ++l)
          to[l * tileColumns + j] = widen(from[l * sk + j * sc]);
    }
  }

  /// to[tile][k][row] for the rows of a block and the k of one chain.
  void packRows(const T *a, int64_t firstRow, int64_t rows, int64_t firstK,
                int64_t ks, C *to) {
    int64_t sk = c.contracted.innerStride(0);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t at[2], done = 0;
      c.rows.offsetsAt(firstRow + row, at);
      C *line = to + row / tileRows * tileRows * chain + row % tileRows;
      c.contracted.walk(firstK, firstK + ks,
                        [&](const int64_t (&offset)[2], int64_t run) {
                          const T *from = a + at[0] + offset[0];
                          for (int64_t i = 0; i < run; ++i)
                            line[(done + i) * tileRows] = widen(from[i * sk]);
                          done += run;
                          return true;
                        });
    }
  }

  void block(const T *a, T *out, int64_t rowBlock, int64_t columnBlock,
             int64_t index) {
    int64_t row = rowBlock * blockRows, column = columnBlock * blockColumns;
    int64_t rows = m - row < blockRows ? m - row : blockRows;
    int64_t columns = n - column < blockColumns ? n - column : blockColumns;
    int64_t area = height * width;
    C *level = sums.get() + index * levels * area;
    alignas(64) C rowsOfA[blockRows * chain];
    uint64_t folds = 0;
    int waiting = 0; // complete subtrees, the largest first
    for (int64_t at = 0; at < k || at == 0; at += chain * fold) {
      C *sum = level + waiting * area;
      int64_t end = at + chain * fold < k ? at + chain * fold : k;
      if (k == 0)
        clear(sum, area);
      for (int64_t p = at; p < end; p += chain) {
        int64_t ks = end - p < chain ? end - p : chain;
        packRows(a, row, rows, p, ks, rowsOfA);
        chains(rowsOfA, rows, columnBlock, columns, p, ks, sum, p == at);
      }
      ++waiting;
      for (uint64_t bits = folds++; bits & 1; bits >>= 1, --waiting)
        addTo(level + (waiting - 2) * area, rows, columns);
    }
    for (; waiting > 1; --waiting)
      addTo(level + (waiting - 2) * area, rows, columns);
    write(level, out, row, rows, column, columns);
  }

  void chains(const C *rowsOfA, int64_t rows, int64_t columnBlock,
              int64_t columns, int64_t firstK, int64_t ks, C *sum, bool first) {
    int64_t firstColumn = columnBlock * blockColumns, j = 0;
    if constexpr (!isSmallFloat<T>)
      if (inPlace && rows <= 2) {
        // Few rows: many columns at once, so that b is read in long pieces and
        // there are accumulators enough.
        int64_t bStride = c.contracted.innerStride(1);
        const C *b = matrix + firstColumn + firstK * bStride;
        auto tile = rows == 1 ? tileChain<C, 1, 8> : tileChain<C, 2, 8>;
        for (; j + wideColumns <= columns; j += wideColumns)
          tile(rowsOfA, b + j, bStride, ks, sum + j, width, first);
      }
    for (; j < columns; j += tileColumns) {
      int64_t panel = (firstColumn + j) / tileColumns, bStride = tileColumns;
      const C *b = packedPanel(panel) + firstK * tileColumns;
      if constexpr (!isSmallFloat<T>)
        if (panelInPlace(panel)) {
          bStride = c.contracted.innerStride(1);
          b = matrix + firstColumn + j + firstK * bStride;
        }
      for (int64_t i = 0; i < rows; i += tileRows) {
        int64_t count = rows - i < tileRows ? rows - i : tileRows;
        auto tile =
            tileFor<C>(count, std::make_integer_sequence<int, tileRows>());
        tile(rowsOfA + i * chain, b, bStride, ks, sum + i * width + j, width,
             first);
      }
    }
  }

  static void clear(C *to, int64_t size) {
    for (int64_t i = 0; i < size; ++i)
      to[i] = C(0);
  }
  /// Adds the next level to one.
  void addTo(C *level, int64_t rows, int64_t columns) {
    const C *next = level + height * width;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        level[i * width + j] += next[i * width + j];
  }

  void write(const C *sum, T *out, int64_t row, int64_t rows, int64_t column,
             int64_t columns) {
    for (int64_t i = 0; i < rows; ++i, sum += width) {
      int64_t at[2], done = 0;
      c.rows.offsetsAt(row + i, at);
      c.columns.walk(column, column + columns,
                     [&](const int64_t (&offset)[2], int64_t run) {
                       storeRun(sum + done, run, out + at[1] + offset[1],
                                c.columns.innerStride(1));
                       done += run;
                       return true;
                     });
    }
  }

  const astra_call_t *call;
  const Contraction &c;
  int64_t m, n, k, panels, levels, rowBlocks, columnBlocks;
  int64_t height, width; // of the sums of a block
  bool inPlace;
  Scratch<C> packed, sums;
  const T *matrix = nullptr;
};

template <class T>
astra_outcome_t contract(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params) {
  Contraction c(args, params[0], params[1]);
  if (c.batch.size() * c.rows.size() * c.columns.size() == 0)
    return ASTRA_OK;
  Product<T> product(call, c);
  if (!product.hasMemory())
    return ASTRA_ERROR_OUT_OF_MEMORY;
  for (int64_t batch = 0; batch < c.batch.size(); ++batch) {
    int64_t base[3];
    c.batch.offsetsAt(batch, base);
    product.run(static_cast<const T *>(args[0].data) + base[0],
                static_cast<const T *>(args[1].data) + base[1],
                static_cast<T *>(args[2].data) + base[2]);
  }
  return ASTRA_OK;
}

} // namespace

#ifdef __AVX512F__
ASTRA_DEFINE_VARIANT(contract, f32, 14x32, contract<float>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f16, 14x32, contract<F16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, bf16, 14x32, contract<BF16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f64, 14x16, contract<double>(call, args, params))
#else
ASTRA_DEFINE_VARIANT(contract, f32, 6x16, contract<float>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f16, 6x16, contract<F16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, bf16, 6x16, contract<BF16>(call, args, params))
ASTRA_DEFINE_VARIANT(contract, f64, 6x8, contract<double>(call, args, params))
#endif
