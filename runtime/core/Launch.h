// One call with everything checked and worked out: what a device is given.
#ifndef ASTRA_RUNTIME_LAUNCH_H
#define ASTRA_RUNTIME_LAUNCH_H

#include "core/Module.h"
#include "core/Stream.h"
#include "core/Tensor.h"

namespace astra {

struct Launch final : Task {
  const Completion *blocker() const override;
  Status run() override;
  void drop() override;

  Device *device = nullptr;
  Ref<Module> module;
  const astra_export_desc_t *function = nullptr;
  std::vector<int64_t> dims;
  int64_t workspaceBytes = 0;
  std::vector<Ref<Tensor>> inputs; // null for a scalar by value
  std::vector<uint64_t> scalars;   // their bits, where `in` points to them
  std::vector<Ref<Tensor>> outputs;
  std::vector<astra_arg_t> in, out;

  /// "digits.step", for messages.
  std::string name() const {
    return join(module->descriptor().name, ".", function->name);
  }
};

} // namespace astra
#endif // ASTRA_RUNTIME_LAUNCH_H
