// Size classes: four to each power of two, so a block is at most a quarter
// larger than what it serves. A released block is kept, up to a quarter of a
// GiB in all, since fresh memory costs a page fault for each 4 KiB.
#include "core/Memory.h"
#include <algorithm>
#include <cstdlib>

namespace astra {
namespace {

constexpr size_t keepLimit = size_t(1) << 28;

void *systemAllocate(void *, size_t bytes, size_t alignment) {
  return std::aligned_alloc(alignment, bytes);
}
void systemRelease(void *, void *memory, size_t, size_t) { std::free(memory); }

/// The class of a size, and the size of its blocks (a multiple of 64).
struct SizeClass {
  unsigned index;
  size_t bytes;
};

SizeClass classOf(size_t bytes) {
  bytes = std::max<size_t>(bytes, 256);
  unsigned power = 63 - unsigned(__builtin_clzll(bytes));
  size_t step = size_t(1) << (power - 2);
  unsigned quarter = unsigned((bytes - (size_t(1) << power) + step - 1) / step);
  size_t rounded = (size_t(1) << power) + quarter * step;
  return {4 * (power - 8) + quarter, rounded};
}

} // namespace

MemoryPool::MemoryPool(const astra_allocator_t *allocator)
    : source(allocator
                 ? *allocator
                 : astra_allocator_t{nullptr, systemAllocate, systemRelease}) {}

MemoryPool::~MemoryPool() { trim(); }

void *MemoryPool::obtain(size_t bytes) {
  if (void *memory = source.allocate(source.context, bytes, alignment))
    return memory;
  trim();
  return source.allocate(source.context, bytes, alignment);
}

void *MemoryPool::allocate(size_t bytes) {
  if (bytes > (size_t(1) << 47))
    return nullptr;
  SizeClass size = classOf(bytes);
  void *memory = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!kept[size.index].empty()) {
      memory = kept[size.index].back();
      kept[size.index].pop_back();
      keptBytes -= size.bytes;
    }
  }
  if (!memory && !(memory = obtain(size.bytes)))
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  ++counts.allocations;
  counts.live += size.bytes;
  counts.peak = std::max(counts.peak, counts.live);
  return memory;
}

void MemoryPool::release(void *memory, size_t bytes) {
  SizeClass size = classOf(bytes);
  {
    std::lock_guard<std::mutex> lock(mutex);
    counts.live -= size.bytes;
    std::vector<void *> &list = kept[size.index];
    if (keptBytes + size.bytes <= keepLimit) {
      // The list grows with malloc; without memory the block is not kept.
      try {
        list.push_back(memory);
        keptBytes += size.bytes;
        return;
      } catch (const std::bad_alloc &) {
      }
    }
  }
  source.release(source.context, memory, size.bytes, alignment);
}

void MemoryPool::trim() {
  std::lock_guard<std::mutex> lock(mutex);
  for (unsigned index = 0; index < classCount; ++index) {
    size_t power = index / 4 + 8;
    size_t bytes =
        (size_t(1) << power) + index % 4 * (size_t(1) << (power - 2));
    for (void *memory : kept[index])
      source.release(source.context, memory, bytes, alignment);
    kept[index].clear();
  }
  keptBytes = 0;
}

MemoryPool::Statistics MemoryPool::statistics() const {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

Ref<Storage> Storage::allocate(MemoryPool &pool, size_t bytes) {
  Ref<Storage> storage(new Storage());
  storage->memory = pool.allocate(bytes);
  if (!storage->memory)
    return {};
  storage->bytes = bytes;
  storage->pool = &pool;
  return storage;
}

Ref<Storage> Storage::borrow(void *buffer, size_t bytes) {
  Ref<Storage> storage(new Storage());
  storage->memory = buffer;
  storage->bytes = bytes;
  return storage;
}

void Storage::setRelease(ReleaseFn release, void *releaseContext) {
  releaseFn = release;
  context = releaseContext;
}

Storage::~Storage() {
  if (pool)
    pool->release(memory, bytes);
  else if (releaseFn)
    releaseFn(context, memory);
}

Status outOfMemory(size_t bytes, const std::string &purpose) {
  return fail(ASTRA_ERROR_OUT_OF_MEMORY, "there is no memory for the ", bytes,
              " bytes of ", purpose);
}

} // namespace astra
