// Literals and constants: which expressions are only literals and so take the
// type around them, their values rounded once to that type, and `const` items.
#include "frontend/check/Checker.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

using namespace astra;
using namespace astra::check;
using namespace astra::hir;

//===-- Which expressions adapt -------------------------------------------===//

static LiteralClass joinClasses(LiteralClass a, LiteralClass b) {
  if (a == LiteralClass::None || b == LiteralClass::None)
    return LiteralClass::None;
  return std::max(a, b);
}

static bool isArithmetic(ast::BinaryOp op) { return op <= ast::BinaryOp::Pow; }

LiteralClass Checker::literalClass(const ast::Expr *e, unsigned level) {
  if (llvm::isa<ast::IntLitExpr>(e))
    return LiteralClass::Int;
  if (llvm::isa<ast::FloatLitExpr>(e))
    return LiteralClass::Float;
  if (level > 300)
    return LiteralClass::None;
  auto known = literalClasses.find(e);
  if (known != literalClasses.end())
    return known->second;
  LiteralClass result = LiteralClass::None;
  auto classOf = [&](const ast::Expr *part) {
    return literalClass(part, level + 1);
  };
  if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(e)) {
    if (unary->op == ast::UnaryOp::Neg)
      result = classOf(unary->operand);
  } else if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(e)) {
    if (isArithmetic(binary->op)) {
      result = classOf(binary->lhs);
      if (result != LiteralClass::None)
        result = joinClasses(result, classOf(binary->rhs));
    }
  } else if (auto *array = llvm::dyn_cast<ast::ArrayExpr>(e)) {
    result = array->elements.empty() ? LiteralClass::None : LiteralClass::Int;
    for (const ast::Expr *element : array->elements)
      if (result != LiteralClass::None)
        result = joinClasses(result, classOf(element));
  } else if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    if (!lookup(name->name))
      if (auto it = module->consts.find(name->name); it != module->consts.end())
        result = constClass(*it->second, level);
  } else if (auto *field = llvm::dyn_cast<ast::FieldExpr>(e)) {
    bool isModule;
    if (Module *m = asModule(field->base, isModule))
      if (auto it = m->consts.find(field->field.text); it != m->consts.end())
        result = constClass(*it->second, level);
  } else if (auto *ifExpr = llvm::dyn_cast<ast::IfExpr>(e)) {
    result = classOf(ifExpr->thenExpr);
    if (result != LiteralClass::None)
      result = joinClasses(result, classOf(ifExpr->elseExpr));
  } else if (auto *block = llvm::dyn_cast<ast::BlockExpr>(e)) {
    if (block->statements.empty() && block->result)
      result = classOf(block->result);
  } else if (auto *call = llvm::dyn_cast<ast::CallExpr>(e)) {
    if (isElementwiseCall(call)) {
      result = LiteralClass::Float;
      for (const ast::Argument &arg : call->args)
        if (classOf(arg.value) == LiteralClass::None)
          result = LiteralClass::None;
    }
  }
  literalClasses[e] = result;
  return result;
}

/// `sqrt(2.0)`: an elementwise function of literals takes a type as they do.
bool Checker::isElementwiseCall(const ast::CallExpr *call) {
  auto *name = llvm::dyn_cast<ast::NameExpr>(call->callee);
  if (!name || call->args.empty() || lookup(name->name) ||
      module->fns.count(name->name))
    return false;
  std::optional<Builtin> builtin = findBuiltin(name->name);
  return builtin && getBuiltin(*builtin).handler == &Checker::unaryFloat;
}

LiteralClass Checker::constClass(ConstDecl &decl, unsigned level) {
  if (decl.item->type || decl.inProgress)
    return LiteralClass::None;
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  llvm::SaveAndRestore busy(decl.inProgress, true);
  return literalClass(decl.item->value, level + 1);
}

//===-- Values ------------------------------------------------------------===//

static unsigned bitWidth(DType dtype) {
  switch (dtype) {
  case DType::I8:
  case DType::U8:
    return 8;
  case DType::I16:
  case DType::U16:
    return 16;
  case DType::I32:
  case DType::U32:
    return 32;
  default:
    return 64;
  }
}
static bool isSigned(DType dtype) { return dtype <= DType::I64; }

