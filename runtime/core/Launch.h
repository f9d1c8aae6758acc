// One call with everything checked and worked out: what a device is given.
#ifndef ASTRA_RUNTIME_LAUNCH_H
#define ASTRA_RUNTIME_LAUNCH_H

#include "core/Function.h"
#include "core/SmallVector.h"
#include "core/Stream.h"
#include "core/Tensor.h"

namespace astra {

struct Launch final : Task {
  Ref<Completion> blocker() const override;
  Status run() override;
  uint32_t getWatch() const { return watch; }
  void drop() override;

  Device *device = nullptr;
  Ref<Module> module;
  const astra_export_desc_t *function = nullptr;
  static constexpr size_t few = 8;
  SmallVector<int64_t, few> dims;
  int64_t workspaceBytes = 0;
  SmallVector<Ref<Tensor>, few> inputs; // null for a scalar by value
  SmallVector<uint64_t, few> scalars;   // their bits: `in` points to them
  SmallVector<Ref<Tensor>, few> outputs;
  SmallVector<astra_arg_t, few> in, out;

  /// "digits.step", for messages.
  std::string name() const {
    return join(module->descriptor().name, ".", function->name);
  }
};

} // namespace astra
#endif // ASTRA_RUNTIME_LAUNCH_H
