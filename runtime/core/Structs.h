// Reading and filling the extensible structs of astra.h: type, size and chain
// are checked before anything else is believed.
#ifndef ASTRA_RUNTIME_STRUCTS_H
#define ASTRA_RUNTIME_STRUCTS_H

#include "core/Status.h"
#include <cstddef>

namespace astra {

/// What the library knows of one struct: its number, its name for messages, the
/// size it had in its first release and the size it has now.
struct StructInfo {
  uint32_t type;
  const char *name;
  size_t firstSize;
  size_t size;
};

/// Copies a caller's struct; members that an old caller does not have are 0.
Status readStruct(const StructInfo &info, const void *user, void *copy);
/// Fills a caller's struct as far as it goes; its chain stays.
Status writeStruct(const StructInfo &info, const void *full, void *user);

template <class T> StructInfo structInfo(uint32_t type, const char *name) {
  return {type, name, sizeof(T), sizeof(T)};
}
#define ASTRA_STRUCT_INFO(NAME, TYPE)                                          \
  ::astra::structInfo<TYPE>(ASTRA_STRUCT_##NAME, #TYPE)
/// The same of a struct that has grown: MEMBER is the first that it did not
/// have in its first release.
#define ASTRA_GROWN_STRUCT_INFO(NAME, TYPE, MEMBER)                            \
  ::astra::StructInfo {                                                        \
    ASTRA_STRUCT_##NAME, #TYPE, offsetof(TYPE, MEMBER), sizeof(TYPE)           \
  }

} // namespace astra
#endif // ASTRA_RUNTIME_STRUCTS_H
