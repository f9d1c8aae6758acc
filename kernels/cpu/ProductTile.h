// The innermost loops of products of floats: fma chains over at most 256 k, for
// a few rows of the result and one or more vectors of its columns at once. Each
// chain is added to the fold in memory. Which elements are computed together
// changes no bit: every element has a chain of its own. Knows no views.
#ifndef ASTRA_KERNELS_CPU_PRODUCTTILE_H
#define ASTRA_KERNELS_CPU_PRODUCTTILE_H

#include "kernels/Isa.h"
#include <utility>

ASTRA_KERNELS_BEGIN

constexpr int64_t chainLength = 256; // k in one fma chain
constexpr int64_t foldLength = 16;   // chains in one left fold

/// Rows and columns of a tile of the result: as many accumulators as there are
/// registers for.
template <class C> struct Tile {
#ifdef __AVX512F__
  static constexpr int rows = 14, vectorBytes = 64;
#else
  static constexpr int rows = 6, vectorBytes = 32;
#endif
  static constexpr int lanes = vectorBytes / int(sizeof(C));
  static constexpr int columns = 2 * lanes;
  typedef C Vector __attribute__((ext_vector_type(lanes)));
};

template <class C>
ASTRA_INLINE inline typename Tile<C>::Vector loadVector(const C *from) {
  typename Tile<C>::Vector v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
template <class C>
ASTRA_INLINE inline void storeVector(C *to, typename Tile<C>::Vector v) {
  __builtin_memcpy(to, &v, sizeof(v));
}

/// The operands of one tile: a is packed [k][rows]; rows of b lie bStride
/// apart. sum += chain, or sum = +0 + chain for the first of a fold. Where
/// `copy` is not null, the columns of b go there too, packed [k][columns].
template <class C> struct TileCall {
  const C *a, *b;
  int64_t bStride, k;
  C *sum;
  int64_t sumStride;
  bool first;
  C *copy;
};

template <class C, int M, int N>
ASTRA_INLINE inline void
addChains(const TileCall<C> &t,
          const typename Tile<C>::Vector (&chains)[M][N]) {
  C *sum = t.sum;
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r, sum += t.sumStride)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      typename Tile<C>::Vector zero = {};
      C *to = sum + v * Tile<C>::lanes;
      storeVector(to, (t.first ? zero : loadVector(to)) + chains[r][v]);
    }
}

/// One chain for M rows and N vectors of columns.
template <class C, int M, int N, bool Copies>
void tileChain(const TileCall<C> &t) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  V chains[M][N] = {};
  const C *a = t.a, *b = t.b;
  C *copy = t.copy;
  for (int64_t i = 0; i < t.k; ++i) {
    V columns[N];
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      columns[v] = loadVector(b + v * lanes);
      if (Copies) {
        // From far away, and each row lies on another page.
        __builtin_prefetch(b + 12 * t.bStride + v * lanes);
        storeVector(copy + v * lanes, columns[v]);
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = a[r];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
    a += Tile<C>::rows;
    b += t.bStride;
    copy += N * lanes;
  }
  addChains<C, M, N>(t, chains);
}

template <class C> using TileFunction = void (*)(const TileCall<C> &);

template <class C, bool Copies, int... M>
inline TileFunction<C> chooseTile(int64_t rows,
                                  std::integer_sequence<int, M...>) {
  static constexpr TileFunction<C> table[] = {
      tileChain<C, M + 1, 2, Copies>...};
  return table[rows - 1];
}

/// The tile of so many rows, two vectors wide.
template <class C, bool Copies> inline TileFunction<C> tileOf(int64_t rows) {
  return chooseTile<C, Copies>(
      rows, std::make_integer_sequence<int, Tile<C>::rows>());
}

/// Chains of M rows for `columns` columns (a whole number of vectors), kept in
/// memory while b is read in long pieces, a few rows at a time: for products
/// with so few rows that reading b is all the work.
template <class C, int M>
void streamChain(const C *a, const C *b, int64_t bStride, int64_t k,
                 int64_t columns, C *chains, int64_t stride) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes, rowsAtOnce = 8;
  for (int64_t j = 0; j < columns; ++j)
    for (int r = 0; r < M; ++r)
      chains[r * stride + j] = C(0);
  for (int64_t i = 0; i < k; i += rowsAtOnce, b += rowsAtOnce * bStride) {
    int64_t count = k - i < rowsAtOnce ? k - i : rowsAtOnce;
    for (int64_t j = 0; j < columns; j += lanes) {
      V sums[M];
#pragma clang loop unroll(full)
      for (int r = 0; r < M; ++r)
        sums[r] = loadVector(chains + r * stride + j);
      auto step = [&](int64_t u) ASTRA_INLINE {
        V column = loadVector(b + u * bStride + j);
#pragma clang loop unroll(full)
        for (int r = 0; r < M; ++r)
          sums[r] = __builtin_elementwise_fma(V(a[(i + u) * Tile<C>::rows + r]),
                                              column, sums[r]);
      };
      if (count == rowsAtOnce) {
#pragma clang loop unroll(full)
        for (int u = 0; u < rowsAtOnce; ++u)
          step(u);
      } else {
        for (int64_t u = 0; u < count; ++u)
          step(u);
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < M; ++r)
        storeVector(chains + r * stride + j, sums[r]);
    }
  }
}

template <class C>
using StreamFunction = void (*)(const C *, const C *, int64_t, int64_t, int64_t,
                                C *, int64_t);

/// More rows than this are worth packing b.
constexpr int64_t streamedRows = 4;

template <class C, int... M>
inline StreamFunction<C> chooseStream(int64_t rows,
                                      std::integer_sequence<int, M...>) {
  static constexpr StreamFunction<C> table[] = {streamChain<C, M + 1>...};
  return table[rows - 1];
}
template <class C> inline StreamFunction<C> streamOf(int64_t rows) {
  return chooseStream<C>(rows, std::make_integer_sequence<int, streamedRows>());
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PRODUCTTILE_H
