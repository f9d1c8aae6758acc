// The host's memory on one NUMA node: blocks aligned to 64 bytes, from the
// caller's allocator or the system's, kept in size classes for reuse, limited
// together with the runtime's other pools, and counted. Storage is one block,
// or the caller's own memory, shared by tensors.
//
// A storage lives as long as a tensor or a piece of work refers to it, so a
// block comes back only after the last work that uses it is done.
#ifndef ASTRA_RUNTIME_MEMORY_H
#define ASTRA_RUNTIME_MEMORY_H

#include "core/Ref.h"
#include "core/SpinLock.h"
#include "core/Status.h"
#include <mutex>
#include <vector>

namespace astra {

/// Memory of a pool, as large as its size class.
struct Block {
  void *memory = nullptr;
  size_t bytes = 0;

  explicit operator bool() const { return memory != nullptr; }
};

class MemoryPool;

/// What the pools of one runtime have from the system together.
class Budget {
public:
  explicit Budget(uint64_t total) : total(total) {}

  /// Counts bytes if the limit allows.
  bool take(uint64_t bytes);
  void give(uint64_t bytes) { held.fetch_sub(bytes); }
  /// Has every pool give back what it keeps.
  void trimAll() noexcept;

  const uint64_t total; // 0: no limit
  std::vector<MemoryPool *> pools;

private:
  std::mutex trimming;
  std::atomic<uint64_t> held{0};
};

class MemoryPool {
public:
  static constexpr size_t alignment = 64;

  static constexpr uint64_t usuallyKept = uint64_t(1) << 28;

  /// `allocator` may be null: the system's. Its memory shall lie on
  /// `systemNode`, unless that is -1. The budget outlives the pool.
  MemoryPool(const astra_allocator_t *allocator, uint64_t keptLimit,
             Budget &budget, int systemNode = -1);
  ~MemoryPool();

  /// At least `bytes` bytes, or none.
  Block allocate(size_t bytes) noexcept;
  /// Gives a block back.
  void release(const Block &block) noexcept;
  /// Returns kept blocks to the allocator until at most `keep` bytes are left.
  void trim(uint64_t keep) noexcept;

  struct Statistics {
    uint64_t live = 0, peak = 0, kept = 0;
    uint64_t allocations = 0, reused = 0, failed = 0;

    /// Of two pools; their peaks need not have been at the same time.
    Statistics &operator+=(const Statistics &other) {
      live += other.live;
      peak += other.peak;
      kept += other.kept;
      allocations += other.allocations;
      reused += other.reused;
      failed += other.failed;
      return *this;
    }
  };
  Statistics statistics() const;
  uint64_t limit() const { return budget.total; }
  uint64_t keptLimit() const { return mostKept; }
  /// What a request takes, which is its size class.
  static size_t blockBytes(size_t bytes);
  /// Whether the program's allocator ever gave a block that is no use.
  bool hasSeenMisaligned() const { return sawMisaligned; }

private:
  static constexpr unsigned classCount = 4 * 48;
  /// A kept block: the next of its class lies in it.
  struct Kept {
    Kept *next;
  };

  Block takeKept(unsigned index);
  Block obtain(size_t bytes);
  bool reserve(size_t bytes);
  Kept *detach(uint64_t keep, unsigned &index);

  astra_allocator_t source;
  const uint64_t mostKept;
  Budget &budget;
  const int node;
  std::atomic<bool> sawMisaligned{false};
  mutable SpinLock mutex;
  Statistics counts;
  Kept *kept[classCount] = {};
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

  void *data() const { return block.memory; }
  size_t size() const { return bytes; }
  /// Whether it is a block of the pool, and not the caller's memory.
  bool isOwned() const { return pool != nullptr; }

  /// Users that the caller sees: handles of tensors, mappings, archives. Work
  /// in flight is not among them. A user has a reference as long as it counts;
  /// both are one number, so that they can change together.
  void addUser() const { retain(user); }
  void dropUser() const { forget(user); }
  /// For a tensor that nobody else has seen.
  void addFirstUser() const { retainMore(user); }
  Ref<Storage> refAsUser() {
    retain(user + 1);
    return Ref<Storage>::adopt(this);
  }
  void releaseAsUser() const { release(user + 1); }
  uint64_t userCount() const { return Object::referenceCount() / user; }
  uint64_t referenceCount() const { return Object::referenceCount() % user; }
  /// Of the memory of a device (astra/backend.h); 0 for the host's.
  uint64_t generation = 0;

private:
  static constexpr uint64_t user = uint64_t(1) << 40;

  Storage() = default;

  Block block;
  size_t bytes = 0;
  MemoryPool *pool = nullptr;
  ReleaseFn releaseFn = nullptr;
  void *context = nullptr;
};

/// A block of the pool for the time of a scope.
class PoolBlock {
public:
  PoolBlock(MemoryPool &pool, size_t bytes)
      : pool(pool), block(pool.allocate(bytes)) {}
  PoolBlock(const PoolBlock &) = delete;
  PoolBlock &operator=(const PoolBlock &) = delete;
  ~PoolBlock() {
    if (block)
      pool.release(block);
  }
  void *data() const { return block.memory; }

private:
  MemoryPool &pool;
  const Block block;
};

Status outOfMemory(const MemoryPool &pool, size_t bytes,
                   const std::string &purpose);

} // namespace astra
#endif // ASTRA_RUNTIME_MEMORY_H
