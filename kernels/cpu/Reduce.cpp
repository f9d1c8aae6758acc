// Reductions of floats: chunk by chunk where a line is reduced, column by
// column side by side where the axis that stays is the consecutive one.
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

template <class Kind, class T> class LineFold {
public:
  using C = Compute<T>;
  using Op = typename Kind::Op;

  LineFold(const T *x, const Nest<1> &nest) : reader(x, nest), n(nest.size()) {}

  /// The values of the chunks [begin, end), handed to take(value) in order.
  template <class Take>
  ASTRA_SHARED void chunks(int64_t begin, int64_t end, Take take) const {
    int64_t c = begin;
    if (!Kind::maps && reader.isDirect())
      for (; c + 4 <= end && (c + 4) * chunkSize <= n; c += 4) {
        C sums[4];
        foldFourChunks<Op>(reader.read(c * chunkSize, 0, nullptr), sums);
        for (C sum : sums)
          take(sum);
      }
    alignas(64) C buffer[chunkSize];
    for (; c < end; ++c) {
      int64_t at = c * chunkSize,
              size = n - at < chunkSize ? n - at : chunkSize;
      const C *x = reader.read(at, size, buffer);
      if (Kind::maps) {
        ASTRA_VECTOR_LOOP
        for (int64_t i = 0; i < size; ++i)
          buffer[i] = Kind::before(x[i]);
        x = buffer;
      }
      take(foldChunk<Op>(x, size));
    }
  }

  int64_t chunkCount() const { return (n + chunkSize - 1) / chunkSize; }

  T result() const {
    PairTree<C, Op> tree;
    chunks(0, chunkCount(), [&](C sum) { tree.add(sum); });
    return finish(tree);
  }

  /// The same with the chunks on all threads, kept in `sums` between.
  T resultInParallel(const astra_call_t *call, C *sums) const {
    parallelFor(call, chunkCount(), 32, [&](int64_t begin, int64_t end) {
      C *to = sums + begin;
      chunks(begin, end, [&](C sum) { *to++ = sum; });
    });
    PairTree<C, Op> tree;
    for (int64_t c = 0; c < chunkCount(); ++c)
      tree.add(sums[c]);
    return finish(tree);
  }

private:
  static T finish(const PairTree<C, Op> &tree) {
    return narrow<T>(Kind::after(tree.result()));
  }

  LineReader<T> reader;
  int64_t n;
};

template <class Op, class C>
ASTRA_SHARED void combineRows(C *to, const C *with, int64_t columns) {
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < columns; ++i)
    to[i] = Op::template apply<C>(to[i], with[i]);
}

template <class Kind, class T>
ASTRA_SHARED void writeRow(const Compute<T> *from, int64_t columns, T *to,
                           int64_t stride) {
  for (int64_t i = 0; i < columns; ++i)
    to[i * stride] = narrow<T>(Kind::after(from[i]));
}

