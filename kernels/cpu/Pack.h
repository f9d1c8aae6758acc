// Packing the operands of a product: lines that are consecutive along k become
// [k][lines] by transposing squares of one vector's width in registers; lines
// side by side are copied. Elements widen on the way. Knows no views, only
// where lines begin.
#ifndef ASTRA_KERNELS_CPU_PACK_H
#define ASTRA_KERNELS_CPU_PACK_H

#include "kernels/Types.h"
#include "kernels/cpu/ProductTile.h"
#include "kernels/cpu/Tiles.h"

ASTRA_KERNELS_BEGIN

template <int Step, bool High, class V, int... J>
ASTRA_INLINE inline V exchange(V a, V b, std::integer_sequence<int, J...>) {
  constexpr int lanes = sizeof...(J);
  // Lane j of the low result: a[j], or b[j - Step] where bit Step of j is set;
  // of the high result: a[j + Step], or b[j].
  return __builtin_shufflevector(
      a, b,
      (J & Step ? lanes + J - (High ? 0 : Step) : J + (High ? Step : 0))...);
}

/// Transposes a square of vectors, in steps of half the size.
template <int Step, class V, int Lanes>
ASTRA_INLINE inline void transposeSquare(V (&v)[Lanes]) {
  if constexpr (Step > 0) {
    using Places = std::make_integer_sequence<int, Lanes>;
#pragma clang loop unroll(full)
    for (int i = 0; i < Lanes; ++i)
      if (!(i & Step)) {
        V low = exchange<Step, false>(v[i], v[i + Step], Places());
        v[i + Step] = exchange<Step, true>(v[i], v[i + Step], Places());
        v[i] = low;
      }
    transposeSquare<Step / 2>(v);
  }
}

/// The next `count` elements of a line, widened; what is missing is +0.
template <class T>
ASTRA_INLINE inline typename Tile<Compute<T>>::Vector loadLine(const T *from,
                                                               int64_t count) {
  using C = Compute<T>;
  constexpr int64_t lanes = Tile<C>::lanes;
  if constexpr (!isSmallFloat<T>) {
    return count < lanes ? loadLanes<C>(from, firstLanes<C>(count))
                         : loadVector(from);
  } else {
    alignas(64) C buffer[lanes] = {};
    widenRun(from, count < lanes ? count : lanes, buffer);
    return loadVector<C>(buffer);
  }
}

/// to[i * stride + line] = lines[line][i] for Groups vectors of lines, i < k.
/// Stores whole vectors, in ascending order: what they write beyond the lines
/// of one i is overwritten by the next, and after the last i there must be
/// room for a vector.
template <int Groups, class T>
void packLines(const T *const *lines, int64_t k, Compute<T> *to,
               int64_t stride) {
  using C = Compute<T>;
  using V = typename Tile<C>::Vector;
  constexpr int lanes = Tile<C>::lanes;
  for (int64_t i = 0; i < k; i += lanes) {
    V square[Groups][lanes];
    int64_t count = k - i < lanes ? k - i : lanes;
#pragma clang loop unroll(full)
    for (int g = 0; g < Groups; ++g) {
#pragma clang loop unroll(full)
      for (int line = 0; line < lanes; ++line)
        square[g][line] = loadLine(lines[g * lanes + line] + i, count);
      transposeSquare<lanes / 2>(square[g]);
    }
#pragma clang loop unroll(full)
    for (int at = 0; at < lanes; ++at)
      if (at < count)
#pragma clang loop unroll(full)
        for (int g = 0; g < Groups; ++g)
          storeVector(to + (i + at) * stride + g * lanes, square[g][at]);
  }
}

