// Checks of control flow, and the choice of a branch with a constant condition.
#include "dialect/RegionChecks.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace astra {

/// The type of a slice of axis 0, or null if that has not the length.
static Type getSliceType(Type type, const Dim &length, int64_t axis = 0) {
  auto tensor = cast<TensorType>(type);
  if (!isAxis(axis, tensor.getRank()) || tensor.getDim(axis) != length)
    return nullptr;
  SmallVector<StringAttr> dims(tensor.getDims());
  dims.erase(dims.begin() + axis);
  return tensor.withDims(dims);
}

/// With the length as a new axis 0.
static Type getStackedType(Type type, const Dim &length) {
  auto tensor = cast<TensorType>(type);
  SmallVector<StringAttr> dims(tensor.getDims());
  dims.insert(dims.begin(), toAttr(type.getContext(), length));
  return tensor.withDims(dims);
}

//===-- If ----------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    if (region->getNumArguments() != 0)
      return emitOpError("(C1) a branch has arguments");
    if (failed(checkYields(*this, *region, getResultTypes(), "(C2)")))
      return failure();
  }
  return success();
}

/// A constant condition leaves the code of one branch.
LogicalResult IfOp::canonicalize(IfOp op, PatternRewriter &rewriter) {
  Attribute value;
  if (!matchPattern(op.getCondition(), m_Constant(&value)) ||
      !getSplatInt(value))
    return failure();
  Region &taken =
      getSplatInt(value)->isZero() ? op.getElseRegion() : op.getThenRegion();
  Operation *yield = taken.front().getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&taken.front(), op);
  rewriter.replaceOp(op, results);
  return success();
}

//===-- Loops -------------------------------------------------------------===//

LogicalResult ForOp::verify() {
  SmallVector<Type> arguments{getBegin().getType()};
  llvm::append_range(arguments, getInit().getTypes());
  if (failed(checkArguments(*this, getBody(), arguments, "(C1)")) ||
      failed(checkYields(*this, getBody(), getInit().getTypes(), "(C2)")))
    return failure();
  return checkTypes(*this, getResultTypes(), getInit().getTypes(),
                    "(C3) the results");
}

LogicalResult WhileOp::verify() {
  TypeRange state = getInit().getTypes();
  if (failed(checkArguments(*this, getCond(), state, "(C1)")) ||
      failed(checkArguments(*this, getBody(), state, "(C1)")))
    return failure();
  Type boolean = TensorType::getScalar(IntegerType::get(getContext(), 1));
  if (failed(checkYields(*this, getCond(), boolean, "(C2)")) ||
      failed(checkYields(*this, getBody(), state, "(C3)")))
    return failure();
  return checkTypes(*this, getResultTypes(), state, "(C4) the results");
}

//===-- Scan, map, reduce -------------------------------------------------===//

LogicalResult ScanOp::verify() {
  size_t numState = getNumState();
  if (numState > getInputs().size())
    return emitOpError("(C1) ")
           << numState << " states, but " << getInputs().size() << " inputs";
  SmallVector<Type> arguments(getInputs().take_front(numState).getTypes());
  SmallVector<Type> state = arguments;
  for (Type type : getInputs().drop_front(numState).getTypes()) {
    Type slice = getSliceType(type, getLength());
    if (!slice)
      return emitOpError("(C1) axis 0 of ")
             << type << " has not the length " << getLength().str();
    arguments.push_back(slice);
  }
  if (failed(checkArguments(*this, getBody(), arguments, "(C2)")))
    return failure();
  SmallVector<Type> yielded = getYieldedTypes(getBody());
  if (yielded.size() < numState ||
      ArrayRef<Type>(yielded).take_front(numState) != ArrayRef<Type>(state))
    return emitOpError(
        "(C3) the region does not yield the state's types first");
  for (Type type : ArrayRef<Type>(yielded).drop_front(numState))
    state.push_back(getStackedType(type, getLength()));
  return checkTypes(*this, getResultTypes(), state, "(C4) the results");
}

LogicalResult MapOp::verify() {
  if (getAxes().size() != getInputs().size())
    return emitOpError("(C1) ") << getAxes().size() << " axes for "
                                << getInputs().size() << " inputs";
  SmallVector<Type> arguments;
  for (auto [input, axis] : llvm::zip_equal(getInputs(), getAxes())) {
    auto type = cast<TensorType>(input.getType());
    if (axis != -1 && !isAxis(axis, type.getRank()))
      return emitOpError("(C1) no axis ") << axis << " in " << type;
    Type slice = axis == -1 ? type : getSliceType(type, getLength(), axis);
    if (!slice)
      return emitOpError("(C2) axis ")
             << axis << " of " << type << " has not the length "
             << getLength().str();
    arguments.push_back(slice);
  }
  if (failed(checkArguments(*this, getBody(), arguments, "(C3)")))
    return failure();
  SmallVector<Type> results;
  for (Type type : getYieldedTypes(getBody()))
    results.push_back(getStackedType(type, getLength()));
  return checkTypes(*this, getResultTypes(), results, "(C4) the results");
}

LogicalResult ReduceOp::verify() {
  size_t count = getInputs().size() / 2;
  if (getInputs().size() % 2 != 0)
    return emitOpError("(C1) not as many initial values as arrays");
  SmallVector<Type> inits(getInputs().take_front(count).getTypes());
  for (size_t i = 0; i < count; ++i)
    if (getInputs()[count + i].getType() !=
        getStackedType(inits[i], getLength()))
      return emitOpError("(C2) ")
             << getInputs()[count + i].getType() << " is no array of "
             << inits[i] << " of length " << getLength().str();
  SmallVector<Type> arguments = inits;
  llvm::append_range(arguments, inits);
  if (failed(checkArguments(*this, getBody(), arguments, "(C3)")) ||
      failed(checkYields(*this, getBody(), inits, "(C4)")))
    return failure();
  return checkTypes(*this, getResultTypes(), inits, "(C5) the results");
}

} // namespace astra
