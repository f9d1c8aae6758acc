// Factors of square matrices and what follows from them: Cholesky, solutions of
// equations, inverses, determinants and cofactors.
#include "kernels/Types.h"
#include "kernels/linalg/Matrices.h"
#include "kernels/math/Elementary.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

using namespace astra;

namespace {

//===-- Cholesky ----------------------------------------------------------===//

template <class T> class Cholesky {
public:
  template <class Views> bool at(const Views &batch, int64_t position) {
    batch.at(0, position).load(a);
    symmetrise(a);
    if (a.rows() == 0)
      return true;
    factor.compute(a);
    // A NaN passes Eigen's test.
    if (factor.info() != Eigen::Success ||
        !factor.matrixLLT().diagonal().allFinite())
      return false;
    const auto &l = factor.matrixLLT();
    batch.at(1, position).store([&](int64_t i, int64_t j) {
      return i >= j ? l(i, j) : T(0);
    });
    return true;
  }

  void explain(Sentence &sentence) {
    sentence.text(" is not positive definite");
    for (int64_t j = 0; j < a.rows(); ++j) {
      T pivot = a(j, j) - a.row(j).head(j).squaredNorm();
      if (!(pivot > 0) || pivot > std::numeric_limits<T>::max()) {
        sentence.text(": the pivot of row ").integer(j).text(" is ");
        sentence.real(double(pivot), std::numeric_limits<T>::max_digits10);
        return;
      }
      a(j, j) = math::sqrt(pivot);
      for (int64_t i = j + 1; i < a.rows(); ++i)
        a(i, j) = (a(i, j) - a.row(i).head(j).dot(a.row(j).head(j))) / a(j, j);
    }
  }

private:
  Matrix<T> a;
  Eigen::LLT<Matrix<T>> factor;
};

//===-- LU with rows exchanged --------------------------------------------===//

/// Keeps the factors while the batch goes on with the same matrix.
template <class T> class Factored {
public:
  const Eigen::PartialPivLU<Matrix<T>> &of(const MatrixView<T> &view) {
    if (view.data != last) {
      view.load(a);
      factor.compute(a);
      last = view.data;
    }
    return factor;
  }
  /// The first row without a pivot, or -1.
  int64_t singularRow() const {
    for (int64_t i = 0; i < a.rows(); ++i)
      if (factor.matrixLU()(i, i) == T(0))
        return i;
    return -1;
  }
  void explain(Sentence &sentence) const {
    sentence.text(" is singular: elimination leaves no pivot for row ")
        .integer(singularRow());
  }

private:
  Matrix<T> a;
  Eigen::PartialPivLU<Matrix<T>> factor;
  const T *last = nullptr;
};

template <class T> class Solve {
public:
  template <class Views> bool at(const Views &batch, int64_t position) {
    MatrixView<T> a = batch.at(0, position);
    if (a.rows == 0)
      return true;
    const auto &factor = factored.of(a);
    if (factored.singularRow() >= 0)
      return false;
    batch.at(1, position).load(b);
    x = factor.solve(b);
    batch.at(2, position).store(x);
    return true;
  }
  void explain(Sentence &sentence) const { factored.explain(sentence); }

private:
  Factored<T> factored;
  Matrix<T> b, x;
};

template <class T> class Inv {
public:
  template <class Views> bool at(const Views &batch, int64_t position) {
    MatrixView<T> a = batch.at(0, position);
    if (a.rows == 0)
      return true;
    const auto &factor = factored.of(a);
    if (factored.singularRow() >= 0)
      return false;
    x = factor.solve(Matrix<T>::Identity(a.rows, a.rows));
    batch.at(1, position).store(x);
    return true;
  }
  void explain(Sentence &sentence) const { factored.explain(sentence); }

private:
  Factored<T> factored;
  Matrix<T> x;
};

template <class T> class Det {
public:
  template <class Views> bool at(const Views &batch, int64_t position) {
    MatrixView<T> a = batch.at(0, position);
    T product = 1;
    if (a.rows > 0) {
      const auto &factor = factored.of(a);
      product = T(factor.permutationP().determinant());
      for (int64_t i = 0; i < a.rows; ++i)
        product *= factor.matrixLU()(i, i);
    }
    // Of a singular matrix +0, whatever the signs of the other pivots.
    batch.at(1, position).fill(product == T(0) ? T(0) : product);
    return true;
  }
  void explain(Sentence &) const {}

private:
  Factored<T> factored;
};

template <class T> class Slogdet {
public:
  template <class Views> bool at(const Views &batch, int64_t position) {
    MatrixView<T> a = batch.at(0, position);
    T sign = 1, sum = 0;
    if (a.rows > 0) {
      const auto &factor = factored.of(a);
      sign = T(factor.permutationP().determinant());
      for (int64_t i = 0; i < a.rows; ++i) {
        T pivot = factor.matrixLU()(i, i);
        sign *= pivot > 0 ? T(1) : pivot < 0 ? T(-1) : pivot;
        sum += math::log(pivot < 0 ? -pivot : pivot);
      }
      if (factored.singularRow() >= 0) {
        sign = 0;
        sum = -std::numeric_limits<T>::infinity();
      }
    }
    batch.at(1, position).fill(sign);
    batch.at(2, position).fill(sum);
    return true;
  }
  void explain(Sentence &) const {}

private:
  Factored<T> factored;
};

//===-- Cofactors ---------------------------------------------------------===//

/// With P a Q = L U, both kinds of rows exchanged, the cofactors are those of U
/// and L multiplied and put back. U's last pivot is its least, so that the
/// others have an inverse unless the rank is below n - 1, where all are 0.
template <class T> class Cofactor {
public:
  template <class Views> bool at(const Views &batch, int64_t position) {
    batch.at(0, position).load(a);
    MatrixView<T> out = batch.at(1, position);
    if (a.rows() == 0)
      return true;
    if (!a.allFinite()) {
      out.fill(std::numeric_limits<T>::quiet_NaN());
      return true;
    }
    factor.compute(a);
    if (factor.nonzeroPivots() < a.rows() - 1) {
      out.fill(T(0));
      return true;
    }
    adjugateOfUpper();
    const Matrix<T> &lu = factor.matrixLU();
    lu.template triangularView<Eigen::UnitLower>()
        .template solveInPlace<Eigen::OnTheRight>(adjugate);
    T sign = T(factor.permutationP().determinant() *
               factor.permutationQ().determinant());
    moved = factor.permutationQ() * adjugate;
    adjugate = moved * factor.permutationP();
    out.store([&](int64_t i, int64_t j) { return sign * adjugate(j, i); });
    return true;
  }
  void explain(Sentence &) const {}

private:
  /// [d p V^-1, -p V^-1 w; 0, p] for U = [V w; 0 d] and p the product of V's
  /// pivots.
  void adjugateOfUpper() {
    const Matrix<T> &u = factor.matrixLU();
    int64_t rest = u.rows() - 1;
    T pivots = 1;
    for (int64_t i = 0; i < rest; ++i)
      pivots *= u(i, i);
    adjugate.setZero(rest + 1, rest + 1);
    adjugate(rest, rest) = pivots;
    if (rest == 0)
      return;
    adjugate.topLeftCorner(rest, rest).setIdentity();
    adjugate.topLeftCorner(rest, rest) *= pivots;
    adjugate.topRightCorner(rest, 1) = -pivots * u.topRightCorner(rest, 1);
    auto top = adjugate.topRows(rest);
    u.topLeftCorner(rest, rest)
        .template triangularView<Eigen::Upper>()
        .solveInPlace(top);
    adjugate.topLeftCorner(rest, rest) *= u(rest, rest);
  }

  Matrix<T> a, adjugate, moved;
  Eigen::FullPivLU<Matrix<T>> factor;
};

//===-- Triangles ---------------------------------------------------------===//

template <class T, unsigned Mode> class SolveTriangle {
public:
  template <class Views> bool at(const Views &batch, int64_t position) {
    MatrixView<T> view = batch.at(0, position);
    if (view.data != last) {
      view.load(a);
      last = view.data;
    }
    batch.at(1, position).load(x);
    if (x.size() > 0)
      a.template triangularView<Mode>().solveInPlace(x);
    batch.at(2, position).store(x);
    return true;
  }
  void explain(Sentence &) const {}

private:
  Matrix<T> a, x;
  const T *last = nullptr;
};

/// A transposed triangle is the other one of the view with its axes exchanged.
template <class T>
astra_outcome_t solveTriangular(const astra_call_t *call,
                                const astra_arg_t *args,
                                const int64_t *params) {
  bool isLower = params[0] != params[1], isUnit = params[2];
  astra_arg_t views[3] = {args[0], args[1], args[2]};
  int64_t strides[ASTRA_MAX_RANK];
  uint32_t rank = args[0].rank;
  for (uint32_t d = 0; d < rank; ++d)
    strides[d] = args[0].strides[d];
  if (params[1]) {
    strides[rank - 2] = args[0].strides[rank - 1];
    strides[rank - 1] = args[0].strides[rank - 2];
  }
  views[0].strides = strides;
  Batch<T, 3> batch(views, {2, 2, 2});
  const char *name = "solve_triangular";
  if (isLower)
    return isUnit ? forEachMatrix<SolveTriangle<T, Eigen::UnitLower>>(
                        call, batch, name)
                  : forEachMatrix<SolveTriangle<T, Eigen::Lower>>(call, batch,
                                                                  name);
  return isUnit
             ? forEachMatrix<SolveTriangle<T, Eigen::UnitUpper>>(call, batch,
                                                                 name)
             : forEachMatrix<SolveTriangle<T, Eigen::Upper>>(call, batch, name);
}

template <template <class> class Work, class T, int N>
astra_outcome_t run(const astra_call_t *call, const astra_arg_t *args,
                    const int (&cores)[N], const char *name) {
  return forEachMatrix<Work<T>>(call, Batch<T, N>(args, cores), name);
}

} // namespace

#define KERNEL_cholesky(T) run<Cholesky, T>(call, args, {2, 2}, "cholesky")
#define KERNEL_solve(T) run<Solve, T>(call, args, {2, 2, 2}, "solve")
#define KERNEL_solve_triangular(T) solveTriangular<T>(call, args, params)
#define KERNEL_inv(T) run<Inv, T>(call, args, {2, 2}, "inv")
#define KERNEL_det(T) run<Det, T>(call, args, {2, 0}, "det")
#define KERNEL_slogdet(T) run<Slogdet, T>(call, args, {2, 0, 0}, "slogdet")
#define KERNEL_cofactor(T) run<Cofactor, T>(call, args, {2, 2}, "cofactor")

#define EQUATION(op, dtype, version, inputs, outputs, params, doc)             \
  ASTRA_DEFINE_REF(op, dtype, KERNEL_##op(T_##dtype))
#include "kernels/kernels.def"
