// Attention in one pass over keys and values: a task takes a group of queries
// through all blocks of keys that they see, tile by tile, so that a tile's
// scores stay in the nearest cache. Scores and weighted values are tiles of fma
// chains (AttentionTiles.h), exponentials run over a row of 64 scores at once.
#include "kernels/cpu/AttentionTiles.h"

using namespace astra;

namespace {

/// IEEE maximum up to the sign of a zero, which no result depends on.
template <class V> V larger(V a, V b) { return (a > b || a != a) ? a : b; }

template <class C> C largestOfBlock(const C *score) {
  Lanes<C> a = loadLanes(score), b = loadLanes(score + laneCount);
  auto merge = [](auto x, auto y) { return ((x > y) | (x != x)) ? x : y; };
  Lanes<C> h32 = merge(a, b);
  auto h16 = merge(h32.lo, h32.hi);
  auto h8 = merge(h16.lo, h16.hi);
  auto h4 = merge(h8.lo, h8.hi);
  return larger(larger(h4[0], h4[1]), larger(h4[2], h4[3]));
}

template <class C> class QueryGroup {
public:
  using Rows = Tile<C>;
  static constexpr int64_t tileRows = Rows::rows;

  QueryGroup(const AttentionRule<C> &rule, const Moves<C> &moves,
             int64_t groupRows, int64_t d, int64_t keys, int64_t e)
      : rule(rule), moves(moves), groupRows(groupRows), d(d), e(e),
        padded(roundUp(e, Rows::lanes)),
        levels(levelsFor((keys + keySpan - 1) / keySpan)) {
    carve(nullptr);
  }
  int64_t scratchSize() const { return size; }

  void setMemory(C *memory) { carve(memory); }

  void run(const astra_arg_t *args, int64_t batch, int64_t first) {
    q = moves.matrix(args[0], batch);
    k = moves.matrix(args[1], batch);
    v = moves.matrix(args[2], batch);
    mask = AttentionMask(&args[3], batch, rule.masked, rule.causal);
    firstQuery = first;
    count = smaller(groupRows, q.rows - first);
    moves.packTiles(q, first, count, queries);
    // Spans that no query sees leave every bit alone.
    int64_t end = rule.causal ? smaller(k.rows, first + count) : k.rows;
    int waiting = 0; // complete subtrees, the largest first
    uint64_t spans = 0;
    for (int64_t at = 0; at < end || at == 0; at += keySpan) {
      span(at, smaller(end, at + keySpan), waiting++);
      for (uint64_t bits = spans++; bits & 1; bits >>= 1, --waiting)
        merge(waiting - 2);
    }
    for (; waiting > 1; --waiting)
      merge(waiting - 2);
    write(moves.matrix(args[3 + rule.masked], batch),
          columnOf<C>(args[4 + rule.masked], batch));
  }

private:
  static int64_t levelsFor(int64_t spans) {
    int64_t levels = 1;
    for (; spans > 1; spans = (spans + 1) / 2)
      ++levels;
    return levels;
  }

  void carve(C *memory) {
    Carve<C> room(memory);
    queries = room.take(groupRows * d + Rows::lanes);
    keysAcross = room.take(keyBlock * d);
    values = room.take(keyBlock * padded);
    scores = room.take(tileRows * keyBlock);
    chain = room.take(padded);
    largest = room.take(levels * groupRows);
    sums = room.take(levels * groupRows);
    weighted = room.take(levels * groupRows * padded);
    size = room.size();
  }

  void span(int64_t begin, int64_t end, int level) {
    C *m = largest + level * groupRows, *s = sums + level * groupRows;
    C *o = weighted + level * groupRows * padded;
    for (int64_t r = 0; r < groupRows; ++r) {
      m[r] = hidden<C>;
      s[r] = C(0);
    }
    std::memset(o, 0, size_t(groupRows * padded) * sizeof(C));
    for (; begin < end; begin += keyBlock)
      block(begin, smaller(keyBlock, k.rows - begin), m, s, o);
  }

  void block(int64_t begin, int64_t keys, C *m, C *s, C *o) {
    // The first tile with a query that may see the block's first key.
    int64_t first = rule.causal ? greater(0, begin - firstQuery) : 0;
    moves.packAcross(k, begin, keys, keysAcross);
    finite = moves.packRows(v, begin, keys, padded, values);
    for (int64_t r = first / tileRows * tileRows; r < count; r += tileRows)
      tile(r, begin, keys, m + r, s + r, o + r * padded);
  }

  /// The queries of a tile, from one of the group on, against a block of keys.
  void tile(int64_t first, int64_t begin, int64_t keys, C *m, C *s, C *o) {
    int64_t rows = smaller(tileRows, count - first);
    int64_t query = firstQuery + first; // sees so many keys of the block:
    int64_t end = rule.causal ? smaller(keys, query + rows - begin) : keys;
    int64_t width = roundUp(end, Rows::lanes);
    products<C, keyBlock>(queries + first * d, rows, keysAcross, 0, width, d,
                          scores);
    C next[tileRows], shrink[tileRows];
    bool any = false;
    for (int64_t r = 0; r < rows; ++r) {
      C *score = scores + r * keyBlock;
      hide(score, query + r, begin, keys);
      C best = largestOfBlock(score);
      any |= best != hidden<C>;
      next[r] = larger(best, m[r]);
    }
    if (!any)
      return;
    for (int64_t r = rows; r < tileRows; ++r)
      next[r] = m[r];
    ASTRA_VECTOR_LOOP
    for (int64_t r = 0; r < tileRows; ++r) // sums of nothing are zero
      shrink[r] = math::exp(m[r] == hidden<C> ? C(0) : m[r] - next[r]);
    for (int64_t r = 0; r < rows; ++r) {
      C *score = scores + r * keyBlock;
      if (!finite)
        seen[r] = visible(score);
      s[r] = math::fma(s[r], shrink[r], weigh(score, next[r]));
      m[r] = next[r];
    }
    if (finite)
      return addWeighted<C, keyBlock, 1>(scores, rows, values, padded, padded,
                                         end, shrink, o, padded);
    for (int64_t r = 0; r < rows; ++r)
      addSeen(
          scores + r * keyBlock, [&](int64_t j) { return seen[r] >> j & 1; },
          values, keys, padded, shrink[r], chain, o + r * padded);
  }

  void hide(C *score, int64_t query, int64_t begin, int64_t keys) {
    int64_t to = rule.causal ? smaller(keys, query - begin + 1) : keys;
    const Bool *row = rule.masked ? &mask.mask.at(query, begin) : nullptr;
    finishScores(score, 0, keyBlock, rule.scale, 0, to, row,
                 mask.mask.columnStride);
  }

  static uint64_t visible(const C *score) {
    uint64_t bits = 0;
    for (int64_t j = 0; j < keyBlock; ++j)
      bits |= uint64_t(score[j] != hidden<C>) << j;
    return bits;
  }

  /// Scores become weights; gives their sum.
  static C weigh(C *score, C best) {
    ASTRA_EXP_LOOP
    for (int64_t j = 0; j < keyBlock; ++j)
      score[j] = expWhere(score[j] != hidden<C>, score[j] - best);
    return foldLanes<Plus, C>(loadLanes(score) + loadLanes(score + laneCount));
  }

  /// Adds the spans of the next level to those of one.
  void merge(int level) {
    for (int64_t r = 0; r < count; ++r) {
      C *m = largest + level * groupRows + r, *s = sums + level * groupRows + r;
      C *a = weighted + (level * groupRows + r) * padded;
      const C *b = a + groupRows * padded;
      C mb = m[groupRows], sb = s[groupRows];
      if (mb == hidden<C>)
        continue;
      C best = larger(*m, mb);
      C x = math::exp(*m - best), y = math::exp(mb - best);
      if (*m == hidden<C>) {
        for (int64_t c = 0; c < padded; ++c)
          a[c] = b[c];
        *s = sb;
      } else {
        for (int64_t c = 0; c < padded; ++c)
          a[c] = math::fma(a[c], x, b[c] * y);
        *s = math::fma(*s, x, sb * y);
      }
      *m = best;
    }
  }

  void write(const Matrix<char> &out, const Matrix<C> &logSum) {
    const int64_t width = padded;
    for (int64_t r = 0; r < count; ++r) {
      bool empty = largest[r] == hidden<C>;
      C *row = weighted + r * width, total = empty ? C(1) : sums[r];
      ASTRA_VECTOR_LOOP
      for (int64_t c = 0; c < width; ++c)
        row[c] = row[c] / total + C(0);
      sums[r] = total;
    }
    moves.storeRows(weighted, width, count, out, firstQuery);
    const int64_t rows = count;
    C *m = largest, *s = sums;
    ASTRA_VECTOR_LOOP
    for (int64_t r = 0; r < rows; ++r)
      s[r] = m[r] == hidden<C> ? hidden<C> : m[r] + math::log(s[r]);
    for (int64_t r = 0; r < rows; ++r)
      logSum.at(firstQuery + r, 0) = s[r];
  }

  AttentionRule<C> rule;
  const Moves<C> &moves;
  int64_t groupRows, d, e, padded, levels, size = 0;
  Matrix<char> q, k, v;
  AttentionMask mask{nullptr, 0, false, false};
  int64_t firstQuery = 0, count = 0;
  C *queries, *keysAcross, *values; // packed
  C *scores, *chain;
  C *largest, *sums, *weighted; // for each level of the tree
  bool finite = true;           // the values of the block
  uint64_t seen[tileRows];
};

template <class C>
astra_outcome_t attention(const astra_call_t *call, const astra_arg_t *args,
                          const int64_t *params, const Moves<C> &moves) {
  const astra_arg_t &q = args[0], &v = args[2];
  int64_t n = q.shape[q.rank - 2], d = q.shape[q.rank - 1];
  int64_t m = v.shape[v.rank - 2], e = v.shape[v.rank - 1];
  AttentionRule<C> rule(args, params);
  const int64_t rows = rowsInTask<C>(batchCount(q), n);
  int64_t groups = (n + rows - 1) / rows;
  int64_t work = smaller(n, rows) * (m + 1) * (d + e + 8) + 1;
  bool failed = false;
  parallelFor(call, batchCount(q) * groups, 400000 / work + 1,
              [&](int64_t begin, int64_t end) {
                QueryGroup<C> group(rule, moves, rows, d, m, e);
                Scratch<C> memory(call, group.scratchSize());
                if (!memory)
                  return __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                group.setMemory(memory.get());
                for (int64_t i = begin; i < end; ++i)
                  group.run(args, i / groups, i % groups * rows);
              });
  return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
}

} // namespace

// The rows with a variant are the FLOATS at the end of kernels.def.
#define FOR_FLOAT(dtype)                                                       \
  ASTRA_DEFINE_VARIANT(attention, dtype, blocks,                               \
                       attention(call, args, params, movesOf<T_##dtype>))
FOR_FLOAT(f32)
FOR_FLOAT(f64)
FOR_FLOAT(f16)
FOR_FLOAT(bf16)
