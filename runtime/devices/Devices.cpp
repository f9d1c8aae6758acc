// The list of back ends; see Devices.h.
#include "devices/Devices.h"
#include "core/Module.h"

#define DEVICE(name)                                                           \
  extern "C" const astra_backend_t *astra_backend_##name(void);
#include "devices/Devices.def"
#undef DEVICE

astra::Status astra::makeDevices(astra_runtime &runtime) {
  const astra_backend_entry_fn entries[] = {
#define DEVICE(name) astra_backend_##name,
#include "devices/Devices.def"
#undef DEVICE
  };
  for (astra_backend_entry_fn entry : entries)
    ASTRA_TRY(openBackend(runtime, make<Backend>(entry(), Ref<Library>())));
  return {};
}
