// Cumulative sums and products in the canonical order (docs/arithmetic.md,
// section 4) in one pass over memory: the scan of the blocks' totals is fed a
// total at a time, so that each block is finished while it is in registers.
// Lines that are consecutive go 32 elements at a time; others side by side.
#include "kernels/Ops.h"
#include "kernels/cpu/Fold.h"
#include <utility>

using namespace astra;

namespace {

/// The scan of values that come one by one; V may be a vector of independent
/// lines. Of each step's values only those that a later one still adds are
/// kept.
template <class V, class Op> class OnlineScan {
public:
  void reset() {
    for (Level &level : levels) {
      level.position = 0;
      level.carries = false;
    }
  }
  V push(V value) { return pushTo(0, value); }

private:
  static constexpr int depth = 8, blockSize = 32;
  struct Level {
    V kept[blockSize - 1]; // of the step with distance d: [d - 1, 2 d - 1)
    V carry;
    int position = 0;
    bool carries = false;
  };

  V pushTo(int index, V y) {
    Level &level = levels[index];
    for (int d = 1; d < blockSize; d *= 2) {
      V &slot = level.kept[d - 1 + (level.position & (d - 1))];
      V arrived = y;
      if (level.position >= d)
        y = LaneOp<Op>::apply(slot, y);
      slot = arrived;
    }
    V result = level.carries ? LaneOp<Op>::apply(level.carry, y) : y;
    if (++level.position == blockSize) {
      level.position = 0;
      if (index + 1 < depth) {
        level.carry = pushTo(index + 1, y);
        level.carries = true;
      }
    }
    return result;
  }

  Level levels[depth];
};

/// One step of a block: y[i] = y[i - d] + y[i] for i >= d.
template <int d, class Op, class V, size_t... I>
ASTRA_INLINE inline V scanStep(V y, std::index_sequence<I...>) {
  V before = __builtin_shufflevector(y, y, (I >= d ? int(I) - d : int(I))...);
  V sum = LaneOp<Op>::apply(before, y);
  return __builtin_shufflevector(y, sum,
                                 (I >= d ? laneCount + int(I) : int(I))...);
}

template <class Op, class A>
ASTRA_INLINE inline Lanes<A> scanBlock(Lanes<A> y) {
  constexpr std::make_index_sequence<laneCount> lanes;
  y = scanStep<1, Op>(y, lanes);
  y = scanStep<2, Op>(y, lanes);
  y = scanStep<4, Op>(y, lanes);
  y = scanStep<8, Op>(y, lanes);
  return scanStep<16, Op>(y, lanes);
}

template <class T, class A>
ASTRA_SHARED inline void readElements(const T *from, int64_t stride, int64_t n,
                                      A *to) {
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      to[i] = toAccumulator(from[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    to[i] = toAccumulator(from[i * stride]);
}

template <class T, class A>
ASTRA_SHARED inline void writeElements(const A *from, int64_t n, T *to,
                                       int64_t stride) {
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      to[i] = fromAccumulator<T>(from[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    to[i * stride] = fromAccumulator<T>(from[i]);
}

template <class Op, class T>
void scanLine(const T *x, int64_t strideIn, T *out, int64_t strideOut,
              int64_t n) {
  using A = Accumulator<T>;
  OnlineScan<A, Op> totals;
  A carry{};
  for (int64_t at = 0; at < n; at += laneCount) {
    int64_t size = n - at < laneCount ? n - at : laneCount;
    alignas(64) A block[laneCount] = {};
    readElements(x + at * strideIn, strideIn, size, block);
    Lanes<A> y = scanBlock<Op, A>(loadLanes(block));
    A total = y[laneCount - 1];
    if (at > 0)
      y = LaneOp<Op>::apply(Lanes<A>(carry), y);
    if (at + laneCount < n)
      carry = totals.push(total);
    __builtin_memcpy(block, &y, sizeof(y));
    writeElements(block, size, out + at * strideOut, strideOut);
  }
}

/// `columns` lines side by side.
template <class Op, class T>
void scanColumns(const T *x, T *out, const Lines &lines, int64_t columns,
                 OnlineScan<Lanes<Accumulator<T>>, Op> &scan) {
  using A = Accumulator<T>;
  int64_t si = lines.starts.innerStride(0), so = lines.starts.innerStride(1);
  alignas(64) A row[laneCount] = {};
  scan.reset();
  for (int64_t i = 0; i < lines.extent; ++i) {
    const T *from = x + i * lines.strideIn;
    // Each row lies on another page, which the hardware does not foresee.
    __builtin_prefetch(from + 8 * lines.strideIn);
    readElements(from, si, columns, row);
    Lanes<A> y = scan.push(loadLanes(row));
    __builtin_memcpy(row, &y, sizeof(y));
    writeElements(row, columns, out + i * lines.strideOut, so);
  }
}

template <class Op, class T>
astra_outcome_t cumulate(const astra_call_t *call, const astra_arg_t *args,
                         int64_t axis) {
  Lines lines = linesOf(args[0], args[1], axis);
  const Nest<2> &starts = lines.starts;
  const T *x = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  if (lines.extent == 0)
    return ASTRA_OK;
  bool alongLines = starts.innerExtent() < 8 ||
                    (lines.strideIn == 1 && lines.extent >= laneCount / 2);
  int64_t grain = elementGrain / (lines.extent + 8) + 1;
  parallelFor(call, starts.size(), grain, [&](int64_t begin, int64_t end) {
    OnlineScan<Lanes<Accumulator<T>>, Op> scan;
    starts.visit(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
      for (int64_t i = 0; i < count; i += alongLines ? 1 : laneCount) {
        const T *from = x + offset[0] + i * starts.innerStride(0);
        T *to = out + offset[1] + i * starts.innerStride(1);
        if (alongLines)
          scanLine<Op>(from, lines.strideIn, to, lines.strideOut, lines.extent);
        else
          scanColumns<Op>(from, to, lines,
                          count - i < laneCount ? count - i : laneCount, scan);
      }
      return true;
    });
  });
  return ASTRA_OK;
}

} // namespace

#define FOR_NUMBER(dtype)                                                      \
  ASTRA_DEFINE_VARIANT(                                                        \
      cumsum, dtype, blocks,                                                   \
      cumulate<Plus, Signless<T_##dtype>>(call, args, params[0]))              \
  ASTRA_DEFINE_VARIANT(                                                        \
      cumprod, dtype, blocks,                                                  \
      cumulate<Times, Signless<T_##dtype>>(call, args, params[0]))
#include "kernels/cpu/ForNumbers.h"
