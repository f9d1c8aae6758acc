// The memory that a file would have once it were linked or loaded, with the
// pointers of its data worked out, to be read and never run.
#ifndef ASTRA_RUNTIME_ELFIMAGE_H
#define ASTRA_RUNTIME_ELFIMAGE_H

#include "core/Elf.h"
#include <string_view>
#include <vector>

namespace astra {

class ElfImage {
public:
  /// Of an object file or a shared library whose parts have been checked, and
  /// that stays.
  Status build(const ElfFile &file);

  /// The address of the first piece of data with this name, or with this
  /// prefix; 0 if there is none.
  uint64_t find(const char *name, bool isPrefix) const;
  /// Whether the bytes are all within one part; else they cannot be read.
  bool contains(uint64_t address, uint64_t bytes) const {
    return partAt(address, bytes) != nullptr;
  }
  bool read(uint64_t address, void *memory, uint64_t bytes) const;
  bool readText(uint64_t address, std::string &text) const;

private:
  struct Part {
    uint64_t address, size;
    std::string bytes; // as far as the file has them; zeros follow
  };
  struct Symbol {
    std::string_view name; // in the file's bytes
    uint64_t address;
  };

  Status placeSections(const ElfFile &file);
  Status placeSegments(const ElfFile &file);
  Status readSymbols(const ElfFile &file, const Elf64_Shdr &table,
                     std::vector<uint64_t> &addresses);
  Status relocate(const ElfFile &file, const Elf64_Shdr &table,
                  const std::vector<uint64_t> &addresses);
  const Part *partAt(uint64_t address, uint64_t bytes) const;

  std::vector<Part> parts;
  std::vector<uint64_t> sectionAddresses; // of an object file
  std::vector<Symbol> symbols;
};

} // namespace astra
#endif // ASTRA_RUNTIME_ELFIMAGE_H