/// Results whose elements lie side by side, up to `width` at once: rows are
/// read in runs as long as a page, and their lanes wait in a near cache. Each
/// chunk of rows is a task of its own.
template <class Kind, class T> class ColumnFold {
public:
  using C = Compute<T>;
  using Op = typename Kind::Op;

  ColumnFold(const Reduction &r, const T *x, T *out)
      : r(r), x(x), out(out), inner(r.kept.innerExtent()),
        blocks((inner + width - 1) / width),
        pieces(r.kept.size() / inner * blocks),
        apart((smaller(inner, width) + 31) / 32 * 32),
        chunks((r.reduced.size() + chunkSize - 1) / chunkSize) {}

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
    addRows(x + at[0], begin, end, columns, lanes);
    for (int64_t h = laneCount / 2; h; h /= 2)
      for (int64_t l = 0; l < h && l + h < end - begin; ++l)
        combineRows<Op>(lanes + l * apart, lanes + (l + h) * apart, columns);
    if (chunks == 1)
      write(lanes, columns, out + at[1]);
    else
      for (int64_t i = 0; i < columns; ++i)
        sums[chunk * r.kept.size() + first + i] = lanes[i];
  }

  ASTRA_SHARED void addRows(const T *from, int64_t begin, int64_t end,
                            int64_t columns, C *lanes) const {
    int64_t stride = r.reduced.innerStride(0), k = 0;
    if constexpr (takesFourRows)
      if (columns * int64_t(sizeof(T)) >= 1024)
        k = addFours(from, begin, end, columns, lanes);
    // Short rows may lie on pages that the hardware does not foresee.
    int64_t ahead = columns * int64_t(sizeof(T)) < 1024 ? 4 : 1;
    r.reduced.walk(begin + k, end,
                   [&](const int64_t (&offset)[1], int64_t rows) {
                     const T *row = from + offset[0];
                     for (int64_t i = 0; i < rows; ++i, ++k, row += stride)
                       addRow(row, row + ahead * stride, columns, k < laneCount,
                              lanes + k % laneCount * apart);
                     return true;
                   });
  }

  /// Sums of f32 and f64, which wait for memory most.
  static constexpr bool takesFourRows =
      std::is_same_v<Kind, Plain<Plus>> && std::is_same_v<T, C>;

  /// Long rows, lane by lane, as far as four at a time go: the lane stays in
  /// the nearest cache while its rows come by. Gives how many rows that are.
  ASTRA_SHARED int64_t addFours(const T *from, int64_t begin, int64_t end,
                                int64_t columns, C *lanes) const {
    int64_t n = (end - begin) & -4 * laneCount;
    const T *rows[chunkSize], **to = rows;
    int64_t stride = r.reduced.innerStride(0);
    r.reduced.walk(begin, begin + n,
                   [&](const int64_t (&offset)[1], int64_t count) {
                     for (int64_t i = 0; i < count; ++i)
                       *to++ = from + offset[0] + i * stride;
                     return true;
                   });
    for (int64_t l = 0; n && l < laneCount; ++l) {
      C *lane = lanes + l * apart;
      std::fill_n(lane, columns, Op::template identity<C>());
      for (int64_t k = l; k < n; k += 4 * laneCount)
        addFour(rows + k, columns, lane);
    }
    return n;
  }

  static void addFour(const T *const *rows, int64_t columns, C *lane) {
    const T *a = rows[0], *b = rows[laneCount], *c = rows[2 * laneCount],
            *d = rows[3 * laneCount];
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < columns; ++i)
      lane[i] = lane[i] + a[i] + b[i] + c[i] + d[i];
  }

  static void addRow(const T *row, const T *ahead, int64_t columns, bool first,
                     C *lane) {
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

  void write(const C *from, int64_t columns, T *to) const {
    writeRow<Kind, T>(from, columns, to, r.kept.innerStride(1));
  }

  /// The tree over the chunks, for pieces of the results.
  void combineChunks(const astra_call_t *call, C *sums) const {
    int64_t size = r.kept.size();
    parallelFor(
        call, size, elementGrain / chunks + 1, [&](int64_t begin, int64_t end) {
          for (int64_t step = 1; step < chunks; step *= 2)
            for (int64_t c = 0; c + step < chunks; c += 2 * step)
              combineRows<Op>(sums + c * size + begin,
                              sums + (c + step) * size + begin, end - begin);
          r.kept.visit(begin, end, [&](const int64_t (&at)[2], int64_t count) {
            write(sums + begin, count, out + at[1]);
            begin += count;
            return true;
          });
        });
  }

  const Reduction &r;
  const T *x;
  T *out;
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

/// Calls f(x, columns, out) for pieces of up to `width` results side by side.
template <int64_t width, class T, class F>
void forEachColumnBlock(const Reduction &r, int64_t begin, int64_t end,
                        const T *x, T *out, F f) {
  r.kept.visit(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; i += width)
      f(x + offset[0] + i, count - i < width ? count - i : width,
        out + offset[1] + i * r.kept.innerStride(1));
    return true;
  });
}

