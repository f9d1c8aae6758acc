// Operators: arithmetic and comparisons with literals that adapt, powers,
// logic, the matrix product, and arithmetic on trees leaf by leaf. No MLIR.
#include "frontend/check/Checker.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

//===-- Operators ---------------------------------------------------------===//

static Prim primOf(ast::BinaryOp op) {
  switch (op) {
  case ast::BinaryOp::Add:
    return Prim::Add;
  case ast::BinaryOp::Sub:
    return Prim::Sub;
  case ast::BinaryOp::Mul:
    return Prim::Mul;
  case ast::BinaryOp::Div:
    return Prim::Div;
  case ast::BinaryOp::Rem:
    return Prim::Rem;
  case ast::BinaryOp::Pow:
    return Prim::Pow;
  case ast::BinaryOp::Eq:
    return Prim::Eq;
  case ast::BinaryOp::Ne:
    return Prim::Ne;
  case ast::BinaryOp::Lt:
    return Prim::Lt;
  case ast::BinaryOp::Le:
    return Prim::Le;
  case ast::BinaryOp::Gt:
    return Prim::Gt;
  case ast::BinaryOp::Ge:
    return Prim::Ge;
  case ast::BinaryOp::And:
    return Prim::And;
  case ast::BinaryOp::Or:
    return Prim::Or;
  case ast::BinaryOp::MatMul:
    return Prim::Contract;
  }
  return Prim::Add;
}

static bool isComparison(ast::BinaryOp op) {
  return op >= ast::BinaryOp::Eq && op <= ast::BinaryOp::Ge;
}

Value Checker::checkUnary(const ast::UnaryExpr *e, Expected expected) {
  bool isNeg = e->op == ast::UnaryOp::Neg;
  DType literalType = expected.dtype.value_or(DType::I64);
  if (auto *lit = llvm::dyn_cast<ast::IntLitExpr>(e->operand); lit && isNeg) {
    std::optional<Dim> dim;
    if (isInteger(literalType) && lit->value <= uint64_t(INT64_MAX))
      dim = Dim::constant(-static_cast<int64_t>(lit->value));
    return expr(makeIntLit(lit->value, true, literalType, e->range), dim);
  }
  if (auto *lit = llvm::dyn_cast<ast::FloatLitExpr>(e->operand); lit && isNeg)
    return expr(makeFloatLit(lit->text, true,
                             expected.dtype.value_or(DType::F32), e->range));
  Value operand = check(e->operand, isNeg ? expected : Expected());
  Expr *x = toRuntime(operand, e->operand->range);
  if (!x)
    return error();
  if (isNeg && isTree(x->type))
    return expr(mapLeaves(
        {x}, e->range, [&](llvm::ArrayRef<Expr *> leaf, const std::string &) {
          return unary(Prim::Neg, leaf[0]);
        }));
  bool isBool =
      x->type->kind == TypeKind::Tensor && x->type->dtype == DType::Bool;
  if (isBool == isNeg || isTree(x->type))
    return fail(DiagCode::bad_operand, e->range,
                isNeg ? "`-` does not take `" + toString(x->type) + "`"
                      : "`!` takes a bool, and this is `" + toString(x->type) +
                            "`");
  if (!isNeg)
    return expr(prim(Prim::Not, x->type, {x}, e->range));
  std::optional<Dim> dim;
  if (operand.dim)
    dim = Dim() - *operand.dim;
  if (dim && x->type->dtype == DType::I64 && isClosed(*dim) &&
      !dim->hasOverflow())
    return dimAsValue(*dim, e->range);
  return expr(prim(Prim::Neg, x->type, {x}, e->range), dim);
}

Expected Checker::hintOf(const Value &value) {
  if (!value.isExpr())
    return {};
  if (value.type()->kind == TypeKind::Tensor)
    return Expected(value.type()->dtype);
  std::vector<TypeRef> all = leaves(value.type());
  return all.empty() ? Expected() : Expected(all.front()->dtype);
}

