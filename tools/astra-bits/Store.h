// Results as bytes, in one file that the workers of all builds and processors
// share: each different result of a computation is there once, whatever the
// number of configurations that give it. So equal means equal bytes, and a hash
// is made once, by the native program, not under an emulator. Knows bytes and
// dtypes, no runtime.
#ifndef ASTRA_TOOLS_ASTRA_BITS_STORE_H
#define ASTRA_TOOLS_ASTRA_BITS_STORE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace astra {

/// A tensor on the host, dense and canonical.
struct Host {
  std::string path; // of an output, "result.loss"
  uint32_t dtype = 0;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

/// What one computation gave: an error, or tensors.
struct Outcome {
  int32_t code = 0;
  std::string status = "ok"; // or the error's sentence; not stored
  std::vector<Host> outputs;
};

class Store {
public:
  Store() = default;
  Store(const Store &) = delete;
  ~Store();

  /// Makes the file, or finds what others have left in it; false if neither.
  bool open(const std::string &path);
  /// Reads what another process has added.
  bool update();
  /// The number of this result of the computation `key`; -1 if it cannot be
  /// written.
  int64_t add(const std::string &key, const Outcome &result);
  bool read(size_t number, Outcome &result) const;
  /// SHA-256 of the code, and of dtype, shape and bytes of each output; "" if
  /// there is no such result.
  std::string getHash(size_t number) const;

private:
  struct Record {
    std::string head; // the code, and a line for each output
    uint64_t data;    // where the bytes of the outputs begin
  };
  bool isSame(const Record &record, const Outcome &result) const;
  bool readAll(uint64_t at, void *data, size_t bytes) const;

  int file = -1;
  uint64_t end = 0;
  std::vector<Record> records;
  std::multimap<std::string, size_t> numbers; // by key
};

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_STORE_H
