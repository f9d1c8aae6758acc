// Calling built-in functions: the table, arguments by position and name, and
// the readings of arguments that many of them share. What each function means
// stands in BuiltinsElementwise, BuiltinsReduce, BuiltinsShape, BuiltinsMake,
// ... No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

const Checker::BuiltinInfo &Checker::getBuiltin(Builtin builtin) {
  static const BuiltinInfo table[] = {
#define BUILTIN(Id, name, handler, prim, signature)                            \
  {name, &Checker::handler, Prim::prim, signature},
#include "frontend/check/Builtins.def"
  };
  return table[static_cast<unsigned>(builtin)];
}

Value Checker::callBuiltin(Builtin builtin, Call &call) {
  const BuiltinInfo &info = getBuiltin(builtin);
  call.name = info.name;
  call.prim = info.prim;
  return (this->*info.handler)(call);
}

//===-- Arguments ---------------------------------------------------------===//

static std::string quoteAll(llvm::ArrayRef<llvm::StringRef> names) {
  std::string text;
  for (llvm::StringRef name : names)
    text += (text.empty() ? "`" : ", `") + name.str() + "`";
  return text;
}

bool Checker::takeArgs(Call &call, llvm::ArrayRef<llvm::StringRef> names,
                       unsigned required, std::vector<Arg *> &out) {
  out.assign(names.size(), nullptr);
  size_t next = 0;
  for (Arg &arg : call.args) {
    size_t index = next;
    if (!arg.name.text.empty()) {
      index = llvm::find(names, arg.name.text) - names.begin();
      if (index == names.size()) {
        fail(DiagCode::unknown_argument, arg.name.range,
             "`" + call.name + "` has no parameter `" + arg.name.text + "`",
             "its parameters are " + quoteAll(names));
        return false;
      }
    } else if (index >= names.size()) {
      fail(DiagCode::argument_count, arg.range,
           "`" + call.name + "` takes at most " + llvm::Twine(names.size()) +
               (names.size() == 1 ? " argument" : " arguments"),
           "its parameters are " + quoteAll(names));
      return false;
    } else {
      ++next;
    }
    if (out[index]) {
      fail(DiagCode::duplicate_argument, arg.range,
           "`" + names[index] + "` is given twice");
      return false;
    }
    out[index] = &arg;
  }
  for (unsigned i = 0; i < required; ++i)
    if (!out[i]) {
      fail(DiagCode::argument_count, call.range,
           "`" + call.name + "` is missing its argument `" + names[i] + "`",
           "its parameters are " + quoteAll(names));
      return false;
    }
  return true;
}

hir::Expr *Checker::tensorArg(Arg &arg, Expected expected) {
  Value value = argValue(arg, expected);
  if (value.isError())
    return nullptr;
  hir::Expr *e = toRuntime(value, arg.range);
  if (!e)
    return nullptr;
  if (e->type->kind == hir::TypeKind::Tensor)
    return e;
  fail(DiagCode::bad_operand, arg.range,
       "a tensor is wanted here, not `" + hir::toString(e->type) + "`");
  return nullptr;
}

hir::Expr *Checker::floatArg(Arg &arg, Call &call, Expected expected) {
  if (!expected.dtype || !hir::isFloat(*expected.dtype))
    expected = Expected(DType::F32);
  hir::Expr *e = tensorArg(arg, Expected(*expected.dtype));
  if (!e || hir::isFloat(e->type->dtype))
    return e;
  Diagnostic &d = report(DiagCode::bad_operand, arg.range,
                         "`" + call.name + "` takes floats");
  d.found = hir::toString(e->type);
  d.help = "convert it: `f32(...)`";
  return nullptr;
}

hir::Expr *Checker::tensorAndAxis(Call &call, Arg *&axis) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "axis"}, 1, args))
    return nullptr;
  axis = args[1];
  return tensorArg(*args[0]);
}

TypeRef Checker::typeArg(Arg &arg) {
  if (arg.ast)
    return typeFromExpr(arg.ast, true);
  fail(DiagCode::type_wanted, arg.range,
       "a type is wanted here, such as `f32[n]`");
  return nullptr;
}

//===-- Axes and shapes ---------------------------------------------------===//

