// How many processors the system lets this process use. Knows Linux's files and
// nothing of the runtime.
#ifndef ASTRA_RUNTIME_CPUCOUNT_H
#define ASTRA_RUNTIME_CPUCOUNT_H

#include <cstdint>
#include <string>

namespace astra {

/// The processors of the calling thread's affinity mask, at least 1.
uint32_t countAffinity();

/// What the quotas of the process's cgroups give, rounded up; 0 if there is no
/// quota. Files are looked for under `root`, "" but for tests.
uint32_t countQuota(const std::string &root);

/// The smaller of the two.
uint32_t countCpus();

} // namespace astra
#endif // ASTRA_RUNTIME_CPUCOUNT_H
