// The state of one function's way from values to buffers, shared by the files
// that do it: LowerToCalls.cpp (the walk and the rules of operations),
// LowerControl.cpp (regions) and LowerTapes.cpp. A value is known as a view, as
// a builtin scalar, or both ways on demand.
#ifndef ASTRA_PASSES_CALLSLOWERING_H
#define ASTRA_PASSES_CALLSLOWERING_H

#include "dialect/AstraOps.h"
#include "dialect/CallsOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace astra {

struct TapeEnd;

/// On a maximum inside a fused kernel: of no elements it is -infinity.
constexpr llvm::StringLiteral TotalAttrName = "astra.total";
/// Softmax and its relations become folds and operations on elements.
void expandRowOperations(FusedOp fused);

class CallsLowering {
public:
  /// The fused kernels of a module: the name of each by its code.
  using FusedNames = llvm::StringMap<std::string>;

  CallsLowering(mlir::func::FuncOp source, mlir::OpBuilder &builder,
                FusedNames &fusedNames)
      : source(source), builder(builder), fusedNames(fusedNames) {}

  /// Makes the function over buffers beside the source.
  mlir::FailureOr<mlir::func::FuncOp> run();

  //===-- Values ----------------------------------------------------------===//
  mlir::Value getView(mlir::Value value);
  mlir::Value getScalar(mlir::Value value);
  void setView(mlir::Value value, mlir::Value view) { views[value] = view; }
  void setScalar(mlir::Value value, mlir::Value scalar) {
    scalars[value] = scalar;
  }
  /// Where a result is to be written: asked for, or new memory.
  mlir::Value getDestination(mlir::Value result);
  mlir::Value makeBuffer(mlir::Type element, llvm::ArrayRef<Dim> shape);
  mlir::Value makeView(mlir::Value base, const Layout &layout,
                       mlir::Type element);
  /// The slice of `base` at `index` along an axis, without that axis.
  mlir::Value makeSlice(mlir::Value base, unsigned axis, mlir::Value index);
  /// Copies a value into a view, unless it was written there.
  void writeTo(mlir::Value value, mlir::Value destination);
  void copy(mlir::Value from, mlir::Value to);
  void callKernel(const llvm::Twine &name, llvm::ArrayRef<mlir::Value> inputs,
                  llvm::ArrayRef<mlir::Value> outputs,
                  llvm::ArrayRef<mlir::Attribute> params);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  void fail() { failed = true; }

private:
  /// Memory for a result, laid out for those that read it.
  mlir::Value makeResult(mlir::Value result);

  //===-- Operations ------------------------------------------------------===//
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation &op);
  bool lowerScalar(mlir::Operation &op);
  mlir::LogicalResult lowerViewOp(mlir::Operation &op);
  mlir::LogicalResult lowerKernelOp(mlir::Operation &op);
  mlir::LogicalResult lowerFused(FusedOp op);
  llvm::StringRef shareFused(calls::FusedOp fused);
  static bool isOfColumns(ConcatOp op);
  void lowerColumns(ConcatOp op);
  void copyColumns(llvm::ArrayRef<mlir::Value> parts, mlir::Value result,
                   unsigned axis, mlir::Value block, const Dim &count);
  mlir::Value takeRows(mlir::Value view, mlir::Value block, const Dim &count);
  /// Values that leave a block by its end are written where they go.
  void wishFor(mlir::ValueRange values, llvm::ArrayRef<mlir::Value> places,
               mlir::Block &block);

  //===-- Regions ---------------------------------------------------------===//
  mlir::LogicalResult lowerIf(IfOp op);
  mlir::LogicalResult lowerInline(mlir::Operation &op, mlir::Region &region);
  mlir::LogicalResult lowerFor(ForOp op);
  mlir::LogicalResult lowerWhile(WhileOp op);
  mlir::LogicalResult lowerScan(ScanOp op);
  mlir::LogicalResult lowerMap(MapOp op);
  mlir::LogicalResult lowerSliced(mlir::Operation *op, const Dim &length,
                                  unsigned stateCount,
                                  llvm::ArrayRef<int64_t> axes);
  mlir::LogicalResult lowerReduce(ReduceOp op);
  mlir::LogicalResult combineLevel(ReduceOp op, mlir::Value count,
                                   mlir::ValueRange current,
                                   mlir::ValueRange next);
  mlir::LogicalResult combine(ReduceOp op, mlir::ValueRange lhs,
                              mlir::ValueRange rhs,
                              llvm::ArrayRef<mlir::Value> places);
  /// State of a loop: a scalar value, or two buffers that swap places.
  void addState(mlir::Value init, llvm::SmallVectorImpl<mlir::Value> &values);
  void bindState(mlir::ValueRange arguments, mlir::ValueRange values,
                 llvm::SmallVectorImpl<mlir::Value> &current,
                 llvm::SmallVectorImpl<mlir::Value> &next);
  void bindResults(mlir::ValueRange results, mlir::ValueRange values);
  void yieldState(mlir::ValueRange yielded, llvm::ArrayRef<mlir::Value> current,
                  llvm::ArrayRef<mlir::Value> next,
                  llvm::SmallVectorImpl<mlir::Value> &values);
  mlir::Value getWord(int64_t value);

  //===-- Tapes -----------------------------------------------------------===//
  bool lowerTape(mlir::Operation &op);
  void lowerTapeRead(TapeReadOp op);
  void lowerTapeWrite(TapeWriteOp op);
  mlir::Value getTapeEntry(mlir::Value tape, mlir::Type entry,
                           mlir::Value index);
  mlir::Value openTape(mlir::Value address);
  void addInPlace(mlir::Value part, mlir::Value sum);
  void addTape(mlir::Value part, mlir::Value sum, TapeType type);
  void addTapeTo(mlir::Value entry, mlir::Value part, TapeType type);
  void closeTapes(llvm::ArrayRef<TapeEnd> ends);

  mlir::func::FuncOp source;
  mlir::OpBuilder &builder;
  FusedNames &fusedNames;
  mlir::Location loc = builder.getUnknownLoc();
  llvm::DenseMap<mlir::Value, mlir::Value> views, scalars, destinations;
  bool failed = false;
};

} // namespace astra
#endif // ASTRA_PASSES_CALLSLOWERING_H
