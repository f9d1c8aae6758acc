// A row of values that needs memory of its own only if it is longer than most
// are. Knows nothing of what they mean.
#ifndef ASTRA_RUNTIME_SMALLVECTOR_H
#define ASTRA_RUNTIME_SMALLVECTOR_H

#include <cstddef>
#include <utility>
#include <vector>

namespace astra {

template <class T, size_t Inline> class SmallVector {
public:
  SmallVector() = default;
  SmallVector(const SmallVector &) = delete;
  SmallVector &operator=(const SmallVector &) = delete;

  /// Makes it `size` values long, unspecified where T has no constructor; done
  /// once.
  void resize(size_t size) {
    if (size > Inline)
      beyond.resize(size);
    count = size;
  }
  void clear() {
    for (T &value : *this)
      value = T();
    count = 0;
  }
  size_t size() const { return count; }
  T *data() { return beyond.empty() ? within : beyond.data(); }
  const T *data() const { return beyond.empty() ? within : beyond.data(); }
  T &operator[](size_t index) { return data()[index]; }
  const T &operator[](size_t index) const { return data()[index]; }
  T *begin() { return data(); }
  T *end() { return data() + count; }
  const T *begin() const { return data(); }
  const T *end() const { return data() + count; }

private:
  size_t count = 0;
  T within[Inline];
  std::vector<T> beyond;
};

} // namespace astra
#endif // ASTRA_RUNTIME_SMALLVECTOR_H
