// scatter_add of floats: the places are ordered by destination (they stay where
// they ascend already, as those of a sorted index do; else a radix sort, which
// is stable), and each group's canonical sum is added in one go, the columns of
// its rows side by side. Groups are independent work.
#include "kernels/Ops.h"
#include "kernels/cpu/CopyAll.h"
#include "kernels/cpu/Keys.h"
#include "kernels/cpu/Places.h"

using namespace astra;

namespace {

/// The places ordered by destination: pairs of both in one word, the place in
/// the low bits.
class Grouping {
public:
  Grouping(const astra_call_t *call, int64_t size, int64_t destinations)
      : size(size), placeBits(bitsFor(size)),
        positionBits(bitsFor(destinations)),
        memory(call, fits() ? 2 * size : 0) {}
  explicit operator bool() const { return bool(memory); }
  bool fits() const { return placeBits + positionBits <= 64; }

  /// False if an index is out of range.
  bool fill(const Places &places) {
    pairs = memory.get();
    bool fine = true, ascends = true;
    int64_t positions[Places::block], before = 0;
    for (int64_t at = 0; at < size; at += Places::block) {
      int64_t n = Places::smaller(size - at);
      fine &= places.positions(at, n, positions);
      for (int64_t i = 0; i < n; ++i) {
        ascends &= before <= positions[i];
        before = positions[i];
        pairs[at + i] = uint64_t(before) << placeBits | uint64_t(at + i);
      }
    }
    if (fine && !ascends)
      pairs = radixSort(pairs, pairs + size, size, (positionBits + 7) / 8,
                        [this](uint64_t pair) { return pair >> placeBits; });
    return fine;
  }

  int64_t placeAt(int64_t i) const {
    return int64_t(pairs[i] & ((uint64_t(1) << placeBits) - 1));
  }
  int64_t positionAt(int64_t i) const { return int64_t(pairs[i] >> placeBits); }
  int64_t endOfGroup(int64_t i) const {
    int64_t end = i + 1, position = positionAt(i);
    while (end < size && positionAt(end) == position)
      ++end;
    return end;
  }

private:
  /// At least one, at most 63.
  static int bitsFor(int64_t n) {
    return 64 - __builtin_clzll(uint64_t(n) | 1);
  }

  int64_t size;
  int placeBits, positionBits;
  Scratch<uint64_t> memory;
  uint64_t *pairs = nullptr;
};

/// The canonical sum of up to `width` columns of the rows that add() is given.
template <class T> class RowSum {
public:
  using C = Compute<T>;
  static constexpr int64_t width = 256 / sizeof(C);

  void start(int64_t columns) {
    n = columns;
    used = 0;
    chunks = 0;
  }
  void add(const T *row, int64_t stride) {
    C *lane = lanes[used % laneCount];
    loadRun(row, stride, n, fresh);
    if (used < laneCount)
      sum(lane, zeros, fresh);
    else
      sum(lane, lane, fresh);
    if (++used == chunkSize)
      endChunk();
  }
  const C *result() {
    if (used)
      endChunk();
    int level = __builtin_ctzll(chunks);
    C *value = pending[level];
    for (++level; chunks >> level; ++level)
      if (chunks >> level & 1)
        sum(value, pending[level], value);
    return value;
  }

private:
  /// Lanes that no row has reached hold +0, which changes nothing.
  void endChunk() {
    int64_t filled = used < laneCount ? used : laneCount;
    for (int64_t h = laneCount / 2; h; h /= 2)
      for (int64_t i = 0; i < h && i + h < filled; ++i)
        sum(lanes[i], lanes[i], lanes[i + h]);
    int level = 0;
    for (uint64_t bits = chunks++; bits & 1; bits >>= 1)
      sum(lanes[0], pending[level++], lanes[0]);
    sum(pending[level], lanes[0], zeros);
    used = 0;
  }
  void sum(C *to, const C *a, const C *b) const {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < width; ++i)
      to[i] = a[i] + b[i];
  }

  int64_t n = 0, used = 0;
  uint64_t chunks = 0;
  alignas(64) C zeros[width] = {}, fresh[width] = {};
  alignas(64) C lanes[laneCount][width], pending[48][width];
};

