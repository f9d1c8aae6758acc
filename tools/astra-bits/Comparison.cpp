// See Comparison.h. A batch in which one row alone is an error is an error as a
// whole, so its rows are compared only where all of them have results.
#include "tools/astra-bits/Comparison.h"
#include "examples/common/sha256.h"
#include "tools/astra-bits/Worker.h"
#include <cstdlib>

using namespace astra;

static std::vector<std::string> splitAt(const std::string &text, char mark) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = text.find(mark, begin);
    end = end == std::string::npos ? text.size() : end;
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string Build::getName() const {
  return "-O" + optimisation + " --fuse=" + fuse + (batched ? ", batch" : "");
}

static size_t toNumber(const std::string &text) {
  return size_t(std::strtoull(text.c_str(), nullptr, 10));
}

bool Comparison::add(const std::vector<Build> &builds,
                     const std::vector<size_t> &modules,
                     const std::string &lines, size_t &last,
                     std::string &error) {
  for (const std::string &line : splitAt(lines, '\n')) {
    std::vector<std::string> fields = splitAt(line, '\t');
    if (fields[0] == BuildLine && toNumber(fields.back()) < modules.size())
      last = modules[toNumber(fields.back())];
    else if (fields[0] == ResultLine && fields.size() == 6)
      results[fields[3]].push_back(
          {last, fields[1], fields[2], toNumber(fields[4]), fields[5]});
    else if (fields[0] == LinalgLine)
      linalg.insert(fields.back());
    else if (fields[0] == NoteLine && !builds[last].batched)
      notes.insert(fields.back());
    else if (fields[0] == FewLine)
      notes.insert(fields.back());
    else if (fields[0] == FailedLine)
      return error = fields.back(), false;
  }
  return true;
}

/// The key without its row.
static std::string groupOf(const std::string &key) {
  return key.substr(0, key.rfind(' ') + 1);
}

bool Comparison::isComparable(const std::vector<Build> &builds,
                              const std::string &key,
                              const Result &result) const {
  if (!builds[result.build].batched)
    return true;
  std::string group = groupOf(key);
  for (auto each = results.lower_bound(group);
       each != results.end() && groupOf(each->first) == group; ++each)
    for (const Result &row : each->second)
      if (!builds[row.build].batched && row.status != "ok")
        return false;
  return true;
}

std::vector<Difference>
Comparison::getDifferences(const std::vector<Build> &builds) const {
  std::vector<Difference> differences;
  for (const auto &[key, list] : results) {
    std::vector<Result> distinct;
    size_t agreeing = 0, all = 0;
    for (const Result &result : list) {
      if (!isComparable(builds, key, result))
        continue;
      bool isNew = true;
      for (const Result &known : distinct)
        isNew &= known.number != result.number;
      if (isNew)
        distinct.push_back(result);
      agreeing += result.number == distinct.front().number;
      ++all;
    }
    bool isAlone = false;
    for (const Result &result : list)
      isAlone |= !builds[result.build].batched;
    if (distinct.size() > 1 || !isAlone)
      differences.push_back({key, distinct, agreeing, all});
  }
  return differences;
}

std::string Comparison::getHash(const Store &store) const {
  sha256_t hash;
  sha256_start(&hash);
  for (const auto &[key, list] : results) {
    sha256_add(&hash, key.data(), key.size() + 1);
    std::string result = store.getHash(list.front().number);
    sha256_add(&hash, result.data(), result.size());
  }
  char text[65];
  sha256_finish(&hash, text);
  return text;
}

bool Comparison::hasFunction(const std::string &name) const {
  auto found = results.lower_bound(name + " ");
  return found != results.end() &&
         !found->first.compare(0, name.size() + 1, name + " ");
}

size_t Comparison::getResultCount() const {
  size_t count = 0;
  for (const auto &[key, list] : results)
    count += list.size();
  return count;
}

size_t Comparison::getErrorCount() const {
  size_t count = 0;
  for (const auto &[key, list] : results)
    count += list.front().status != "ok";
  return count;
}

/// The function or test that a key begins with.
static std::string functionOf(const std::string &key) {
  size_t quote = key.rfind('"');
  return key.substr(0, quote == std::string::npos ? key.find(' ') : quote + 1);
}

std::vector<std::string> Comparison::describeErrors() const {
  struct Count {
    size_t all = 0, errors = 0;
    std::string status; // of the first error
  };
  std::map<std::string, Count> counts;
  for (const auto &[key, list] : results) {
    Count &count = counts[functionOf(key)];
    ++count.all;
    if (list.front().status != "ok" && count.errors++ == 0)
      count.status = list.front().status;
  }
  std::vector<std::string> sentences;
  for (const auto &[name, count] : counts)
    if (count.errors > 0)
      sentences.push_back(name + ": " + std::to_string(count.errors) + " of " +
                          std::to_string(count.all) +
                          " computations are errors, such as: " + count.status);
  return sentences;
}
