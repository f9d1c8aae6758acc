// Reference-counted objects behind handles, and a pointer that counts.
#ifndef ASTRA_RUNTIME_REF_H
#define ASTRA_RUNTIME_REF_H

#include <atomic>
#include <cstdint>
#include <utility>

namespace astra {

/// The kinds of handle; the numbers are part of a handle's bits.
enum class Kind : uint8_t {
  None = 0,
  Device = 1,
  Stream = 2,
  Tensor = 3,
  Mapping = 4,
  Module = 5,
  Function = 6,
  Archive = 7,
  Event = 8
};

class Object {
public:
  Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  virtual ~Object() = default;

  /// A handle to the object takes `count` references beside the one that it
  /// was made with, and once it is gone gives back those that it still has.
  virtual void takeHandle(uint64_t count) { retainMore(count); }
  virtual void dropHandle(uint64_t held) { release(held); }

  void retain(uint64_t count = 1) const {
    references.fetch_add(count, std::memory_order_relaxed);
  }
  /// The same, cheaper where whoever calls has the only reference.
  void retainMore(uint64_t count) const {
    if (referenceCount() == 1)
      references.store(1 + count, std::memory_order_relaxed);
    else
      retain(count);
  }
  void release(uint64_t count = 1) const {
    // If these are all references, nobody else can make more meanwhile.
    if (references.load(std::memory_order_acquire) == count ||
        references.fetch_sub(count, std::memory_order_acq_rel) == count)
      delete this;
  }
  uint64_t referenceCount() const {
    return references.load(std::memory_order_acquire);
  }

protected:
  /// Gives references back that are not the last.
  void forget(uint64_t count) const {
    references.fetch_sub(count, std::memory_order_acq_rel);
  }

private:
  template <class T> friend class Ref;
  mutable std::atomic<uint64_t> references{0};
};

template <class T> class Ref {
public:
  Ref() = default;
  Ref(T *object) : object(object) {
    if (object)
      object->retain();
  }
  Ref(const Ref &other) : Ref(other.object) {}
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  template <class U>
  Ref(const Ref<U> &other) : Ref(static_cast<T *>(other.get())) {}
  template <class U>
  Ref(Ref<U> &&other) noexcept : object(static_cast<T *>(other.leak())) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() {
    if (object)
      object->release();
  }

  /// The first reference of an object that nobody else has seen.
  static Ref first(T *object) {
    static_cast<const Object *>(object)->references.store(
        1, std::memory_order_relaxed);
    return adopt(object);
  }
  /// Takes over a reference that is counted already.
  static Ref adopt(T *object) {
    Ref taken;
    taken.object = object;
    return taken;
  }
  /// Gives up the reference without counting down.
  T *leak() { return std::exchange(object, nullptr); }

  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }

private:
  T *object = nullptr;
};

template <class T, class... Args> Ref<T> make(Args &&...args) {
  return Ref<T>::first(new T(std::forward<Args>(args)...));
}

} // namespace astra
#endif // ASTRA_RUNTIME_REF_H