std::optional<int64_t> Checker::normaliseAxis(int64_t axis, unsigned rank,
                                              SourceRange range) {
  int64_t positive = axis < 0 ? axis + int64_t(rank) : axis;
  if (positive >= 0 && positive < int64_t(rank))
    return positive;
  fail(DiagCode::bad_axis, range,
       "there is no axis " + llvm::Twine(axis) + " in a tensor of rank " +
           llvm::Twine(rank),
       rank == 0 ? llvm::Twine("a scalar has no axes")
                 : "axes go from 0 to " + llvm::Twine(rank - 1) +
                       ", or from -" + llvm::Twine(rank) + " to -1");
  return std::nullopt;
}

/// The value of an argument that must be a constant.
static const ast::Expr *written(Arg &arg) { return arg.ast; }

std::optional<int64_t> Checker::axisArg(Arg *arg, unsigned rank,
                                        int64_t byDefault) {
  if (!arg) {
    int64_t positive = byDefault < 0 ? byDefault + int64_t(rank) : byDefault;
    if (positive >= 0 && positive < int64_t(rank))
      return positive;
    return normaliseAxis(byDefault, rank, SourceRange());
  }
  if (!written(*arg)) {
    fail(DiagCode::not_constant, arg->range, "an axis must be a constant",
         "write a whole number: `axis = 0`, or -1 for the last axis");
    return std::nullopt;
  }
  auto value = constantInt(arg->ast);
  return value ? normaliseAxis(*value, rank, arg->range) : std::nullopt;
}

std::optional<std::vector<int64_t>> Checker::axesArg(Arg *arg, unsigned rank) {
  std::vector<int64_t> axes;
  if (!arg) {
    for (unsigned axis = 0; axis < rank; ++axis)
      axes.push_back(axis);
    return axes;
  }
  if (!written(*arg)) {
    fail(DiagCode::not_constant, arg->range, "axes must be constants",
         "write a whole number or a tuple of them: `axis = (0, 2)`");
    return std::nullopt;
  }
  for (const ast::Expr *e : writtenElements(arg->ast)) {
    auto value = constantInt(e);
    auto axis = value ? normaliseAxis(*value, rank, e->range) : std::nullopt;
    if (!axis)
      return std::nullopt;
    if (llvm::is_contained(axes, *axis)) {
      fail(DiagCode::bad_axis, e->range,
           "axis " + llvm::Twine(*axis) + " stands here twice");
      return std::nullopt;
    }
    axes.push_back(*axis);
  }
  llvm::sort(axes);
  return axes;
}

static bool isMinusOne(const ast::Expr *e) {
  auto *neg = llvm::dyn_cast<ast::UnaryExpr>(e);
  auto *one = neg && neg->op == ast::UnaryOp::Neg
                  ? llvm::dyn_cast<ast::IntLitExpr>(neg->operand)
                  : nullptr;
  return one && one->value == 1;
}

/// A shape written as [a, b]; with `total`, one -1 is worked out.
std::optional<Shape> Checker::shapeArg(Arg &arg, const Dim *total) {
  if (!written(arg)) {
    fail(DiagCode::not_a_dimension, arg.range,
         "a shape must be written out, like [n, 2 * d]");
    return std::nullopt;
  }
  Shape shape;
  Dim known = Dim::constant(1);
  std::optional<size_t> open;
  for (const ast::Expr *e : writtenElements(arg.ast)) {
    if (total && isMinusOne(e)) {
      if (open) {
        fail(DiagCode::bad_reshape, e->range, "only one extent may be -1");
        return std::nullopt;
      }
      open = shape.size();
      shape.push_back(Dim());
      continue;
    }
    auto dim = dimArgument(e);
    if (!dim)
      return std::nullopt;
    if (auto value = dim->asConstant(); value && *value < 0) {
      fail(DiagCode::negative_extent, e->range,
           "an extent cannot be " + show(*dim));
      return std::nullopt;
    }
    shape.push_back(*dim);
    known = known * *dim;
  }
  if (open) {
    if (known.isConstant(0)) {
      fail(DiagCode::bad_reshape, arg.range,
           "-1 cannot be worked out beside an extent of 0");
      return std::nullopt;
    }
    shape[*open] = Dim::floordiv(*total, known);
  }
  return shape;
}
