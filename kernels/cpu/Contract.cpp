// Products of floats. The result is cut into blocks, one task each; a task
// packs the rows of a for 256 k at a time and lets them meet the columns of b
// panel by panel, in tiles whose chains stay in registers. Columns that lie
// side by side are read where they are and packed by the first tile that reads
// them; others are packed before. Order: kernels/Canonical.h. f16 and bf16
// widen as they are packed.
#include "kernels/Contraction.h"
#include "kernels/Ops.h"
#include "kernels/cpu/Pack.h"
#include <optional>

using namespace astra;

namespace {

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

/// The extents of a product and how it is cut.
template <class C> struct Cut {
  static constexpr int64_t tileRows = Tile<C>::rows;
  static constexpr int64_t tileColumns = Tile<C>::columns;
  static constexpr int64_t columnsAtMost = 16 * tileColumns;

  explicit Cut(const Contraction &c)
      : m(c.rows.size()), n(c.columns.size()), k(c.contracted.size()) {
    int64_t tiles = ceil(m, tileRows), panels = ceil(n, tileColumns);
    rowBlocks = ceil(tiles, 8);
    columnBlocks = ceil(n, columnsAtMost);
    height = ceil(tiles, rowBlocks) * tileRows;
    width = ceil(panels, columnBlocks) * tileColumns;
    chain = k < chainLength ? k : chainLength;
    int64_t folds = ceil(k, chainLength * foldLength);
    for (levels = 1; folds > 1; folds = ceil(folds, 2))
      ++levels;
  }

  static int64_t ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

  int64_t m, n, k, rowBlocks, columnBlocks, height, width, chain;
  int64_t levels; // sums that may wait in the tree, and the one being made
};

template <class T> class Product {
public:
  using C = Compute<T>;
  static constexpr int64_t tileRows = Cut<C>::tileRows;
  static constexpr int64_t tileColumns = Cut<C>::tileColumns;

  Product(const astra_call_t *call, const Contraction &c, const T *a,
          const T *b, T *out)
      : call(call), c(c), cut(c), a(a), b(b), out(out) {
    bool oneRun = c.contracted.innerExtent() == cut.k;
    inPlace = !isSmallFloat<T> && oneRun && c.columns.innerStride(0) == 1 &&
              c.columns.innerExtent() == cut.n;
    direct = !isSmallFloat<T> && cut.levels == 1 &&
             c.columns.innerStride(1) == 1 &&
             c.columns.innerExtent() == cut.n && c.rows.innerExtent() == cut.m;
    packsOnce = c.batch.size() == 1 && cut.rowBlocks > (inPlace ? 2 : 1);
  }

  astra_outcome_t run() {
    std::optional<Scratch<C>> once;
    if (packsOnce) {
      packed = once.emplace(call, cut.columnBlocks * cut.width * cut.k).get();
      if (!packed)
        return ASTRA_ERROR_OUT_OF_MEMORY;
      packAll();
    }
    int64_t blocks = cut.rowBlocks * cut.columnBlocks;
    int64_t work = cut.k * cut.height * cut.width;
    bool failed = false;
    parallelFor(call, c.batch.size() * blocks, 200000 / (work + 1) + 1,
                [&](int64_t begin, int64_t end) {
                  if (!runBlocks(begin, end))
                    __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                });
    return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
  }

private:
  /// One block of the result, with the memory of the thread that makes it.
  struct Block {
    const T *a, *b;
    T *out;
    int64_t row, rows, column, columns;
    C *packedRows, *panel, *sums, *edge;
  };

  bool runBlocks(int64_t begin, int64_t end) {
    int64_t area = cut.height * cut.width;
    Buffer<C> rows(call, cut.height * cut.chain + Tile<C>::lanes);
    Buffer<C> panel(call, tileColumns * cut.chain);
    Buffer<C> edge(call, cut.height * tileColumns);
    std::optional<Scratch<C>> sums;
    if (!direct)
      sums.emplace(call, cut.levels * area);
    if (!rows || !panel || !edge || (sums && !*sums))
      return false;
    for (int64_t i = begin; i < end; ++i) {
      int64_t blocks = cut.rowBlocks * cut.columnBlocks, base[3];
      c.batch.offsetsAt(i / blocks, base);
      int64_t row = i % blocks / cut.columnBlocks * cut.height;
      int64_t column = i % cut.columnBlocks * cut.width;
      Block block = {a + base[0],
                     b + base[1],
                     out + base[2],
                     row,
                     least(cut.height, cut.m - row),
                     column,
                     least(cut.width, cut.n - column),
                     rows.get(),
                     panel.get(),
                     sums ? sums->get() : nullptr,
                     edge.get()};
      if (block.rows > 0 && block.columns > 0)
        make(block);
    }
    return true;
  }

  static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

  //===-- The order of summation
  //-------------------------------------------===//

  void make(const Block &block) {
    int64_t area = cut.height * cut.width;
    uint64_t folds = 0;
    int waiting = 0; // complete subtrees, the largest first
    for (int64_t at = 0; at < cut.k; at += chainLength * foldLength) {
      Block level = block;
      level.sums = direct ? nullptr : block.sums + waiting * area;
      int64_t end = least(at + chainLength * foldLength, cut.k);
      for (int64_t p = at; p < end; p += chainLength)
        addChain(level, p, least(chainLength, end - p), p == at);
      ++waiting;
      for (uint64_t bits = folds++; bits & 1; bits >>= 1, --waiting)
        addNext(block, waiting - 2);
    }
    for (; waiting > 1; --waiting)
      addNext(block, waiting - 2);
    if (!direct)
      write(block);
    else if (block.columns % tileColumns)
      writeEdge(block);
  }

  /// Adds the sums of the next level to those of one.
  void addNext(const Block &block, int64_t level) {
    C *to = block.sums + level * cut.height * cut.width;
    const C *next = to + cut.height * cut.width;
    for (int64_t i = 0; i < block.rows; ++i)
      for (int64_t j = 0; j < block.columns; ++j)
        to[i * cut.width + j] += next[i * cut.width + j];
  }

  /// The sums of a panel of the block: in the result itself where it can hold
  /// them, but for a panel that is not whole.
  C *sumsOf(const Block &block, int64_t j, int64_t &stride) {
    if constexpr (!isSmallFloat<T>)
      if (direct) {
        bool whole = j + tileColumns <= block.columns;
        stride = whole ? c.rows.innerStride(1) : tileColumns;
        return whole ? block.out + block.row * stride + block.column + j
                     : block.edge;
      }
    stride = cut.width;
    return block.sums + j;
  }

  void addChain(const Block &block, int64_t firstK, int64_t ks, bool first) {
    packRows(block, firstK, ks);
    int64_t j = 0;
    if constexpr (!isSmallFloat<T>)
      if (inPlace && block.rows <= streamedRows)
        j = streamColumns(block, firstK, ks, first);
    for (; j < block.columns; j += tileColumns)
      addPanel(block, j, firstK, ks, first);
  }

  /// All whole panels at once; gives the first column that is left.
  int64_t streamColumns(const Block &block, int64_t firstK, int64_t ks,
                        bool first) {
    alignas(64) C chains[streamedRows * Cut<C>::columnsAtMost];
    int64_t columns = block.columns / tileColumns * tileColumns, stride;
    int64_t bStride = c.contracted.innerStride(1);
    const C *from = block.b + block.column + firstK * bStride;
    streamOf<C>(block.rows)(block.packedRows, from, bStride, ks, columns,
                            chains, columns);
    C *sums = columns ? sumsOf(block, 0, stride) : nullptr;
    for (int64_t i = 0; columns && i < block.rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        C *to = sums + i * stride + j;
        *to = (first ? C(0) : *to) + chains[i * columns + j];
      }
    return columns;
  }

  void addPanel(const Block &block, int64_t j, int64_t firstK, int64_t ks,
                bool first) {
    TileCall<C> tile = {};
    tile.k = ks;
    tile.first = first;
    C *sums = sumsOf(block, j, tile.sumStride);
    bool copies = takeColumns(block, j, firstK, tile);
    for (int64_t i = 0; i < block.rows; i += tileRows) {
      int64_t rows = least(tileRows, block.rows - i);
      tile.a = block.packedRows + i * cut.chain;
      tile.sum = sums + i * tile.sumStride;
      (copies ? tileOf<C, true>(rows) : tileOf<C, false>(rows))(tile);
      if (copies) {
        copies = false;
        tile.b = block.panel;
        tile.bStride = tileColumns;
      }
    }
  }

  /// Where the tiles find a panel's columns; true if the first is to pack them.
  bool takeColumns(const Block &block, int64_t j, int64_t firstK,
                   TileCall<C> &tile) {
    tile.bStride = tileColumns;
    if (packsOnce) {
      tile.b = packed + (block.column + j) * cut.k + firstK * tileColumns;
      return false;
    }
    if constexpr (!isSmallFloat<T>)
      if (inPlace && j + tileColumns <= block.columns) {
        tile.bStride = c.contracted.innerStride(1);
        tile.b = block.b + block.column + j + firstK * tile.bStride;
        tile.copy = block.panel;
        return true;
      }
    packPanel(block.b, block.column + j, firstK, tile.k, block.panel);
    tile.b = block.panel;
    return false;
  }

  //===-- Packing
  //----------------------------------------------------------===//

  void packAll() {
    constexpr int64_t together =
        8; // panels, so that rows are read in long runs
    int64_t groups = Cut<C>::ceil(cut.n, together * tileColumns);
    int64_t grain = elementGrain / (cut.k * together * tileColumns + 1) + 1;
    parallelFor(call, groups, grain, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        int64_t column = g * together * tileColumns, last = column;
        if constexpr (!isSmallFloat<T>)
          if (inPlace)
            last = packBeside(column, together);
        for (int64_t p = last; p < cut.n && p < column + together * tileColumns;
             p += tileColumns)
          packPanel(b, p, 0, cut.k, packed + p * cut.k);
      }
    });
  }

  /// Up to `most` whole panels whose columns lie side by side; gives the first
  /// column after them.
  int64_t packBeside(int64_t column, int64_t most) {
    int64_t panels = least(most, (cut.n - column) / tileColumns);
    int64_t sk = c.contracted.innerStride(1);
    C *to = packed + column * cut.k;
    const T *from = b + column;
    for (int64_t i = 0; i < cut.k; ++i, from += sk, to += tileColumns)
      for (int64_t p = 0; p < panels; ++p)
        loadRun(from + p * tileColumns, 1, tileColumns,
                to + p * tileColumns * cut.k);
    return column + panels * tileColumns;
  }

  /// to[k][column], +0 where there is no column.
  void packPanel(const T *from, int64_t column, int64_t firstK, int64_t ks,
                 C *to) {
    int64_t count = least(tileColumns, cut.n - column);
    if (count < tileColumns)
      for (int64_t i = 0; i < ks * tileColumns; ++i)
        to[i] = C(0);
    if (c.columns.innerStride(0) == 1)
      copyColumns(from, column, count, firstK, ks, to);
    else
      gatherColumns(from, column, count, firstK, ks, to);
  }

  /// Columns in runs of consecutive ones.
  void copyColumns(const T *from, int64_t column, int64_t count, int64_t firstK,
                   int64_t ks, C *to) {
    int64_t starts[tileColumns], counts[tileColumns], runs = 0;
    c.columns.walk(column, column + count,
                   [&](const int64_t (&at)[2], int64_t run) {
                     starts[runs] = at[0];
                     counts[runs++] = run;
                     return true;
                   });
    int64_t sk = c.contracted.innerStride(1);
    c.contracted.walk(firstK, firstK + ks,
                      [&](const int64_t (&at)[2], int64_t run) {
                        for (int64_t i = 0; i < run; ++i) {
                          const T *line = from + at[1] + i * sk;
                          for (int64_t r = 0; r < runs; to += counts[r++])
                            copyShort(line + starts[r], counts[r], to);
                          to += tileColumns - count;
                        }
                        return true;
                      });
  }

  /// Columns apart from each other, each consecutive along k or not.
  void gatherColumns(const T *from, int64_t column, int64_t count,
                     int64_t firstK, int64_t ks, C *to) {
    const T *lines[tileColumns];
    for (int64_t j = 0; j < tileColumns; ++j) {
      int64_t at[2];
      c.columns.offsetsAt(column + (j < count ? j : 0), at);
      lines[j] = from + at[0];
    }
    packRuns<tileColumns, tileColumns, 1>(lines, count, firstK, ks, to);
  }

  /// to[tile][k][row] for the rows of a block and the k of one chain.
  void packRows(const Block &block, int64_t firstK, int64_t ks) {
    constexpr int64_t most =
        (tileRows + Tile<C>::lanes - 1) / Tile<C>::lanes * Tile<C>::lanes;
    for (int64_t i = 0; i < block.rows; i += tileRows) {
      int64_t count = least(tileRows, block.rows - i);
      const T *lines[most];
      for (int64_t r = 0; r < most; ++r) {
        int64_t at[2];
        c.rows.offsetsAt(block.row + i + (r < count ? r : 0), at);
        lines[r] = block.a + at[0];
      }
      packRuns<tileRows, most, 0>(lines, count, firstK, ks,
                                  block.packedRows + i * cut.chain);
    }
  }

  /// to[k * Stride + line] for lines of operand `Of` in the contraction's loop
  /// over k.
  template <int Stride, int Most, int Of>
  void packRuns(const T *const *lines, int64_t count, int64_t firstK,
                int64_t ks, C *to) {
    int64_t sk = c.contracted.innerStride(Of);
    bool beside = count == Stride;
    for (int64_t j = 1; j < count; ++j)
      beside &= lines[j] == lines[0] + j;
    c.contracted.walk(
        firstK, firstK + ks, [&](const int64_t (&at)[2], int64_t run) {
          if (beside) {
            for (int64_t i = 0; i < run; ++i)
              loadRun(lines[0] + at[Of] + i * sk, 1, Stride, to + i * Stride);
          } else if (sk == 1 && count > 2 && run >= Tile<C>::lanes) {
            const T *shifted[Most];
            for (int64_t j = 0; j < Most; ++j)
              shifted[j] = lines[j] + at[Of];
            packLines<Most / Tile<C>::lanes>(shifted, run, to, Stride);
          } else {
            for (int64_t j = 0; j < count; ++j)
              for (int64_t i = 0; i < run; ++i)
                to[i * Stride + j] = widen(lines[j][at[Of] + i * sk]);
          }
          to += run * Stride;
          return true;
        });
  }

  //===-- The result
  //-------------------------------------------------------===//

  void write(const Block &block) {
    for (int64_t i = 0; i < block.rows; ++i) {
      int64_t at[2];
      const C *sum = block.sums + i * cut.width;
      c.rows.offsetsAt(block.row + i, at);
      c.columns.walk(block.column, block.column + block.columns,
                     [&](const int64_t (&offset)[2], int64_t run) {
                       storeRun(sum, run, block.out + at[1] + offset[1],
                                c.columns.innerStride(1));
                       sum += run;
                       return true;
                     });
    }
  }

  void writeEdge(const Block &block) {
    int64_t count = block.columns % tileColumns;
    int64_t column = block.column + block.columns - count;
    int64_t stride = c.rows.innerStride(1);
    for (int64_t i = 0; i < block.rows; ++i)
      storeRun(block.edge + i * tileColumns, count,
               block.out + (block.row + i) * stride + column, 1);
  }

  const astra_call_t *call;
  const Contraction &c;
  Cut<C> cut;
  const T *a, *b;
  T *out;
  bool inPlace;   // columns of b lie side by side, one row of them for each k
  bool direct;    // the result holds the sums
  bool packsOnce; // all of b is packed before
  C *packed = nullptr;
};

/// Products over no k are +0.
template <class T> void clearResult(const Contraction &c, T *out) {
  for (int64_t batch = 0; batch < c.batch.size(); ++batch)
    for (int64_t i = 0; i < c.rows.size(); ++i) {
      int64_t base[3], at[2];
      c.batch.offsetsAt(batch, base);
      c.rows.offsetsAt(i, at);
      c.columns.walk(
          0, c.columns.size(), [&](const int64_t (&offset)[2], int64_t run) {
            for (int64_t j = 0; j < run; ++j)
              out[base[2] + at[1] + offset[1] + j * c.columns.innerStride(1)] =
                  narrow<T>(Compute<T>(0));
            return true;
          });
    }
}

template <class T>
astra_outcome_t contract(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params) {
  Contraction c(args, params[0], params[1]);
  T *out = static_cast<T *>(args[2].data);
  if (c.batch.size() * c.rows.size() * c.columns.size() == 0)
    return ASTRA_OK;
  if (c.contracted.size() == 0) {
    clearResult(c, out);
    return ASTRA_OK;
  }
  return Product<T>(call, c, static_cast<const T *>(args[0].data),
                    static_cast<const T *>(args[1].data), out)
      .run();
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
