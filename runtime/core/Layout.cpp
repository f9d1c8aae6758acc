// The arithmetic of views; see Layout.h.
#include "core/Layout.h"
#include <cstring>

namespace astra {
namespace {

Status checkExtents(uint32_t rank, const int64_t *shape) {
  if (rank > ASTRA_MAX_RANK)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "rank ", rank,
                " is above the highest, ", ASTRA_MAX_RANK);
  if (rank)
    ASTRA_TRY(need(shape, "shape"));
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 0)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the extent of axis ", axis,
                  " is ", shape[axis], "; an extent is at least 0");
  }
  return {};
}

/// Merges axes that are walked as one, leaving out extents of 1.
uint32_t mergeAxes(const Layout &from, int64_t *extents, int64_t *strides) {
  uint32_t count = 0;
  for (uint32_t axis = 0; axis < from.rank; ++axis) {
    if (from.shape[axis] == 1)
      continue;
    if (count && strides[count - 1] == from.strides[axis] * from.shape[axis]) {
      extents[count - 1] *= from.shape[axis];
      strides[count - 1] = from.strides[axis];
      continue;
    }
    extents[count] = from.shape[axis];
    strides[count++] = from.strides[axis];
  }
  return count;
}

} // namespace

int64_t Layout::elementCount() const {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < rank; ++axis)
    count *= shape[axis];
  return count;
}

bool Layout::isDense() const {
  int64_t stride = 1;
  for (uint32_t axis = rank; axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != stride)
      return elementCount() == 0;
    stride *= shape[axis];
  }
  return true;
}

// Row-major strides, in which an extent of 0 counts as 1, so that those of an
// empty tensor are sensible too.
Status makeDense(uint32_t rank, const int64_t *shape, uint32_t elementBytes,
                 Layout &layout) {
  if (rank > ASTRA_MAX_RANK || (rank && !shape))
    return checkExtents(rank, shape);
  layout.rank = rank;
  layout.offset = 0;
  int64_t stride = 1, bytes = 0;
  bool overflows = false;
  for (uint32_t axis = rank; axis-- > 0;) {
    int64_t extent = shape[axis];
    if (extent < 0)
      return checkExtents(rank, shape);
    layout.shape[axis] = extent;
    layout.strides[axis] = stride;
    overflows |= __builtin_mul_overflow(stride, extent ? extent : 1, &stride);
  }
  if (overflows || __builtin_mul_overflow(stride, elementBytes, &bytes))
    return fail(ASTRA_ERROR_OVERFLOW, "a tensor of shape ",
                shapeText(rank, shape), " has more bytes than 63 bits count");
  return {};
}

Status checkBounds(const Layout &layout, int64_t capacity) {
  if (layout.elementCount() == 0)
    return {};
  int64_t low = layout.offset, high = layout.offset;
  for (uint32_t axis = 0; axis < layout.rank; ++axis) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(layout.shape[axis] - 1, layout.strides[axis],
                               &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach,
                               reach < 0 ? &low : &high))
      return fail(ASTRA_ERROR_OVERFLOW, "the stride ", layout.strides[axis],
                  " of axis ", axis, " leaves 64 bits");
  }
  if (low < 0 || high >= capacity)
    return fail(ASTRA_ERROR_OUT_OF_RANGE, "the elements of shape ",
                shapeText(layout.rank, layout.shape.data()),
                " lie at positions ", low, " to ", high,
                ", but the buffer has ", capacity, " elements");
  return {};
}

/// Whether elements from `start` on by `step` are all among those of an axis.
static bool isInside(int64_t extent, int64_t start, int64_t step, int64_t all) {
  if (start < 0 || start > all || extent == 0)
    return start >= 0 && start <= all;
  if (step == 1)
    return extent <= all - start;
  int64_t last = 0;
  return !__builtin_mul_overflow(extent - 1, step, &last) &&
         !__builtin_add_overflow(last, start, &last) && last >= 0 &&
         last < all && start < all;
}

Status sliceLayout(const Layout &from, const int64_t *starts,
                   const int64_t *extents, const int64_t *steps, Layout &view) {
  if (from.rank) {
    ASTRA_TRY(need(starts, "starts"));
    ASTRA_TRY(need(extents, "extents"));
  }
  view.rank = from.rank;
  view.offset = from.offset;
  for (uint32_t axis = 0; axis < from.rank; ++axis) {
    int64_t start = starts[axis], extent = extents[axis];
    int64_t step = steps ? steps[axis] : 1, stride = from.strides[axis];
    if (extent < 0)
      return checkExtents(from.rank, extents);
    if (!isInside(extent, start, step, from.shape[axis]))
      return fail(ASTRA_ERROR_OUT_OF_RANGE, "the slice of ", extent,
                  " elements from ", start, " by ", step, " on axis ", axis,
                  " leaves its extent, ", from.shape[axis]);
    view.shape[axis] = extent;
    view.offset += extent ? start * stride : 0;
    view.strides[axis] = extent > 1 ? stride * step : stride;
  }
  return {};
}

