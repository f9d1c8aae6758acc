// A page that is wiped on fork (Linux 4.14); where there is none, children are
// not told from their parent. See ForkGuard.h.
#include "core/ForkGuard.h"
#include <sys/mman.h>

namespace astra {

constexpr size_t pageBytes = 4096;
static constexpr uint32_t always = 1;

ForkGuard::ForkGuard() : mark(&always) {
#ifdef MADV_WIPEONFORK
  void *page = mmap(nullptr, pageBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return;
  if (madvise(page, pageBytes, MADV_WIPEONFORK) != 0) {
    munmap(page, pageBytes);
    return;
  }
  *static_cast<uint32_t *>(page) = 1;
  mark = static_cast<const uint32_t *>(page);
#endif
}

ForkGuard::~ForkGuard() {
  if (mark != &always)
    munmap(const_cast<uint32_t *>(mark), pageBytes);
}

} // namespace astra
