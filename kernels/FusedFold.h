// The fold of a row of a fused kernel, chunk by chunk: the canonical sum and
// product, the maximum and minimum, of each float type. Blocks add elements to
// the 32 lanes of a chunk; here lanes become the value of a chunk, and chunks
// the value of a row. The order is that of kernels/Canonical.h.
#ifndef ASTRA_KERNELS_FUSEDFOLD_H
#define ASTRA_KERNELS_FUSEDFOLD_H

#include "kernels/Canonical.h"
#include "kernels/Ops.h"

ASTRA_KERNELS_BEGIN

constexpr int64_t foldChunkSize = CanonicalFold<float, Plus>::chunk;
constexpr int64_t foldLaneCount = CanonicalFold<float, Plus>::lanes;

/// As many lanes of a type as a vector of them.
template <class C, int64_t count>
using LanesOf = C __attribute__((ext_vector_type(count)));

/// Integers with the bits of a number, or of a vector's lanes.
template <class C> struct BitsOfLanes {
  using type = decltype(C() == C());
};
template <> struct BitsOfLanes<float> {
  using type = BitsOf<float>;
};
template <> struct BitsOfLanes<double> {
  using type = BitsOf<double>;
};

/// 0, 1, 2 and so on.
template <class C> inline typename BitsOfLanes<C>::type laneNumbers() {
  typename BitsOfLanes<C>::type numbers;
  for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i)
    numbers[i] = i;
  return numbers;
}

/// Extreme without branches, also of vectors.
template <bool larger> struct ExtremeOfLanes {
  template <class C> ASTRA_INLINE static C apply(C a, C b) {
    using Bits = typename BitsOfLanes<C>::type;
    Bits aBits = bitsAs<Bits>(a), bBits = bitsAs<Bits>(b);
    C tie = bitsAs<C>(Bits(larger ? aBits & bBits : aBits | bBits));
    C ordered = (larger ? a > b : a < b) ? a : b;
    ordered = a == b ? tie : ordered;
    return ((a != a) | (b != b)) ? C(a + b) : ordered;
  }
};
struct Larger : ExtremeOfLanes<true> {
  template <class A> static A identity() {
    return -std::numeric_limits<A>::infinity();
  }
};
struct Smaller : ExtremeOfLanes<false> {
  template <class A> static A identity() {
    return std::numeric_limits<A>::infinity();
  }
};

/// Calls f(operation, zero of the type that elements are folded in).
template <class F>
inline void dispatchFold(const astra_slot_desc_t &slot, F &&f) {
  auto withType = [&](auto operation) {
    if (slot.dtype == ASTRA_F64)
      f(operation, double());
    else
      f(operation, float());
  };
  if (slot.kind == ASTRA_SLOT_SUM)
    withType(Plus());
  else if (slot.kind == ASTRA_SLOT_PROD)
    withType(Times());
  else if (slot.kind == ASTRA_SLOT_MIN)
    withType(Smaller());
  else
    withType(Larger());
}

/// Writes the value of a fold as an element of its slot.
template <class C>
inline void writeFolded(const astra_slot_desc_t &slot, C value, void *to) {
  if constexpr (std::is_same_v<C, float>) {
    if (slot.dtype == ASTRA_F16) {
      *static_cast<F16 *>(to) = narrow<F16>(value);
      return;
    }
    if (slot.dtype == ASTRA_BF16) {
      *static_cast<BF16 *>(to) = narrow<BF16>(value);
      return;
    }
  }
  *static_cast<C *>(to) = value;
}

/// The value of a chunk, in the type that its elements are folded in.
union FoldValue {
  float narrow;
  double wide;

  template <class C> C &get() {
    if constexpr (std::is_same_v<C, double>)
      return wide;
    else
      return narrow;
  }
};

/// The lanes of one chunk of a row, and what they fold to.
union FoldLanes {
  float narrow[foldLaneCount];
  double wide[foldLaneCount];