Status reshapeLayout(const Layout &from, uint32_t rank, const int64_t *shape,
                     Layout &view) {
  ASTRA_TRY(makeDense(rank, shape, 1, view));
  view.offset = from.offset;
  int64_t count = from.elementCount(), wanted = view.elementCount();
  if (count != wanted)
    return fail(ASTRA_ERROR_SHAPE_MISMATCH, "shape ",
                shapeText(from.rank, from.shape.data()), " has ", count,
                " elements, but ", shapeText(rank, shape), " has ", wanted);
  if (from.isDense())
    return {};
  int64_t extents[ASTRA_MAX_RANK], strides[ASTRA_MAX_RANK];
  uint32_t groups = mergeAxes(from, extents, strides);
  // From the last axis on, each group of old axes is filled by new ones.
  uint32_t axis = rank;
  for (uint32_t group = groups; group-- > 0;) {
    int64_t filled = 1;
    while (filled < extents[group] && axis > 0) {
      --axis;
      view.strides[axis] = strides[group] * filled;
      filled *= shape[axis];
    }
    if (filled != extents[group])
      return fail(ASTRA_ERROR_LAYOUT_MISMATCH, "a tensor of shape ",
                  shapeText(from.rank, from.shape.data()),
                  " with these strides cannot be seen as ",
                  shapeText(rank, shape),
                  " without a copy; make it dense first (astra_tensor_dense)");
  }
  return {};
}

Status transposeLayout(const Layout &from, const uint32_t *permutation,
                       Layout &view) {
  if (from.rank)
    ASTRA_TRY(need(permutation, "permutation"));
  view = from;
  uint32_t seen = 0;
  for (uint32_t axis = 0; axis < from.rank; ++axis) {
    uint32_t source = permutation[axis];
    if (source >= from.rank || (seen >> source & 1))
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "entry ", axis,
                  " of the permutation is ", source, "; each of the axes 0 to ",
                  from.rank - 1, " must stand in it once");
    seen |= 1u << source;
    view.shape[axis] = from.shape[source];
    view.strides[axis] = from.strides[source];
  }
  return {};
}

void copyToDense(const Layout &layout, uint32_t elementBytes,
                 const void *source, int64_t first, int64_t count,
                 void *target) {
  if (count == 0)
    return;
  const char *base = static_cast<const char *>(source);
  char *out = static_cast<char *>(target);
  if (layout.isDense()) {
    std::memcpy(out, base + (layout.offset + first) * elementBytes,
                size_t(count) * elementBytes);
    return;
  }
  int64_t index[ASTRA_MAX_RANK], position = layout.offset;
  for (uint32_t axis = layout.rank; axis-- > 0;) {
    index[axis] = first % layout.shape[axis];
    first /= layout.shape[axis];
    position += index[axis] * layout.strides[axis];
  }
  for (;;) {
    std::memcpy(out, base + position * elementBytes, elementBytes);
    out += elementBytes;
    if (--count == 0)
      return;
    for (uint32_t axis = layout.rank; axis-- > 0;) {
      position += layout.strides[axis];
      if (++index[axis] < layout.shape[axis])
        break;
      position -= layout.strides[axis] * layout.shape[axis];
      index[axis] = 0;
    }
  }
}

void copyStrided(const Layout &from, const void *source, const Layout &to,
                 void *target, uint32_t elementBytes) {
  int64_t count = from.elementCount(), read = from.offset, written = to.offset;
  int64_t index[ASTRA_MAX_RANK] = {};
  while (count-- > 0) {
    std::memcpy(static_cast<char *>(target) + written * elementBytes,
                static_cast<const char *>(source) + read * elementBytes,
                elementBytes);
    for (uint32_t axis = from.rank; axis-- > 0;) {
      read += from.strides[axis];
      written += to.strides[axis];
      if (++index[axis] < from.shape[axis])
        break;
      read -= from.strides[axis] * from.shape[axis];
      written -= to.strides[axis] * from.shape[axis];
      index[axis] = 0;
    }
  }
}

std::string shapeText(uint32_t rank, const int64_t *shape) {
  std::string text = "[";
  for (uint32_t axis = 0; axis < rank; ++axis)
    text += join(axis ? ", " : "", shape[axis]);
  return text + "]";
}

} // namespace astra
