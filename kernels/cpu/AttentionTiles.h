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

/// to[r][c] = fma(to[r][c], factor[r], chain over k of a[r][k] b[k][c]) for M
/// rows and N vectors of columns, or +0 + chain if `factor` is null; element
/// (r, k) of a lies at r * rowStep + k * kStep.
template <class C, int M, int N, int rowStep, int kStep>
void weightedTile(const C *a, const C *b, int64_t bStride, int64_t k,
                  const C *factor, C *to, int64_t toStride) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  V chains[M][N] = {};
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

/// The same for any number of rows and whole vectors of columns. Rows come in
/// tiles, `tileStep` elements of a apart; those that fill the last tile up are
/// computed too and must have memory.
template <class C, int rowStep, int kStep>
void addWeighted(const C *a, int64_t tileStep, int64_t rows, const C *b,
                 int64_t bStride, int64_t columns, int64_t k, const C *factor,
                 C *to, int64_t toStride) {
  constexpr int full = Tile<C>::rows, lanes = Tile<C>::lanes;
  int64_t j = 0;
  auto column = [&](auto vectors) {
    constexpr int N = decltype(vectors)::value;
    for (; j + N * lanes <= columns; j += N * lanes)
      for (int64_t i = 0; i < rows; i += full) {
        auto tile = weightedTile<C, full, N, rowStep, kStep>;
        if (rows - i == 1)
          tile = weightedTile<C, 1, N, rowStep, kStep>;
        else if (rows - i <= 4)
          tile = weightedTile<C, 4, N, rowStep, kStep>;
        tile(a + i / full * tileStep, b + j, bStride, k,
             factor ? factor + i : nullptr, to + i * toStride + j, toStride);
      }
  };
  if (rows == 1) // one row keeps more chains going
    for (; j + 4 * lanes <= columns; j += 4 * lanes)
      weightedTile<C, 1, 4, rowStep, kStep>(a, b + j, bStride, k, factor,
                                            to + j, toStride);
  column(std::integral_constant<int, 2>());
  column(std::integral_constant<int, 1>());
}

/// Canonical products of packed rows and packed columns, `width` apart, over d.
template <class C, int width>
ASTRA_SHARED void products(const C *a, int64_t rows, const C *b,
                           int64_t columns, int64_t d, const C *ones, C *to) {
  constexpr int full = Tile<C>::rows;
  if (d > foldExtent) { // more than one fold: pair by pair
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        CanonicalDot<C> sum;
        for (int64_t l = 0; l < d; ++l)
          sum.add(a[(r / full * d + l) * full + r % full], b[l * width + c],
                  [](C x, C y, C z) { return fusedMultiplyAdd(x, y, z); });
        to[r * width + c] = sum.result();
      }
    return;
  }
  for (int64_t l = 0; l < d || l == 0; l += chainLength)
    addWeighted<C, 1, full>(a + l * full, d * full, rows, b + l * width, width,
                            columns, smaller(chainLength, d - l),
                            l ? ones : nullptr, to, width);
}

//===-- Packing -----------------------------------------------------------===//
// Rows that fill a tile or a vector up hold copies of another row.

/// to[tile][column][row of the tile] of the rows [first, first + count). Needs
/// room for one vector more.
template <class T>
void packTiles(const Matrix<const T> &x, int64_t first, int64_t count,
               Compute<T> *to) {
  using C = Compute<T>;
  constexpr int full = Tile<C>::rows, lanes = Tile<C>::lanes;
  constexpr int most = (full + lanes - 1) / lanes * lanes;
  const Matrix<const T> m = x;
  for (int64_t r = 0; r < count; r += full, to += full * m.columns) {
    const T *lines[most];
    for (int64_t i = 0; i < most; ++i)
      lines[i] = m.data + (first + (r + i < count ? r + i : r)) * m.rowStride;
    if (m.columnStride == 1)
      packLines<most / lanes>(lines, m.columns, to, full);
    else
      for (int64_t i = 0; i < full; ++i)
        for (int64_t l = 0; l < m.columns; ++l)
          to[l * full + i] = widen(lines[i][l * m.columnStride]);
  }
}

/// to[column][row] of the rows [first, first + count), up to a whole number of
/// vectors; columns are `width` apart.
template <class T>
void packAcross(const Matrix<const T> &x, int64_t first, int64_t count,
                int64_t width, Compute<T> *to) {
  constexpr int lanes = Tile<Compute<T>>::lanes;
  const Matrix<const T> m = x;
  for (int64_t r = 0; r < count; r += lanes) {
    const T *lines[lanes];
    for (int64_t i = 0; i < lanes; ++i)
      lines[i] = m.data + (first + (r + i < count ? r + i : r)) * m.rowStride;
    if (m.columnStride == 1) {
      packLines<1>(lines, m.columns, to + r, width);
      continue;
    }
    for (int64_t l = 0; l < m.columns; ++l)
      for (int64_t i = 0; i < lanes; ++i)
        to[l * width + r + i] = widen(lines[i][l * m.columnStride]);
  }
}

/// The rows [first, first + count) one after another, each filled up with zeros
/// to `padded`; false if an element is infinite or NaN.
template <class T>
ASTRA_SHARED bool packRows(const Matrix<const T> &x, int64_t first,
                           int64_t count, int64_t padded, Compute<T> *to) {
  using C = Compute<T>;
  using Bits = BitsOf<C>;
  constexpr Bits infinity = math::Format<C>::Infinity;
  const Matrix<const T> m = x;
  Bits found = 0;
  for (int64_t r = 0; r < count; ++r, to += padded) {
    loadRun(m.data + (first + r) * m.rowStride, m.columnStride, m.columns, to);
    for (int64_t l = m.columns; l < padded; ++l)
      to[l] = C(0);
    ASTRA_VECTOR_LOOP
    for (int64_t l = 0; l < padded; ++l)
      found |= Bits((bitsAs<Bits>(to[l]) & infinity) == infinity);
  }
  return !found;
}

//===-- Rows of scores ----------------------------------------------------===//

/// Scales a row of scores and hides those outside [from, to) and those that the
/// mask hides (none if it is null).
template <class C>
ASTRA_SHARED void finishScores(C *score, int64_t width, C scale, int64_t from,
                               int64_t to, const Bool *mask, int64_t stride) {
  ASTRA_VECTOR_LOOP
  for (int64_t j = 0; j < width; ++j)
    score[j] = scale * score[j];
  for (int64_t j = 0; j < smaller(from, width); ++j)
    score[j] = hidden<C>;
  for (int64_t j = greater(to, 0); j < width; ++j)
    score[j] = hidden<C>;
  if (!mask)
    return;
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t j = 0; j < to; ++j)
      score[j] = mask[j].value ? score[j] : hidden<C>;
  } else {
    for (int64_t j = 0; j < to; ++j)
      score[j] = mask[j * stride].value ? score[j] : hidden<C>;
  }
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
