// Reductions of floats: chunk by chunk where a line is reduced, column by
// column side by side where the axis that stays is the consecutive one. What
// drives the loops is shared by all operations and by all types that compute in
// one, and counts in bytes.
#include "kernels/Ops.h"
#include "kernels/cpu/Extreme.h"
#include <algorithm>

using namespace astra;

namespace {

/// A folded reduction: what is done to an element before, and to the result
/// after.
template <class Op_> struct Plain {
  using Op = Op_;
  static constexpr bool maps = false;
  template <class C> static C before(C x) { return x; }
  template <class C> static C after(C x) { return x; }
};
struct Squares {
  using Op = Plus;
  static constexpr bool maps = true;
  template <class C> static C before(C x) { return x * x; }
  template <class C> static C after(C x) { return math::sqrt(x); }
};

using Line = void (*)(const void *x, const Nest<1> &nest, void *out);

/// A folded reduction of a type that computes in C, as the drivers want it.
template <class C> struct Folding {
  int64_t size; // of an element
  Line line;
  /// The values of the chunks [begin, end) of a line.
  void (*chunks)(const void *x, const Nest<1> &nest, int64_t begin, int64_t end,
                 C *values);
  /// The result of a line of which these are all the chunks.
  void (*finish)(const C *values, int64_t count, void *out);
  /// Adds rows, the first of which is row k of a chunk, to their lanes.
  void (*addRows)(const void *x, int64_t stride, int64_t rows, int64_t columns,
                  int64_t k, C *lanes, int64_t apart);
  /// Adds four rows of one lane to it, or to nothing; null if that is no gain.
  void (*addFour)(const char *const *rows, int64_t columns, bool first,
                  C *lane);
  void (*combine)(C *to, const C *with, int64_t columns);
  void (*write)(const C *from, int64_t columns, void *to, int64_t stride);
};

int64_t chunksOf(const Nest<1> &nest) {
  return (nest.size() + chunkSize - 1) / chunkSize;
}

template <class Kind, class T>
ASTRA_SHARED void foldChunks(const void *x, const Nest<1> &nest, int64_t begin,
                             int64_t end, Compute<T> *values) {
  using C = Compute<T>;
  using Op = typename Kind::Op;
  LineReader<T> reader(static_cast<const T *>(x), nest);
  int64_t n = nest.size(), c = begin;
  if (!Kind::maps && reader.isDirect())
    for (; c + 4 <= end && (c + 4) * chunkSize <= n; c += 4, values += 4)
      foldFourChunks<Op>(reader.read(c * chunkSize, 0, nullptr), values);
  alignas(64) C buffer[chunkSize];
  for (; c < end; ++c) {
    int64_t at = c * chunkSize, size = n - at < chunkSize ? n - at : chunkSize;
    const C *chunk = reader.read(at, size, buffer);
    if (Kind::maps) {
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < size; ++i)
        buffer[i] = Kind::before(chunk[i]);
      chunk = buffer;
    }
    *values++ = foldChunk<Op>(chunk, size);
  }
}

template <class Kind, class T> void finishLine(Compute<T> value, void *out) {
  *static_cast<T *>(out) = narrow<T>(Kind::after(value));
}

template <class Kind, class T>
void foldLine(const void *x, const Nest<1> &nest, void *out) {
  using C = Compute<T>;
  using Op = typename Kind::Op;
  int64_t n = nest.size(), count = chunksOf(nest);
  if constexpr (!Kind::maps && !isSmallFloat<T>)
    if (count == 1 && LineReader<T>(nullptr, nest).isDirect())
      return finishLine<Kind, T>(foldChunk<Op>(static_cast<const T *>(x), n),
                                 out);
  constexpr int64_t atOnce = 16;
  C values[atOnce];
  if (count == 1) {
    foldChunks<Kind, T>(x, nest, 0, 1, values);
    return finishLine<Kind, T>(values[0], out);
  }
  PairTree<C, Op> tree;
  for (int64_t c = 0; c < count; c += atOnce) {
    int64_t some = count - c < atOnce ? count - c : atOnce;
    foldChunks<Kind, T>(x, nest, c, c + some, values);
    for (int64_t i = 0; i < some; ++i)
      tree.add(values[i]);
  }
  finishLine<Kind, T>(tree.result(), out);
}

