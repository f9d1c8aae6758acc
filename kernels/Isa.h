// Which instruction set a file of kernels is compiled for. Every header of
// kernels/ with code in it puts that code into an inline namespace named after
// the set, because the same source is compiled several times: the linker must
// never replace a `ref` function by one that needs AVX-512. ASTRA_ISA comes
// from the build; everything outside the kernels is `ref`.
#ifndef ASTRA_KERNELS_ISA_H
#define ASTRA_KERNELS_ISA_H

#include "astra/base.h"
#include "astra/module.h"

#ifndef ASTRA_ISA
#define ASTRA_ISA ref
#endif

#define ASTRA_KERNELS_BEGIN                                                    \
  namespace astra {                                                            \
  inline namespace ASTRA_ISA {
#define ASTRA_KERNELS_END                                                      \
  }                                                                            \
  }

// The parts of an operation are inlined before anything else is optimised:
// simplified by itself first, a function gets branches that keep the loop
// around it from being vectorised.
#define ASTRA_INLINE __attribute__((always_inline))

// A part that is long beside a call and that many kernels have in common.
#define ASTRA_SHARED __attribute__((noinline))

// The symbol of a kernel. `ref` has no tile in its name.
#define ASTRA_REF_NAME(op, dtype) astra_k_##op##_##dtype##__ref
#define ASTRA_VARIANT_NAME3(op, dtype, tile, isa)                              \
  astra_k_##op##_##dtype##_##tile##__##isa
#define ASTRA_VARIANT_NAME2(op, dtype, tile, isa)                              \
  ASTRA_VARIANT_NAME3(op, dtype, tile, isa)
#define ASTRA_VARIANT_NAME(op, dtype, tile)                                    \
  ASTRA_VARIANT_NAME2(op, dtype, tile, ASTRA_ISA)

// Defines a kernel whose body is an expression of call, args and params.
#define ASTRA_DEFINE_KERNEL(symbol, ...)                                       \
  extern "C" astra_outcome_t symbol(const astra_call_t *call,                  \
                                    const astra_arg_t *args,                   \
                                    const int64_t *params) {                   \
    return __VA_ARGS__;                                                        \
  }
#define ASTRA_DEFINE_REF(op, dtype, ...)                                       \
  ASTRA_DEFINE_KERNEL(ASTRA_REF_NAME(op, dtype), __VA_ARGS__)
#define ASTRA_DEFINE_VARIANT(op, dtype, tile, ...)                             \
  ASTRA_DEFINE_KERNEL(ASTRA_VARIANT_NAME(op, dtype, tile), __VA_ARGS__)

#endif // ASTRA_KERNELS_ISA_H
