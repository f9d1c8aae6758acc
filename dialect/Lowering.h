// What an operation may say about how it becomes buffers and kernel calls, and
// what it is given to say it with. Rules stand in <Family>Lowering.cpp, the
// interfaces in Interfaces.td; the pass that runs them is not known here.
//
// Operands and results are views (calls::ViewType). A view rule changes the
// layout and moves no data. A kernel rule writes its result into the view that
// it is given. A scalar rule gives a builtin value, for rank 0 only.
#ifndef ASTRA_DIALECT_LOWERING_H
#define ASTRA_DIALECT_LOWERING_H

#include "dialect/Dim.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <optional>

namespace astra {

/// How elements lie in a buffer: element i0, i1, .. is at `offset` plus the sum
/// of index times stride, in elements. A run-time start of a slice adds
/// indices[j] * steps[j].
struct Layout {
  llvm::SmallVector<Dim> shape, strides;
  Dim offset;
  llvm::SmallVector<mlir::Value> indices; // i64
  llvm::SmallVector<Dim> steps;

  unsigned getRank() const { return shape.size(); }
  static Layout dense(llvm::ArrayRef<Dim> shape);
  /// Provably without gaps, in row-major order.
  bool isDense() const;
};

/// The import name of a kernel: "exp" and f32 give "exp_f32".
std::string getKernelName(llvm::StringRef op, mlir::Type element);
/// The same by width only: "copy" and f32 give "copy_b32".
std::string getWidthKernelName(llvm::StringRef op, mlir::Type element);
/// "f32", "i64", "u8", "bool".
std::string getElementName(mlir::Type element);
/// The builtin type of a scalar in generated code: no sign, bool is i1.
mlir::Type getScalarType(mlir::Type element);
/// A number as an attribute of that type.
mlir::TypedAttr getScalarAttr(mlir::Attribute value, mlir::Type element);
/// True if no extents make the expression negative, as far as is easily seen.
bool isNeverNegative(const Dim &dim);

/// What a kernel rule may ask for. Values are views.
class KernelBuilder {
public:
  virtual ~KernelBuilder() = default;
  virtual mlir::Value getInput(unsigned operand) = 0;
  virtual mlir::Value getOutput(unsigned result = 0) = 0;
  /// Makes the result another view instead of memory of its own.
  virtual void setResult(unsigned result, mlir::Value view) = 0;
  /// Dense memory for the time of this operation.
  virtual mlir::Value getTemporary(mlir::Type element,
                                   llvm::ArrayRef<Dim> shape) = 0;
  /// The operand (an i64 scalar) as a builtin value.
  virtual mlir::Value getScalar(unsigned operand) = 0;
  /// The value of a dimension expression, an i64.
  virtual mlir::Value getDimScalar(const Dim &dim) = 0;
  /// The same as a view of rank 0, for kernels.
  virtual mlir::Value getDimView(const Dim &dim) = 0;
  virtual Layout getLayout(mlir::Value view) = 0;
  /// Another layout of a view; layouts are relative to it.
  virtual mlir::Value getView(mlir::Value base, const Layout &layout) = 0;
  /// One element, repeated over a shape.
  virtual mlir::Value getSplat(mlir::Attribute value, mlir::Type element,
                               llvm::ArrayRef<Dim> shape) = 0;
  /// Params are integers, a text (its address) or floats (bits of a double).
  virtual void call(const llvm::Twine &kernel,
                    llvm::ArrayRef<mlir::Value> inputs,
                    llvm::ArrayRef<mlir::Value> outputs,
                    llvm::ArrayRef<mlir::Attribute> params = {}) = 0;
  void call(const llvm::Twine &kernel, llvm::ArrayRef<mlir::Value> inputs,
            llvm::ArrayRef<mlir::Value> outputs,
            llvm::ArrayRef<int64_t> params);
  /// Strided copy between views of one shape and width.
  void copy(mlir::Value from, mlir::Value to);
  /// Refuses the call unless 0 <= start and start + size <= extent.
  virtual void checkRange(mlir::Value start, const Dim &size, const Dim &extent,
                          int64_t axis) = 0;
  /// Refuses the call where the extents differ.
  virtual void checkEqual(const Dim &a, const Dim &b, llvm::StringRef text) = 0;
  virtual void debug(llvm::StringRef text, mlir::Value view) = 0;
  virtual mlir::MLIRContext *getContext() = 0;
};

} // namespace astra
#endif // ASTRA_DIALECT_LOWERING_H
