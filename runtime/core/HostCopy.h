// The elements of a tensor between its device and the host's memory, whether or
// not the device's memory is the host's.
#ifndef ASTRA_RUNTIME_HOSTCOPY_H
#define ASTRA_RUNTIME_HOSTCOPY_H

#include "core/Tensor.h"

namespace astra {

/// The memory of a tensor as the host can read it: itself, or a copy of what
/// the tensor's elements lie in. For Layout.h's copies.
class HostView {
public:
  Status open(astra_runtime &runtime, const Tensor &tensor);
  /// Where the storage's element 0 would be.
  const void *start() const { return first; }

private:
  const void *first = nullptr;
  std::unique_ptr<PoolBlock> copy;
};

/// Copies elements [first, first + count) in row-major order to dense memory of
/// the host.
Status readElements(astra_runtime &runtime, const Tensor &tensor, int64_t first,
                    int64_t count, void *to);
/// Copies all elements, dense in the host's memory, into a tensor.
Status writeAllElements(const Tensor &tensor, const void *from);

/// Refuses bool elements, where they lie, that are neither 0 nor 1. `start` is
/// where the storage's element 0 would be.
Status checkBools(const Layout &layout, const void *start);

} // namespace astra
#endif // ASTRA_RUNTIME_HOSTCOPY_H