static const llvm::fltSemantics &semantics(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return llvm::APFloat::IEEEhalf();
  case DType::BF16:
    return llvm::APFloat::BFloat();
  case DType::F32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

static bool fitsInt(uint64_t magnitude, bool negative, DType dtype) {
  unsigned width = bitWidth(dtype);
  if (!isSigned(dtype))
    return (!negative || magnitude == 0) &&
           (width == 64 || magnitude < (uint64_t(1) << width));
  uint64_t half = uint64_t(1) << (width - 1);
  return negative ? magnitude <= half : magnitude < half;
}

static void setFloat(Literal &literal, llvm::APFloat value, DType dtype) {
  literal.isInt = false;
  if (dtype == DType::F32)
    literal.valueF32 = value.convertToFloat();
  else if (dtype != DType::F64)
    literal.valueHalf = value.bitcastToAPInt().getZExtValue();
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
  literal.value = value.convertToDouble();
}

static PrimExpr *makeConst(Program &program, TypeRef type, SourceRange range) {
  auto *e = program.make<PrimExpr>(type, range);
  e->prim = Prim::Const;
  return e;
}

Expr *Checker::makeIntLit(uint64_t magnitude, bool negative, DType dtype,
                          SourceRange range) {
  llvm::StringRef name = getName(dtype);
  std::string text = (negative ? "-" : "") + std::to_string(magnitude);
  auto *e = makeConst(program, types.getScalar(dtype), range);
  if (isFloat(dtype)) {
    llvm::APFloat value(semantics(dtype));
    auto status = value.convertFromAPInt(llvm::APInt(64, magnitude), false,
                                         llvm::APFloat::rmNearestTiesToEven);
    if (status != llvm::APFloat::opOK) {
      fail(DiagCode::literal_does_not_fit, range,
           name + " cannot hold " + text + " exactly",
           "write it with a `.` to have it rounded");
      return nullptr;
    }
    if (negative)
      value.changeSign();
    setFloat(e->literal, value, dtype);
    return e;
  }
  if (dtype == DType::Bool) {
    fail(DiagCode::type_mismatch, range,
         "a bool is wanted, not the number " + text);
    return nullptr;
  }
  if (!fitsInt(magnitude, negative, dtype)) {
    fail(DiagCode::literal_does_not_fit, range, text + " does not fit " + name);
    return nullptr;
  }
  e->literal.magnitude = magnitude;
  e->literal.negative = negative && magnitude != 0;
  return e;
}

Expr *Checker::makeFloatLit(llvm::StringRef text, bool negative, DType dtype,
                            SourceRange range) {
  if (!isFloat(dtype)) {
    fail(dtype == DType::Bool ? DiagCode::type_mismatch
                              : DiagCode::mixed_dtypes,
         range,
         "`" + text + "` is a float literal, but " + getName(dtype) +
             " is wanted here",
         "a whole number has no `.` and no exponent");
    return nullptr;
  }
  llvm::APFloat value(semantics(dtype));
  auto status =
      value.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return nullptr; // the lexer reported it
  }
  if (*status & llvm::APFloat::opOverflow) {
    fail(DiagCode::literal_does_not_fit, range,
         "`" + text + "` is too large for " + getName(dtype));
    return nullptr;
  }
  if (negative)
    value.changeSign();
  auto *e = makeConst(program, types.getScalar(dtype), range);
  setFloat(e->literal, value, dtype);
  return e;
}

Expr *Checker::makeInt(int64_t value, DType dtype, SourceRange range) {
  bool negative = value < 0;
  uint64_t magnitude = negative ? -static_cast<uint64_t>(value) : value;
  if (isFloat(dtype))
    return makeFloat(static_cast<double>(value), dtype, range);
  auto *e = makeConst(program, types.getScalar(dtype), range);
  e->literal.magnitude = magnitude;
  e->literal.negative = negative;
  return e;
}

Expr *Checker::makeFloat(double number, DType dtype, SourceRange range) {
  llvm::APFloat value(number);
  bool lost;
  value.convert(semantics(dtype), llvm::APFloat::rmNearestTiesToEven, &lost);
  auto *e = makeConst(program, types.getScalar(dtype), range);
  setFloat(e->literal, value, dtype);
  return e;
}

Expr *Checker::makeBool(bool value, SourceRange range) {
  auto *e = makeConst(program, types.getScalar(DType::Bool), range);
  e->literal.magnitude = value;
  return e;
}

//===-- Constants ---------------------------------------------------------===//

Value Checker::checkConst(ConstDecl &decl, SourceRange range,
                          Expected expected) {
  if (decl.inProgress)
    return fail(DiagCode::recursive_const, decl.item->name.range,
                "`" + decl.item->name.text + "` is defined by itself");
  llvm::SaveAndRestore savedModule(module, decl.module);
  llvm::SaveAndRestore savedEnv(env, Env(nullptr));
  llvm::SaveAndRestore busy(decl.inProgress, true);
  TypeRef type = decl.item->type ? resolveType(decl.item->type) : nullptr;
  if (decl.item->type && !type)
    return error();
  Value value = check(decl.item->value, type ? Expected(type) : expected);
  if (type &&
      !requireType(value, type, "the constant `" + decl.item->name.text + "`"))
    return error();
  value.range = range;
  return value;
}

std::optional<int64_t> Checker::constantInt(const ast::Expr *e,
                                            llvm::StringRef help) {
  size_t before = diags.mark();
  std::optional<Dim> dim = resolveDim(e);
  if (dim && dim->asConstant())
    return dim->asConstant();
  diags.rollback(before);
  fail(DiagCode::not_constant, e->range,
       "a whole number that is known when the program is compiled is wanted "
       "here",
       help.empty() ? "write a literal, a constant or arithmetic of such: the "
                      "form of the result depends on it"
                    : help);
  return std::nullopt;
}

std::optional<bool> Checker::constantBool(const ast::Expr *e) {
  if (auto *lit = llvm::dyn_cast<ast::BoolLitExpr>(e))
    return lit->value;
  fail(DiagCode::not_constant, e->range, "`true` or `false` is wanted here",
       "an `if` around two calls chooses when the program runs");
  return std::nullopt;
}
