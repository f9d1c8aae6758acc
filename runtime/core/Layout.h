// Shape, strides and offset of a tensor within its storage, and the arithmetic
// of views. All counts are elements; every product is checked. Knows nothing of
// memory or dtypes.
#ifndef ASTRA_RUNTIME_LAYOUT_H
#define ASTRA_RUNTIME_LAYOUT_H

#include "core/Status.h"
#include <algorithm>
#include <array>

namespace astra {

struct Layout {
  uint32_t rank = 0;
  int64_t offset = 0;
  // Beyond the rank nothing is set, and nothing is copied.
  std::array<int64_t, ASTRA_MAX_RANK> shape;
  std::array<int64_t, ASTRA_MAX_RANK> strides;

  Layout() {}
  Layout(const Layout &other) { *this = other; }
  Layout &operator=(const Layout &other) {
    rank = other.rank;
    offset = other.offset;
    // Most ranks are too short for a call of memcpy.
#pragma clang loop vectorize(disable)
    for (uint32_t axis = 0; axis < rank; ++axis) {
      shape[axis] = other.shape[axis];
      strides[axis] = other.strides[axis];
    }
    return *this;
  }

  /// The number of elements; a layout is only ever made if it fits.
  int64_t elementCount() const;
  /// Row-major, without gaps.
  bool isDense() const;
};

/// A dense layout of a shape whose size in bytes fits 63 bits.
Status makeDense(uint32_t rank, const int64_t *shape, uint32_t elementBytes,
                 Layout &layout);

/// Refuses a layout with an element outside [0, capacity) elements.
Status checkBounds(const Layout &layout, int64_t capacity);

Status sliceLayout(const Layout &from, const int64_t *starts,
                   const int64_t *extents, const int64_t *steps, Layout &view);
Status reshapeLayout(const Layout &from, uint32_t rank, const int64_t *shape,
                     Layout &view);
Status transposeLayout(const Layout &from, const uint32_t *permutation,
                       Layout &view);

/// Copies elements [first, first + count) in row-major order from a strided
/// layout in `source` (the storage's start) to dense memory.
void copyToDense(const Layout &layout, uint32_t elementBytes,
                 const void *source, int64_t first, int64_t count,
                 void *target);

/// Copies all elements of a layout in `source` to the same indices of one in
/// `target`; both are the starts of storages that do not overlap.
void copyStrided(const Layout &from, const void *source, const Layout &to,
                 void *target, uint32_t elementBytes);

/// "f32[2, 3]" without the dtype: "[2, 3]".
std::string shapeText(uint32_t rank, const int64_t *shape);

} // namespace astra
#endif // ASTRA_RUNTIME_LAYOUT_H
