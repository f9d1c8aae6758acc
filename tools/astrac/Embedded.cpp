// See Embedded.h.
#include "tools/astrac/Embedded.h"
#include <utility>

using llvm::StringRef;

namespace {
constexpr std::pair<const char *, const char *> libraryFiles[] = {
#define FILE(name, text) {name, text},
#include "tools/astrac/LibraryFiles.inc"
    {"", ""}};
} // namespace

std::optional<StringRef> astra::getLibraryFile(StringRef name) {
  for (auto [key, text] : libraryFiles)
    if (*key && name == key)
      return StringRef(text);
  return std::nullopt;
}
