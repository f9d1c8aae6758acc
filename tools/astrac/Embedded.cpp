// See Embedded.h.
#include "tools/astrac/Embedded.h"
#include <utility>

using llvm::StringRef;

namespace {
constexpr std::pair<const char *, const char *> errorPages[] = {
#define PAGE(code, text) {#code, text},
#include "tools/astrac/ErrorPages.inc"
    {"", ""}};
constexpr std::pair<const char *, const char *> libraryFiles[] = {
#define FILE(name, text) {name, text},
#include "tools/astrac/LibraryFiles.inc"
    {"", ""}};

template <size_t N>
std::optional<StringRef>
find(const std::pair<const char *, const char *> (&texts)[N], StringRef name) {
  for (auto [key, text] : texts)
    if (*key && name == key)
      return StringRef(text);
  return std::nullopt;
}
} // namespace

std::optional<StringRef> astra::getErrorPage(StringRef code) {
  return find(errorPages, code);
}

std::optional<StringRef> astra::getLibraryFile(StringRef name) {
  return find(libraryFiles, name);
}
