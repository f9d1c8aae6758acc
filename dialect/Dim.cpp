// Canonical dimension expressions: arithmetic, proofs, substitution and
// evaluation. The text form is in DimText.cpp. Knows no MLIR and no AST.
#include "dialect/Dim.h"
#include "runtime/include/astra/module.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace astra;

bool Dim::Atom::operator==(const Atom &other) const {
  return kind == other.kind && name == other.name &&
         (kind == Name || (*lhs == *other.lhs && *rhs == *other.rhs));
}

bool Dim::Atom::operator<(const Atom &other) const {
  if (kind != other.kind)
    return kind < other.kind;
  if (kind == Name)
    return name < other.name;
  if (*lhs != *other.lhs)
    return *lhs < *other.lhs;
  return *rhs < *other.rhs;
}

Dim Dim::constant(int64_t value) {
  Dim result;
  if (value != 0)
    result.terms[{}] = value;
  return result;
}

Dim Dim::name(llvm::StringRef name) {
  Dim result;
  result.terms[{{Atom{Atom::Name, name.str(), nullptr, nullptr}, 1}}] = 1;
  return result;
}

std::optional<int64_t> Dim::asConstant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

llvm::StringRef Dim::asName() const {
  if (terms.size() != 1 || terms.begin()->second != 1)
    return "";
  const Monomial &monomial = terms.begin()->first;
  if (monomial.size() != 1 || monomial.begin()->second != 1 ||
      monomial.begin()->first.kind != Atom::Name)
    return "";
  return monomial.begin()->first.name;
}

//===-- Arithmetic --------------------------------------------------------===//

/// Products of longer expressions are refused like an overflow: no program
/// needs them, and powers of sums would otherwise grow without bound.
static constexpr size_t MaxTerms = 4096;

static void addTerm(std::map<Dim::Monomial, int64_t> &terms,
                    const Dim::Monomial &monomial, int64_t coefficient,
                    bool &overflow) {
  int64_t &slot = terms[monomial];
  overflow |= llvm::AddOverflow(slot, coefficient, slot);
  if (slot == 0)
    terms.erase(monomial);
}

Dim Dim::operator+(const Dim &other) const {
  Dim result = *this;
  result.overflow |= other.overflow;
  for (const auto &[monomial, coefficient] : other.terms)
    addTerm(result.terms, monomial, coefficient, result.overflow);
  return result;
}

Dim Dim::operator-(const Dim &other) const {
  return *this + other * Dim::constant(-1);
}

