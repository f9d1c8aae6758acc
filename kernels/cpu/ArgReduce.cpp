// The place of the largest or smallest: of consecutive lines by chunks, whose
// extremes are found first and the place afterwards, in one chunk; of others
// many lines side by side, each lane with its best and its place. The drivers
// are one for all types whose values are of a width, and count in bytes.
#include "kernels/Ops.h"
#include "kernels/cpu/CopyAll.h"
#include "kernels/cpu/Fold.h"

using namespace astra;

namespace {

/// Integers are compared as signed ones after an exclusive or with `flip`,
/// which turns unsigned ones into signed ones and, by the complement, the
/// smallest into the largest.
template <class T> constexpr BitsOf<Compute<T>> flipFor(bool largest) {
  using K = BitsOf<Compute<T>>;
  constexpr K first = K(K(1) << (8 * sizeof(K) - 1));
  if (isFloat<T>)
    return 0;
  return K((largest ? K(0) : K(~K(0))) ^ (std::is_signed_v<T> ? K(0) : first));
}
template <class T>
using Compared =
    std::conditional_t<isInt<T>, std::make_signed_t<BitsOf<T>>, Compute<T>>;
template <class C> C flipped(BitsOf<C> x, BitsOf<C> flip) {
  if constexpr (isInt<C>)
    return C(x ^ flip);
  else
    return bitsAs<C>(x);
}

/// Is `a` to be taken instead of `best`, which comes earlier and is no NaN?
template <bool largest, class C> ASTRA_INLINE inline bool beats(C a, C best) {
  return largest ? !(a <= best) : !(a >= best);
}
template <bool largest, class V> ASTRA_INLINE inline V extreme(V a, V b) {
  return (largest ? a > b : a < b) ? a : b;
}

/// The best so far of a line, in which chunk it is, and whether there was a
/// NaN, which ends the line.
template <class K> struct Best {
  K value = 0;
  int64_t at = -1;
  bool isNan = false;
};

/// What the drivers, one for all types whose values have the bits K, call.
template <class K> struct Typed {
  int64_t size; // of an element
  bool direct;  // elements are values
  K flip;
  const char *name;
  void (*load)(const void *x, int64_t stride, int64_t n, K *to);
  void (*chunk)(const K *x, int64_t n, int64_t at, K flip, Best<K> &best);
  int64_t (*find)(const K *x, K flip, const Best<K> &best);
  /// Rows [begin, end), the first at x, of elements that may be better.
  void (*rows)(const K *x, int64_t stride, int64_t begin, int64_t end, K flip,
               K *best, int32_t *place);
};

/// Of n consecutive elements.
template <bool largest, class C>
void chunk(const BitsOf<C> *x, int64_t n, int64_t at, BitsOf<C> flip,
           Best<BitsOf<C>> &best) {
  C most = flipped<C>(x[0], flip);
  bool hasNan = false;
  int64_t k = 0;
  if (n >= laneCount) {
    using V = Lanes<C>;
    auto lanesAt = [&](int64_t i) {
      auto bits = loadLanes(x + i);
      return __builtin_bit_cast(V, isInt<C> ? bits ^ flip : bits);
    };
    V lanes = lanesAt(0);
    auto nan = lanes != lanes;
    for (k = laneCount; k + laneCount <= n; k += laneCount) {
      V v = lanesAt(k);
      nan |= v != v;
      lanes = extreme<largest>(v, lanes);
    }
    auto h16 = extreme<largest>(lanes.lo, lanes.hi);
    auto h8 = extreme<largest>(h16.lo, h16.hi);
    auto h4 = extreme<largest>(h8.lo, h8.hi);
    auto h2 = extreme<largest>(h4.lo, h4.hi);
    most = extreme<largest>(C(h2.lo), C(h2.hi));
    if constexpr (!isInt<C>)
      hasNan = __builtin_reduce_or(nan) != 0;
  }
  ASTRA_SCALAR_LOOP
  for (; k < n; ++k) {
    C v = flipped<C>(x[k], flip);
    hasNan |= isNan(v);
    most = extreme<largest>(v, most);
  }
  C before = bitsAs<C>(best.value);
  if (hasNan || best.at < 0 || (largest ? most > before : most < before))
    best = {bitsAs<BitsOf<C>>(most), at, hasNan};
}

/// The first of a chunk that is the best.
template <class C>
int64_t find(const BitsOf<C> *x, BitsOf<C> flip, const Best<BitsOf<C>> &best) {
  C value = bitsAs<C>(best.value);
  int64_t i = 0;
  while (best.isNan ? !isNan(flipped<C>(x[i], flip))
                    : flipped<C>(x[i], flip) != value)
    ++i;
  return i;
}

constexpr int64_t argWidth = 64;

template <bool largest, class C>
void rows(const BitsOf<C> *x, int64_t stride, int64_t begin, int64_t end,
          BitsOf<C> flip, BitsOf<C> *best, int32_t *place) {
  using Value = std::conditional_t<isInt<C>, BitsOf<C>, C>;
  const Value *from = reinterpret_cast<const Value *>(x);
  Value *to = reinterpret_cast<Value *>(best);
  auto compared = [=](Value v) {
    if constexpr (isInt<C>)
      return C(v ^ flip);
    else
      return v;
  };
  for (int64_t i = begin; i < end; ++i, from += stride) {
    ASTRA_VECTOR_LOOP
    for (int64_t c = 0; c < argWidth; ++c) {
      bool take =
          beats<largest>(compared(from[c]), compared(to[c])) && !isNan(to[c]);
      to[c] = take ? from[c] : to[c];
      place[c] = take ? int32_t(i) : place[c];
    }
  }
}

template <class T>
void load(const void *x, int64_t stride, int64_t n, BitsOf<Compute<T>> *to) {
  using Element = std::conditional_t<isSmallFloat<T>, T, BitsOf<T>>;
  loadRun(static_cast<const Element *>(x), stride, n,
          reinterpret_cast<Compute<Element> *>(to));
}

template <class T, bool largest>
constexpr Typed<BitsOf<Compute<T>>> typed = {
    sizeof(T),
    !isSmallFloat<T>,
    flipFor<T>(largest),
    largest ? "argmax" : "argmin",
    load<T>,
    chunk<largest || isInt<T>, Compared<T>>,
    find<Compared<T>>,
    rows<largest || isInt<T>, Compared<T>>};

template <class K>
int32_t argOfLine(const Typed<K> &type, const char *x, int64_t stride,
                  int64_t n) {
  alignas(64) K buffer[chunkSize];
  auto sizeAt = [&](int64_t at) {
    return n - at < chunkSize ? n - at : chunkSize;
  };
  auto chunkAt = [&](int64_t at) -> const K * {
    const char *from = x + at * stride * type.size;
    if (type.direct && stride == 1)
      return reinterpret_cast<const K *>(from);
    type.load(from, stride, sizeAt(at), buffer);
    return buffer;
  };
  Best<K> best;
  for (int64_t at = 0; at < n && !best.isNan; at += chunkSize)
    type.chunk(chunkAt(at), sizeAt(at), at, type.flip, best);
  return int32_t(best.at + type.find(chunkAt(best.at), type.flip, best));
}

/// The rows of lines that are consecutive themselves, turned a few at a time.
template <class K>
void argOfTurned(const astra_call_t *call, const Typed<K> &type, const K *x,
                 int64_t apart, int64_t n, K *best, int32_t *place) {
  constexpr int64_t together = 16;
  alignas(64) K turned[together * argWidth];
  int64_t shape[2] = {0, argWidth}, strides[2] = {1, apart};
  int64_t dense[2] = {argWidth, 1};
  for (int64_t i = 0; i < n; i += shape[0]) {
    shape[0] = n - i < together ? n - i : together;
    copyAll<K>(call, {const_cast<K *>(x + i), shape, strides, 0, 2},
               {turned, shape, dense, 0, 2});
    type.rows(turned, argWidth, i, i + shape[0], type.flip, best, place);
  }
}

/// Of `columns` lines that are `apart` from one another.
template <class K>
void argOfColumns(const astra_call_t *call, const Typed<K> &type, const char *x,
                  int64_t apart, int64_t columns, int64_t stride, int64_t n,
                  int32_t *out, int64_t strideOut) {
  // Turning is quicker where there are whole squares (Copy.cpp).
  bool turns = sizeof(K) <= 4 && n * int64_t(sizeof(K)) >= 32;
  alignas(64) K best[argWidth] = {}, row[argWidth] = {};
  alignas(64) int32_t place[argWidth] = {};
  type.load(x, apart, columns, best);
  if (type.direct && apart == 1 && columns == argWidth)
    type.rows(reinterpret_cast<const K *>(x) + stride, stride, 1, n, type.flip,
              best, place);
  else if (turns && type.direct && stride == 1 && columns == argWidth)
    argOfTurned(call, type, reinterpret_cast<const K *>(x), apart, n, best,
                place);
  else
    for (int64_t i = 1; i < n; ++i) {
      type.load(x + i * stride * type.size, apart, columns, row);
      type.rows(row, 0, i, i + 1, type.flip, best, place);
    }
  for (int64_t c = 0; c < columns; ++c)
    out[c * strideOut] = place[c];
}

template <class K>
ASTRA_SHARED astra_outcome_t argReduce(const astra_call_t *call,
                                       const astra_arg_t *args, int64_t axis,
                                       const Typed<K> &type) {
  Reduction r = reductionOf(args[0], args[1], &axis, 1);
  const Nest<2> &kept = r.kept;
  int64_t extent = args[0].shape[axis], stride = args[0].strides[axis];
  if (kept.size() == 0)
    return ASTRA_OK;
  if (extent == 0)
    return failOverNothing(call, type.name);
  if (extent > INT32_MAX)
    return call->api->fail(call, ASTRA_ERROR_OVERFLOW,
                           "an index of argmax or argmin does not fit in i32");
  bool alongLines =
      kept.innerExtent() < 8 || (stride == 1 && extent >= 4 * laneCount);
  int64_t si = kept.innerStride(0), so = kept.innerStride(1);
  const char *x = static_cast<const char *>(args[0].data);
  int32_t *out = static_cast<int32_t *>(args[1].data);
  auto run = [&](const int64_t (&offset)[2], int64_t count) {
    for (int64_t i = 0; i < count; i += alongLines ? 1 : argWidth) {
      const char *from = x + (offset[0] + i * si) * type.size;
      int32_t *to = out + offset[1] + i * so;
      if (alongLines)
        *to = argOfLine(type, from, stride, extent);
      else
        argOfColumns(call, type, from, si,
                     count - i < argWidth ? count - i : argWidth, stride,
                     extent, to, so);
    }
    return true;
  };
  parallelFor(call, kept.size(), elementGrain / (extent + 16) + 1,
              [&](int64_t begin, int64_t end) { kept.visit(begin, end, run); });
  return ASTRA_OK;
}

} // namespace

#define FOR_NUMBER(dtype)                                                      \
  ASTRA_DEFINE_VARIANT(                                                        \
      argmax, dtype, lanes,                                                    \
      argReduce(call, args, params[0], typed<T_##dtype, true>))                \
  ASTRA_DEFINE_VARIANT(                                                        \
      argmin, dtype, lanes,                                                    \
      argReduce(call, args, params[0], typed<T_##dtype, false>))
#include "kernels/cpu/ForNumbers.h"