template <class Kind, class T>
void finishChunks(const Compute<T> *values, int64_t count, void *out) {
  PairTree<Compute<T>, typename Kind::Op> tree;
  for (int64_t c = 0; c < count; ++c)
    tree.add(values[c]);
  finishLine<Kind, T>(tree.result(), out);
}

template <class Op, class C>
ASTRA_SHARED void combineRows(C *to, const C *with, int64_t columns) {
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < columns; ++i)
    to[i] = Op::template apply<C>(to[i], with[i]);
}

template <class Kind, class T>
void writeRow(const Compute<T> *from, int64_t columns, void *out,
              int64_t stride) {
  T *to = static_cast<T *>(out);
  for (int64_t i = 0; i < columns; ++i)
    to[i * stride] = narrow<T>(Kind::after(from[i]));
}

template <class Kind, class T, class C>
void addRow(const T *row, const T *ahead, int64_t columns, bool first,
            C *lane) {
  using Op = typename Kind::Op;
  for (int64_t i = 0; i < columns; i += 64 / int64_t(sizeof(T)))
    __builtin_prefetch(ahead + i);
  if (first) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < columns; ++i)
      lane[i] = Op::template apply<C>(Op::template identity<C>(),
                                      Kind::before(widen(row[i])));
  } else {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < columns; ++i)
      lane[i] = Op::template apply<C>(lane[i], Kind::before(widen(row[i])));
  }
}

/// Bytes of a row from which on the hardware foresees the next, and several at
/// once are worth it.
constexpr int64_t longRow = 1024;

template <class Kind, class T>
void addRows(const void *x, int64_t stride, int64_t rows, int64_t columns,
             int64_t k, Compute<T> *lanes, int64_t apart) {
  const T *row = static_cast<const T *>(x);
  // Short rows may lie on pages that the hardware does not foresee.
  int64_t ahead = columns * int64_t(sizeof(T)) < longRow ? 4 : 1;
  for (int64_t end = k + rows; k < end; ++k, row += stride)
    addRow<Kind>(row, row + ahead * stride, columns, k < laneCount,
                 lanes + k % laneCount * apart);
}

template <class C>
ASTRA_SHARED void addFourRows(const char *const *rows, int64_t columns,
                              bool first, C *lane) {
  auto row = [&](int i) {
    return reinterpret_cast<const C *>(rows[i * laneCount]);
  };
  const C *a = row(0), *b = row(1), *c = row(2), *d = row(3);
  if (first)
    std::fill_n(lane, columns, Plus::identity<C>());
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < columns; ++i)
    lane[i] = lane[i] + a[i] + b[i] + c[i] + d[i];
}

/// Sums of f32 and f64 wait for memory most.
template <class Kind, class T>
constexpr bool takesFourRows =
    std::is_same_v<Kind, Plain<Plus>> && std::is_same_v<T, Compute<T>>;

template <class Kind, class T>
constexpr Folding<Compute<T>> folding = {
    sizeof(T),
    foldLine<Kind, T>,
    foldChunks<Kind, T>,
    finishChunks<Kind, T>,
    addRows<Kind, T>,
    takesFourRows<Kind, T> ? addFourRows<Compute<T>> : nullptr,
    combineRows<typename Kind::Op, Compute<T>>,
    writeRow<Kind, T>};

