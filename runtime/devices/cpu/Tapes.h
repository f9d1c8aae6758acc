// The tapes of one call (module.h): memory in chunks that stay where they are.
// Knows the pool that chunks come from and no call.
#ifndef ASTRA_RUNTIME_TAPES_H
#define ASTRA_RUNTIME_TAPES_H

#include "core/Memory.h"
#include <memory>
#include <vector>

namespace astra {

/// Entries of one size. The first chunks grow by doubling; once a chunk is a
/// MiB, or one entry, the others are like it.
class Tape {
public:
  /// The entry, made if the tape does not reach it; null if there is no memory.
  void *entry(MemoryPool &pool, int64_t index, int64_t size);
  int64_t length() const { return reached; }
  void clear(MemoryPool &pool);
  /// An entry that was made before, or null.
  void *find(int64_t index) const;

private:
  struct Place {
    size_t chunk;
    int64_t begin, count; // entries of the chunk
  };
  Place placeOf(int64_t index) const;
  bool makeChunk(MemoryPool &pool, const Place &place);

  int64_t bytes = -1; // of an entry; -1: not known yet
  unsigned firstLog = 0, doublings = 0;
  int64_t reached = 0;
  std::vector<Block> chunks; // null: none of its entries was asked for
};

class Tapes {
public:
  explicit Tapes(MemoryPool &pool) : pool(pool) {}
  ~Tapes();
  Tapes(const Tapes &) = delete;
  Tapes &operator=(const Tapes &) = delete;

  /// Null if there is no memory, as entry().
  Tape *open() noexcept;
  void *entry(Tape &tape, int64_t index, int64_t bytes) noexcept;
  void close(Tape &tape, uint32_t depth) noexcept;

private:
  MemoryPool &pool;
  std::vector<std::unique_ptr<Tape>> all;
  std::vector<Tape *> closed; // to be opened again; room for all of them
};

} // namespace astra
#endif // ASTRA_RUNTIME_TAPES_H
