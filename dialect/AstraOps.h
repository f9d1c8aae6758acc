// All operations of the dialect.
#ifndef ASTRA_DIALECT_ASTRAOPS_H
#define ASTRA_DIALECT_ASTRAOPS_H

#include "dialect/AstraDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialect/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/ShapeOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/ReductionOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/ContractionOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/AttentionOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/WindowOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/LinalgOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/IndexOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/RandomOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/ControlOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/TransformOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/TapeOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/EffectOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/FusionOps.h.inc"

#endif // ASTRA_DIALECT_ASTRAOPS_H
