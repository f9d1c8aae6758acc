// What both attention kernels are made of: tiles of fma chains held in
// registers, operands packed for them, and rows of scores. One operand is read
// element by element and spread over a vector, the other a vector at a time.
#ifndef ASTRA_KERNELS_CPU_ATTENTIONTILES_H
#define ASTRA_KERNELS_CPU_ATTENTIONTILES_H

#include "kernels/Attention.h"
#include "kernels/Ops.h"
#include "kernels/cpu/Fold.h"
#include "kernels/cpu/Pack.h"

ASTRA_KERNELS_BEGIN

/// Of the canonical product: chains that are added in order.
constexpr int64_t foldExtent = chainLength * foldLength;

template <class C> constexpr C hidden = -std::numeric_limits<C>::infinity();

inline int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

//===-- Chains ------------------------------------------------------------===//

/// The factors with which chains are added to a fold.
template <class C> struct Ones {
  C factors[Tile<C>::rows] = {};
  constexpr Ones() {
    for (C &factor : factors)
      factor = C(1);
  }
};
template <class C> constexpr Ones<C> ones;

/// Continues chains over k of a[r][k] b[k][c] for M rows and N vectors of
/// columns; element (r, k) of a lies at r * rowStep + k * kStep.
template <class C, int M, int N, int rowStep, int kStep>
ASTRA_INLINE void addChains(const C *a, const C *b, int64_t bStride, int64_t k,
                            typename Tile<C>::Vector (&chains)[M][N]) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  for (int64_t i = 0; i < k; ++i, a += kStep, b += bStride) {
    V columns[N];
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      columns[v] = loadVector(b + v * lanes);
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = a[r * rowStep];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
  }
}

/// to[r][c] = fma(to[r][c], factor[r], chain over k of a[r][k] b[k][c]) for M
/// rows and N vectors of columns, or +0 + chain if `factor` is null; element
/// (r, k) of a lies at r * rowStep + k * kStep.
template <class C, int M, int N, int rowStep, int kStep>
void weightedTile(const C *a, const C *b, int64_t bStride, int64_t k,
                  const C *factor, C *to, int64_t toStride) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  V chains[M][N] = {};
  addChains<C, M, N, rowStep, kStep>(a, b, bStride, k, chains);
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r, to += toStride)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      V old = {}, scale = {};
      if (factor) {
        old = loadVector(to + v * lanes);
        scale = V(factor[r]);
      }
      storeVector(to + v * lanes,
                  __builtin_elementwise_fma(old, scale, chains[r][v]));
    }
}

/// to[r][c] = the chain that it holds, continued over k of a[r][k] b[k][c];
/// element (r, k) of a lies at r + k * kStep.
template <class C, int M, int N, int kStep>
void continueTile(const C *a, const C *b, int64_t bStride, int64_t k, C *to,
                  int64_t toStride) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  V chains[M][N];
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      chains[r][v] = loadVector(to + r * toStride + v * lanes);
  addChains<C, M, N, 1, kStep>(a, b, bStride, k, chains);
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      storeVector(to + r * toStride + v * lanes, chains[r][v]);
}

/// The same for the rows of one tile and whole vectors of columns. Rows that
/// fill the tile up are computed too and must have memory.
template <class C, int rowStep, int kStep>
void addWeighted(const C *a, int64_t rows, const C *b, int64_t bStride,
                 int64_t columns, int64_t k, const C *factor, C *to,
                 int64_t toStride) {
  constexpr int full = Tile<C>::rows, lanes = Tile<C>::lanes;
  int64_t j = 0;
  auto column = [&](auto vectors) {
    constexpr int N = decltype(vectors)::value;
    auto tile = weightedTile<C, full, N, rowStep, kStep>;
    if (rows == 1)
      tile = weightedTile<C, 1, N, rowStep, kStep>;
    else if (rows <= 4)
      tile = weightedTile<C, 4, N, rowStep, kStep>;
    for (; j + N * lanes <= columns; j += N * lanes)
      tile(a, b + j, bStride, k, factor, to + j, toStride);
  };
  if (rows == 1) // one row keeps more chains going
    for (; j + 4 * lanes <= columns; j += 4 * lanes)
      weightedTile<C, 1, 4, rowStep, kStep>(a, b + j, bStride, k, factor,
                                            to + j, toStride);
  column(std::integral_constant<int, 2>());
  column(std::integral_constant<int, 1>());
}

