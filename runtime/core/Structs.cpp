// The checks of extensible structs; see Structs.h.
#include "core/Structs.h"
#include <algorithm>
#include <cstring>

namespace astra {
namespace {

Status checkStruct(const StructInfo &info, const void *user) {
  ASTRA_TRY(need(user, info.name));
  const auto &chain = *static_cast<const astra_chain_t *>(user);
  if (chain.type != info.type || chain.reserved != 0)
    return fail(ASTRA_ERROR_INVALID_STRUCT, "a ", info.name, " must have type ",
                info.type, " and reserved 0, but has type ", chain.type,
                " and reserved ", chain.reserved, "; use ASTRA_INIT");
  if (chain.struct_size < info.firstSize)
    return fail(ASTRA_ERROR_INVALID_STRUCT, "the struct_size of a ", info.name,
                " is ", chain.struct_size, ", but it has at least ",
                info.firstSize, " bytes; use ASTRA_INIT");
  if (chain.struct_size > (size_t(1) << 16))
    return fail(ASTRA_ERROR_INVALID_STRUCT, "the struct_size of a ", info.name,
                " is ", chain.struct_size, ", which no version has");
  if (chain.next)
    return fail(ASTRA_ERROR_INVALID_STRUCT, "the chain of a ", info.name,
                " holds a struct of type ",
                static_cast<const astra_chain_t *>(chain.next)->type,
                ", which this library does not know");
  return {};
}

} // namespace

Status readStruct(const StructInfo &info, const void *user, void *copy) {
  ASTRA_TRY(checkStruct(info, user));
  size_t given = static_cast<const astra_chain_t *>(user)->struct_size;
  const char *bytes = static_cast<const char *>(user);
  for (size_t i = info.size; i < given; ++i) {
    if (bytes[i])
      return fail(ASTRA_ERROR_INVALID_STRUCT, "a ", info.name, " of ", given,
                  " bytes sets members that this library does not know (it "
                  "knows ",
                  info.size, " bytes)");
  }
  std::memset(copy, 0, info.size);
  std::memcpy(copy, user, std::min(given, info.size));
  return {};
}

Status writeStruct(const StructInfo &info, const void *full, void *user) {
  ASTRA_TRY(checkStruct(info, user));
  size_t given = static_cast<const astra_chain_t *>(user)->struct_size;
  size_t known = std::min(given, info.size);
  char *bytes = static_cast<char *>(user);
  std::memcpy(bytes + sizeof(astra_chain_t),
              static_cast<const char *>(full) + sizeof(astra_chain_t),
              known - sizeof(astra_chain_t));
  std::memset(bytes + known, 0, given - known);
  return {};
}

} // namespace astra
