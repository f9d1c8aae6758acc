// Products by Eigen behind two C functions, so that peer.py can time them.
// Built by compare for the processor that it runs on, with OpenMP for its
// threads.
#include <Eigen/Core>

using Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

extern "C" void set_threads(int Count) { Eigen::setNbThreads(Count); }

extern "C" void product(long M, long K, long N, const float *A, const float *B,
                        float *Result) {
  Eigen::Map<const Matrix> Left(A, M, K), Right(B, K, N);
  Eigen::Map<Matrix> Out(Result, M, N);
  Out.noalias() = Left * Right;
}
