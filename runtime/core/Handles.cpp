// The table of handles; see Handles.h. Objects are dropped outside the lock,
// since a destructor may release handles of its own or run a callback.
#include "core/Handles.h"
#include <ctime>

namespace astra {
namespace {

constexpr unsigned slotBits = 24, generationBits = 36;
constexpr uint64_t slotMask = (uint64_t(1) << slotBits) - 1;
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
  case Kind::None:
    break;
  }
  return "unknown";
}

} // namespace

HandleTable::HandleTable() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  salt = mix(reinterpret_cast<uintptr_t>(this) ^
             mix(uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec)));
}

Status HandleTable::insert(Kind kind, Ref<Object> object, uint64_t &bits) {
  std::lock_guard<std::mutex> lock(mutex);
  if (freeSlots.empty()) {
    if (slots.size() > slotMask)
      return fail(ASTRA_ERROR_OUT_OF_RESOURCES, "all ", slotMask + 1,
                  " handles of the runtime are in use; release some");
    freeSlots.reserve(slots.size() + 1); // releasing must not need memory
    slots.emplace_back();
    slots.back().generation = mix(salt + slots.size()) & generationMask;
    freeSlots.push_back(uint32_t(slots.size() - 1));
  }
  uint32_t index = freeSlots.back();
  freeSlots.pop_back();
  Slot &slot = slots[index];
  slot.kind = kind;
  slot.references = 1;
  slot.object = std::move(object);
  bits = pack(kind, slot.generation, index);
  return {};
}

Status HandleTable::find(Kind kind, uint64_t bits, uint32_t &index) const {
  if (bits == 0)
    return fail(ASTRA_ERROR_INVALID_HANDLE, "the ", nameOf(kind),
                " handle is null");
  Kind given = Kind(bits >> (slotBits + generationBits));
  if (given != kind)
    return fail(ASTRA_ERROR_INVALID_HANDLE, "a handle of kind ", nameOf(given),
                " was given where a ", nameOf(kind), " is needed");
  index = uint32_t(bits & slotMask);
  uint64_t generation = bits >> slotBits & generationMask;
  if (index >= slots.size() || slots[index].references == 0 ||
      slots[index].kind != kind || slots[index].generation != generation)
    return fail(ASTRA_ERROR_INVALID_HANDLE, "the ", nameOf(kind),
                " handle was released already, or is of another runtime");
  return {};
}

Status HandleTable::lookup(Kind kind, uint64_t bits,
                           Ref<Object> &object) const {
  std::lock_guard<std::mutex> lock(mutex);
  uint32_t index = 0;
  ASTRA_TRY(find(kind, bits, index));
  object = slots[index].object;
  return {};
}

Status HandleTable::retain(Kind kind, uint64_t bits) {
  std::lock_guard<std::mutex> lock(mutex);
  uint32_t index = 0;
  ASTRA_TRY(find(kind, bits, index));
  if (slots[index].references == UINT32_MAX)
    return fail(ASTRA_ERROR_OUT_OF_RESOURCES, "the ", nameOf(kind),
                " handle has too many references");
  ++slots[index].references;
  return {};
}

Status HandleTable::release(Kind kind, uint64_t bits) {
  Ref<Object> dropped;
  std::lock_guard<std::mutex> lock(mutex);
  uint32_t index = 0;
  ASTRA_TRY(find(kind, bits, index));
  if (--slots[index].references == 0)
    dropped = vacate(index);
  return {};
}

Ref<Object> HandleTable::vacate(uint32_t index) {
  Slot &slot = slots[index];
  slot.generation = (slot.generation + 1) & generationMask;
  slot.references = 0;
  slot.kind = Kind::None;
  freeSlots.push_back(index);
  return std::exchange(slot.object, Ref<Object>());
}

uint32_t HandleTable::referenceCount(uint64_t bits) const {
  std::lock_guard<std::mutex> lock(mutex);
  uint32_t index = 0;
  Kind kind = Kind(bits >> (slotBits + generationBits));
  return find(kind, bits, index).ok() ? slots[index].references : 0;
}

uint64_t HandleTable::liveCount() const {
  std::lock_guard<std::mutex> lock(mutex);
  return slots.size() - freeSlots.size();
}

void HandleTable::clear() {
  std::vector<Slot> dropped;
  std::lock_guard<std::mutex> lock(mutex);
  slots.swap(dropped);
  freeSlots.clear();
}

} // namespace astra
