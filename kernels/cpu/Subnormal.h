// Products of f32 with subnormal numbers. Processors take more than a hundred
// cycles for an fma that reads or makes one, and nothing is flushed here. Where
// one operand of a tile has some and the other is far from them, a power of two
// goes from one to the other: that leaves every product as it is. A row of
// which everything is tiny has tiny results too: its chain is made in f64,
// whose conversions are not slow, and rounded as the fma would. Both give the
// bits of the plain loops; when they are taken is only a matter of speed.
#ifndef ASTRA_KERNELS_CPU_SUBNORMAL_H
#define ASTRA_KERNELS_CPU_SUBNORMAL_H

#include "kernels/cpu/ProductTile.h"

ASTRA_KERNELS_BEGIN

/// The magnitude of an f32, as an integer that grows with it.
constexpr int32_t magnitudeOf(int exponent) { return (exponent + 127) << 23; }
constexpr int32_t leastNormal = magnitudeOf(-126);

template <class C> struct Tiny {
  static constexpr int lanes = Tile<C>::lanes;
  static constexpr int power = 24; // of two: makes any subnormal normal
  using V = typename Tile<C>::Vector;
  typedef int32_t Numbers __attribute__((ext_vector_type(lanes)));
  typedef uint32_t Naturals __attribute__((ext_vector_type(lanes)));
  typedef C Half __attribute__((ext_vector_type(lanes / 2)));
  typedef double Wide __attribute__((ext_vector_type(lanes / 2)));
  typedef int64_t Longs __attribute__((ext_vector_type(lanes / 2)));

  static ASTRA_INLINE Numbers magnitudes(V v) {
    return __builtin_bit_cast(Numbers, v) & 0x7fffffff;
  }

  /// The magnitudes of a line, a vector of them at a time, +0 after its end.
  template <class Body>
  static ASTRA_INLINE void scan(const C *line, int64_t count, Body body) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      body(magnitudes(loadVector(line + i)));
    if (i < count)
      body(magnitudes(loadLanes<C>(line + i, firstLanes<C>(count - i))));
  }

  /// v * 2^power, which is normal; multiplying subnormals would be slow.
  static ASTRA_INLINE V raise(V v) {
    Numbers bits = __builtin_bit_cast(Numbers, v), of = bits & 0x7fffffff;
    V units = __builtin_convertvector(of, V); // subnormals, or 0
    units *= __builtin_bit_cast(C, magnitudeOf(power - 126 - 23));
    Numbers raised = of < leastNormal ? __builtin_bit_cast(Numbers, units)
                     : of >= magnitudeOf(128) ? of
                                              : of + (power << 23);
    return __builtin_bit_cast(V, raised | (bits & ~0x7fffffff));
  }

  /// fma(x, y, z) of f32, rounded to f32: the f64 next to x * y + z, made odd
  /// where it is not exact, rounds as that does.
  static ASTRA_INLINE Wide addProduct(Wide x, Wide y, Wide z) {
    Wide product = x * y, sum = product + z, added = sum - product;
    Wide missing = (product - (sum - added)) + (z - added);
    Longs inexact = (missing < 0.0) | (missing > 0.0);
    Longs bits = __builtin_bit_cast(Longs, sum);
    Longs opposite = (__builtin_bit_cast(Longs, missing) ^ bits) >> 63;
    bits = (bits + (opposite & inexact)) | (inexact & 1);
    Half rounded =
        __builtin_convertvector(__builtin_bit_cast(Wide, bits), Half);
    return __builtin_convertvector(rounded, Wide);
  }
};