/// Results whose elements lie side by side, up to `width` at once: rows are
/// read in runs as long as a page, and their lanes wait in a near cache. Each
/// chunk of rows is a task of its own.
template <class C> class ColumnFold {
public:
  ColumnFold(const Folding<C> &type, const Reduction &r, const char *x,
             char *out)
      : type(type), r(r), x(x), out(out), inner(r.kept.innerExtent()),
        blocks((inner + width - 1) / width),
        pieces(r.kept.size() / inner * blocks),
        apart((smaller(inner, width) + 31) / 32 * 32),
        chunks(chunksOf(r.reduced)) {}

  astra_outcome_t run(const astra_call_t *call) const {
    int64_t rows = smaller(r.reduced.size(), chunkSize);
    int64_t columns = smaller(inner, width), task = rows * columns + 64;
    Scratch<C> sums(call, chunks > 1 ? chunks * r.kept.size() : 0);
    bool failed = !sums;
    if (!failed)
      parallelFor(call, pieces * chunks,
                  task < elementGrain ? elementGrain / task : 1,
                  [&](int64_t begin, int64_t end) {
                    Scratch<C> lanes(call, smaller(rows, laneCount) * apart);
                    if (!lanes)
                      __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                    for (; lanes && begin < end; ++begin)
                      foldChunk(begin % pieces, begin / pieces, lanes.get(),
                                sums.get());
                  });
    if (failed)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    if (chunks > 1)
      combineChunks(call, sums.get());
    return ASTRA_OK;
  }

private:
  static constexpr int64_t width = 4096 / sizeof(C);
  static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

  /// One chunk of a piece, to its row of the sums or, if there is no other, to
  /// the result.
  void foldChunk(int64_t piece, int64_t chunk, C *lanes, C *sums) const {
    int64_t column = piece % blocks * width, at[2];
    int64_t columns = smaller(inner - column, width);
    int64_t first = piece / blocks * inner + column;
    r.kept.offsetsAt(first, at);
    int64_t begin = chunk * chunkSize;
    int64_t end = smaller(begin + chunkSize, r.reduced.size());
    addRows(x + at[0] * type.size, begin, end, columns, lanes);
    for (int64_t h = laneCount / 2; h; h /= 2)
      for (int64_t l = 0; l < h && l + h < end - begin; ++l)
        type.combine(lanes + l * apart, lanes + (l + h) * apart, columns);
    if (chunks == 1)
      write(lanes, columns, at[1]);
    else
      for (int64_t i = 0; i < columns; ++i)
        sums[chunk * r.kept.size() + first + i] = lanes[i];
  }

  void addRows(const char *from, int64_t begin, int64_t end, int64_t columns,
               C *lanes) const {
    int64_t stride = r.reduced.innerStride(0), k = 0;
    if (type.addFour && columns * type.size >= longRow)
      k = addFours(from, begin, end, columns, lanes);
    r.reduced.visit(begin + k, end,
                    [&](const int64_t (&offset)[1], int64_t rows) {
                      type.addRows(from + offset[0] * type.size, stride, rows,
                                   columns, k, lanes, apart);
                      k += rows;
                      return true;
                    });
  }

  /// Long rows, lane by lane, as far as four at a time go: the lane stays in
  /// the nearest cache while its rows come by. Gives how many rows that are.
  int64_t addFours(const char *from, int64_t begin, int64_t end,
                   int64_t columns, C *lanes) const {
    int64_t n = (end - begin) & -4 * laneCount;
    const char *rows[chunkSize], **to = rows;
    int64_t stride = r.reduced.innerStride(0);
    r.reduced.visit(begin, begin + n,
                    [&](const int64_t (&offset)[1], int64_t count) {
                      for (int64_t i = 0; i < count; ++i)
                        *to++ = from + (offset[0] + i * stride) * type.size;
                      return true;
                    });
    for (int64_t l = 0; l < laneCount; ++l)
      for (int64_t k = l; k < n; k += 4 * laneCount)
        type.addFour(rows + k, columns, k == l, lanes + l * apart);
    return n;
  }

  void write(const C *from, int64_t columns, int64_t to) const {
    type.write(from, columns, out + to * type.size, r.kept.innerStride(1));
  }

  /// The tree over the chunks, for pieces of the results.
  void combineChunks(const astra_call_t *call, C *sums) const {
    int64_t size = r.kept.size();
    parallelFor(
        call, size, elementGrain / chunks + 1, [&](int64_t begin, int64_t end) {
          for (int64_t step = 1; step < chunks; step *= 2)
            for (int64_t c = 0; c + step < chunks; c += 2 * step)
              type.combine(sums + c * size + begin,
                           sums + (c + step) * size + begin, end - begin);
          r.kept.visit(begin, end, [&](const int64_t (&at)[2], int64_t count) {
            write(sums + begin, count, at[1]);
            begin += count;
            return true;
          });
        });
  }

  const Folding<C> &type;
  const Reduction &r;
  const char *x;
  char *out;
  int64_t inner, blocks, pieces;
  int64_t apart; // from one lane to the next
  int64_t chunks;
};

