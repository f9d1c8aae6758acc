// What astra-bits says at the end: one hash, or who differs and where.
#include "tools/astra-bits/Driver.h"
#include "tools/astra-bits/Inputs.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace astra;

/// Differences that are shown with their elements.
static constexpr size_t mostShown = 10;

std::string Driver::nameConfiguration(const Result &result) const {
  return builds[result.build].getName() + ", " + result.level +
         (builds[result.build].arm && result.level == "ref" ? " on Arm" : "") +
         ", " + result.threads +
         (result.threads == "1" ? " thread" : " threads");
}

/// The elements of a result, computed again.
std::string Driver::dump(const Difference &difference, const Result &result) {
  std::string file = files.add(".dump");
  Words words = getWorker(builds[result.build]);
  words.insert(words.end(),
               {"--levels", result.level, "--threads", result.threads,
                "--dump-key", difference.key, "--dump-file", file});
  runProgram(words, options.timeout);
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

namespace {
/// One output of a dump.
struct Output {
  std::string path;
  uint32_t dtype = 0;
  size_t bytes = 0, rank = 0;
  long long shape[16] = {};
  const char *data = nullptr;
};

bool takeOutput(const std::string &text, size_t &at, Output &output) {
  size_t end = text.find('\n', at);
  if (end == std::string::npos)
    return false;
  std::istringstream line(text.substr(at, end - at));
  line >> output.path >> output.dtype >> output.bytes;
  for (output.rank = 0; output.rank < 16 && line >> output.shape[output.rank];)
    ++output.rank;
  output.data = text.data() + end + 1;
  at = end + 1 + output.bytes;
  return at <= text.size();
}

std::string nameElement(const Output &output, size_t index) {
  std::string text = "]";
  for (size_t axis = output.rank; axis-- > 0;) {
    text = std::to_string(index % size_t(output.shape[axis])) +
           (text == "]" ? "" : ", ") + text;
    index /= size_t(output.shape[axis]);
  }
  return output.path + (output.rank ? "[" + text : "");
}
} // namespace

/// Where two results differ first.
std::string Driver::findElement(const Difference &difference,
                                const Result &other) {
  const Result &expected = difference.results.front();
  if (expected.status != "ok" || other.status != "ok")
    return expected.status + " / " + other.status;
  std::string a = dump(difference, expected), b = dump(difference, other);
  size_t atA = 0, atB = 0;
  Output x, y;
  while (takeOutput(a, atA, x) && takeOutput(b, atB, y)) {
    size_t width = getElementBytes(x.dtype);
    if (x.bytes != y.bytes || x.dtype != y.dtype)
      return x.path + " has another shape";
    for (size_t i = 0; i < x.bytes; i += width)
      if (std::memcmp(x.data + i, y.data + i, width))
        return nameElement(x, i / width) + ": " +
               printElement(x.dtype, x.data + i) + " / " +
               printElement(y.dtype, y.data + i);
  }
  return "the difference did not come back when it was computed again";
}

void Driver::printText(const std::vector<Difference> &differences) {
  for (const auto &[level, why] : machine.missing)
    std::printf("level %s left out: %s\n", level.c_str(), why.c_str());
  for (const std::string &note : comparison.getNotes())
    std::printf("%s\n", note.c_str());
  for (const std::string &note : notes)
    std::printf("%s\n", note.c_str());
  auto errors = comparison.getErrors();
  if (errors.size() == comparison.getKeyCount())
    std::printf("every call is an error, such as: %s\n",
                errors.front().second.c_str());
  std::printf("%s: %zu results of %zu computations, %zu of them errors, by %zu "
              "builds\n",
              options.file.c_str(), comparison.getResultCount(),
              comparison.getKeyCount(), errors.size(), builds.size());
  size_t shown = 0;
  for (const Difference &difference : differences) {
    if (++shown > mostShown)
      break;
    std::printf("DIFFERENT %s: %zu of %zu as %s\n", difference.key.c_str(),
                difference.agreeing, difference.all,
                nameConfiguration(difference.results.front()).c_str());
    for (size_t i = 1; i < difference.results.size(); ++i)
      std::printf("  %-40s %s\n",
                  nameConfiguration(difference.results[i]).c_str(),
                  findElement(difference, difference.results[i]).c_str());
  }
  if (differences.size() > mostShown)
    std::printf("and %zu more\n", differences.size() - mostShown);
  if (differences.empty())
    std::printf("sha256 %s\n", comparison.getHash().c_str());
}

static std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x",
                  static_cast<unsigned char>(c));
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else
      quoted +=
          static_cast<unsigned char>(c) < 0x20 ? escape : std::string(1, c);
  }
  return quoted + "\"";
}

template <class List, class Fn>
static std::string listOf(const List &list, Fn fn) {
  std::string text;
  for (const auto &each : list)
    text += (text.empty() ? "" : ", ") + fn(each);
  return "[" + text + "]";
}

void Driver::printJson(const std::vector<Difference> &differences) {
  Words all = notes;
  all.insert(all.end(), comparison.getNotes().begin(),
             comparison.getNotes().end());
  auto missing = [](const std::pair<std::string, std::string> &each) {
    return "{\"level\": " + quote(each.first) +
           ", \"why\": " + quote(each.second) + "}";
  };
  auto difference = [&](const Difference &each) {
    return "{\"computation\": " + quote(each.key) +
           ", \"agreeing\": " + std::to_string(each.agreeing) +
           ", \"results\": " + std::to_string(each.all) + ", \"distinct\": " +
           listOf(each.results,
                  [&](const Result &result) {
                    return "{\"configuration\": " +
                           quote(nameConfiguration(result)) +
                           ", \"sha256\": " + quote(result.hash) +
                           ", \"status\": " + quote(result.status) + "}";
                  }) +
           "}";
  };
  std::printf(
      "{\"file\": %s, \"agree\": %s, \"sha256\": %s,\n"
      " \"computations\": %zu, \"results\": %zu, \"errors\": %zu, "
      "\"builds\": %zu,\n \"missing_levels\": %s,\n \"notes\": %s,\n"
      " \"differences\": %s}\n",
      quote(options.file).c_str(), differences.empty() ? "true" : "false",
      differences.empty() ? quote(comparison.getHash()).c_str() : "null",
      comparison.getKeyCount(), comparison.getResultCount(),
      comparison.getErrors().size(), builds.size(),
      listOf(machine.missing, missing).c_str(), listOf(all, quote).c_str(),
      listOf(differences, difference).c_str());
}

int Driver::report() {
  std::vector<Difference> differences = comparison.getDifferences(builds);
  if (options.json)
    printJson(differences);
  else
    printText(differences);
  return differences.empty() ? 0 : 1;
}
