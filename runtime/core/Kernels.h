// The kernels that a runtime uses: from the linked table, the best variant that
// the chosen level allows. Knows nothing of modules.
#ifndef ASTRA_RUNTIME_KERNELS_H
#define ASTRA_RUNTIME_KERNELS_H

#include "kernels/Registry.h"

namespace astra {

/// The best variant of a kernel for a level (ASTRA_CPU_*), or null if there is
/// none of this name. With version 0 any version serves.
const astra_kernel_entry *findKernelVariant(const char *name, uint32_t version,
                                            uint32_t cpuLevel);

} // namespace astra
#endif // ASTRA_RUNTIME_KERNELS_H
