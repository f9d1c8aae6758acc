// The checks of Elf.h: header, program and section tables, each part within the
// file, and the note with the versions.
#include "core/Elf.h"
#include "astra/module.h"
#include "core/Descriptor.h"
#include "io/File.h"

namespace astra {
namespace {

#if defined(__x86_64__)
constexpr uint16_t thisMachine = EM_X86_64;
#else
constexpr uint16_t thisMachine = EM_AARCH64;
#endif

} // namespace

Status ElfFile::checkParts(bool anyMachine) {
  ASTRA_TRY(checkHeader(anyMachine));
  ASTRA_TRY(checkTables());
  ASTRA_TRY(checkSections());
  return checkSegments();
}

Status ElfFile::checkLoadable() const {
  if (header.e_type == ET_REL)
    return refuse("is an object file, which is linked into a program; compile "
                  "with -shared for a module that can be loaded");
  if (header.e_type != ET_DYN || !hasDynamic)
    return refuse("is not a shared library");
  if (!hasNote)
    return refuse("is not an Astra module: it has no Astra note");
  return checkVersions(name, versions[0], versions[1]);
}

Status ElfFile::truncated(const char *part, uint64_t end) const {
  return fail(ASTRA_ERROR_CORRUPT_FILE, name, " is truncated: it has ",
              bytes.size(), " bytes, but ", part, " ends at ", end);
}

Status ElfFile::checkHeader(bool anyMachine) {
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return refuse("is not a module: it is no ELF file");
  if (bytes.size() < sizeof header)
    return truncated("its header", sizeof header);
  header = at<Elf64_Ehdr>(0);
  bool known = header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || !known ||
      (!anyMachine && header.e_machine != thisMachine))
    return refuse("was made for another kind of processor");
  if (header.e_ident[EI_VERSION] != EV_CURRENT ||
      header.e_version != EV_CURRENT)
    return refuse("is of an unknown ELF version");
  return {};
}

Status ElfFile::checkTables() const {
  if (header.e_phnum && header.e_phentsize != sizeof(Elf64_Phdr))
    return refuse("has program headers of an unknown size");
  if (header.e_shnum && header.e_shentsize != sizeof(Elf64_Shdr))
    return refuse("has section headers of an unknown size");
  uint64_t programBytes = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  if (!isInside(header.e_phoff, programBytes))
    return truncated("its program header table", header.e_phoff + programBytes);
  uint64_t sectionBytes = uint64_t(header.e_shnum) * sizeof(Elf64_Shdr);
  if (!isInside(header.e_shoff, sectionBytes))
    return truncated("its section header table", header.e_shoff + sectionBytes);
  return {};
}

Status ElfFile::checkSections() const {
  uint64_t sum = 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr part = section(i);
    if (part.sh_type == SHT_NOBITS || part.sh_type == SHT_NULL)
      continue;
    if (!isInside(part.sh_offset, part.sh_size))
      return truncated("a section", part.sh_offset + part.sh_size);
    // Else a small file could have many large sections.
    sum += part.sh_size;
    if (sum > bytes.size())
      return refuse("has sections that share bytes");
  }
  return {};
}

FileSizes ElfFile::sizes() const {
  FileSizes sizes;
  sizes.file = bytes.size();
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr part = section(i);
    if (part.sh_type != SHT_NOBITS && part.sh_type != SHT_NULL &&
        part.sh_flags & SHF_ALLOC)
      (part.sh_flags & SHF_EXECINSTR ? sizes.code : sizes.data) += part.sh_size;
  }
  return sizes;
}

Status ElfFile::checkSegments() {
  uint64_t sum = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    auto segment =
        at<Elf64_Phdr>(header.e_phoff + uint64_t(i) * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_NULL || segment.p_type == PT_GNU_STACK)
      continue;
    if (!isInside(segment.p_offset, segment.p_filesz))
      return truncated("a segment", segment.p_offset + segment.p_filesz);
    // What is loaded lies apart; the others name parts of it, each a few.
    sum += segment.p_filesz;
    if (sum > 4 * bytes.size())
      return refuse("has too many segments of the same bytes");
    if (segment.p_filesz > segment.p_memsz && segment.p_type == PT_LOAD)
      return refuse("has a segment that is larger in the file than in memory");
    hasDynamic |= segment.p_type == PT_DYNAMIC;
    if (segment.p_type == PT_NOTE)
      ASTRA_TRY(findNote(segment));
  }
  return {};
}

/// Reads the notes of one segment; names and contents are padded to 4 bytes.
Status ElfFile::findNote(const Elf64_Phdr &segment) {
  auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t(3); };
  uint64_t position = segment.p_offset;
  uint64_t end = segment.p_offset + segment.p_filesz;
  while (position + sizeof(Elf64_Nhdr) <= end) {
    auto note = at<Elf64_Nhdr>(position);
    uint64_t owner = position + sizeof note;
    uint64_t contents = owner + padded(note.n_namesz);
    if (contents + padded(note.n_descsz) > end)
      return refuse("has a note that leaves its segment");
    bool isOurs = note.n_type == ASTRA_NOTE_TYPE &&
                  note.n_namesz == sizeof ASTRA_NOTE_OWNER &&
                  std::memcmp(bytes.data() + owner, ASTRA_NOTE_OWNER,
                              sizeof ASTRA_NOTE_OWNER) == 0;
    if (isOurs && note.n_descsz >= sizeof versions) {
      std::memcpy(versions, bytes.data() + contents, sizeof versions);
      hasNote = true;
    }
    position = contents + padded(note.n_descsz);
  }
  return {};
}

Status checkModuleFile(const std::string &path, FileSizes *sizes) {
  std::string bytes;
  ASTRA_TRY(readFile(path, bytes));
  ElfFile file("\"" + path + "\"", bytes);
  ASTRA_TRY(file.checkParts(/*anyMachine=*/false));
  if (sizes)
    *sizes = file.sizes();
  return file.checkLoadable();
}

} // namespace astra
