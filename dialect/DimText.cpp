// The text form of dimension expressions: printing in canonical order and
// reading back. Names may hold letters, digits, `_`, `.`, `@` and `#`.
#include "dialect/Dim.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace astra;

//===-- Printing ----------------------------------------------------------===//

namespace {
using PrintName = llvm::function_ref<std::string(llvm::StringRef)>;

bool isOneFactor(const Dim &dim) {
  const auto &terms = dim.getTerms();
  if (terms.empty())
    return true;
  if (terms.size() != 1)
    return false;
  const auto &[monomial, coefficient] = *terms.begin();
  if (monomial.empty())
    return coefficient >= 0;
  return coefficient == 1 && monomial.size() == 1 &&
         monomial.begin()->second == 1 &&
         monomial.begin()->first.kind == Dim::Atom::Name;
}

std::string parenthesised(const Dim &dim, PrintName printName) {
  std::string text = dim.str(printName);
  return isOneFactor(dim) ? text : "(" + text + ")";
}

std::string printAtom(const Dim::Atom &atom, PrintName printName) {
  if (atom.kind == Dim::Atom::Name)
    return printName(atom.name);
  return parenthesised(*atom.lhs, printName) +
         (atom.kind == Dim::Atom::FloorDiv ? " / " : " % ") +
         parenthesised(*atom.rhs, printName);
}

std::string printTerm(const Dim::Monomial &monomial, uint64_t magnitude,
                      PrintName printName) {
  std::string text;
  if (magnitude != 1 || monomial.empty())
    text = std::to_string(magnitude);
  for (const auto &[atom, power] : monomial)
    for (unsigned i = 0; i < power; ++i) {
      bool alone = monomial.size() == 1 && power == 1 && text.empty();
      std::string factor = printAtom(atom, printName);
      if (atom.kind != Dim::Atom::Name && !alone)
        factor = "(" + factor + ")";
      text += (text.empty() ? "" : "*") + factor;
    }
  return text;
}
} // namespace

std::string Dim::str(PrintName printName) const {
  if (terms.empty())
    return "0";
  std::string text;
  // Terms with names first, the constant last, as people write it.
  auto append = [&](const Monomial &monomial, int64_t coefficient) {
    uint64_t magnitude =
        coefficient < 0 ? 0 - uint64_t(coefficient) : uint64_t(coefficient);
    if (text.empty())
      text = coefficient < 0 ? "-" : "";
    else
      text += coefficient < 0 ? " - " : " + ";
    text += printTerm(monomial, magnitude, printName);
  };
  for (bool positive : {true, false})
    for (const auto &[monomial, coefficient] : terms)
      if (!monomial.empty() && (coefficient > 0) == positive)
        append(monomial, coefficient);
  if (auto it = terms.find({}); it != terms.end())
    append({}, it->second);
  return text;
}

std::string Dim::str() const {
  return str([](llvm::StringRef name) { return name.str(); });
}

//===-- Reading -----------------------------------------------------------===//

namespace {
/// Recursive descent over `+ -`, `* / %`, `( )`, names and numbers.
class DimParser {
public:
  explicit DimParser(llvm::StringRef text) : text(text) {}

  std::optional<Dim> parseAll() {
    auto result = parseSum(0);
    skipSpace();
    if (!text.empty())
      return std::nullopt;
    return result;
  }

private:
  static constexpr unsigned MaxDepth = 200;

  void skipSpace() { text = text.ltrim(" \t"); }
  bool consume(char c) {
    skipSpace();
    return text.consume_front(llvm::StringRef(&c, 1));
  }

  std::optional<Dim> parseSum(unsigned depth) {
    bool negative = consume('-');
    auto result = parseProduct(depth);
    if (result && negative)
      result = Dim() - *result;
    while (result) {
      bool add = consume('+'), sub = !add && consume('-');
      if (!add && !sub)
        break;
      auto rhs = parseProduct(depth);
      if (!rhs)
        return std::nullopt;
      result = add ? *result + *rhs : *result - *rhs;
    }
    return result;
  }

  std::optional<Dim> parseProduct(unsigned depth) {
    auto result = parseFactor(depth);
    while (result) {
      char op = consume('*')   ? '*'
                : consume('/') ? '/'
                : consume('%') ? '%'
                               : 0;
      if (!op)
        break;
      auto rhs = parseFactor(depth);
      if (!rhs)
        return std::nullopt;
      result = op == '*'   ? *result * *rhs
               : op == '/' ? Dim::floordiv(*result, *rhs)
                           : Dim::mod(*result, *rhs);
    }
    return result;
  }

  std::optional<Dim> parseFactor(unsigned depth) {
    if (depth > MaxDepth)
      return std::nullopt;
    if (consume('(')) {
      auto inner = parseSum(depth + 1);
      return inner && consume(')') ? inner : std::nullopt;
    }
    skipSpace();
    auto word = text.take_while([](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '.' || c == '@' || c == '#';
    });
    if (word.empty())
      return std::nullopt;
    text = text.drop_front(word.size());
    if (!llvm::isDigit(word.front()))
      return Dim::name(word);
    uint64_t value;
    if (word.getAsInteger(10, value))
      return std::nullopt;
    // The magnitude of INT64_MIN is printed behind its sign.
    return Dim::constant(int64_t(value));
  }

  llvm::StringRef text;
};
} // namespace

std::optional<Dim> Dim::parse(llvm::StringRef text) {
  return DimParser(text).parseAll();
}