template <class Kind, class T>
astra_outcome_t foldAll(const astra_call_t *call, const astra_arg_t *args,
                        const int64_t *params) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  const T *x = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  if (columnsAreConsecutive(r) && r.reduced.size() && r.kept.size())
    return ColumnFold<Kind, T>(r, x, out).run(call);
  if (r.kept.size() < 8 && r.reduced.size() >= 4 * elementGrain) {
    Scratch<Compute<T>> sums(call, r.reduced.size() / chunkSize + 1);
    if (!sums)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    forEachResult(r.kept, 0, r.kept.size(), [&](int64_t from, int64_t to) {
      LineFold<Kind, T> line(x + from, r.reduced);
      out[to] = line.resultInParallel(call, sums.get());
    });
    return ASTRA_OK;
  }
  parallelFor(call, r.kept.size(), resultGrain(r), [&](int64_t b, int64_t e) {
    forEachResult(r.kept, b, e, [&](int64_t from, int64_t to) {
      out[to] = LineFold<Kind, T>(x + from, r.reduced).result();
    });
  });
  return ASTRA_OK;
}

/// Extremes of up to extremeWidth results whose elements lie side by side.
constexpr int64_t extremeWidth = 256;
template <bool larger, class T>
void extremeOfColumns(const T *x, const Nest<1> &nest, int64_t columns, T *out,
                      int64_t stride) {
  using Op = Extreme<larger>;
  alignas(64) Compute<T> best[extremeWidth];
  loadRun(x, 1, columns, best);
  nest.walk(0, nest.size(), [&](const int64_t (&offset)[1], int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) {
      const T *row = x + offset[0] + r * nest.innerStride(0);
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < columns; ++i)
        best[i] = Op::apply(best[i], widen(row[i]));
    }
    return true;
  });
  storeRun(best, columns, out, stride);
}

template <bool larger, class T>
astra_outcome_t extremes(const astra_call_t *call, const astra_arg_t *args,
                         const int64_t *params, const char *name) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  if (r.reduced.size() == 0 && r.kept.size() != 0)
    return call->api->fail(call, ASTRA_ERROR_INVALID_ARGUMENT,
                           Sentence()
                               .text(name)
                               .text(" over nothing: a reduced extent is 0")
                               .get());
  const T *x = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  parallelFor(call, r.kept.size(), resultGrain(r), [&](int64_t b, int64_t e) {
    if (columnsAreConsecutive(r))
      return forEachColumnBlock<extremeWidth>(
          r, b, e, x, out, [&](const T *from, int64_t columns, T *to) {
            extremeOfColumns<larger>(from, r.reduced, columns, to,
                                     r.kept.innerStride(1));
          });
    forEachResult(r.kept, b, e, [&](int64_t from, int64_t to) {
      LineReader<T> reader(x + from, r.reduced);
      out[to] = narrow<T>(extremeOfLine<larger>(reader, r.reduced.size()));
    });
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
astra_outcome_t logSumExp(const astra_call_t *call, const astra_arg_t *args,
                          const int64_t *params) {
  Reduction r = reductionOf(args[0], args[1], params + 1, params[0]);
  const T *x = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  parallelFor(call, r.kept.size(), resultGrain(r), [&](int64_t b, int64_t e) {
    forEachResult(r.kept, b, e, [&](int64_t from, int64_t to) {
      out[to] = logSumExpOf(x + from, r.reduced);
    });
  });
  return ASTRA_OK;
}

} // namespace

// The rows with a variant are the FLOATS at the end of kernels.def.
#define DEFINE(op, dtype, ...)                                                 \
  ASTRA_DEFINE_VARIANT(op, dtype, lanes, __VA_ARGS__)
#define FOR_FLOAT(dtype)                                                       \
  DEFINE(sum, dtype, foldAll<Plain<Plus>, T_##dtype>(call, args, params))      \
  DEFINE(prod, dtype, foldAll<Plain<Times>, T_##dtype>(call, args, params))    \
  DEFINE(norm, dtype, foldAll<Squares, T_##dtype>(call, args, params))         \
  DEFINE(logsumexp, dtype, logSumExp<T_##dtype>(call, args, params))           \
  DEFINE(max, dtype, extremes<true, T_##dtype>(call, args, params, "max"))     \
  DEFINE(min, dtype, extremes<false, T_##dtype>(call, args, params, "min"))
FOR_FLOAT(f32)
FOR_FLOAT(f64)
FOR_FLOAT(f16)
FOR_FLOAT(bf16)
