// See Schedule.h.
#include "tools/astra-bits/Schedule.h"
#include <algorithm>
#include <cstdio>

using namespace astra;

/// Configurations of each level that run in any case.
static constexpr size_t fewest = 2;

namespace {
class Steps {
public:
  explicit Steps(const Options &options) : options(options) {
    for (size_t i = 0; i < options.modules.size(); ++i) {
      const WorkerModule &module = options.modules[i];
      Ends &ends = module.batched ? batched : module.tests ? tests : alone;
      ends.first = std::min(ends.first, i);
      ends.last = i;
    }
  }

  std::vector<Step> get() {
    const Words &runs = options.runs;
    for (size_t first = 0, end = 0; first < runs.size(); first = end) {
      std::string level = getLevel(first);
      while (end < runs.size() && getLevel(end) == level)
        ++end;
      if (level != options.spare)
        addEnds(first, end - 1);
    }
    for (size_t d = 0; d < runs.size(); ++d)
      for (size_t i = 0; i < options.modules.size(); ++i)
        add(i, (i + d) % runs.size());
    return steps;
  }

private:
  struct Ends {
    size_t first = SIZE_MAX, last = SIZE_MAX;
  };

  std::string getLevel(size_t run) const {
    return options.runs[run].substr(0, options.runs[run].find(':'));
  }

  /// Exports that are in no batch have the last module alone instead.
  void addEnds(size_t first, size_t last) {
    add(alone.first, first);
    add(tests.first, first);
    add(batched.last, last);
    add(tests.last, last);
    add(alone.last, last);
  }

  void add(size_t module, size_t run) {
    if (module == SIZE_MAX || !known.emplace(module, run).second)
      return;
    const std::string &words = options.runs[run];
    steps.push_back({module, getLevel(run), words.substr(words.find(':') + 1)});
  }

  const Options &options;
  Ends alone, tests, batched;
  std::set<std::pair<size_t, size_t>> known;
  std::vector<Step> steps;
};
} // namespace

std::vector<Step> astra::getSteps(const Options &options) {
  return Steps(options).get();
}

bool Budget::isWanted(const std::string &name, const std::string &level) {
  Use &use = uses[name];
  const Level &here = use.levels[level];
  bool isWanted = options.budget == 0 ||
                  (here.count < fewest && level != options.spare) ||
                  use.seconds + here.last <= double(options.budget);
  use.skipped += !isWanted;
  return isWanted;
}

void Budget::add(const std::string &name, const std::string &level,
                 double seconds) {
  Use &use = uses[name];
  use.seconds += seconds;
  ++use.levels[level].count;
  use.levels[level].last = seconds;
}

Words Budget::getNotes() const {
  Words notes;
  for (const auto &[name, use] : uses) {
    if (!use.skipped)
      continue;
    size_t all = use.skipped;
    std::string at;
    for (const auto &[level, each] : use.levels) {
      all += each.count;
      at += (at.empty() ? "" : ", ") + std::to_string(each.count) + " at " +
            level;
    }
    char text[64];
    std::snprintf(text, sizeof text, " of %zu configurations in %.0f s (", all,
                  use.seconds);
    notes.push_back(name + ": " + std::to_string(all - use.skipped) + text +
                    at + ")");
  }
  return notes;
}
