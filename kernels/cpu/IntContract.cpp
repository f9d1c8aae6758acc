// Products of integers. The result is cut into blocks, one task each; for 256 k
// at a time the rows of a are packed, then the columns of b panel by panel,
// which all rows meet while it is near. Sums wrap, so they need no order.
// Numbers of 8 and 16 bits, and wider ones that are as small, are packed for
// the quicker tiles of IntTile.h; a number that is too large is noticed then,
// and the rest of its block is packed as it is. Few rows are not worth packing
// columns for: they are multiplied where they lie. Signs are not asked for: the
// low bits of operands make the low bits of products. One driver does all
// types: it moves bytes, and a Format knows what they are.
#include "kernels/Call.h"
#include "kernels/Contraction.h"
#include "kernels/cpu/CopyAll.h"
#include "kernels/cpu/IntTile.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
int64_t ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// What the driver must know of a type. Lines are rows of a along k, or what
/// lies side by side in b for each k. Packing as narrow gives false if a number
/// is too large.
struct Format {
  int64_t size, unit; // bytes of an element and of what is summed
  int64_t inUnit;     // narrow elements in a unit
  bool (*packRows)(const char *const *lines, int64_t count, int64_t length,
                   char *to);
  bool (*packPanel)(const char *const *lines, int64_t count, int64_t length,
                    char *to);
  decltype(addIntTiles<PairStep>) *addNarrow, *addWhole;
  /// A few rows by lines of columns; one by a column that is a line along k.
  void (*addLines)(const char *const *rows, int64_t rowCount,
                   const char *const *lines, int64_t count, int64_t length,
                   char *sums);
  void (*addColumn)(const char *row, const char *column, int64_t length,
                    char *sum);
  void (*store)(const char *sums, int64_t count, char *to, int64_t stride);
};

//===-- What depends on the type ------------------------------------------===//

template <class T>
using UnitOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T> constexpr int64_t inUnit = sizeof(T) == 8 ? 1 : 2;

/// Where sums of a few products need no more bits than their result has.
template <class T> using Term = std::conditional_t<sizeof(T) == 1, uint16_t, T>;

/// Wraps: small operands are not promoted to int.
template <class U> ASTRA_INLINE inline U multiply(U x, U y) {
  return U(std::conditional_t<sizeof(U) < 4, uint32_t, U>(x) * y);
}

/// Sets bits of `beyond` if x is more than half of what it is summed in.
template <class T> ASTRA_INLINE inline void look(T x, T &beyond) {
  constexpr int bits = sizeof(T) == 8 ? 32 : 16;
  if constexpr (sizeof(T) > 2)
    beyond |= T(x + (T(1) << (bits - 1))) >> bits;
}

/// One line after the other, each of whole units.
template <class T>
bool packRows(const char *const *lines, int64_t count, int64_t length,
              char *to) {
  using Part = std::conditional_t<sizeof(T) == 8, uint64_t, uint16_t>;
  T beyond = 0;
  for (; count > 0; --count, ++lines) {
    auto *from = reinterpret_cast<const T *>(*lines);
    auto *part = reinterpret_cast<Part *>(to);
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < length; ++i) {
      look(from[i], beyond);
      part[i] = Part(from[i]);
    }
    if (length % inUnit<T>)
      part[length] = 0;
    to += ceil(length, inUnit<T>) * int64_t(sizeof(UnitOf<T>));
  }
  return beyond == 0;
}

/// Units of as many lines beside each other, padded to the width of a panel.
template <class T>
bool packPanel(const char *const *lines, int64_t count, int64_t length,
               char *to) {
  using Unit = UnitOf<T>;
  static const T none[Tile<Unit>::columns] = {};
  T beyond = 0;
  auto *units = reinterpret_cast<Unit *>(to);
  for (int64_t i = 0; i < count; i += inUnit<T>) {
    auto *low = reinterpret_cast<const T *>(lines[i]), *high = none;
    if (i + inUnit<T> <= count)
      high = reinterpret_cast<const T *>(lines[i + inUnit<T> - 1]);
    ASTRA_VECTOR_LOOP
    for (int64_t j = 0; j < length; ++j) {
      look(low[j], beyond);
      look(high[j], beyond);
      units[j] = inUnit<T> == 1 ? Unit(low[j])
                                : Unit(uint16_t(low[j])) | Unit(high[j]) << 16;
    }
    units += Tile<Unit>::columns;
  }
  return beyond == 0;
}

