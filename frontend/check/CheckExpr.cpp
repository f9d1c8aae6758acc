// Expressions that are no operators, calls, loops or indexing: literals,
// blocks, branches, tuples, arrays, `as` and `on`.
#include "frontend/check/Checker.h"
#include "llvm/ADT/STLExtras.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

/// Enough for any program that people write, and far from the end of the stack.
static constexpr unsigned MaxDepth = 700;
static constexpr uint64_t MaxWork = 1000000;

bool Checker::enter(SourceRange range) {
  if (stopped)
    return false;
  if (depth > MaxDepth)
    fail(DiagCode::nested_too_deeply, range,
         "this is nested too deeply, or the chain of calls or operators is too "
         "long",
         "name a part of it with `let`");
  else if (++work > MaxWork)
    fail(DiagCode::program_too_large, range,
         "the program is too large once its functions are expanded");
  else
    return true;
  stopped = true;
  return false;
}

Value Checker::check(const ast::Expr *e, Expected expected) {
  if (!enter(e->range))
    return error();
  llvm::SaveAndRestore saved(depth, depth + 1);
  if (!expected.dtype) {
    LiteralClass literal = literalClass(e);
    if (literal == LiteralClass::Int)
      expected.dtype = DType::I64;
    else if (literal == LiteralClass::Float)
      expected.dtype = DType::F32;
  }
  Value value = checkKind(e, expected);
  value.range = e->range;
  return value;
}

Value Checker::checkKind(const ast::Expr *e, Expected expected) {
  switch (e->kind) {
  case ast::ExprKind::IntLit: {
    uint64_t magnitude = llvm::cast<ast::IntLitExpr>(e)->value;
    DType dtype = expected.dtype.value_or(DType::I64);
    std::optional<Dim> dim;
    if (isInteger(dtype) && magnitude <= uint64_t(INT64_MAX))
      dim = Dim::constant(magnitude);
    return expr(makeIntLit(magnitude, false, dtype, e->range), dim);
  }
  case ast::ExprKind::FloatLit:
    return expr(makeFloatLit(llvm::cast<ast::FloatLitExpr>(e)->text, false,
                             expected.dtype.value_or(DType::F32), e->range));
  case ast::ExprKind::BoolLit:
    return expr(makeBool(llvm::cast<ast::BoolLitExpr>(e)->value, e->range));
  case ast::ExprKind::StringLit:
    return fail(DiagCode::not_a_value, e->range,
                "a text stands only where a built-in function takes one");
  case ast::ExprKind::NoneLit:
    return fail(DiagCode::not_a_value, e->range,
                "`none` stands only in the `axes` of `vmap`");
  case ast::ExprKind::Name:
    return checkName(llvm::cast<ast::NameExpr>(e), expected);
  case ast::ExprKind::Field:
    return checkField(llvm::cast<ast::FieldExpr>(e), expected);
  case ast::ExprKind::Call:
    return checkCall(llvm::cast<ast::CallExpr>(e), expected);
  case ast::ExprKind::Index:
    return checkIndex(llvm::cast<ast::IndexExpr>(e), expected);
  case ast::ExprKind::Range:
    return fail(DiagCode::range_as_value, e->range, "a range is no value");
  case ast::ExprKind::Unary:
    return checkUnary(llvm::cast<ast::UnaryExpr>(e), expected);
  case ast::ExprKind::Binary:
    return checkBinary(llvm::cast<ast::BinaryExpr>(e), expected);
  case ast::ExprKind::As:
    return checkAs(llvm::cast<ast::AsExpr>(e));
  case ast::ExprKind::Lambda: {
    FnValue value;
    value.kind = FnValue::Lambda;
    value.lambda = llvm::cast<ast::LambdaExpr>(e);
    value.env = env;
    value.module = module;
    value.range = e->range;
    return fn(makeFn(std::move(value)));
  }
  case ast::ExprKind::If:
    return checkIf(llvm::cast<ast::IfExpr>(e), expected);
  case ast::ExprKind::Block:
    return checkBlock(llvm::cast<ast::BlockExpr>(e), expected);
  case ast::ExprKind::Loop:
    return checkLoop(llvm::cast<ast::LoopExpr>(e), expected);
  case ast::ExprKind::StructLit:
    return checkStructLit(llvm::cast<ast::StructLitExpr>(e), expected);
  case ast::ExprKind::Tuple:
    return checkTuple(llvm::cast<ast::TupleExpr>(e), expected);
  case ast::ExprKind::Array:
    return checkArray(llvm::cast<ast::ArrayExpr>(e), expected);
  case ast::ExprKind::Comprehension:
    return checkComprehension(llvm::cast<ast::ComprehensionExpr>(e), expected);
  case ast::ExprKind::Generator:
    return fail(DiagCode::generator_misplaced, e->range,
                "a generator is the only argument of a reduction, "
                "`sum(x[i] for i)`");
  case ast::ExprKind::With:
    return checkWith(llvm::cast<ast::WithExpr>(e), expected);
  case ast::ExprKind::On:
    return checkOn(llvm::cast<ast::OnExpr>(e), expected);
  case ast::ExprKind::TypeArg:
    return fail(DiagCode::not_a_value, e->range,
                "`" + sources.getText(e->range) + "` is a type, not a value");
  case ast::ExprKind::Error:
    return error();
  }
  return error();
}

