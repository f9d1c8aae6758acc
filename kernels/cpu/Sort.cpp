// sort and argsort by the keys of Keys.h. A line is ranked or radix-sorted;
// values come back out of their keys, only zeros and NaNs, whose bits a key
// does not hold, out of the line itself.
#include "kernels/Call.h"
#include "kernels/cpu/Keys.h"

using namespace astra;

namespace {

struct Itself {
  template <class K> ASTRA_INLINE K operator()(K key) const { return key; }
};

/// A key with the place that it comes from. Up to 32 bits they share a word.
template <bool wide> struct Placed {
  using Value = uint64_t;
  ASTRA_INLINE static Value make(uint32_t key, int64_t i) {
    return uint64_t(key) << 32 | uint64_t(i);
  }
  ASTRA_INLINE uint32_t operator()(Value v) const { return uint32_t(v >> 32); }
  ASTRA_INLINE static int32_t place(Value v) { return int32_t(v); }
};
template <> struct Placed<true> {
  struct Value {
    uint64_t key, place;
  };
  ASTRA_INLINE static Value make(uint64_t key, int64_t i) {
    return {key, uint64_t(i)};
  }
  ASTRA_INLINE uint64_t operator()(const Value &v) const { return v.key; }
  ASTRA_INLINE static int32_t place(const Value &v) { return int32_t(v.place); }
};
template <class T> using PlacedOf = Placed<sizeof(T) == 8>;

/// One for each number of bytes, whatever the dtype.
template <int bytes, class KeyOf, class V>
ASTRA_SHARED V *sortByBytes(V *from, V *to, int64_t n) {
  return radixSort(from, to, n, bytes, KeyOf());
}

template <class T> struct Line {
  const T *x;
  int64_t stride, size;
  T operator[](int64_t i) const { return x[i * stride]; }
};

/// Writes the keys of a line; whether they ascend already.
template <class T> bool readKeys(Line<T> line, BitsOf<T> *keys) {
  if (line.stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < line.size; ++i)
      keys[i] = sortKey(line.x[i]);
  } else {
    for (int64_t i = 0; i < line.size; ++i)
      keys[i] = sortKey(line[i]);
  }
  BitsOf<T> descents = 0;
  ASTRA_VECTOR_LOOP
  for (int64_t i = 1; i < line.size; ++i)
    descents |= BitsOf<T>(keys[i] < keys[i - 1]);
  return !descents;
}

/// Puts the zeros and NaNs of the line, in their order, where the sorted keys
/// have them.
template <class T>
ASTRA_SHARED void restoreBits(Line<T> line, const BitsOf<T> *sorted, T *out,
                              int64_t stride) {
  const BitsOf<T> *end = sorted + line.size;
  const BitsOf<T> zero = sortKey(T{}), nan = BitsOf<T>(~BitsOf<T>(0));
  const BitsOf<T> *firstZero = sorted;
  for (int64_t n = line.size; n > 0;) { // where zeros begin
    int64_t half = n / 2;
    bool below = firstZero[half] < zero;
    firstZero += below ? half + 1 : 0;
    n = below ? n - half - 1 : half;
  }
  bool hasZeros = firstZero != end && *firstZero == zero;
  bool hasNans = line.size > 0 && end[-1] == nan;
  if (!hasZeros && !hasNans)
    return;
  int64_t zeroAt = firstZero - sorted, nanAt = line.size;
  while (nanAt > 0 && sorted[nanAt - 1] == nan)
    --nanAt;
  for (int64_t i = 0; i < line.size; ++i) {
    BitsOf<T> key = sortKey(line[i]);
    if (key == zero)
      out[zeroAt++ * stride] = line[i];
    else if (key == nan)
      out[nanAt++ * stride] = line[i];
  }
}

struct SortValues {
  template <class T> using Out = T;
  /// Elements of scratch for a line of n, of the type Memory.
  template <class T> using Memory = BitsOf<T>;
  static int64_t scratch(int64_t n) { return 2 * n; }

