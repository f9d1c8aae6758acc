// The results of all configurations, gathered by what was computed, and which
// of them differ. Knows lines of workers, runs nothing.
#ifndef ASTRA_TOOLS_ASTRA_BITS_COMPARISON_H
#define ASTRA_TOOLS_ASTRA_BITS_COMPARISON_H

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

  /// "-O2 --fuse=on, batch"
  std::string getName() const;
};

struct Result {
  size_t build;
  std::string level, threads, hash, status;
};

struct Difference {
  std::string key;
  std::vector<Result> results; // one for each hash, the expected one first
  size_t agreeing, all;        // how many give the expected hash
};

class Comparison {
public:
  /// Takes what a worker printed; false, with a sentence, if it failed.
  bool add(const std::vector<Build> &builds, size_t build,
           const std::string &lines, std::string &error);
  std::vector<Difference>
  getDifferences(const std::vector<Build> &builds) const;
  /// One hash of all keys and their results.
  std::string getHash() const;

  /// Has a function of this name given any result?
  bool hasFunction(const std::string &name) const;
  size_t getKeyCount() const { return results.size(); }
  size_t getResultCount() const;
  /// Keys for which every configuration gives an error, with its sentence.
  std::vector<std::pair<std::string, std::string>> getErrors() const;
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
