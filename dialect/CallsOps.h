// The `calls` dialect: buffers, views and kernel calls. See CallsOps.td. This
// file may not know the `astra` dialect.
#ifndef ASTRA_DIALECT_CALLSOPS_H
#define ASTRA_DIALECT_CALLSOPS_H

#include "dialect/Dim.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/CallsDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/CallsTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/CallsOps.h.inc"

namespace astra::calls {

/// Row-major strides without gaps.
llvm::SmallVector<Dim> getDenseStrides(llvm::ArrayRef<Dim> shape);
/// The number of elements.
Dim getElementCount(llvm::ArrayRef<Dim> shape);
/// Bytes of one element as it lies in memory (a bool is one byte).
unsigned getByteWidth(mlir::Type element);
/// Dimension expressions as attributes, and back.
mlir::ArrayAttr getDimsAttr(mlir::MLIRContext *context,
                            llvm::ArrayRef<Dim> dims);
llvm::SmallVector<Dim> getDims(mlir::ArrayAttr attr);
/// The name of a stride that only the call knows.
Dim getInputStride(unsigned input, unsigned axis);

} // namespace astra::calls

#endif // ASTRA_DIALECT_CALLSOPS_H