  template <class C> C *get() {
    if constexpr (std::is_same_v<C, double>)
      return wide;
    else
      return narrow;
  }
  void clear(const astra_slot_desc_t &slot) {
    dispatchFold(slot, [&](auto operation, auto zero) {
      using C = decltype(zero);
      for (int64_t i = 0; i < foldLaneCount; ++i)
        get<C>()[i] = decltype(operation)::template identity<C>();
    });
  }
  /// The first n of `most` lanes of another join those from `at` on; where it
  /// takes few instructions as vectors, for the same reason as in writeRows.
  template <int64_t most>
  void join(const astra_slot_desc_t &slot, FoldLanes &other, int64_t at,
            int64_t n) {
    dispatchFold(slot, [&](auto operation, auto zero) {
      using C = decltype(zero);
      using Op = decltype(operation);
      C *to = get<C>() + at, *from = other.get<C>();
#if defined(__AVX512F__)
      using Part = LanesOf<C, most>;
      Part known, more;
      std::memcpy(&known, to, sizeof(Part));
      std::memcpy(&more, from, sizeof(Part));
      more = Op::template apply<Part>(known, more);
      known = laneNumbers<Part>() < n ? more : known;
      std::memcpy(to, &known, sizeof(Part));
#else
      for (int64_t i = 0; i < n; ++i)
        to[i] = Op::template apply<C>(to[i], from[i]);
#endif
    });
  }
  template <class Op, class C, int64_t count>
  ASTRA_INLINE static C foldHalves(const C *x) {
    if constexpr (count == 2) {
      return Op::template apply<C>(x[0], x[1]);
    } else {
      using Half = LanesOf<C, count / 2>;
      Half low, high;
      std::memcpy(&low, x, sizeof(Half));
      std::memcpy(&high, x + count / 2, sizeof(Half));
      low = Op::template apply<Half>(low, high);
      C half[count / 2];
      std::memcpy(half, &low, sizeof(Half));
      return foldHalves<Op, C, count / 2>(half);
    }
  }
};

/// The values of chunks, by their lanes.
inline void foldChunks(const astra_slot_desc_t &slot, FoldLanes *chunks,
                       int64_t count, FoldValue *values) {
  dispatchFold(slot, [&](auto operation, auto zero) {
    using C = decltype(zero);
    for (int64_t i = 0; i < count; ++i)
      values[i].get<C>() =
          FoldLanes::foldHalves<decltype(operation), C, foldLaneCount>(
              chunks[i].template get<C>());
  });
}

/// Writes the values of rows as elements of a slot, and as a vector: what reads
/// them next loads one, which would have to wait until all that has been stored
/// before its parts is in the cache.
template <int64_t most>
inline void writeRows(const astra_slot_desc_t &slot, FoldValue *rows,
                      int64_t count, void *to) {
  auto write = [&](auto zero) {
    using C = decltype(zero);
    using Values = LanesOf<C, most>;
    auto lanes = laneNumbers<Values>();
    Values values = zero;
    for (int64_t r = 0; r < count; ++r)
      values = lanes == r ? Values(rows[r].get<C>()) : values;
    std::memcpy(to, &values, sizeof(values));
  };
  if (slot.dtype == ASTRA_F64)
    return write(double());
  if (slot.dtype == ASTRA_F32)
    return write(float());
  for (int64_t r = 0; r < count; ++r)
    writeFolded(slot, rows[r].get<float>(), static_cast<char *>(to) + 2 * r);
}

/// The chunks of one row: the PairTree of an operation known when it runs.
class FoldState {
public:
  void add(const astra_slot_desc_t &slot, FoldValue value) {
    dispatchFold(slot, [&](auto operation, auto zero) {
      using C = decltype(zero);
      int level = 0;
      for (uint64_t bits = count++; bits & 1; bits >>= 1, ++level)
        value.get<C>() = decltype(operation)::template apply<C>(
            pending[level].template get<C>(), value.get<C>());
      pending[level] = value;
    });
  }

  /// Writes the value of the row.
  void finish(const astra_slot_desc_t &slot, void *to) {
    dispatchFold(slot, [&](auto operation, auto zero) {
      using C = decltype(zero);
      using Op = decltype(operation);
      C value = Op::template identity<C>();
      bool any = false;
      for (int level = 0; count >> level; ++level)
        if (count >> level & 1) {
          C part = pending[level].template get<C>();
          value = any ? Op::template apply<C>(part, value) : part;
          any = true;
        }
      writeFolded(slot, value, to);
    });
  }

private:
  uint64_t count = 0;
  FoldValue pending[64];
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_FUSEDFOLD_H
