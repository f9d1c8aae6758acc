// The built-in function attention(q, k, v, causal, mask, scale). No MLIR.
#include "frontend/check/Checker.h"

using namespace astra;
using namespace astra::check;

static Shape withMatrix(Shape batch, const Dim &rows, const Dim &columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// q, k and v as floats of one type and one rank of at least 2.
bool Checker::attentionOperands(Call &call, llvm::ArrayRef<Arg *> args,
                                std::vector<hir::Expr *> &operands) {
  for (Arg *arg : args) {
    hir::Expr *e = operands.empty()
                       ? floatArg(*arg, call, call.expected)
                       : floatArg(*arg, call, operands[0]->type->dtype);
    if (!e)
      return false;
    const hir::Expr *first = operands.empty() ? e : operands[0];
    Diagnostic *d = nullptr;
    if (e->type->shape.size() < 2)
      d = &report(DiagCode::rank_mismatch, arg->range,
                  "queries, keys and values have at least two axes");
    else if (e->type->shape.size() != first->type->shape.size())
      d = &report(DiagCode::rank_mismatch, arg->range,
                  "queries, keys and values have one rank");
    else if (e->type->dtype != first->type->dtype)
      d = &report(DiagCode::mixed_dtypes, arg->range,
                  "queries, keys and values have one element type");
    if (d) {
      d->expected = e == first ? "`T[.., n, d]`" : hir::toString(first->type);
      d->found = hir::toString(e->type);
      return false;
    }
    operands.push_back(e);
  }
  return true;
}

/// Do the leading axes agree?
static bool sameBatch(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b,
                      llvm::function_ref<bool(const Dim &, const Dim &)> same) {
  for (auto [x, y] : llvm::zip_equal(a.drop_back(2), b.drop_back(2)))
    if (!same(x, y))
      return false;
  return true;
}

/// A bool tensor that broadcasts to the pairs of queries and keys.
hir::Expr *Checker::attentionMask(Arg &arg, const Shape &pairs) {
  hir::Expr *mask = tensorArg(arg, Expected(DType::Bool));
  if (!mask)
    return nullptr;
  if (mask->type->dtype != DType::Bool) {
    Diagnostic &d = report(DiagCode::bad_operand, arg.range,
                           "a mask is made of bools: true where a query may "
                           "see a key");
    d.found = hir::toString(mask->type);
    d.help = "compare: `mask > 0`";
    return nullptr;
  }
  const Shape &shape = mask->type->shape;
  if (shape.size() > pairs.size()) {
    fail(DiagCode::rank_mismatch, arg.range,
         "`" + hir::toString(mask->type) +
             "` has more axes than the pairs of queries and keys");
    return nullptr;
  }
  size_t missing = pairs.size() - shape.size();
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (!shape[axis].isConstant(1) &&
        !requireEqual(shape[axis], pairs[missing + axis], arg.range,
                      "axis " + llvm::Twine(axis) + " of the mask"))
      return nullptr;
  return broadcastTo(mask, pairs);
}

/// The number behind `scale =`.
std::optional<double> Checker::attentionScale(Arg &arg) {
  hir::Expr *e = tensorArg(arg, Expected(DType::F64));
  if (!e)
    return std::nullopt;
  auto *constant = llvm::dyn_cast<hir::PrimExpr>(e);
  if (constant && constant->prim == Prim::Const) {
    if (e->type->dtype == DType::F64)
      return constant->literal.value;
    if (e->type->dtype == DType::F32)
      return constant->literal.valueF32;
  }
  fail(DiagCode::not_constant, arg.range,
       "a scale must be written as one number",
       "multiply the queries by a scale that only the run knows, and give "
       "`scale = 1.0`");
  return std::nullopt;
}

Value Checker::attention(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"q", "k", "v", "causal", "mask", "scale"}, 3, args))
    return error();
  std::vector<hir::Expr *> operands;
  if (!attentionOperands(call, {args[0], args[1], args[2]}, operands))
    return error();
  const Shape &q = operands[0]->type->shape, &k = operands[1]->type->shape,
              &v = operands[2]->type->shape;
  size_t rank = q.size();
  auto same = [&](unsigned arg, const char *what) {
    return [this, &args, arg, what](const Dim &a, const Dim &b) {
      return requireEqual(a, b, args[arg]->range, what);
    };
  };
  if (!sameBatch(k, q, same(1, "the leading axes of queries and keys")) ||
      !sameBatch(v, k, same(2, "the leading axes of keys and values")) ||
      !same(1, "the length of queries and keys")(k[rank - 1], q[rank - 1]) ||
      !same(2, "the number of keys and values")(v[rank - 2], k[rank - 2]))
    return error();
  Shape batch(q.begin(), q.end() - 2);
  std::optional<bool> causal = false;
  if (args[3]) {
    causal = args[3]->ast ? constantBool(args[3]->ast) : std::nullopt;
    if (!causal)
      return error();
  }
  if (args[4]) {
    hir::Expr *mask =
        attentionMask(*args[4], withMatrix(batch, q[rank - 2], k[rank - 2]));
    if (!mask)
      return error();
    operands.push_back(mask);
  }
  std::optional<double> scale;
  if (args[5] && !(scale = attentionScale(*args[5])))
    return error();
  TypeRef type = tensor(operands[0]->type->dtype,
                        withMatrix(batch, q[rank - 2], v[rank - 1]));
  hir::Expr *result = prim(Prim::Attention, type, operands, call.range,
                           {*causal, scale.has_value()});
  llvm::cast<hir::PrimExpr>(result)->literal.value = scale.value_or(0);
  return expr(result);
}
