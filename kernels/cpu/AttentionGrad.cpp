// The gradient of attention. Groups of keys meet all queries in blocks of 256,
// tile by tile, each tile only what it may see: the weights and the slopes of
// the scores that a tile makes give dk and dv, and dq where one task has all
// keys of a batch entry, 256 at a time. There a chain of the canonical product
// goes on from tile to tile. With few entries tasks are groups of keys, and
// groups of queries make dq in a pass of their own, in the same way.
#include "kernels/cpu/AttentionTiles.h"

using namespace astra;

namespace {

constexpr int64_t blockWidth = chainLength;
/// Rows of a block are as far apart, with zeros in front of each.
constexpr int64_t lineFront = 16, lineWidth = lineFront + blockWidth;
/// Batch entries that are tasks enough.
constexpr int64_t enoughEntries = 16;

/// One batch entry: its matrices, and for each query the logarithm of its sum
/// and the mean gradient of its weights.
template <class C> struct Entry {
  Matrix<char> q, k, v, out, dOut;
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
    const int64_t count = area;
    C *to = levels + (waiting - 2) * count;
    const C *from = to + count;
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i)
      to[i] += from[i];
    --waiting;
  }

  C *levels = nullptr;
  int64_t area = 0;
  uint64_t folds = 0;
  int waiting = 0;
};

/// The sums of dq for all queries of a batch entry, while its keys pass by.
template <class C> class QuerySums {
public:
  using Rows = Tile<C>;
  static_assert(Rows::rows <= lineFront, "a tile may begin before a row does");

  QuerySums(int64_t queries, int64_t keys, int64_t d)
      : queries(queries), padded(roundUp(d, Rows::lanes)),
        levels(FoldLevels<C>::levelsFor(keys)) {
    carve(nullptr);
  }
  int64_t scratchSize() const { return size; }
  void setMemory(C *memory) { carve(memory); }

  void start() { fold.start(sums, queries * padded); }
  /// 256 keys begin.
  void begin(int64_t firstKey) {
    if (firstKey % foldExtent == 0)
      sum = fold.open();
    std::memset(chains, 0, size_t(queries * padded) * sizeof(C));
  }
  /// The slopes [from, to) of some keys, for the queries from `first` on. What
  /// lies before `low` is not known.
  void add(C *slopes, int64_t keys, int64_t low, int64_t from, int64_t to,
           int64_t first, const C *k) {
    for (; from < to; to -= Rows::rows) {
      int64_t at = to - Rows::rows;
      for (int64_t r = 0; at < low && r < keys; ++r)
        for (int64_t j = at; j < low; ++j)
          slopes[r * lineWidth + j] = C(0);
      C *chain = chains + (first + at) * padded;
      int64_t c = 0;
      for (; c + 2 * Rows::lanes <= padded; c += 2 * Rows::lanes)
        continueTile<C, Rows::rows, 2, lineWidth>(slopes + at, k + c, padded,
                                                  keys, chain + c, padded);
      for (; c < padded; c += Rows::lanes)
        continueTile<C, Rows::rows, 1, lineWidth>(slopes + at, k + c, padded,
                                                  keys, chain + c, padded);
    }
  }
  /// The slope of one pair.
  void addPair(C slope, int64_t query, const C *k) {
    const int64_t width = padded;
    C *chain = chains + query * width;
    ASTRA_VECTOR_LOOP
    for (int64_t c = 0; c < width; ++c)
      chain[c] = math::fma(slope, k[c], chain[c]);
  }
  /// These 256 end, or all.
  void end(int64_t nextKey, bool all) {
    const int64_t count = queries * padded;
    C *to = sum;
    const C *from = chains;
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i)
      to[i] += from[i];
    if (all || nextKey % foldExtent == 0)
      fold.close();
  }
  C *finish(C scale) {
    C *line = fold.finish();
    const int64_t count = queries * padded;
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < count; ++i)
      line[i] = scale * line[i];
    return line;
  }
  int64_t getPadded() const { return padded; }

