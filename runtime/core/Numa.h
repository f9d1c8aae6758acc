// Which NUMA nodes the machine has, and which processors belong to each, as the
// kernel tells in files. Where it tells nothing there is one node.
#ifndef ASTRA_RUNTIME_NUMA_H
#define ASTRA_RUNTIME_NUMA_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace astra {

class NumaTopology {
public:
  /// Reads a folder like /sys/devices/system/node.
  explicit NumaTopology(const std::string &folder);

  /// At least 1; nodes without processors do not count.
  uint32_t nodeCount() const { return uint32_t(systemNodes.size()); }
  /// The node of a processor, counted from 0.
  uint32_t nodeOf(unsigned processor) const;
  /// The node that this thread runs on.
  uint32_t here() const;
  /// The kernel's number of a node.
  unsigned systemNode(uint32_t node) const { return systemNodes[node]; }

private:
  std::vector<unsigned> systemNodes;
  std::vector<uint32_t> nodeOfProcessor;
};

/// Asks for the whole pages of a range to lie on a node of the kernel's number,
/// if there is room; pages that are in use already stay.
void preferNode(void *memory, size_t bytes, unsigned systemNode);

} // namespace astra
#endif // ASTRA_RUNTIME_NUMA_H
