// The kernels that run a module's own fused code.
#include "kernels/Fused.h"

ASTRA_DEFINE_VARIANT(fused, map, blocks, astra::runFusedMap(call, args, params))
ASTRA_DEFINE_VARIANT(fused, rows, blocks,
                     astra::runFusedRows(call, args, params))
