// What an object file holds, as text for people: `--emit=object`. Reads the
// bytes as any other tool would; knows nothing of how they were made.
#include "passes/Object.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error describe(const object::ObjectFile &file, raw_ostream &os) {
  os << file.getFileFormatName() << ", " << file.getData().size()
     << " bytes\n\nsections:\n";
  for (const object::SectionRef &section : file.sections()) {
    Expected<StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    if (!name->empty())
      os << formatv("  {0,-24} {1,8} bytes\n", *name, section.getSize());
  }
  os << "\nsymbols:\n";
  for (const object::SymbolRef &symbol : file.symbols()) {
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (name->empty())
      continue;
    os << formatv("  {0,-24} {1}\n", *name,
                  *flags & object::SymbolRef::SF_Undefined ? "needed"
                  : *flags & object::SymbolRef::SF_Global  ? "public"
                                                           : "private");
  }
  return Error::success();
}

bool astra::describeObject(StringRef bytes, std::string &text,
                           std::string &error) {
  auto file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(bytes, "object"));
  raw_string_ostream os(text);
  Error problem = file ? describe(**file, os) : file.takeError();
  if (!problem)
    return true;
  error = toString(std::move(problem));
  return false;
}
