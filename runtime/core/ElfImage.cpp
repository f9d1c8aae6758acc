// Laying out an ELF file; see ElfImage.h. Only relocations that put an address
// into a word matter: those of code do not, since none is run.
#include "core/ElfImage.h"
#include <algorithm>
#include <map>

namespace astra {
namespace {

constexpr uint64_t firstAddress = 0x10000;
/// No longer name is looked for.
constexpr uint64_t longestName = 4096;

bool isObject(const ElfFile &file) { return file.getHeader().e_type == ET_REL; }

/// Whether the word becomes the symbol's address and the addend, or the addend.
bool putsAddress(uint16_t machine, uint32_t type, bool &hasSymbol) {
  bool isX86 = machine == EM_X86_64;
  hasSymbol = type == (isX86 ? R_X86_64_64 : R_AARCH64_ABS64);
  return hasSymbol || type == (isX86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE);
}

} // namespace

Status ElfImage::build(const ElfFile &file) {
  uint16_t type = file.getHeader().e_type;
  if (type != ET_REL && type != ET_DYN)
    return file.refuse("is neither an object file nor a shared library");
  ASTRA_TRY(isObject(file) ? placeSections(file) : placeSegments(file));
  unsigned count = file.getHeader().e_shnum;
  std::map<unsigned, std::vector<uint64_t>> addresses; // of each table
  for (unsigned i = 0; i < count; ++i) {
    Elf64_Shdr section = file.section(i);
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM)
      ASTRA_TRY(readSymbols(file, section, addresses[i]));
  }
  for (unsigned i = 0; i < count; ++i) {
    Elf64_Shdr section = file.section(i);
    if (section.sh_type == SHT_RELA)
      ASTRA_TRY(relocate(file, section, addresses[section.sh_link]));
  }
  return {};
}

Status ElfImage::placeSections(const ElfFile &file) {
  uint64_t next = firstAddress;
  for (unsigned i = 0; i < file.getHeader().e_shnum; ++i) {
    Elf64_Shdr section = file.section(i);
    // What a section of no type says of itself has not been checked.
    bool isPlaced =
        section.sh_type != SHT_NULL && section.sh_flags & SHF_ALLOC &&
        section.sh_size <= UINT32_MAX && section.sh_addralign <= UINT32_MAX;
    sectionAddresses.push_back(isPlaced ? next : 0);
    if (!isPlaced)
      continue;
    uint64_t align = std::max<uint64_t>(section.sh_addralign, 1);
    next = (next + align - 1) / align * align;
    sectionAddresses.back() = next;
    uint64_t inFile = section.sh_type == SHT_NOBITS ? 0 : section.sh_size;
    parts.push_back({next, section.sh_size,
                     std::string(file.data() + (inFile ? section.sh_offset : 0),
                                 size_t(inFile))});
    next += section.sh_size + 1; // no two places are one
  }
  return {};
}

Status ElfImage::placeSegments(const ElfFile &file) {
  const Elf64_Ehdr &header = file.getHeader();
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    auto segment =
        file.at<Elf64_Phdr>(header.e_phoff + uint64_t(i) * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD)
      parts.push_back({segment.p_vaddr, segment.p_memsz,
                       std::string(file.data() + segment.p_offset,
                                   size_t(segment.p_filesz))});
  }
  return {};
}

/// The addresses of a table's symbols by number, 0 for those that are not here;
/// data becomes known by its name.
Status ElfImage::readSymbols(const ElfFile &file, const Elf64_Shdr &table,
                             std::vector<uint64_t> &addresses) {
  if (table.sh_link >= file.getHeader().e_shnum)
    return file.refuse("has symbols without names");
  Elf64_Shdr names = file.section(table.sh_link);
  if (names.sh_type != SHT_STRTAB)
    return file.refuse("has symbols without names");
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    auto symbol = file.at<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
    uint64_t address = symbol.st_value;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE)
      address = 0;
    else if (isObject(file))
      address = symbol.st_shndx < sectionAddresses.size() &&
                        sectionAddresses[symbol.st_shndx]
                    ? address + sectionAddresses[symbol.st_shndx]
                    : 0;
    addresses.push_back(address);
    if (!address || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT ||
        symbol.st_name >= names.sh_size)
      continue;
    const char *name = file.data() + names.sh_offset + symbol.st_name;
    uint64_t most = std::min(names.sh_size - symbol.st_name, longestName);
    symbols.push_back({{name, strnlen(name, size_t(most))}, address});
  }
  return {};
}

Status ElfImage::relocate(const ElfFile &file, const Elf64_Shdr &table,
                          const std::vector<uint64_t> &addresses) {
  const Elf64_Ehdr &header = file.getHeader();
  if (table.sh_link >= header.e_shnum ||
      (isObject(file) && table.sh_info >= header.e_shnum))
    return file.refuse("has relocations of nothing");
  // Those of sections that are not in memory are for debuggers.
  uint64_t base = isObject(file) ? sectionAddresses[table.sh_info] : 0;
  if (isObject(file) && !base)
    return {};
  for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); ++i) {
    auto entry = file.at<Elf64_Rela>(table.sh_offset + i * sizeof(Elf64_Rela));
    bool hasSymbol = false;
    if (!putsAddress(header.e_machine, uint32_t(ELF64_R_TYPE(entry.r_info)),
                     hasSymbol))
      continue;
    uint64_t index = ELF64_R_SYM(entry.r_info);
    uint64_t value = uint64_t(entry.r_addend);
    if (hasSymbol && index >= addresses.size())
      return file.refuse("has a relocation of a symbol that it does not have");
    if (hasSymbol)
      value = addresses[index] ? value + addresses[index] : 0;
    uint64_t place = base + entry.r_offset;
    const Part *part = partAt(place, sizeof value);
    if (!part || place - part->address + sizeof value > part->bytes.size())
      return file.refuse("has a relocation outside of its data");
    std::memcpy(&parts[size_t(part - parts.data())]
                     .bytes[size_t(place - part->address)],
                &value, sizeof value);
  }
  return {};
}

const ElfImage::Part *ElfImage::partAt(uint64_t address, uint64_t bytes) const {
  for (const Part &part : parts)
    if (address >= part.address && address - part.address <= part.size &&
        bytes <= part.size - (address - part.address))
      return &part;
  return nullptr;
}

uint64_t ElfImage::find(const char *name, bool isPrefix) const {
  for (const Symbol &symbol : symbols)
    if (isPrefix ? symbol.name.substr(0, strlen(name)) == name
                 : symbol.name == name)
      return symbol.address;
  return 0;
}

bool ElfImage::read(uint64_t address, void *memory, uint64_t bytes) const {
  const Part *part = partAt(address, bytes);
  if (!part)
    return false;
  uint64_t offset = address - part->address;
  uint64_t inFile = offset < part->bytes.size()
                        ? std::min<uint64_t>(part->bytes.size() - offset, bytes)
                        : 0;
  std::memset(memory, 0, size_t(bytes));
  if (inFile)
    std::memcpy(memory, part->bytes.data() + offset, size_t(inFile));
  return true;
}

bool ElfImage::readText(uint64_t address, std::string &text) const {
  const Part *part = partAt(address, 1);
  if (!part || address - part->address >= part->bytes.size())
    return false;
  const char *begin = part->bytes.data() + (address - part->address);
  size_t most = part->bytes.size() - size_t(address - part->address);
  size_t length = strnlen(begin, most);
  text.assign(begin, length);
  return length < most || part->size > part->bytes.size();
}

} // namespace astra