/// to[i] = from[i] for short runs. What is loaded is stored before the next is
/// loaded, whatever the compiler knows of the two.
template <class T>
ASTRA_INLINE inline void copyShort(const T *from, int64_t count,
                                   Compute<T> *to) {
  using C = Compute<T>;
  constexpr int64_t lanes = Tile<C>::lanes;
  if constexpr (isSmallFloat<T>) {
    widenRun(from, count, to);
  } else {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      storeVector(to + i, loadVector(from + i));
    if (i < count) {
      typename Tile<C>::Mask mask = firstLanes<C>(count - i);
      storeLanes<C>(to + i, loadLanes<C>(from + i, mask), mask);
    }
  }
}

/// to[i * stride + j] = from[places[i] + j] for i < k and the j of so many
/// whole vectors, then those of a mask.
template <class C, int Whole>
inline void copyVectors(const C *from, const int64_t *places, int64_t k,
                        int64_t rest, C *to, int64_t stride) {
  constexpr int lanes = Tile<C>::lanes;
  typename Tile<C>::Mask mask = firstLanes<C>(rest);
  for (int64_t i = 0; i < k; ++i, to += stride) {
    const C *line = from + places[i];
#pragma clang loop unroll(full)
    for (int v = 0; v < (Whole ? Whole : 1); ++v)
      __builtin_prefetch(from + places[i + rowsAhead] + v * lanes);
#pragma clang loop unroll(full)
    for (int v = 0; v < Whole; ++v)
      storeVector(to + v * lanes, loadVector(line + v * lanes));
    if (rest)
      storeLanes<C>(to + Whole * lanes,
                    loadLanes<C>(line + Whole * lanes, mask), mask);
  }
}

/// The same for a run of at most two vectors, widened.
template <class T>
inline void copyRuns(const T *from, const int64_t *places, int64_t k,
                     int64_t count, Compute<T> *to, int64_t stride) {
  using C = Compute<T>;
  constexpr int64_t lanes = Tile<C>::lanes;
  if constexpr (!isSmallFloat<T>) {
    if (count < lanes)
      copyVectors<C, 0>(from, places, k, count, to, stride);
    else if (count < 2 * lanes)
      copyVectors<C, 1>(from, places, k, count - lanes, to, stride);
    else
      copyVectors<C, 2>(from, places, k, 0, to, stride);
  } else {
    for (int64_t i = 0; i < k; ++i, to += stride)
      widenRun(from + places[i], count, to);
  }
}

/// to[i * stride + line] for a few lines that lie side by side, i < k; from one
/// i to the next it is `step`. So many lines are wanted soon.
template <class T>
inline void packRunsBeside(const T *from, int64_t step, int64_t count,
                           int64_t stride, int64_t k, Compute<T> *to,
                           int64_t wanted) {
  using C = Compute<T>;
  constexpr int64_t lanes = Tile<C>::lanes;
  if constexpr (!isSmallFloat<T>) {
    constexpr int64_t perLine = 64 / int64_t(sizeof(C));
    typename Tile<C>::Mask mask = firstLanes<C>(count < lanes ? count : lanes);
    if (count <= lanes) {
      for (int64_t i = 0; i < k; ++i, from += step, to += stride) {
        __builtin_prefetch(from + rowsAhead * step);
        for (int64_t j = perLine; j < wanted; j += perLine)
          __builtin_prefetch(from + rowsAhead * step + j);
        storeLanes<C>(to, loadLanes<C>(from, mask), mask);
      }
      return;
    }
  }
  for (int64_t i = 0; i < k; ++i, from += step, to += stride)
    copyShort(from, count, to);
}

/// packLines for `count` lines, at most two vectors of them, which are given
/// with others up to a whole vector.
template <class T>
inline void packTransposed(const T *const *lines, int64_t offset, int64_t count,
                           int64_t stride, int64_t k, Compute<T> *to) {
  constexpr int64_t lanes = Tile<Compute<T>>::lanes;
  const T *shifted[2 * lanes];
  for (int64_t j = 0; j < (count + lanes - 1) / lanes * lanes; ++j)
    shifted[j] = lines[j] + offset;
  if (count <= lanes)
    packLines<1>(shifted, k, to, stride);
  else
    packLines<2>(shifted, k, to, stride);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PACK_H
