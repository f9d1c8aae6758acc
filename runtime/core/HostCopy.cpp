// Copies between devices and the host; see HostCopy.h.
#include "core/HostCopy.h"
#include "core/Dtype.h"

namespace astra {
namespace {

/// The lowest and the highest element of a layout that has some.
void reachOf(const Layout &layout, int64_t &low, int64_t &high) {
  low = high = layout.offset;
  for (uint32_t axis = 0; axis < layout.rank; ++axis) {
    int64_t reach = (layout.shape[axis] - 1) * layout.strides[axis];
    (reach < 0 ? low : high) += reach;
  }
}

/// The number of elements at the end of the row-major order that lie in one
/// piece.
int64_t pieceOf(const Layout &layout) {
  int64_t piece = 1;
  for (uint32_t axis = layout.rank; axis-- > 0; piece *= layout.shape[axis]) {
    if (layout.shape[axis] > 1 && layout.strides[axis] != piece)
      break;
  }
  return piece;
}

/// Where element `index` in row-major order lies.
int64_t placeOf(const Layout &layout, int64_t index) {
  int64_t place = layout.offset;
  for (uint32_t axis = layout.rank; axis-- > 0;) {
    place += index % layout.shape[axis] * layout.strides[axis];
    index /= layout.shape[axis];
  }
  return place;
}

} // namespace

Status HostView::open(astra_runtime &runtime, const Tensor &tensor) {
  first = tensor.storage->data();
  if (tensor.device->sharesHostMemory() || tensor.layout.elementCount() == 0)
    return {};
  int64_t low = 0, high = 0;
  reachOf(tensor.layout, low, high);
  size_t bytes = size_t(high - low + 1) * tensor.elementBytes;
  copy = std::make_unique<PoolBlock>(runtime.memory, bytes);
  if (!copy->data())
    return outOfMemory(runtime.memory, bytes, "a copy of a device's memory");
  size_t offset = size_t(low) * tensor.elementBytes;
  first = reinterpret_cast<const void *>(
      reinterpret_cast<uintptr_t>(copy->data()) - offset);
  return tensor.device->download(*tensor.storage, offset, copy->data(), bytes);
}

Status readElements(astra_runtime &runtime, const Tensor &tensor, int64_t first,
                    int64_t count, void *to) {
  HostView view;
  ASTRA_TRY(view.open(runtime, tensor));
  copyToDense(tensor.layout, tensor.elementBytes, view.start(), first, count,
              to);
  return {};
}

Status writeAllElements(const Tensor &tensor, const void *from) {
  const Layout &layout = tensor.layout;
  int64_t total = layout.elementCount();
  int64_t piece = total ? pieceOf(layout) : 1;
  size_t bytes = size_t(piece) * tensor.elementBytes;
  for (int64_t done = 0; done < total; done += piece) {
    size_t offset = size_t(placeOf(layout, done)) * tensor.elementBytes;
    ASTRA_TRY(tensor.device->upload(*tensor.storage, offset, from, bytes));
    from = static_cast<const char *>(from) + bytes;
  }
  return {};
}

Status checkBools(const Layout &layout, const void *start) {
  constexpr int64_t most = 4096;
  uint8_t bytes[most];
  int64_t total = layout.elementCount();
  for (int64_t first = 0; first < total; first += most) {
    int64_t count = std::min(most, total - first);
    copyToDense(layout, 1, start, first, count, bytes);
    size_t bad = findBadBool(bytes, size_t(count));
    if (bad != size_t(count))
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "element ",
                  first + int64_t(bad), " of a bool tensor is ",
                  unsigned(bytes[bad]), "; a bool is 0 or 1");
  }
  return {};
}

} // namespace astra
