// What traced streams have done, one event for each kernel and each call, kept
// until it is cleared. Knows modules for the names of things, no device.
#ifndef ASTRA_RUNTIME_TRACE_H
#define ASTRA_RUNTIME_TRACE_H

#include "core/Cost.h"
#include "core/Module.h"
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace astra {

/// What the calls of a stream are watched for, in one word: a bit for the
/// trace, bits for ASTRA_CHECK_*, and the stream's number. The bits are 0 for
/// nothing.
struct Watch {
  static constexpr uint32_t bits = 7, trace = 1, checkShift = 1;
  static constexpr uint32_t numberShift = 3;
  static uint32_t checks(uint32_t watch) {
    return (watch & bits) >> checkShift;
  }
};

class Trace {
public:
  static constexpr size_t mostEvents = size_t(1) << 20;
  static constexpr size_t wholeCall = SIZE_MAX;
  using Traits = std::shared_ptr<const std::vector<KernelTraits>>;

  /// A kernel's run as the thread that watches a call notes it down; the
  /// whole call has the import `wholeCall`.
  struct Note {
    size_t import;
    int64_t location; // among the module's, or -1
    const astra_fused_desc_t *fused;
    uint64_t thread, start, end; // nanoseconds
    Cost cost;
  };
  /// The texts of an event, which live as long as the trace.
  struct Site {
    const char *function, *kernel, *source;
  };
  struct Event {
    Site site;
    uint64_t stream;
    Note note;
  };

  /// A number for a stream that is traced for the first time, from 1 on.
  uint32_t nextStream() { return streams.fetch_add(1) + 1; }
  /// Nanoseconds since the runtime was made.
  uint64_t now() const {
    return uint64_t(std::chrono::nanoseconds(Clock::now() - origin).count());
  }
  /// The rows of kernels.def for a module's imports.
  Traits traitsOf(const Ref<Module> &module);
  /// Adds what one call has done, as far as there is room and memory.
  void add(const Ref<Module> &module, const astra_export_desc_t &function,
           uint64_t stream, const std::vector<Note> &notes) noexcept;

  void count(size_t &eventCount, size_t &droppedCount) const;
  Status get(size_t index, Event &event) const;
  void clear();
  Status save(const std::string &path) const;

private:
  using Clock = std::chrono::steady_clock;
  using Key = std::tuple<const astra_export_desc_t *, size_t,
                         const astra_fused_desc_t *, int64_t>;
  Site siteOf(const Module &module, const astra_export_desc_t &function,
              const Note &note);
  const char *keep(const std::string &text) {
    return texts.insert(text).first->c_str();
  }

  const Clock::time_point origin = Clock::now();
  std::atomic<uint32_t> streams{0};
  mutable std::mutex mutex; // guards all below
  /// Kept, so that their addresses stay theirs.
  std::map<Module *, std::pair<Ref<Module>, Traits>> modules;
  std::map<Key, Site> sites;
  std::set<std::string> texts; // of all events that ever were, each once
  std::deque<Event> events;
  size_t dropped = 0;
};

} // namespace astra
#endif // ASTRA_RUNTIME_TRACE_H
