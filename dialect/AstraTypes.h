// The dialect's types, and the way between dimension expressions and
// attributes. Knows no operation.
#ifndef ASTRA_DIALECT_ASTRATYPES_H
#define ASTRA_DIALECT_ASTRATYPES_H

#include "dialect/Dim.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"

#define GET_TYPEDEF_CLASSES
#include "dialect/AstraTypes.h.inc"

namespace astra {

/// A dimension expression as its canonical text.
mlir::StringAttr toAttr(mlir::MLIRContext *context, const Dim &dim);
mlir::ArrayAttr toAttr(mlir::MLIRContext *context, llvm::ArrayRef<Dim> dims);
Dim toDim(mlir::StringAttr attr);
llvm::SmallVector<Dim> toDims(mlir::ArrayAttr attr);
/// True for the canonical text of an expression (an array of such).
bool isDimAttr(mlir::Attribute attr);
bool isDimArrayAttr(mlir::Attribute attr);

/// `custom<TensorType>` of assembly formats: a type in full, where the
/// generated code would leave out the name of the dialect.
mlir::ParseResult parseTensorType(mlir::AsmParser &parser, mlir::Type &type);
void printTensorType(mlir::AsmPrinter &printer, mlir::Operation *,
                     mlir::Type type);

/// True if a tensor may have elements of this type.
bool isElementType(mlir::Type type);
/// The type of an operand that an operation has verified.
inline TensorType getTensorType(mlir::Value value) {
  return llvm::cast<TensorType>(value.getType());
}
/// True for a tensor of floats or a tape of such: only those have tangents and
/// cotangents.
bool isFloatTensor(mlir::Type type);

} // namespace astra
#endif // ASTRA_DIALECT_ASTRATYPES_H
