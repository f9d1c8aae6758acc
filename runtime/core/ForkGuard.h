// Tells whether this process is the one that made an object, or a child that
// fork() made of it, in which threads are missing and locks may be held for
// ever. Costs one load, and registers nothing with the process.
#ifndef ASTRA_RUNTIME_FORKGUARD_H
#define ASTRA_RUNTIME_FORKGUARD_H

#include <cstdint>

namespace astra {

class ForkGuard {
public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;

  bool isChild() const { return *mark == 0; }

private:
  const volatile uint32_t *mark; // in a page that the kernel clears in a child
};

} // namespace astra
#endif // ASTRA_RUNTIME_FORKGUARD_H
