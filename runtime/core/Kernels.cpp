// Search in the table of kernels, which is sorted by name and then by level.
#include "core/Kernels.h"
#include <algorithm>
#include <cstring>

namespace astra {

const astra_kernel_entry *findKernelVariant(const char *name, uint32_t version,
                                            uint32_t cpuLevel) {
  const astra_kernel_entry *end = astra_kernel_table + astra_kernel_table_size;
  const astra_kernel_entry *row =
      std::lower_bound(astra_kernel_table, end, name,
                       [](const astra_kernel_entry &entry, const char *wanted) {
                         return std::strcmp(entry.name, wanted) < 0;
                       });
  const astra_kernel_entry *best = nullptr;
  for (; row != end && std::strcmp(row->name, name) == 0; ++row) {
    if ((version == 0 || row->version == version) && row->isa_level <= cpuLevel)
      best = row;
  }
  return best;
}

} // namespace astra
