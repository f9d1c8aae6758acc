// An operator new that can be made to fail at its n-th use, and an allocator
// for runtimes that counts in the same way. A test links the runtime
// statically, so that the runtime's own allocations come here.
#ifndef ASTRA_TEST_FAILINGNEW_H
#define ASTRA_TEST_FAILINGNEW_H

#include "astra/astra.h"
#include <cstdint>

namespace astra::test {

/// From the n-th allocation on, `count` of them fail, until `healMemory`.
void failFrom(int64_t n, int64_t count);
/// How many allocations there were since `failFrom`.
int64_t allocationsSince();
/// Allocations work again. Gives whether one has failed.
bool healMemory();
/// Blocks of operator new that are alive.
int64_t liveBlocks();
/// Memory for tensors, which fails in the same way.
astra_allocator_t failingAllocator();

} // namespace astra::test
#endif // ASTRA_TEST_FAILINGNEW_H