Expr *Checker::checkRuntime(const ast::Expr *e, Expected expected) {
  return toRuntime(check(e, expected), e->range);
}

Expr *Checker::toRuntime(const Value &value, SourceRange range) {
  switch (value.kind) {
  case Value::Error:
    return nullptr;
  case Value::Expr:
    return value.expr;
  case Value::Fn:
    fail(DiagCode::function_as_value, range,
         "a function stands here, but a value is wanted",
         "functions are known only while compiling: call it, or give it to a "
         "parameter of function type");
    return nullptr;
  case Value::Tuple: {
    std::vector<Expr *> elements;
    for (const Value &element : *value.elements) {
      elements.push_back(toRuntime(element, range));
      if (!elements.back())
        return nullptr;
    }
    return makeTuple(elements, range);
  }
  }
  return nullptr;
}

//===-- Blocks and branches -----------------------------------------------===//

Value Checker::checkBlock(const ast::BlockExpr *e, Expected expected) {
  llvm::SaveAndRestore saved(env);
  for (const ast::Statement &statement : e->statements)
    checkStatement(statement);
  if (!e->result)
    return expr(makeTuple({}, e->range));
  return check(e->result, expected);
}

/// The type that a pattern's annotations ask for, or null.
TypeRef Checker::patternType(const ast::Pattern *pattern) {
  if (pattern->type)
    return resolveType(pattern->type);
  if (!pattern->isTuple)
    return nullptr;
  std::vector<TypeRef> elements;
  for (const ast::Pattern *element : pattern->elements) {
    elements.push_back(patternType(element));
    if (!elements.back())
      return nullptr;
  }
  return types.getTuple(std::move(elements));
}

void Checker::checkStatement(const ast::Statement &statement) {
  if (!statement.pattern) {
    Value value = check(statement.value);
    Expr *e = toRuntime(value, statement.range);
    // What has the type () was called for its effect; `()` itself has none.
    auto *made = llvm::dyn_cast_or_null<MakeExpr>(e);
    if (e && !(made && made->elements.empty()))
      effect(e);
    return;
  }
  TypeRef type = patternType(statement.pattern);
  Value value = check(statement.value, type ? Expected(type) : Expected());
  bindPattern(statement.pattern, value);
}

Expr *Checker::checkCondition(const ast::Expr *e) {
  Expr *condition = checkRuntime(e);
  if (!condition || condition->type == types.getScalar(DType::Bool))
    return condition;
  Diagnostic &d = report(DiagCode::condition_not_bool, e->range,
                         "a condition is a bool scalar, and this is `" +
                             toString(condition->type) + "`");
  if (condition->type->kind == TypeKind::Tensor &&
      condition->type->dtype == DType::Bool)
    d.help = "`where(c, a, b)` chooses element by element; `all(c)` and "
             "`any(c)` make one bool of many";
  return nullptr;
}

Value Checker::checkIf(const ast::IfExpr *e, Expected expected) {
  Expr *condition = checkCondition(e->condition);
  Expr *branches[2] = {nullptr, nullptr};
  const ast::Expr *written[2] = {e->thenExpr, e->elseExpr};
  // A branch of literals takes the type of the other one.
  bool elseFirst = !expected.dtype &&
                   literalClass(e->thenExpr) != LiteralClass::None &&
                   literalClass(e->elseExpr) == LiteralClass::None;
  for (int step = 0; step < 2; ++step) {
    int which = elseFirst ? 1 - step : step;
    Expected want = expected;
    if (step == 1 && !want.type && branches[1 - which])
      want = Expected(branches[1 - which]->type);
    branches[which] = scoped([&] {
      llvm::SaveAndRestore saved(env);
      return checkRuntime(written[which], want);
    });
  }
  if (!condition || !branches[0] || !branches[1])
    return error();
  if (!requireType(branches[1]->type, branches[0]->type, written[1]->range,
                   "the `else` branch"))
    return error();
  auto *result = program.make<IfExpr>(branches[0]->type, e->range);
  result->condition = condition;
  result->thenExpr = branches[0];
  result->elseExpr = branches[1];
  return expr(result);
}

//===-- Tuples and arrays -------------------------------------------------===//

/// What the elements of a tuple of that size are wanted to be.
std::vector<Expected> Checker::partsOf(const Expected &expected, size_t size) {
  if (expected.parts.size() == size)
    return expected.parts;
  std::vector<Expected> parts(size);
  if (expected.type && expected.type->kind == TypeKind::Tuple &&
      expected.type->elements.size() == size)
    for (size_t i = 0; i < size; ++i)
      parts[i] = Expected(expected.type->elements[i]);
  return parts;
}

