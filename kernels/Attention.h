// What the kernels of attention are given: for each batch entry its matrices,
// the scale of the scores, and which keys a query may see. Order:
// docs/arithmetic.md, section 9.
#ifndef ASTRA_KERNELS_ATTENTION_H
#define ASTRA_KERNELS_ATTENTION_H

#include "kernels/Types.h"
#include "kernels/math/Core.h"

ASTRA_KERNELS_BEGIN

constexpr int64_t keyBlock = 64;     // keys with one largest score
constexpr int64_t blocksInSpan = 16; // blocks that follow one another
constexpr int64_t keySpan = keyBlock * blocksInSpan;

template <class T> struct Matrix {
  T *data = nullptr;
  int64_t rows = 0, columns = 0, rowStride = 0, columnStride = 0;

  T &at(int64_t row, int64_t column) const {
    return data[row * rowStride + column * columnStride];
  }
  Matrix transposed() const {
    return {data, columns, rows, columnStride, rowStride};
  }
};

/// Where entry `batch` of a view begins whose last `own` axes are its own.
inline int64_t batchOffset(const astra_arg_t &arg, uint32_t own,
                           int64_t batch) {
  int64_t offset = 0;
  for (uint32_t d = arg.rank - own; d-- > 0;) {
    offset += batch % arg.shape[d] * arg.strides[d];
    batch /= arg.shape[d];
  }
  return offset;
}

/// The last two axes of a view.
template <class T>
inline Matrix<T> matrixOf(const astra_arg_t &arg, int64_t batch) {
  const int64_t *shape = arg.shape + arg.rank - 2;
  const int64_t *strides = arg.strides + arg.rank - 2;
  return {static_cast<T *>(arg.data) + batchOffset(arg, 2, batch), shape[0],
          shape[1], strides[0], strides[1]};
}
/// The last axis, as a matrix of one column.
template <class T>
inline Matrix<T> columnOf(const astra_arg_t &arg, int64_t batch) {
  return {static_cast<T *>(arg.data) + batchOffset(arg, 1, batch),
          arg.shape[arg.rank - 1], 1, arg.strides[arg.rank - 1], 0};
}

inline int64_t batchCount(const astra_arg_t &arg) {
  int64_t count = 1;
  for (uint32_t d = 0; d + 2 < arg.rank; ++d)
    count *= arg.shape[d];
  return count;
}

/// The parameters of both kernels; their arguments begin with q, k, v.
template <class T> struct AttentionRule {
  bool masked, causal;
  Compute<T> scale;

  AttentionRule(const astra_arg_t *args, const int64_t *params)
      : masked(params[0] != 0), causal(params[1] != 0) {
    using C = Compute<T>;
    int64_t d = args[0].shape[args[0].rank - 1];
    scale = params[2] ? C(bitsAs<double>(params[3])) : C(1) / math::sqrt(C(d));
  }
};

/// Which pairs of a batch entry may meet; without a mask all but those that
/// `causal` keeps apart.
struct AttentionMask {
  Matrix<const Bool> mask;
  bool masked, causal;

  AttentionMask(const astra_arg_t *mask_, int64_t batch, bool masked,
                bool causal)
      : masked(masked), causal(causal) {
    if (masked)
      mask = matrixOf<const Bool>(*mask_, batch);
  }
  bool allows(int64_t query, int64_t key) const {
    return (!causal || key <= query) && (!masked || mask.at(query, key).value);
  }
};

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_ATTENTION_H
