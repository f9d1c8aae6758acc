// ELF files whose every part has been found to lie within them: for the
// system's loader, which trusts what it reads, and for reading a file that is
// never loaded. Knows no descriptor but its versions.
#ifndef ASTRA_RUNTIME_ELF_H
#define ASTRA_RUNTIME_ELF_H

#include "core/Status.h"
#include <cstring>
#include <elf.h>

namespace astra {

struct FileSizes {
  uint64_t file = 0, code = 0, data = 0;
};

class ElfFile {
public:
  ElfFile(std::string name, const std::string &bytes)
      : name(std::move(name)), bytes(bytes) {}

  /// Refuses a file whose header, segments or sections leave it; `anyMachine`
  /// takes those of other processors that Astra knows.
  Status checkParts(bool anyMachine);
  /// Refuses a file that is no loadable module of known versions.
  Status checkLoadable() const;

  const Elf64_Ehdr &getHeader() const { return header; }
  Elf64_Shdr section(uint64_t index) const {
    return at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  }
  FileSizes sizes() const;
  bool isInside(uint64_t offset, uint64_t size) const {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }
  template <class T> T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }
  const char *data() const { return bytes.data(); }
  Status refuse(const char *why) const {
    return fail(ASTRA_ERROR_CORRUPT_FILE, name, " ", why);
  }

private:
  Status checkHeader(bool anyMachine);
  Status checkTables() const;
  Status checkSegments();
  Status checkSections() const;
  Status findNote(const Elf64_Phdr &segment);
  Status truncated(const char *part, uint64_t end) const;

  std::string name;
  const std::string &bytes;
  Elf64_Ehdr header{};
  bool hasDynamic = false, hasNote = false;
  uint32_t versions[2] = {0, 0};
};

/// Reads a file and refuses what the system's loader must not see.
Status checkModuleFile(const std::string &path, FileSizes *sizes = nullptr);

} // namespace astra
#endif // ASTRA_RUNTIME_ELF_H
