// Choosing variants from the table of kernels; see Kernels.h.
#include "core/Kernels.h"

namespace astra {

KernelSet::KernelSet(uint32_t cpuLevel) {
  best.reserve(astra_kernel_table_size);
  for (uint64_t i = 0; i < astra_kernel_table_size; ++i) {
    const astra_kernel_entry &entry = astra_kernel_table[i];
    if (entry.isa_level > cpuLevel)
      continue;
    const astra_kernel_entry *&chosen = best[entry.name];
    if (!chosen || chosen->isa_level < entry.isa_level)
      chosen = &entry;
  }
}

const astra_kernel_entry *KernelSet::find(const char *name) const {
  auto found = best.find(name);
  return found == best.end() ? nullptr : found->second;
}

} // namespace astra
