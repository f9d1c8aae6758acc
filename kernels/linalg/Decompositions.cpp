// Orthogonal decompositions: QR, eigenvalues of symmetric matrices, singular
// values, and least squares. A matrix with a NaN or an infinity gives NaN.
#include "kernels/Types.h"
#include "kernels/linalg/Matrices.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

using namespace astra;

namespace {

/// Fills results from..N-1 with NaN.
template <class T, int N>
void spoil(const Batch<T, N> &batch, int from, int64_t position) {
  for (int i = from; i < N; ++i)
    batch.at(i, position).fill(std::numeric_limits<T>::quiet_NaN());
}

template <class T> class Qr {
public:
  bool at(const Batch<T, 3> &batch, int64_t position) {
    batch.at(0, position).load(a);
    MatrixView<T> left = batch.at(1, position), right = batch.at(2, position);
    if (a.size() == 0)
      return true;
    if (!a.allFinite()) {
      spoil(batch, 1, position);
      return true;
    }
    factor.compute(a);
    q.setIdentity(left.rows, left.columns);
    q.applyOnTheLeft(factor.householderQ());
    left.store(q);
    const Matrix<T> &packed = factor.matrixQR();
    right.store(
        [&](int64_t i, int64_t j) { return i <= j ? packed(i, j) : T(0); });
    return true;
  }
  void explain(Sentence &) const {}

private:
  Matrix<T> a, q;
  Eigen::HouseholderQR<Matrix<T>> factor;
};

template <class T> class Eigh {
public:
  bool at(const Batch<T, 3> &batch, int64_t position) {
    batch.at(0, position).load(a);
    if (a.rows() == 0)
      return true;
    if (!a.allFinite()) {
      spoil(batch, 1, position);
      return true;
    }
    symmetrise(a);
    solver.compute(a);
    if (solver.info() != Eigen::Success)
      return false;
    batch.at(1, position).store(solver.eigenvalues());
    batch.at(2, position).store(solver.eigenvectors());
    return true;
  }
  void explain(Sentence &sentence) const {
    sentence.text(": the iteration for its eigenvalues did not converge");
  }

private:
  Matrix<T> a;
  Eigen::SelfAdjointEigenSolver<Matrix<T>> solver;
};

template <class T> class Svd {
public:
  bool at(const Batch<T, 4> &batch, int64_t position) {
    batch.at(0, position).load(a);
    if (a.size() == 0)
      return true;
    if (!a.allFinite()) {
      spoil(batch, 1, position);
      return true;
    }
    solver.compute(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
    if (solver.info() != Eigen::Success)
      return false;
    batch.at(1, position).store(solver.matrixU());
    batch.at(2, position).store(solver.singularValues());
    batch.at(3, position).transposed().store(solver.matrixV());
    return true;
  }
  void explain(Sentence &sentence) const {
    sentence.text(": the iteration for its singular values did not converge");
  }

private:
  Matrix<T> a;
  Eigen::BDCSVD<Matrix<T>> solver;
};

template <class T> class Lstsq {
public:
  bool at(const Batch<T, 3> &batch, int64_t position) {
    MatrixView<T> view = batch.at(0, position), out = batch.at(2, position);
    if (view.data != last)
      prepare(view);
    if (a.size() == 0) {
      out.fill(T(0));
      return true;
    }
    if (!isFinite) {
      spoil(batch, 2, position);
      return true;
    }
    batch.at(1, position).load(b);
    x = factor.solve(b);
    out.store(x);
    return true;
  }
  void explain(Sentence &) const {}

private:
  void prepare(const MatrixView<T> &view) {
    view.load(a);
    last = view.data;
    isFinite = a.allFinite();
    if (a.size() == 0 || !isFinite)
      return;
    factor.setThreshold(std::numeric_limits<T>::epsilon() *
                        T(a.rows() > a.cols() ? a.rows() : a.cols()));
    factor.compute(a);
  }

  Matrix<T> a, b, x;
  Eigen::CompleteOrthogonalDecomposition<Matrix<T>> factor;
  const T *last = nullptr;
  bool isFinite = true;
};

template <template <class> class Work, class T, int N>
astra_outcome_t run(const astra_call_t *call, const astra_arg_t *args,
                    const int (&cores)[N], const char *name) {
  return forEachMatrix<Work<T>>(call, Batch<T, N>(args, cores), name);
}

} // namespace

#define KERNEL_qr(T) run<Qr, T>(call, args, {2, 2, 2}, "qr")
#define KERNEL_eigh(T) run<Eigh, T>(call, args, {2, 1, 2}, "eigh")
#define KERNEL_svd(T) run<Svd, T>(call, args, {2, 2, 1, 2}, "svd")
#define KERNEL_lstsq(T) run<Lstsq, T>(call, args, {2, 2, 2}, "lstsq")

#define DECOMPOSITION(op, dtype, version, inputs, outputs, params, doc)        \
  ASTRA_DEFINE_REF(op, dtype, KERNEL_##op(T_##dtype))
#include "kernels/kernels.def"
