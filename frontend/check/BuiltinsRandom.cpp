// Random numbers from explicit keys: random.key, bits, split, uniform, normal,
// bernoulli, categorical, permutation. Words are Threefry-2x32's, and the steps
// from words to numbers are those of JAX, so that bits, split and uniform agree
// with it bit for bit (docs/arithmetic.md). No MLIR.
#include "frontend/check/Checker.h"
#include <cmath>

using namespace astra;
using namespace astra::check;

/// A key, u32[2].
hir::Expr *Checker::keyArg(Arg &arg) {
  hir::Expr *key = tensorArg(arg);
  TypeRef wanted = tensor(DType::U32, {Dim::constant(2)});
  if (!key || !requireType(key->type, wanted, key->range, "a random key"))
    return nullptr;
  return key;
}

Value Checker::randomKey(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"seed"}, 1, args))
    return error();
  hir::Expr *seed = tensorArg(*args[0], Expected(DType::I64));
  if (!seed)
    return error();
  if (!hir::isInteger(seed->type->dtype) || !seed->type->shape.empty())
    return fail(DiagCode::bad_operand, args[0]->range,
                "a seed is one integer, not `" + hir::toString(seed->type) +
                    "`");
  hir::Expr *wide = temp(convert(seed, DType::U64));
  hir::Expr *high =
      binaryPrim(Prim::ShiftRight, wide, makeInt(32, DType::U64, call.range));
  return expr(join({expandAxis(convert(high, DType::U32), 0),
                    expandAxis(convert(wide, DType::U32), 0)},
                   0, call.range));
}

hir::Expr *Checker::keyAndType(Call &call, TypeRef &type,
                               llvm::function_ref<bool(DType)> allowed,
                               llvm::StringRef elements) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"key", "type"}, 2, args))
    return nullptr;
  hir::Expr *key = keyArg(*args[0]);
  type = key ? typeArg(*args[1]) : nullptr;
  if (!type)
    return nullptr;
  if (type->kind == hir::TypeKind::Tensor && allowed(type->dtype))
    return key;
  fail(DiagCode::bad_operand, args[1]->range,
       "`" + call.name + "` gives " + elements + ", not `" +
           hir::toString(type) + "`");
  return nullptr;
}

Value Checker::randomBits(Call &call) {
  auto isWord = [](DType dtype) { return dtype == DType::U32; };
  TypeRef type = nullptr;
  hir::Expr *key = keyAndType(call, type, isWord, "u32");
  return key ? expr(prim(Prim::RandomBits, type, {key}, call.range)) : error();
}

Value Checker::randomSplit(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"key", "n"}, 1, args))
    return error();
  hir::Expr *key = keyArg(*args[0]);
  if (!key)
    return error();
  auto count = args[1] ? dimArg(*args[1]) : Dim::constant(2);
  if (!count)
    return error();
  return expr(prim(Prim::RandomSplit,
                   tensor(DType::U32, {*count, Dim::constant(2)}), {key},
                   call.range));
}

/// u64 words of a shape: both words of each counter, the first one high.
hir::Expr *Checker::randomWords(hir::Expr *key, const Shape &shape,
                                SourceRange range) {
  Dim total = Dim::constant(1);
  for (const Dim &extent : shape)
    total = total * extent;
  Dim two = Dim::constant(2), one = Dim::constant(1);
  hir::Expr *pairs = temp(
      prim(Prim::RandomSplit, tensor(DType::U32, {total, two}), {key}, range));
  auto word = [&](int64_t which) {
    hir::Expr *column = sliceAxis(pairs, 1, Dim::constant(which), one);
    return convert(reshape(column, shape), DType::U64);
  };
  hir::Expr *shift = splat(makeInt(32, DType::U64, range), shape);
  hir::Expr *high = binaryPrim(Prim::ShiftLeft, word(0), shift);
  return binaryPrim(Prim::Or, high, word(1));
}

namespace {
/// How a float type is made of random words.
struct FloatLayout {
  DType word;
  unsigned bits, mantissa; // of the random bits, those that are used
  uint64_t one;            // the bits of 1.0
};
FloatLayout layoutOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return {DType::U16, 16, 10, 0x3c00};
  case DType::BF16:
    return {DType::U16, 8, 7, 0x3f80};
  case DType::F64:
    return {DType::U64, 64, 52, 0x3ff0000000000000};
  default:
    return {DType::U32, 32, 23, 0x3f800000};
  }
}
} // namespace

/// Uniform in [0, 1): random mantissa bits below 1.0, less 1.
hir::Expr *Checker::uniformFrom(hir::Expr *key, TypeRef type,
                                SourceRange range) {
  FloatLayout layout = layoutOf(type->dtype);
  const Shape &shape = type->shape;
  hir::Expr *words;
  if (layout.bits == 64) {
    words = randomWords(key, shape, range);
  } else {
    words = prim(Prim::RandomBits, tensor(DType::U32, shape), {key}, range);
    if (layout.bits == 8)
      words = convert(words, DType::U8);
    words = convert(words, layout.word);
  }
  hir::Expr *shift =
      splat(makeInt(layout.bits - layout.mantissa, layout.word, range), shape);
  hir::Expr *one =
      splat(makeInt(int64_t(layout.one), layout.word, range), shape);
  hir::Expr *bits =
      binaryPrim(Prim::Or, binaryPrim(Prim::ShiftRight, words, shift), one);
  hir::Expr *number = prim(Prim::Bitcast, type, {bits}, range);
  return binaryPrim(Prim::Sub, number,
                    splat(makeFloat(1, type->dtype, range), shape));
}

