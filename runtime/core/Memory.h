// The memory of one runtime: blocks aligned to 64 bytes, from the caller's
// allocator or the system's, kept in size classes for reuse, and counted.
// Storage is one block, or the caller's own memory, shared by tensors.
#ifndef ASTRA_RUNTIME_MEMORY_H
#define ASTRA_RUNTIME_MEMORY_H

#include "core/Ref.h"
#include "core/Status.h"
#include <mutex>
#include <vector>

namespace astra {

class MemoryPool {
public:
  static constexpr size_t alignment = 64;

  /// `allocator` may be null: the system's.
  explicit MemoryPool(const astra_allocator_t *allocator);
  ~MemoryPool();

  /// At least `bytes` bytes, or null.
  void *allocate(size_t bytes);
  /// Gives a block back; `bytes` as it was asked for.
  void release(void *memory, size_t bytes);
  /// Returns all kept blocks to the allocator.
  void trim();

  struct Statistics {
    uint64_t live = 0, peak = 0, allocations = 0;
  };
  Statistics statistics() const;

private:
  static constexpr unsigned classCount = 4 * 48;
  void *obtain(size_t bytes);

  astra_allocator_t source;
  mutable std::mutex mutex;
  Statistics counts;
  size_t keptBytes = 0;
  std::vector<void *> kept[classCount];
};

class Storage : public Object {
public:
  using ReleaseFn = void (*)(void *context, void *buffer);

  /// A new block, or null if there is no memory.
  static Ref<Storage> allocate(MemoryPool &pool, size_t bytes);
  /// The caller's memory.
  static Ref<Storage> borrow(void *buffer, size_t bytes);
  /// What to call for the caller's memory when the last tensor is gone.
  void setRelease(ReleaseFn release, void *releaseContext);
  ~Storage() override;

  void *data() const { return memory; }
  size_t size() const { return bytes; }

private:
  Storage() = default;

  void *memory = nullptr;
  size_t bytes = 0;
  MemoryPool *pool = nullptr;
  ReleaseFn releaseFn = nullptr;
  void *context = nullptr;
};

/// A block of the pool for the time of a scope.
class PoolBlock {
public:
  PoolBlock(MemoryPool &pool, size_t bytes)
      : pool(pool), bytes(bytes), memory(pool.allocate(bytes)) {}
  PoolBlock(const PoolBlock &) = delete;
  PoolBlock &operator=(const PoolBlock &) = delete;
  ~PoolBlock() {
    if (memory)
      pool.release(memory, bytes);
  }
  void *data() const { return memory; }

private:
  MemoryPool &pool;
  size_t bytes;
  void *memory;
};

Status outOfMemory(size_t bytes, const std::string &purpose);

} // namespace astra
#endif // ASTRA_RUNTIME_MEMORY_H
