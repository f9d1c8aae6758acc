// What the compiler knows of the prebuilt kernels: name, version, operands and
// parameters of each row of kernels.def. It has no functions of kernels in it,
// so the compiler need not link them, and knows no dialect operation.
#ifndef ASTRA_KERNELS_KERNELTABLE_H
#define ASTRA_KERNELS_KERNELTABLE_H

#include <cstdint>
#include <string_view>

namespace astra {

struct KernelRow {
  std::string_view name; // import name: "add_f32"
  uint32_t version;
  int32_t inputs; // -n: n and params[0] more
  int32_t outputs;
  const char *params; // their names in order: "naxes axes..."
  const char *doc;
};

inline constexpr KernelRow kernelRows[] = {
#define KERNEL(op, dtype, version, inputs, outputs, params, doc)               \
  {#op "_" #dtype, version, inputs, outputs, params, doc},
#include "kernels/kernels.def"
};

/// The row with an import name, or null.
inline const KernelRow *findKernel(std::string_view name) {
  for (const KernelRow &row : kernelRows)
    if (row.name == name)
      return &row;
  return nullptr;
}

} // namespace astra

#endif // ASTRA_KERNELS_KERNELTABLE_H
