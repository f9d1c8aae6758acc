// Building blocks of the derivatives of linear algebra: see LinalgAlgebra.h.
#include "dialect/LinalgAlgebra.h"

using namespace mlir;

namespace astra {

Value MatrixBuilder::product(Factor x, Factor y) {
  int64_t rank = rankOf(x.value);
  Axes batch = iotaAxes(rank - 2);
  return contract(x.value, y.value, batch, batch,
                  {x.transposed ? rank - 2 : rank - 1},
                  {y.transposed ? rank - 1 : rank - 2});
}

Value MatrixBuilder::transpose(Value x) {
  Axes perm = iotaAxes(rankOf(x));
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transpose(x, perm);
}

Value MatrixBuilder::symmetric(Value x) {
  return scale(add(x, transpose(x)), 0.5);
}
Value MatrixBuilder::skew(Value x) { return scale(sub(x, transpose(x)), 0.5); }

Value MatrixBuilder::lowerWithHalfDiagonal(Value x) {
  return select(where<EqOp>(x), scale(x, 0.5), lower(x));
}

TensorType MatrixBuilder::squareOf(Value v) {
  SmallVector<Dim> shape = shapeOf(v);
  shape.push_back(shape.back());
  return typeOf(v).withShape(shape);
}

Value MatrixBuilder::diagonalOf(Value x) {
  return sum(part<EqOp>(x), {rankOf(x) - 1});
}
Value MatrixBuilder::withDiagonal(Value v) {
  Value like = splat(squareOf(v), 0);
  return part<EqOp>(alongColumns(v, like));
}

Value MatrixBuilder::reciprocalAbove(Value v, Value threshold) {
  Value isSmall = compare<LeOp>(unary<AbsOp>(v), threshold);
  Value one = splatLike(v, 1);
  Value safe = select(isSmall, one, v);
  return select(isSmall, splatLike(v, 0), div(one, safe));
}

Value MatrixBuilder::noise(Value values) {
  SmallVector<Dim> shape = shapeOf(values);
  shape.pop_back();
  Value norm = make<NormOp>(typeOf(values).withShape(shape), {values},
                            {ints("axes", {rankOf(values) - 1})});
  bool isSingle = typeOf(values).getElementType().isF32();
  return scale(norm, isSingle ? 0x1p-23 : 0x1p-52);
}

Value MatrixBuilder::leastSquares(Value a, Value b) {
  SmallVector<Dim> shape = shapeOf(b);
  shape[shape.size() - 2] = columns(a);
  return make<LstsqOp>(typeOf(b).withShape(shape), {a, b});
}

Value MatrixBuilder::solveTriangular(Value a, Value b, bool lower,
                                     bool transposed, bool unitDiagonal) {
  SmallVector<NamedAttribute> attrs;
  if (lower)
    attrs.push_back(unit("lower"));
  if (transposed)
    attrs.push_back(unit("transpose"));
  if (unitDiagonal)
    attrs.push_back(unit("unit_diagonal"));
  return make<SolveTriangularOp>(b.getType(), {a, b}, attrs);
}

} // namespace astra
