// Checks of a module descriptor before anything relies on it.
#ifndef ASTRA_RUNTIME_DESCRIPTOR_H
#define ASTRA_RUNTIME_DESCRIPTOR_H

#include "astra/module.h"
#include "core/Status.h"

namespace astra {

/// Refuses versions that this runtime does not know.
Status checkVersions(const std::string &what, uint32_t objectAbi,
                     uint32_t arithmetic);

/// Refuses a descriptor that is null, of another version or damaged. `what`
/// names the module in messages.
Status checkDescriptor(const std::string &what,
                       const astra_module_desc_t *descriptor);

/// Refuses code for other processors than this one.
Status checkProcessor(const std::string &what,
                      const astra_module_desc_t &descriptor);

} // namespace astra
#endif // ASTRA_RUNTIME_DESCRIPTOR_H
