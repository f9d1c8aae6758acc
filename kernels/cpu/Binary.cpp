// Elementwise kernels of two operands: one vectorised loop for each operation
// and type, driven by Tiles.h.
#include "kernels/Ops.h"
#include "kernels/cpu/Tiles.h"

using namespace astra;

namespace {

template <class Op, class C, class CO>
void block(const C *a, const C *b, CO *out, int64_t n, int64_t) {
  ASTRA_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    out[i] = Op::apply(a[i], b[i]);
}

template <class In, class Out>
using Block = typename Elementwise<2, In, Out>::Block;

/// One for all operations on a type.
template <class In, class Out>
ASTRA_SHARED astra_outcome_t runTiles(const astra_call_t *call,
                                      const astra_arg_t *args,
                                      Block<In, Out> block) {
  return Elementwise<2, In, Out>(args, block, 0).run(call);
}

template <class Op, class T, class Out = Operand<Op, T>>
astra_outcome_t binary(const astra_call_t *call, const astra_arg_t *args) {
  using In = Operand<Op, T>;
  return runTiles<In, Out>(call, args, block<Op, Compute<In>, Compute<Out>>);
}

} // namespace

#define BINARY(op, dtype, version, doc)                                        \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d, binary<Op_##op, T_##dtype>(call, args))
#define COMPARE(op, dtype, version, doc)                                       \
  ASTRA_DEFINE_VARIANT(op, dtype, 1d,                                          \
                       binary<Op_##op, T_##dtype, T_bool>(call, args))
#include "kernels/kernels.def"