/// Have rows, `apart` from each other, numbers so small that one of them may be
/// worth tinyChain? Those `next` after them will be read soon.
template <class C>
inline bool haveTiny(const C *row, int64_t apart, int64_t rows, int64_t k,
                     int64_t next) {
  using X = Tiny<C>;
  typename X::Naturals least = ~typename X::Naturals{};
  for (int64_t r = 0; r < rows; ++r, row += apart) {
    for (int64_t i = 0; i < k; i += 64 / int64_t(sizeof(C)))
      __builtin_prefetch(row + next + i);
    X::scan(row, k, [&](typename X::Numbers v) ASTRA_INLINE {
      // Zeros are the largest.
      least = __builtin_elementwise_min(
          least, __builtin_bit_cast(typename X::Naturals, v - 1));
    });
  }
  return __builtin_reduce_min(least) < uint32_t(magnitudeOf(-120));
}

/// Would the products with a row of a be made or read as subnormals so often
/// that tinyChain is faster?
template <class C> inline bool isTinyRow(const C *row, int64_t k) {
  using X = Tiny<C>;
  typename X::Numbers most = {}, count = {};
  X::scan(row, k, [&](typename X::Numbers v) ASTRA_INLINE {
    most = __builtin_elementwise_max(most, v);
    count -= (v > 0) & (v < leastNormal);
  });
  int32_t largest = __builtin_reduce_max(most);
  return largest != 0 &&
         (largest < magnitudeOf(-120) || __builtin_reduce_add(count) > k / 8);
}

/// The chains of one row and N vectors of columns, in halves.
template <class C, int N> struct TinyChains {
  using X = Tiny<C>;
  using Wide = typename X::Wide;
  static constexpr int lanes = Tile<C>::lanes;
  Wide half[2 * N];

  /// body(h, x, y) for each k and half of b.
  template <class Body>
  static ASTRA_INLINE void forProducts(const TileCall<C> &t, Body body) {
    typename Tile<C>::Mask mask = firstLanes<C>(t.last);
    const C *b = t.b;
    for (int64_t i = 0; i < t.k; ++i, b += t.bStride) {
      Wide x = double(t.a[i * t.aStep]), y[2 * N];
#pragma clang loop unroll(full)
      for (int v = 0; v < N; ++v)
        split(v < N - 1 ? loadVector(b + v * lanes)
                        : loadLanes(b + v * lanes, mask),
              y[2 * v], y[2 * v + 1]);
#pragma clang loop unroll(full)
      for (int h = 0; h < 2 * N; ++h)
        body(h, x, y[h]);
    }
  }

  /// Sums that all lie where f32 are the multiples of the least subnormal: in
  /// f64 beside a number with that for its last bit they round by themselves.
  /// False if one might not.
  ASTRA_INLINE bool addUniform(const TileCall<C> &t) {
    const Wide beside = 0x1.8p-97;
    Wide most[2 * N] = {}; // that any sum can be
#pragma clang loop unroll(full)
    for (int h = 0; h < 2 * N; ++h)
      half[h] = beside;
    forProducts(t, [&](int h, Wide x, Wide y) ASTRA_INLINE {
      half[h] = __builtin_elementwise_fma(x, y, half[h]);
      most[h] = __builtin_elementwise_fma(
          __builtin_elementwise_abs(x), __builtin_elementwise_abs(y), most[h]);
    });
    typename X::Longs fits = ~typename X::Longs{};
#pragma clang loop unroll(full)
    for (int h = 0; h < 2 * N; ++h) {
      fits &= most[h] < 0x1p-126;
      half[h] -= beside;
    }
    return __builtin_reduce_and(fits) != 0;
  }

  /// Any sums.
  ASTRA_INLINE void add(const TileCall<C> &t) {
#pragma clang loop unroll(full)
    for (int h = 0; h < 2 * N; ++h)
      half[h] = Wide(0);
    forProducts(t, [&](int h, Wide x, Wide y) ASTRA_INLINE {
      half[h] = X::addProduct(x, y, half[h]);
    });
  }

  static ASTRA_INLINE void split(typename X::V v, Wide &low, Wide &high) {
    low = __builtin_convertvector(v.lo, Wide);
    high = __builtin_convertvector(v.hi, Wide);
  }
};

