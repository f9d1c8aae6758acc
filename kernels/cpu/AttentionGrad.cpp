// The gradient of attention in two passes that each compute the scores again:
// groups of queries give dq, groups of keys give dk and dv. In both, rows of
// the group meet the other side in blocks of 256, one chain of the canonical
// product, so that every task is independent of the others.
#include "kernels/cpu/AttentionTiles.h"

using namespace astra;

namespace {

constexpr int64_t blockWidth = chainLength;

/// One batch entry: its matrices, and for each query the logarithm of its sum
/// and the mean gradient of its weights.
template <class T> struct Entry {
  using C = Compute<T>;
  Matrix<const T> q, k, v, dOut;
  AttentionMask mask;
  C *logSum, *mean;
};

/// Sums of chains over any number of blocks: left folds of 16 blocks, then a
/// tree of adjacent pairs. Each level is one array of `area` elements.
template <class C> class FoldLevels {
public:
  static int64_t levelsFor(int64_t items) {
    int64_t levels = 1;
    for (int64_t f = (items + foldExtent - 1) / foldExtent; f > 1;
         f = (f + 1) / 2)
      ++levels;
    return levels;
  }
  void start(C *memory, int64_t elements) {
    levels = memory;
    area = elements;
    folds = 0;
    waiting = 0;
  }
  /// A new fold: all zeros.
  C *open() {
    C *sum = levels + waiting++ * area;
    std::memset(sum, 0, size_t(area) * sizeof(C));
    return sum;
  }
  void close() {
    for (uint64_t bits = folds++; bits & 1; bits >>= 1)
      addLast();
  }
  C *finish() {
    while (waiting > 1)
      addLast();
    return levels;
  }

private:
  void addLast() {
    C *to = levels + (waiting - 2) * area;
    const C *from = to + area;
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < area; ++i)
      to[i] += from[i];
    --waiting;
  }

  C *levels = nullptr;
  int64_t area = 0;
  uint64_t folds = 0;
  int waiting = 0;
};