/// Both operands; literals take the type of the other one.
void Checker::checkOperands(const ast::Expr *lhs, const ast::Expr *rhs,
                            Expected hint, Value &l, Value &r) {
  LiteralClass left = literalClass(lhs), right = literalClass(rhs);
  if (left != LiteralClass::None && right != LiteralClass::None) {
    if (!hint.dtype)
      hint.dtype = std::max(left, right) == LiteralClass::Float ? DType::F32
                                                                : DType::I64;
    l = check(lhs, hint);
    r = check(rhs, hint);
  } else if (left != LiteralClass::None) {
    r = check(rhs, hint);
    l = check(lhs, r.isError() ? hint : hintOf(r));
  } else {
    l = check(lhs, hint);
    r = check(rhs,
              right != LiteralClass::None && !l.isError() ? hintOf(l) : hint);
  }
}

Value Checker::checkBinary(const ast::BinaryExpr *e, Expected expected) {
  if (e->op == ast::BinaryOp::And || e->op == ast::BinaryOp::Or)
    return checkLogical(e);
  if (e->op == ast::BinaryOp::Pow)
    return checkPow(e, expected);
  Expected hint;
  if (!isComparison(e->op))
    hint.dtype = expected.dtype;
  Value lhs, rhs;
  checkOperands(e->lhs, e->rhs, hint, lhs, rhs);
  return binary(e->op, e->opRange, e->range, lhs, rhs);
}

Value Checker::binary(ast::BinaryOp op, SourceRange opRange, SourceRange range,
                      Value lhs, Value rhs) {
  Expr *l = toRuntime(lhs, lhs.range), *r = toRuntime(rhs, rhs.range);
  if (!l || !r)
    return error();
  if (isTree(l->type) || isTree(r->type)) {
    if (op <= ast::BinaryOp::Div)
      return treeArithmetic(primOf(op), opRange, range, lhs, rhs);
    TypeRef tree = isTree(l->type) ? l->type : r->type;
    return fail(DiagCode::bad_operand, opRange,
                "`" + sources.getText(opRange) + "` does not take `" +
                    toString(tree) + "`");
  }
  if (op == ast::BinaryOp::MatMul)
    return expr(matmul(l, r, range));
  std::optional<Dim> dim;
  if (op <= ast::BinaryOp::Rem && l->type == r->type &&
      l->type->shape.empty() && isInteger(l->type->dtype))
    dim = foldDim(op, lhs, rhs);
  if (dim && l->type->dtype == DType::I64 && isClosed(*dim))
    return dimAsValue(*dim, range);
  return expr(elementwise(primOf(op), l, r, range, sources.getText(opRange)),
              dim);
}

static bool isOrdering(Prim p) {
  return p == Prim::Lt || p == Prim::Le || p == Prim::Gt || p == Prim::Ge;
}

Expr *Checker::elementwise(Prim p, Expr *l, Expr *r, SourceRange range,
                           llvm::StringRef opText) {
  if (l->type->dtype != r->type->dtype) {
    llvm::StringRef a = getName(l->type->dtype), b = getName(r->type->dtype);
    Diagnostic &d = report(DiagCode::mixed_dtypes, range,
                           "`" + opText + "` mixes " + a + " and " + b);
    d.expected = toString(l->type);
    d.found = toString(r->type);
    d.help = "convert one side, as in `" + a.str() +
             "(...)`: nothing converts "
             "silently";
    return nullptr;
  }
  bool isBool = l->type->dtype == DType::Bool;
  bool isCompare = p >= Prim::Eq && p <= Prim::Ge;
  bool onBool = p == Prim::Eq || p == Prim::Ne || p == Prim::And ||
                p == Prim::Or || p == Prim::Xor;
  if (isBool && !onBool) {
    fail(DiagCode::bad_operand, range, "`" + opText + "` does not take bools",
         isOrdering(p) ? "" : "`i64(c)` makes numbers of bools");
    return nullptr;
  }
  auto shape = broadcastShapes(l->type->shape, r->type->shape, range,
                               ("`" + opText + "`").str());
  if (!shape)
    return nullptr;
  l = broadcastTo(l, *shape);
  r = broadcastTo(r, *shape);
  TypeRef type = tensor(isCompare ? DType::Bool : l->type->dtype, *shape);
  return prim(p, type, {l, r}, range);
}

