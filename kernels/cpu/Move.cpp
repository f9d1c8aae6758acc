// Kernels that move elements: select, and conversion between dtypes. A
// conversion runs over tiles of consecutive elements, in one step or in two
// through a type between that gives the same bits; what is not consecutive
// goes through buffers in cache.
#include "kernels/Ops.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

template <class T>
astra_outcome_t select(const astra_call_t *call, const astra_arg_t *args) {
  Nest<4> nest = nestOf<4>(args);
  int64_t sc = nest.innerStride(0), sa = nest.innerStride(1),
          sb = nest.innerStride(2), so = nest.innerStride(3);
  bool dense = sc == 1 && sa == 1 && sb == 1 && so == 1;
  auto run = [&, sc, sa, sb, so](const int64_t (&offset)[4], int64_t count) {
    const uint8_t *c = static_cast<const uint8_t *>(args[0].data) + offset[0];
    const T *a = static_cast<const T *>(args[1].data) + offset[1];
    const T *b = static_cast<const T *>(args[2].data) + offset[2];
    T *out = static_cast<T *>(args[3].data) + offset[3];
    if (dense) {
      ASTRA_VECTOR_LOOP
      for (int64_t i = 0; i < count; ++i)
        out[i] = c[i] ? a[i] : b[i];
      return true;
    }
    for (int64_t i = 0; i < count; ++i)
      out[i * so] = c[i * sc] ? a[i * sa] : b[i * sb];
    return true;
  };
  parallelFor(call, nest.size(), elementGrain,
              [&](int64_t begin, int64_t end) { nest.visit(begin, end, run); });
  return ASTRA_OK;
}

//===-- Conversion --------------------------------------------------------===//

/// Converts n consecutive elements.
using Step = void (*)(const void *from, void *to, int64_t n);

template <class From, class To>
void convertRun(const void *from, void *to, int64_t n) {
  const From *in = static_cast<const From *>(from);
  To *out = static_cast<To *>(to);
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    out[i] = convert<To>(in[i]);
}

/// The steps of a conversion; the second is null if there is but one.
struct Steps {
  Step first, second;
  int64_t sizeFrom, sizeTo;
};

/// Moves a run of elements of so many bytes to or from consecutive memory.
void gatherRun(const void *from, int64_t stride, int64_t n, int64_t size,
               void *to) {
  switch (size) {
  case 1:
    return loadRun(static_cast<const uint8_t *>(from), stride, n,
                   static_cast<uint8_t *>(to));
  case 2:
    return loadRun(static_cast<const uint16_t *>(from), stride, n,
                   static_cast<uint16_t *>(to));
  case 4:
    return loadRun(static_cast<const uint32_t *>(from), stride, n,
                   static_cast<uint32_t *>(to));
  default:
    return loadRun(static_cast<const uint64_t *>(from), stride, n,
                   static_cast<uint64_t *>(to));
  }
}
void spreadRun(const void *from, int64_t n, int64_t size, void *to,
               int64_t stride) {
  switch (size) {
  case 1:
    return storeRun(static_cast<const uint8_t *>(from), n,
                    static_cast<uint8_t *>(to), stride);
  case 2:
    return storeRun(static_cast<const uint16_t *>(from), n,
                    static_cast<uint16_t *>(to), stride);
  case 4:
    return storeRun(static_cast<const uint32_t *>(from), n,
                    static_cast<uint32_t *>(to), stride);
  default:
    return storeRun(static_cast<const uint64_t *>(from), n,
                    static_cast<uint64_t *>(to), stride);
  }
}

/// Converts n elements, at most a tile of them unless all is consecutive and
/// there is one step.
void convertTile(const Steps &steps, const char *in, int64_t si, char *out,
                 int64_t so, int64_t n) {
  alignas(64) uint64_t buffers[3][tileSize];
  const void *from = in;
  if (si != 1) {
    gatherRun(in, si, n, steps.sizeFrom, buffers[0]);
    from = buffers[0];
  }
  Step last = steps.first;
  if (steps.second) {
    steps.first(from, buffers[1], n);
    from = buffers[1];
    last = steps.second;
  }
  if (so == 1)
    return last(from, out, n);
  last(from, buffers[2], n);
  spreadRun(buffers[2], n, steps.sizeTo, out, so);
}

ASTRA_SHARED astra_outcome_t convertAll(const astra_call_t *call,
                                        const astra_arg_t *args, Step first,
                                        Step second, int64_t sizeFrom,
                                        int64_t sizeTo) {
  const Steps steps = {first, second, sizeFrom, sizeTo};
  Nest<2> nest = nestOf<2>(args);
  int64_t si = nest.innerStride(0), so = nest.innerStride(1);
  bool whole = si == 1 && so == 1 && !steps.second;
  auto run = [&](const int64_t (&offset)[2], int64_t count) {
    const char *in =
        static_cast<const char *>(args[0].data) + offset[0] * steps.sizeFrom;
    char *out = static_cast<char *>(args[1].data) + offset[1] * steps.sizeTo;
    int64_t length = whole ? count : tileSize;
    for (int64_t at = 0; at < count; at += length)
      convertTile(steps, in + at * si * steps.sizeFrom, si,
                  out + at * so * steps.sizeTo, so,
                  count - at < length ? count - at : length);
    return true;
  };
  parallelFor(call, nest.size(), elementGrain,
              [&](int64_t begin, int64_t end) { nest.visit(begin, end, run); });
  return ASTRA_OK;
}

/// The type between, or void. Small floats widen exactly, and what an integer
/// is rounded from once, float or double, holds it exactly; 64-bit ones it may
/// not.
template <class From, class To> constexpr auto typeBetween() {
  constexpr bool narrows = isSmallFloat<To>;
  if constexpr (isSmallFloat<From> && (isInt<To> || std::is_same_v<To, double>))
    return float();
  else if constexpr (narrows && isInt<Signless<From>> && sizeof(From) == 4)
    return double();
  else if constexpr (narrows && !isFloat<From> && sizeof(From) < 4)
    return float();
}

/// Of the signs of integers among themselves only that of one that widens
/// matters.
template <class From, class To>
astra_outcome_t convertTo(const astra_call_t *call, const astra_arg_t *args) {
  using Between = decltype(typeBetween<From, To>());
  constexpr int64_t sizeFrom = sizeof(From), sizeTo = sizeof(To);
  if constexpr (std::is_void_v<Between>) {
    constexpr bool keepsSign = isFloat<To> || (isInt<To> && sizeFrom < sizeTo);
    using Source = std::conditional_t<keepsSign, From, Signless<From>>;
    using Target = std::conditional_t<isFloat<From>, To, Signless<To>>;
    return convertAll(call, args, convertRun<Source, Target>, nullptr, sizeFrom,
                      sizeTo);
  } else {
    return convertAll(call, args, convertRun<From, Between>,
                      convertRun<Between, To>, sizeFrom, sizeTo);
  }
}

} // namespace

#define SELECT(op, width, version, doc)                                        \
  ASTRA_DEFINE_VARIANT(op, width, 1d, select<T_##width>(call, args))
#define CONVERT(from, to)                                                      \
  ASTRA_DEFINE_VARIANT(convert, from##_##to, 1d,                               \
                       (convertTo<T_##from, T_##to>(call, args)))
#include "kernels/kernels.def"
