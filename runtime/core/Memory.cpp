// Size classes: four to each power of two, so a block is at most a quarter
// larger than what was asked for, or, where a larger one is kept, up to twice
// as large. A released block is kept, since fresh memory costs a page fault for
// each 4 KiB. Kept blocks are linked through themselves, so giving one back
// needs no memory and cannot fail.
#include "core/Memory.h"
#include "core/Numa.h"
#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

namespace astra {
namespace {

constexpr unsigned smallestPower = 8;
constexpr unsigned classesUpward = 4; // twice as large
constexpr size_t mostBytes = size_t(1) << 47;
// Smaller blocks share pages, which lie where they were first written.
constexpr size_t smallestBound = size_t(1) << 17;

// Pages of this size need far fewer entries of the processor's address cache,
// and fewer faults, than those of 4 KiB.
constexpr size_t largePage = size_t(2) << 20;

/// Large blocks ask the system for large pages; where it has none, or shall
/// not use them, the advice has no effect.
void *systemAllocate(void *, size_t bytes, size_t alignment) {
  if (bytes < largePage)
    return std::aligned_alloc(alignment, bytes);
  void *memory = nullptr; // of any size, unlike that of aligned_alloc
  if (posix_memalign(&memory, largePage, bytes) != 0)
    return nullptr;
  (void)madvise(memory, bytes & -largePage, MADV_HUGEPAGE);
  return memory;
}
void systemRelease(void *, void *memory, size_t, size_t) { std::free(memory); }

/// The bytes of the blocks of a class, a multiple of 64.
size_t sizeOf(unsigned index) {
  unsigned power = index / 4 + smallestPower;
  return (size_t(1) << power) + index % 4 * (size_t(1) << (power - 2));
}

/// The smallest class that serves a size.
unsigned classOf(size_t bytes) {
  bytes = std::max(bytes, size_t(1) << smallestPower);
  unsigned power = 63 - unsigned(__builtin_clzll(bytes));
  size_t step = size_t(1) << (power - 2);
  unsigned quarter = unsigned((bytes - (size_t(1) << power) + step - 1) / step);
  return 4 * (power - smallestPower) + quarter;
}

} // namespace

bool Budget::take(uint64_t bytes) {
  uint64_t seen = held.load();
  do {
    if (total && seen + bytes > total)
      return false;
  } while (!held.compare_exchange_weak(seen, seen + bytes));
  return true;
}

void Budget::trimAll() noexcept {
  // What another thread has taken out of its pool is given back then.
  std::lock_guard<std::mutex> lock(trimming);
  for (MemoryPool *pool : pools)
    pool->trim(0);
}

MemoryPool::MemoryPool(const astra_allocator_t *allocator, uint64_t keptLimit,
                       Budget &budget, int systemNode)
    : source(allocator
                 ? *allocator
                 : astra_allocator_t{nullptr, systemAllocate, systemRelease}),
      mostKept(keptLimit), budget(budget), node(allocator ? -1 : systemNode) {
  budget.pools.push_back(this);
}

MemoryPool::~MemoryPool() { trim(0); }

/// A kept block of the class or of a larger one; the lock is held.
Block MemoryPool::takeKept(unsigned index) {
  unsigned end = std::min(index + classesUpward + 1, classCount);
  for (; index < end; ++index) {
    Kept *first = kept[index];
    if (!first)
      continue;
    kept[index] = first->next;
    Block block{first, sizeOf(index)};
    counts.kept -= block.bytes;
    ++counts.reused;
    return block;
  }
  return {};
}

/// Counts bytes as live if the limit allows; the lock is held.
bool MemoryPool::reserve(size_t bytes) {
  if (!budget.take(bytes))
    return false;
  counts.live += bytes;
  return true;
}

/// A new block of bytes that are counted already.
Block MemoryPool::obtain(size_t bytes) {
  void *memory = source.allocate(source.context, bytes, alignment);
  if (!memory) {
    budget.trimAll();
    memory = source.allocate(source.context, bytes, alignment);
  }
  if (reinterpret_cast<uintptr_t>(memory) % alignment) {
    source.release(source.context, memory, bytes, alignment);
    memory = nullptr;
    sawMisaligned = true;
  }
  if (memory && node >= 0 && bytes >= smallestBound)
    preferNode(memory, bytes, unsigned(node));
  return {memory, bytes};
}

size_t MemoryPool::blockBytes(size_t bytes) {
  return bytes <= mostBytes ? sizeOf(classOf(bytes)) : bytes;
}

Block MemoryPool::allocate(size_t bytes) noexcept {
  bool possible = bytes <= mostBytes;
  unsigned index = possible ? classOf(bytes) : 0;
  size_t rounded = sizeOf(index);
  Block block;
  {
    std::unique_lock<SpinLock> lock(mutex);
    if (possible && (block = takeKept(index))) {
      counts.live += block.bytes;
    } else if (possible && !reserve(rounded)) {
      lock.unlock();
      budget.trimAll();
      lock.lock();
      possible = reserve(rounded);
    }
    if (block) {
      ++counts.allocations;
      counts.peak = std::max(counts.peak, counts.live);
      return block;
    }
  }
  if (possible)
    block = obtain(rounded);
  std::lock_guard<SpinLock> lock(mutex);
  if (block.memory) {
    ++counts.allocations;
    counts.peak = std::max(counts.peak, counts.live);
    return block;
  }
  ++counts.failed;
  if (possible) {
    counts.live -= rounded;
    budget.give(rounded);
  }
  return {};
}

void MemoryPool::release(const Block &block) noexcept {
  {
    std::lock_guard<SpinLock> lock(mutex);
    counts.live -= block.bytes;
    if (block.bytes <= mostKept && counts.kept <= mostKept - block.bytes) {
      unsigned index = classOf(block.bytes);
      kept[index] = new (block.memory) Kept{kept[index]};
      counts.kept += block.bytes;
      return;
    }
  }
  source.release(source.context, block.memory, block.bytes, alignment);
  budget.give(block.bytes);
}

/// Takes the kept blocks of one class, the largest first, that `keep` bytes
/// have no room for; null when there are none left. The lock is held.
MemoryPool::Kept *MemoryPool::detach(uint64_t keep, unsigned &index) {
  for (index = classCount; index-- > 0 && counts.kept > keep;) {
    Kept *first = nullptr;
    while (kept[index] && counts.kept > keep) {
      Kept *block = kept[index];
      kept[index] = block->next;
      block->next = first;
      first = block;
      counts.kept -= sizeOf(index);
    }
    if (first)
      return first;
  }
  return nullptr;
}

void MemoryPool::trim(uint64_t keep) noexcept {
  for (;;) {
    unsigned index = 0;
    Kept *blocks = nullptr;
    {
      std::lock_guard<SpinLock> lock(mutex);
      blocks = detach(keep, index);
    }
    if (!blocks)
      return;
    while (blocks) {
      Kept *block = blocks;
      blocks = block->next;
      source.release(source.context, block, sizeOf(index), alignment);
      budget.give(sizeOf(index));
    }
  }
}

MemoryPool::Statistics MemoryPool::statistics() const {
  std::lock_guard<SpinLock> lock(mutex);
  return counts;
}

Ref<Storage> Storage::allocate(MemoryPool &pool, size_t bytes) {
  Ref<Storage> storage = Ref<Storage>::first(new Storage());
  storage->block = pool.allocate(bytes);
  if (!storage->block)
    return {};
  storage->bytes = bytes;
  storage->pool = &pool;
  return storage;
}

Ref<Storage> Storage::borrow(void *buffer, size_t bytes) {
  Ref<Storage> storage = Ref<Storage>::first(new Storage());
  storage->block.memory = buffer;
  storage->bytes = bytes;
  return storage;
}

void Storage::setRelease(ReleaseFn release, void *releaseContext) {
  releaseFn = release;
  context = releaseContext;
}

Storage::~Storage() {
  if (pool)
    pool->release(block);
  else if (releaseFn)
    releaseFn(context, block.memory);
}

Status outOfMemory(const MemoryPool &pool, size_t bytes,
                   const std::string &purpose) {
  std::string why;
  if (pool.hasSeenMisaligned())
    why = join(" (the program's allocator gave memory that is not aligned to ",
               pool.alignment, " bytes)");
  else if (pool.limit())
    why = join(" (a block of ", MemoryPool::blockBytes(bytes),
               "; the runtime's memory limit is ", pool.limit(),
               " bytes, of which ", pool.statistics().live, " are in use)");
  return fail(ASTRA_ERROR_OUT_OF_MEMORY, "there is no memory for the ", bytes,
              " bytes of ", purpose, why);
}

} // namespace astra
