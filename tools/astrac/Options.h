// The command line of astrac as data. Knows the options, not what they do.
#ifndef ASTRA_TOOLS_ASTRAC_OPTIONS_H
#define ASTRA_TOOLS_ASTRAC_OPTIONS_H

#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace astra {

enum class Command { Compile, Run, Test, Check, Explain, Help, Version };

struct Options {
  Command command = Command::Compile;
  std::vector<std::string> inputs; // files; for run: FILE FN ARG...
  std::string output, emit, device = "cpu", stdPath, filter, explain;
  std::string trace, stopAt;
  std::string target; // "", or one of passes/Target.cpp
  bool shared = false, batch = false, tests = false;
  bool fuse = true, profile = false;
  unsigned optimisation = 2;
  unsigned threads = 1;
  std::string cpuLevel; // "", "ref", "v3", "v4"
  std::string program;  // argv[0]
};

/// False, with a message on standard error, if the command line makes no sense.
bool parseOptions(int argc, const char *const *argv, Options &options);
void printHelp(llvm::raw_ostream &os);

} // namespace astra
#endif // ASTRA_TOOLS_ASTRAC_OPTIONS_H
