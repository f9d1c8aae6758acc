// Shape rules of linear algebra. k = min(m, n) of the decompositions comes with
// the results' types, since not every pair of extents has a least one that the
// compiler can name; it is refused where it is provably another.
#include "dialect/Checks.h"

using namespace mlir;

namespace astra {

// An error of the run by what is in the matrices, not by their extents.
bool CholeskyOp::cannotFail() { return false; }
bool InvOp::cannotFail() { return false; }
bool SolveOp::cannotFail() { return false; }
bool EighOp::cannotFail() { return false; }
bool SvdOp::cannotFail() { return false; }

static bool isSquare(TensorType a) {
  ArrayRef<StringAttr> dims = a.getDims();
  return dims.back() == dims[dims.size() - 2];
}

/// The type without its last `count` axes.
static TensorType dropAxes(TensorType type, unsigned count) {
  return type.withDims(type.getDims().drop_back(count));
}

//===-- From a matrix to one like it --------------------------------------===//

template <typename OpTy> static LogicalResult verifySquare(OpTy op) {
  if (!isSquare(op.getA().getType()))
    return op.emitOpError("(C1) the matrices are not square");
  return success();
}
LogicalResult CholeskyOp::verify() { return verifySquare(*this); }
LogicalResult InvOp::verify() { return verifySquare(*this); }
LogicalResult CofactorOp::verify() { return verifySquare(*this); }

//===-- Determinants, eigenvalues -----------------------------------------===//

/// Results that are square matrices' own: without their last `dropped` axes.
template <typename OpTy>
static LogicalResult inferFromSquare(std::optional<Location> loc, Value matrix,
                                     ArrayRef<unsigned> dropped,
                                     SmallVectorImpl<Type> &types) {
  TensorType a = getTensorType(matrix);
  if (!isSquare(a))
    return broken<OpTy>(loc, "(C1) the matrices are not square");
  for (unsigned count : dropped)
    types.push_back(dropAxes(a, count));
  return success();
}

LogicalResult DetOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferFromSquare<DetOp>(loc, adaptor.getA(), {2}, types);
}

LogicalResult SlogdetOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferFromSquare<SlogdetOp>(loc, adaptor.getA(), {2, 2}, types);
}

LogicalResult EighOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferFromSquare<EighOp>(loc, adaptor.getA(), {1, 0}, types);
}

//===-- Equations ---------------------------------------------------------===//

/// One element type, the same leading axes and rows.
static bool fit(TensorType a, TensorType b) {
  return a.getElementType() == b.getElementType() &&
         a.getDims().drop_back() == b.getDims().drop_back();
}

template <typename OpTy>
static LogicalResult inferSolution(std::optional<Location> loc, Value matrix,
                                   Value right, SmallVectorImpl<Type> &types) {
  TensorType a = getTensorType(matrix), b = getTensorType(right);
  if (!isSquare(a))
    return broken<OpTy>(loc, "(C1) the matrices are not square");
  if (!fit(a, b))
    return broken<OpTy>(loc, "(C2) ", a, " and ", b, " do not fit");
  types.push_back(b);
  return success();
}

LogicalResult SolveOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return inferSolution<SolveOp>(loc, adaptor.getA(), adaptor.getB(), types);
}

LogicalResult
SolveTriangularOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  return inferSolution<SolveTriangularOp>(loc, adaptor.getA(), adaptor.getB(),
                                          types);
}

LogicalResult LstsqOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  TensorType a = getTensorType(adaptor.getA());
  TensorType b = getTensorType(adaptor.getB());
  if (!fit(a, b))
    return broken<LstsqOp>(loc, "(C1) ", a, " and ", b, " do not fit");
  SmallVector<StringAttr> dims(b.getDims());
  dims[dims.size() - 2] = a.getDims().back();
  types.push_back(b.withDims(dims));
  return success();
}

//===-- Decompositions ----------------------------------------------------===//

/// True if `left` [.., m, k] and `right` [.., k, n] can be the thin factors of
/// `a` [.., m, n].
static bool areThinFactors(TensorType a, TensorType left, TensorType right) {
  ArrayRef<StringAttr> dims = a.getDims();
  if (left.getRank() != a.getRank() || right.getRank() != a.getRank() ||
      left.getDims().drop_back() != dims.drop_back() ||
      right.getDims().drop_back(2) != dims.drop_back(2) ||
      right.getDims().back() != dims.back() ||
      left.getDims().back() != right.getDims()[right.getRank() - 2])
    return false;
  Dim m = a.getDim(a.getRank() - 2), n = a.getDim(a.getRank() - 1);
  Dim k = left.getDim(left.getRank() - 1);
  auto constant = [](const Dim &dim) { return dim.asConstant(); };
  if (constant(m) && constant(n) && constant(k))
    return *constant(k) == std::min(*constant(m), *constant(n));
  return Dim::compare(k, m) != DimProof::Different ||
         Dim::compare(k, n) != DimProof::Different;
}

template <typename OpTy>
static LogicalResult verifyFactors(OpTy op, TensorType left, TensorType right) {
  TensorType a = op.getA().getType();
  if (!areThinFactors(a, left, right))
    return op.emitOpError("(C1) these are not the factors' extents for ") << a;
  for (Value result : op->getResults())
    if (getTensorType(result).getElementType() != a.getElementType())
      return op.emitOpError("(C2) the element types differ");
  return success();
}

LogicalResult QrOp::verify() {
  return verifyFactors(*this, getQ().getType(), getR().getType());
}

LogicalResult SvdOp::verify() {
  TensorType u = getU().getType(), s = getS().getType();
  SmallVector<StringAttr> values(u.getDims().drop_back(2));
  values.push_back(u.getDims().back());
  if (s.getDims() != ArrayRef<StringAttr>(values))
    return emitOpError("(C1) these are not the factors' extents for ")
           << getA().getType();
  return verifyFactors(*this, u, getVt().getType());
}

} // namespace astra
