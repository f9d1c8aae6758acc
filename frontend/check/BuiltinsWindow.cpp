// conv, max_pool, avg_pool: reading strides, paddings, dilations and groups,
// and the extents of what comes of them. A group becomes a batch axis of the
// convolution, a pooling a reduction of the windows of its padded operand. No
// MLIR.
#include "frontend/check/Checker.h"
#include <limits>

using namespace astra;
using namespace astra::check;

/// A call under way: how windows lie over the spatial axes of x, one entry of
/// each list per axis.
struct Checker::WindowCall {
  Checker &c;
  Call &call;
  Shape extents, window, stride, dilation, low, high;
  Shape counts; // of windows: the extents of the result

  WindowCall(Checker &c, Call &call) : c(c), call(call) {}

  hir::Expr *takeImage(Arg &arg, Expected expected);
  bool readSteps(Arg *arg, llvm::StringRef what, Shape &steps);
  bool readPadding(Arg *arg);
  bool readSame(SourceRange range);
  bool readPads(const ast::Expr *list);
  bool countWindows();
  hir::Expr *convolve(hir::Expr *x, hir::Expr *w, const Dim &groups);
  hir::Expr *pad(hir::Expr *x, bool isMax);
  hir::Expr *leastOf(DType dtype);

  unsigned getRank() const { return extents.size(); }
  /// The extent that one window covers.
  Dim getReach(unsigned axis) const {
    return dilation[axis] * (window[axis] - Dim::constant(1)) +
           Dim::constant(1);
  }
  Dim getPadded(unsigned axis) const {
    return extents[axis] + low[axis] + high[axis];
  }
  Shape repeat(int64_t value) const {
    return Shape(getRank(), Dim::constant(value));
  }
};

//===-- Arguments ---------------------------------------------------------===//

/// A tensor of numbers with 1 to 3 spatial axes behind two others.
hir::Expr *Checker::WindowCall::takeImage(Arg &arg, Expected expected) {
  hir::Expr *e = c.tensorArg(arg, expected);
  if (!e)
    return nullptr;
  if (e->type->dtype == DType::Bool) {
    c.fail(DiagCode::bad_operand, arg.range,
           "`" + call.name + "` takes numbers, not `" + hir::toString(e->type) +
               "`");
    return nullptr;
  }
  size_t rank = e->type->shape.size();
  if (rank >= 3 && rank <= 5)
    return e;
  Diagnostic &d =
      c.report(DiagCode::rank_mismatch, arg.range,
               "`" + call.name +
                   "` wants two axes and 1 to 3 spatial ones behind "
                   "them");
  d.expected = "a tensor of rank 3, 4 or 5, such as f32[n, c, h, w]";
  d.found = hir::toString(e->type);
  d.help = "add an axis of extent 1 with `expand_dims`";
  return nullptr;
}

/// One number for all axes, or a list with one for each, as many as `steps` has
/// or, where it is empty, as there are spatial axes. Left out, it stays as it
/// is. `what`: "stride".
bool Checker::WindowCall::readSteps(Arg *arg, llvm::StringRef what,
                                    Shape &steps) {
  unsigned spatial = steps.empty() ? getRank() : steps.size();
  if (!arg)
    return true;
  Shape given;
  bool isList = arg->ast && llvm::isa<ast::ArrayExpr, ast::TupleExpr>(arg->ast);
  auto add = [&](std::optional<Dim> dim, SourceRange range) {
    if (!dim)
      return false;
    if (auto value = dim->asConstant(); value && *value < 1) {
      c.fail(DiagCode::bad_window, range,
             "a " + what + " is at least 1, not " + llvm::Twine(*value),
             "write a number from 1 up");
      return false;
    }
    given.push_back(*dim);
    return true;
  };
  if (!isList) {
    if (!add(c.dimArg(*arg), arg->range))
      return false;
    steps.assign(spatial, given[0]);
    return true;
  }
  for (const ast::Expr *e : c.writtenElements(arg->ast))
    if (!add(c.dimArgument(e), e->range))
      return false;
  if (given.size() != spatial) {
    Diagnostic &d = c.report(DiagCode::bad_window, arg->range,
                             "a " + what + " has one entry per spatial axis");
    d.expected =
        std::to_string(spatial) + (spatial == 1 ? " entry" : " entries");
    d.found = std::to_string(given.size());
    d.help = "write one number for all spatial axes, or a list of " +
             std::to_string(spatial);
    return false;
  }
  steps = given;
  return true;
}

