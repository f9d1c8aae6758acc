// What the runtime knows of dtypes: one row each, with the names that the
// language, safetensors and NumPy give them.
#ifndef ASTRA_RUNTIME_DTYPE_H
#define ASTRA_RUNTIME_DTYPE_H

#include "astra/base.h"
#include <cstddef>
#include <string>

namespace astra {

struct DtypeInfo {
  uint32_t dtype;
  uint32_t bytes;
  const char *name;        // in the language
  const char *safetensors; // in a safetensors header
  const char *numpy;       // in an npy header, or "" where it has none
};

/// The row of a dtype that tensors may have, or null.
const DtypeInfo *findDtype(uint32_t dtype);
const DtypeInfo *findDtypeOfSafetensors(const std::string &name);
const DtypeInfo *findDtypeOfNumpy(const std::string &name);

/// The language's name, or "dtype 0x..." for one it does not have.
std::string nameOfDtype(uint32_t dtype);

/// Replaces each NaN of `count` elements by the canonical one of its type.
void canonicaliseNans(uint32_t dtype, void *data, size_t count);

/// The first of `count` bool elements that is neither 0 nor 1; count if none.
size_t findBadBool(const void *data, size_t count);

} // namespace astra
#endif // ASTRA_RUNTIME_DTYPE_H