/// A group of rows (queries, or keys if `byKey`) against all of the other side.
template <class T, bool byKey> class GradientGroup {
public:
  using C = Compute<T>;
  using Rows = Tile<C>;
#ifdef __AVX512F__
  static constexpr int64_t groupRows = 8 * Rows::rows;
#else
  static constexpr int64_t groupRows = 16 * Rows::rows;
#endif

  /// `others`: how many the other side has.
  GradientGroup(const AttentionRule<T> &rule, int64_t d, int64_t e,
                int64_t others)
      : rule(rule), d(d), e(e), paddedD(roundUp(d, Rows::lanes)),
        paddedE(roundUp(e, Rows::lanes)),
        levels(FoldLevels<C>::levelsFor(others)) {
    carve(nullptr);
  }
  int64_t scratchSize() const { return size; }
  void setMemory(C *memory) { carve(memory); }

  /// Writes dq, or dk and dv.
  void run(const Entry<T> &given, int64_t firstRow, const Matrix<T> &dX,
           const Matrix<T> &dV) {
    entry = &given;
    first = firstRow;
    const Matrix<const T> &rows = byKey ? given.k : given.q;
    others = byKey ? given.q.rows : given.k.rows;
    count = smaller(groupRows, rows.rows - first);
    packTiles(rows, first, count, rowsX);
    packTiles(byKey ? given.v : given.dOut, first, count, rowsY);
    foldX.start(sumX, groupRows * paddedD);
    foldV.start(sumV, groupRows * paddedE);
    for (int64_t at = 0; at < others || at == 0; at += foldExtent)
      fold(at, smaller(others, at + foldExtent));
    write(foldX.finish(), paddedD, rule.scale, dX);
    if (byKey)
      write(foldV.finish(), paddedE, C(1), dV);
  }

private:
  void carve(C *memory) {
    Carve<C> room(memory);
    rowsX = room.take(groupRows * d + Rows::lanes);
    rowsY = room.take(groupRows * e + Rows::lanes);
    acrossX = room.take(blockWidth * d);
    acrossY = room.take(blockWidth * e);
    plainX = room.take(blockWidth * paddedD);
    plainY = room.take(byKey ? blockWidth * paddedE : 0);
    weights = room.take(groupRows * blockWidth);
    slopes = room.take(groupRows * blockWidth);
    ones = room.take(groupRows);
    chain = room.take(greater(paddedD, paddedE));
    sumX = room.take(levels * groupRows * paddedD);
    sumV = room.take(byKey ? levels * groupRows * paddedE : 0);
    size = room.size();
    for (int64_t r = 0; memory && r < groupRows; ++r)
      ones[r] = C(1);
  }

  void fold(int64_t begin, int64_t end) {
    C *x = foldX.open(), *v = byKey ? foldV.open() : nullptr;
    for (; begin < end; begin += blockWidth)
      block(begin, smaller(blockWidth, end - begin), x, v);
    foldX.close();
    if (byKey)
      foldV.close();
  }

  /// The tiles with rows that may meet others in the block: rows [from, to).
  void block(int64_t begin, int64_t width, C *x, C *v) {
    int64_t from = 0, to = count;
    if (rule.causal && byKey)
      to = smaller(count, roundUp(begin + width - first, Rows::rows));
    if (rule.causal && !byKey)
      from = greater(0, begin - first) / Rows::rows * Rows::rows;
    if (from >= to)
      return;
    int64_t padded = roundUp(width, Rows::lanes);
    const Matrix<const T> &otherX = byKey ? entry->q : entry->k;
    const Matrix<const T> &otherY = byKey ? entry->dOut : entry->v;
    packAcross(otherX, begin, width, blockWidth, acrossX);
    packAcross(otherY, begin, width, blockWidth, acrossY);
    C *w = weights + from * blockWidth, *s = slopes + from * blockWidth;
    products<C, blockWidth>(rowsX + from * d, to - from, acrossX, padded, d,
                            ones, w);
    products<C, blockWidth>(rowsY + from * e, to - from, acrossY, padded, e,
                            ones, s);
    bool finite = packRows(otherX, begin, width, paddedD, plainX);
    if (byKey)
      finite &= packRows(otherY, begin, width, paddedE, plainY);
    for (int64_t r = from; r < to; ++r)
      row(r, begin, width, padded, finite);
    add(s, from, to, plainX, width, paddedD, finite, x);
    if (byKey)
      add(w, from, to, plainY, width, paddedE, finite, v);
  }

  /// Turns a row's products into its weights and the gradients of its scores.
  void row(int64_t r, int64_t begin, int64_t width, int64_t padded,
           bool finite) {
    int64_t index = first + r, from = 0, to = width;
    if (rule.causal && byKey)
      from = index - begin;
    if (rule.causal && !byKey)
      to = smaller(width, index - begin + 1);
    C *weight = weights + r * blockWidth, *slope = slopes + r * blockWidth;
    Matrix<const Bool> mask = entry->mask.mask;
    if (byKey)
      mask = mask.transposed();
    finishScores(weight, padded, rule.scale, from, to,
                 rule.masked ? &mask.at(index, begin) : nullptr,
                 mask.columnStride);
    if (!finite)
      for (int64_t j = 0; j < width; ++j)
        seen[r][j] = weight[j] != hidden<C>;
    const C *logSum = entry->logSum + (byKey ? begin : index);
    const C *mean = entry->mean + (byKey ? begin : index);
    if (byKey)
      finishRow(
          weight, slope, width, [&](int64_t j) { return logSum[j]; },
          [&](int64_t j) { return mean[j]; });
    else
      finishRow(
          weight, slope, width, [l = *logSum](int64_t) { return l; },
          [m = *mean](int64_t) { return m; });
  }

  template <class LogSum, class Mean>
  static void finishRow(C *weight, C *slope, int64_t width, LogSum logSum,
                        Mean mean) {
    ASTRA_VECTOR_LOOP
    for (int64_t j = 0; j < width; ++j) {
      bool visible = weight[j] != hidden<C>;
      C w = math::exp(weight[j] - logSum(j));
      C s = w * (slope[j] - mean(j));
      weight[j] = visible ? w : C(0);
      slope[j] = visible ? s : C(0);
    }
  }

  /// sum[r] += chain over the block of factors[r][j] x[j].
  void add(const C *factors, int64_t from, int64_t to, const C *x,
           int64_t width, int64_t padded, bool finite, C *sum) {
    sum += from * padded;
    if (finite)
      return addWeighted<C, blockWidth, 1>(factors, Rows::rows * blockWidth,
                                           to - from, x, padded, padded, width,
                                           ones, sum, padded);
    for (int64_t r = from; r < to; ++r)
      addSeen(
          factors + (r - from) * blockWidth,
          [&](int64_t j) { return seen[r][j]; }, x, width, padded, C(1), chain,
          sum + (r - from) * padded);
  }

  void write(C *sum, int64_t padded, C factor, const Matrix<T> &to) {
    for (int64_t r = 0; r < count; ++r) {
      C *line = sum + r * padded;
      ASTRA_VECTOR_LOOP
      for (int64_t c = 0; c < padded; ++c)
        line[c] = factor * line[c];
      storeRun(line, to.columns, to.data + (first + r) * to.rowStride,
               to.columnStride);
    }
  }

  AttentionRule<T> rule;
  int64_t d, e, paddedD, paddedE, levels, size = 0;
  const Entry<T> *entry = nullptr;
  int64_t first = 0, count = 0, others = 0;
  C *rowsX, *rowsY, *acrossX, *acrossY, *plainX, *plainY; // packed
  C *weights, *slopes, *ones, *chain, *sumX, *sumV;
  FoldLevels<C> foldX, foldV;
  bool seen[groupRows][blockWidth];
};