/// max(low, u * span + low), as JAX scales.
hir::Expr *Checker::uniformBetween(hir::Expr *key, TypeRef type, double low,
                                   double span, SourceRange range) {
  auto constant = [&](double value) {
    return splat(makeFloat(value, type->dtype, range), type->shape);
  };
  hir::Expr *scaled = binaryPrim(
      Prim::Add,
      binaryPrim(Prim::Mul, uniformFrom(key, type, range), constant(span)),
      constant(low));
  return binaryPrim(Prim::Maximum, constant(low), scaled);
}

static bool isFloatTensor(TypeRef type) {
  return type->kind == hir::TypeKind::Tensor && hir::isFloat(type->dtype);
}

Value Checker::randomUniform(Call &call) {
  TypeRef type = nullptr;
  hir::Expr *key = keyAndType(call, type, hir::isFloat, "floats");
  return key ? expr(uniformFrom(key, type, call.range)) : error();
}

/// sqrt(2) * erfinv(u), u uniform in (-1, 1).
Value Checker::randomNormal(Call &call) {
  TypeRef type = nullptr;
  hir::Expr *key = keyAndType(call, type, hir::isFloat, "floats");
  if (!key)
    return error();
  // The least value above -1, so that erfinv stays finite; 1 less it rounds
  // to 2.
  double low = std::ldexp(1.0, -int(layoutOf(type->dtype).mantissa) - 1) - 1;
  hir::Expr *u = uniformBetween(key, type, low, 2, call.range);
  hir::Expr *root = splat(
      makeFloat(1.4142135623730951, type->dtype, call.range), type->shape);
  return expr(binaryPrim(Prim::Mul, root, unary(Prim::Erfinv, u)));
}

Value Checker::randomBernoulli(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"key", "p", "type"}, 3, args))
    return error();
  hir::Expr *key = keyArg(*args[0]);
  hir::Expr *p = key ? tensorArg(*args[1], Expected(DType::F32)) : nullptr;
  TypeRef type = p ? typeArg(*args[2]) : nullptr;
  if (!type)
    return error();
  if (type->kind != hir::TypeKind::Tensor || type->dtype != DType::Bool)
    return fail(DiagCode::bad_operand, args[2]->range,
                "`random.bernoulli` gives bools, not `" + hir::toString(type) +
                    "`");
  if (!hir::isFloat(p->type->dtype))
    return fail(DiagCode::bad_operand, args[1]->range,
                "a probability is a float, not `" + hir::toString(p->type) +
                    "`");
  auto shape = broadcastShapes(p->type->shape, type->shape, args[1]->range,
                               "random.bernoulli");
  if (!shape || !requireType(tensor(DType::Bool, *shape), type, args[1]->range,
                             "the shape of `p`"))
    return error();
  hir::Expr *u = uniformFrom(key, tensor(p->type->dtype, *shape), call.range);
  return expr(compare(Prim::Lt, u, broadcastTo(p, *shape)));
}

/// The greatest of logits plus Gumbel noise.
Value Checker::randomCategorical(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"key", "logits", "axis"}, 2, args))
    return error();
  hir::Expr *key = keyArg(*args[0]);
  hir::Expr *logits = key ? tensorArg(*args[1]) : nullptr;
  if (!logits)
    return error();
  if (!isFloatTensor(logits->type) || logits->type->shape.empty())
    return fail(DiagCode::bad_operand, args[1]->range,
                "`random.categorical` takes a tensor of float logits, not `" +
                    hir::toString(logits->type) + "`");
  auto axis = axisArg(args[2], logits->type->shape.size(), -1);
  if (!axis)
    return error();
  double tiny = logits->type->dtype == DType::F64   ? 0x1p-1022
                : logits->type->dtype == DType::F16 ? 0x1p-14
                                                    : 0x1p-126;
  hir::Expr *u = uniformBetween(key, logits->type, tiny, 1, call.range);
  hir::Expr *inner = unary(Prim::Neg, unary(Prim::Log, u));
  hir::Expr *gumbel = unary(Prim::Neg, unary(Prim::Log, inner));
  hir::Expr *noisy = binaryPrim(Prim::Add, gumbel, logits);
  Shape shape = logits->type->shape;
  shape.erase(shape.begin() + *axis);
  return expr(prim(Prim::ArgMax, tensor(DType::I32, shape), {noisy}, call.range,
                   {*axis}));
}

/// The order that sorts 64-bit words: i32[n], each of 0..n once.
Value Checker::randomPermutation(Call &call) {
  std::vector<Arg *> args;
  if (!takeArgs(call, {"key", "n"}, 2, args))
    return error();
  hir::Expr *key = keyArg(*args[0]);
  auto count = key ? dimArg(*args[1]) : std::nullopt;
  if (!count)
    return error();
  hir::Expr *words = randomWords(key, {*count}, call.range);
  return expr(prim(Prim::ArgSort, tensor(DType::I32, {*count}), {words},
                   call.range, {0}));
}