/// Canonical products over d of a tile of packed rows and the columns [from,
/// end) in packed panels of keyBlock columns, whole vectors; rows of the result
/// are `width` apart.
template <class C, int width>
ASTRA_SHARED void products(const C *a, int64_t rows, const C *b, int64_t from,
                           int64_t end, int64_t d, C *to) {
  constexpr int full = Tile<C>::rows;
  for (int64_t c = from, next; c < end; c = next) {
    next = smaller(end, (c / keyBlock + 1) * keyBlock);
    const C *panel = b + c / keyBlock * keyBlock * d + c % keyBlock;
    if (d > foldExtent) // more than one fold: pair by pair
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = c; i < next; ++i) {
          CanonicalDot<C> sum;
          for (int64_t l = 0; l < d; ++l)
            sum.add(a[l * full + r], panel[l * keyBlock + i - c],
                    [](C x, C y, C z) { return fusedMultiplyAdd(x, y, z); });
          to[r * width + i] = sum.result();
        }
    else
      for (int64_t l = 0; l < d || l == 0; l += chainLength)
        addWeighted<C, 1, full>(a + l * full, rows, panel + l * keyBlock,
                                keyBlock, next - c, smaller(chainLength, d - l),
                                l ? ones<C>.factors : nullptr, to + c, width);
  }
}

//===-- Moving ------------------------------------------------------------===//
// What depends on the type of the elements; the rest is code of the type that
// they compute in. Rows that fill a tile or a vector up hold copies of another
// row.

template <class T> Matrix<T> typed(const Matrix<char> &m) {
  return {reinterpret_cast<T *>(m.data), m.rows, m.columns, m.rowStride,
          m.columnStride};
}

/// Rows are short pieces far apart, which the processor does not see coming.
template <class T>
ASTRA_INLINE inline void expectRows(const Matrix<T> &m, int64_t first,
                                    int64_t count) {
  constexpr int64_t line = 64 / int64_t(sizeof(T)), most = 8 * line;
  if (m.columnStride != 1)
    return;
  for (int64_t r = first; r < smaller(first + count, m.rows); ++r)
    for (int64_t l = 0; l < smaller(m.columns, most); l += line)
      __builtin_prefetch(m.data + r * m.rowStride + l);
}

/// to[tile][column][row of the tile] of the rows [first, first + count). Needs
/// room for one vector more.
template <class T>
void packTiles(const Matrix<char> &x, int64_t first, int64_t count,
               Compute<T> *to) {
  using C = Compute<T>;
  constexpr int full = Tile<C>::rows, lanes = Tile<C>::lanes;
  constexpr int most = (full + lanes - 1) / lanes * lanes;
  const Matrix<const T> m = typed<const T>(x);
  for (int64_t r = 0; r < count; r += full, to += full * m.columns) {
    const T *lines[most];
    for (int64_t i = 0; i < most; ++i)
      lines[i] = m.data + (first + (r + i < count ? r + i : r)) * m.rowStride;
    expectRows(m, first + r + full, full);
    if (m.columnStride == 1)
      packLines<most / lanes>(lines, m.columns, to, full);
    else
      for (int64_t i = 0; i < full; ++i)
        for (int64_t l = 0; l < m.columns; ++l)
          to[l * full + i] = widen(lines[i][l * m.columnStride]);
  }
}

/// to[panel][column][row of the panel] of the rows [first, first + count), up
/// to a whole number of vectors; a panel has keyBlock of them.
template <class T>
void packAcross(const Matrix<char> &x, int64_t first, int64_t count,
                Compute<T> *to) {
  constexpr int lanes = Tile<Compute<T>>::lanes;
  const Matrix<const T> m = typed<const T>(x);
  for (int64_t r = 0; r < count; r += lanes) {
    Compute<T> *at = to + r / keyBlock * keyBlock * m.columns + r % keyBlock;
    const T *lines[lanes];
    for (int64_t i = 0; i < lanes; ++i)
      lines[i] = m.data + (first + (r + i < count ? r + i : r)) * m.rowStride;
    expectRows(m, first + r + lanes, lanes);
    if (m.columnStride == 1) {
      packLines<1>(lines, m.columns, at, keyBlock);
      continue;
    }
    for (int64_t l = 0; l < m.columns; ++l)
      for (int64_t i = 0; i < lanes; ++i)
        at[l * keyBlock + i] = widen(lines[i][l * m.columnStride]);
  }
}

/// The rows [first, first + count) one after another, each filled up with zeros
/// to `padded`; false if an element is infinite or NaN.
template <class T>
bool packRows(const Matrix<char> &x, int64_t first, int64_t count,
              int64_t padded, Compute<T> *to) {
  using C = Compute<T>;
  using Bits = BitsOf<C>;
  constexpr Bits infinity = math::Format<C>::Infinity;
  const Matrix<const T> m = typed<const T>(x);
  Bits found = 0;
  for (int64_t r = 0; r < count; ++r, to += padded) {
    expectRows(m, first + r + 8, 1);
    loadRun(m.data + (first + r) * m.rowStride, m.columnStride, m.columns, to);
    for (int64_t l = m.columns; l < padded; ++l)
      to[l] = C(0);
    ASTRA_VECTOR_LOOP
    for (int64_t l = 0; l < padded; ++l)
      found |= Bits((bitsAs<Bits>(to[l]) & infinity) == infinity);
  }
  return !found;
}

