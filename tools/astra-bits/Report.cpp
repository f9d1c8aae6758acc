// What astra-bits says at the end: one hash, or who differs and where.
#include "tools/astra-bits/Driver.h"
#include "tools/astra-bits/Inputs.h"
#include <cstdio>
#include <cstring>

using namespace astra;

/// Differences that are shown with their elements.
static constexpr size_t mostShown = 10;

std::string Driver::nameConfiguration(const Result &result) const {
  return builds[result.build].getName() + ", " + result.level +
         (builds[result.build].arm && result.level == "ref" ? " on Arm" : "") +
         ", " + result.threads +
         (result.threads == "1" ? " thread" : " threads");
}

static std::string nameElement(const Host &output, size_t index) {
  std::string text = "]";
  for (size_t axis = output.shape.size(); axis-- > 0;) {
    size_t extent = size_t(output.shape[axis]);
    text = std::to_string(index % extent) + (text == "]" ? "" : ", ") + text;
    index /= extent;
  }
  return output.path + (output.shape.empty() ? "" : "[" + text);
}

/// Where two results differ first.
std::string Driver::findElement(const Difference &difference,
                                const Result &other) {
  const Result &expected = difference.results.front();
  if (expected.status != "ok" || other.status != "ok")
    return expected.status + " / " + other.status;
  Outcome a, b;
  if (!store.read(expected.number, a) || !store.read(other.number, b))
    return "the results cannot be read back";
  for (size_t i = 0; i < a.outputs.size() && i < b.outputs.size(); ++i) {
    const Host &x = a.outputs[i], &y = b.outputs[i];
    size_t width = getElementBytes(x.dtype);
    if (x.shape != y.shape || x.dtype != y.dtype)
      return x.path + " has another shape";
    for (size_t at = 0; at < x.bytes.size(); at += width)
      if (std::memcmp(x.bytes.data() + at, y.bytes.data() + at, width))
        return nameElement(x, at / width) + ": " +
               printElement(x.dtype, x.bytes.data() + at) + " / " +
               printElement(y.dtype, y.bytes.data() + at);
  }
  return "another number of results";
}

void Driver::printText(const std::vector<Difference> &differences) {
  for (const auto &[level, why] : machine.missing)
    std::printf("level %s left out: %s\n", level.c_str(), why.c_str());
  for (const std::string &note : comparison.getNotes())
    std::printf("%s\n", note.c_str());
  for (const std::string &note : notes)
    std::printf("%s\n", note.c_str());
  for (const std::string &sentence : comparison.describeErrors())
    std::printf("%s\n", sentence.c_str());
  std::printf("%s: %zu results of %zu computations, %zu of them errors, by %zu "
              "builds\n",
              options.file.c_str(), comparison.getResultCount(),
              comparison.getKeyCount(), comparison.getErrorCount(),
              builds.size());
  if (size_t same = countSame())
    std::printf("%zu of these builds have the bytes of another one, and ran as "
                "that\n",
                same);
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
    std::printf("sha256 %s\n", comparison.getHash(store).c_str());
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
  Words errors = comparison.describeErrors();
  all.insert(all.end(), errors.begin(), errors.end());
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
                           quote(nameConfiguration(result)) + ", \"sha256\": " +
                           quote(store.getHash(result.number)) +
                           ", \"status\": " + quote(result.status) + "}";
                  }) +
           "}";
  };
  std::printf(
      "{\"file\": %s, \"agree\": %s, \"sha256\": %s,\n"
      " \"computations\": %zu, \"results\": %zu, \"errors\": %zu, "
      "\"builds\": %zu, \"identical_builds\": %zu,\n \"missing_levels\": %s,\n "
      "\"notes\": %s,\n"
      " \"differences\": %s}\n",
      quote(options.file).c_str(), differences.empty() ? "true" : "false",
      differences.empty() ? quote(comparison.getHash(store)).c_str() : "null",
      comparison.getKeyCount(), comparison.getResultCount(),
      comparison.getErrorCount(), builds.size(), countSame(),
      listOf(machine.missing, missing).c_str(), listOf(all, quote).c_str(),
      listOf(differences, difference).c_str());
}

int Driver::report() {
  std::vector<Difference> differences = comparison.getDifferences(builds);
  if (options.json)
    printJson(differences);
  else
    printText(differences);
  if (differences.empty() &&
      comparison.getErrorCount() == comparison.getKeyCount())
    return complain("every computation is an error: no results were compared"),
           1;
  return differences.empty() ? 0 : 1;
}
