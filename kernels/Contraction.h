// The loop nests of a contraction: a is [batch.., rows.., contracted..], b is
// [batch.., contracted.., columns..], the result [batch.., rows.., columns..].
#ifndef ASTRA_KERNELS_CONTRACTION_H
#define ASTRA_KERNELS_CONTRACTION_H

#include "kernels/View.h"

ASTRA_KERNELS_BEGIN

struct Contraction {
  Nest<3> batch;      // offsets in a, b, out
  Nest<2> rows;       // in a, out
  Nest<2> columns;    // in b, out
  Nest<2> contracted; // in a, b

  /// Exchanged, the operands change places, and with them rows and columns.
  ASTRA_SHARED Contraction(const astra_arg_t *args, int64_t nbatch,
                           int64_t ncontract, bool exchanged = false) {
    const astra_arg_t &a = args[0], &b = args[1], &out = args[2];
    Nest<2> &ofA = exchanged ? columns : rows,
            &ofB = exchanged ? rows : columns;
    int64_t nrows = a.rank - nbatch - ncontract, next = 0;
    for (; next < nbatch; ++next) {
      int64_t ofOut = out.strides[next];
      if (exchanged)
        batch.addAxis(a.shape[next], {b.strides[next], a.strides[next], ofOut});
      else
        batch.addAxis(a.shape[next], {a.strides[next], b.strides[next], ofOut});
    }
    for (int64_t d = 0; d < nrows; ++d, ++next)
      ofA.addAxis(a.shape[nbatch + d],
                  {a.strides[nbatch + d], out.strides[next]});
    for (int64_t d = nbatch + ncontract; d < b.rank; ++d, ++next)
      ofB.addAxis(b.shape[d], {b.strides[d], out.strides[next]});
    for (int64_t d = 0; d < ncontract; ++d) {
      int64_t inA = a.strides[nbatch + nrows + d], inB = b.strides[nbatch + d];
      if (exchanged)
        contracted.addAxis(b.shape[nbatch + d], {inB, inA});
      else
        contracted.addAxis(b.shape[nbatch + d], {inA, inB});
    }
  }
};

/// Has an element more than one index?
ASTRA_SHARED inline bool overlaps(const astra_arg_t &x) {
  int64_t span = 1;
  for (uint32_t d = 0; d < x.rank; ++d) {
    int64_t stride = x.strides[d];
    span += (x.shape[d] - 1) * (stride < 0 ? -stride : stride);
  }
  return sizeOf(x) > span;
}

/// The columns of the result by themselves.
ASTRA_SHARED inline Nest<1> resultColumns(const astra_arg_t *args,
                                          int64_t nbatch, int64_t ncontract,
                                          bool exchanged) {
  const astra_arg_t &out = args[2];
  int64_t middle = args[0].rank - ncontract;
  int64_t begin = exchanged ? nbatch : middle;
  int64_t end = exchanged ? middle : out.rank;
  Nest<1> columns;
  for (int64_t d = begin; d < end; ++d)
    columns.addAxis(out.shape[d], {out.strides[d]});
  return columns;
}

ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CONTRACTION_H
