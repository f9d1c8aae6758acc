// Numbers, texts and choices taken from the input of a fuzzer, from its front
// on; zeros where it has ended. Knows nothing of what is fuzzed.
#ifndef ASTRA_TEST_FUZZ_BYTES_H
#define ASTRA_TEST_FUZZ_BYTES_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace astra::fuzz {

class Bytes {
public:
  Bytes(const uint8_t *data, size_t size) : next(data), end(data + size) {}

  bool empty() const { return next == end; }
  template <class T> T take() {
    T value{};
    size_t size = std::min(sizeof(T), size_t(end - next));
    if (size)
      std::memcpy(&value, next, size);
    next += size;
    return value;
  }
  /// A number below `count`, which is at most 256.
  unsigned below(unsigned count) { return take<uint8_t>() % count; }
  /// True once in `count` times.
  bool oneIn(unsigned count) { return below(count) == count - 1; }
  /// Mostly small, sometimes any.
  int64_t number() { return oneIn(16) ? take<int64_t>() : take<int8_t>(); }
  std::string text(size_t most) {
    size_t size =
        std::min({size_t(below(unsigned(most) + 1)), size_t(end - next)});
    std::string taken(reinterpret_cast<const char *>(next), size);
    next += size;
    return taken;
  }

private:
  const uint8_t *next, *end;
};

} // namespace astra::fuzz
#endif // ASTRA_TEST_FUZZ_BYTES_H
