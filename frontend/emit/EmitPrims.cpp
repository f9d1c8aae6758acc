// Primitives: each becomes the operation of the same name.
#include "dialect/Attention.h"
#include "dialect/Checks.h"
#include "frontend/emit/Emitter.h"

using namespace mlir;

namespace astra::emit {

static StringRef getOpName(hir::Prim prim) {
  switch (prim) {
#define PRIM(Name, operands, doc)                                              \
  case hir::Prim::Name:                                                        \
    return Name##Op::getOperationName();
#include "frontend/check/Prims.def"
  }
  return "";
}

TypedAttr Emitter::getLiteral(const hir::PrimExpr *e) {
  const hir::Literal &literal = e->literal;
  hir::DType dtype = e->type->dtype;
  Type element = getElementType(dtype);
  if (!hir::isFloat(dtype)) {
    uint64_t bits = literal.negative ? -literal.magnitude : literal.magnitude;
    unsigned width = element.getIntOrFloatBitWidth();
    return IntegerAttr::get(element, APInt(64, bits).trunc(width));
  }
  if (dtype == hir::DType::F64)
    return FloatAttr::get(element, APFloat(literal.value));
  if (dtype == hir::DType::F32)
    return FloatAttr::get(element, APFloat(literal.valueF32));
  const llvm::fltSemantics &semantics =
      cast<FloatType>(element).getFloatSemantics();
  return FloatAttr::get(element,
                        APFloat(semantics, APInt(16, literal.valueHalf)));
}

//===-- Attributes --------------------------------------------------------===//

/// The dimensions of a primitive as lists of one length, one behind the other.
void Emitter::addDimLists(const hir::PrimExpr *e, Scope &scope,
                          ArrayRef<StringRef> names, OperationState &state) {
  ArrayRef<Dim> all(e->dims);
  size_t count = all.size() / names.size();
  for (StringRef name : names) {
    SmallVector<Dim> list;
    for (const Dim &dim : all.take_front(count))
      list.push_back(substitute(dim, *scope.frame));
    state.addAttribute(name, toAttr(b.getContext(), list));
    all = all.drop_front(count);
  }
}

void Emitter::addPrimAttributes(const hir::PrimExpr *e, Scope &scope,
                                OperationState &state) {
  auto ints = [&](ArrayRef<int64_t> values) {
    return b.getDenseI64ArrayAttr(values);
  };
  using hir::Prim;
  switch (e->prim) {
  case Prim::PowInt:
    state.addAttribute("exponent", b.getI64IntegerAttr(e->ints[0]));
    break;
  case Prim::Polygamma:
    state.addAttribute("order", b.getI64IntegerAttr(e->ints[0]));
    break;
  case Prim::Sinc:
  case Prim::Exprel:
    state.addAttribute("order", b.getI64IntegerAttr(0));
    break;
  case Prim::Const:
    state.addAttribute("value", getLiteral(e));
    break;
  case Prim::Iota:
  case Prim::Concat:
  case Prim::ArgMax:
  case Prim::ArgMin:
  case Prim::ArgSort:
  case Prim::Softmax:
  case Prim::LogSoftmax:
  case Prim::CumSum:
  case Prim::CumProd:
  case Prim::Sort:
    state.addAttribute("axis", b.getI64IntegerAttr(e->ints[0]));
    break;
  case Prim::Broadcast:
  case Prim::Flip:
  case Prim::Gather:
  case Prim::Sum:
  case Prim::Prod:
  case Prim::Max:
  case Prim::Min:
  case Prim::FirstMax:
  case Prim::Any:
  case Prim::All:
  case Prim::Norm:
  case Prim::LogSumExp:
    state.addAttribute("axes", ints(e->ints));
    break;
  case Prim::Scatter:
    state.addAttribute("axes", ints(e->ints));
    if (e->text == "add")
      state.addAttribute("add", b.getUnitAttr());
    break;
  case Prim::SolveTriangular:
    for (auto [name, isSet] : llvm::zip_equal(
             ArrayRef<StringRef>{"lower", "transpose", "unit_diagonal"},
             e->ints))
      if (isSet)
        state.addAttribute(name, b.getUnitAttr());
    break;
  case Prim::Transpose:
    state.addAttribute("perm", ints(e->ints));
    break;
  case Prim::Pad:
    addDimLists(e, scope, {"low", "high"}, state);
    break;
  case Prim::Contract: {
    ArrayRef<int64_t> all(e->ints);
    int64_t batch = all[0], summed = all[1];
    auto take = [&, rest = all.drop_front(2)](int64_t count) mutable {
      ArrayRef<int64_t> part = rest.take_front(count);
      rest = rest.drop_front(count);
      return ints(part);
    };
    state.addAttribute("batch_a", take(batch));
    state.addAttribute("batch_b", take(batch));
    state.addAttribute("contract_a", take(summed));
    state.addAttribute("contract_b", take(summed));
    break;
  }
  case Prim::Attention:
    if (e->ints[0])
      state.addAttribute("causal", b.getUnitAttr());
    if (e->ints[1])
      state.addAttribute("scale", b.getF64FloatAttr(e->literal.value));
    break;
  case Prim::Conv:
    state.addAttribute("batch", b.getI64IntegerAttr(e->ints[0]));
    addDimLists(e, scope, {"strides", "low", "dilations"}, state);
    state.addAttribute(
        "spread", toAttr(b.getContext(), SmallVector<Dim>(e->dims.size() / 3,
                                                          Dim::constant(1))));
    break;
  case Prim::Windows:
    addDimLists(e, scope, {"window", "strides", "dilations"}, state);
    break;
  case Prim::Assert:
  case Prim::AssertEq:
  case Prim::AssertClose:
  case Prim::Debug:
    state.addAttribute("text", b.getStringAttr(e->text));
    break;
  default:
    break;
  }
}

//===-- Boxes -------------------------------------------------------------===//

/// True where the box is outside whatever the dimensions are.
static bool isProvablyOutside(const Dim &start, const Dim &size,
                              const Dim &extent) {
  return start.asConstant().value_or(0) < 0 ||
         (extent - start - size).asConstant().value_or(0) < 0;
}

/// A start that expansion has shown to be outside becomes a run-time start: the
/// code may stand in a branch that is never taken, so it is an error of the
/// run.
FailureOr<Value> Emitter::emitBox(const hir::PrimExpr *e, Scope &scope,
                                  ArrayRef<Value> operands, TensorType type) {
  Location loc = getLoc(e->range);
  bool isUpdate = e->prim == hir::Prim::UpdateSlice;
  TensorType whole = getTensorType(operands[0]);
  TensorType part = isUpdate ? getTensorType(operands[1]) : type;
  ArrayRef<Value> given = operands.drop_front(isUpdate ? 2 : 1);
  SmallVector<Dim> starts;
  SmallVector<int64_t> axes;
  SmallVector<Value> indices;
  for (auto [axis, dim] : llvm::enumerate(e->dims)) {
    Dim start = substitute(dim, *scope.frame);
    Value index;
    if (llvm::is_contained(e->ints, static_cast<int64_t>(axis))) {
      index = given.front();
      given = given.drop_front();
    } else if (isProvablyOutside(start, part.getDim(axis),
                                 whole.getDim(axis))) {
      index = DimValueOp::create(b, loc, start).getResult();
    }
    starts.push_back(index ? Dim() : start);
    if (index) {
      axes.push_back(axis);
      indices.push_back(index);
    }
  }
  ArrayAttr startsAttr = toAttr(b.getContext(), starts);
  DenseI64ArrayAttr axesAttr = b.getDenseI64ArrayAttr(axes);
  if (!isUpdate)
    return SliceOp::create(b, loc, type, operands[0], indices, startsAttr,
                           axesAttr)
        .getResult();
  UnitAttr add = e->text == "add" ? b.getUnitAttr() : nullptr;
  return UpdateSliceOp::create(b, loc, type, operands[0], operands[1], indices,
                               startsAttr, axesAttr, add)
      .getResult();
}

//===-- Dimensions as numbers ---------------------------------------------===//

/// True if a divisor in it may be 0 (or -1, with which the least number has no
/// quotient): the expression is then an error of the run, where it stands.
static bool mayFail(const Dim &dim) {
  for (const auto &[monomial, coefficient] : dim.getTerms())
    for (const auto &[atom, power] : monomial)
      if (atom.kind != Dim::Atom::Name &&
          (atom.rhs->asConstant().value_or(0) <= 0 || mayFail(*atom.lhs)))
        return true;
  return false;
}

Value Emitter::emitDim(const Dim &dim, Location loc) {
  if (!mayFail(dim))
    return DimValueOp::create(b, loc, dim).getResult();
  Value sum;
  for (const auto &[monomial, coefficient] : dim.getTerms()) {
    Value product = DimValueOp::create(b, loc, Dim::constant(coefficient));
    for (const auto &[atom, power] : monomial)
      for (unsigned i = 0; i < power; ++i)
        product = MulOp::create(b, loc, product, emitAtom(atom, loc));
    sum = sum ? AddOp::create(b, loc, sum, product).getResult() : product;
  }
  return sum;
}

Value Emitter::emitAtom(const Dim::Atom &atom, Location loc) {
  if (atom.kind == Dim::Atom::Name)
    return DimValueOp::create(b, loc, Dim::ofAtom(atom)).getResult();
  Value lhs = emitDim(*atom.lhs, loc), rhs = emitDim(*atom.rhs, loc);
  if (atom.kind == Dim::Atom::FloorDiv)
    return DivOp::create(b, loc, lhs, rhs);
  return RemOp::create(b, loc, lhs, rhs);
}

//===-- Shapes that expansion refutes -------------------------------------===//

/// What was open in a function's own dimensions may be wrong in its caller's.
/// Where it may never be reached it is an error of the run that reaches it.
LogicalResult Emitter::requireFit(const hir::PrimExpr *e, TensorType from,
                                  TensorType to) {
  if (!isCertain)
    return success();
  auto differ = [](const Dim &a, const Dim &b) {
    return Dim::compare(a, b) == DimProof::Different;
  };
  if (e->prim == hir::Prim::Reshape) {
    Dim before = from.getNumElements(), after = to.getNumElements();
    if (differ(before, after))
      return fail(DiagCode::bad_reshape, e->range,
                  "in `" + current + "` " + before.str() +
                      " elements do not fill " + after.str());
    return success();
  }
  for (auto [a, b] : llvm::zip_equal(from.getShape(), to.getShape()))
    if (differ(a, b))
      return fail(DiagCode::shape_mismatch, e->range,
                  "in `" + current + "` an extent is " + a.str() +
                      " and cannot be " + b.str());
  return success();
}

/// Views with steps below 0 would leave their tensor. Strides and windows of 0
/// are refused where they divide; dilations divide nothing.
LogicalResult Emitter::requireSteps(const hir::PrimExpr *e, Scope &scope) {
  size_t count = e->dims.size() / 3;
  for (size_t i = 0; i < e->dims.size(); ++i) {
    if (e->prim == hir::Prim::Conv && i / count == 1)
      continue; // padding may be anything
    bool isDilation = i / count == 2;
    Dim step = substitute(e->dims[i], *scope.frame);
    Dim spare = step - Dim::constant(step.asConstant() || isDilation ? 1 : 0);
    if (!spare.isProvablyNonNegative())
      return fail(DiagCode::bad_window, e->range,
                  "in `" + current + "` a window, stride or dilation is " +
                      step.str() +
                      (step.asConstant() ? ", which is below 1"
                       : isDilation      ? ", which may be below 1"
                                         : ", which may be negative"));
  }
  return success();
}

//===-- Emission ----------------------------------------------------------===//

Emitter::Result Emitter::emitPrim(const hir::PrimExpr *e, Scope &scope) {
  Leaves operands;
  SmallVector<Type> types;
  if (failed(evaluateAll(e->operands, scope, operands)) ||
      failed(getLeafTypes(e->type, *scope.frame, e->range, types)))
    return failure();
  if (e->prim == hir::Prim::DimValue)
    return Leaves{
        emitDim(substitute(e->dims[0], *scope.frame), getLoc(e->range))};
  if (e->prim == hir::Prim::Slice || e->prim == hir::Prim::UpdateSlice) {
    FailureOr<Value> value =
        emitBox(e, scope, operands, cast<TensorType>(types[0]));
    return failed(value) ? Result(failure()) : Result(Leaves{*value});
  }
  if ((e->prim == hir::Prim::Reshape || e->prim == hir::Prim::CheckShape) &&
      failed(requireFit(e, getTensorType(operands[0]),
                        cast<TensorType>(types[0]))))
    return failure();
  if ((e->prim == hir::Prim::Conv || e->prim == hir::Prim::Windows) &&
      failed(requireSteps(e, scope)))
    return failure();
  if (e->prim == hir::Prim::Attention)
    types.push_back(getAttentionStatistic(getTensorType(operands[0])));
  OperationState state(getLoc(e->range), getOpName(e->prim), operands, types);
  addPrimAttributes(e, scope, state);
  Leaves results = create(state);
  if (e->prim == hir::Prim::Attention)
    results.pop_back(); // what only its gradient needs
  return results;
}

} // namespace astra::emit
