// Elements to a file, through a buffer of bounded size; see Write.h.
#include "io/Write.h"
#include "core/Dtype.h"
#include "core/HostCopy.h"
#include <algorithm>

namespace astra {

Status writeElements(astra_runtime &runtime, const Tensor &tensor,
                     FileWriter &file) {
  constexpr size_t bufferBytes = size_t(1) << 20;
  PoolBlock buffer(runtime.memory, bufferBytes);
  if (!buffer.data())
    return outOfMemory(runtime.memory, bufferBytes, "a buffer for a file");
  HostView source;
  ASTRA_TRY(source.open(runtime, tensor));
  int64_t total = tensor.layout.elementCount();
  int64_t atOnce = int64_t(bufferBytes / tensor.elementBytes);
  for (int64_t first = 0; first < total; first += atOnce) {
    int64_t count = std::min(atOnce, total - first);
    copyToDense(tensor.layout, tensor.elementBytes, source.start(), first,
                count, buffer.data());
    canonicaliseNans(tensor.dtype, buffer.data(), size_t(count));
    ASTRA_TRY(file.write(buffer.data(), size_t(count) * tensor.elementBytes));
  }
  return {};
}

} // namespace astra
