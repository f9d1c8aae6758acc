// The table of Registry.h: every row of kernels.def with its `ref` kernel, and
// the optimised variants of this processor family.
#include "kernels/Registry.h"
#include "kernels/Isa.h"

#if defined(__x86_64__) && !defined(ASTRA_REFERENCE_ONLY)
#define ON_x86_64_v3(...) __VA_ARGS__
#define ON_x86_64_v4(...) __VA_ARGS__
#else
#define ON_x86_64_v3(...)
#define ON_x86_64_v4(...)
#endif
#if defined(__aarch64__)
#define ON_neon(...) __VA_ARGS__
#else
#define ON_neon(...)
#endif
#define LEVEL_x86_64_v3 ASTRA_ISA_X86_64_V3
#define LEVEL_x86_64_v4 ASTRA_ISA_X86_64_V4
#define LEVEL_neon ASTRA_ISA_NEON

extern "C" {
#define KERNEL(op, dtype, version, inputs, outputs, params, doc)               \
  astra_outcome_t ASTRA_REF_NAME(op, dtype)(                                   \
      const astra_call_t *, const astra_arg_t *, const int64_t *);
#define CPU_VARIANT(op, dtype, isa, tile)                                      \
  astra_outcome_t ASTRA_VARIANT_NAME3(op, dtype, tile, isa)(                   \
      const astra_call_t *, const astra_arg_t *, const int64_t *);
#include "kernels/kernels.def"
}

// The version of each row, for the rows of its variants.
enum {
#define KERNEL(op, dtype, version, inputs, outputs, params, doc)               \
  version_##op##_##dtype = version,
#include "kernels/kernels.def"
};

extern "C" const struct astra_kernel_entry astra_kernel_table[] = {
#define KERNEL(op, dtype, version, inputs, outputs, params, doc)               \
  {#op "_" #dtype, version, ASTRA_ISA_REF, ASTRA_REF_NAME(op, dtype)},
#define CPU_VARIANT(op, dtype, isa, tile)                                      \
  ON_##isa({#op "_" #dtype, version_##op##_##dtype, LEVEL_##isa,               \
            ASTRA_VARIANT_NAME3(op, dtype, tile, isa)}, )
#include "kernels/kernels.def"
};

extern "C" const uint64_t astra_kernel_table_size =
    sizeof(astra_kernel_table) / sizeof(astra_kernel_table[0]);
