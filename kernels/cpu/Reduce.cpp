// Reductions of floats: chunk by chunk where a line is reduced, column by
// column side by side where the axis that stays is the consecutive one.
#include "kernels/Ops.h"
#include "kernels/cpu/Extreme.h"

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
  void chunks(int64_t begin, int64_t end, Take take) const {
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

/// Up to `width` results whose elements lie side by side: enough that a row is
/// read in a long piece.
template <class Kind, class T> class ColumnFold {
public:
  using C = Compute<T>;
  using Op = typename Kind::Op;
  static constexpr int64_t piece = 128 / sizeof(C);
  static constexpr int64_t width = 4 * piece;

  void run(const T *x, const Nest<1> &nest, int64_t columns, T *out,
           int64_t stride) {
    count = 0;
    used = (columns + piece - 1) / piece * piece;
    for (int64_t at = 0; at < nest.size(); at += chunkSize) {
      int64_t end = at + chunkSize < nest.size() ? at + chunkSize : nest.size();
      for (auto &lane : lanes)
        for (int64_t i = 0; i < used; ++i)
          lane[i] = Op::template identity<C>();
      int k = 0;
      int64_t stride = nest.innerStride(0);
      nest.walk(at, end, [&](const int64_t (&offset)[1], int64_t rows) {
        for (int64_t r = 0; r < rows; ++r) {
          const T *row = x + offset[0] + r * stride;
          // Each row lies on another page, which the hardware does not foresee.
          for (int64_t i = 0; i < columns; i += 64 / int64_t(sizeof(T)))
            __builtin_prefetch(row + 4 * stride + i);
          addRow(row, columns, lanes[k++ % laneCount]);
        }
        return true;
      });
      endChunk();
    }
    for (int64_t i = 0; i < columns; ++i)
      out[i * stride] = narrow<T>(Kind::after(result(i)));
  }

private:
  static void addRow(const T *row, int64_t columns, C *lane) {
    if (columns == width)
      addElements(row, width, lane);
    else if (columns == width / 2)
      addElements(row, width / 2, lane);
    else
      addElements(row, columns, lane);
  }
  ASTRA_INLINE static void addElements(const T *row, int64_t count, C *lane) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i)
      lane[i] = Op::template apply<C>(lane[i], Kind::before(widen(row[i])));
  }

  void endChunk() {
    for (int h = laneCount / 2; h; h /= 2)
      for (int l = 0; l < h; ++l)
        combine(lanes[l], lanes[l], lanes[l + h]);
    int level = 0;
    for (uint64_t bits = count++; bits & 1; bits >>= 1)
      combine(lanes[0], pending[level++], lanes[0]);
    for (int64_t i = 0; i < used; ++i)
      pending[level][i] = lanes[0][i];
  }

  void combine(C *to, const C *a, const C *b) const {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < used; ++i)
      to[i] = Op::template apply<C>(a[i], b[i]);
  }

  C result(int64_t i) const {
    if (!count)
      return Op::template identity<C>();
    int level = __builtin_ctzll(count);
    C value = pending[level][i];
    for (++level; count >> level; ++level)
      if (count >> level & 1)
        value = Op::template apply<C>(pending[level][i], value);
    return value;
  }

  uint64_t count = 0;
  int64_t used = width; // columns, rounded up to whole pieces
  alignas(64) C lanes[laneCount][width];
  alignas(64) C pending[48][width];
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
  kept.walk(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
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
  r.kept.walk(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
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
  if (columnsAreConsecutive(r)) {
    int64_t stride = r.kept.innerStride(1);
    parallelFor(call, r.kept.size(), resultGrain(r), [&](int64_t b, int64_t e) {
      ColumnFold<Kind, T> fold;
      forEachColumnBlock<ColumnFold<Kind, T>::width>(
          r, b, e, x, out, [&](const T *from, int64_t columns, T *to) {
            fold.run(from, r.reduced, columns, to, stride);
          });
    });
    return ASTRA_OK;
  }
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