/// Four lines at a time meet all rows while they are near.
template <class T>
void addLines(const char *const *rows, int64_t rowCount,
              const char *const *lines, int64_t count, int64_t length,
              char *sums) {
  for (int64_t i = 0; i < count; i += 4) {
    const T *line[4];
    ASTRA_SCALAR_LOOP
    for (int64_t u = 0; u < 4; ++u)
      line[u] = reinterpret_cast<const T *>(lines[i + u < count ? i + u : i]);
    for (int64_t r = 0; r < rowCount; ++r) {
      auto *x = reinterpret_cast<const T *>(rows[r]);
      auto *to = reinterpret_cast<UnitOf<T> *>(sums) + r * length;
      Term<T> factor[4];
      ASTRA_SCALAR_LOOP
      for (int64_t u = 0; u < 4; ++u)
        factor[u] = i + u < count ? x[i + u] : 0;
      auto product = [&](int u, int64_t j) ASTRA_INLINE {
        return multiply(factor[u], Term<T>(line[u][j]));
      };
      ASTRA_VECTOR_LOOP
      for (int64_t j = 0; j < length; ++j)
        to[j] += Term<T>(product(0, j) + product(1, j) + product(2, j) +
                         product(3, j));
    }
  }
}

template <class T>
void addColumn(const char *row, const char *column, int64_t length, char *sum) {
  auto *x = reinterpret_cast<const T *>(row);
  auto *y = reinterpret_cast<const T *>(column);
  Term<T> total = 0;
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < length; ++i)
    total = Term<T>(total + multiply(Term<T>(x[i]), Term<T>(y[i])));
  *reinterpret_cast<UnitOf<T> *>(sum) += total;
}

template <class T>
void store(const char *sums, int64_t count, char *to, int64_t stride) {
  auto *from = reinterpret_cast<const UnitOf<T> *>(sums);
  auto *out = reinterpret_cast<T *>(to);
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i)
      out[i] = T(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i)
      out[i * stride] = T(from[i]);
  }
}

template <class T>
constexpr Format formatOf = {
    sizeof(T),
    sizeof(UnitOf<T>),
    inUnit<T>,
    packRows<T>,
    packPanel<T>,
    addIntTiles<std::conditional_t<sizeof(T) == 8, ShortStep, PairStep>>,
    sizeof(T) < 4 ? nullptr : addIntTiles<WholeStep<UnitOf<T>>>,
    addLines<T>,
    addColumn<T>,
    store<T>};

//===-- Lines of an operand -----------------------------------------------===//

astra_outcome_t copyOf(int64_t size, const astra_call_t *call,
                       const astra_arg_t &x, const astra_arg_t &out) {
  return size == 1   ? copyAll<uint8_t>(call, x, out)
         : size == 2 ? copyAll<uint16_t>(call, x, out)
         : size == 4 ? copyAll<uint32_t>(call, x, out)
                     : copyAll<uint64_t>(call, x, out);
}

/// A group of axes of the operand that it has number `of` in.
struct Axes {
  const Nest<2> &nest;
  int of;
  int64_t begin, count;

  bool isOneRun() const { return nest.innerExtent() == nest.size(); }
  int64_t stride() const { return nest.innerStride(of); }
};

/// Elements [begin, begin + count) of `inner` for each of `outer`, where they
/// lie if they are consecutive, else copied.
void findLines(const astra_call_t *call, int64_t size, const char *from,
               const Axes &outer, const Axes &inner, const char **lines,
               char *copy) {
  const char **next = lines;
  int64_t so = outer.stride() * size, si = inner.stride() * size;
  outer.nest.visit(outer.begin, outer.begin + outer.count,
                   [&](const int64_t (&at)[2], int64_t run) {
                     for (int64_t i = 0; i < run; ++i)
                       *next++ = from + at[outer.of] * size + i * so;
                     return true;
                   });
  int64_t shape[2] = {outer.count, inner.count}, length = inner.count * size;
  if (inner.isOneRun()) {
    for (int64_t i = 0; i < outer.count; ++i)
      lines[i] += inner.begin * si;
    if (si == size)
      return;
  }
  if (inner.isOneRun() && outer.isOneRun()) {
    int64_t strides[2] = {outer.stride(), inner.stride()};
    int64_t dense[2] = {inner.count, 1};
    copyOf(size, call, {const_cast<char *>(lines[0]), shape, strides, 0, 2},
           {copy, shape, dense, 0, 2});
  } else {
    char *to = copy;
    for (int64_t i = 0; i < outer.count; ++i)
      inner.nest.visit(inner.begin, inner.begin + inner.count,
                       [&](const int64_t (&at)[2], int64_t run) {
                         const char *x = lines[i];
                         x += inner.isOneRun() ? 0 : at[inner.of] * size;
                         for (int64_t j = 0; j < run; ++j, to += size)
                           std::memcpy(to, x + j * si, size_t(size));
                         return true;
                       });
  }
  for (int64_t i = 0; i < outer.count; ++i)
    lines[i] = copy + i * length;
}

