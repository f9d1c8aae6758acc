// Slices of one buffer that are written at the same time. A partition counts
// the parts that may still be written, and knows the work that writes the
// others; the whole can be read once there are none left.
#ifndef ASTRA_RUNTIME_PARTITION_H
#define ASTRA_RUNTIME_PARTITION_H

#include "core/Completion.h"
#include <mutex>
#include <vector>

namespace astra {

/// The slices of one partition, `rank` numbers for each.
struct Slices {
  uint32_t rank;
  size_t count;
  const int64_t *starts, *extents, *steps; // steps may be null: 1

  int64_t step(size_t part, uint32_t axis) const {
    return steps ? steps[part * rank + axis] : 1;
  }
};

/// Refuses slices of which two share an element, or one has an element twice.
Status checkDisjoint(const Slices &slices);

class Partition : public Object {
public:
  explicit Partition(size_t parts) : open(parts) { works.reserve(parts); }

  /// A part cannot be written any more, but by `work`, which may be null.
  void close(const Ref<Completion> &work);
  /// Refused while parts may still be written.
  Status checkClosed() const;
  /// The first work that is not done.
  Ref<Completion> missing() const;
  /// Waits for all work; the first failure.
  Status wait() const;
  /// ASTRA_TENSOR_*; pending too while parts may still be written.
  uint32_t state() const;

private:
  Ref<Completion> workAt(size_t index) const;

  mutable std::mutex mutex;
  size_t open;
  std::vector<Ref<Completion>> works;
};

} // namespace astra
#endif // ASTRA_RUNTIME_PARTITION_H
