// What a kernel's call costs by its shapes: the bytes of its operands and its
// arithmetic operations, by the table kernels/costs.def. Reads no values.
#ifndef ASTRA_RUNTIME_COST_H
#define ASTRA_RUNTIME_COST_H

#include "astra/module.h"

namespace astra {

/// A row of kernels.def as profiles see it.
struct KernelTraits {
  enum Rule {
    Outputs, // one for each element of the result
    Moves,
    Inputs,
    Values,
    Products,
    Attention,
    Cubes,
    Equations,
    Triangles,
    Fused,
    Joined // a product, of so many inputs, and fused kernels
  };
  int32_t inputs = 0, outputs = 0; // -n: n and params[0] more
  Rule rule = Moves;
  uint32_t weight = 0;
  bool takes = false, makes = false; // joined: its result, an operand
};

/// Null traits, of no operands, for a name that this library does not know.
KernelTraits findTraits(const char *name);

/// The operands of one call.
struct Operands {
  const astra_arg_t *inputs, *outputs;
  uint32_t inputCount, outputCount;
};
Operands operandsOf(const KernelTraits &traits, const astra_arg_t *args,
                    const int64_t *params);

struct Cost {
  uint64_t bytes = 0, flops = 0;
};
Cost costOf(const KernelTraits &traits, const Operands &operands,
            const int64_t *params);

/// Does a kernel run the module's own code?
inline bool runsFused(const KernelTraits &traits) {
  return traits.rule == KernelTraits::Fused ||
         traits.rule == KernelTraits::Joined;
}

/// The description of a fused kernel that is called with these parameters.
inline const astra_fused_desc_t &fusedOf(const int64_t *params) {
  return *reinterpret_cast<const astra_fused_desc_t *>(uintptr_t(params[0]));
}

} // namespace astra
#endif // ASTRA_RUNTIME_COST_H