//===-- The driver --------------------------------------------------------===//

class Product {
public:
  Product(const astra_call_t *call, const Contraction &c, const Format &format,
          const void *a, const void *b, void *out)
      : call(call), c(c), f(format), a(static_cast<const char *>(a)),
        b(static_cast<const char *>(b)), out(static_cast<char *>(out)),
        m(c.rows.size()), n(c.columns.size()), k(c.contracted.size()),
        panelColumns(panelBytes / f.unit), rowBlocks(ceil(m, mostRows)),
        columnBlocks(ceil(n, columnsAtMost())), height(ceil(m, rowBlocks)),
        panels(ceil(ceil(n, columnBlocks), panelColumns)),
        depth(least(k > 0 ? k : 1, m > fewRows ? mostDepth : 2 * mostDepth)) {}

  astra_outcome_t run() {
    int64_t work = k * height * panels * panelColumns;
    bool failed = false;
    parallelFor(call, c.batch.size() * rowBlocks * columnBlocks,
                200000 / (work + 1) + 1, [&](int64_t begin, int64_t end) {
                  if (!runBlocks(begin, end))
                    __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                });
    return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
  }

private:
  static constexpr int64_t panelBytes = 2 * Tile<uint32_t>::vectorBytes;
  static constexpr int64_t mostRows = 128, mostColumns = 256, mostDepth = 256;
  static constexpr int64_t fewRows = 4, mostLines = 4 * mostColumns;

  /// Columns that are read where they lie should be long.
  int64_t columnsAtMost() const {
    return m > fewRows ? mostColumns
                       : least(mostLines, 8 * mostColumns / f.size);
  }

  /// One block of the result, with the memory of the thread that makes it.
  struct Block {
    const char *a, *b;
    char *out;
    int64_t row, rows, column, columns;
    const char *lines[mostLines]; // of columns, or not more along k
    char *copiedRows, *copiedPanel, *packedRows, *packedPanel, *sums;
    int64_t rowUnits; // of a packed row
    bool narrow;
  };

  bool runBlocks(int64_t begin, int64_t end) {
    int64_t most = height * f.unit;
    int64_t side = m > fewRows ? panelColumns : panels * panelColumns;
    Scratch<char> copies(call, depth * f.size * (height + side));
    Scratch<char> rows(call, depth * most);
    Scratch<char> panel(call, depth * panelBytes);
    Scratch<char> sums(call, panels * height * panelBytes);
    if (!copies || !rows || !panel || !sums)
      return false;
    Block block;
    block.copiedRows = copies.get();
    block.copiedPanel = copies.get() + depth * f.size * height;
    block.packedRows = rows.get();
    block.packedPanel = panel.get();
    block.sums = sums.get();
    for (; begin < end; ++begin) {
      place(block, begin);
      if (block.rows > 0 && block.columns > 0)
        make(block);
    }
    return true;
  }

  void place(Block &block, int64_t index) const {
    int64_t base[3], blocks = rowBlocks * columnBlocks;
    c.batch.offsetsAt(index / blocks, base);
    block.a = a + base[0] * f.size;
    block.b = b + base[1] * f.size;
    block.out = out + base[2] * f.size;
    block.row = index % blocks / columnBlocks * height;
    block.rows = least(height, m - block.row);
    block.column = index % columnBlocks * panels * panelColumns;
    block.columns = least(panels * panelColumns, n - block.column);
    block.narrow = true;
  }

  void make(Block &block) {
    int64_t count = ceil(block.columns, panelColumns);
    int64_t area = block.rows * panelBytes;
    std::memset(block.sums, 0, size_t(count * area));
    if (m <= fewRows) {
      makeFew(block);
      return;
    }
    for (int64_t p = 0; p < k; p += depth) {
      int64_t ks = least(depth, k - p);
      takeRows(block, p, ks);
      for (int64_t i = 0; i < count; ++i)
        addPanel(block, p, ks, i * panelColumns, block.sums + i * area);
    }
    for (int64_t i = 0; i < count; ++i)
      write(block, i * panelColumns, panelColumns, block.sums + i * area);
  }

