// In which order a worker runs its configurations, and when one computation has
// had enough of them. Knows names and seconds, no runtime.
#ifndef ASTRA_TOOLS_ASTRA_BITS_SCHEDULE_H
#define ASTRA_TOOLS_ASTRA_BITS_SCHEDULE_H

#include "tools/astra-bits/Options.h"
#include <map>
#include <set>

namespace astra {

/// One module at one level on so many threads.
struct Step {
  size_t module;
  std::string level, threads;
};

/// Every module with every run. First come the two ends of all settings at each
/// level (but those that can be spared): the first module alone on the first
/// number of threads, the last one in a batch on the last. Then each module
/// once, each with another run than the one before it, and so on: wherever it
/// stops, what has run is spread over all settings.
std::vector<Step> getSteps(const Options &options);

/// Seconds for each computation, of one processor. Two configurations at each
/// level run however long they take.
class Budget {
public:
  explicit Budget(const Options &options) : options(options) {}

  /// Shall it run once more? If not, that is counted.
  bool isWanted(const std::string &name, const std::string &level);
  void add(const std::string &name, const std::string &level, double seconds);
  /// A sentence for each computation that did not run everywhere.
  Words getNotes() const;

private:
  struct Level {
    size_t count = 0;
    double last = 0; // seconds
  };
  struct Use {
    size_t skipped = 0;
    double seconds = 0;
    std::map<std::string, Level> levels;
  };
  const Options &options;
  std::map<std::string, Use> uses;
};

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_SCHEDULE_H
