// The descriptor of a file that is not loaded: a copy whose every pointer has
// been followed within the file's image. Knows the object ABI.
#ifndef ASTRA_RUNTIME_INSPECT_H
#define ASTRA_RUNTIME_INSPECT_H

#include "astra/module.h"
#include "core/Elf.h"
#include "core/Ref.h"
#include <deque>
#include <vector>

namespace astra {

/// Owns the copy. Its entries fail, and its blocks do nothing.
class Inspection : public Object {
public:
  Status read(const std::string &path);

  astra_module_desc_t desc{};
  FileSizes sizes;

private:
  friend class DescriptorReader;
  std::deque<std::string> texts;
  std::deque<std::vector<char>> tables;
};

} // namespace astra
#endif // ASTRA_RUNTIME_INSPECT_H
