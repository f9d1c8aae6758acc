// Affinity from the scheduler, quotas from the cgroup files; see CpuCount.h. A
// quota counts if it stands at the process's own group or at any above it, so
// the whole way up to the mount is looked at. Whatever cannot be read is no
// quota.
#include "core/CpuCount.h"
#include "astra/astra.h"
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <vector>

namespace astra {
namespace {

constexpr size_t mostCpus = 1 << 16;

/// The lines of a file, without their ends; none if it cannot be read.
std::vector<std::string> readLines(const std::string &path) {
  std::vector<std::string> lines;
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return lines;
  char part[512];
  bool isNew = true;
  while (std::fgets(part, sizeof part, file)) {
    if (isNew)
      lines.emplace_back();
    size_t length = std::strlen(part);
    isNew = length && part[length - 1] == '\n';
    lines.back().append(part, length - isNew);
  }
  std::fclose(file);
  return lines;
}

/// Whether `name` is one of the names that commas separate.
bool isAmong(const std::string &names, const std::string &name) {
  return ("," + names + ",").find("," + name + ",") != std::string::npos;
}

/// One hierarchy that the process is in: where it is mounted, the group that
/// the mount shows as its root, and the process's group.
struct Hierarchy {
  std::string mount, shown, group;
  bool isSecond = false; // version 2
};

/// A line of /proc/self/mountinfo; false if it is no hierarchy with processors.
bool readMount(const std::string &line, Hierarchy &hierarchy) {
  size_t separator = line.find(" - ");
  char shown[512], mount[512], type[64], options[512];
  if (separator == std::string::npos ||
      std::sscanf(line.c_str(), "%*s %*s %*s %511s %511s", shown, mount) != 2 ||
      std::sscanf(line.c_str() + separator, " - %63s %*s %511s", type,
                  options) != 2)
    return false;
  hierarchy.mount = mount;
  hierarchy.shown = shown;
  hierarchy.isSecond = std::strcmp(type, "cgroup2") == 0;
  return hierarchy.isSecond ||
         (std::strcmp(type, "cgroup") == 0 && isAmong(options, "cpu"));
}

/// The process's group in a hierarchy, from lines "4:cpu,cpuacct:/group" of
/// /proc/self/cgroup; version 2 has the line "0::/group".
std::string findGroup(const std::vector<std::string> &lines, bool isSecond) {
  for (const std::string &line : lines) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    if (isSecond ? controllers.empty() : isAmong(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return "/";
}

/// "100000 50000" or "max 100000" of version 2; two files of version 1.
uint32_t readQuota(const std::string &folder, bool isSecond) {
  int64_t quota = -1, period = 0;
  auto readNumber = [&](const char *name, int64_t &number) {
    std::vector<std::string> lines = readLines(folder + name);
    return !lines.empty() &&
           std::sscanf(lines[0].c_str(), "%" SCNd64, &number) == 1;
  };
  if (isSecond) {
    std::vector<std::string> lines = readLines(folder + "/cpu.max");
    if (lines.empty() || std::sscanf(lines[0].c_str(), "%" SCNd64 " %" SCNd64,
                                     &quota, &period) != 2)
      return 0;
  } else if (!readNumber("/cpu.cfs_quota_us", quota) ||
             !readNumber("/cpu.cfs_period_us", period)) {
    return 0;
  }
  if (quota <= 0 || period <= 0)
    return 0;
  int64_t count = quota / period + (quota % period != 0);
  return uint32_t(std::min<int64_t>(count, mostCpus));
}

uint32_t countHierarchy(const std::string &root, const Hierarchy &hierarchy) {
  // A group outside what the mount shows cannot be seen; its root can.
  std::string group = hierarchy.group;
  if (hierarchy.shown != "/") {
    bool isInside =
        group.compare(0, hierarchy.shown.size(), hierarchy.shown) == 0;
    group = isInside ? group.substr(hierarchy.shown.size()) : "";
  }
  if (group.find("..") != std::string::npos || group == "/")
    group.clear();
  uint32_t least = 0;
  for (;;) {
    uint32_t count =
        readQuota(root + hierarchy.mount + group, hierarchy.isSecond);
    if (count && (!least || count < least))
      least = count;
    if (group.empty())
      return least;
    size_t slash = group.rfind('/');
    group.erase(slash == std::string::npos ? 0 : slash);
  }
}

} // namespace

uint32_t countAffinity() {
  // The system may know more processors than a cpu_set_t does.
  for (size_t cpus = CPU_SETSIZE; cpus <= mostCpus; cpus *= 2) {
    std::vector<unsigned long> words(cpus / (8 * sizeof(unsigned long)));
    size_t bytes = words.size() * sizeof(unsigned long);
    auto *set = reinterpret_cast<cpu_set_t *>(words.data());
    if (sched_getaffinity(0, bytes, set) == 0)
      return uint32_t(std::max(CPU_COUNT_S(bytes, set), 1));
  }
  return 1;
}

uint32_t countQuota(const std::string &root) {
  std::vector<std::string> groups = readLines(root + "/proc/self/cgroup");
  uint32_t least = 0;
  for (const std::string &line : readLines(root + "/proc/self/mountinfo")) {
    Hierarchy hierarchy;
    if (!readMount(line, hierarchy))
      continue;
    hierarchy.group = findGroup(groups, hierarchy.isSecond);
    uint32_t count = countHierarchy(root, hierarchy);
    if (count && (!least || count < least))
      least = count;
  }
  return least;
}

uint32_t countCpus() {
  uint32_t allowed = countAffinity(), quota = countQuota("");
  return quota ? std::min(allowed, quota) : allowed;
}

} // namespace astra

uint32_t astra_cpu_count(void) {
  try {
    return astra::countCpus();
  } catch (const std::bad_alloc &) {
    return 1;
  }
}
