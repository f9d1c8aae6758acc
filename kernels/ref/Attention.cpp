// The normative attention and its gradient: every query, then every gradient,
// by itself, in the order of docs/arithmetic.md, section 9.
#include "kernels/Attention.h"
#include "kernels/Call.h"
#include "kernels/Canonical.h"
#include "kernels/Ops.h"

using namespace astra;

namespace {

template <class C> C fmaOf(C a, C b, C c) { return fusedMultiplyAdd(a, b, c); }

template <class C> constexpr C nothing = -std::numeric_limits<C>::infinity();

/// The canonical product of row i of a and row j of b.
template <class T>
Compute<T> rowProduct(const Matrix<const T> &a, int64_t i,
                      const Matrix<const T> &b, int64_t j) {
  CanonicalDot<Compute<T>> sum;
  for (int64_t l = 0; l < a.columns; ++l)
    sum.add(widen(a.at(i, l)), widen(b.at(j, l)), fmaOf<Compute<T>>);
  return sum.result();
}

/// The scores of one batch entry: -infinity where a key is not visible.
template <class T> struct Scores {
  using C = Compute<T>;
  Matrix<const T> q, k;
  AttentionMask mask;
  C scale;

  C at(int64_t query, int64_t key) const {
    return mask.allows(query, key) ? scale * rowProduct(q, query, k, key)
                                   : nothing<C>;
  }
};

//===-- Forward -----------------------------------------------------------===//

/// Of some keys: their largest score and, relative to it, the sum of the
/// weights and the sum of the weighted values.
template <class C> struct Seen {
  C largest = nothing<C>, sum = C(0);
  C *values;

  bool isEmpty() const { return largest == nothing<C>; }
};

template <class T> class Query {
public:
  using C = Compute<T>;

  Query(const Scores<T> &scores, const Matrix<const T> &v, int64_t query)
      : scores(scores), v(v), query(query) {}

  /// The keys of `count` spans from `first`, by a tree of adjacent spans;
  /// `room` holds the values of all partial results.
  Seen<C> spans(int64_t first, int64_t count, C *room) const {
    if (count <= 1)
      return span(first, room);
    int64_t left = 1;
    while (2 * left < count)
      left *= 2;
    Seen<C> a = spans(first, left, room);
    Seen<C> b = spans(first + left, count - left, room + v.columns);
    if (b.isEmpty())
      return a;
    if (a.isEmpty()) {
      for (int64_t c = 0; c < v.columns; ++c)
        a.values[c] = b.values[c];
      return {b.largest, b.sum, a.values};
    }
    C largest = Op_maximum::apply(a.largest, b.largest);
    C x = math::exp(a.largest - largest), y = math::exp(b.largest - largest);
    for (int64_t c = 0; c < v.columns; ++c)
      a.values[c] = fmaOf(a.values[c], x, b.values[c] * y);
    return {largest, fmaOf(a.sum, x, b.sum * y), a.values};
  }

private:
  Seen<C> span(int64_t index, C *values) const {
    Seen<C> seen;
    seen.values = values;
    for (int64_t c = 0; c < v.columns; ++c)
      values[c] = C(0);
    int64_t begin = index * keySpan, end = begin + keySpan;
    for (; begin < end && begin < v.rows; begin += keyBlock)
      addBlock(begin, begin + keyBlock < v.rows ? begin + keyBlock : v.rows,
               seen);
    return seen;
  }

  void addBlock(int64_t begin, int64_t end, Seen<C> &seen) const {
    C score[keyBlock], largest = nothing<C>;
    for (int64_t key = begin; key < end; ++key) {
      score[key - begin] = scores.at(query, key);
      largest = Op_maximum::apply(largest, score[key - begin]);
    }
    if (largest == nothing<C>)
      return;
    largest = Op_maximum::apply(largest, seen.largest);
    C shrink = math::exp(seen.largest - largest);
    CanonicalFold<C, Plus> sum;
    C weight[keyBlock];
    for (int64_t i = 0; i < end - begin; ++i) {
      weight[i] = score[i] == nothing<C> ? C(0) : math::exp(score[i] - largest);
      sum.add(weight[i]);
    }
    for (int64_t c = 0; c < v.columns; ++c) {
      C chain = C(0);
      for (int64_t i = 0; i < end - begin; ++i)
        if (score[i] != nothing<C>)
          chain = fmaOf(weight[i], widen(v.at(begin + i, c)), chain);
      seen.values[c] = fmaOf(seen.values[c], shrink, chain);
    }
    seen.sum = fmaOf(seen.sum, shrink, sum.result());
    seen.largest = largest;
  }

  const Scores<T> &scores;
  const Matrix<const T> &v;
  int64_t query;
};

template <class T>
astra_outcome_t attention(const astra_call_t *call, const astra_arg_t *args,
                          const int64_t *params) {
  using C = Compute<T>;
  AttentionRule<T> rule(args, params);
  const astra_arg_t &out = args[3 + rule.masked],
                    &logSum = args[4 + rule.masked];
  const int64_t *extents = args[2].shape + args[2].rank - 2;
  int64_t spans = (extents[0] + keySpan - 1) / keySpan;
  Scratch<C> room(call, 65 * extents[1]);
  if (!room)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  for (int64_t batch = 0; batch < batchCount(args[0]); ++batch) {
    Scores<T> scores{matrixOf<const T>(args[0], batch),
                     matrixOf<const T>(args[1], batch),
                     {&args[3], batch, rule.masked, rule.causal},
                     rule.scale};
    Matrix<const T> v = matrixOf<const T>(args[2], batch);
    Matrix<T> result = matrixOf<T>(out, batch);
    Matrix<C> statistic = columnOf<C>(logSum, batch);
    for (int64_t i = 0; i < result.rows; ++i) {
      Seen<C> seen = Query<T>(scores, v, i).spans(0, spans, room.get());
      for (int64_t c = 0; c < v.columns; ++c)
        result.at(i, c) =
            narrow<T>(seen.isEmpty() ? C(0) : seen.values[c] / seen.sum + C(0));
      statistic.at(i, 0) =
          seen.isEmpty() ? nothing<C> : seen.largest + math::log(seen.sum);
    }
  }
  return ASTRA_OK;
}

//===-- Gradient ----------------------------------------------------------===//

/// The pairs of one batch entry as the gradient sees them.
template <class T> struct Pairs {
  using C = Compute<T>;
  Scores<T> scores;
  Matrix<const T> v, out, dOut;
  Matrix<const C> logSum;

  /// The weight of a visible pair and the gradient of its score; false for
  /// another.
  bool at(int64_t query, int64_t key, C &weight, C &slope) const {
    weight = slope = C(0);
    C score = scores.at(query, key);
    if (score == nothing<C>)
      return false;
    weight = math::exp(score - logSum.at(query, 0));
    C mean = rowProduct(dOut, query, out, query);
    slope = weight * (rowProduct(dOut, query, v, key) - mean);
    return true;
  }
};

/// Writes factor times the canonical products of a[0..x.rows) and the columns
/// of x to row `index` of the result; a pair that is not visible counts as 0.
template <class T>
void writeRow(const Compute<T> *a, const bool *visible,
              const Matrix<const T> &x, Compute<T> factor,
              const Matrix<T> &result, int64_t index) {
  using C = Compute<T>;
  for (int64_t c = 0; c < x.columns; ++c) {
    CanonicalDot<C> sum;
    for (int64_t i = 0; i < x.rows; ++i)
      sum.add(a[i], visible[i] ? widen(x.at(i, c)) : C(0), fmaOf<C>);
    result.at(index, c) = narrow<T>(factor * sum.result());
  }
}

template <class T>
astra_outcome_t attentionGrad(const astra_call_t *call, const astra_arg_t *args,
                              const int64_t *params) {
  using C = Compute<T>;
  AttentionRule<T> rule(args, params);
  const astra_arg_t *results = args + 6 + rule.masked;
  int64_t n = args[0].shape[args[0].rank - 2];
  int64_t m = args[1].shape[args[1].rank - 2];
  int64_t longest = n > m ? n : m;
  Scratch<C> memory(call, 2 * longest);
  Scratch<bool> flags(call, longest);
  if (!memory || !flags)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  C *weight = memory.get(), *slope = memory.get() + longest;
  bool *visible = flags.get();
  for (int64_t batch = 0; batch < batchCount(args[0]); ++batch) {
    auto matrix = [&](int i) { return matrixOf<const T>(args[i], batch); };
    Pairs<T> pairs{{matrix(0),
                    matrix(1),
                    {&args[6], batch, rule.masked, rule.causal},
                    rule.scale},
                   matrix(2),
                   matrix(3),
                   matrix(5),
                   columnOf<const C>(args[4], batch)};
    Matrix<T> dq = matrixOf<T>(results[0], batch);
    Matrix<T> dk = matrixOf<T>(results[1], batch);
    Matrix<T> dv = matrixOf<T>(results[2], batch);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < m; ++j)
        visible[j] = pairs.at(i, j, weight[j], slope[j]);
      writeRow<T>(slope, visible, pairs.scores.k, rule.scale, dq, i);
    }
    for (int64_t j = 0; j < m; ++j) {
      for (int64_t i = 0; i < n; ++i)
        visible[i] = pairs.at(i, j, weight[i], slope[i]);
      writeRow<T>(slope, visible, pairs.scores.q, rule.scale, dk, j);
      writeRow<T>(weight, visible, pairs.dOut, C(1), dv, j);
    }
  }
  return ASTRA_OK;
}

} // namespace

#define ATTENTION(op, dtype, version, doc)                                     \
  ASTRA_DEFINE_REF(op, dtype, attention<T_##dtype>(call, args, params))
#define ATTENTION_GRAD(op, dtype, version, doc)                                \
  ASTRA_DEFINE_REF(op, dtype, attentionGrad<T_##dtype>(call, args, params))
#include "kernels/kernels.def"
