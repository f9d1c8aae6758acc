// Memory of devices; see DevicePool.h.
#include "core/DevicePool.h"
#include <algorithm>

namespace astra {

constexpr uint64_t granule = 256;

/// The smallest kept block that is large enough and not wastefully large; the
/// lock is held.
bool DevicePool::takeKept(uint64_t bytes, Block &block) {
  auto found = kept.lower_bound(bytes);
  if (found == kept.end() || found->first > 2 * bytes)
    return false;
  block = {found->second, found->first};
  kept.erase(found);
  counts.kept -= block.bytes;
  ++counts.reused;
  return true;
}

astra_status_t DevicePool::allocate(uint64_t bytes, Block &block,
                                    char *message) {
  constexpr uint64_t most = uint64_t(1) << 62;
  bytes = (std::clamp(bytes, uint64_t(1), most) + granule - 1) & -granule;
  std::unique_lock<std::mutex> lock(mutex);
  astra_status_t status = ASTRA_OK;
  if (!takeKept(bytes, block)) {
    lock.unlock();
    block.bytes = bytes;
    status = table.allocate(state, device, bytes, &block.memory, message);
    if (status == ASTRA_ERROR_OUT_OF_MEMORY) {
      trim(0);
      message[0] = 0;
      status = table.allocate(state, device, bytes, &block.memory, message);
    }
    lock.lock();
  }
  if (status != ASTRA_OK) {
    ++counts.failed;
    return status;
  }
  ++counts.allocations;
  counts.live += block.bytes;
  counts.peak = std::max(counts.peak, counts.live);
  return ASTRA_OK;
}

void DevicePool::release(const Block &block) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  counts.live -= block.bytes;
  if (counts.kept + block.bytes <= keptLimit) {
    Status noted = guarded([&]() -> Status {
      kept.emplace(block.bytes, block.memory);
      return {};
    });
    if (noted.ok()) {
      counts.kept += block.bytes;
      return;
    }
  }
  giveBack(block);
}

/// A back end that cannot take its own memory back keeps it.
void DevicePool::giveBack(const Block &block) noexcept {
  char message[ASTRA_BACKEND_MESSAGE];
  message[0] = 0;
  table.release(state, device, block.memory, message);
}

void DevicePool::trim(uint64_t keep) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  while (counts.kept > keep) {
    auto largest = std::prev(kept.end());
    giveBack({largest->second, largest->first});
    counts.kept -= largest->first;
    kept.erase(largest);
  }
}

MemoryPool::Statistics DevicePool::statistics() const {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

} // namespace astra
