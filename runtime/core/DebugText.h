// The text of debug(x, "name"): a tensor as a person reads it.
#ifndef ASTRA_RUNTIME_DEBUGTEXT_H
#define ASTRA_RUNTIME_DEBUGTEXT_H

#include "astra/module.h"
#include <string>

namespace astra {

/// `name: f32[2, 2] = [[1, 2], [3, 4]]`; long axes are shortened to their ends.
/// Numbers are the shortest that read back to the same bits.
std::string debugText(const char *name, const astra_arg_t &value);

} // namespace astra
#endif // ASTRA_RUNTIME_DEBUGTEXT_H
