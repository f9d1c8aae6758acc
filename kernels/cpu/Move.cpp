// Kernels that move elements: select, and conversion between dtypes.
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

#define SELECT(op, width, version, doc)                                        \
  ASTRA_DEFINE_VARIANT(op, width, 1d, select<T_##width>(call, args))
#define CONVERT(from, to)                                                      \
  ASTRA_DEFINE_VARIANT(convert, from##_##to, 1d,                               \
                       convertAll<T_##from, T_##to>(call, args))
#include "kernels/kernels.def"
