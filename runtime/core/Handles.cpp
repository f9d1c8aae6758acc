// The table of handles; see Handles.h. Objects are dropped outside the locks,
// since a destructor may release handles of its own or run a callback. Slots
// are never moved or freed while the table lives, so a stale handle may be
// looked at like a live one. Free slots are a stack whose head counts its
// changes.
#include "core/Handles.h"
#include "core/SpinLock.h"
#include <ctime>
#include <mutex>

namespace astra {
namespace {

constexpr unsigned slotBits = 24, generationBits = 36;
constexpr uint64_t slotMask = (uint64_t(1) << slotBits) - 1;
// References that a handle has to its object when it has lent none.
constexpr uint64_t share = uint64_t(1) << 16;
constexpr uint64_t generationMask = (uint64_t(1) << generationBits) - 1;

uint64_t pack(Kind kind, uint64_t generation, uint32_t slot) {
  return uint64_t(kind) << (slotBits + generationBits) |
         generation << slotBits | slot;
}

/// A bijection that spreads every bit (the finaliser of splitmix64).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

const char *nameOf(Kind kind) {
  switch (kind) {
  case Kind::Device:
    return "device";
  case Kind::Stream:
    return "stream";
  case Kind::Tensor:
    return "tensor";
  case Kind::Mapping:
    return "mapping";
  case Kind::Module:
    return "module";
  case Kind::Function:
    return "function";
  case Kind::Archive:
    return "archive";
  case Kind::Event:
    return "event";
  case Kind::None:
    break;
  }
  return "unknown";
}

} // namespace

struct HandleTable::Slot {
  SpinLock lock; // for all but lending
  uint32_t references = 0;
  // Kind and generation of the live handle | references that it has lent: 24;
  // or 0. Written last and cleared first: who changes it under a handle's own
  // name has read that handle's object.
  std::atomic<uint64_t> state{0};
  uint64_t generation = 0;
  std::atomic<Object *> object{nullptr};
  std::atomic<uint32_t> nextFree{0}; // slot + 1, or 0

  static bool isName(uint64_t state, uint64_t handle) {
    return state >> slotBits == handle >> slotBits;
  }
  bool isLive(uint64_t handle) const {
    return isName(state.load(std::memory_order_acquire), handle);
  }
  /// Gives a live handle new references for those that it has lent.
  void refill(uint64_t handle) {
    std::lock_guard<SpinLock> guard(lock);
    uint64_t lent = state.load(std::memory_order_acquire) & slotMask;
    if (!isLive(handle) || lent < share - 1)
      return;
    object.load(std::memory_order_relaxed)->retain(lent);
    state.fetch_sub(lent, std::memory_order_acq_rel);
  }
};

HandleTable::HandleTable() {
  for (std::atomic<Slot *> &block : blocks)
    block.store(nullptr, std::memory_order_relaxed);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  salt = mix(reinterpret_cast<uintptr_t>(this) ^
             mix(uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec)));
}

HandleTable::~HandleTable() {
  clear();
  for (std::atomic<Slot *> &block : blocks)
    delete[] block.load();
}

/// Block b holds the slots from firstBlock * (2^b - 1) on.
HandleTable::Slot *HandleTable::slotAt(uint32_t index) const {
  uint32_t scaled = index / firstBlock + 1;
  unsigned block = 31 - unsigned(__builtin_clz(scaled));
  Slot *slots = blocks[block].load(std::memory_order_acquire);
  return slots + (index - firstBlock * ((1u << block) - 1));
}

Status HandleTable::grow() {
  std::lock_guard<std::mutex> lock(growing);
  if (firstFree.load() & slotMask)
    return {};
  uint32_t begin = size.load();
  unsigned block = 31 - unsigned(__builtin_clz(begin / firstBlock + 1));
  uint32_t count = std::min(firstBlock << block, uint32_t(slotMask) - begin);
  if (count == 0 || block == blockCount)
    return fail(ASTRA_ERROR_OUT_OF_RESOURCES, "all ", begin,
                " handles of the runtime are in use; release some");
  Slot *slots = new Slot[count];
  for (uint32_t i = 0; i < count; ++i)
    slots[i].generation = mix(salt + begin + i) & generationMask;
  blocks[block].store(slots, std::memory_order_release);
  size.store(begin + count, std::memory_order_release);
  for (uint32_t i = count; i-- > 0;)
    pushFree(begin + i);
  return {};
}

bool HandleTable::popFree(uint32_t &index) {
  uint64_t head = firstFree.load(std::memory_order_acquire);
  while (head & slotMask) {
    index = uint32_t(head & slotMask) - 1;
    uint64_t next = slotAt(index)->nextFree.load(std::memory_order_relaxed);
    uint64_t changed = ((head >> slotBits) + 1) << slotBits;
    if (firstFree.compare_exchange_weak(head, changed | next,
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire))
      return true;
  }
  return false;
}

