// The canonical sum and product on vectors: 32 lanes at once, several chunks at
// once where there are many (independent work for the pipeline), and columns
// side by side where the reduced axis is not the consecutive one. The order is
// that of kernels/Canonical.h.
#ifndef ASTRA_KERNELS_CPU_FOLD_H
#define ASTRA_KERNELS_CPU_FOLD_H

#include "kernels/Canonical.h"
#include "kernels/Types.h"
#include "kernels/View.h"
#include "kernels/cpu/Tiles.h"

ASTRA_KERNELS_BEGIN

constexpr int64_t chunkSize = 1024;
constexpr int laneCount = 32;

template <class A> struct Vector32 {
  typedef A Type __attribute__((ext_vector_type(32)));
};
template <class A> using Lanes = typename Vector32<A>::Type;

template <class A> inline Lanes<A> loadLanes(const A *from) {
  Lanes<A> lanes;
  __builtin_memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

template <class Op> struct LaneOp;
template <> struct LaneOp<Plus> {
  template <class V> static V apply(V a, V b) { return a + b; }
};
template <> struct LaneOp<Times> {
  template <class V> static V apply(V a, V b) { return a * b; }
};

/// Step 3 of the canonical order.
template <class Op, class A> inline A foldLanes(Lanes<A> lanes) {
  using L = LaneOp<Op>;
  auto h16 = L::apply(lanes.lo, lanes.hi);
  auto h8 = L::apply(h16.lo, h16.hi);
  auto h4 = L::apply(h8.lo, h8.hi);
  auto h2 = L::apply(h4.lo, h4.hi);
  return L::apply(h2.lo, h2.hi);
}

/// The value of one chunk of n <= 1024 consecutive elements.
template <class Op, class A>
ASTRA_SHARED inline A foldChunk(const A *x, int64_t n) {
  Lanes<A> lanes = Op::template identity<A>();
  int64_t k = 0;
  for (; k + laneCount <= n; k += laneCount)
    lanes = LaneOp<Op>::apply(lanes, loadLanes(x + k));
  if (k < n) {
    A rest[laneCount];
    for (int i = 0; i < laneCount; ++i)
      rest[i] = k + i < n ? x[k + i] : Op::template identity<A>();
    lanes = LaneOp<Op>::apply(lanes, loadLanes(rest));
  }
  return foldLanes<Op, A>(lanes);
}

/// The values of four whole chunks.
template <class Op, class A>
ASTRA_SHARED inline void foldFourChunks(const A *x, A *sums) {
  Lanes<A> l0 = Op::template identity<A>(), l1 = l0, l2 = l0, l3 = l0;
  for (int64_t k = 0; k < chunkSize; k += laneCount) {
    l0 = LaneOp<Op>::apply(l0, loadLanes(x + k));
    l1 = LaneOp<Op>::apply(l1, loadLanes(x + k + chunkSize));
    l2 = LaneOp<Op>::apply(l2, loadLanes(x + k + 2 * chunkSize));
    l3 = LaneOp<Op>::apply(l3, loadLanes(x + k + 3 * chunkSize));
  }
  sums[0] = foldLanes<Op, A>(l0);
  sums[1] = foldLanes<Op, A>(l1);
  sums[2] = foldLanes<Op, A>(l2);
  sums[3] = foldLanes<Op, A>(l3);
}

/// Reads the elements [begin, begin + n) of a line of T as consecutive compute
/// values: in place if they are, else through the buffer.
template <class T> class LineReader {
public:
  LineReader(const T *x, const Nest<1> &nest) : x(x), nest(nest) {
    direct = !isSmallFloat<T> && nest.innerExtent() == nest.size() &&
             (nest.innerStride(0) == 1 || nest.size() == 1);
  }
  bool isDirect() const { return direct; }
  const Compute<T> *read(int64_t begin, int64_t n, Compute<T> *buffer) const {
    if constexpr (!isSmallFloat<T>)
      if (direct)
        return x + begin;
    return collect(begin, n, buffer);
  }

private:
  ASTRA_SHARED const Compute<T> *collect(int64_t begin, int64_t n,
                                         Compute<T> *buffer) const {
    int64_t filled = 0;
    nest.walk(begin, begin + n, [&](const int64_t (&offset)[1], int64_t count) {
      loadRun(x + offset[0], nest.innerStride(0), count, buffer + filled);
      filled += count;
      return true;
    });
    return buffer;
  }

  const T *x;
  const Nest<1> &nest;
  bool direct;
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_FOLD_H
