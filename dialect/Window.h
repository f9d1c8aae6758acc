// What the rules of convolutions and windows share: a convolution as the values
// and numbers that make it, and the extents of windows. Knows no pass.
#ifndef ASTRA_DIALECT_WINDOW_H
#define ASTRA_DIALECT_WINDOW_H

#include "dialect/Builder.h"

namespace astra {

/// The operands and attributes of an `astra.conv`; `sizes` are the result's
/// spatial extents.
struct Convolution {
  Value x, w;
  int64_t batch = 0;
  SmallVector<Dim> strides, low, spread, dilations, sizes;

  static Convolution of(ConvOp op);
  unsigned getSpatialRank() const { return strides.size(); }
  /// Where the axes n and c of x, o and c of w begin.
  int64_t getOuterAxis() const { return batch; }
  int64_t getChannelAxis() const { return batch + 1; }
  Value build(RuleBuilder &r) const;
};

/// (extent - reach) / stride + 1 where a window's `size` elements lie
/// `dilation` apart and so reach over dilation * (size - 1) + 1.
Dim getWindowCount(const Dim &extent, const Dim &size, const Dim &stride,
                   const Dim &dilation);

} // namespace astra
#endif // ASTRA_DIALECT_WINDOW_H
