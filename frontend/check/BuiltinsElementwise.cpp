// Built-in functions that work element by element: one handler for each kind of
// operand, the rows of Builtins.def say which operation it emits. No MLIR.
#include "frontend/check/Checker.h"
#include "kernels/math/Order.h"

using namespace astra;
using namespace astra::check;

static bool isNumber(DType dtype) { return dtype != DType::Bool; }

Value Checker::elementwiseUnary(Call &call, bool floatOnly) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x"}, 1, args))
    return error();
  hir::Expr *x = floatOnly ? floatArg(*args[0], call, call.expected)
                           : tensorArg(*args[0], call.expected);
  if (!x)
    return error();
  if (!isNumber(x->type->dtype))
    return fail(DiagCode::bad_operand, args[0]->range,
                "`" + call.name + "` takes numbers, not `" +
                    hir::toString(x->type) + "`");
  return expr(prim(call.prim, x->type, {x}, call.range));
}

Value Checker::unaryFloat(Call &call) { return elementwiseUnary(call, true); }
Value Checker::unaryNumber(Call &call) { return elementwiseUnary(call, false); }

Value Checker::polygamma(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"k", "x"}, 2, args))
    return error();
  const ast::Expr *written = args[0]->ast;
  if (!written)
    return fail(DiagCode::not_constant, args[0]->range,
                "the order of `polygamma` must be a constant",
                "write a whole number: `polygamma(1, x)`");
  auto order = constantInt(written);
  if (!order)
    return error();
  if (*order < 0 || *order > MaxOrder)
    return fail(DiagCode::bad_order, args[0]->range,
                "there is no `polygamma` of order " + llvm::Twine(*order),
                "orders go from 0 (`digamma`) to " + llvm::Twine(MaxOrder));
  hir::Expr *x = floatArg(*args[1], call, call.expected);
  return x ? expr(prim(call.prim, x->type, {x}, call.range, {*order}))
           : error();
}

Value Checker::classify(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x"}, 1, args))
    return error();
  hir::Expr *x = floatArg(*args[0], call);
  if (!x)
    return error();
  return expr(
      prim(call.prim, withDType(x->type, DType::Bool), {x}, call.range));
}

/// Checks two arguments that share an element type: what is no literal first,
/// so that a literal takes its type from the other.
bool Checker::checkTwo(Arg &a, Arg &b, hir::Expr *&x, hir::Expr *&y,
                       Expected expected) {
  bool literalFirst = a.ast && literalClass(a.ast) != LiteralClass::None &&
                      !(b.ast && literalClass(b.ast) != LiteralClass::None);
  Arg &first = literalFirst ? b : a, &second = literalFirst ? a : b;
  hir::Expr *one = tensorArg(first, expected);
  if (!one)
    return false;
  hir::Expr *two = tensorArg(second, Expected(one->type->dtype));
  if (!two)
    return false;
  x = literalFirst ? two : one;
  y = literalFirst ? one : two;
  return true;
}

Value Checker::elementwiseBinary(Call &call,
                                 llvm::function_ref<bool(DType)> allowed,
                                 llvm::StringRef wanted) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"a", "b"}, 2, args))
    return error();
  Expected hint = call.expected;
  if (hint.dtype && !allowed(*hint.dtype))
    hint = Expected();
  if (!hint.dtype && wanted == "floats")
    hint = Expected(DType::F32);
  hir::Expr *x, *y;
  if (!checkTwo(*args[0], *args[1], x, y,
                hint.dtype ? Expected(*hint.dtype) : Expected()))
    return error();
  for (hir::Expr *e : {x, y})
    if (!allowed(e->type->dtype))
      return fail(DiagCode::bad_operand, e->range,
                  "`" + call.name + "` takes " + wanted + ", not `" +
                      hir::toString(e->type) + "`");
  return expr(elementwise(call.prim, x, y, call.range, call.name));
}

Value Checker::binaryNumber(Call &call) {
  return elementwiseBinary(call, isNumber, "numbers");
}
Value Checker::binaryFloat(Call &call) {
  return elementwiseBinary(call, hir::isFloat, "floats");
}
Value Checker::binaryBits(Call &call) {
  return elementwiseBinary(call, hir::isInteger, "integers");
}

Value Checker::bitwiseNot(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"a"}, 1, args))
    return error();
  hir::Expr *x = tensorArg(*args[0], call.expected);
  if (!x)
    return error();
  if (!hir::isInteger(x->type->dtype))
    return fail(DiagCode::bad_operand, args[0]->range,
                "`bitwise_not` takes integers, not `" + hir::toString(x->type) +
                    "`");
  return expr(unary(Prim::Not, x));
}

/// minimum(maximum(x, low), high): a NaN stays NaN.
Value Checker::clip(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "low", "high"}, 3, args))
    return error();
  hir::Expr *x, *low;
  if (!checkTwo(*args[0], *args[1], x, low, call.expected))
    return error();
  hir::Expr *high = tensorArg(*args[2], Expected(x->type->dtype));
  if (!high)
    return error();
  if (!isNumber(x->type->dtype))
    return fail(DiagCode::bad_operand, args[0]->range,
                "`clip` takes numbers, not `" + hir::toString(x->type) + "`");
  hir::Expr *raised = elementwise(Prim::Maximum, x, low, call.range, call.name);
  return raised ? expr(elementwise(Prim::Minimum, raised, high, call.range,
                                   call.name))
                : error();
}

Value Checker::where(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"condition", "a", "b"}, 3, args))
    return error();
  hir::Expr *condition = tensorArg(*args[0]);
  hir::Expr *x, *y;
  if (!condition ||
      !checkTwo(*args[1], *args[2], x, y,
                call.expected.dtype ? Expected(*call.expected.dtype)
                                    : Expected()))
    return error();
  if (condition->type->dtype != DType::Bool)
    return fail(DiagCode::condition_not_bool, args[0]->range,
                "the condition of `where` is bool, not `" +
                    hir::toString(condition->type) + "`",
                "compare it with something: `x > 0`");
  if (x->type->dtype != y->type->dtype) {
    Diagnostic &d = report(DiagCode::mixed_dtypes, call.range,
                           "both values of `where` have one element type");
    d.expected = hir::toString(x->type);
    d.found = hir::toString(y->type);
    return error();
  }
  auto values = broadcastShapes(x->type->shape, y->type->shape, call.range,
                                "the values of `where`");
  auto shape = values ? broadcastShapes(condition->type->shape, *values,
                                        call.range, "the condition of `where`")
                      : std::nullopt;
  if (!shape)
    return error();
  return expr(prim(Prim::Select, tensor(x->type->dtype, *shape),
                   {broadcastTo(condition, *shape), broadcastTo(x, *shape),
                    broadcastTo(y, *shape)},
                   call.range));
}