/// Puts rows that are `padded` apart at `first` and after it.
template <class T>
void storeRows(const Compute<T> *from, int64_t padded, int64_t count,
               const Matrix<char> &x, int64_t first) {
  const Matrix<T> m = typed<T>(x);
  for (int64_t r = 0; r < count; ++r)
    storeRun(from + r * padded, m.columns, m.data + (first + r) * m.rowStride,
             m.columnStride);
}

/// These for elements that compute in C.
template <class C> struct Moves {
  int64_t size; // of an element
  void (*packTiles)(const Matrix<char> &, int64_t, int64_t, C *);
  void (*packAcross)(const Matrix<char> &, int64_t, int64_t, C *);
  bool (*packRows)(const Matrix<char> &, int64_t, int64_t, int64_t, C *);
  void (*storeRows)(const C *, int64_t, int64_t, const Matrix<char> &, int64_t);

  /// The last two axes of a view.
  Matrix<char> matrix(const astra_arg_t &arg, int64_t batch) const {
    const int64_t *shape = arg.shape + arg.rank - 2;
    const int64_t *strides = arg.strides + arg.rank - 2;
    return {static_cast<char *>(arg.data) + size * batchOffset(arg, 2, batch),
            shape[0], shape[1], strides[0], strides[1]};
  }
};
template <class T>
constexpr Moves<Compute<T>> movesOf = {
    int64_t(sizeof(T)), packTiles<T>, packAcross<T>, packRows<T>, storeRows<T>};

//===-- Rows of scores ----------------------------------------------------===//

/// Scales the scores [begin, end) of a row and hides those outside [from, to)
/// and those that the mask hides (none if it is null).
template <class C>
ASTRA_SHARED void finishScores(C *score, int64_t begin, int64_t end, C scale,
                               int64_t from, int64_t to, const Bool *mask,
                               int64_t stride) {
  ASTRA_VECTOR_LOOP
  for (int64_t j = begin; j < end; ++j)
    score[j] = scale * score[j];
  for (int64_t j = begin; j < smaller(from, end); ++j)
    score[j] = hidden<C>;
  for (int64_t j = greater(to, begin); j < end; ++j)
    score[j] = hidden<C>;
  if (!mask)
    return;
  to = smaller(to, end);
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t j = begin; j < to; ++j)
      score[j] = mask[j].value ? score[j] : hidden<C>;
  } else {
    for (int64_t j = begin; j < to; ++j)
      score[j] = mask[j * stride].value ? score[j] : hidden<C>;
  }
}

/// exp(x) where `seen`, else +0. What is hidden takes no part in it: a result
/// that underflows costs many times as much.
template <class C> ASTRA_INLINE inline C expWhere(bool seen, C x) {
  C e = math::exp(seen ? x : C(0));
  return seen ? e : C(0);
}

/// Several vectors of exponentials at once hide the latency of each.
#ifdef __AVX512F__
#define ASTRA_EXP_LOOP                                                         \
  _Pragma("clang loop vectorize(assume_safety) interleave_count(4)")
#else
#define ASTRA_EXP_LOOP                                                         \
  _Pragma("clang loop vectorize(assume_safety) interleave_count(2)")
#endif

/// How many rows a task takes: many, so that what they share is packed seldom,
/// where that leaves tasks enough.
template <class C> int64_t rowsInTask(int64_t batches, int64_t rows) {
  constexpr int64_t full = Tile<C>::rows, many = 280 / full * full;
  constexpr int64_t few = 112 / full * full;
  int64_t tasks = batches * ((rows + many - 1) / many);
  return smaller(greater(roundUp(rows, full), full), tasks >= 16 ? many : few);
}

/// row = fma(row, factor, chain of weight[k] x[k]) over those k that are seen.
template <class C, class Seen>
void addSeen(const C *weight, Seen seen, const C *x, int64_t count,
             int64_t width, C factor, C *chain, C *row) {
  for (int64_t c = 0; c < width; ++c)
    chain[c] = C(0);
  for (int64_t k = 0; k < count; ++k, x += width) {
    if (!seen(k))
      continue;
    ASTRA_VECTOR_LOOP
    for (int64_t c = 0; c < width; ++c)
      chain[c] = math::fma(weight[k], x[c], chain[c]);
  }
  ASTRA_VECTOR_LOOP
  for (int64_t c = 0; c < width; ++c)
    row[c] = math::fma(row[c], factor, chain[c]);
}

/// Cuts one piece of scratch memory into arrays that begin at cache lines; of
/// null it only counts.
template <class C> class Carve {
public:
  explicit Carve(C *memory) : memory(memory) {}
  C *take(int64_t count) {
    C *begin = memory ? memory + used : nullptr;
    used += roundUp(count, 64 / int64_t(sizeof(C)));
    return begin;
  }
  int64_t size() const { return used; }

private:
  C *memory;
  int64_t used = 0;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_ATTENTIONTILES_H
