// Partitions, and whether slices are disjoint; see Partition.h. Two slices of a
// buffer share an element if and only if they share an index on every axis, and
// on an axis two arithmetic progressions meet if and only if two congruences
// have a common solution within both ranges.
#include "core/Partition.h"
#include <algorithm>

namespace astra {
namespace {

using Wide = __int128;

/// first + k * step for k below count, with a positive step.
struct Progression {
  int64_t first, step, count;

  int64_t last() const { return first + (count - 1) * step; }
};

Progression progressionOf(const Slices &slices, size_t part, uint32_t axis) {
  int64_t start = slices.starts[part * slices.rank + axis];
  int64_t count = slices.extents[part * slices.rank + axis];
  int64_t step = slices.step(part, axis);
  if (count <= 1)
    return {start, 1, count};
  return step > 0 ? Progression{start, step, count}
                  : Progression{start + (count - 1) * step, -step, count};
}

/// The greatest common divisor, and x with a * x = it modulo b.
int64_t commonDivisor(int64_t a, int64_t b, int64_t &x) {
  int64_t oldX = 1, nextX = 0;
  while (b) {
    int64_t quotient = a / b, rest = a % b, older = oldX;
    a = b;
    b = rest;
    oldX = nextX;
    nextX = older - quotient * nextX;
  }
  x = oldX;
  return a;
}

bool meet(const Progression &a, const Progression &b) {
  if (a.count == 0 || b.count == 0)
    return false;
  int64_t inverse = 0;
  int64_t divisor = commonDivisor(a.step, b.step, inverse);
  if ((b.first - a.first) % divisor)
    return false;
  // The common elements are those of one progression of step lcm.
  Wide lcm = Wide(a.step) / divisor * b.step;
  Wide turns = Wide(b.first - a.first) / divisor * inverse % (b.step / divisor);
  Wide common = a.first + turns * a.step;
  Wide low = std::max(a.first, b.first), high = std::min(a.last(), b.last());
  Wide offset = (common - low) % lcm;
  if (offset < 0)
    offset += lcm;
  return low + offset <= high;
}

std::string textOf(const Slices &slices, size_t part) {
  std::string text;
  for (uint32_t axis = 0; axis < slices.rank; ++axis) {
    Progression range = progressionOf(slices, part, axis);
    text += join(axis ? ", " : "[", range.first, "..", range.last() + 1);
    if (range.step != 1)
      text += join(" by ", range.step);
  }
  return text + "]";
}

bool overlap(const Slices &slices, size_t a, size_t b) {
  for (uint32_t axis = 0; axis < slices.rank; ++axis) {
    if (!meet(progressionOf(slices, a, axis), progressionOf(slices, b, axis)))
      return false;
  }
  return true;
}

} // namespace

Status checkDisjoint(const Slices &slices) {
  for (size_t part = 0; part < slices.count; ++part) {
    for (uint32_t axis = 0; axis < slices.rank; ++axis) {
      if (slices.extents[part * slices.rank + axis] > 1 &&
          slices.step(part, axis) == 0)
        return fail(ASTRA_ERROR_INVALID_ARGUMENT, "part ", part,
                    " has step 0 on axis ", axis,
                    ", so an element would be written twice");
    }
    for (size_t other = 0; other < part; ++other) {
      if (overlap(slices, other, part))
        return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the parts ", other, " ",
                    textOf(slices, other), " and ", part, " ",
                    textOf(slices, part),
                    " overlap; each element may be in one part only");
    }
  }
  return {};
}

void Partition::close(const Ref<Completion> &work) {
  std::lock_guard<std::mutex> lock(mutex);
  if (work)
    works.push_back(work); // has room: reserved by the maker
  --open;
}

Status Partition::checkClosed() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (open == 0)
    return {};
  return fail(ASTRA_ERROR_BUSY, open, " part", open == 1 ? "" : "s",
              " of the tensor may still be written; write, read or release "
              "them first");
}

Ref<Completion> Partition::workAt(size_t index) const {
  std::lock_guard<std::mutex> lock(mutex);
  return index < works.size() ? works[index] : Ref<Completion>();
}

Ref<Completion> Partition::missing() const {
  for (size_t i = 0;; ++i) {
    Ref<Completion> work = workAt(i);
    if (!work || !work->isDone())
      return work;
  }
}

Status Partition::wait() const {
  ASTRA_TRY(checkClosed());
  for (size_t i = 0;; ++i) {
    Ref<Completion> work = workAt(i);
    if (!work)
      return {};
    ASTRA_TRY(work->wait());
  }
}

uint32_t Partition::state() const {
  if (!checkClosed().ok())
    return ASTRA_TENSOR_PENDING;
  uint32_t result = ASTRA_TENSOR_READY;
  for (size_t i = 0;; ++i) {
    Ref<Completion> work = workAt(i);
    uint32_t state = work ? work->state() : uint32_t(ASTRA_TENSOR_READY);
    if (!work || state == ASTRA_TENSOR_PENDING)
      return work ? state : result;
    if (state == ASTRA_TENSOR_FAILED)
      result = state;
  }
}

} // namespace astra