/// Results that are worth a thread.
int64_t resultGrain(const Reduction &r) {
  int64_t each = r.reduced.size() + 16;
  return each >= elementGrain ? 1 : elementGrain / each;
}

/// Calls f(offset in x, offset in out) for each of the results [begin, end).
template <class F>
void forEachResult(const Nest<2> &kept, int64_t begin, int64_t end, F f) {
  int64_t si = kept.innerStride(0), so = kept.innerStride(1);
  kept.visit(begin, end,
             [&, si, so](const int64_t (&offset)[2], int64_t count) {
               for (int64_t i = 0; i < count; ++i)
                 f(offset[0] + i * si, offset[1] + i * so);
               return true;
             });
}

bool columnsAreConsecutive(const Reduction &r) {
  return r.kept.innerStride(0) == 1 && r.kept.innerExtent() >= 16 &&
         r.reduced.innerStride(0) != 1;
}

/// Each result from its line.
ASTRA_SHARED void eachLine(const astra_call_t *call, const Reduction &r,
                           const char *x, char *out, int64_t size, Line line) {
  parallelFor(call, r.kept.size(), resultGrain(r), [&](int64_t b, int64_t e) {
    forEachResult(r.kept, b, e, [&](int64_t from, int64_t to) {
      line(x + from * size, r.reduced, out + to * size);
    });
  });
}

template <class C>
ASTRA_SHARED astra_outcome_t foldAll(const astra_call_t *call,
                                     const astra_arg_t *args,
                                     const int64_t *params,
                                     const Folding<C> &type) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  const char *x = static_cast<const char *>(args[0].data);
  char *out = static_cast<char *>(args[1].data);
  if (columnsAreConsecutive(r) && r.reduced.size() && r.kept.size())
    return ColumnFold<C>(type, r, x, out).run(call);
  if (r.kept.size() >= 8 || r.reduced.size() < 4 * elementGrain) {
    eachLine(call, r, x, out, type.size, type.line);
    return ASTRA_OK;
  }
  int64_t chunks = chunksOf(r.reduced);
  Scratch<C> sums(call, chunks);
  if (!sums)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  forEachResult(r.kept, 0, r.kept.size(), [&](int64_t from, int64_t to) {
    const char *line = x + from * type.size;
    parallelFor(call, chunks, 32, [&](int64_t begin, int64_t end) {
      type.chunks(line, r.reduced, begin, end, sums.get() + begin);
    });
    type.finish(sums.get(), chunks, out + to * type.size);
  });
  return ASTRA_OK;
}

/// The largest or smallest of a type that computes in C.
template <class C> struct Extremes {
  int64_t size; // of an element
  const char *name;
  Line line;
  void (*load)(const void *x, int64_t n, C *to);
  void (*rows)(const void *x, int64_t stride, int64_t rows, int64_t columns,
               C *best);
  void (*store)(const C *from, int64_t n, void *to, int64_t stride);
};

template <bool larger, class T>
void extremeLine(const void *x, const Nest<1> &nest, void *out) {
  LineReader<T> reader(static_cast<const T *>(x), nest);
  *static_cast<T *>(out) =
      narrow<T>(extremeOfLine<larger>(reader, nest.size()));
}
template <class T> void load(const void *x, int64_t n, Compute<T> *to) {
  loadRun(static_cast<const T *>(x), 1, n, to);
}
template <class T>
void store(const Compute<T> *from, int64_t n, void *to, int64_t stride) {
  storeRun(from, n, static_cast<T *>(to), stride);
}
template <bool larger, class T>
void extremeRows(const void *x, int64_t stride, int64_t rows, int64_t columns,
                 Compute<T> *best) {
  const T *row = static_cast<const T *>(x);
  for (int64_t r = 0; r < rows; ++r, row += stride) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < columns; ++i)
      best[i] = Extreme<larger>::apply(best[i], widen(row[i]));
  }
}

template <bool larger, class T>
constexpr Extremes<Compute<T>> extremes = {
    sizeof(T), larger ? "max" : "min", extremeLine<larger, T>,
    load<T>,   extremeRows<larger, T>, store<T>};