private:
  void carve(C *memory) {
    Carve<C> room(memory);
    // The first tile may begin before the first query.
    chains = room.take((Rows::rows + queries) * padded);
    sums = room.take(levels * queries * padded);
    if (memory)
      chains += Rows::rows * padded;
    size = room.size();
  }

  int64_t queries, padded, levels, size = 0;
  C *chains = nullptr, *sums = nullptr, *sum = nullptr;
  FoldLevels<C> fold;
};

/// A group of rows (queries, or keys if `byKey`) against all of the other side.
template <class C, bool byKey> class GradientGroup {
public:
  using Rows = Tile<C>;
  static constexpr int64_t tileRows = Rows::rows;

  /// `others`: how many the other side has.
  /// Where `queries` is given, groups are chains of keys and come in order.
  GradientGroup(const AttentionRule<C> &rule, const Moves<C> &moves,
                int64_t groupRows, int64_t d, int64_t e, int64_t others,
                QuerySums<C> *queries)
      : rule(rule), moves(moves), queries(queries), most(groupRows),
        groupRows(roundUp(groupRows, tileRows)), d(d), e(e),
        paddedD(roundUp(d, Rows::lanes)), paddedE(roundUp(e, Rows::lanes)),
        levels(FoldLevels<C>::levelsFor(others)) {
    carve(nullptr);
  }
  int64_t scratchSize() const { return size; }
  void setMemory(C *memory) { carve(memory); }

  /// Writes dq, or dk and dv.
  void run(const Entry<C> &given, int64_t firstRow, const Matrix<char> &dX,
           const Matrix<char> &dV) {
    entry = &given;
    first = firstRow;
    const Matrix<char> &rows = byKey ? given.k : given.q;
    others = byKey ? given.q.rows : given.k.rows;
    count = smaller(most, rows.rows - first);
    moves.packTiles(rows, first, count, rowsX);
    moves.packTiles(byKey ? given.v : given.dOut, first, count, rowsY);
    if (queries) {
      finiteRows = moves.packRows(rows, first, count, paddedD, plainRows);
      queries->begin(first);
    }
    foldX.start(sumX, groupRows * paddedD);
    foldV.start(sumV, groupRows * paddedE);
    for (int64_t at = 0; at < others || at == 0; at += foldExtent)
      fold(at, smaller(others, at + foldExtent));
    write(foldX.finish(), paddedD, rule.scale, dX);
    if (byKey)
      write(foldV.finish(), paddedE, C(1), dV);
    if (queries)
      queries->end(first + count, first + count == rows.rows);
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
    plainRows = room.take(queries ? groupRows * paddedD : 0);
    weights = room.take(tileRows * lineWidth);
    slopes = room.take(tileRows * lineWidth);
    chain = room.take(greater(paddedD, paddedE));
    sumX = room.take(levels * groupRows * paddedD);
    sumV = room.take(byKey ? levels * groupRows * paddedE : 0);
    size = room.size();
    if (!memory)
      return;
    std::memset(slopes, 0, size_t(tileRows * lineWidth) * sizeof(C));
    weights += lineFront;
    slopes += lineFront;
  }

  void fold(int64_t begin, int64_t end) {
    C *x = foldX.open(), *v = byKey ? foldV.open() : nullptr;
    for (; begin < end; begin += blockWidth)
      block(begin, smaller(blockWidth, end - begin), x, v);
    foldX.close();
    if (byKey)
      foldV.close();
  }

  /// The tiles with rows that may meet others in the block.
  void block(int64_t begin, int64_t width, C *x, C *v) {
    int64_t from = 0, to = count;
    if (rule.causal && byKey)
      to = smaller(count, begin + width - first);
    if (rule.causal && !byKey)
      from = greater(0, begin - first) / tileRows * tileRows;
    if (from >= to)
      return;
    const Matrix<char> &otherX = byKey ? entry->q : entry->k;
    const Matrix<char> &otherY = byKey ? entry->dOut : entry->v;
    moves.packAcross(otherX, begin, width, acrossX);
    moves.packAcross(otherY, begin, width, acrossY);
    finite = moves.packRows(otherX, begin, width, paddedD, plainX);
    if (byKey)
      finite &= moves.packRows(otherY, begin, width, paddedE, plainY);
    for (; from < to; from += tileRows)
      tile(from, begin, width, x + from * paddedD,
           byKey ? v + from * paddedE : nullptr);
  }

  /// The rows of a tile, from one of the group on, against a block.
  void tile(int64_t r, int64_t begin, int64_t width, C *x, C *v) {
    int64_t rows = smaller(tileRows, count - r), from = 0, to = width;
    if (rule.causal && byKey)
      from = greater(0, first + r - begin);
    if (rule.causal && !byKey)
      to = smaller(width, first + r + rows - begin);
    int64_t low = from / Rows::lanes * Rows::lanes;
    int64_t high = roundUp(to, Rows::lanes);
    products<C, lineWidth>(rowsX + r * d, rows, acrossX, low, high, d, weights);
    products<C, lineWidth>(rowsY + r * e, rows, acrossY, low, high, e, slopes);
    for (int64_t i = 0; i < rows; ++i)
      row(i, first + r + i, begin, low, high, width);
    add(slopes, rows, plainX, from, to, paddedD, x);
    if (byKey)
      add(weights, rows, plainY, from, to, paddedE, v);
    if (queries)
      addQueries(r, rows, low, from, to, begin);
  }

  void addQueries(int64_t first, int64_t rows, int64_t low, int64_t from,
                  int64_t to, int64_t begin) {
    const C *k = plainRows + first * paddedD;
    if (finite && finiteRows)
      return queries->add(slopes, rows, low, from, to, begin, k);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = from; j < to; ++j)
        if (seen[r][j])
          queries->addPair(slopes[r * lineWidth + j], begin + j,
                           k + r * paddedD);
  }

  /// Turns the products [low, high) of a row of the tile, of all the one at
  /// `index`, into its weights and the gradients of its scores.
  void row(int64_t r, int64_t index, int64_t begin, int64_t low, int64_t high,
           int64_t width) {
    int64_t from = low, to = width;
    if (rule.causal && byKey)
      from = index - begin;
    if (rule.causal && !byKey)
      to = smaller(width, index - begin + 1);
    C *weight = weights + r * lineWidth, *slope = slopes + r * lineWidth;
    Matrix<const Bool> mask = entry->mask.mask;
    if (byKey)
      mask = mask.transposed();
    finishScores(weight, low, high, rule.scale, from, to,
                 rule.masked ? &mask.at(index, begin) : nullptr,
                 mask.columnStride);
    if (!finite || !finiteRows)
      for (int64_t j = low; j < high; ++j)
        seen[r][j] = weight[j] != hidden<C>;
    const C *logSum = entry->logSum + (byKey ? begin : index);
    const C *mean = entry->mean + (byKey ? begin : index);
    if (byKey)
      finishRow(
          weight, slope, low, high, [&](int64_t j) { return logSum[j]; },
          [&](int64_t j) { return mean[j]; });
    else
      finishRow(
          weight, slope, low, high, [l = *logSum](int64_t) { return l; },
          [m = *mean](int64_t) { return m; });
  }

  template <class LogSum, class Mean>
  static void finishRow(C *weight, C *slope, int64_t from, int64_t to,
                        LogSum logSum, Mean mean) {
    auto run = [&](auto count) ASTRA_INLINE {
      constexpr int64_t N = decltype(count)::value;
      for (; from + N <= to; from += N) {
        ASTRA_EXP_LOOP
        for (int64_t j = from; j < from + N; ++j) {
          bool visible = weight[j] != hidden<C>;
          C w = expWhere(visible, weight[j] - logSum(j));
          C s = w * (slope[j] - mean(j));
          weight[j] = w;
          slope[j] = visible ? s : C(0);
        }
      }
    };
    run(std::integral_constant<int64_t, 4 * Rows::lanes>());
    run(std::integral_constant<int64_t, Rows::lanes>());
  }

  /// sum[r] += chain over the others [from, to) of factors[r][j] x[j].
  void add(const C *factors, int64_t rows, const C *x, int64_t from, int64_t to,
           int64_t padded, C *sum) {
    x += from * padded;
    if (finite)
      return addWeighted<C, lineWidth, 1>(factors + from, rows, x, padded,
                                          padded, to - from, ones<C>.factors,
                                          sum, padded);
    for (int64_t r = 0; r < rows; ++r)
      addSeen(
          factors + r * lineWidth + from,
          [&](int64_t j) { return seen[r][from + j]; }, x, to - from, padded,
          C(1), chain, sum + r * padded);
  }

  void write(C *sum, int64_t padded, C factor, const Matrix<char> &to) {
    const int64_t size = count * padded;
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < size; ++i)
      sum[i] = factor * sum[i];
    moves.storeRows(sum, padded, count, to, first);
  }

  AttentionRule<C> rule;
  const Moves<C> &moves;
  QuerySums<C> *queries;
  int64_t most, groupRows, d, e, paddedD, paddedE, levels, size = 0;
  const Entry<C> *entry = nullptr;
  int64_t first = 0, count = 0, others = 0;
  C *rowsX, *rowsY, *acrossX, *acrossY, *plainX, *plainY; // packed
  C *plainRows, *weights, *slopes, *chain, *sumX, *sumV;
  FoldLevels<C> foldX, foldV;
  bool finite = true, finiteRows = true; // the others of the block, the rows
  bool seen[tileRows][blockWidth];
};