//===-- Padding -----------------------------------------------------------===//

/// As many windows as strides fit, the padding in halves, the larger one
/// behind.
bool Checker::WindowCall::readSame(SourceRange range) {
  Dim one = Dim::constant(1), two = Dim::constant(2);
  for (unsigned axis = 0; axis < getRank(); ++axis) {
    const Dim &extent = extents[axis], &step = stride[axis];
    Dim count = Dim::floordiv(extent + step - one, step);
    Dim total = (count - one) * step + getReach(axis) - extent;
    if (auto value = total.asConstant(); value && *value < 0)
      total = Dim();
    // Elsewhere it is never negative if a window reaches over a stride.
    Dim spare = getReach(axis) - step;
    if (!total.asConstant() && !step.isConstant(1) &&
        !spare.isProvablyNonNegative()) {
      c.fail(DiagCode::bad_window, range,
             "\"same\" cannot be worked out along an axis of extent `" +
                 show(extent) + "` with stride `" + show(step) +
                 "` and a window over `" + show(getReach(axis)) + "`",
             "write the padding as (low, high) pairs");
      return false;
    }
    low.push_back(Dim::floordiv(total, two));
    high.push_back(total - low.back());
  }
  return true;
}

/// A number or a pair (low, high) for each spatial axis.
bool Checker::WindowCall::readPads(const ast::Expr *list) {
  auto entries = c.writtenElements(list);
  bool isPair = llvm::isa<ast::TupleExpr>(list) && entries.size() == 2 &&
                !llvm::isa<ast::TupleExpr>(entries[0]);
  if (isPair && getRank() == 1)
    entries = {list};
  if (entries.size() != getRank()) {
    Diagnostic &d =
        c.report(DiagCode::bad_window, list->range,
                 "a padding has one entry per spatial axis: a number, or "
                 "(low, high)");
    d.expected =
        std::to_string(getRank()) + (getRank() == 1 ? " entry" : " entries");
    d.found = std::to_string(entries.size());
    d.help = "write one number for all spatial axes, or a list of " +
             std::to_string(getRank());
    return false;
  }
  for (const ast::Expr *entry : entries) {
    auto ends = c.writtenElements(entry);
    if (ends.size() > 2 || ends.empty()) {
      c.fail(DiagCode::bad_window, entry->range,
             "the padding of an axis is a number, or (low, high)",
             "write how many elements are added in front and behind");
      return false;
    }
    for (Shape *side : {&low, &high}) {
      auto width = c.dimArgument(side == &low ? ends.front() : ends.back());
      if (!width)
        return false;
      if (width->asConstant().value_or(0) < 0) {
        c.fail(DiagCode::bad_window, entry->range, "a padding is negative",
               "slice `x` to leave elements out");
        return false;
      }
      side->push_back(*width);
    }
  }
  return true;
}

bool Checker::WindowCall::readPadding(Arg *arg) {
  if (!arg) {
    low = repeat(0);
    high = repeat(0);
    return true;
  }
  if (auto *text = llvm::dyn_cast_or_null<ast::StringLitExpr>(arg->ast)) {
    if (text->value == "same")
      return readSame(arg->range);
    if (text->value == "valid")
      return readPadding(nullptr);
    c.fail(DiagCode::bad_window, arg->range,
           "there is no padding \"" + text->value + "\"",
           "it is \"same\", \"valid\", a number, or a list with a number or "
           "(low, high) per spatial axis");
    return false;
  }
  if (arg->ast && llvm::isa<ast::ArrayExpr, ast::TupleExpr>(arg->ast))
    return readPads(arg->ast);
  auto width = c.dimArg(*arg);
  if (!width)
    return false;
  if (width->asConstant().value_or(0) < 0) {
    c.fail(DiagCode::bad_window, arg->range, "a padding is negative",
           "slice `x` to leave elements out");
    return false;
  }
  low.assign(getRank(), *width);
  high = low;
  return true;
}

