// The table of handles of one runtime. A handle is kind, generation and slot; a
// slot's generation begins at a number of its own for each runtime and grows
// with each reuse, so stale and foreign handles are told from live ones. Knows
// nothing of what the objects are.
//
// bits: kind 4 | generation 36 | slot 24.
#ifndef ASTRA_RUNTIME_HANDLES_H
#define ASTRA_RUNTIME_HANDLES_H

#include "core/Ref.h"
#include "core/Status.h"
#include <mutex>
#include <vector>

namespace astra {

class HandleTable {
public:
  HandleTable();

  /// Puts an object in with one reference. Status only if the table is full.
  Status insert(Kind kind, Ref<Object> object, uint64_t &bits);
  /// The object of a live handle.
  Status lookup(Kind kind, uint64_t bits, Ref<Object> &object) const;
  Status retain(Kind kind, uint64_t bits);
  Status release(Kind kind, uint64_t bits);
  /// References that handles hold; 0 for a handle that is not live.
  uint32_t referenceCount(uint64_t bits) const;
  uint64_t liveCount() const;
  /// Drops all objects.
  void clear();

private:
  struct Slot {
    uint64_t generation = 0;
    uint32_t references = 0;
    Kind kind = Kind::None;
    Ref<Object> object;
  };

  Status find(Kind kind, uint64_t bits, uint32_t &slot) const;
  Ref<Object> vacate(uint32_t slot);

  mutable std::mutex mutex;
  std::vector<Slot> slots;
  std::vector<uint32_t> freeSlots;
  uint64_t salt;
};

} // namespace astra
#endif // ASTRA_RUNTIME_HANDLES_H
