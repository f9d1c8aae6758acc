// Kernels without inputs to read: Threefry's words, a vector of counters at a
// time, and iota.
#include "kernels/Threefry.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

Pair32 keyOf(const astra_arg_t &key) {
  const uint32_t *words = static_cast<const uint32_t *>(key.data);
  return {words[0], words[key.strides[0]]};
}

/// The blocks of n <= tileSize counters from `counter` on, a vectorised loop
/// where their high word is one.
struct Words {
  alignas(64) uint32_t first[tileSize], second[tileSize];

  void fill(Pair32 key, uint64_t counter, int64_t n) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) {
      Pair32 word = threefry(key, counter + uint64_t(i));
      first[i] = word.first;
      second[i] = word.second;
    }
  }
};

/// Calls take(words, element, n) for the elements [begin, end).
template <class Take>
void forEachTile(Pair32 key, int64_t begin, int64_t end, Take take) {
  Words words;
  for (int64_t at = begin; at < end; at += tileSize) {
    int64_t n = end - at < tileSize ? end - at : tileSize;
    words.fill(key, uint64_t(at), n);
    take(words, at, n);
  }
}

astra_outcome_t randomBits(const astra_call_t *call, const astra_arg_t *args) {
  Pair32 key = keyOf(args[0]);
  Nest<1> nest = nestOf<1>(args + 1);
  uint32_t *out = static_cast<uint32_t *>(args[1].data);
  auto take = [&](Words &words, int64_t at, int64_t n) {
    ASTRA_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
      words.first[i] ^= words.second[i];
    const uint32_t *from = words.first;
    nest.walk(at, at + n, [&](const int64_t (&offset)[1], int64_t count) {
      storeRun(from, count, out + offset[0], nest.innerStride(0));
      from += count;
      return true;
    });
  };
  parallelFor(call, nest.size(), elementGrain, [&](int64_t begin, int64_t end) {
    forEachTile(key, begin, end, take);
  });
  return ASTRA_OK;
}

astra_outcome_t randomSplit(const astra_call_t *call, const astra_arg_t *args) {
  Pair32 key = keyOf(args[0]);
  const astra_arg_t &out = args[1];
  auto take = [&](const Words &words, int64_t at, int64_t n) {
    uint32_t *to = static_cast<uint32_t *>(out.data) + at * out.strides[0];
    for (int64_t i = 0; i < n; ++i) {
      to[i * out.strides[0]] = words.first[i];
      to[i * out.strides[0] + out.strides[1]] = words.second[i];
    }
  };
  parallelFor(
      call, out.shape[0], elementGrain,
      [&](int64_t begin, int64_t end) { forEachTile(key, begin, end, take); });
  return ASTRA_OK;
}

/// The numbers first, first + step, ... converted.
template <class T>
ASTRA_SHARED void countUp(int64_t first, int64_t step, T *out, int64_t stride,
                          int64_t n) {
  using C = Compute<T>;
  alignas(64) C values[tileSize];
  // Up to here every integer is a float, and fits in 32 bits.
  bool exact = first + n <= int64_t(1) << 24;
  for (int64_t at = 0; at < n; at += tileSize) {
    int64_t size = n - at < tileSize ? n - at : tileSize;
    int64_t start = first + at * step;
    if (exact) {
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < size; ++i)
        values[i] = C(int32_t(start) + int32_t(i) * int32_t(step));
    } else {
      for (int64_t i = 0; i < size; ++i)
        values[i] = widen(convert<T>(start + i * step));
    }
    storeRun(values, size, out + at * stride, stride);
  }
}

/// Writes the elements at positions [begin, end) of an iota whose value changes
/// after `inner` elements and begins anew after `inner * extent`.
template <class T>
ASTRA_SHARED void writePieces(const Nest<1> &nest, T *out, int64_t begin,
                              int64_t end, int64_t inner, int64_t extent) {
  int64_t position = begin, stride = nest.innerStride(0);
  nest.walk(begin, end, [&](const int64_t (&offset)[1], int64_t count) {
    // Pieces along which the value counts up (inner 1) or stays.
    for (int64_t at = 0; at < count;) {
      int64_t value = position / inner % extent;
      int64_t left = inner == 1 ? extent - value : inner - position % inner;
      int64_t n = left < count - at ? left : count - at;
      countUp(value, int64_t(inner == 1), out + offset[0] + at * stride, stride,
              n);
      position += n;
      at += n;
    }
    return true;
  });
}

/// The same where a period is short: pieces of a few periods in a row.
template <class T>
ASTRA_SHARED void writePeriods(const Nest<1> &nest, T *out, int64_t begin,
                               int64_t end, int64_t inner, int64_t extent) {
  int64_t period = inner * extent, length = tileSize / period * period;
  Compute<T> values[tileSize];
  for (int64_t i = 0; i < length; ++i)
    values[i] = widen(convert<T>(i / inner % extent));
  int64_t phase = begin % period, stride = nest.innerStride(0);
  nest.walk(begin, end, [&](const int64_t (&offset)[1], int64_t count) {
    for (int64_t at = 0; at < count;) {
      int64_t n = length - phase < count - at ? length - phase : count - at;
      storeRun(values + phase, n, out + offset[0] + at * stride, stride);
      at += n;
      phase = phase + n == length ? 0 : phase + n;
    }
    return true;
  });
}

template <class T>
astra_outcome_t iota(const astra_call_t *call, const astra_arg_t *args,
                     int64_t axis) {
  Nest<1> nest = nestOf<1>(args);
  int64_t inner = 1, extent = args[0].shape[axis];
  for (uint32_t d = uint32_t(axis) + 1; d < args[0].rank; ++d)
    inner *= args[0].shape[d];
  T *out = static_cast<T *>(args[0].data);
  // A tile of them is worth its divisions where it is written many times.
  bool isShort = inner * extent <= tileSize / 4 && nest.size() >= 8 * tileSize;
  parallelFor(call, nest.size(), elementGrain, [&](int64_t begin, int64_t end) {
    if (isShort)
      writePeriods(nest, out, begin, end, inner, extent);
    else
      writePieces(nest, out, begin, end, inner, extent);
  });
  return ASTRA_OK;
}

} // namespace

ASTRA_DEFINE_VARIANT(random_bits, u32, 1d, randomBits(call, args))
ASTRA_DEFINE_VARIANT(random_split, u32, 1d, randomSplit(call, args))

#define IOTA(op, dtype, version, doc)                                          \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d,                                          \
                       iota<Signless<T_##dtype>>(call, args, params[0]))
#include "kernels/kernels.def"
