// scatter_add of floats: the places are ordered by destination (they stay where
// they ascend already, as those of a sorted index do; else by counting or by
// radix, both stable), and each group's canonical sum is added in one go, the
// columns of its rows side by side. Groups are independent work.
#include "kernels/Ops.h"
#include "kernels/cpu/CopyAll.h"
#include "kernels/cpu/Keys.h"
#include "kernels/cpu/Places.h"

using namespace astra;

namespace {

/// The places ordered by destination.
class Grouping {
public:
  Grouping(const astra_call_t *call, int64_t size)
      : size(size), positions(call, size), order(call, 2 * size), call(call) {}
  explicit operator bool() const { return positions && order; }

  /// False if an index is out of range.
  bool read(const Places &places) {
    bool fine = true;
    for (int64_t at = 0; at < size; at += Places::block)
      fine &= places.positions(at, Places::smaller(size - at),
                               positions.get() + at);
    return fine;
  }

  /// False if there is no memory.
  bool sort(int64_t destinations) {
    const int64_t *position = positions.get();
    bool ascends = true;
    for (int64_t i = 1; i < size; ++i)
      ascends &= position[i - 1] <= position[i];
    sorted = order.get();
    constexpr int64_t limit = int64_t(1) << 32;
    if (ascends)
      for (int64_t i = 0; i < size; ++i)
        sorted[i] = i;
    else if (destinations > 4 * size && destinations < limit && size < limit)
      sortByRadix(destinations);
    else
      return sortByCounting(destinations);
    return true;
  }

  int64_t placeAt(int64_t i) const { return sorted[i]; }
  int64_t positionAt(int64_t i) const { return positions.get()[sorted[i]]; }
  int64_t endOfGroup(int64_t i) const {
    int64_t end = i + 1;
    while (end < size && positionAt(end) == positionAt(i))
      ++end;
    return end;
  }

private:
  void sortByRadix(int64_t destinations) {
    uint64_t *pairs = reinterpret_cast<uint64_t *>(order.get());
    for (int64_t i = 0; i < size; ++i)
      pairs[i] = uint64_t(positions.get()[i]) << 32 | uint64_t(i);
    int bytes = (64 - __builtin_clzll(uint64_t(destinations))) / 8 + 1;
    pairs = radixSort(pairs, pairs + size, size, bytes < 4 ? bytes : 4,
                      [](uint64_t pair) { return uint32_t(pair >> 32); });
    for (int64_t i = 0; i < size; ++i)
      pairs[i] &= 0xffffffffu;
    sorted = reinterpret_cast<int64_t *>(pairs);
  }

  bool sortByCounting(int64_t destinations) {
    Scratch<int64_t> starts(call, destinations + 1);
    if (!starts)
      return false;
    int64_t *start = starts.get();
    for (int64_t d = 0; d <= destinations; ++d)
      start[d] = 0;
    for (int64_t i = 0; i < size; ++i)
      ++start[positions.get()[i] + 1];
    for (int64_t d = 0; d < destinations; ++d)
      start[d + 1] += start[d];
    for (int64_t i = 0; i < size; ++i)
      sorted[start[positions.get()[i]]++] = i;
    return true;
  }

  int64_t size;
  Scratch<int64_t> positions, order;
  const astra_call_t *call;
  int64_t *sorted = nullptr;
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
                           const int64_t *params) {
  const astra_arg_t &value = args[1], &out = args[2 + params[0]];
  if (astra_outcome_t outcome = copyAll<T>(call, args[0], out))
    return outcome;
  Places places(out, value, args + 2, params);
  Runs runs(out, value, args[2].rank, params);
  Grouping groups(call, places.size());
  if (!groups)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  if (!groups.read(places))
    return places.fail(call);
  if (runs.size() == 0)
    return ASTRA_OK;
  if (!groups.sort(places.destinations()))
    return ASTRA_ERROR_OUT_OF_MEMORY;
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
  ASTRA_DEFINE_VARIANT(scatter_add, dtype, runs,                               \
                       scatterAdd<T_##dtype>(call, args, params))
DEFINE(f32)
DEFINE(f64)
DEFINE(f16)
DEFINE(bf16)
