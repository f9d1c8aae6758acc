// The stack machine of dimension expressions; see DimCode.h. Solving runs the
// same machine on values that are linear in one unknown dimension.
#include "core/DimCode.h"

namespace astra {
namespace {

constexpr size_t mostCode = 65536, mostDepth = 256;

bool floorDivide(int64_t a, int64_t b, int64_t &quotient, int64_t &rest) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  quotient = a / b;
  rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    --quotient;
    rest += b;
  }
  return true;
}

bool apply(int64_t operation, int64_t a, int64_t b, int64_t &result) {
  int64_t other = 0;
  switch (operation) {
  case ASTRA_DIM_ADD:
    return !__builtin_add_overflow(a, b, &result);
  case ASTRA_DIM_SUB:
    return !__builtin_sub_overflow(a, b, &result);
  case ASTRA_DIM_MUL:
    return !__builtin_mul_overflow(a, b, &result);
  case ASTRA_DIM_FLOORDIV:
    return floorDivide(a, b, result, other);
  default:
    return floorDivide(a, b, other, result);
  }
}

/// factor * (dimension `name`) + constant.
struct Linear {
  int64_t factor, constant;
  uint64_t name;
};

std::optional<Linear> combine(int64_t operation, const Linear &a,
                              const Linear &b) {
  Linear result{};
  result.name = a.factor ? a.name : b.name;
  bool constant = a.factor == 0 && b.factor == 0, fits = false;
  if (constant)
    fits = apply(operation, a.constant, b.constant, result.constant);
  else if (operation == ASTRA_DIM_ADD || operation == ASTRA_DIM_SUB)
    fits = (!a.factor || !b.factor || a.name == b.name) &&
           apply(operation, a.factor, b.factor, result.factor) &&
           apply(operation, a.constant, b.constant, result.constant);
  else if (operation == ASTRA_DIM_MUL && (!a.factor || !b.factor)) {
    const Linear &line = a.factor ? a : b;
    int64_t scale = a.factor ? b.constant : a.constant;
    fits = apply(operation, line.factor, scale, result.factor) &&
           apply(operation, line.constant, scale, result.constant);
  }
  return fits ? std::optional<Linear>(result) : std::nullopt;
}

/// Runs the code; `nameValue` gives the value of a name.
template <class Value, class NameFn, class CombineFn>
std::optional<Value> runCode(const astra_dim_expr_t &expression,
                             NameFn nameValue, CombineFn combineFn) {
  Value stack[mostDepth];
  size_t depth = 0;
  for (uint64_t i = 0; i < expression.code_length; ++i) {
    int64_t operation = expression.code[i];
    if (operation == ASTRA_DIM_CONST || operation == ASTRA_DIM_NAME) {
      int64_t word = expression.code[++i];
      stack[depth++] = nameValue(operation == ASTRA_DIM_NAME, word);
      continue;
    }
    Value b = stack[--depth];
    std::optional<Value> result = combineFn(operation, stack[depth - 1], b);
    if (!result)
      return std::nullopt;
    stack[depth - 1] = *result;
  }
  return stack[0];
}

} // namespace

bool isValidDimCode(const astra_dim_expr_t &expression, uint64_t dimCount) {
  if (!expression.text || !expression.code || expression.code_length == 0 ||
      expression.code_length > mostCode)
    return false;
  uint64_t depth = 0;
  for (uint64_t i = 0; i < expression.code_length; ++i) {
    int64_t operation = expression.code[i];
    if (operation == ASTRA_DIM_CONST || operation == ASTRA_DIM_NAME) {
      if (++i == expression.code_length)
        return false;
      if (operation == ASTRA_DIM_NAME &&
          uint64_t(expression.code[i]) >= dimCount)
        return false;
      if (++depth > mostDepth)
        return false;
    } else if (operation < ASTRA_DIM_ADD || operation > ASTRA_DIM_MOD ||
               depth < 2) {
      return false;
    } else {
      --depth;
    }
  }
  return depth == 1;
}

Status evaluateDim(const astra_dim_expr_t &expression, const int64_t *dims,
                   int64_t &value) {
  if (expression.code_length == 2) { // most are a name or a number
    int64_t word = expression.code[1];
    value = expression.code[0] == ASTRA_DIM_NAME ? dims[word] : word;
    return {};
  }
  bool dividesByZero = false;
  std::optional<int64_t> result = runCode<int64_t>(
      expression,
      [&](bool isName, int64_t word) { return isName ? dims[word] : word; },
      [&](int64_t operation, int64_t a, int64_t b) -> std::optional<int64_t> {
        int64_t out = 0;
        dividesByZero = operation >= ASTRA_DIM_FLOORDIV && b == 0;
        return apply(operation, a, b, out) ? std::optional<int64_t>(out)
                                           : std::nullopt;
      });
  if (!result)
    return dividesByZero ? fail(ASTRA_ERROR_DIVISION_BY_ZERO, "the dimension ",
                                expression.text, " divides by zero")
                         : fail(ASTRA_ERROR_OVERFLOW, "the dimension ",
                                expression.text, " does not fit 64 bits");
  value = *result;
  return {};
}

std::optional<Solution> solveDim(const astra_dim_expr_t &expression,
                                 int64_t extent, const int64_t *dims,
                                 const std::vector<bool> &known) {
  std::optional<Linear> line = runCode<Linear>(
      expression,
      [&](bool isName, int64_t word) {
        if (!isName)
          return Linear{0, word, 0};
        return known[size_t(word)] ? Linear{0, dims[word], 0}
                                   : Linear{1, 0, uint64_t(word)};
      },
      combine);
  int64_t rest = 0;
  if (!line || line->factor == 0 ||
      __builtin_sub_overflow(extent, line->constant, &rest))
    return std::nullopt;
  int64_t quotient = 0, remainder = 0;
  if (!floorDivide(rest, line->factor, quotient, remainder) || remainder != 0)
    return std::nullopt;
  return Solution{line->name, quotient};
}

} // namespace astra
