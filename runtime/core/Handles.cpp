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
  // Kind and generation of the live handle | isLocked | isShared | references
  // that it has lent: 22; or 0. Written last and cleared first: who changes it
  // under a handle's own name has read that handle's object.
  std::atomic<uint64_t> state{0};
  std::atomic<Object *> object{nullptr};
  uint64_t generation = 0;
  uint32_t references = 0;           // of the handle; under the lock
  std::atomic<uint32_t> nextFree{0}; // slot + 1, or 0

  static constexpr uint64_t isShared = uint64_t(1) << 22; // references > 1
  static constexpr uint64_t lentMask = isShared - 1;

  /// Whether the handle lives and nobody has locked it: one comparison of the
  /// name with the bit beside it.
  static bool isOpen(uint64_t state, uint64_t handle) {
    return state >> (slotBits - 1) == handle >> slotBits << 1;
  }
  /// The state of a handle that is open, for which it waits; false if the
  /// handle does not live.
  bool look(uint64_t handle, uint64_t &seen) const {
    seen = state.load(std::memory_order_acquire);
    return isOpen(seen, handle) || await(handle, seen);
  }
  [[gnu::noinline]] bool await(uint64_t handle, uint64_t &seen) const {
    for (Spin spin; seen >> slotBits == handle >> slotBits; spin.pause()) {
      if (!(seen & isLocked))
        return true;
      seen = state.load(std::memory_order_acquire);
    }
    return false;
  }
  /// Changes the state from what was seen; false if it is another by now.
  bool change(uint64_t seen, uint64_t next) {
    return state.compare_exchange_strong(seen, next, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }
  /// Keeps a live handle as it is until `unlock`, which gives its new state.
  bool lock(uint64_t handle, uint64_t &seen) {
    while (look(handle, seen)) {
      if (change(seen, seen | isLocked))
        return true;
    }
    return false;
  }
  void unlock(uint64_t next) { state.store(next, std::memory_order_release); }
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
    pushFree(slots[i], begin + i);
  return {};
}

HandleTable::Slot *HandleTable::popFree(uint32_t &index) {
  uint64_t head = firstFree.load(std::memory_order_acquire);
  while (head & slotMask) {
    index = uint32_t(head & slotMask) - 1;
    Slot *slot = slotAt(index);
    uint64_t next = slot->nextFree.load(std::memory_order_relaxed);
    uint64_t changed = ((head >> slotBits) + 1) << slotBits;
    if (firstFree.compare_exchange_weak(head, changed | next,
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire))
      return slot;
  }
  return nullptr;
}

void HandleTable::pushFree(Slot &slot, uint32_t index) {
  uint64_t head = firstFree.load(std::memory_order_relaxed), next = 0;
  do {
    slot.nextFree.store(uint32_t(head & slotMask), std::memory_order_relaxed);
    next = ((head >> slotBits) + 1) << slotBits | (index + 1);
  } while (!firstFree.compare_exchange_weak(
      head, next, std::memory_order_release, std::memory_order_relaxed));
}

Status HandleTable::insert(Kind kind, Ref<Object> object, uint64_t &bits) {
  uint32_t index = 0;
  Slot *slot = nullptr;
  while (!(slot = popFree(index)))
    ASTRA_TRY(grow());
  // A slot that was free is nobody else's: no handle names it yet.
  slot->references = 1;
  object->takeHandle(share - 1);
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
              " handle was released or used up by a call already, or is of "
              "another runtime");
}

Object *HandleTable::borrow(Kind kind, uint64_t bits) const {
  Slot *slot = find(kind, bits);
  uint64_t seen = 0;
  while (slot && slot->look(bits, seen)) {
    // The handle's, if the state is still the same: it never comes back.
    Object *object = slot->object.load(std::memory_order_relaxed);
    bool isLast = (seen & Slot::lentMask) == share - 1;
    if (!slot->change(seen, isLast ? seen | isLocked : seen + 1))
      continue;
    if (!isLast)
      return object;
    // The last one stays with the handle, which gets new ones.
    object->retain(share - 1);
    slot->unlock(seen - (share - 1));
  }
  return nullptr;
}

HandleTable::Held HandleTable::hold(Kind kind, uint64_t bits) const {
  Slot *slot = find(kind, bits);
  uint64_t seen = 0;
  if (!slot || !slot->lock(bits, seen))
    return {nullptr, nullptr};
  return {slot->object.load(std::memory_order_relaxed), &slot->state};
}

Status HandleTable::retain(Kind kind, uint64_t bits) {
  Slot *slot = find(kind, bits);
  uint64_t seen = 0;
  if (!slot || !slot->lock(bits, seen))
    return refuse(kind, bits);
  bool isFull = slot->references == UINT32_MAX;
  if (!isFull) {
    ++slot->references;
    seen |= Slot::isShared;
  }
  slot->unlock(seen);
  return isFull ? fail(ASTRA_ERROR_OUT_OF_RESOURCES, "the ", nameOf(kind),
                       " handle has too many references")
                : Status();
}

Status HandleTable::release(Kind kind, uint64_t bits) {
  Slot *slot = find(kind, bits);
  uint64_t seen = 0;
  while (slot && slot->look(bits, seen)) {
    bool isShared = seen & Slot::isShared;
    if (!slot->change(seen, isShared ? seen | isLocked : 0))
      continue;
    if (isShared)
      slot->unlock(--slot->references == 1 ? seen & ~Slot::isShared : seen);
    else
      end(*slot, bits, share - (seen & Slot::lentMask));
    return {};
  }
  return refuse(kind, bits);
}

/// Frees the slot of a handle that lives no more, and then gives back the
/// references that it held.
void HandleTable::end(Slot &slot, uint64_t bits, uint64_t held) {
  Object *object = slot.object.load(std::memory_order_relaxed);
  slot.generation = (slot.generation + 1) & generationMask;
  pushFree(slot, uint32_t(bits & slotMask));
  object->dropHandle(held);
}

uint32_t HandleTable::referenceCount(uint64_t bits) const {
  Slot *slot = find(Kind(bits >> (slotBits + generationBits)), bits);
  uint64_t seen = 0;
  if (!slot || !slot->lock(bits, seen))
    return 0;
  uint32_t count = slot->references;
  slot->unlock(seen);
  return count;
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
      slot->state.fetch_and(~Slot::isShared);
      Status ignored =
          release(Kind(bits >> (slotBits + generationBits)), bits | i);
    }
  }
}

} // namespace astra