/// What is not known to be negative here is checked when the program runs.
bool Checker::WindowCall::countWindows() {
  for (unsigned axis = 0; axis < getRank(); ++axis) {
    Dim room = getPadded(axis) - getReach(axis);
    Dim count = Dim::floordiv(room, stride[axis]) + Dim::constant(1);
    if (count.hasOverflow()) {
      c.fail(DiagCode::dimension_overflow, call.range,
             "spatial axis " + llvm::Twine(axis) +
                 " with its padding, or its window with its dilation, does "
                 "not fit 64 bits",
             "take a smaller window, padding or dilation");
      return false;
    }
    if (count.asConstant().value_or(0) < 0) {
      Diagnostic &d = c.report(DiagCode::bad_window, call.range,
                               "a window is larger than spatial axis " +
                                   llvm::Twine(axis) + " with its padding");
      d.expected = "at least " + show(getReach(axis)) + " elements";
      d.found = show(getPadded(axis));
      d.help = "pad `x`, or take a smaller window";
      return false;
    }
    counts.push_back(count);
  }
  return true;
}

//===-- Convolution -------------------------------------------------------===//

static std::vector<Dim> joined(std::initializer_list<const Shape *> lists) {
  std::vector<Dim> all;
  for (const Shape *list : lists)
    all.insert(all.end(), list->begin(), list->end());
  return all;
}

/// n, c and s.. or o, c and k.. with a first axis of groups, which becomes a
/// batch axis, or without.
hir::Expr *Checker::WindowCall::convolve(hir::Expr *x, hir::Expr *w,
                                         const Dim &groups) {
  SourceRange range = call.range;
  DType dtype = x->type->dtype;
  std::vector<Dim> dims = joined({&stride, &low, &dilation});
  const Shape &from = x->type->shape, &by = w->type->shape;
  Shape shape = {from[0], by[0]};
  shape.insert(shape.end(), counts.begin(), counts.end());
  if (groups.isConstant(1))
    return c.prim(Prim::Conv, c.tensor(dtype, shape), {x, w}, range, {0}, dims);
  Dim outputs = Dim::floordiv(by[0], groups); // of a group
  auto split = [&](hir::Expr *e, unsigned axis, const Dim &extent) {
    Shape parts = e->type->shape;
    parts[axis] = extent;
    parts.insert(parts.begin() + axis, groups);
    return c.moveAxes(c.reshape(e, parts), {axis});
  };
  Shape each = shape;
  each[1] = outputs;
  each.insert(each.begin(), groups);
  hir::Expr *y =
      c.prim(Prim::Conv, c.tensor(dtype, each),
             {split(x, 1, by[1]), split(w, 0, outputs)}, range, {1}, dims);
  return c.reshape(c.moveAxes(y, {1}), shape);
}

Value Checker::conv(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "w", "stride", "padding", "dilation", "groups"}, 2,
                args))
    return error();
  WindowCall spec(*this, call);
  hir::Expr *x = spec.takeImage(*args[0], call.expected);
  hir::Expr *w =
      x ? spec.takeImage(*args[1], Expected(x->type->dtype)) : nullptr;
  if (!w)
    return error();
  const Shape &from = x->type->shape, &by = w->type->shape;
  bool mixed = x->type->dtype != w->type->dtype;
  if (mixed || from.size() != by.size()) {
    Diagnostic &d = report(
        mixed ? DiagCode::mixed_dtypes : DiagCode::rank_mismatch,
        args[1]->range,
        mixed ? "`conv` takes two tensors of one element type"
              : "`conv` takes weights with the spatial axes of `x`: [o, c, k..]"
                " for [n, c, s..]");
    d.expected = hir::toString(x->type);
    d.found = hir::toString(w->type);
    return error();
  }
  spec.extents.assign(from.begin() + 2, from.end());
  spec.window.assign(by.begin() + 2, by.end());
  spec.stride = spec.repeat(1);
  spec.dilation = spec.repeat(1);
  Shape groups = {Dim::constant(1)};
  if (!spec.readSteps(args[2], "stride", spec.stride) ||
      !spec.readSteps(args[4], "dilation", spec.dilation) ||
      !spec.readSteps(args[5], "number of groups", groups) ||
      !spec.readPadding(args[3]) || !spec.countWindows() ||
      !requireEqual(by[1] * groups[0], from[1], args[1]->range,
                    groups[0].isConstant(1)
                        ? "the number of channels"
                        : "the number of channels, groups times those of `w`,"))
    return error();
  Dim outputs = Dim::floordiv(by[0], groups[0]) * groups[0];
  if (!isProvablyEqual(outputs, by[0])) {
    Diagnostic &d = report(DiagCode::bad_window, args[5]->range,
                           "the groups must divide the output channels");
    d.expected = "a multiple of " + show(groups[0]);
    d.found = show(by[0]) + " output channels";
    d.help = by[0].asConstant() ? "take another number of groups or of outputs"
                                : "write that extent as a product, `" +
                                      show(groups[0]) + " * m`";
    return error();
  }
  return expr(spec.convolve(x, w, groups[0]));
}

