// scatter_add of floats: the places are ordered by destination (they stay where
// they ascend already, as those of a sorted index do; else a radix sort, which
// is stable), and each group's canonical sum is added in one go, the columns of
// its rows side by side. Single elements, of which there are many, are put in
// order themselves: first into buckets of neighbouring destinations, then each
// bucket where it fits in cache. Groups and buckets are independent work. Where
// every element has a destination of its own and they ascend, as those of one
// element in each row do, there is nothing to put in order.
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
    const C *from = fresh;
    if constexpr (!isSmallFloat<T>)
      if (stride == 1)
        from = row;
    if (from == fresh)
      loadRun(row, stride, n, fresh);
    sum(lane, used < laneCount ? zeros : lane, from);
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
    if (n == width)
      sumOf(to, a, b, width);
    else
      sumOf(to, a, b, n);
  }
  ASTRA_SHARED static void sumOf(C *to, const C *a, const C *b, int64_t n) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
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
      for (int64_t i = begin; i < end; ++i) {
        if (i + ahead < end)
          prefetch(from + takenAt(i + ahead) + e * runs.takenStride, n);
        rows.add(from + takenAt(i) + e * runs.takenStride, runs.takenStride);
      }
      const C *sums = rows.result();
      for (int64_t i = 0; i < n; ++i) {
        T &sum = to[(e + i) * runs.stride];
        sum = narrow<T>(widen(sum) + sums[i]);
      }
    }
  }
  /// Rows lie anywhere: the processor cannot foresee them.
  static constexpr int64_t ahead = 6;
  void prefetch(const T *row, int64_t n) const {
    for (int64_t i = 0; i < n; i += 64 / int64_t(sizeof(T)))
      __builtin_prefetch(row + i * runs.takenStride);
  }

  const Places &places;
  const Runs &runs;
  const Grouping &groups;
  const T *value;
  T *out;
  RowSum<T> rows;
};

/// One element at each place, in buckets of neighbouring destinations.
template <class C> class Elements {
public:
  Elements(const astra_call_t *call, const Places &places)
      : places(places), stride(places.positionStride()),
        destinations(places.destinations()), shift(shiftFor(destinations)),
        buckets((destinations >> shift) + 1), begins(call, buckets + 2),
        items(call, places.size()), memory(call, places.size() + 4) {}
  explicit operator bool() const { return begins && items && memory; }
  static bool pays(const Places &places) {
    int64_t size = places.size(), destinations = places.destinations();
    return places.positionStride() != Places::none && size > 0 &&
           size >> 31 == 0 && destinations <= 16 * size &&
           destinations < (mostWidth << mostBuckets);
  }

  /// False if an index is out of range.
  bool fill(const C *value) {
    uint32_t *begin = begins.get();
    std::memset(begin, 0, size_t(buckets + 2) * sizeof(uint32_t));
    if (buckets > 1 && !visit([&](int64_t, int64_t n, const int64_t *to) {
          for (int64_t i = 0; i < n; ++i)
            ++begin[(to[i] >> shift) + 2];
        }))
      return false;
    sumUp(begin, buckets + 2);
    Item *item = items.get();
    bool fine = visit([&](int64_t at, int64_t n, const int64_t *to) {
      int64_t ranks[Places::block];
      for (int64_t i = 0; i < n; ++i)
        ranks[i] = buckets > 1 ? begin[(to[i] >> shift) + 1]++ : at + i;
      for (int64_t i = 0; i < n; ++i)
        __builtin_prefetch(item + ranks[i], 1);
      for (int64_t i = 0; i < n; ++i)
        item[ranks[i]] = {uint32_t(to[i]), value[places.takenOffset(at + i)]};
    });
    if (buckets == 1)
      begin[1] = uint32_t(places.size());
    return fine;
  }

  void run(const astra_call_t *call, C *out) const {
    int64_t each = places.size() / buckets + (int64_t(1) << shift);
    parallelFor(call, buckets, elementGrain / each + 1,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    addBucket(i, out);
                });
  }

