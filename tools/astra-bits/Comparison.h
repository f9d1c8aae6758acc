// The results of all configurations, gathered by what was computed, and which
// of them differ. Knows lines of workers, runs nothing.
#ifndef ASTRA_TOOLS_ASTRA_BITS_COMPARISON_H
#define ASTRA_TOOLS_ASTRA_BITS_COMPARISON_H

#include "tools/astra-bits/Store.h"
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace astra {

/// One way to compile a program.
struct Build {
  std::string optimisation, fuse;
  bool arm = false, batched = false, tests = false;
  std::string module; // its file
  /// The first build whose file has the same bytes: only that one runs.
  size_t sameAs;

  /// "-O2 --fuse=on, batch"
  std::string getName() const;
};

struct Result {
  size_t build;
  std::string level, threads;
  size_t number; // in the Store: the same for equal results
  std::string status;
};

struct Difference {
  std::string key;
  std::vector<Result> results; // one for each hash, the expected one first
  size_t agreeing, all;        // how many give the expected hash
};

class Comparison {
public:
  /// Takes what a worker printed of some modules, given as their builds; false,
  /// with a sentence, if it failed. `last` is the build that it was at.
  bool add(const std::vector<Build> &builds, const std::vector<size_t> &modules,
           const std::string &lines, size_t &last, std::string &error);
  std::vector<Difference>
  getDifferences(const std::vector<Build> &builds) const;
  /// One hash of all keys and their results.
  std::string getHash(const Store &store) const;

  /// Has a function of this name given any result?
  bool hasFunction(const std::string &name) const;
  size_t getKeyCount() const { return results.size(); }
  size_t getResultCount() const;
  /// How many computations are errors.
  size_t getErrorCount() const;
  /// A sentence for each function of which some are, with one of the errors.
  std::vector<std::string> describeErrors() const;
  const std::set<std::string> &getNotes() const { return notes; }
  const std::set<std::string> &getLinalg() const { return linalg; }

private:
  bool isComparable(const std::vector<Build> &builds, const std::string &key,
                    const Result &result) const;

  std::map<std::string, std::vector<Result>> results;
  std::set<std::string> notes, linalg;
};

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_COMPARISON_H
