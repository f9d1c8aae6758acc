// The emitter's class: an interpreter of the typed program whose values are SSA
// values. A tree (struct, tuple, array) is the list of its leaves in
// declaration order. Calls are inlined: each has a Frame, with what its
// dimensions and its function parameters stand for; locals live in Scopes.
// Internal to frontend/emit.
#ifndef ASTRA_FRONTEND_EMIT_EMITTER_H
#define ASTRA_FRONTEND_EMIT_EMITTER_H

#include "dialect/AstraOps.h"
#include "frontend/emit/Emit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace astra::emit {

using mlir::ArrayRef;
using mlir::FailureOr;
using mlir::Location;
using mlir::LogicalResult;
using mlir::SmallVector;
using mlir::SmallVectorImpl;
using mlir::StringRef;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

using Leaves = SmallVector<Value, 4>;

struct Scope;

/// A function literal and the locals that it may use.
struct Closure {
  const hir::FnLit *lit = nullptr;
  Scope *scope = nullptr;
};

/// One inlined call.
struct Frame {
  /// The callee's dimensions, in those of the function that is being emitted.
  std::map<std::string, Dim> dims;
  SmallVector<Closure, 2> fns;
};

/// Locals of one activation. Scopes nest as activations do, so a closure's
/// scope is alive whenever the closure can be called.
struct Scope {
  Scope(Scope *parent, Frame *frame) : parent(parent), frame(frame) {}
  Scope *parent;
  Frame *frame;
  llvm::DenseMap<const hir::Local *, Leaves> values;

  const Leaves *find(const hir::Local *local) const;
};

/// Counts what is inserted and marks it with the device that `on` chose.
struct OpListener : mlir::OpBuilder::Listener {
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override;
  uint64_t count = 0;
  mlir::StringAttr device;
};

class Emitter {
public:
  Emitter(const hir::Program &program, SourceManager &sources,
          DiagnosticEngine &diags, mlir::MLIRContext &context,
          const EmitOptions &options);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  using Result = FailureOr<Leaves>;
  using Body = llvm::function_ref<Result(ValueRange arguments)>;

  // EmitModule.cpp: the module's functions and what they say to their callers.
  LogicalResult emitExport(const hir::Export &entry);
  LogicalResult emitTest(const hir::Test &test, unsigned number);
  LogicalResult emitFunction(const hir::FnInstance &fn, StringRef symbol,
                             StringRef device, mlir::NamedAttribute mark);
  mlir::DictionaryAttr describeExport(const hir::Export &entry);
  mlir::DictionaryAttr describeValue(StringRef name, StringRef type,
                                     hir::TypeRef tree, StringRef path);
  mlir::ArrayAttr describeStructs();

  // Emitter.cpp: values, blocks and calls.
  Result evaluate(const hir::Expr *e, Scope &scope);
  Result dispatch(const hir::Expr *e, Scope &scope);
  LogicalResult evaluateAll(ArrayRef<hir::Expr *> list, Scope &scope,
                            Leaves &leaves);
  FailureOr<Value> evaluateScalar(const hir::Expr *e, Scope &scope);
  Result emitLocal(const hir::LocalExpr *e, Scope &scope);
  Result emitBlock(const hir::BlockExpr *e, Scope &scope);
  Result emitCall(const hir::CallExpr *e, Scope &scope);
  Result emitCallParam(const hir::CallParamExpr *e, Scope &scope);
  Result emitGet(const hir::GetExpr *e, Scope &scope);
  Result emitArrayIndex(const hir::ArrayIndexExpr *e, Scope &scope);
  Result emitOn(const hir::OnExpr *e, Scope &scope);
  Result emitBody(const hir::FnInstance &fn, Frame &frame, ValueRange args);
  Closure getClosure(const hir::FnLit &lit, Scope &scope);
  Result callClosure(const Closure &closure, ValueRange args);
  void bind(Scope &scope, ArrayRef<hir::Local *> locals, ValueRange leaves);

