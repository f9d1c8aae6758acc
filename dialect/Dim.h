// Dimension expressions in canonical form: polynomials with 64-bit integer
// coefficients over names, floor divisions and remainders. The checker proves
// equalities with them, the dialect's types carry them, and the object's
// descriptor evaluates them at a call. This file may not know MLIR or the AST.
//
// Two expressions that are the same polynomial have the same text, so equality
// of `str()` is provable equality.
#ifndef ASTRA_DIALECT_DIM_H
#define ASTRA_DIALECT_DIM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace astra {

/// What can be said of two extents before the program runs.
enum class DimProof { Equal, Different, Unknown };

class Dim {
public:
  /// The constant 0.
  Dim() = default;
  static Dim constant(int64_t value);
  static Dim name(llvm::StringRef name);

  Dim operator+(const Dim &other) const;
  Dim operator-(const Dim &other) const;
  Dim operator*(const Dim &other) const;
  /// Rounds down, as in NumPy; exact divisions simplify ((2*n*d) / d is 2*n,
  /// (n*4 + 8) / 4 is n + 2).
  static Dim floordiv(const Dim &num, const Dim &den);
  static Dim mod(const Dim &num, const Dim &den);

  bool operator==(const Dim &other) const { return terms == other.terms; }
  bool operator!=(const Dim &other) const { return !(*this == other); }
  bool operator<(const Dim &other) const { return terms < other.terms; }

  std::optional<int64_t> asConstant() const;
  /// The name, if the expression is one name and nothing else; else "".
  llvm::StringRef asName() const;
  bool isConstant(int64_t value) const { return asConstant() == value; }

  /// Names count as extents: they are at least 0. Different means: for no
  /// value of the names are the two equal.
  static DimProof compare(const Dim &a, const Dim &b);
  /// True if the value is at least 0 whatever the names are.
  bool isProvablyNonNegative() const;

  /// Canonical text, "2*d + 1", "(h - k) / s + 1"; parse() reads it back.
  std::string str() const;
  /// As str(), with each name printed by `printName`.
  std::string
  str(llvm::function_ref<std::string(llvm::StringRef)> printName) const;
  static std::optional<Dim> parse(llvm::StringRef text);

  /// Replaces names; a name for which `map` gives nothing stays.
  Dim substitute(
      llvm::function_ref<std::optional<Dim>(llvm::StringRef)> map) const;
  void collectNames(std::set<std::string> &names) const;

  /// The value, or nothing on overflow or division by zero (with the reason).
  std::optional<int64_t>
  evaluate(llvm::function_ref<int64_t(llvm::StringRef)> value,
           std::string *reason = nullptr) const;

  /// Postfix code of module.h (ASTRA_DIM_*); names by their position.
  std::vector<int64_t> encode(llvm::ArrayRef<std::string> names) const;

  /// An atom is a name, or a floor division or remainder of two expressions.
  struct Atom {
    enum Kind { Name, FloorDiv, Mod } kind = Name;
    std::string name;
    std::shared_ptr<const Dim> lhs, rhs;
    bool operator==(const Atom &other) const;
    bool operator<(const Atom &other) const;
  };
  static Dim ofAtom(const Atom &atom);
  /// A product of powers of atoms.
  using Monomial = std::map<Atom, unsigned>;
  const std::map<Monomial, int64_t> &getTerms() const { return terms; }
  /// True if a coefficient left 64 bits or the expression grew too long; such
  /// an expression is an error for whoever asked for it.
  bool hasOverflow() const { return overflow; }

private:
  std::map<Monomial, int64_t> terms; // no zero coefficients
  bool overflow = false;
};

} // namespace astra
#endif // ASTRA_DIALECT_DIM_H
