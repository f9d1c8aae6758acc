// How the rows of a tile and the columns of a panel are packed: copied into the
// order in which tiles read them, k by k, and widened. Operands lie in memory
// as a contraction says; long runs are read along whichever axis has them.
#ifndef ASTRA_KERNELS_CPU_PRODUCTPACKING_H
#define ASTRA_KERNELS_CPU_PRODUCTPACKING_H

#include "kernels/cpu/Pack.h"
#include "kernels/cpu/ProductCut.h"

ASTRA_KERNELS_BEGIN
namespace {

/// The k of one chain, and where the first of those begins that a panel meets
/// before the next one.
struct ProductChain {
  int64_t first, k, ks;
  int64_t index() const { return (k - first) / chainLength; }
};

template <class T> class ProductPacking {
public:
  using C = Compute<T>;
  static constexpr int64_t panelColumns = Cut<C>::panel;

  ProductPacking(const Contraction &c, const Cut<C> &cut) : c(c), cut(cut) {}

  /// to[k][column], +0 where there is no column.
  void packPanel(const T *from, int64_t column, const ProductChain &chain,
                 Places &places, C *to) const {
    int64_t ks = chain.ks, count = least(panelColumns, cut.n - column);
    if (count < panelColumns)
      for (int64_t i = 0; i < ks * panelColumns; ++i)
        to[i] = C(0);
    bool transposes = c.contracted.innerStride(1) == 1 &&
                      c.contracted.innerExtent() >= Tile<C>::lanes;
    if (c.columns.innerStride(0) == 1 &&
        (c.columns.innerExtent() >= Tile<C>::lanes || !transposes))
      copyColumns(from, column, count, places.get() + chain.k - chain.first, ks,
                  to);
    else
      gatherColumns(from, column, count, chain.k, ks, to);
  }

  /// The whole ones of panels whose columns lie side by side; gives the first
  /// that is left. `packed` has those of all chains.
  int64_t packBeside(const T *all, int64_t panel, int64_t last, int64_t firstK,
                     int64_t ks, C *packed) const {
    last = least(last, cut.n / panelColumns);
    int64_t sk = c.contracted.innerStride(1);
    int64_t apart = ks * panelColumns + Cut<C>::gap;
    C *to = packed + cut.panelAt(panel, firstK, ks);
    const T *from = all + panel * panelColumns + firstK * sk;
    for (int64_t i = 0; i < ks; ++i, from += sk, to += panelColumns)
      for (int64_t p = 0; p < last - panel; ++p) {
        const T *run = from + p * panelColumns;
        for (int64_t j = 0; j < panelColumns; j += 64 / int64_t(sizeof(T)))
          __builtin_prefetch(run + rowsAhead / 4 * sk + j);
        copyShort(run, panelColumns, to + p * apart);
      }
    return last > panel ? last : panel;
  }

  /// to[k][row] for the rows of a tile, of more rows that are wanted next.
  void packRows(const T *from, int64_t tile, int64_t firstK, int64_t ks, C *to,
                int64_t wanted = 0) const {
    const T *lines[Tile<C>::rows + Tile<C>::lanes];
    int64_t count = cut.rowsOf(tile), row = cut.rowOf(tile);
    int64_t most = ceil(count, Tile<C>::lanes) * Tile<C>::lanes;
    for (int64_t r = 0; r < most; ++r) {
      int64_t at[2];
      c.rows.offsetsAt(row + (r < count ? r : 0), at);
      lines[r] = from + at[0];
    }
    packRuns<0>(lines, count, count, firstK, ks, to, wanted);
  }

private:
  /// Columns in runs of consecutive ones.
  void copyColumns(const T *from, int64_t column, int64_t count,
                   const int64_t *places, int64_t ks, C *to) const {
    c.columns.walk(column, column + count,
                   [&](const int64_t (&at)[2], int64_t run) {
                     copyRuns(from + at[0], places, ks, run, to, panelColumns);
                     to += run;
                     return true;
                   });
  }

  /// Columns apart from each other, each consecutive along k or not.
  void gatherColumns(const T *from, int64_t column, int64_t count,
                     int64_t firstK, int64_t ks, C *to) const {
    const T *lines[panelColumns];
    for (int64_t j = 0; j < panelColumns; ++j) {
      int64_t at[2];
      c.columns.offsetsAt(column + (j < count ? j : 0), at);
      lines[j] = from + at[0];
    }
    packRuns<1>(lines, count, panelColumns, firstK, ks, to);
  }

  /// to[k * stride + line] for lines of operand `Of` in the contraction's loop
  /// over k.
  template <int Of>
  void packRuns(const T **lines, int64_t count, int64_t stride, int64_t firstK,
                int64_t ks, C *to, int64_t wanted = 0) const {
    int64_t sk = c.contracted.innerStride(Of);
    bool beside = true;
    for (int64_t j = 1; j < count; ++j)
      beside &= lines[j] == lines[0] + j;
    c.contracted.walk(
        firstK, firstK + ks, [&](const int64_t (&at)[2], int64_t run) {
          if (beside)
            packRunsBeside(lines[0] + at[Of], sk, count, stride, run, to,
                           wanted);
          else if (sk == 1 && count > 2 && run >= Tile<C>::lanes)
            packTransposed(lines, at[Of], count, stride, run, to);
          else
            for (int64_t j = 0; j < count; ++j)
              for (int64_t i = 0; i < run; ++i)
                to[i * stride + j] = widen(lines[j][at[Of] + i * sk]);
          to += run * stride;
          return true;
        });
  }

  const Contraction &c;
  const Cut<C> &cut;
};

} // namespace
ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PRODUCTPACKING_H
