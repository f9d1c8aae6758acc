// The kernels that one runtime uses: from the linked table, for each name the
// best variant that its level allows. Knows nothing of modules.
#ifndef ASTRA_RUNTIME_KERNELS_H
#define ASTRA_RUNTIME_KERNELS_H

#include "kernels/Registry.h"
#include <string_view>
#include <unordered_map>

namespace astra {

class KernelSet {
public:
  explicit KernelSet(uint32_t cpuLevel);

  /// The kernel of a name, or null.
  const astra_kernel_entry *find(const char *name) const;

private:
  std::unordered_map<std::string_view, const astra_kernel_entry *> best;
};

} // namespace astra
#endif // ASTRA_RUNTIME_KERNELS_H
