// The back ends of Devices.def.
#ifndef ASTRA_RUNTIME_DEVICES_H
#define ASTRA_RUNTIME_DEVICES_H

#include "core/Runtime.h"

namespace astra {

/// Opens all of them for a runtime.
Status makeDevices(astra_runtime &runtime);

} // namespace astra
#endif // ASTRA_RUNTIME_DEVICES_H
