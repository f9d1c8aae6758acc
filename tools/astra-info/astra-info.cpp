// astra-info: what a compiled file says of itself, as text or JSON. Everything
// comes through the public C API, which reads the file without loading it; this
// program only writes it down.
#include "tools/astra-info/Report.h"

#include <cstdio>
#include <cstring>

namespace {

constexpr const char *help =
    "Usage: astra-info [--json] FILE...\n"
    "\n"
    "Prints what an object file (.o) or module (.so) made by astrac says of\n"
    "itself: versions, functions with their dimensions and documentation,\n"
    "kernels, memory and sizes. No code of the file runs.\n"
    "\n"
    "  --json      as JSON, one object for each file\n"
    "  -h, --help  print this\n"
    "  --version   print the versions of the runtime\n"
    "\n"
    "Exit status: 0, 1 if a file cannot be described, 2 for a command line "
    "that\n"
    "makes no sense.\n";

int printVersion() {
  uint32_t objectAbi = 0, arithmetic = 0;
  astra_abi_version(&objectAbi, &arithmetic);
  std::printf("astra-info %s, object ABI %u, arithmetic %u\n",
              astra_version_text(), objectAbi, arithmetic);
  return 0;
}

int misuse(const std::string &why) {
  std::fprintf(stderr, "astra-info: error: %s; see astra-info --help\n",
               why.c_str());
  return 2;
}

int describe(const std::vector<std::string> &paths, bool json) {
  astra::Result<astra::Runtime> runtime = astra::Runtime::create();
  if (!runtime) {
    std::fprintf(stderr, "astra-info: error: %s\n", runtime.error().what());
    return 1;
  }
  int status = 0;
  for (const std::string &path : paths) {
    astra::Result<astra::Report> report = astra::describeFile(*runtime, path);
    if (!report) {
      std::fprintf(stderr, "astra-info: error: %s\n", report.error().what());
      status = 1;
      continue;
    }
    std::string text = json ? astra::toJson(*report) : astra::toText(*report);
    std::fputs(text.c_str(), stdout);
  }
  return status;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> paths;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i];
    if (!std::strcmp(word, "-h") || !std::strcmp(word, "--help"))
      return std::fputs(help, stdout), 0;
    if (!std::strcmp(word, "--version"))
      return printVersion();
    if (!std::strcmp(word, "--json"))
      json = true;
    else if (word[0] == '-')
      return misuse(std::string("unknown option `") + word + "`");
    else
      paths.push_back(word);
  }
  return paths.empty() ? misuse("no file is given") : describe(paths, json);
}
