// Kernels that move elements: copy, select, and conversion between dtypes.
#include "kernels/Ops.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

/// As loadRun and storeRun in one: out[i * so] = in[i * si].
template <class T>
void moveRun(const T *in, int64_t si, T *out, int64_t so, int64_t n) {
  if (so == 1)
    loadRun(in, si, n, out);
  else
    for (int64_t i = 0; i < n; ++i)
      out[i * so] = in[i * si];
}

/// A plane in which each view is consecutive along another axis, in squares
/// that fit in cache.
template <class T>
void movePlane(const T *in, T *out, const int64_t (&shape)[2],
               const int64_t (&si)[2], const int64_t (&so)[2]) {
  constexpr int64_t square = 32;
  for (int64_t i = 0; i < shape[0]; i += square)
    for (int64_t j = 0; j < shape[1]; j += square) {
      int64_t iEnd = i + square < shape[0] ? i + square : shape[0];
      int64_t n = j + square < shape[1] ? square : shape[1] - j;
      for (int64_t k = i; k < iEnd; ++k)
        moveRun(in + k * si[0] + j * si[1], si[1], out + k * so[0] + j * so[1],
                so[1], n);
    }
}

template <class T>
astra_outcome_t copy(const astra_call_t *call, const astra_arg_t *args) {
  const T *in = static_cast<const T *>(args[0].data);
  T *out = static_cast<T *>(args[1].data);
  if (in == out) // then it is one view
    return ASTRA_OK;
  int transposed = -1; // the axis along which `in` is consecutive
  uint32_t rank = args[0].rank;
  if (rank >= 2 && args[1].strides[rank - 1] == 1 &&
      args[0].strides[rank - 1] != 1 && args[0].shape[rank - 1] > 1)
    for (uint32_t d = 0; d + 1 < rank; ++d)
      if (args[0].strides[d] == 1 && args[0].shape[d] > 1)
        transposed = int(d);
  if (transposed < 0) {
    Nest<2> nest = nestOf<2>(args);
    int64_t si = nest.innerStride(0), so = nest.innerStride(1);
    parallelFor(
        call, nest.size(), elementGrain, [&](int64_t begin, int64_t end) {
          nest.walk(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
            moveRun(in + offset[0], si, out + offset[1], so, count);
            return true;
          });
        });
    return ASTRA_OK;
  }
  uint32_t t = uint32_t(transposed), last = rank - 1;
  Nest<2> planes;
  for (uint32_t d = 0; d < last; ++d)
    if (d != t)
      planes.addAxis(args[0].shape[d],
                     {args[0].strides[d], args[1].strides[d]});
  int64_t shape[2] = {args[0].shape[t], args[0].shape[last]};
  int64_t si[2] = {args[0].strides[t], args[0].strides[last]};
  int64_t so[2] = {args[1].strides[t], args[1].strides[last]};
  parallelFor(call, planes.size(), elementGrain / (shape[0] * shape[1] + 1) + 1,
              [&](int64_t begin, int64_t end) {
                for (int64_t p = begin; p < end; ++p) {
                  int64_t offset[2];
                  planes.offsetsAt(p, offset);
                  movePlane(in + offset[0], out + offset[1], shape, si, so);
                }
              });
  return ASTRA_OK;
}

template <class T>
astra_outcome_t select(const astra_call_t *call, const astra_arg_t *args) {
  Nest<4> nest = nestOf<4>(args);
  int64_t sc = nest.innerStride(0), sa = nest.innerStride(1),
          sb = nest.innerStride(2), so = nest.innerStride(3);
  bool dense = sc == 1 && sa == 1 && sb == 1 && so == 1;
  auto run = [&](const int64_t (&offset)[4], int64_t count) {
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
              [&](int64_t begin, int64_t end) { nest.walk(begin, end, run); });
  return ASTRA_OK;
}

template <class From, class To>
astra_outcome_t convertAll(const astra_call_t *call, const astra_arg_t *args) {
  Nest<2> nest = nestOf<2>(args);
  int64_t si = nest.innerStride(0), so = nest.innerStride(1);
  parallelFor(call, nest.size(), elementGrain, [&](int64_t begin, int64_t end) {
    nest.walk(begin, end, [&](const int64_t (&offset)[2], int64_t count) {
      const From *in = static_cast<const From *>(args[0].data) + offset[0];
      To *out = static_cast<To *>(args[1].data) + offset[1];
      if (si == 1 && so == 1) {
        ASTRA_VECTOR_LOOP
        for (int64_t i = 0; i < count; ++i)
          out[i] = convert<To>(in[i]);
        return true;
      }
      for (int64_t i = 0; i < count; ++i)
        out[i * so] = convert<To>(in[i * si]);
      return true;
    });
  });
  return ASTRA_OK;
}

} // namespace

#define COPY(op, width, version, doc)                                          \
  ASTRA_DEFINE_VARIANT(op, width, 1d, copy<T_##width>(call, args))
#define SELECT(op, width, version, doc)                                        \
  ASTRA_DEFINE_VARIANT(op, width, 1d, select<T_##width>(call, args))
#define CONVERT(from, to)                                                      \
  ASTRA_DEFINE_VARIANT(convert, from##_##to, 1d,                               \
                       convertAll<T_##from, T_##to>(call, args))
#include "kernels/kernels.def"
