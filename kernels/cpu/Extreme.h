// The largest or smallest of a line of floats (IEEE maximum and minimum), 32 at
// a time. Any order gives the same bits.
#ifndef ASTRA_KERNELS_CPU_EXTREME_H
#define ASTRA_KERNELS_CPU_EXTREME_H

#include "kernels/Ops.h"
#include "kernels/cpu/Fold.h"

ASTRA_KERNELS_BEGIN

/// Op_maximum or Op_minimum on lanes.
template <bool larger, class C>
inline Lanes<C> extremeLanes(Lanes<C> a, Lanes<C> b) {
  using Bits = Lanes<BitsOf<C>>;
  // Equal values differ at most in the sign of zero.
  Bits x = __builtin_bit_cast(Bits, a), y = __builtin_bit_cast(Bits, b);
  Lanes<C> tie = __builtin_bit_cast(Lanes<C>, larger ? x & y : x | y);
  Lanes<C> result = (larger ? a > b : a < b) ? a : b;
  result = a == b ? tie : result;
  return a != a ? a : result;
}

template <bool larger, class C>
ASTRA_SHARED inline C extremeOf(const C *x, int64_t n, C best) {
  using Op = Extreme<larger>;
  int64_t k = 0;
  if (n >= laneCount) {
    Lanes<C> lanes = loadLanes(x);
    for (k = laneCount; k + laneCount <= n; k += laneCount)
      lanes = extremeLanes<larger, C>(lanes, loadLanes(x + k));
    for (int i = 0; i < laneCount; ++i)
      best = Op::apply(best, lanes[i]);
  }
  for (; k < n; ++k)
    best = Op::apply(best, x[k]);
  return best;
}

/// Of a line of n >= 1 elements.
template <bool larger, class T>
ASTRA_SHARED inline Compute<T> extremeOfLine(const LineReader<T> &reader,
                                             int64_t n) {
  alignas(64) Compute<T> buffer[chunkSize];
  Compute<T> best = *reader.read(0, 1, buffer);
  for (int64_t at = 0; at < n; at += chunkSize) {
    int64_t size = n - at < chunkSize ? n - at : chunkSize;
    best = extremeOf<larger>(reader.read(at, size, buffer), size, best);
  }
  return best;
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_EXTREME_H