  template <class T>
  static void run(Line<T> line, BitsOf<T> *keys, T *out, int64_t stride) {
    int64_t n = line.size;
    const BitsOf<T> *sorted = keys;
    if (!readKeys(line, keys))
      sorted = sortByBytes<sizeof(T), Itself>(keys, keys + n, n);
    for (int64_t i = 0; i < n; ++i)
      out[i * stride] = keyValue<T>(sorted[i]);
    if constexpr (isFloat<T>)
      restoreBits(line, sorted, out, stride);
  }
  template <class T> static T take(Line<T> line, int64_t i) { return line[i]; }
};

struct SortPlaces {
  template <class T> using Out = int32_t;
  template <class T> using Memory = typename PlacedOf<T>::Value;
  static int64_t scratch(int64_t n) { return 2 * n; }

  template <class T>
  static void run(Line<T> line, Memory<T> *memory, int32_t *out,
                  int64_t stride) {
    int64_t n = line.size;
    for (int64_t i = 0; i < n; ++i)
      memory[i] = PlacedOf<T>::make(sortKey(line[i]), i);
    const Memory<T> *sorted =
        sortByBytes<sizeof(T), PlacedOf<T>>(memory, memory + n, n);
    for (int64_t i = 0; i < n; ++i)
      out[i * stride] = PlacedOf<T>::place(sorted[i]);
  }
  template <class T> static int32_t take(Line<T>, int64_t i) {
    return int32_t(i);
  }
};

template <class How, class T>
void sortByRank(Line<T> line, typename How::template Out<T> *out,
                int64_t stride) {
  alignas(64) BitsOf<T> keys[rankLimit], ranks[rankLimit];
  if (readKeys(line, keys)) {
    for (int64_t i = 0; i < line.size; ++i)
      out[i * stride] = How::take(line, i);
    return;
  }
  rankKeys(keys, line.size, ranks);
  for (int64_t i = 0; i < line.size; ++i)
    out[int64_t(ranks[i]) * stride] = How::take(line, i);
}

template <class How, class T>
astra_outcome_t sortLines(const astra_call_t *call, const astra_arg_t *args,
                          int64_t axis) {
  using Out = typename How::template Out<T>;
  Lines lines = linesOf(args[0], args[1], axis);
  const Nest<2> &starts = lines.starts;
  int64_t n = lines.extent;
  if (n == 0)
    return ASTRA_OK;
  bool failed = false;
  parallelFor(call, starts.size(), elementGrain / (4 * n) + 1,
              [&](int64_t begin, int64_t end) {
                Scratch<typename How::template Memory<T>> memory(
                    call, n <= rankLimit ? 0 : How::scratch(n));
                if (!memory) {
                  failed = true;
                  return;
                }
                starts.visit(
                    begin, end, [&](const int64_t (&offset)[2], int64_t count) {
                      for (int64_t i = 0; i < count; ++i) {
                        Line<T> line{static_cast<const T *>(args[0].data) +
                                         offset[0] + i * starts.innerStride(0),
                                     lines.strideIn, n};
                        Out *out = static_cast<Out *>(args[1].data) +
                                   offset[1] + i * starts.innerStride(1);
                        if (n <= rankLimit)
                          sortByRank<How>(line, out, lines.strideOut);
                        else
                          How::run(line, memory.get(), out, lines.strideOut);
                      }
                      return true;
                    });
              });
  return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
}

template <class T>
astra_outcome_t argSort(const astra_call_t *call, const astra_arg_t *args,
                        int64_t axis) {
  if (args[0].shape[axis] > INT32_MAX)
    return call->api->fail(call, ASTRA_ERROR_OVERFLOW,
                           "an index of argsort does not fit in i32");
  return sortLines<SortPlaces, T>(call, args, axis);
}

} // namespace

#define FOR_NUMBER(dtype)                                                      \
  ASTRA_DEFINE_VARIANT(                                                        \
      sort, dtype, radix,                                                      \
      sortLines<SortValues, T_##dtype>(call, args, params[0]))                 \
  ASTRA_DEFINE_VARIANT(argsort, dtype, radix,                                  \
                       argSort<T_##dtype>(call, args, params[0]))
#include "kernels/cpu/ForNumbers.h"
