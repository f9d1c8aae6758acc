// What the derivatives of linear algebra are written with: products and
// transposes of the matrices of the last two axes, triangles, diagonals, and
// quotients that are 0 where the divisor is. Knows operations and values, and
// no pass.
#ifndef ASTRA_DIALECT_LINALGALGEBRA_H
#define ASTRA_DIALECT_LINALGALGEBRA_H

#include "dialect/Builder.h"

namespace astra {

/// A matrix of a product as it stands, or transposed.
struct Factor {
  Value value;
  bool transposed = false;
  Factor(Value value, bool transposed = false)
      : value(value), transposed(transposed) {}
};
inline Factor t(Value v) { return {v, true}; }

class MatrixBuilder : public RuleBuilder {
public:
  using RuleBuilder::RuleBuilder;
  using RuleBuilder::transpose;

  Value product(Factor x, Factor y);
  Value transpose(Value x);
  /// (x + transpose(x)) / 2, (x - transpose(x)) / 2.
  Value symmetric(Value x);
  Value skew(Value x);

  /// Elements (i, j) with i `Compare` j; 0 elsewhere.
  template <typename Compare> Value part(Value x) {
    return select(where<Compare>(x), x, splatLike(x, 0));
  }
  Value lower(Value x) { return part<GeOp>(x); }
  Value strictLower(Value x) { return part<GtOp>(x); }
  Value upper(Value x) { return part<LeOp>(x); }
  Value strictUpper(Value x) { return part<LtOp>(x); }
  /// The lower triangle with half of the diagonal.
  Value lowerWithHalfDiagonal(Value x);

  /// The diagonal of a square matrix, and a matrix with a diagonal.
  Value diagonalOf(Value x);
  Value withDiagonal(Value v);
  /// v[j] or v[i] at each place (i, j) of a matrix like `x`.
  Value alongColumns(Value v, Value x) { return expand(v, x, {rankOf(x) - 2}); }
  Value alongRows(Value v, Value x) { return expand(v, x, {rankOf(x) - 1}); }
  /// A number for each matrix, at each place of it.
  Value throughout(Value v, Value x) {
    return expand(v, x, {rankOf(x) - 2, rankOf(x) - 1});
  }
  /// 1 / v, and 0 where |v| is not above the threshold.
  Value reciprocalAbove(Value v, Value threshold);
  /// What rounding makes of values of this size: the precision times the norm
  /// along the last axis.
  Value noise(Value values);
  /// v[j] - v[i], v[j] + v[i] as a square matrix, reciprocal where not noise.
  Value reciprocalGaps(Value v) { return reciprocalPairs<SubOp>(v); }
  Value reciprocalSums(Value v) { return reciprocalPairs<AddOp>(v); }

  Value solve(Value a, Value b) { return make<SolveOp>(b.getType(), {a, b}); }
  Value inverse(Value a) { return unary<InvOp>(a); }
  Value leastSquares(Value a, Value b);
  Value solveTriangular(Value a, Value b, bool lower, bool transposed,
                        bool unitDiagonal = false);

  /// The extents of the rows and columns.
  Dim rows(Value x) { return typeOf(x).getDim(rankOf(x) - 2); }
  Dim columns(Value x) { return typeOf(x).getDim(rankOf(x) - 1); }

private:
  /// A square of bools over the last two axes, the same for every matrix.
  template <typename Compare> Value where(Value x) {
    TensorType type =
        TensorType::get(getBuilder().getContext(), getBuilder().getI64Type(),
                        {rows(x), columns(x)});
    Value flags = compare<Compare>(iota(type, 0), iota(type, 1));
    int64_t rank = rankOf(x);
    return broadcast(flags, boolLike(x), {rank - 2, rank - 1});
  }
  /// [.., k] as the type of the square matrices [.., k, k].
  TensorType squareOf(Value v);
  template <typename Combine> Value reciprocalPairs(Value v) {
    Value like = splat(squareOf(v), 0);
    Value threshold = throughout(noise(v), like);
    return reciprocalAbove(
        binary<Combine>(alongColumns(v, like), alongRows(v, like)), threshold);
  }
};

} // namespace astra
#endif // ASTRA_DIALECT_LINALGALGEBRA_H
