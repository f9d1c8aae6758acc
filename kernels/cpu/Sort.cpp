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

/// What a dtype adds to the sorting of its keys, of which all types of a width
/// have one: elements are read, moved and written as bits.
template <class K> struct Typed {
  /// The keys of n elements.
  void (*read)(const K *x, int64_t stride, int64_t n, K *keys);
  /// The elements of the sorted keys of a line.
  void (*write)(const K *x, int64_t strideIn, int64_t n, const K *sorted,
                K *out, int64_t strideOut);
};

template <class T>
void readKeys(const BitsOf<T> *x, int64_t stride, int64_t n, BitsOf<T> *keys) {
  if (stride == 1) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      keys[i] = sortKey(bitsAs<T>(x[i]));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    keys[i] = sortKey(bitsAs<T>(x[i * stride]));
}

template <class K> ASTRA_SHARED bool ascends(const K *keys, int64_t n) {
  K descents = 0;
  ASTRA_VECTOR_LOOP
  for (int64_t i = 1; i < n; ++i)
    descents |= K(keys[i] < keys[i - 1]);
  return !descents;
}

/// Puts the zeros and NaNs of a line, in their order, where the sorted keys
/// have them.
template <class T, class K>
void restoreBits(const K *x, int64_t strideIn, int64_t n, const K *sorted,
                 K *out, int64_t strideOut) {
  const K *end = sorted + n, *firstZero = sorted;
  const K zero = sortKey(T{}), nan = K(~K(0));
  for (int64_t rest = n; rest > 0;) { // where zeros begin
    int64_t half = rest / 2;
    bool below = firstZero[half] < zero;
    firstZero += below ? half + 1 : 0;
    rest = below ? rest - half - 1 : half;
  }
  bool hasZeros = firstZero != end && *firstZero == zero;
  bool hasNans = n > 0 && end[-1] == nan;
  if (!hasZeros && !hasNans)
    return;
  int64_t zeroAt = firstZero - sorted, nanAt = n;
  while (nanAt > 0 && sorted[nanAt - 1] == nan)
    --nanAt;
  for (int64_t i = 0; i < n; ++i) {
    K bits = x[i * strideIn], key = sortKey(bitsAs<T>(bits));
    if (key == zero)
      out[zeroAt++ * strideOut] = bits;
    else if (key == nan)
      out[nanAt++ * strideOut] = bits;
  }
}

template <class T, class K>
void writeValues(const K *x, int64_t strideIn, int64_t n, const K *sorted,
                 K *out, int64_t strideOut) {
  for (int64_t i = 0; i < n; ++i)
    out[i * strideOut] = bitsAs<K>(keyValue<T>(sorted[i]));
  if constexpr (isFloat<T>)
    restoreBits<T>(x, strideIn, n, sorted, out, strideOut);
}

template <class T>
constexpr Typed<BitsOf<T>> typed = {readKeys<T>, writeValues<T, BitsOf<T>>};

template <class K> struct Line {
  const K *x;
  int64_t stride, size;
};

template <class K> struct SortValues {
  using Out = K;
  using Memory = K;
  static void run(const Typed<K> &type, Line<K> line, K *keys, K *out,
                  int64_t stride) {
    int64_t n = line.size;
    const K *sorted = keys;
    type.read(line.x, line.stride, n, keys);
    if (!ascends(keys, n))
      sorted = sortByBytes<sizeof(K), Itself>(keys, keys + n, n);
    type.write(line.x, line.stride, n, sorted, out, stride);
  }
  static K take(Line<K> line, int64_t i) { return line.x[i * line.stride]; }
};

