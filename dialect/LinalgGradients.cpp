// Derivatives of linear algebra, composed of operations that have derivatives
// themselves. Formulas and their sources: docs/differentiation.md. None divides
// by an input, and what has no cotangent makes no operation.
#include "dialect/LinalgAlgebra.h"

using namespace mlir;

namespace astra {

using Builder = MatrixBuilder;

#define ASTRA_UNARY_RULES(OP)                                                  \
  LogicalResult OP::buildVjp(OpBuilder &builder, ValueRange cotangents,        \
                             SmallVectorImpl<Value> &operandCotangents) {      \
    Builder r(builder, getLoc());                                              \
    operandCotangents[0] = vjp(r, *this, cotangents);                          \
    return success();                                                          \
  }                                                                            \
  LogicalResult OP::buildJvp(OpBuilder &builder, ValueRange tangents,          \
                             SmallVectorImpl<Value> &resultTangents) {         \
    Builder r(builder, getLoc());                                              \
    jvp(r, *this, tangents[0], resultTangents);                                \
    return success();                                                          \
  }
#define ASTRA_EQUATION_RULES(OP)                                               \
  LogicalResult OP::buildVjp(OpBuilder &builder, ValueRange cotangents,        \
                             SmallVectorImpl<Value> &operandCotangents) {      \
    Builder r(builder, getLoc());                                              \
    vjp(r, *this, cotangents[0], operandCotangents);                           \
    return success();                                                          \
  }                                                                            \
  LogicalResult OP::buildJvp(OpBuilder &builder, ValueRange tangents,          \
                             SmallVectorImpl<Value> &resultTangents) {         \
    Builder r(builder, getLoc());                                              \
    resultTangents[0] = jvp(r, *this, tangents[0], tangents[1]);               \
    return success();                                                          \
  }

using Tangents = SmallVectorImpl<Value>;

/// x - y, where either may be null.
static Value difference(Builder &r, Value x, Value y) {
  if (!y)
    return x;
  return x ? r.sub(x, y) : r.neg(y);
}

//===-- Cholesky ----------------------------------------------------------===//

/// With S = L^-T P(L^T dL) L^-1, P keeping the lower triangle and half of the
/// diagonal: the symmetric part of S.
static Value vjp(Builder &r, CholeskyOp op, ValueRange d) {
  Value l = op.getResult();
  Value inner = r.lowerWithHalfDiagonal(r.product(t(l), d[0]));
  Value left = r.solveTriangular(l, inner, /*lower=*/true, /*transposed=*/true);
  return r.symmetric(
      r.solveTriangular(l, r.transpose(left), true, /*transposed=*/true));
}

/// L P(L^-1 dA L^-T).
static void jvp(Builder &r, CholeskyOp op, Value da, Tangents &out) {
  Value l = op.getResult();
  Value left = r.solveTriangular(l, r.symmetric(da), true, false);
  Value both = r.solveTriangular(l, r.transpose(left), true, false);
  out[0] = r.product(l, r.lowerWithHalfDiagonal(both));
}

//===-- Inverse and determinants ------------------------------------------===//

static Value vjp(Builder &r, InvOp op, ValueRange d) {
  Value y = op.getResult();
  return r.neg(r.product(t(y), r.product(d[0], t(y))));
}
static void jvp(Builder &r, InvOp op, Value da, Tangents &out) {
  Value y = op.getResult();
  out[0] = r.neg(r.product(y, r.product(da, y)));
}

static Value cofactors(Builder &r, Value a) { return r.unary<CofactorOp>(a); }
static Value traceOfProduct(Builder &r, Value x, Value y) {
  int64_t rank = rankOf(x);
  return r.sum(r.mul(x, y), {rank - 2, rank - 1});
}

static Value vjp(Builder &r, DetOp op, ValueRange d) {
  Value c = cofactors(r, op.getA());
  return r.mul(r.throughout(d[0], c), c);
}
static void jvp(Builder &r, DetOp op, Value da, Tangents &out) {
  out[0] = traceOfProduct(r, cofactors(r, op.getA()), da);
}

static Value vjp(Builder &r, SlogdetOp op, ValueRange d) {
  if (!d[1])
    return nullptr;
  Value inverse = r.transpose(r.inverse(op.getA()));
  return r.mul(r.throughout(d[1], inverse), inverse);
}
static void jvp(Builder &r, SlogdetOp op, Value da, Tangents &out) {
  out[1] = traceOfProduct(r, r.transpose(r.inverse(op.getA())), da);
}

/// The products of all singular values but the i-th and the j-th; 0 for i = j.
static Value productsOfOthers(Builder &r, Value s) {
  SmallVector<Dim> shape = shapeOf(s);
  int64_t axis = shape.size() - 1; // of i; then j, then the values
  shape.append(2, shape.back());
  TensorType type = typeOf(s).withShape(shape);
  Value all = r.broadcast(s, type, [&] {
    Axes axes = iotaAxes(axis);
    axes.push_back(axis + 2);
    return axes;
  }());
  auto isAxis = [&](int64_t i) {
    TensorType places = TensorType::get(r.getBuilder().getContext(),
                                        r.getBuilder().getI64Type(),
                                        SmallVector<Dim>(3, shape.back()));
    Value flags = r.compare<EqOp>(r.iota(places, i), r.iota(places, 2));
    return r.broadcast(flags, r.boolLike(all), {axis, axis + 1, axis + 2});
  };
  Value one = r.splatLike(all, 1);
  Value others = r.select(isAxis(0), one, r.select(isAxis(1), one, all));
  TensorType square = type.withDims(type.getDims().drop_back());
  Value products =
      r.make<ProdOp>(square, {others}, {r.ints("axes", {axis + 2})});
  return r.sub(products, r.withDiagonal(r.diagonalOf(products)));
}

/// The derivative of the cofactors along E, which is symmetric in E and the
/// cotangent: with a = U S V^T and F = U^T E V, det(U V) U M V^T, where M[i, j]
/// = -p[i, j] F[j, i] and M[i, i] = sum over k of p[i, k] F[k, k].
static Value cofactorsAlong(Builder &r, Value a, Value e) {
  SmallVector<Dim> shape = shapeOf(a);
  shape.pop_back();
  auto svd = SvdOp::create(
      r.getBuilder(), r.getLoc(),
      TypeRange{a.getType(), typeOf(a).withShape(shape), a.getType()}, a);
  Value u = svd.getU(), s = svd.getS(), vt = svd.getVt();
  Value f = r.product(t(u), r.product(e, t(vt)));
  Value p = productsOfOthers(r, s);
  Value onDiagonal =
      r.sum(r.mul(p, r.alongColumns(r.diagonalOf(f), p)), {rankOf(p) - 1});
  Value m = r.sub(r.withDiagonal(onDiagonal), r.mul(p, r.transpose(f)));
  shape.pop_back();
  Type sign = typeOf(a).withShape(shape);
  auto turn = SlogdetOp::create(r.getBuilder(), r.getLoc(),
                                TypeRange{sign, sign}, r.product(u, vt));
  Value result = r.product(u, r.product(m, vt));
  return r.mul(r.throughout(turn.getSign(), result), result);
}
static Value vjp(Builder &r, CofactorOp op, ValueRange d) {
  return cofactorsAlong(r, op.getA(), d[0]);
}
static void jvp(Builder &r, CofactorOp op, Value da, Tangents &out) {
  out[0] = cofactorsAlong(r, op.getA(), da);
}

//===-- Equations ---------------------------------------------------------===//

static void vjp(Builder &r, SolveOp op, Value d, Tangents &out) {
  Value back = r.solve(r.transpose(op.getA()), d);
  out[0] = r.neg(r.product(back, t(op.getResult())));
  out[1] = back;
}
static Value jvp(Builder &r, SolveOp op, Value da, Value db) {
  Value moved = da ? r.product(da, op.getResult()) : Value();
  return r.solve(op.getA(), difference(r, db, moved));
}

/// What of a matrix's tangent or cotangent the operation reads.
static Value readPart(Builder &r, SolveTriangularOp op, Value x) {
  if (op.getUnitDiagonal())
    return op.getLower() ? r.strictLower(x) : r.strictUpper(x);
  return op.getLower() ? r.lower(x) : r.upper(x);
}
static void vjp(Builder &r, SolveTriangularOp op, Value d, Tangents &out) {
  Value x = op.getResult();
  Value back = r.solveTriangular(op.getA(), d, op.getLower(),
                                 !op.getTranspose(), op.getUnitDiagonal());
  Value outer =
      op.getTranspose() ? r.product(x, t(back)) : r.product(back, t(x));
  out[0] = readPart(r, op, r.neg(outer));
  out[1] = back;
}
static Value jvp(Builder &r, SolveTriangularOp op, Value da, Value db) {
  Value moved = da ? r.product(Factor(readPart(r, op, da), op.getTranspose()),
                               op.getResult())
                   : Value();
  return r.solveTriangular(op.getA(), difference(r, db, moved), op.getLower(),
                           op.getTranspose(), op.getUnitDiagonal());
}

/// What is left of b, and A^+T x: with them every derivative of the shortest
/// solution is written, whatever the rank, if it does not change.
static std::pair<Value, Value> restOf(Builder &r, LstsqOp op) {
  Value x = op.getResult();
  return {r.sub(op.getB(), r.product(op.getA(), x)),
          r.leastSquares(r.transpose(op.getA()), x)};
}
static void vjp(Builder &r, LstsqOp op, Value d, Tangents &out) {
  Value a = op.getA(), x = op.getResult();
  auto [rest, w] = restOf(r, op);
  Value back = r.leastSquares(r.transpose(a), d);
  Value twice = r.leastSquares(a, back);
  Value outside = r.sub(d, r.product(t(a), back));
  Value sum = r.sub(r.product(rest, t(twice)), r.product(back, t(x)));
  out[0] = r.add(sum, r.product(w, t(outside)));
  out[1] = back;
}
static Value jvp(Builder &r, LstsqOp op, Value da, Value db) {
  Value a = op.getA();
  if (!da)
    return r.leastSquares(a, db);
  auto [rest, w] = restOf(r, op);
  Value at = r.transpose(a);
  Value moved = difference(r, db, r.product(da, op.getResult()));
  Value inside = r.leastSquares(at, r.product(t(da), rest));
  Value along = r.product(t(da), w);
  Value outside = r.sub(along, r.product(at, r.leastSquares(at, along)));
  return r.add(r.leastSquares(a, r.add(moved, inside)), outside);
}

//===-- Eigenvalues -------------------------------------------------------===//

static Value vjp(Builder &r, EighOp op, ValueRange d) {
  Value v = op.getVectors();
  if (!d[1])
    return r.product(r.mul(v, r.alongColumns(d[0], v)), t(v));
  Value inner =
      r.mul(r.reciprocalGaps(op.getValues()), r.skew(r.product(t(v), d[1])));
  if (d[0])
    inner = r.add(inner, r.withDiagonal(d[0]));
  return r.product(v, r.product(inner, t(v)));
}
static void jvp(Builder &r, EighOp op, Value da, Tangents &out) {
  Value v = op.getVectors();
  Value inner = r.product(t(v), r.product(r.symmetric(da), v));
  out[0] = r.diagonalOf(inner);
  out[1] = r.product(v, r.mul(r.reciprocalGaps(op.getValues()), inner));
}

//===-- Singular values ---------------------------------------------------===//

/// The factor between the cotangents' parts within the singular vectors: with
/// the skew parts a of U^T dU and b of V^T dV, (a + b) / (s[j] - s[i]) +
/// (a - b) / (s[j] + s[i]).
static Value rotation(Builder &r, SvdOp op, Value du, Value dvt) {
  Value s = op.getS();
  Value a = du ? r.skew(r.product(t(op.getU()), du)) : Value();
  Value b = dvt ? r.skew(r.product(op.getVt(), t(dvt))) : Value();
  Value minus = a && b ? r.sub(a, b) : a ? a : r.neg(b);
  return r.add(r.mul(r.add(a, b), r.reciprocalGaps(s)),
               r.mul(minus, r.reciprocalSums(s)));
}
static Value reciprocals(Builder &r, Value s) {
  return r.reciprocalAbove(s, r.expand(r.noise(s), s, {rankOf(s) - 1}));
}

static Value vjp(Builder &r, SvdOp op, ValueRange d) {
  Value u = op.getU(), s = op.getS(), vt = op.getVt();
  Value du = d[0], ds = d[1], dvt = d[2];
  if (!du && !dvt)
    return r.product(r.mul(u, r.alongColumns(ds, u)), vt);
  Value inner = rotation(r, op, du, dvt);
  if (ds)
    inner = r.add(inner, r.withDiagonal(ds));
  Value left = r.product(u, inner), right;
  Dim k = r.columns(u);
  if (du && r.rows(u) != k) {
    Value outside = r.sub(du, r.product(u, r.product(t(u), du)));
    left = r.add(left, r.mul(outside, r.alongColumns(reciprocals(r, s), u)));
  }
  if (dvt && r.columns(vt) != k) {
    Value outside = r.sub(dvt, r.product(r.product(dvt, t(vt)), vt));
    right = r.product(u, r.mul(outside, r.alongRows(reciprocals(r, s), vt)));
  }
  return r.add(r.product(left, vt), right);
}

static void jvp(Builder &r, SvdOp op, Value da, Tangents &out) {
  Value u = op.getU(), s = op.getS(), vt = op.getVt();
  Value left = r.product(t(u), da), right = r.product(da, t(vt));
  Value inner = r.product(left, t(vt));
  out[1] = r.diagonalOf(inner);
  Value even = r.mul(r.symmetric(inner), r.reciprocalGaps(s));
  Value odd = r.mul(r.skew(inner), r.reciprocalSums(s));
  out[0] = r.product(u, r.add(even, odd));
  out[2] = r.product(r.sub(odd, even), vt);
  Dim k = r.columns(u);
  if (r.rows(u) != k) {
    Value outside = r.sub(right, r.product(u, inner));
    out[0] =
        r.add(out[0], r.mul(outside, r.alongColumns(reciprocals(r, s), u)));
  }
  if (r.columns(vt) != k) {
    Value outside = r.sub(left, r.product(inner, vt));
    out[2] = r.add(out[2], r.mul(outside, r.alongRows(reciprocals(r, s), vt)));
  }
}

//===-- QR ----------------------------------------------------------------===//

namespace {
/// The columns of a wide matrix before and from k on; `wide` is null where
/// there are none.
struct Columns {
  Value square, wide;
};
} // namespace

static Columns splitColumns(Builder &r, Value x, const Dim &k) {
  if (r.columns(x) == k)
    return {x, nullptr};
  Dim n = r.columns(x);
  int64_t axis = rankOf(x) - 1;
  return {r.sliceAxis(x, axis, Dim(), k), r.sliceAxis(x, axis, k, n - k)};
}
/// x R^-1 for R upper triangular, or x R^-T.
static Value divideRight(Builder &r, Value x, Value upper, bool transposed) {
  return r.transpose(r.solveTriangular(upper, r.transpose(x), /*lower=*/false,
                                       /*transposed=*/!transposed));
}

static Value vjp(Builder &r, QrOp op, ValueRange d) {
  Value q = op.getQ(), dq = d[0];
  Dim k = r.columns(q);
  Columns upper = splitColumns(r, op.getR(), k), dr, a;
  if (d[1]) {
    dr = splitColumns(r, d[1], k);
    a = splitColumns(r, op.getA(), k);
    if (dr.wide)
      dq = r.add(dq, r.product(a.wide, t(dr.wide)));
  }
  Value m = dr.square ? r.product(upper.square, t(dr.square)) : Value();
  if (dq)
    m = difference(r, m, r.product(t(dq), q));
  // The lower triangle of m and its mirror image.
  Value mirrored = r.add(r.lower(m), r.transpose(r.strictLower(m)));
  Value inner = r.add(dq, r.product(q, mirrored));
  Value first = divideRight(r, inner, upper.square, /*transposed=*/true);
  if (r.columns(op.getA()) == k)
    return first;
  Value rest = dr.wide ? r.product(q, dr.wide)
                       : r.zeros(splitColumns(r, op.getA(), k).wide.getType());
  return r.concat({first, rest}, rankOf(first) - 1);
}

static void jvp(Builder &r, QrOp op, Value da, Tangents &out) {
  Value q = op.getQ();
  Dim k = r.columns(q);
  Columns upper = splitColumns(r, op.getR(), k), moved = splitColumns(r, da, k);
  Value c = divideRight(r, moved.square, upper.square, /*transposed=*/false);
  Value s = r.product(t(q), c);
  Value below = r.strictLower(s);
  Value turn = r.sub(below, r.transpose(below)), stretch = r.sub(s, turn);
  Value dq = r.sub(c, r.product(q, stretch));
  Value dr = r.product(stretch, upper.square);
  if (moved.wide) {
    Value a = splitColumns(r, op.getA(), k).wide;
    Value wide = r.add(r.product(t(dq), a), r.product(t(q), moved.wide));
    dr = r.concat({dr, wide}, rankOf(dr) - 1);
  }
  out[0] = dq;
  out[1] = dr;
}

ASTRA_UNARY_RULES(CholeskyOp)
ASTRA_UNARY_RULES(InvOp)
ASTRA_UNARY_RULES(CofactorOp)
ASTRA_UNARY_RULES(DetOp)
ASTRA_UNARY_RULES(SlogdetOp)
ASTRA_UNARY_RULES(EighOp)
ASTRA_UNARY_RULES(SvdOp)
ASTRA_UNARY_RULES(QrOp)
ASTRA_EQUATION_RULES(SolveOp)
ASTRA_EQUATION_RULES(SolveTriangularOp)
ASTRA_EQUATION_RULES(LstsqOp)

} // namespace astra
