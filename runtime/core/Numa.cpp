// NUMA nodes; see Numa.h. A list of processors reads "0-3,8,10-11".
#include "core/Numa.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace astra {
namespace {

constexpr unsigned mostNodes = 64, mostProcessors = 1u << 16;
constexpr size_t pageBytes = 4096;

/// The first line of a file, or "".
std::string firstLine(const std::string &path) {
  std::string line;
  if (std::FILE *file = std::fopen(path.c_str(), "re")) {
    char text[4096];
    if (std::fgets(text, sizeof text, file))
      line = text;
    std::fclose(file);
  }
  return line;
}

/// The numbers of a list, as far as it can be read.
std::vector<unsigned> numbersOf(const std::string &list) {
  std::vector<unsigned> numbers;
  const char *at = list.c_str();
  while (*at >= '0' && *at <= '9') {
    char *end = nullptr;
    unsigned long first = std::strtoul(at, &end, 10), last = first;
    if (*end == '-')
      last = std::strtoul(end + 1, &end, 10);
    for (; first <= last && first < mostProcessors; ++first)
      numbers.push_back(unsigned(first));
    at = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

} // namespace

NumaTopology::NumaTopology(const std::string &folder) {
  for (unsigned node : numbersOf(firstLine(folder + "/online"))) {
    if (node >= mostNodes)
      break;
    std::vector<unsigned> processors = numbersOf(
        firstLine(folder + "/node" + std::to_string(node) + "/cpulist"));
    if (processors.empty())
      continue;
    for (unsigned processor : processors) {
      if (processor >= nodeOfProcessor.size())
        nodeOfProcessor.resize(processor + 1, 0);
      nodeOfProcessor[processor] = nodeCount();
    }
    systemNodes.push_back(node);
  }
  if (systemNodes.empty())
    systemNodes.push_back(0);
}

uint32_t NumaTopology::nodeOf(unsigned processor) const {
  return processor < nodeOfProcessor.size() ? nodeOfProcessor[processor] : 0;
}

uint32_t NumaTopology::here() const {
  if (nodeCount() == 1)
    return 0;
  int processor = sched_getcpu();
  return processor < 0 ? 0 : nodeOf(unsigned(processor));
}

void preferNode(void *memory, size_t bytes, unsigned systemNode) {
#ifdef SYS_mbind
  constexpr int preferred = 1; // MPOL_PREFERRED
  auto begin = reinterpret_cast<uintptr_t>(memory);
  uintptr_t first = (begin + pageBytes - 1) / pageBytes * pageBytes;
  uintptr_t end = (begin + bytes) / pageBytes * pageBytes;
  unsigned long mask = 1ul << systemNode;
  if (first < end)
    syscall(SYS_mbind, first, end - first, preferred, &mask, mostNodes + 1, 0);
#endif
}

} // namespace astra
