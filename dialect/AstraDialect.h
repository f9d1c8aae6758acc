// The `astra` dialect: its class. Operations are in AstraOps.h.
#ifndef ASTRA_DIALECT_ASTRADIALECT_H
#define ASTRA_DIALECT_ASTRADIALECT_H

#include "dialect/AstraInterfaces.h"
#include "dialect/AstraTypes.h"
#include "mlir/IR/Dialect.h"

#include "dialect/AstraDialect.h.inc"

#endif // ASTRA_DIALECT_ASTRADIALECT_H
