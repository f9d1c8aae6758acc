// The kernels that run a module's own fused code, for the lowest level that
// modules have code for. Of products they get the whole result.
#include "kernels/Fused.h"
#include "kernels/FusedProduct.h"

using namespace astra;

ASTRA_DEFINE_REF(fused, map, runFusedMap(call, args, params))
ASTRA_DEFINE_REF(fused, rows, runFusedRows(call, args, params))

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
#include "kernels/kernels.def"