template <class K> struct SortPlaces {
  using Out = int32_t;
  using P = PlacedOf<K>;
  using Memory = typename P::Value;
  static void run(const Typed<K> &type, Line<K> line, Memory *memory,
                  int32_t *out, int64_t stride) {
    int64_t n = line.size;
    K keys[rankLimit];
    for (int64_t at = 0; at < n; at += rankLimit) {
      int64_t count = n - at < rankLimit ? n - at : rankLimit;
      type.read(line.x + at * line.stride, line.stride, count, keys);
      for (int64_t i = 0; i < count; ++i)
        memory[at + i] = P::make(keys[i], at + i);
    }
    const Memory *sorted = sortByBytes<sizeof(K), P>(memory, memory + n, n);
    for (int64_t i = 0; i < n; ++i)
      out[i * stride] = P::place(sorted[i]);
  }
  static int32_t take(Line<K>, int64_t i) { return int32_t(i); }
};

template <class How, class K>
void sortByRank(const Typed<K> &type, Line<K> line, typename How::Out *out,
                int64_t stride) {
  alignas(64) K keys[rankLimit], ranks[rankLimit];
  if (line.size > 1)
    type.read(line.x, line.stride, line.size, keys);
  if (line.size == 1 || ascends(keys, line.size)) {
    for (int64_t i = 0; i < line.size; ++i)
      out[i * stride] = How::take(line, i);
    return;
  }
  rankKeys(keys, line.size, ranks);
  for (int64_t i = 0; i < line.size; ++i)
    out[int64_t(ranks[i]) * stride] = How::take(line, i);
}

template <class How, class K>
ASTRA_SHARED astra_outcome_t sortLines(const astra_call_t *call,
                                       const astra_arg_t *args, int64_t axis,
                                       const Typed<K> &type) {
  using Out = typename How::Out;
  Lines lines = linesOf(args[0], args[1], axis);
  const Nest<2> &starts = lines.starts;
  int64_t n = lines.extent;
  if (n == 0)
    return ASTRA_OK;
  bool failed = false;
  parallelFor(
      call, starts.size(), elementGrain / (4 * n) + 1,
      [&](int64_t begin, int64_t end) {
        Scratch<typename How::Memory> memory(call, n <= rankLimit ? 0 : 2 * n);
        if (!memory) {
          __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
          return;
        }
        starts.visit(
            begin, end, [&](const int64_t (&offset)[2], int64_t count) {
              for (int64_t i = 0; i < count; ++i) {
                Line<K> line{static_cast<const K *>(args[0].data) + offset[0] +
                                 i * starts.innerStride(0),
                             lines.strideIn, n};
                Out *out = static_cast<Out *>(args[1].data) + offset[1] +
                           i * starts.innerStride(1);
                if (n <= rankLimit)
                  sortByRank<How>(type, line, out, lines.strideOut);
                else
                  How::run(type, line, memory.get(), out, lines.strideOut);
              }
              return true;
            });
      });
  return failed ? ASTRA_ERROR_OUT_OF_MEMORY : ASTRA_OK;
}

template <class T>
astra_outcome_t sortValues(const astra_call_t *call, const astra_arg_t *args,
                           int64_t axis) {
  return sortLines<SortValues<BitsOf<T>>>(call, args, axis, typed<T>);
}

template <class T>
astra_outcome_t sortPlaces(const astra_call_t *call, const astra_arg_t *args,
                           int64_t axis) {
  if (args[0].shape[axis] > INT32_MAX)
    return call->api->fail(call, ASTRA_ERROR_OVERFLOW,
                           "an index of argsort does not fit in i32");
  return sortLines<SortPlaces<BitsOf<T>>>(call, args, axis, typed<T>);
}

} // namespace

#define FOR_NUMBER(dtype)                                                      \
  ASTRA_DEFINE_VARIANT(sort, dtype, radix,                                     \
                       sortValues<T_##dtype>(call, args, params[0]))           \
  ASTRA_DEFINE_VARIANT(argsort, dtype, radix,                                  \
                       sortPlaces<T_##dtype>(call, args, params[0]))
#include "kernels/cpu/ForNumbers.h"