template <class T> class Gradient {
public:
  using C = Compute<T>;

  Gradient(const astra_call_t *call, const astra_arg_t *args,
           const int64_t *params)
      : call(call), args(args), results(args + 6 + (params[0] != 0)),
        rule(args, params), batches(batchCount(args[0])),
        n(args[0].shape[args[0].rank - 2]), m(args[1].shape[args[1].rank - 2]),
        d(args[0].shape[args[0].rank - 1]), e(args[2].shape[args[2].rank - 1]),
        statistics(call, 2 * batches * n) {}

  astra_outcome_t run() {
    if (!statistics)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    gatherStatistics();
    groups<false>(n, m);
    groups<true>(m, n);
    return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
  }

private:
  Matrix<const T> matrix(int i, int64_t batch) const {
    return matrixOf<const T>(args[i], batch);
  }

  void gatherStatistics() {
    C *logSum = statistics.get(), *mean = logSum + batches * n;
    parallelFor(call, batches * n, 100000 / (e + 8) + 1,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    int64_t batch = i / n, row = i % n;
                    logSum[i] = columnOf<const C>(args[4], batch).at(row, 0);
                    mean[i] =
                        rowProduct(matrix(3, batch), matrix(5, batch), row);
                  }
                });
  }

  static C rowProduct(const Matrix<const T> &a, const Matrix<const T> &b,
                      int64_t row) {
    CanonicalDot<C> sum;
    for (int64_t c = 0; c < a.columns; ++c)
      sum.add(widen(b.at(row, c)), widen(a.at(row, c)),
              [](C x, C y, C z) { return math::fma(x, y, z); });
    return sum.result();
  }

  Entry<T> entryOf(int64_t batch) const {
    C *logSum = statistics.get() + batch * n;
    return {matrix(0, batch),
            matrix(1, batch),
            matrix(2, batch),
            matrix(5, batch),
            AttentionMask(&args[6], batch, rule.masked, rule.causal),
            logSum,
            logSum + batches * n};
  }

  template <bool byKey> void groups(int64_t rows, int64_t others) {
    using Group = GradientGroup<T, byKey>;
    constexpr int64_t size = Group::groupRows;
    int64_t count = (rows + size - 1) / size;
    int64_t work = smaller(rows, size) * (others + 1) * (d + e + 8) + 1;
    parallelFor(call, batches * count, 200000 / work + 1,
                [&](int64_t begin, int64_t end) {
                  Group group(rule, d, e, others);
                  Scratch<C> memory(call, group.scratchSize());
                  if (!memory)
                    return __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                  group.setMemory(memory.get());
                  for (int64_t i = begin; i < end; ++i) {
                    int64_t batch = i / count;
                    group.run(entryOf(batch), i % count * size,
                              matrixOf<T>(results[byKey ? 1 : 0], batch),
                              matrixOf<T>(results[2], batch));
                  }
                });
  }

  const astra_call_t *call;
  const astra_arg_t *args, *results;
  AttentionRule<T> rule;
  int64_t batches, n, m, d, e;
  Scratch<C> statistics;
  bool failed = false;
};

template <class T>
astra_outcome_t attentionGrad(const astra_call_t *call, const astra_arg_t *args,
                              const int64_t *params) {
  return Gradient<T>(call, args, params).run();
}

} // namespace

// The rows with a variant are the FLOATS at the end of kernels.def.
#define FOR_FLOAT(dtype)                                                       \
  ASTRA_DEFINE_VARIANT(attention_grad, dtype, blocks,                          \
                       attentionGrad<T_##dtype>(call, args, params))
FOR_FLOAT(f32)
FOR_FLOAT(f64)
FOR_FLOAT(f16)
FOR_FLOAT(bf16)