Value Checker::treeArithmetic(Prim p, SourceRange opRange, SourceRange range,
                              Value lhs, Value rhs) {
  Expr *l = lhs.expr, *r = rhs.expr;
  llvm::StringRef opText = sources.getText(opRange);
  auto leafOp = [&](Expr *a, Expr *b, const std::string &path) -> Expr * {
    if (a->type->dtype != b->type->dtype || a->type->dtype == DType::Bool) {
      Diagnostic &d = report(DiagCode::mixed_dtypes, range,
                             "`" + opText + "`: the leaf `" + path +
                                 "` does not take this");
      d.expected = toString(a->type);
      d.found = toString(b->type);
      return nullptr;
    }
    return elementwise(p, a, b, range, opText);
  };
  if (isTree(l->type) && isTree(r->type)) {
    if (!requireType(r->type, l->type, range,
                     "the right side of `" + opText + "`"))
      return error();
    return expr(
        mapLeaves({l, r}, range,
                  [&](llvm::ArrayRef<Expr *> leaf, const std::string &path) {
                    return leafOp(leaf[0], leaf[1], path);
                  }));
  }
  bool treeLeft = isTree(l->type);
  Expr *tree = treeLeft ? l : r, *scalar = treeLeft ? r : l;
  if (!scalar->type->shape.empty())
    return fail(DiagCode::bad_operand, range,
                "`" + opText +
                    "` takes two structs of one type, or a struct "
                    "and a scalar, not `" +
                    toString(scalar->type) + "`");
  scalar = temp(scalar);
  return expr(mapLeaves(
      {tree}, range, [&](llvm::ArrayRef<Expr *> leaf, const std::string &path) {
        return treeLeft ? leafOp(leaf[0], scalar, path)
                        : leafOp(scalar, leaf[0], path);
      }));
}

Value Checker::checkPow(const ast::BinaryExpr *e, Expected expected) {
  Expected hint;
  hint.dtype = expected.dtype;
  if (literalClass(e->rhs) == LiteralClass::Int) {
    std::optional<int64_t> exponent = constantInt(e->rhs);
    Value base = check(e->lhs, hint);
    Expr *x = exponent ? toRuntime(base, e->lhs->range) : nullptr;
    if (!x)
      return error();
    if (isTree(x->type) || x->type->dtype == DType::Bool)
      return fail(DiagCode::bad_operand, e->opRange,
                  "`**` does not take `" + toString(x->type) + "`");
    if (base.dim && x->type->dtype == DType::I64)
      if (auto dim = foldDim(
              e->op, base, dimAsValue(Dim::constant(*exponent), e->rhs->range)))
        if (isClosed(*dim))
          return dimAsValue(*dim, e->range);
    if (*exponent < 0 && !isFloat(x->type->dtype))
      return fail(DiagCode::bad_operand, e->range,
                  "an integer has no negative power");
    uint64_t magnitude = *exponent < 0 ? -uint64_t(*exponent) : *exponent;
    Expr *power = prim(Prim::PowInt, x->type, {x}, e->range,
                       {static_cast<int64_t>(magnitude)});
    if (*exponent >= 0)
      return expr(power);
    Expr *one = splat(makeInt(1, x->type->dtype, e->range), x->type->shape);
    return expr(prim(Prim::Div, x->type, {one, power}, e->range));
  }
  Value lhs, rhs;
  checkOperands(e->lhs, e->rhs, hint, lhs, rhs);
  Expr *l = toRuntime(lhs, e->lhs->range), *r = toRuntime(rhs, e->rhs->range);
  if (!l || !r)
    return error();
  for (Expr *side : {l, r})
    if (isTree(side->type) || !isFloat(side->type->dtype))
      return fail(DiagCode::bad_operand, e->opRange,
                  "`**` takes floats, or a whole-number literal as exponent; "
                  "this is `" +
                      toString(side->type) + "`");
  return expr(elementwise(Prim::Pow, l, r, e->range, "**"));
}

