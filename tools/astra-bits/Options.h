// The command line of astra-bits as data. The same program is also the worker
// that it starts for each build (natively, or for Arm under qemu): the worker's
// options are not in the help.
#ifndef ASTRA_TOOLS_ASTRA_BITS_OPTIONS_H
#define ASTRA_TOOLS_ASTRA_BITS_OPTIONS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace astra {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Words = std::vector<std::string>;

struct WorkerModule {
  std::string file;
  bool batched, tests;
};

struct Options {
  std::string program; // argv[0]
  std::string file, astrac, arm;
  Words exports; // all if empty
  Words threads = {"1", "2", "3", "7"};
  Words levels = {"ref", "v3", "v4", "neon"};
  Words optimisations = {"0", "1", "2"};
  Words fusing = {"on", "off"};
  Words sizes = {"small", "large"};
  Pairs dims, inputs;
  unsigned rows = 3;
  uint64_t seed = 1;
  unsigned timeout = 600;
  unsigned budget = 0; // seconds for a computation; 0: no limit
  bool batch = true, quick = false, json = false, help = false;
  // Of a worker.
  std::vector<WorkerModule> modules;
  Words runs;        // "v3:7" is a level and a number of threads
  std::string spare; // a level that a budget may leave out
  std::string store;
};

/// False, with a message on standard error, if the command line makes no sense.
bool parseOptions(int argc, char **argv, Options &options);
void printHelp();

} // namespace astra
#endif // ASTRA_TOOLS_ASTRA_BITS_OPTIONS_H