//===-- Pooling -----------------------------------------------------------===//

/// The identity of `max`.
hir::Expr *Checker::WindowCall::leastOf(DType dtype) {
  SourceRange range = call.range;
  switch (dtype) {
  case DType::I8:
    return c.makeInt(std::numeric_limits<int8_t>::min(), dtype, range);
  case DType::I16:
    return c.makeInt(std::numeric_limits<int16_t>::min(), dtype, range);
  case DType::I32:
    return c.makeInt(std::numeric_limits<int32_t>::min(), dtype, range);
  case DType::I64:
    return c.makeInt(std::numeric_limits<int64_t>::min(), dtype, range);
  default:
    return hir::isFloat(dtype)
               ? c.makeFloat(-std::numeric_limits<double>::infinity(), dtype,
                             range)
               : c.zero(dtype, range);
  }
}

/// Around the spatial axes 0, or for a maximum what no element is below.
hir::Expr *Checker::WindowCall::pad(hir::Expr *x, bool isMax) {
  SourceRange range = call.range;
  auto isZero = [](const Dim &dim) { return dim.isConstant(0); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  DType dtype = x->type->dtype;
  Shape before(2), behind(2), shape = x->type->shape;
  before.insert(before.end(), low.begin(), low.end());
  behind.insert(behind.end(), high.begin(), high.end());
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    shape[axis] = before[axis] + shape[axis] + behind[axis];
  return c.prim(Prim::Pad, c.tensor(dtype, shape),
                {x, isMax ? leastOf(dtype) : c.zero(dtype, range)}, range, {},
                joined({&before, &behind}));
}

Value Checker::pool(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"x", "window", "stride", "padding"}, 2, args))
    return error();
  WindowCall spec(*this, call);
  hir::Expr *x = spec.takeImage(*args[0], call.expected);
  if (!x)
    return error();
  bool isMax = call.prim == Prim::FirstMax;
  if (!isMax && !hir::isFloat(x->type->dtype))
    return fail(DiagCode::bad_operand, args[0]->range,
                "`avg_pool` takes floats, not `" + hir::toString(x->type) + "`",
                "convert it: `f32(...)`");
  spec.extents.assign(x->type->shape.begin() + 2, x->type->shape.end());
  unsigned spatial = spec.getRank();
  spec.dilation = spec.repeat(1);
  if (!spec.readSteps(args[1], "window", spec.window))
    return error();
  spec.stride = spec.window;
  if (!spec.readSteps(args[2], "stride", spec.stride) ||
      !spec.readPadding(args[3]) || !spec.countWindows())
    return error();
  x = spec.pad(x, isMax);
  Shape shape(x->type->shape.begin(), x->type->shape.begin() + 2);
  for (const Shape *list : {&spec.counts, &spec.window})
    shape.insert(shape.end(), list->begin(), list->end());
  hir::Expr *windows =
      prim(Prim::Windows, tensor(x->type->dtype, shape), {x}, call.range, {},
           joined({&spec.window, &spec.stride, &spec.dilation}));
  std::vector<int64_t> axes;
  for (unsigned axis = 0; axis < spatial; ++axis)
    axes.push_back(2 + spatial + axis);
  return expr(isMax ? reduce(Prim::FirstMax, windows, axes)
                    : average(windows, axes, call.range));
}