  /// All columns of a block at once, for each of a few rows.
  void makeFew(Block &block) {
    bool along =
        c.contracted.innerStride(1) == 1 && c.columns.innerStride(0) != 1;
    for (int64_t p = 0; p < k; p += depth) {
      const char *rows[fewRows];
      Axes contracted{c.contracted, 1, p, least(depth, k - p)};
      Axes columns{c.columns, 0, block.column, block.columns};
      findLines(call, f.size, block.a, {c.rows, 0, block.row, block.rows},
                {c.contracted, 0, p, contracted.count}, rows, block.copiedRows);
      findLines(call, f.size, block.b, along ? columns : contracted,
                along ? contracted : columns, block.lines, block.copiedPanel);
      if (!along) {
        f.addLines(rows, block.rows, block.lines, contracted.count,
                   block.columns, block.sums);
        continue;
      }
      char *sum = block.sums;
      for (int64_t j = 0; j < block.columns; ++j, sum += f.unit)
        for (int64_t i = 0; i < block.rows; ++i)
          f.addColumn(rows[i], block.lines[j], contracted.count,
                      sum + i * block.columns * f.unit);
    }
    write(block, 0, block.columns, block.sums);
  }

  void takeRows(Block &block, int64_t firstK, int64_t ks) {
    findLines(call, f.size, block.a, {c.rows, 0, block.row, block.rows},
              {c.contracted, 0, firstK, ks}, block.lines, block.copiedRows);
    block.rowUnits = ceil(ks, f.inUnit);
    if (block.narrow &&
        f.packRows(block.lines, block.rows, ks, block.packedRows))
      return;
    block.narrow = false;
    block.rowUnits = ks;
    packWhole(block.lines, block.rows, ks, block.packedRows, ks * f.unit);
  }

  void addPanel(Block &block, int64_t firstK, int64_t ks, int64_t column,
                char *sums) {
    int64_t count = least(panelColumns, block.columns - column);
    findLines(call, f.size, block.b, {c.contracted, 1, firstK, ks},
              {c.columns, 0, block.column + column, count}, block.lines,
              block.copiedPanel);
    if (count < panelColumns)
      std::memset(block.packedPanel, 0, size_t(ks * panelBytes));
    if (block.narrow &&
        f.packPanel(block.lines, ks, count, block.packedPanel)) {
      f.addNarrow(block.packedRows, block.rows, block.rowUnits,
                  block.packedPanel, block.rowUnits, sums);
      return;
    }
    packWhole(block.lines, ks, count, block.packedPanel, panelBytes);
    if (block.narrow) {
      block.narrow = false;
      takeRows(block, firstK, ks);
    }
    f.addWhole(block.packedRows, block.rows, block.rowUnits, block.packedPanel,
               ks, sums);
  }

  void packWhole(const char *const *lines, int64_t count, int64_t length,
                 char *to, int64_t stride) const {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * stride, lines[i], size_t(length * f.size));
  }

  /// Columns of the block from one on, whose sums lie in rows of a width.
  void write(const Block &block, int64_t column, int64_t width,
             const char *sums) const {
    int64_t first = block.column + column;
    int64_t end = first + least(width, block.columns - column);
    for (int64_t i = 0; i < block.rows; ++i, sums += width * f.unit) {
      int64_t row[2];
      c.rows.offsetsAt(block.row + i, row);
      const char *from = sums;
      c.columns.visit(first, end, [&](const int64_t (&at)[2], int64_t run) {
        f.store(from, run, block.out + (row[1] + at[1]) * f.size,
                c.columns.innerStride(1));
        from += run * f.unit;
        return true;
      });
    }
  }

  const astra_call_t *call;
  const Contraction &c;
  const Format &f;
  const char *a, *b;
  char *out;
  int64_t m, n, k, panelColumns, rowBlocks, columnBlocks;
  int64_t height, panels, depth; // of a block
};

/// Are rows and columns to change places? The columns of the result should lie
/// side by side, and few of them should be rows.
bool isExchanged(const Contraction &c) {
  int64_t m = c.rows.size(), n = c.columns.size();
  if (n < 16 && m > n)
    return true;
  return c.columns.innerStride(1) != 1 && c.rows.innerStride(1) == 1 && m >= 16;
}

astra_outcome_t contract(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params, const Format &format) {
  Contraction c(args, params[0], params[1]);
  const void *a = args[0].data, *b = args[1].data;
  if (isExchanged(c)) {
    c = Contraction(args, params[0], params[1], true);
    std::swap(a, b);
  }
  if (c.batch.size() * c.rows.size() * c.columns.size() == 0)
    return ASTRA_OK;
  return Product(call, c, format, a, b, args[2].data).run();
}

} // namespace

#define FOR_INT(dtype)                                                         \
  ASTRA_DEFINE_VARIANT(                                                        \
      contract, dtype, pairs,                                                  \
      contract(call, args, params, formatOf<Signless<T_##dtype>>))
#include "kernels/cpu/ForNumbers.h"
