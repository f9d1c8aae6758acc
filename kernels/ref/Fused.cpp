// The kernels that run a module's own fused code, for the lowest level that
// modules have code for. Of products they get the whole result, or make the
// whole operand.
#include "kernels/Fused.h"
#include "kernels/FusedProduct.h"

using namespace astra;

ASTRA_DEFINE_REF(fused, map, runFusedMap(call, args, params))
ASTRA_DEFINE_REF(fused, rows, runFusedRows(call, args, params))

namespace {
astra_outcome_t makeAndContract(const astra_call_t *call,
                                const astra_arg_t *args, const int64_t *params,
                                astra_kernel_fn product) {
  MadeOperand made(args + params[1], params[0]);
  astra_arg_t all[3];
  made.putInPlace(args, params[1], 1, all);
  return made.runWhole(call, all, params[1], params + 2, product);
}
} // namespace

#define PRODUCT(symbol)                                                        \
  extern "C" astra_outcome_t symbol(const astra_call_t *, const astra_arg_t *, \
                                    const int64_t *);
#define CONTRACT_MAP(op, dtype, version, doc)                                  \
  PRODUCT(ASTRA_REF_NAME(contract, dtype))                                     \
  ASTRA_DEFINE_REF(op, dtype,                                                  \
                   ProductMap(args, params, 2)                                 \
                       .runInTurn(call, ASTRA_REF_NAME(contract, dtype)))
#define CONV_MAP(op, dtype, version, doc)                                      \
  PRODUCT(ASTRA_REF_NAME(conv, dtype))                                         \
  ASTRA_DEFINE_REF(op, dtype,                                                  \
                   ProductMap(args, params, 2 + params[2])                     \
                       .runInTurn(call, ASTRA_REF_NAME(conv, dtype)))
#define MAP_CONTRACT(op, dtype, version, doc)                                  \
  ASTRA_DEFINE_REF(                                                            \
      op, dtype,                                                               \
      makeAndContract(call, args, params, ASTRA_REF_NAME(contract, dtype)))
#define MAP_CONTRACT_MAP(op, dtype, version, doc)                              \
  ASTRA_DEFINE_REF(                                                            \
      op, dtype,                                                               \
      ProductMap(args, params, FusedViews::planOf(params[2]).arg_count)        \
          .runInTurn(call, ASTRA_REF_NAME(map_contract, dtype)))
#include "kernels/kernels.def"