template <class C> class Gradient {
public:
  Gradient(const astra_call_t *call, const astra_arg_t *args,
           const int64_t *params, const Moves<C> &moves)
      : call(call), moves(moves), args(args),
        results(args + 6 + (params[0] != 0)), rule(args, params),
        batches(batchCount(args[0])), n(args[0].shape[args[0].rank - 2]),
        m(args[1].shape[args[1].rank - 2]), d(args[0].shape[args[0].rank - 1]),
        e(args[2].shape[args[2].rank - 1]),
        statistics(call, 2 * batches * n + Tile<C>::lanes) {}

  astra_outcome_t run() {
    if (!statistics)
      return ASTRA_ERROR_OUT_OF_MEMORY;
    gatherLogSums();
    setMeans();
    if (batches < enoughEntries) {
      groups<false>(n, m);
      groups<true>(m, n);
    } else {
      entries();
    }
    return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
  }

private:
  Matrix<char> matrix(int i, int64_t batch) const {
    return moves.matrix(args[i], batch);
  }

  /// The logarithms side by side, as the passes read them.
  void gatherLogSums() {
    for (int64_t batch = 0; batch < batches; ++batch) {
      Matrix<const C> from = columnOf<const C>(args[4], batch);
      loadRun(from.data, from.rowStride, n, statistics.get() + batch * n);
    }
  }

  /// The mean gradients of the weights of each query.
  void setMeans() {
    int64_t tiles = (n + rowsOfTile - 1) / rowsOfTile;
    parallelFor(call, batches * tiles, 100000 / ((e + 8) * rowsOfTile) + 1,
                [&](int64_t begin, int64_t end) {
                  const int64_t size =
                      roundUp(rowsOfTile * e + Tile<C>::lanes, 16);
                  Scratch<C> memory(call, 2 * size);
                  if (!memory)
                    return fail();
                  for (int64_t i = begin; i < end; ++i) {
                    int64_t batch = i / tiles, first = i % tiles * rowsOfTile;
                    int64_t count = smaller(rowsOfTile, n - first);
                    C *out = memory.get(), *dOut = out + size, sums[rowsOfTile];
                    moves.packTiles(matrix(3, batch), first, count, out);
                    moves.packTiles(matrix(5, batch), first, count, dOut);
                    rowProducts(out, dOut, sums);
                    C *mean = statistics.get() + (batches + batch) * n + first;
                    for (int64_t r = 0; r < count; ++r)
                      mean[r] = sums[r];
                  }
                });
  }

  /// Canonical products over e of the rows of one packed tile and another's:
  /// rows lie in the lanes of vectors.
  void rowProducts(const C *a, const C *b, C *sums) const {
    if (e > foldExtent)
      for (int64_t r = 0; r < rowsOfTile; ++r) {
        CanonicalDot<C> sum;
        for (int64_t c = 0; c < e; ++c)
          sum.add(b[c * rowsOfTile + r], a[c * rowsOfTile + r],
                  [](C x, C y, C z) { return math::fma(x, y, z); });
        sums[r] = sum.result();
      }
    else
      for (int64_t at = 0; at < e || at == 0; at += chainLength) {
        C chains[rowsOfTile] = {};
        for (int64_t c = at; c < smaller(e, at + chainLength); ++c)
          for (int64_t r = 0; r < rowsOfTile; ++r)
            chains[r] = math::fma(b[c * rowsOfTile + r], a[c * rowsOfTile + r],
                                  chains[r]);
        for (int64_t r = 0; r < rowsOfTile; ++r)
          sums[r] = at ? sums[r] + chains[r] : C(0) + chains[r];
      }
  }

  void fail() { __atomic_store_n(&failed, true, __ATOMIC_RELAXED); }

  Entry<C> entryOf(int64_t batch) const {
    C *logSum = statistics.get() + batch * n;
    return {matrix(0, batch),
            matrix(1, batch),
            matrix(2, batch),
            matrix(3, batch),
            matrix(5, batch),
            AttentionMask(&args[6], batch, rule.masked, rule.causal),
            logSum,
            logSum + batches * n};
  }

  template <bool byKey> void groups(int64_t rows, int64_t others) {
    using Group = GradientGroup<C, byKey>;
    const int64_t size = rowsInTask<C>(batches, rows);
    int64_t count = (rows + size - 1) / size;
    int64_t work = smaller(rows, size) * (others + 1) * (d + e + 8) + 1;
    parallelFor(call, batches * count, 200000 / work + 1,
                [&](int64_t begin, int64_t end) {
                  Group group(rule, moves, size, d, e, others, nullptr);
                  Scratch<C> memory(call, group.scratchSize());
                  if (!memory)
                    return fail();
                  group.setMemory(memory.get());
                  for (int64_t i = begin; i < end; ++i) {
                    int64_t batch = i / count;
                    group.run(entryOf(batch), i % count * size,
                              moves.matrix(results[byKey ? 1 : 0], batch),
                              moves.matrix(results[2], batch));
                  }
                });
  }

  /// Each batch entry by one task.
  void entries() {
    parallelFor(call, batches, 1, [&](int64_t begin, int64_t end) {
      QuerySums<C> queries(n, m, d);
      GradientGroup<C, true> group(rule, moves, blockWidth, d, e, n, &queries);
      Scratch<C> memory(call, group.scratchSize() + queries.scratchSize());
      if (!memory)
        return fail();
      group.setMemory(memory.get());
      queries.setMemory(memory.get() + group.scratchSize());
      for (int64_t batch = begin; batch < end; ++batch) {
        queries.start();
        for (int64_t at = 0; at < m || at == 0; at += blockWidth)
          group.run(entryOf(batch), at, moves.matrix(results[1], batch),
                    moves.matrix(results[2], batch));
        moves.storeRows(queries.finish(rule.scale), queries.getPadded(), n,
                        moves.matrix(results[0], batch), 0);
      }
    });
  }

  static constexpr int64_t rowsOfTile = Tile<C>::rows;

  const astra_call_t *call;
  const Moves<C> &moves;
  const astra_arg_t *args, *results;
  AttentionRule<C> rule;
  int64_t batches, n, m, d, e;
  Scratch<C> statistics; // vectors may be read that begin inside
  bool failed = false;
};

template <class C>
astra_outcome_t attentionGrad(const astra_call_t *call, const astra_arg_t *args,
                              const int64_t *params, const Moves<C> &moves) {
  return Gradient<C>(call, args, params, moves).run();
}

} // namespace

// The rows with a variant are the FLOATS at the end of kernels.def.
#define FOR_FLOAT(dtype)                                                       \
  ASTRA_DEFINE_VARIANT(attention_grad, dtype, blocks,                          \
                       attentionGrad(call, args, params, movesOf<T_##dtype>))
FOR_FLOAT(f32)
FOR_FLOAT(f64)
FOR_FLOAT(f16)
FOR_FLOAT(bf16)