void HandleTable::pushFree(uint32_t index) {
  Slot *slot = slotAt(index);
  uint64_t head = firstFree.load(std::memory_order_relaxed), next = 0;
  do {
    slot->nextFree.store(uint32_t(head & slotMask), std::memory_order_relaxed);
    next = ((head >> slotBits) + 1) << slotBits | (index + 1);
  } while (!firstFree.compare_exchange_weak(
      head, next, std::memory_order_release, std::memory_order_relaxed));
}

Status HandleTable::insert(Kind kind, Ref<Object> object, uint64_t &bits) {
  uint32_t index = 0;
  while (!popFree(index))
    ASTRA_TRY(grow());
  // A slot that was free is nobody else's: no handle names it yet.
  Slot *slot = slotAt(index);
  slot->references = 1;
  object->handleAdded();
  object->retainMore(share - 1);
  slot->object.store(object.leak(), std::memory_order_relaxed);
  bits = pack(kind, slot->generation, index);
  slot->state.store(bits & ~slotMask, std::memory_order_release);
  return {};
}

/// The slot that a handle names if it can be one of this table.
HandleTable::Slot *HandleTable::find(Kind kind, uint64_t bits) const {
  uint32_t index = uint32_t(bits & slotMask);
  bool named = bits && Kind(bits >> (slotBits + generationBits)) == kind &&
               index < size.load(std::memory_order_acquire);
  return named ? slotAt(index) : nullptr;
}

Status HandleTable::refuse(Kind kind, uint64_t bits) const {
  if (bits == 0)
    return fail(ASTRA_ERROR_INVALID_HANDLE, "the ", nameOf(kind),
                " handle is null");
  Kind given = Kind(bits >> (slotBits + generationBits));
  if (given != kind)
    return fail(ASTRA_ERROR_INVALID_HANDLE, "a handle of kind ", nameOf(given),
                " was given where a ", nameOf(kind), " is needed");
  return fail(ASTRA_ERROR_INVALID_HANDLE, "the ", nameOf(kind),
              " handle was released already, or is of another runtime");
}

Object *HandleTable::borrow(Kind kind, uint64_t bits) const {
  Slot *slot = find(kind, bits);
  if (!slot)
    return nullptr;
  uint64_t seen = slot->state.load(std::memory_order_acquire);
  while (Slot::isName(seen, bits)) {
    if ((seen & slotMask) == share - 1) { // the last one stays with the handle
      slot->refill(bits);
      seen = slot->state.load(std::memory_order_acquire);
      continue;
    }
    // The handle's, if the state is still the same: it never comes back.
    Object *object = slot->object.load(std::memory_order_relaxed);
    if (slot->state.compare_exchange_weak(seen, seen + 1,
                                          std::memory_order_acq_rel,
                                          std::memory_order_acquire))
      return object;
  }
  return nullptr;
}

Status HandleTable::retain(Kind kind, uint64_t bits) {
  if (Slot *slot = find(kind, bits)) {
    std::lock_guard<SpinLock> lock(slot->lock);
    if (slot->isLive(bits)) {
      if (slot->references == UINT32_MAX)
        return fail(ASTRA_ERROR_OUT_OF_RESOURCES, "the ", nameOf(kind),
                    " handle has too many references");
      ++slot->references;
      return {};
    }
  }
  return refuse(kind, bits);
}

Status HandleTable::release(Kind kind, uint64_t bits) {
  Slot *slot = find(kind, bits);
  Object *dropped = nullptr; // after the slot is free
  uint64_t held = share;
  if (slot) {
    std::lock_guard<SpinLock> lock(slot->lock);
    if (!slot->isLive(bits)) {
      slot = nullptr;
    } else if (--slot->references == 0) {
      held -= slot->state.exchange(0, std::memory_order_acq_rel) & slotMask;
      dropped = slot->object.load(std::memory_order_relaxed);
      slot->generation = (slot->generation + 1) & generationMask;
    }
  }
  if (!slot)
    return refuse(kind, bits);
  if (dropped) {
    pushFree(uint32_t(bits & slotMask));
    dropped->handleRemoved(held);
    dropped->release(held);
  }
  return {};
}

uint32_t HandleTable::referenceCount(uint64_t bits) const {
  Slot *slot = find(Kind(bits >> (slotBits + generationBits)), bits);
  if (!slot)
    return 0;
  std::lock_guard<SpinLock> lock(slot->lock);
  return slot->isLive(bits) ? slot->references : 0;
}

uint64_t HandleTable::liveCount() const {
  uint64_t count = 0;
  for (uint32_t i = 0, end = size.load(); i < end; ++i)
    count += slotAt(i)->state.load(std::memory_order_acquire) != 0;
  return count;
}

void HandleTable::clear() {
  for (bool found = true; found;) {
    found = false;
    for (uint32_t i = 0, end = size.load(); i < end; ++i) {
      Slot *slot = slotAt(i);
      uint64_t bits = slot->state.load() & ~slotMask;
      if (!bits) // nobody else uses the table by now
        continue;
      found = true;
      slot->references = 1;
      Status ignored =
          release(Kind(bits >> (slotBits + generationBits)), bits | i);
    }
  }
}

} // namespace astra
