// What the kernels of linear algebra share: Eigen, pinned to one code path, and
// the walk over the matrices of a batch. Each matrix is copied into memory of
// its own and computed by one thread, so that neither strides nor threads
// change a bit. Eigen's allocations may throw; nothing leaves a kernel but an
// outcome.
//
// The build renames Eigen's namespace (the linker must not merge these
// templates with a program's own) and fixes what would depend on the machine:
// block sizes do not come from the processor's caches.
#ifndef ASTRA_KERNELS_LINALG_MATRICES_H
#define ASTRA_KERNELS_LINALG_MATRICES_H

#include "kernels/Call.h"
#include "kernels/View.h"

#include <Eigen/Core>
#include <atomic>
#include <limits>
#include <new>

ASTRA_KERNELS_BEGIN

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// The matrices of a view: its last two axes at the other ones' positions.
template <class T> struct MatrixView {
  T *data;
  int64_t rows, columns, rowStride, columnStride;

  void load(Matrix<T> &to) const {
    to.resize(rows, columns);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i)
        to(i, j) = data[i * rowStride + j * columnStride];
  }
  template <class Expression> void store(const Expression &from) const {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i)
        data[i * rowStride + j * columnStride] = from(i, j);
  }
  void fill(T value) const {
    store([value](int64_t, int64_t) { return value; });
  }
  MatrixView transposed() const {
    return {data, columns, rows, columnStride, rowStride};
  }
};

/// (a + transpose(a)) / 2; exactly a where it is symmetric.
template <class T> void symmetrise(Matrix<T> &a) {
  for (int64_t j = 0; j < a.cols(); ++j)
    for (int64_t i = j + 1; i < a.rows(); ++i)
      if (a(i, j) != a(j, i))
        a(i, j) = a(j, i) = a(i, j) * T(0.5) + a(j, i) * T(0.5);
}

/// Views with the same leading axes; each has `cores[i]` axes behind them.
template <class T, int N> class Batch {
public:
  Batch(const astra_arg_t *args, const int (&coreAxes)[N]) : args(args) {
    for (int i = 0; i < N; ++i)
      cores[i] = coreAxes[i];
    leading = args[0].rank - uint32_t(cores[0]);
    for (uint32_t d = 0; d < leading; ++d) {
      int64_t stride[N];
      for (int i = 0; i < N; ++i)
        stride[i] = args[i].strides[d];
      nest.addAxis(args[0].shape[d], stride);
    }
  }

  int64_t size() const { return nest.size(); }
  int64_t extent(int i, int axis) const {
    return args[i].shape[leading + uint32_t(axis)];
  }
  /// Of a view with one axis the matrix is a column, of one with none a number.
  MatrixView<T> at(int i, int64_t position) const {
    int64_t offset[N];
    nest.offsetsAt(position, offset);
    const int64_t *strides = args[i].strides + leading;
    T *data = static_cast<T *>(args[i].data) + offset[i];
    if (cores[i] == 0)
      return {data, 1, 1, 0, 0};
    if (cores[i] == 1)
      return {data, extent(i, 0), 1, strides[0], 0};
    return {data, extent(i, 0), extent(i, 1), strides[0], strides[1]};
  }
  /// "the matrix", or "the matrix at [1, 2] of the batch".
  void describe(Sentence &sentence, int64_t position) const {
    sentence.text("the matrix");
    if (leading == 0)
      return;
    astra_arg_t batch = args[0];
    batch.rank = leading;
    sentence.text(" at ").index(batch, position).text(" of the batch");
  }

private:
  const astra_arg_t *args;
  int cores[N];
  uint32_t leading;
  Nest<N> nest;
};

/// The lowest position that was noted; `none` if there was none.
class FirstFailure {
public:
  explicit FirstFailure(int64_t none) : position(none) {}
  void note(int64_t candidate) {
    int64_t seen = position.load();
    while (candidate < seen &&
           !position.compare_exchange_weak(seen, candidate)) {
    }
  }
  int64_t get() const { return position; }

private:
  std::atomic<int64_t> position;
};

inline astra_outcome_t outOfMemory(const astra_call_t *call) {
  return call->api->fail(call, ASTRA_ERROR_OUT_OF_MEMORY,
                         "no memory for the factors of a matrix");
}

/// Computes a matrix again that has no result, and says why.
template <class Work, class T, int N>
astra_outcome_t explain(const astra_call_t *call, const Batch<T, N> &batch,
                        int64_t position, const char *name) {
  try {
    Work work;
    work.at(batch, position);
    Sentence sentence;
    sentence.text(name).text(": ");
    batch.describe(sentence, position);
    work.explain(sentence);
    return call->api->fail(call, ASTRA_ERROR_NUMERICAL, sentence.get());
  } catch (const std::bad_alloc &) {
    return outOfMemory(call);
  }
}

/// Runs work.at(batch, position) for every matrix on the call's threads, with a
/// Work for each piece. It gives false for a matrix that has no result; the
/// first of those is reported by work.explain(sentence).
template <class Work, class T, int N>
astra_outcome_t forEachMatrix(const astra_call_t *call,
                              const Batch<T, N> &batch, const char *name) {
  FirstFailure failure(batch.size());
  std::atomic<bool> isOutOfMemory{false};
  double rows = double(batch.extent(0, 0));
  double columns = double(batch.extent(0, 1));
  int64_t grain = 1 + int64_t(20000 / (1 + rows * columns * rows));
  parallelFor(call, batch.size(), grain, [&](int64_t begin, int64_t end) {
    try {
      Work work;
      for (int64_t i = begin; i < end; ++i)
        if (!work.at(batch, i))
          return failure.note(i);
    } catch (const std::bad_alloc &) {
      isOutOfMemory = true;
    }
  });
  if (isOutOfMemory)
    return outOfMemory(call);
  if (failure.get() == batch.size())
    return ASTRA_OK;
  return explain<Work>(call, batch, failure.get(), name);
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_LINALG_MATRICES_H
