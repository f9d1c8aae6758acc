// An operand of a packed product that a fused map makes just before it is
// packed, and the boxes in which that is done.
#ifndef ASTRA_KERNELS_CPU_PRODUCTMAKER_H
#define ASTRA_KERNELS_CPU_PRODUCTMAKER_H

#include "kernels/FusedProduct.h"
#include "kernels/cpu/ProductCut.h"

ASTRA_KERNELS_BEGIN
namespace {

/// Makes boxes of an operand: lines, which are rows of the left operand or
/// columns of the right one, by k.
struct Maker {
  const FusedBoxes *boxes;
  bool ofRows;
  int64_t count;     // of tiles of rows, or panels of columns, in a box
  int64_t lines, ks; // of a box, at most
  bool byK;          // neighbours along k are neighbours in a box
  static constexpr int64_t gap = 16; // lines do not meet in the cache

  int64_t line() const { return byK ? ks + gap : 1; }
  int64_t step() const { return byK ? 1 : lines + gap; }
  int64_t size() const { return byK ? lines * line() : ks * step(); }
};

/// With boxes that fit in a near cache.
template <class C>
Maker makerOf(const Cut<C> &cut, const FusedBoxes *boxes, bool ofRows,
              bool byK) {
  constexpr int64_t boxBytes = 512 << 10;
  // Long runs; of columns packed for all blocks, those along columns.
  bool isOneChain = !ofRows && cut.rowBlocks > 1;
  int64_t ks = least((isOneChain ? 1 : cut.chains) * chainLength, cut.k);
  int64_t unit = ofRows ? cut.leastRows + 1 : Cut<C>::panel;
  int64_t bytes = ofRows ? boxBytes / 4 : boxBytes;
  int64_t count = bytes / (ks * unit * int64_t(sizeof(C)));
  count =
      least(count > 1 ? count : 1, ofRows ? cut.blockTiles : cut.blockPanels);
  return {boxes, ofRows, count, count * unit, ks, byK};
}

} // namespace
ASTRA_KERNELS_END

#endif // ASTRA_KERNELS_CPU_PRODUCTMAKER_H
