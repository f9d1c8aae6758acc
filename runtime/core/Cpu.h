// What the processor can do, and the floating-point state that the arithmetic
// needs. The only place with instructions of one architecture.
#ifndef ASTRA_RUNTIME_CPU_H
#define ASTRA_RUNTIME_CPU_H

#include "astra/astra.h"
#include <string>

namespace astra {

/// ASTRA_CPU_X86_64_V3 or _V4, or ASTRA_CPU_REFERENCE below that;
/// ASTRA_CPU_NEON.
uint32_t detectCpuLevel();

/// Can this processor run code for a level? Levels of the other architecture
/// are not levels here.
bool hasCpuLevel(uint32_t level);

/// The level by its name ("x86-64-v3"), or 0.
uint32_t cpuLevelOfName(const std::string &name);

/// Round to nearest, denormals kept and exceptions masked, for one scope;
/// other libraries leave other states behind, and expect theirs back.
class FpScope {
public:
  FpScope();
  ~FpScope();
  FpScope(const FpScope &) = delete;
  FpScope &operator=(const FpScope &) = delete;

private:
  uint64_t saved;
};

/// Tells the processor that this is a waiting loop.
void pauseInLoop();

} // namespace astra
#endif // ASTRA_RUNTIME_CPU_H
