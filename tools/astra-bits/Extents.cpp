// See Extents.h.
#include "tools/astra-bits/Extents.h"
#include <cctype>

using namespace astra;

namespace {
class Evaluator {
public:
  Evaluator(const std::string &text, const Extents &dims)
      : text(text), dims(dims) {}

  std::optional<int64_t> run() {
    int64_t value = sum();
    skipSpace();
    return good && at == text.size() ? std::optional(value) : std::nullopt;
  }

private:
  void skipSpace() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool consume(char c) {
    skipSpace();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  /// Checked; an overflow makes the whole expression bad.
  int64_t combine(char op, int64_t a, int64_t b) {
    int64_t result = 0;
    if (op == '+')
      good &= !__builtin_add_overflow(a, b, &result);
    else if (op == '-')
      good &= !__builtin_sub_overflow(a, b, &result);
    else if (op == '*')
      good &= !__builtin_mul_overflow(a, b, &result);
    else if (b == 0 || b == -1)
      good = false;
    else
      result = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return op == '%' && good ? a - result * b : result;
  }
  char operation(const char *operators) {
    for (const char *op = operators; *op; ++op)
      if (consume(*op))
        return *op;
    return 0;
  }
  int64_t sum() {
    int64_t value = consume('-') ? combine('-', 0, product()) : product();
    while (char op = operation("+-"))
      value = combine(op, value, product());
    return value;
  }
  int64_t product() {
    int64_t value = factor();
    while (char op = operation("*/%")) {
      int64_t right = factor();
      value = op == '*' ? combine('*', value, right) : divide(op, value, right);
    }
    return value;
  }
  int64_t divide(char op, int64_t a, int64_t b) {
    return b == 1 ? (op == '/' ? a : 0) : combine(op, a, b);
  }
  int64_t factor() {
    if (consume('(')) {
      int64_t value = ++depth < 100 ? sum() : (good = false, 0);
      --depth;
      good &= consume(')');
      return value;
    }
    std::string word;
    for (skipSpace(); at < text.size(); ++at) {
      char c = text[at];
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.')
        break;
      word += c;
    }
    if (word.empty())
      return good = false, 0;
    if (std::isdigit(static_cast<unsigned char>(word[0])))
      return std::strtoll(word.c_str(), nullptr, 10);
    auto found = dims.find(word);
    good &= found != dims.end();
    return found == dims.end() ? 0 : found->second;
  }

  const std::string &text;
  const Extents &dims;
  size_t at = 0;
  int depth = 0;
  bool good = true;
};
} // namespace

std::optional<int64_t> astra::evaluateExtent(const std::string &text,
                                             const Extents &dims) {
  auto value = Evaluator(text, dims).run();
  return value && *value >= 0 ? value : std::nullopt;
}

std::vector<Extents> astra::getCandidates(const std::vector<std::string> &names,
                                          bool large) {
  static const std::vector<std::vector<int64_t>> small = {
      {5, 3, 7, 4, 6, 9, 2, 11}, {8}, {4}, {16}, {6}, {2}, {1}, {64}};
  // Beyond the borders of chunks, tiles and what is worth a second thread.
  static const std::vector<std::vector<int64_t>> big = {{300, 257, 5, 3, 2, 7},
                                                        {257, 5, 300, 3, 2, 7},
                                                        {40, 33, 37, 35, 3},
                                                        {256, 256, 8},
                                                        {64, 64, 8},
                                                        {100003},
                                                        {32}};
  std::vector<Extents> candidates;
  for (const std::vector<int64_t> &values : large ? big : small) {
    Extents dims;
    for (size_t i = 0; i < names.size(); ++i)
      dims[names[i]] = i < values.size() ? values[i] : values.back();
    candidates.push_back(dims);
  }
  return candidates;
}