template <class T> class Adder {
public:
  using C = Compute<T>;

  Adder(const Places &places, const Runs &runs, const Grouping &groups,
        const T *value, T *out)
      : places(places), runs(runs), groups(groups), value(value), out(out) {}

  /// Adds the groups that begin within [begin, end).
  void run(int64_t begin, int64_t end) {
    int64_t i = begin;
    if (i > 0 && groups.positionAt(i) == groups.positionAt(i - 1))
      i = groups.endOfGroup(i);
    while (i < end) {
      int64_t last = groups.endOfGroup(i), start[2];
      T *to = out + places.offsetOf(groups.positionAt(i));
      for (int64_t r = 0; r < runs.count; ++r) {
        runs.startOf(r, start);
        if (last - i == 1)
          addOne(to + start[0], value + start[1] + takenAt(i));
        else if (runs.length < 4)
          addElements(to + start[0], value + start[1], i, last);
        else
          addRows(to + start[0], value + start[1], i, last);
      }
      i = last;
    }
  }

private:
  int64_t takenAt(int64_t i) const {
    return places.takenOffset(groups.placeAt(i));
  }
  /// The sum of a single value is +0 + x.
  void addOne(T *to, const T *from) const {
    if (runs.isConsecutive()) {
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < runs.length; ++i)
        to[i] = narrow<T>(widen(to[i]) + (C(0) + widen(from[i])));
      return;
    }
    for (int64_t i = 0; i < runs.length; ++i) {
      T &sum = to[i * runs.stride];
      sum = narrow<T>(widen(sum) + (C(0) + widen(from[i * runs.takenStride])));
    }
  }
  void addElements(T *to, const T *from, int64_t begin, int64_t end) const {
    alignas(64) C chunk[chunkSize];
    for (int64_t e = 0; e < runs.length; ++e) {
      PairTree<C, Plus> tree;
      for (int64_t at = begin; at < end; at += chunkSize) {
        int64_t n = end - at < chunkSize ? end - at : chunkSize;
        for (int64_t i = 0; i < n; ++i)
          chunk[i] = widen(from[takenAt(at + i) + e * runs.takenStride]);
        tree.add(foldChunk<Plus>(chunk, n));
      }
      T &sum = to[e * runs.stride];
      sum = narrow<T>(widen(sum) + tree.result());
    }
  }
  void addRows(T *to, const T *from, int64_t begin, int64_t end) {
    constexpr int64_t width = RowSum<T>::width;
    for (int64_t e = 0; e < runs.length; e += width) {
      int64_t n = runs.length - e < width ? runs.length - e : width;
      rows.start(n);
      for (int64_t i = begin; i < end; ++i)
        rows.add(from + takenAt(i) + e * runs.takenStride, runs.takenStride);
      const C *sums = rows.result();
      for (int64_t i = 0; i < n; ++i) {
        T &sum = to[(e + i) * runs.stride];
        sum = narrow<T>(widen(sum) + sums[i]);
      }
    }
  }

  const Places &places;
  const Runs &runs;
  const Grouping &groups;
  const T *value;
  T *out;
  RowSum<T> rows;
};

template <class T>
astra_outcome_t scatterAdd(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params, astra_kernel_fn ref) {
  const astra_arg_t &value = args[1], &out = args[2 + params[0]];
  if (astra_outcome_t outcome = copyAll<T>(call, args[0], out))
    return outcome;
  Places places(out, value, args + 2, params);
  Runs runs(out, value, args[2].rank, params);
  Grouping groups(call, places.size(), places.destinations());
  if (!groups.fits()) // by then the memory of a machine is not enough for more
    return ref(call, args, params);
  if (!groups)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  if (!groups.fill(places))
    return places.fail(call);
  if (runs.size() == 0)
    return ASTRA_OK;
  parallelFor(call, places.size(), elementGrain / (4 * runs.size() + 8) + 1,
              [&](int64_t begin, int64_t end) {
                Adder<T>(places, runs, groups,
                         static_cast<const T *>(value.data),
                         static_cast<T *>(out.data))
                    .run(begin, end);
              });
  return ASTRA_OK;
}

} // namespace

#define DEFINE(dtype)                                                          \
  extern "C" astra_outcome_t ASTRA_REF_NAME(scatter_add, dtype)(               \
      const astra_call_t *, const astra_arg_t *, const int64_t *);             \
  ASTRA_DEFINE_VARIANT(                                                        \
      scatter_add, dtype, runs,                                                \
      scatterAdd<T_##dtype>(call, args, params,                                \
                            ASTRA_REF_NAME(scatter_add, dtype)))
DEFINE(f32)
DEFINE(f64)
DEFINE(f16)
DEFINE(bf16)
