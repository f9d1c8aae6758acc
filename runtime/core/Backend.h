// A back end that was opened for one runtime: its table (astra/backend.h), its
// state, and the library that it came in, if it is a plug-in.
#ifndef ASTRA_RUNTIME_BACKEND_H
#define ASTRA_RUNTIME_BACKEND_H

#include "astra/backend.h"
#include "core/Ref.h"
#include "core/Status.h"

namespace astra {

class Library;

/// Closed with the last device that has it.
class Backend : public Object {
public:
  Backend(const astra_backend_t *table, Ref<Library> library);
  ~Backend() override;

  const astra_backend_t *const table;
  void *state = nullptr;

private:
  friend Status openBackend(astra_runtime &, const Ref<Backend> &);

  const Ref<Library> library;
  astra_backend_host_t host{};
  bool isOpen = false;
};

/// Checks the table, opens the back end and adds its devices to the runtime's.
Status openBackend(astra_runtime &runtime, const Ref<Backend> &backend);

} // namespace astra
#endif // ASTRA_RUNTIME_BACKEND_H
