// Checks of the transformations.
#include "dialect/RegionChecks.h"

using namespace mlir;

namespace astra {

static SmallVector<Type> floatsOf(TypeRange types) {
  SmallVector<Type> floats;
  for (Type type : types)
    if (isFloatTensor(type))
      floats.push_back(type);
  return floats;
}

static SmallVector<Type> concat(TypeRange first, TypeRange second) {
  SmallVector<Type> all(first);
  llvm::append_range(all, second);
  return all;
}

/// Splits the inputs of vjp and jvp, and checks `wrt` against the arguments.
template <typename Op>
static LogicalResult splitInputs(Op op, SmallVectorImpl<Type> &arguments,
                                 SmallVectorImpl<Type> &others,
                                 SmallVectorImpl<Type> &wrtTypes,
                                 StringRef wrtConstraint) {
  size_t count = op.getNumArgs();
  if (count > op.getInputs().size())
    return op.emitOpError("(C1) ")
           << count << " arguments, but " << op.getInputs().size() << " inputs";
  llvm::append_range(arguments, op.getInputs().take_front(count).getTypes());
  llvm::append_range(others, op.getInputs().drop_front(count).getTypes());
  for (int64_t index : op.getWrt()) {
    if (!isAxis(index, count) || !isFloatTensor(arguments[index]))
      return op.emitOpError(wrtConstraint)
             << " wrt lists " << index << ", which is no float argument";
    wrtTypes.push_back(arguments[index]);
  }
  return checkArguments(op, op.getBody(), arguments, "(C1)");
}

LogicalResult VjpOp::verify() {
  SmallVector<Type> arguments, cotangents, gradients;
  if (failed(splitInputs(*this, arguments, cotangents, gradients, "(C3)")))
    return failure();
  SmallVector<Type> yielded = getYieldedTypes(getBody());
  if (failed(checkTypes(*this, cotangents, floatsOf(yielded),
                        "(C2) the cotangents")))
    return failure();
  return checkTypes(*this, getResultTypes(), concat(yielded, gradients),
                    "(C4) the results");
}

LogicalResult JvpOp::verify() {
  SmallVector<Type> arguments, tangents, expected;
  if (failed(splitInputs(*this, arguments, tangents, expected, "(C2)")) ||
      failed(checkTypes(*this, tangents, expected, "(C3) the tangents")))
    return failure();
  SmallVector<Type> yielded = getYieldedTypes(getBody());
  return checkTypes(*this, getResultTypes(), concat(yielded, floatsOf(yielded)),
                    "(C4) the results");
}

LogicalResult CustomDerivativeOp::verify() {
  TypeRange arguments = getInputs().getTypes(), results = getResultTypes();
  if (failed(checkArguments(*this, getPrimal(), arguments, "(C1)")) ||
      failed(checkYields(*this, getPrimal(), results, "(C1)")))
    return failure();
  if (getVjp().empty() && getJvp().empty())
    return emitOpError("(C4) there is no rule");
  SmallVector<Type> argFloats = floatsOf(arguments);
  SmallVector<Type> resultFloats = floatsOf(results);
  auto check = [&](Region &rule, TypeRange in, TypeRange out,
                   StringRef constraint) -> LogicalResult {
    if (rule.empty())
      return success();
    if (failed(checkArguments(*this, rule, concat(arguments, in), constraint)))
      return failure();
    return checkYields(*this, rule, out, constraint);
  };
  if (failed(check(getVjp(), resultFloats, argFloats, "(C2)")))
    return failure();
  return check(getJvp(), argFloats, resultFloats, "(C3)");
}

LogicalResult RematOp::verify() {
  if (failed(checkArguments(*this, getBody(), getInputs().getTypes(), "(C1)")))
    return failure();
  return checkYields(*this, getBody(), getResultTypes(), "(C2)");
}

} // namespace astra
