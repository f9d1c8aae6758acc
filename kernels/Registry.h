/* The kernels linked into this library, as a table for the runtime: generated
 * from kernels.def, one entry for each `ref` kernel and each optimised variant.
 * The runtime resolves a module's imports here: of the entries with the name
 * and version it takes the one with the highest isa_level that the processor
 * has. Plain C; knows nothing of modules or of how a level is detected. */
#ifndef ASTRA_KERNELS_REGISTRY_H
#define ASTRA_KERNELS_REGISTRY_H

#include "astra/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a variant needs of the processor. 0 is `ref`: nothing. */
#define ASTRA_ISA_REF 0u
#define ASTRA_ISA_X86_64_V3 3u
#define ASTRA_ISA_X86_64_V4 4u
#define ASTRA_ISA_NEON 8u

/* What every processor has that this library runs on: the lowest level of a
 * module's own code. */
#if defined(__aarch64__)
#define ASTRA_ISA_LEAST ASTRA_ISA_NEON
#else
#define ASTRA_ISA_LEAST ASTRA_ISA_X86_64_V3
#endif

struct astra_kernel_entry {
  const char *name; /* import name: "add_f32" */
  uint32_t version;
  uint32_t isa_level;
  astra_kernel_fn fn;
};

/* In the order of kernels.def: not sorted. */
extern const struct astra_kernel_entry astra_kernel_table[];
extern const uint64_t astra_kernel_table_size;

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_KERNELS_REGISTRY_H */