private:
  struct Item {
    uint32_t destination;
    C value;
  };
  static constexpr int64_t mostWidth = 16384;
  static constexpr int mostBuckets = 10, leastShift = 12; // logarithms

  static int shiftFor(int64_t destinations) {
    int shift = leastShift;
    while (destinations >> shift >> mostBuckets)
      ++shift;
    return shift;
  }
  static void sumUp(uint32_t *counts, int64_t n) {
    for (int64_t i = 1; i < n; ++i)
      counts[i] += counts[i - 1];
  }

  /// Gives the destinations of a block of places at a time; false if an index
  /// is out of range.
  template <class Body> bool visit(const Body &body) const {
    int64_t to[Places::block];
    for (int64_t at = 0; at < places.size(); at += Places::block) {
      int64_t n = Places::smaller(places.size() - at);
      if (!places.positions(at, n, to))
        return false;
      body(at, n, to);
    }
    return true;
  }

  void addBucket(int64_t index, C *out) const {
    int64_t first = index << shift, width = int64_t(1) << shift;
    const Item *begin = items.get() + begins.get()[index];
    const Item *end = items.get() + begins.get()[index + 1];
    if (begin == end)
      return;
    width = destinations - first < width ? destinations - first : width;
    uint32_t starts[mostWidth + 2];
    std::memset(starts, 0, size_t(width + 2) * sizeof(uint32_t));
    for (const Item *item = begin; item != end; ++item)
      ++starts[item->destination - first + 2];
    sumUp(starts, width + 2);
    C *sorted = memory.get() + begins.get()[index];
    constexpr int64_t together = 64; // what is written lies anywhere
    for (const Item *item = begin; item < end; item += together) {
      int64_t ranks[together],
          n = end - item < together ? end - item : together;
      for (int64_t i = 0; i < n; ++i) {
        ranks[i] = starts[item[i].destination - first + 1]++;
        __builtin_prefetch(sorted + ranks[i], 1);
      }
      for (int64_t i = 0; i < n; ++i)
        sorted[ranks[i]] = item[i].value;
    }
    addGroups(starts, sorted, out + first * stride, stride, width,
              4 * (end - begin) < width);
  }
  static void addGroups(const uint32_t *starts, const C *sorted, C *to,
                        int64_t stride, int64_t width, bool sparse) {
    for (int64_t d = 0; d < width; ++d, to += stride) {
      int64_t n = starts[d + 1] - starts[d];
      if (sparse && n == 0)
        continue;
      const C *x = sorted + starts[d];
      C old = *to, sum = old + (n > 4 ? sumOf(x, n) : sumOfFew(x, n));
      BitsOf<C> kept = BitsOf<C>(0) - BitsOf<C>(n == 0);
      *to = bitsAs<C>((bitsAs<BitsOf<C>>(old) & kept) |
                      (bitsAs<BitsOf<C>>(sum) & ~kept));
    }
  }
  /// x where it is one of the n.
  ASTRA_INLINE static C among(C x, bool is) {
    return bitsAs<C>(bitsAs<BitsOf<C>>(x) & BitsOf<C>(0 - BitsOf<C>(is)));
  }
  /// The canonical sum of at most four, of which all may be read. It begins
  /// with +0, so those that are missing change nothing. How many there are
  /// cannot be foreseen: no branches.
  ASTRA_INLINE static C sumOfFew(const C *x, int64_t n) {
    C even = among(x[0], n > 0) + among(x[2], n > 2);
    return C(0) + (even + (among(x[1], n > 1) + among(x[3], n > 3)));
  }
  static C sumOf(const C *x, int64_t n) {
    PairTree<C, Plus> tree;
    for (int64_t at = 0; at < n; at += chunkSize)
      tree.add(
          foldChunk<Plus>(x + at, n - at < chunkSize ? n - at : chunkSize));
    return tree.result();
  }

  const Places &places;
  int64_t stride, destinations;
  int shift; // of a destination to its bucket
  int64_t buckets;
  Scratch<uint32_t> begins; // of buckets among the items
  Scratch<Item> items;
  Scratch<C> memory;
};

/// Destinations that ascend, none twice.
ASTRA_SHARED bool ascends(const Places &places) {
  int64_t to[Places::block], before = -1;
  for (int64_t at = 0; at < places.size(); at += Places::block) {
    int64_t n = Places::smaller(places.size() - at);
    if (!places.positions(at, n, to))
      return false;
    for (int64_t i = 0; i < n; before = to[i++])
      if (to[i] <= before)
        return false;
  }
  return true;
}

/// One element at each place, none at the place of another. The sum of a single
/// value is +0 + x.
template <class C>
ASTRA_SHARED void addEach(const astra_call_t *call, const Places &places,
                          const C *value, C *out) {
  int64_t stride = places.positionStride();
  parallelFor(call, places.size(), elementGrain / 4,
              [&](int64_t begin, int64_t end) {
                int64_t to[Places::block];
                for (int64_t at = begin; at < end; at += Places::block) {
                  int64_t n = Places::smaller(end - at);
                  places.positions(at, n, to);
                  for (int64_t i = 0; i < n; ++i) {
                    C &sum = out[to[i] * stride];
                    sum = sum + (C(0) + value[places.takenOffset(at + i)]);
                  }
                }
              });
}

template <class C>
ASTRA_SHARED astra_outcome_t addElements(const astra_call_t *call,
                                         const Places &places, const C *value,
                                         C *out) {
  if (ascends(places)) {
    addEach(call, places, value, out);
    return ASTRA_OK;
  }
  Elements<C> elements(call, places);
  if (!elements)
    return ASTRA_ERROR_OUT_OF_MEMORY;
  if (!elements.fill(value))
    return places.fail(call);
  elements.run(call, out);
  return ASTRA_OK;
}

template <class T>
astra_outcome_t scatterAdd(const astra_call_t *call, const astra_arg_t *args,
                           const int64_t *params, astra_kernel_fn ref) {
  const astra_arg_t &value = args[1], &out = args[2 + params[0]];
  if (astra_outcome_t outcome = copyAll<T>(call, args[0], out))
    return outcome;
  Places places(out, value, args + 2, params);
  Runs runs(out, value, args[2].rank, params);
  if constexpr (!isSmallFloat<T>)
    if (runs.isOneElement() && Elements<T>::pays(places))
      return addElements(call, places, static_cast<const T *>(value.data),
                         static_cast<T *>(out.data));
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