/// Of the elements that the results [begin, end) have side by side, up to
/// `width` at once.
template <class C>
void extremesOfColumns(const Extremes<C> &type, const Reduction &r,
                       int64_t begin, int64_t end, const char *x, char *out) {
  constexpr int64_t width = 256;
  r.kept.visit(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; i += width) {
      alignas(64) C best[width];
      int64_t columns = count - i < width ? count - i : width;
      const char *from = x + (offset[0] + i) * type.size;
      type.load(from, columns, best);
      r.reduced.visit(
          0, r.reduced.size(), [&](const int64_t (&at)[1], int64_t rows) {
            type.rows(from + at[0] * type.size, r.reduced.innerStride(0), rows,
                      columns, best);
            return true;
          });
      int64_t stride = r.kept.innerStride(1);
      type.store(best, columns, out + (offset[1] + i * stride) * type.size,
                 stride);
    }
    return true;
  });
}

template <class C>
ASTRA_SHARED astra_outcome_t extremesOf(const astra_call_t *call,
                                        const astra_arg_t *args,
                                        const int64_t *params,
                                        const Extremes<C> &type) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  if (r.reduced.size() == 0 && r.kept.size() != 0)
    return failOverNothing(call, type.name);
  const char *x = static_cast<const char *>(args[0].data);
  char *out = static_cast<char *>(args[1].data);
  if (!columnsAreConsecutive(r))
    eachLine(call, r, x, out, type.size, type.line);
  else
    parallelFor(call, r.kept.size(), resultGrain(r), [&](int64_t b, int64_t e) {
      extremesOfColumns(type, r, b, e, x, out);
    });
  return ASTRA_OK;
}

template <class T> T logSumExpOf(const T *x, const Nest<1> &nest) {
  using C = Compute<T>;
  int64_t n = nest.size();
  if (n == 0)
    return narrow<T>(-std::numeric_limits<C>::infinity());
  LineReader<T> reader(x, nest);
  C m = extremeOfLine<true>(reader, n);
  if (Op_is_inf::apply(m).value)
    return narrow<T>(m);
  PairTree<C, Plus> tree;
  alignas(64) C buffer[chunkSize];
  for (int64_t at = 0; at < n; at += chunkSize) {
    int64_t size = n - at < chunkSize ? n - at : chunkSize;
    const C *from = reader.read(at, size, buffer);
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < size; ++i)
      buffer[i] = math::exp(from[i] - m);
    tree.add(foldChunk<Plus>(buffer, size));
  }
  return narrow<T>(m + math::log(tree.result()));
}

template <class T>
void logSumExpLine(const void *x, const Nest<1> &nest, void *out) {
  *static_cast<T *>(out) = logSumExpOf(static_cast<const T *>(x), nest);
}

astra_outcome_t logSumExp(const astra_call_t *call, const astra_arg_t *args,
                          const int64_t *params, int64_t size, Line line) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  eachLine(call, r, static_cast<const char *>(args[0].data),
           static_cast<char *>(args[1].data), size, line);
  return ASTRA_OK;
}

} // namespace

// The rows with a variant are the FLOATS at the end of kernels.def.
#define DEFINE(op, dtype, ...)                                                 \
  ASTRA_DEFINE_VARIANT(op, dtype, lanes, __VA_ARGS__)
#define FOLD(op, dtype, ...)                                                   \
  DEFINE(op, dtype,                                                            \
         foldAll(call, args, params, folding<__VA_ARGS__, T_##dtype>))
#define FOR_FLOAT(dtype)                                                       \
  FOLD(sum, dtype, Plain<Plus>)                                                \
  FOLD(prod, dtype, Plain<Times>)                                              \
  FOLD(norm, dtype, Squares)                                                   \
  DEFINE(logsumexp, dtype,                                                     \
         logSumExp(call, args, params, sizeof(T_##dtype),                      \
                   logSumExpLine<T_##dtype>))                                  \
  DEFINE(max, dtype,                                                           \
         extremesOf(call, args, params, extremes<true, T_##dtype>))            \
  DEFINE(min, dtype, extremesOf(call, args, params, extremes<false, T_##dtype>))
FOR_FLOAT(f32)
FOR_FLOAT(f64)
FOR_FLOAT(f16)
FOR_FLOAT(bf16)
