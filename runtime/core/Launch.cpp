// A call as a piece of a stream's work; see Launch.h.
#include "core/Launch.h"

namespace astra {

/// Work on an input that failed is not done.
static Status checkPoison(const Launch &launch) {
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    if (!launch.inputs[i])
      continue;
    Status status = launch.inputs[i]->wait(); // it is done already
    if (!status.ok())
      return Status::poisoned(join("input \"",
                                   launch.function->in_leaves[i].path, "\" of ",
                                   launch.name()),
                              status);
  }
  return {};
}

Ref<Completion> Launch::blocker() const {
  for (const Ref<Tensor> &input : inputs) {
    Ref<Completion> missing = input ? input->missing() : Ref<Completion>();
    if (missing)
      return missing;
  }
  return {};
}

Status Launch::run() {
  ASTRA_TRY(checkPoison(*this));
  return device->run(*this);
}

void Launch::drop() {
  inputs.clear();
  outputs.clear();
}

} // namespace astra
