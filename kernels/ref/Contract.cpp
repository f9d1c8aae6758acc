// The normative contraction: every element of the result by itself, over the
// contracted axes in row-major order.
#include "kernels/Canonical.h"
#include "kernels/Contraction.h"
#include "kernels/Ops.h"

using namespace astra;

namespace {

template <class T> T dot(const T *a, const T *b, const Nest<2> &contracted) {
  using A = Accumulator<T>;
  CanonicalDot<A> sum;
  int64_t sa = contracted.innerStride(0), sb = contracted.innerStride(1);
  contracted.visit(
      0, contracted.size(), [&](const int64_t (&offset)[2], int64_t count) {
        for (int64_t k = 0; k < count; ++k)
          sum.add(toAccumulator(a[offset[0] + k * sa]),
                  toAccumulator(b[offset[1] + k * sb]),
                  [](A x, A y, A z) { return fusedMultiplyAdd(x, y, z); });
        return true;
      });
  return fromAccumulator<T>(sum.result());
}

template <class T>
astra_outcome_t contract(const astra_arg_t *args, const int64_t *params) {
  Contraction c(args, params[0], params[1]);
  const T *a = static_cast<const T *>(args[0].data);
  const T *b = static_cast<const T *>(args[1].data);
  T *out = static_cast<T *>(args[2].data);
  for (int64_t batch = 0; batch < c.batch.size(); ++batch) {
    int64_t base[3];
    c.batch.offsetsAt(batch, base);
    for (int64_t row = 0; row < c.rows.size(); ++row) {
      int64_t atRow[2];
      c.rows.offsetsAt(row, atRow);
      for (int64_t column = 0; column < c.columns.size(); ++column) {
        int64_t atColumn[2];
        c.columns.offsetsAt(column, atColumn);
        out[base[2] + atRow[1] + atColumn[1]] = dot(
            a + base[0] + atRow[0], b + base[1] + atColumn[0], c.contracted);
      }
    }
  }
  return ASTRA_OK;
}

} // namespace

#define CONTRACT(op, dtype, version, doc)                                      \
  ASTRA_DEFINE_REF(op, dtype, contract<T_##dtype>(args, params))
#include "kernels/kernels.def"
