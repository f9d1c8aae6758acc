// The frame of one entry function in the LLVM dialect: its signature, the
// values that are worked out once when it is entered (dimensions, tables of
// extents and strides, the workspace), and the one block through which it
// fails. Knows the object ABI, no operation of the body.
#ifndef ASTRA_PASSES_ENTRYFRAME_H
#define ASTRA_PASSES_ENTRYFRAME_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "passes/Descriptor.h"

namespace astra {

/// Members of astra_call_api_t that generated code calls.
enum class CallService {
  Workspace = 2,
  Fail = 5,
  Locate = 6,
  Debug = 7,
  FailValues = 8,
  TapeOpen = 9,
  TapeEntry = 10,
  TapeLength = 11,
  TapeClose = 12
};

class EntryFrame {
public:
  /// Makes `name(call, in, out) -> i32` beside `source` with an empty body.
  EntryFrame(mlir::func::FuncOp source, llvm::StringRef name,
             const ExportInfo &info, Descriptor &descriptor,
             unsigned argumentRoom);

  mlir::LLVM::LLVMFuncOp getFunction() { return function; }
  mlir::Value getCall() { return function.getArgument(0); }

  /// Values of the prologue, made on first use.
  mlir::Value getDim(const Dim &dim);
  mlir::Value getDim(llvm::StringRef text);
  /// Whether a dimension has no value: it divides by zero, or a step of its
  /// arithmetic leaves 64 bits. Null where that cannot be.
  struct Fault {
    mlir::Value zero, overflow;
  };
  Fault getFault(const Dim &dim);
  /// A table of i64 (null when empty).
  mlir::Value getDimTable(mlir::ArrayAttr dims);
  /// The memory of input or output `index`, inputs first.
  mlir::Value getArgumentData(unsigned index);
  mlir::Value getWorkspace();
  mlir::Value getKernel(mlir::OpBuilder &builder, mlir::Location loc,
                        unsigned import);
  mlir::Value getService(mlir::OpBuilder &builder, mlir::Location loc,
                         CallService service);
  /// Calls a service with the call and the arguments; the result may be void.
  mlir::Value callService(mlir::OpBuilder &builder, mlir::Location at,
                          CallService service, mlir::Type result,
                          mlir::ValueRange arguments);
  /// What a service for memory comes to: it has recorded its own error if the
  /// address is null.
  mlir::Value getMemoryStatus(mlir::OpBuilder &builder, mlir::Location at,
                              mlir::Value address);
  /// Room for the arguments of a kernel; one room serves all calls.
  mlir::Value getArgumentRoom();
  mlir::Value getWordRoom(unsigned count);

  /// The block that records the place and returns: (code i32, location i32).
  mlir::Block *getFailBlock();
  /// Ends the prologue with a branch to the body; `bytes` of workspace.
  void finish(mlir::Block *body, const Dim &workspaceBytes);

  mlir::Type getArgType() const { return argType; }
  mlir::Value getWord(mlir::OpBuilder &builder, mlir::Location loc,
                      int64_t value);
  mlir::Value getHalfWord(mlir::OpBuilder &builder, mlir::Location loc,
                          uint32_t value);

private:
  mlir::Value loadMember(mlir::OpBuilder &builder, mlir::Value base,
                         mlir::Type structType, int32_t index, int32_t member,
                         mlir::Type type);
  mlir::Value evaluateName(llvm::StringRef name);
  mlir::Value evaluateAtom(const Dim::Atom &atom);
  mlir::Value evaluateDivision(const Dim::Atom &atom);
  void addFault(mlir::Value &fault, mlir::Value other);
  mlir::Value addChecked(mlir::Value a, mlir::Value b, Fault &fault);
  mlir::Value multiplyChecked(mlir::Value a, mlir::Value b, Fault &fault);
  mlir::Value makeRoom(mlir::Type type, unsigned count);

  const ExportInfo &info;
  Descriptor &descriptor;
  mlir::LLVM::LLVMFuncOp function;
  mlir::OpBuilder prologue, rooms;
  mlir::Location loc;
  mlir::Type word, half, pointer, argType, callType, apiType;
  mlir::Value api, kernels, dims, workspace;
  mlir::Operation *workspaceCall = nullptr;
  llvm::StringMap<mlir::Value> dimValues;
  llvm::StringMap<Fault> faults;
  llvm::DenseMap<mlir::Attribute, mlir::Value> tables;
  llvm::DenseMap<unsigned, mlir::Value> argumentData;
  unsigned argumentCount;
  mlir::Value argumentRoom, wordRoom;
  mlir::Block *failBlock = nullptr;
};

} // namespace astra
#endif // ASTRA_PASSES_ENTRYFRAME_H