/// A chain for one row and N vectors of columns, as directChain.
template <class C, int N> void tinyChain(const TileCall<C> &t) {
  using Half = typename Tiny<C>::Half;
  TinyChains<C, N> sums;
  if (!sums.addUniform(t))
    sums.add(t);
  typename Tile<C>::Vector chains[1][N];
#pragma clang loop unroll(full)
  for (int v = 0; v < N; ++v) {
    chains[0][v].lo = __builtin_convertvector(sums.half[2 * v], Half);
    chains[0][v].hi = __builtin_convertvector(sums.half[2 * v + 1], Half);
  }
  addChains<C, 1, N, true>(t, chains, firstLanes<C>(t.last));
}

//===-- Powers of two between the operands of a tile
//------------------------------------------------------------------------===//

/// What is known of the numbers of a packed operand.
struct Least {
  int32_t magnitude = INT32_MAX; // of those that are not 0
  bool known = false;
  bool isTiny() const { return magnitude < leastNormal; }
};

template <class C> inline Least leastOf(const C *packed, int64_t count) {
  using X = Tiny<C>;
  using N = typename X::Naturals;
  N least = ~N{}; // zeros are the largest
  X::scan(packed, count, [&](typename X::Numbers v) ASTRA_INLINE {
    least = __builtin_elementwise_min(least, __builtin_bit_cast(N, v - 1));
  });
  uint32_t all = __builtin_reduce_min(least);
  return {all < INT32_MAX ? int32_t(all + 1) : INT32_MAX, true};
}

/// Looks at a part of an operand, and at all of it where that has subnormals.
template <class C> inline Least glance(const C *packed, int64_t count) {
  using X = Tiny<C>;
  using N = typename X::Naturals;
  constexpr int64_t step = 4 * X::lanes;
  N least = ~N{};
  for (int64_t i = 0; i + X::lanes <= count; i += step)
    least = __builtin_elementwise_min(
        least,
        __builtin_bit_cast(N, X::magnitudes(loadVector(packed + i)) - 1));
  if (__builtin_reduce_min(least) < uint32_t(leastNormal - 1))
    return leastOf(packed, count);
  return {};
}

/// Kept behind an operand that is packed for all blocks.
template <class C> inline void noteLeast(C *packed, int64_t count) {
  packed[count] = __builtin_bit_cast(C, glance(packed, count).magnitude);
}
template <class C> inline Least notedLeast(const C *packed, int64_t count) {
  int32_t magnitude = __builtin_bit_cast(int32_t, packed[count]);
  return {magnitude, magnitude != INT32_MAX};
}

template <class C>
inline int32_t largestFinite(const C *packed, int64_t count) {
  using X = Tiny<C>;
  typename X::Numbers most = {};
  X::scan(packed, count, [&](typename X::Numbers v) ASTRA_INLINE {
    most = __builtin_elementwise_max(most, v & (v < magnitudeOf(128)));
  });
  return __builtin_reduce_max(most);
}

/// A packed operand times a power of two, in memory of its own.
template <class C> class Scaled {
public:
  /// Null where a number that is not 0 would leave the normal ones.
  const C *get(const C *from, int64_t count, Least least, bool raised, C *to) {
    if (made == (raised ? 1 : -1))
      return to;
    if (raised ? largestFinite(from, count) >= magnitudeOf(128 - power)
               : least.magnitude < magnitudeOf(power - 126))
      return nullptr;
    using X = Tiny<C>;
    const C factor = __builtin_bit_cast(C, magnitudeOf(-power));
    for (int64_t i = 0; i < count; i += X::lanes) {
      typename Tile<C>::Mask mask = firstLanes<C>(count - i);
      typename X::V v = loadLanes(from + i, mask);
      storeLanes<C>(to + i, raised ? X::raise(v) : v * factor, mask);
    }
    made = raised ? 1 : -1;
    return to;
  }

private:
  static constexpr int power = Tiny<C>::power;
  int made = 0;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_SUBNORMAL_H
