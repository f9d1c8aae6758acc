// Linking a loadable module, with LLVM's linker as a library: nothing of the
// system's linker or C library takes part, and the same object gives the same
// bytes anywhere.
#include "passes/Object.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace astra;

bool astra::linkLoadable(llvm::StringRef objectPath, llvm::StringRef outputPath,
                         std::string &error) {
  std::string object = objectPath.str(), output = outputPath.str();
  const char *arguments[] = {"ld.lld",
                             "-shared",
                             "-z",
                             "defs",
                             "-z",
                             "noexecstack",
                             "-z",
                             "relro",
                             "-z",
                             "now",
                             "--hash-style=gnu",
                             "--build-id=none",
                             "--threads=1",
                             "--no-undefined",
                             "--as-needed",
                             "-nostdlib",
                             "-soname",
                             "astra_module",
                             "-o",
                             output.c_str(),
                             object.c_str()};
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  bool linked = lld::elf::link(arguments, stream, stream, /*exitEarly=*/false,
                               /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (!linked)
    error =
        "linking the module failed: " + llvm::StringRef(printed).trim().str();
  return linked;
}
