// Compiles a program in every way, runs the builds in a worker for each
// processor, compares.
#ifndef ASTRA_TOOLS_ASTRA_BITS_DRIVER_H
#define ASTRA_TOOLS_ASTRA_BITS_DRIVER_H

#include "tools/astra-bits/Comparison.h"
#include "tools/astra-bits/Options.h"
#include "tools/astra-bits/Process.h"
#include <chrono>

namespace astra {

/// What can run here, of what was asked for.
struct Machine {
  Words native, arm;                                        // levels
  std::vector<std::pair<std::string, std::string>> missing; // level, why
  Words armCommand; // how astra-bits runs for Arm
};

class Driver {
public:
  explicit Driver(const Options &options) : options(options) {}
  int run();

private:
  bool complain(const std::string &text) const;
  bool findMachine();
  bool findArm(std::string &why);
  bool addBuilds(bool arm, bool batched, bool tests);
  bool addBuild(Build build);
  size_t findSame(const Build &build) const;
  bool hasTests(const Build &build);
  void showProgress(const std::vector<size_t> &modules, bool arm,
                    const std::string &output);
  bool runBuilds(size_t first, bool arm);
  Words getRuns(bool arm) const;
  Words getWorker(const std::vector<size_t> &modules, bool arm) const;
  size_t countSame() const;
  std::string findElement(const Difference &difference, const Result &other);
  std::string nameConfiguration(const Result &result) const;
  std::string whyNot(const std::string &name) const;
  int report();
  void printText(const std::vector<Difference> &differences);
  void printJson(const std::vector<Difference> &differences);

  const Options &options;
  Machine machine;
  TemporaryFiles files;
  std::string resultsFile;
  std::chrono::steady_clock::time_point shown; // progress
  Store store;                                 // of that file
  std::vector<Build> builds;
  Comparison comparison;
  std::vector<std::string> notes;
};

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_DRIVER_H
