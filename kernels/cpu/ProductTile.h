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
  typedef bool Mask __attribute__((ext_vector_type(lanes)));
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

/// The first `count` lanes.
template <class C>
ASTRA_INLINE inline typename Tile<C>::Mask firstLanes(int64_t count) {
  constexpr int lanes = Tile<C>::lanes;
  using Number = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;
  typedef Number Numbers __attribute__((ext_vector_type(lanes)));
  Numbers lane;
  for (int i = 0; i < lanes; ++i)
    lane[i] = Number(i);
  return __builtin_convertvector(lane < Number(count), typename Tile<C>::Mask);
}

/// The lanes of a mask; the others are +0 and not read.
template <class C>
ASTRA_INLINE inline typename Tile<C>::Vector
loadLanes(const C *from, typename Tile<C>::Mask mask) {
  typename Tile<C>::Vector zero = {};
  return __builtin_masked_load(mask, from, zero);
}
template <class C>
ASTRA_INLINE inline void storeLanes(C *to, typename Tile<C>::Vector v,
                                    typename Tile<C>::Mask mask) {
  __builtin_masked_store(mask, v, to);
}

/// The operands of one tile. Element (r, k) of a lies at r * aRow + k * aStep,
/// or is packed [k][rows]; rows of b lie bStride apart. to = from + chain, or
/// +0 + chain where `from` is null: the first of a fold. Where a tile copies,
/// the columns of b are read from columns[v] + places[k] for each vector, and
/// go to `copy`, packed [k][columns].
template <class C> struct TileCall {
  const C *a, *b;
  int64_t aRow, aStep, bStride, k;
  const C *from;
  C *to;
  int64_t fromStride, toStride;
  const C *columns[2];
  const int64_t *places; // of k, and of rowsAhead more
  C *copy;
  const C *next; // will be read after the tile: one place for each k
  int64_t nextStep;
  int64_t last;  // columns in the last vector, where it need not be whole
  C *chains;     // where they are kept between the pieces of a chain, rows
  int64_t apart; // of whole vectors so far apart
  bool begun, unfinished;
  bool farResult; // `to` is not in the near caches
};

template <class C> using TileFunction = void (*)(const TileCall<C> &);

/// Rows of b that are read ahead, from where rows may lie on pages of their
/// own.
constexpr int64_t rowsAhead = 12;

/// Numbers of packed rows that are read ahead where the operands of a tile are
/// more than the nearest cache holds.
constexpr int64_t packedAhead = 256;
template <class C>
constexpr bool isRowFar =
    chainLength * (Tile<C>::rows + Tile<C>::columns) * int64_t(sizeof(C)) >
    32 << 10;

/// Where Partial, the last vector of each row ends with the mask.
template <class C, int M, int N, bool Partial = false>
ASTRA_INLINE inline void
addChains(const TileCall<C> &t, const typename Tile<C>::Vector (&chains)[M][N],
          typename Tile<C>::Mask mask = {}) {
  constexpr int lanes = Tile<C>::lanes;
  auto put = [mask](C *to, typename Tile<C>::Vector v, int n) ASTRA_INLINE {
    if (Partial && n == N - 1)
      storeLanes<C>(to, v, mask);
    else
      storeVector(to, v);
  };
  const C *from = t.from;
  C *to = t.to;
  typename Tile<C>::Vector zero = {};
  if (!from) {
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r, to += t.toStride)
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        put(to + v * lanes, zero + chains[r][v], v);
    return;
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r, from += t.fromStride, to += t.toStride)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      const C *sum = from + v * lanes;
      put(to + v * lanes,
          (Partial && v == N - 1 ? loadLanes<C>(sum, mask) : loadVector(sum)) +
              chains[r][v],
          v);
    }
}

/// Fetches the lines of the result, which are written after the chains.
template <class C, int N>
ASTRA_INLINE inline void fetchResult(const TileCall<C> &t, int rows) {
  C *to = t.to;
#pragma clang loop unroll(disable)
  for (int r = 0; r < rows; ++r, to += t.toStride)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      __builtin_prefetch(to + v * Tile<C>::lanes, 1);
}

/// One chain for M rows, packed, and two vectors of columns, packed but where
/// they are copied.
template <class C, int M, bool Copies> void tileChain(const TileCall<C> &t) {
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes, N = 2, together = 4;
  constexpr int perLine = 64 / int(sizeof(C));
  V chains[M][N] = {};
  const C *a = t.a, *b = t.b, *next = t.next;
  const C *beside[N] = {t.columns[0], t.columns[1]};
  const int64_t *places = t.places;
  C *copy = t.copy;
  auto step = [&](int u) ASTRA_INLINE {
    V columns[N];
    if (isRowFar<C>)
      __builtin_prefetch(a + u * M + packedAhead);
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v) {
      const C *from = b + u * N * lanes + v * lanes, *ahead;
      if (Copies) {
        from = beside[v] + places[u];
        ahead = beside[v] + places[u + rowsAhead];
      } else {
        ahead = from + rowsAhead * N * lanes;
      }
      columns[v] = loadVector(from);
      if (v * lanes % perLine == 0)
        __builtin_prefetch(ahead);
      if (Copies)
        storeVector(copy + u * N * lanes + v * lanes, columns[v]);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = a[u * M + r];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = __builtin_elementwise_fma(x, columns[v], chains[r][v]);
    }
  };
  auto advance = [&](int64_t count) ASTRA_INLINE {
    a += count * M;
    if (Copies) {
      places += count;
      copy += count * N * lanes;
    } else {
      b += count * N * lanes;
    }
    next += count * t.nextStep;
  };
  if (t.farResult)
    fetchResult<C, N>(t, M);
  int64_t i = 0;
  for (; i + together <= t.k; i += together) {
    __builtin_prefetch(next, 0, 2);
#pragma clang loop unroll(full)
    for (int u = 0; u < together; ++u)
      step(u);
    advance(together);
  }
  for (; i < t.k; ++i) {
    step(0);
    advance(1);
  }
  addChains<C, M, N>(t, chains);
}

template <class C, bool Copies, int... M>
inline TileFunction<C> chooseTile(int64_t rows,
                                  std::integer_sequence<int, M...>) {
  static constexpr TileFunction<C> table[] = {tileChain<C, M + 1, Copies>...};
  return table[rows - 1];
}

/// The tile of so many rows, two vectors wide.
template <class C, bool Copies> inline TileFunction<C> tileOf(int64_t rows) {
  return chooseTile<C, Copies>(
      rows, std::make_integer_sequence<int, Tile<C>::rows>());
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PRODUCTTILE_H
