// The table of handles of one runtime. A handle is kind, generation and slot; a
// slot's generation begins at a number of its own for each runtime and grows
// with each reuse, so stale and foreign handles are told from live ones. A
// handle has many references to its object and lends them out, which takes one
// atomic operation, as does its end; what is rarer locks the handle for a few
// instructions. So threads meet only where they use the same handle. Knows
// nothing of what the objects are.
//
// bits: kind 4 | generation 36 | slot 24.
#ifndef ASTRA_RUNTIME_HANDLES_H
#define ASTRA_RUNTIME_HANDLES_H

#include "core/Ref.h"
#include "core/Status.h"
#include <mutex>

namespace astra {

class HandleTable {
public:
  HandleTable();
  ~HandleTable();
  HandleTable(const HandleTable &) = delete;
  HandleTable &operator=(const HandleTable &) = delete;

  /// Puts an object in with one reference. Status only if the table is full.
  Status insert(Kind kind, Ref<Object> object, uint64_t &bits);
  /// The object of a live handle.
  template <class T> Status lookup(uint64_t bits, Ref<T> &object) const {
    Object *lent = borrow(T::kind, bits);
    if (!lent)
      return refuse(T::kind, bits);
    object = Ref<T>::adopt(static_cast<T *>(lent));
    return {};
  }
  /// Runs `look` with the object of a live handle, which others have to wait
  /// for meanwhile, so it has to be short. False for a handle that is not live.
  template <class T, class Look> bool visit(uint64_t bits, Look look) const {
    Held held = hold(T::kind, bits);
    if (!held.object)
      return false;
    Opener opener{*held.state};
    look(static_cast<const T &>(*held.object));
    return true;
  }
  Status retain(Kind kind, uint64_t bits);
  Status release(Kind kind, uint64_t bits);
  /// References that handles hold; 0 for a handle that is not live.
  uint32_t referenceCount(uint64_t bits) const;
  uint64_t liveCount() const;
  /// Drops all objects, those too that dropping others brought in.
  void clear();

private:
  struct Slot;
  static constexpr uint64_t isLocked = uint64_t(1) << 23; // in a slot's state
  /// A locked handle.
  struct Held {
    const Object *object;
    std::atomic<uint64_t> *state;
  };
  /// Opens a handle at the end of a scope; nobody else changes a locked one.
  struct Opener {
    std::atomic<uint64_t> &state;
    ~Opener() {
      state.store(state.load(std::memory_order_relaxed) & ~isLocked,
                  std::memory_order_release);
    }
  };
  /// Blocks of slots, each twice as long as all before it together.
  static constexpr unsigned blockCount = 17, firstBlock = 256;

  Slot *slotAt(uint32_t index) const;
  Slot *find(Kind kind, uint64_t bits) const;
  /// The object of a live handle, with a reference, or null.
  Object *borrow(Kind kind, uint64_t bits) const;
  Held hold(Kind kind, uint64_t bits) const;
  Status refuse(Kind kind, uint64_t bits) const;
  Status grow();
  Slot *popFree(uint32_t &index);
  void pushFree(Slot &slot, uint32_t index);
  void end(Slot &slot, uint64_t bits, uint64_t held);

  std::atomic<Slot *> blocks[blockCount];
  std::atomic<uint32_t> size{0};
  std::atomic<uint64_t> firstFree{0}; // changes 40 | slot + 1, or 0: 24
  std::mutex growing;
  uint64_t salt;
};

} // namespace astra
#endif // ASTRA_RUNTIME_HANDLES_H