Dim Dim::operator*(const Dim &other) const {
  Dim result;
  result.overflow = overflow || other.overflow;
  if (terms.size() * other.terms.size() > MaxTerms) {
    result.overflow = true;
    return result;
  }
  for (const auto &[ma, ca] : terms)
    for (const auto &[mb, cb] : other.terms) {
      Monomial product = ma;
      for (const auto &[atom, power] : mb)
        product[atom] += power;
      int64_t coefficient;
      result.overflow |= llvm::MulOverflow(ca, cb, coefficient);
      addTerm(result.terms, product, coefficient, result.overflow);
    }
  return result;
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

static bool wouldOverflow(int64_t a, int64_t b) {
  return a == std::numeric_limits<int64_t>::min() && b == -1;
}

/// monomial / divisor if every power allows it.
static std::optional<Dim::Monomial> divide(Dim::Monomial monomial,
                                           const Dim::Monomial &divisor) {
  for (const auto &[atom, power] : divisor) {
    auto it = monomial.find(atom);
    if (it == monomial.end() || it->second < power)
      return std::nullopt;
    if ((it->second -= power) == 0)
      monomial.erase(it);
  }
  return monomial;
}

/// Splits `num` into multiples of the one-term `den` and the rest:
/// num = quotient * den + rest, term by term.
static void splitMultiples(const Dim &num, const Dim::Monomial &denMonomial,
                           int64_t denCoefficient, Dim &quotient, Dim &rest) {
  for (const auto &[monomial, coefficient] : num.getTerms()) {
    Dim term = Dim::constant(coefficient);
    for (const auto &[atom, power] : monomial)
      for (unsigned i = 0; i < power; ++i)
        term = term * Dim::ofAtom(atom);
    auto lower = divide(monomial, denMonomial);
    if (lower && !wouldOverflow(coefficient, denCoefficient) &&
        coefficient % denCoefficient == 0) {
      Dim part = Dim::constant(coefficient / denCoefficient);
      for (const auto &[atom, power] : *lower)
        for (unsigned i = 0; i < power; ++i)
          part = part * Dim::ofAtom(atom);
      quotient = quotient + part;
    } else {
      rest = rest + term;
    }
  }
}

Dim Dim::ofAtom(const Atom &atom) {
  Dim result;
  result.terms[{{atom, 1}}] = 1;
  return result;
}

static Dim makeQuotient(Dim::Atom::Kind kind, const Dim &num, const Dim &den) {
  return Dim::ofAtom({kind, "", std::make_shared<const Dim>(num),
                      std::make_shared<const Dim>(den)});
}

/// What divides every term of both: (n*d, 2*n) has n, (2*n, 4*d) has 2.
static std::pair<Dim::Monomial, int64_t> commonFactor(const Dim &a,
                                                      const Dim &b) {
  Dim::Monomial monomial = b.getTerms().begin()->first;
  uint64_t coefficient = 0;
  for (const Dim *dim : {&a, &b})
    for (const auto &[other, factor] : dim->getTerms()) {
      coefficient = std::gcd(coefficient, llvm::AbsoluteValue(factor));
      for (auto it = monomial.begin(); it != monomial.end();) {
        auto found = other.find(it->first);
        it->second =
            std::min(it->second, found == other.end() ? 0 : found->second);
        it = it->second == 0 ? monomial.erase(it) : std::next(it);
      }
    }
  if (coefficient > uint64_t(std::numeric_limits<int64_t>::max()))
    coefficient = 1;
  return {monomial, int64_t(coefficient)};
}

static Dim floorQuotient(const Dim &num, const Dim &den) {
  auto n = num.asConstant(), d = den.asConstant();
  if (n && d && *d != 0 && !wouldOverflow(*n, *d))
    return Dim::constant(floorDivide(*n, *d));
  if (!num.getTerms().empty() && !den.getTerms().empty()) {
    auto [monomial, coefficient] = commonFactor(num, den);
    if (!monomial.empty() || coefficient != 1) {
      Dim lowNum, lowDen, rest;
      splitMultiples(num, monomial, coefficient, lowNum, rest);
      splitMultiples(den, monomial, coefficient, lowDen, rest);
      return floorQuotient(lowNum, lowDen);
    }
  }
  if (den.getTerms().size() == 1) {
    // floor((q * den + r) / den) = q + floor(r / den) for any integer q, for
    // den other than 0, where the division itself is an error.
    Dim quotient, rest;
    splitMultiples(num, den.getTerms().begin()->first,
                   den.getTerms().begin()->second, quotient, rest);
    if (rest.getTerms().empty() && !quotient.getTerms().empty())
      return quotient;
    if (d && *d > 0) {
      if (auto r = rest.asConstant())
        return quotient + Dim::constant(floorDivide(*r, *d));
      return quotient + makeQuotient(Dim::Atom::FloorDiv, rest, den);
    }
  }
  if (num == den && !num.getTerms().empty())
    return Dim::constant(1);
  return makeQuotient(Dim::Atom::FloorDiv, num, den);
}

static Dim floorRest(const Dim &num, const Dim &den) {
  auto n = num.asConstant(), d = den.asConstant();
  if (n && d && *d != 0 && !wouldOverflow(*n, *d))
    return Dim::constant(*n - floorDivide(*n, *d) * *d);
  if (den.getTerms().size() == 1) {
    Dim quotient, rest;
    splitMultiples(num, den.getTerms().begin()->first,
                   den.getTerms().begin()->second, quotient, rest);
    if (rest.getTerms().empty() && !quotient.getTerms().empty())
      return Dim();
    if (d && *d > 0) {
      if (auto r = rest.asConstant())
        return Dim::constant(*r - floorDivide(*r, *d) * *d);
      return makeQuotient(Dim::Atom::Mod, rest, den);
    }
  }
  return makeQuotient(Dim::Atom::Mod, num, den);
}

Dim Dim::floordiv(const Dim &num, const Dim &den) {
  Dim result = floorQuotient(num, den);
  result.overflow |= num.overflow || den.overflow;
  return result;
}

Dim Dim::mod(const Dim &num, const Dim &den) {
  Dim result = floorRest(num, den);
  result.overflow |= num.overflow || den.overflow;
  return result;
}

//===-- Proofs ------------------------------------------------------------===//

/// True if the atom is at least 0 for all extents.
static bool isNonNegative(const Dim &dim);
static bool isNonNegative(const Dim::Atom &atom) {
  if (atom.kind == Dim::Atom::Name)
    return true;
  auto d = atom.rhs->asConstant();
  if (!d || *d <= 0)
    return false;
  return atom.kind == Dim::Atom::Mod || isNonNegative(*atom.lhs);
}

static bool isNonNegative(const Dim &dim) {
  return llvm::all_of(dim.getTerms(), [](const auto &term) {
    return term.second > 0 && llvm::all_of(term.first, [](const auto &power) {
             return power.second % 2 == 0 || isNonNegative(power.first);
           });
  });
}

DimProof Dim::compare(const Dim &a, const Dim &b) {
  if (a == b)
    return DimProof::Equal;
  Dim difference = a - b;
  if (difference.overflow)
    return DimProof::Unknown;
  if (auto value = difference.asConstant())
    return *value == 0 ? DimProof::Equal : DimProof::Different;
  // d >= c > 0 everywhere, or the same of -d, means never equal.
  for (const Dim &d : {difference, difference * constant(-1)}) {
    auto it = d.terms.find({});
    if (it != d.terms.end() && it->second > 0 && isNonNegative(d))
      return DimProof::Different;
  }
  // A common divisor of the coefficients that does not divide the constant.
  int64_t divisor = 0, rest = 0;
  for (const auto &[monomial, coefficient] : difference.terms) {
    if (monomial.empty())
      rest = coefficient;
    else
      divisor = std::gcd(divisor, coefficient);
  }
  if (divisor > 1 && rest % divisor != 0)
    return DimProof::Different;
  return DimProof::Unknown;
}

bool Dim::isProvablyNonNegative() const {
  return !overflow && isNonNegative(*this);
}

//===-- Substitution and evaluation ---------------------------------------===//

Dim Dim::substitute(
    llvm::function_ref<std::optional<Dim>(llvm::StringRef)> map) const {
  Dim result;
  result.overflow = overflow;
  for (const auto &[monomial, coefficient] : terms) {
    Dim term = constant(coefficient);
    for (const auto &[atom, power] : monomial) {
      Dim factor;
      if (atom.kind == Atom::Name)
        factor = map(atom.name).value_or(ofAtom(atom));
      else if (atom.kind == Atom::FloorDiv)
        factor = floordiv(atom.lhs->substitute(map), atom.rhs->substitute(map));
      else
        factor = mod(atom.lhs->substitute(map), atom.rhs->substitute(map));
      for (unsigned i = 0; i < power; ++i)
        term = term * factor;
    }
    result = result + term;
  }
  return result;
}

void Dim::collectNames(std::set<std::string> &names) const {
  for (const auto &[monomial, coefficient] : terms)
    for (const auto &[atom, power] : monomial) {
      if (atom.kind == Atom::Name) {
        names.insert(atom.name);
        continue;
      }
      atom.lhs->collectNames(names);
      atom.rhs->collectNames(names);
    }
}

static std::optional<int64_t> refuse(std::string *reason, const char *text) {
  if (reason)
    *reason = text;
  return std::nullopt;
}

static std::optional<int64_t>
evaluateAtom(const Dim::Atom &atom,
             llvm::function_ref<int64_t(llvm::StringRef)> value,
             std::string *reason) {
  if (atom.kind == Dim::Atom::Name)
    return value(atom.name);
  auto lhs = atom.lhs->evaluate(value, reason);
  auto rhs = atom.rhs->evaluate(value, reason);
  if (!lhs || !rhs)
    return std::nullopt;
  if (*rhs == 0)
    return refuse(reason, "division by zero");
  if (wouldOverflow(*lhs, *rhs))
    return refuse(reason, "does not fit in 64 bits");
  int64_t quotient = floorDivide(*lhs, *rhs);
  return atom.kind == Dim::Atom::FloorDiv ? quotient : *lhs - quotient * *rhs;
}

std::optional<int64_t>
Dim::evaluate(llvm::function_ref<int64_t(llvm::StringRef)> value,
              std::string *reason) const {
  int64_t sum = 0;
  bool over = overflow;
  for (const auto &[monomial, coefficient] : terms) {
    int64_t term = coefficient;
    for (const auto &[atom, power] : monomial) {
      auto factor = evaluateAtom(atom, value, reason);
      if (!factor)
        return std::nullopt;
      for (unsigned i = 0; i < power; ++i)
        over |= llvm::MulOverflow(term, *factor, term);
    }
    over |= llvm::AddOverflow(sum, term, sum);
  }
  if (over)
    return refuse(reason, "does not fit in 64 bits");
  return sum;
}

static void encodeInto(const Dim &dim, llvm::ArrayRef<std::string> names,
                       std::vector<int64_t> &code) {
  bool firstTerm = true;
  for (const auto &[monomial, coefficient] : dim.getTerms()) {
    bool firstFactor = true;
    if (coefficient != 1 || monomial.empty()) {
      code.insert(code.end(), {ASTRA_DIM_CONST, coefficient});
      firstFactor = false;
    }
    for (const auto &[atom, power] : monomial)
      for (unsigned i = 0; i < power; ++i) {
        if (atom.kind == Dim::Atom::Name) {
          auto it = llvm::find(names, atom.name);
          code.insert(code.end(), {ASTRA_DIM_NAME, it - names.begin()});
        } else {
          encodeInto(*atom.lhs, names, code);
          encodeInto(*atom.rhs, names, code);
          code.push_back(atom.kind == Dim::Atom::FloorDiv ? ASTRA_DIM_FLOORDIV
                                                          : ASTRA_DIM_MOD);
        }
        if (!firstFactor)
          code.push_back(ASTRA_DIM_MUL);
        firstFactor = false;
      }
    if (!firstTerm)
      code.push_back(ASTRA_DIM_ADD);
    firstTerm = false;
  }
  if (firstTerm)
    code.insert(code.end(), {ASTRA_DIM_CONST, 0});
}

std::vector<int64_t> Dim::encode(llvm::ArrayRef<std::string> names) const {
  std::vector<int64_t> code;
  encodeInto(*this, names, code);
  return code;
}