Value Checker::checkTuple(const ast::TupleExpr *e, Expected expected) {
  std::vector<Value> values;
  bool ok = true, allExprs = true;
  std::vector<Expected> hints = partsOf(expected, e->elements.size());
  for (auto [i, element] : llvm::enumerate(e->elements)) {
    values.push_back(check(element, hints[i]));
    ok &= !values.back().isError();
    allExprs &= values.back().isExpr();
  }
  if (!ok)
    return error();
  if (!allExprs)
    return tupleValue(std::move(values));
  std::vector<Expr *> elements;
  for (const Value &value : values)
    elements.push_back(value.expr);
  return expr(makeTuple(elements, e->range));
}

Value Checker::tupleValue(std::vector<Value> values) {
  valueLists.push_back(std::move(values));
  Value value;
  value.kind = Value::Tuple;
  value.elements = &valueLists.back();
  return value;
}

/// What an array's elements are wanted to be.
Expected Checker::elementOf(Expected expected) {
  if (expected.parts.size() == 1)
    return expected.parts.front();
  Expected result;
  result.dtype = expected.dtype;
  if (!expected.type)
    return result;
  if (expected.type->kind == TypeKind::Array)
    return Expected(expected.type->elements[0]);
  if (expected.type->kind == TypeKind::Tensor &&
      !expected.type->shape.empty()) {
    Shape shape(expected.type->shape.begin() + 1, expected.type->shape.end());
    return Expected(tensor(expected.type->dtype, shape));
  }
  return result;
}

Value Checker::checkArray(const ast::ArrayExpr *e, Expected expected) {
  if (e->elements.empty())
    return fail(DiagCode::cannot_infer, e->range,
                "nothing says what `[]` holds",
                "`zeros(f32[0])` is an empty tensor");
  Expected want = elementOf(expected);
  std::vector<Expr *> elements(e->elements.size());
  bool ok = true;
  for (bool literals : {false, true}) // literals take the others' type
    for (auto [i, element] : llvm::enumerate(e->elements)) {
      if ((literalClass(element) != LiteralClass::None) != literals)
        continue;
      elements[i] = checkRuntime(element, want);
      ok &= elements[i] != nullptr;
      if (elements[i] && !want.dtype)
        want.dtype = hintOf(expr(elements[i])).dtype;
    }
  if (!ok)
    return error();
  for (size_t i = 1; i < elements.size(); ++i)
    if (!requireType(elements[i]->type, elements[0]->type,
                     e->elements[i]->range, "an element of the array"))
      return error();
  return expr(stackValues(elements, e->range));
}

Expr *Checker::stackValues(llvm::ArrayRef<Expr *> elements, SourceRange range) {
  TypeRef type = elements[0]->type;
  Dim count = Dim::constant(elements.size());
  if (isTree(type))
    return makeTree(types.getArray(type, count), elements, range);
  std::vector<Expr *> parts;
  for (Expr *element : elements)
    parts.push_back(expandAxis(element, 0));
  if (parts.size() == 1)
    return parts[0];
  Shape shape = type->shape;
  shape.insert(shape.begin(), count);
  return prim(Prim::Concat, tensor(type->dtype, shape), parts, range, {0});
}

//===-- as, on ------------------------------------------------------------===//

Value Checker::checkAs(const ast::AsExpr *e) {
  TypeRef type = resolveType(e->type);
  Expected hint;
  if (type && type->kind == TypeKind::Tensor)
    hint.dtype = type->dtype;
  Expr *x = checkRuntime(e->operand, hint);
  if (!x || !type)
    return error();
  if (!sameForm(x->type, type)) {
    requireType(x->type, type, e->range, "the value before `as`");
    return error();
  }
  if (x->type == type)
    return expr(x);
  if (isTree(type))
    return fail(DiagCode::type_mismatch, e->range,
                "`as` is for tensors: name the leaf, as in `m.w as f32[n, d]`");
  for (auto [found, wanted] : llvm::zip(x->type->shape, type->shape))
    if (Dim::compare(found, wanted) == DimProof::Different) {
      requireEqual(found, wanted, e->range, "an extent in `as`");
      return error();
    }
  return expr(prim(Prim::CheckShape, type, {x}, e->range));
}

Value Checker::checkOn(const ast::OnExpr *e, Expected expected) {
  bool ok = isDevice(e->device);
  Expr *body = scoped([&] {
    llvm::SaveAndRestore saved(env);
    return checkRuntime(e->body, expected);
  });
  if (!ok || !body)
    return error();
  auto *result = program.make<OnExpr>(body->type, e->range);
  result->device = e->device.text.str();
  result->index = e->index;
  result->body = body;
  return expr(result);
}
