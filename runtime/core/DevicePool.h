// The memory of a device that has memory of its own: blocks of its back end,
// kept for reuse and counted. A block is only released by the last storage that
// has it, hence after the last work that uses it; a kept block serves requests
// of half its size and more.
#ifndef ASTRA_RUNTIME_DEVICEPOOL_H
#define ASTRA_RUNTIME_DEVICEPOOL_H

#include "astra/backend.h"
#include "core/Memory.h"
#include <map>

namespace astra {

class DevicePool {
public:
  struct Block {
    astra_device_pointer_t memory;
    uint64_t bytes;
  };

  DevicePool(const astra_backend_t &table, void *state, uint32_t device,
             uint64_t keptLimit)
      : table(table), state(state), device(device), keptLimit(keptLimit) {}
  ~DevicePool() { trim(0); }

  /// A block of at least `bytes`. `message` as in backend.h.
  astra_status_t allocate(uint64_t bytes, Block &block, char *message);
  void release(const Block &block) noexcept;
  /// Gives kept blocks back until at most `keep` bytes are left.
  void trim(uint64_t keep) noexcept;
  MemoryPool::Statistics statistics() const;

private:
  bool takeKept(uint64_t bytes, Block &block);
  void giveBack(const Block &block) noexcept;

  const astra_backend_t &table;
  void *const state;
  const uint32_t device;
  const uint64_t keptLimit;
  mutable std::mutex mutex;
  std::multimap<uint64_t, astra_device_pointer_t> kept; // by size
  MemoryPool::Statistics counts;
};

} // namespace astra
#endif // ASTRA_RUNTIME_DEVICEPOOL_H
