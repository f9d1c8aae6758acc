// The innermost loops of products of integers: sums over k in registers for a
// few rows of the result and two vectors of its columns, added to sums in
// memory. Numbers within half the bits of what they are summed in are
// multiplied in pairs or by the short multiplication: sums wrap, so that any
// order and any way gives the bits. Knows no views.
#ifndef ASTRA_KERNELS_CPU_INTTILE_H
#define ASTRA_KERNELS_CPU_INTTILE_H

#include "kernels/cpu/ProductTile.h"

ASTRA_KERNELS_BEGIN

/// Two numbers of 16 bits that follow one another along k, the first in the low
/// half: sum + a0 * b0 + a1 * b1.
struct PairStep {
  using Unit = uint32_t;
  using Vector = Tile<Unit>::Vector;
  static constexpr int lanes = Tile<Unit>::lanes;
  typedef short Halves __attribute__((ext_vector_type(2 * lanes)));
  typedef int Sums __attribute__((ext_vector_type(lanes)));

  ASTRA_INLINE static Vector add(Vector sum, Vector a, Vector b) {
#if defined(__AVX512BW__)
    return sum + Vector(__builtin_ia32_pmaddwd512(Halves(a), Halves(b)));
#elif defined(__AVX2__)
    return sum + Vector(__builtin_ia32_pmaddwd256(Halves(a), Halves(b)));
#else
    return sum + Vector((Sums(a << 16) >> 16)) * Vector(Sums(b << 16) >> 16) +
           Vector(Sums(a) >> 16) * Vector(Sums(b) >> 16);
#endif
  }
};

/// Numbers of 64 bits that are within the low 32.
struct ShortStep {
  using Unit = uint64_t;
  using Vector = Tile<Unit>::Vector;
  typedef int64_t Signed __attribute__((ext_vector_type(Tile<Unit>::lanes)));

  ASTRA_INLINE static Vector add(Vector sum, Vector a, Vector b) {
    return sum + Vector((Signed(a << 32) >> 32) * (Signed(b << 32) >> 32));
  }
};

template <class U> struct WholeStep {
  using Unit = U;
  using Vector = typename Tile<Unit>::Vector;

  ASTRA_INLINE static Vector add(Vector sum, Vector a, Vector b) {
    return sum + a * b;
  }
};

/// Rows of `a` lie aRow units apart; of b, and of the sums, two vectors follow
/// one another.
template <class Step, int M>
void intTile(const typename Step::Unit *a, int64_t aRow,
             const typename Step::Unit *b, int64_t units,
             typename Step::Unit *sums) {
  using Unit = typename Step::Unit;
  using V = typename Tile<Unit>::Vector;
  constexpr int lanes = Tile<Unit>::lanes, N = 2;
  V chains[M][N] = {};
  for (int64_t i = 0; i < units; ++i, b += N * lanes) {
    V columns[N];
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v)
      columns[v] = loadVector(b + v * lanes);
#pragma clang loop unroll(full)
    for (int r = 0; r < M; ++r) {
      V x = a[r * aRow + i];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        chains[r][v] = Step::add(chains[r][v], x, columns[v]);
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < M; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < N; ++v, sums += lanes)
      storeVector(sums, loadVector(sums) + chains[r][v]);
}

/// Rows of the tallest tile; the others are powers of two below.
#ifdef __AVX512F__
constexpr int64_t intTileRows = 8;
#else
constexpr int64_t intTileRows = 4;
#endif

/// The same for any number of rows.
template <class Step>
void addIntTiles(const void *rowsOfA, int64_t rows, int64_t aRow,
                 const void *panel, int64_t units, void *to) {
  using Unit = typename Step::Unit;
  auto *a = static_cast<const Unit *>(rowsOfA);
  auto *b = static_cast<const Unit *>(panel);
  auto *sums = static_cast<Unit *>(to);
  for (int64_t height = intTileRows; rows > 0; height /= 2) {
    auto *tile = height == 8   ? intTile<Step, intTileRows>
                 : height == 4 ? intTile<Step, 4>
                 : height == 2 ? intTile<Step, 2>
                               : intTile<Step, 1>;
    for (; rows >= height; rows -= height) {
      tile(a, aRow, b, units, sums);
      a += height * aRow;
      sums += height * Tile<Unit>::columns;
    }
  }
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_INTTILE_H
