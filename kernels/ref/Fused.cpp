// The kernels that run a module's own fused code, for the lowest level that
// modules have code for.
#include "kernels/Fused.h"

ASTRA_DEFINE_REF(fused, map, astra::runFusedMap(call, args, params))
ASTRA_DEFINE_REF(fused, rows, astra::runFusedRows(call, args, params))
