// Checks that a file is a loadable Astra module before the system's loader,
// which trusts what it reads, sees it.
#ifndef ASTRA_RUNTIME_ELF_H
#define ASTRA_RUNTIME_ELF_H

#include "core/Status.h"

namespace astra {

/// Refuses a file that is no shared library of this machine, is not complete,
/// has no Astra note, or has one of another version.
Status checkModuleFile(const std::string &path);

} // namespace astra
#endif // ASTRA_RUNTIME_ELF_H
