// What this machine can do, measured in a moment: how fast it copies memory
// that no cache holds, and how many f32 operations it does without any memory.
#ifndef ASTRA_TOOLS_COMMON_PEAK_H
#define ASTRA_TOOLS_COMMON_PEAK_H

#include <cstdint>

namespace astra {

struct Peak {
  double bytes = 0; // GB/s, read and written bytes together
  double flops = 0; // GFLOP/s; a fused multiply-add is two
  unsigned threads = 1;
};

/// With as many of the threads as run at once. Takes about half a second.
Peak measurePeak(unsigned threads);

} // namespace astra
#endif // ASTRA_TOOLS_COMMON_PEAK_H
