// The cotangents that a reverse walk has found so far, one per value. A
// cotangent that comes out of a `select` is kept as the whole value and the
// condition under which it counts; the condition is applied only where an
// operation needs it. Elementwise derivatives are multiplied before that, so
// that the infinities and NaNs of the element not taken are dropped and not
// multiplied with zero.
#ifndef ASTRA_PASSES_COTANGENTS_H
#define ASTRA_PASSES_COTANGENTS_H

#include "dialect/Builder.h"
#include "llvm/ADT/DenseMap.h"

namespace astra {

struct Cotangent {
  mlir::Value value;     // null: zero
  mlir::Value condition; // null: everywhere; else bools of the value's shape
  bool whereTrue = true; // counts where the condition is this
};

class Cotangents {
public:
  /// Adds to what `of` has. The sum runs from the last use to the first,
  /// because the walk does.
  void add(RuleBuilder &r, mlir::Value of, Cotangent part);
  /// Null if there is none.
  Cotangent get(mlir::Value of) const { return parts.lookup(of); }
  bool has(mlir::Value of) const { return parts.contains(of); }
  /// With the condition applied.
  mlir::Value getApplied(RuleBuilder &r, mlir::Value of) {
    return apply(r, get(of));
  }
  void erase(mlir::Value of) { parts.erase(of); }

  static mlir::Value apply(RuleBuilder &r, const Cotangent &part);

private:
  llvm::DenseMap<mlir::Value, Cotangent> parts;
};

/// Both conditions at once.
Cotangent restrict(RuleBuilder &r, Cotangent part, mlir::Value condition,
                   bool whereTrue);

} // namespace astra
#endif // ASTRA_PASSES_COTANGENTS_H