Value Checker::checkLogical(const ast::BinaryExpr *e) {
  bool isAnd = e->op == ast::BinaryOp::And;
  Expr *l = checkRuntime(e->lhs);
  Expr *r = scoped([&] { return checkRuntime(e->rhs); });
  if (!l || !r)
    return error();
  for (Expr *side : {l, r})
    if (isTree(side->type) || side->type->dtype != DType::Bool)
      return fail(DiagCode::bad_operand, side->range,
                  "`" + sources.getText(e->opRange) +
                      "` takes bools, and this is `" + toString(side->type) +
                      "`");
  if (!l->type->shape.empty() || !r->type->shape.empty())
    return expr(elementwise(isAnd ? Prim::And : Prim::Or, l, r, e->range,
                            sources.getText(e->opRange)));
  auto *branch = program.make<IfExpr>(l->type, e->range);
  branch->condition = l;
  branch->thenExpr = isAnd ? r : makeBool(true, e->range);
  branch->elseExpr = isAnd ? makeBool(false, e->range) : r;
  return expr(branch);
}

static bool hasNoBatch(Expr *e) { return e->type->shape.size() <= 2; }

Expr *Checker::matmul(Expr *a, Expr *b, SourceRange range) {
  for (Expr *side : {a, b})
    if (side->type->shape.empty() || side->type->dtype == DType::Bool) {
      fail(DiagCode::bad_operand, side->range,
           "`@` takes tensors of numbers with an axis to sum over, and this is "
           "`" +
               toString(side->type) + "`");
      return nullptr;
    }
  if (a->type->dtype != b->type->dtype)
    return elementwise(Prim::Mul, a, b, range, "@"); // reports
  int64_t rankA = a->type->shape.size(), rankB = b->type->shape.size();
  int64_t onA = rankA - 1, onB = rankB >= 2 ? rankB - 2 : 0;
  if (!requireEqual(b->type->shape[onB], a->type->shape[onA], range,
                    "`@`: the extent that is summed over"))
    return nullptr;
  auto done = [&](Expr *e) {
    e->range = range;
    return e;
  };
  if (hasNoBatch(b))
    return done(contract(a, b, {}, {}, {onA}, {onB}));
  Shape batchA(a->type->shape.begin(),
               a->type->shape.end() - std::min<int64_t>(rankA, 2));
  Shape batchB(b->type->shape.begin(), b->type->shape.end() - 2);
  if (hasNoBatch(a)) {
    Expr *product = contract(a, b, {}, {}, {onA}, {onB});
    if (rankA == 1)
      return done(product);
    std::vector<int64_t> perm; // [n, batch.., m] to [batch.., n, m]
    for (size_t i = 0; i < batchB.size(); ++i)
      perm.push_back(i + 1);
    perm.push_back(0);
    perm.push_back(batchB.size() + 1);
    return done(transpose(product, perm));
  }
  auto batch = broadcastShapes(batchA, batchB, range, "`@`");
  if (!batch)
    return nullptr;
  auto widen = [&](Expr *e) {
    Shape shape = *batch;
    shape.insert(shape.end(), e->type->shape.end() - 2, e->type->shape.end());
    return broadcastTo(e, shape);
  };
  std::vector<int64_t> axes;
  for (size_t i = 0; i < batch->size(); ++i)
    axes.push_back(i);
  int64_t rank = batch->size() + 2;
  return done(contract(widen(a), widen(b), axes, axes, {rank - 1}, {rank - 2}));
}
