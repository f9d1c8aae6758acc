// Chunks of tapes; see Tapes.h. An entry is found by arithmetic alone, so that
// it costs the same in a tape of any length.
#include "devices/cpu/Tapes.h"
#include <algorithm>
#include <cstring>

namespace astra {
namespace {

constexpr int64_t firstChunkBytes = 1024, lastChunkBytes = int64_t(1) << 20;

unsigned floorLog(int64_t value) {
  return 63 - unsigned(__builtin_clzll(uint64_t(value)));
}

/// How many entries, as a power of two, a chunk of these bytes has.
unsigned entriesLog(int64_t chunkBytes, int64_t bytes) {
  return floorLog(
      std::max<int64_t>(chunkBytes / std::max<int64_t>(bytes, 1), 1));
}

} // namespace

Tape::Place Tape::placeOf(int64_t index) const {
  int64_t first = int64_t(1) << firstLog;
  unsigned level = floorLog((index >> firstLog) + 1);
  if (level < doublings)
    return {level, first * ((int64_t(1) << level) - 1), first << level};
  // Behind the chunks that double all are of one size.
  int64_t start = first * ((int64_t(1) << doublings) - 1);
  unsigned lastLog = firstLog + doublings;
  int64_t chunk = (index - start) >> lastLog;
  return {doublings + size_t(chunk), start + (chunk << lastLog),
          int64_t(1) << lastLog};
}

void *Tape::find(int64_t index) const {
  Place place = placeOf(index);
  if (place.chunk >= chunks.size() || !chunks[place.chunk])
    return nullptr;
  return static_cast<char *>(chunks[place.chunk].memory) +
         (index - place.begin) * bytes;
}

void *Tape::entry(MemoryPool &pool, int64_t index, int64_t size) {
  if (bytes < 0) {
    bytes = size;
    firstLog = entriesLog(firstChunkBytes, bytes);
    doublings = entriesLog(lastChunkBytes, bytes) - firstLog;
  }
  reached = std::max(reached, index + 1);
  if (void *found = find(index))
    return found;
  Place place = placeOf(index);
  if (!makeChunk(pool, place))
    return nullptr;
  return find(index);
}

bool Tape::makeChunk(MemoryPool &pool, const Place &place) {
  if (place.chunk >= chunks.size())
    chunks.resize(place.chunk + 1);
  size_t size = size_t(place.count * bytes);
  Block block = pool.allocate(size);
  if (block)
    std::memset(block.memory, 0, size);
  chunks[place.chunk] = block;
  return bool(block);
}

void Tape::clear(MemoryPool &pool) {
  for (const Block &chunk : chunks) {
    if (chunk)
      pool.release(chunk);
  }
  chunks.clear();
  bytes = -1;
  reached = 0;
}

Tapes::~Tapes() {
  for (const std::unique_ptr<Tape> &tape : all)
    tape->clear(pool);
}

Tape *Tapes::open() noexcept {
  if (!closed.empty()) {
    Tape *tape = closed.back();
    closed.pop_back();
    return tape;
  }
  try {
    closed.reserve(all.size() + 1);
    all.push_back(std::make_unique<Tape>());
    return all.back().get();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void *Tapes::entry(Tape &tape, int64_t index, int64_t bytes) noexcept {
  try {
    return tape.entry(pool, index, bytes);
  } catch (const std::exception &) {
    return nullptr; // the list of chunks
  }
}

void Tapes::close(Tape &tape, uint32_t depth) noexcept {
  if (depth > 1)
    for (int64_t i = 0; i < tape.length(); ++i) {
      void *entry = tape.find(i), *inner = nullptr;
      if (entry)
        std::memcpy(&inner, entry, sizeof inner);
      if (inner)
        close(*static_cast<Tape *>(inner), depth - 1);
    }
  tape.clear(pool);
  closed.push_back(&tape); // has room since open()
}

} // namespace astra
