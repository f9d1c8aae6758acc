// See FailingNew.h.
#include "FailingNew.h"
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> untilFailure{INT64_MAX};
std::atomic<int64_t> blocks{0};

std::atomic<int64_t> failures{0};
std::atomic<int64_t> first{INT64_MAX};

bool failsNow() {
  int64_t left = untilFailure.fetch_sub(1);
  return left <= 0 && left > -failures;
}

void *allocate(size_t bytes) {
  if (failsNow())
    throw std::bad_alloc();
  void *memory = std::malloc(bytes ? bytes : 1);
  if (!memory)
    throw std::bad_alloc();
  ++blocks;
  return memory;
}

void release(void *memory) {
  blocks -= memory != nullptr;
  std::free(memory);
}

} // namespace

void *operator new(size_t bytes) { return allocate(bytes); }
void *operator new[](size_t bytes) { return allocate(bytes); }
void operator delete(void *memory) noexcept { release(memory); }
void operator delete[](void *memory) noexcept { release(memory); }
void operator delete(void *memory, size_t) noexcept { release(memory); }
void operator delete[](void *memory, size_t) noexcept { release(memory); }

namespace astra::test {

void failFrom(int64_t n, int64_t count) {
  failures = count;
  first = n;
  untilFailure = n;
}

int64_t allocationsSince() { return first - untilFailure; }

bool healMemory() { return untilFailure.exchange(INT64_MAX) < 0; }

int64_t liveBlocks() { return blocks; }

astra_allocator_t failingAllocator() {
  return {nullptr,
          [](void *, size_t bytes, size_t alignment) {
            return failsNow() ? nullptr : std::aligned_alloc(alignment, bytes);
          },
          [](void *, void *memory, size_t, size_t) { std::free(memory); }};
}

} // namespace astra::test