  // EmitPrims.cpp
  Result emitPrim(const hir::PrimExpr *e, Scope &scope);
  void addPrimAttributes(const hir::PrimExpr *e, Scope &scope,
                         mlir::OperationState &state);
  void addDimLists(const hir::PrimExpr *e, Scope &scope,
                   ArrayRef<StringRef> names, mlir::OperationState &state);
  mlir::LogicalResult requireSteps(const hir::PrimExpr *e, Scope &scope);
  FailureOr<Value> emitBox(const hir::PrimExpr *e, Scope &scope,
                           ArrayRef<Value> operands, TensorType type);
  mlir::LogicalResult requireFit(const hir::PrimExpr *e, TensorType from,
                                 TensorType to);
  Value emitDim(const Dim &dim, mlir::Location loc);
  Value emitAtom(const Dim::Atom &atom, mlir::Location loc);
  mlir::TypedAttr getLiteral(const hir::PrimExpr *e);

  // EmitControl.cpp: operations with regions.
  Result emitIf(const hir::IfExpr *e, Scope &scope);
  Result emitFor(const hir::ForExpr *e, Scope &scope);
  Result emitWhile(const hir::WhileExpr *e, Scope &scope);
  Result emitScan(const hir::ScanExpr *e, Scope &scope);
  Result emitMap(const hir::MapExpr *e, Scope &scope);
  Result emitReduce(const hir::ReduceExpr *e, Scope &scope);
  /// Fills a region: arguments, what `body` emits, and the yield. `certain`: it
  /// runs whenever what is around it does.
  FailureOr<SmallVector<Type>> buildRegion(mlir::Region *region, Location loc,
                                           mlir::TypeRange arguments, Body body,
                                           bool certain = false);
  Leaves create(mlir::OperationState &state);

  // EmitTransforms.cpp
  Result emitTransform(const hir::TransformExpr *e, Scope &scope);
  Result emitVjp(const hir::TransformExpr *e, Scope &scope, Leaves inputs);
  Result emitJvp(const hir::TransformExpr *e, Scope &scope, Leaves inputs);
  Result emitRemat(Location loc, ValueRange inputs, Body body);
  Result emitWithRules(const hir::FnInstance &fn, Location loc, Frame &frame,
                       ValueRange args);
  FailureOr<SmallVector<Type>> buildRule(mlir::Region *region, Location loc,
                                         const hir::FnLit &rule, Frame &frame,
                                         ArrayRef<Type> args,
                                         ArrayRef<Type> given);
  SmallVector<int64_t> getWrtLeaves(const hir::TransformExpr *e, Scope &scope);
  /// All leaves of `types`, with zeros for those that are not floats.
  Leaves fillZeros(Location loc, ValueRange floats, ArrayRef<Type> types);

  // EmitTypes.cpp
  Dim substitute(const Dim &dim, const Frame &frame);
  FailureOr<TensorType> getType(hir::TypeRef tensor, const Frame &frame,
                                SourceRange range);
  LogicalResult getLeafTypes(hir::TypeRef type, const Frame &frame,
                             SourceRange range, SmallVectorImpl<Type> &types);
  size_t getLeafCount(hir::TypeRef type, const Frame &frame);
  size_t getCount(hir::TypeRef array, const Frame &frame);
  Type getElementType(hir::DType dtype);
  Location getLoc(SourceRange range);

  mlir::LogicalResult fail(DiagCode code, SourceRange range,
                           const llvm::Twine &message, StringRef help = "");

  const hir::Program &program;
  SourceManager &sources;
  DiagnosticEngine &diags;
  const EmitOptions &options;
  OpListener listener;
  mlir::OpBuilder b;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, mlir::LocationAttr> locations;
  /// The function that is being emitted, for messages.
  std::string current;
  /// What is emitted runs in every run of the function.
  bool isCertain = true;
  uint64_t steps = 0;
  unsigned depth = 0;
};

/// The types of the values.
inline SmallVector<Type> typesOf(ValueRange values) {
  return SmallVector<Type>(values.getTypes());
}

} // namespace astra::emit
#endif // ASTRA_FRONTEND_EMIT_EMITTER_H
