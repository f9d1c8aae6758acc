/* The interface between the runtime and its back ends, which bring devices: the
 * third ABI, beside the C API (astra.h) and the object ABI (module.h). A back
 * end is a shared library that defines ASTRA_BACKEND_ENTRY and includes no
 * other header of Astra's; programs never include this one, but for an
 * extension that they ask for. docs/backends.md tells how to write one.
 *
 * Plain C99. Rules that hold for every function:
 *
 * Status. 0 or an ASTRA_ERROR_*. One that fails writes a sentence into
 * `message`, which has ASTRA_BACKEND_MESSAGE bytes and is empty before; it
 * names the thing and both values. Nothing is thrown.
 *
 * Threads. Every function may be called on any thread at any time, but for
 * open and close. No function calls the C API.
 *
 * Growth. Structs grow at their ends; what lies beyond struct_size does not
 * exist. A change of what there is raises ASTRA_BACKEND_ABI and gives the entry
 * another name. */
#ifndef ASTRA_BACKEND_H
#define ASTRA_BACKEND_H

#include "astra/module.h"
#include "astra/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASTRA_BACKEND_ABI 1u
#define ASTRA_BACKEND_ENTRY "astra_backend_entry_1"
#define ASTRA_BACKEND_MESSAGE 1024u

/* Memory of a device. The generation belongs to one allocation and is never 0:
 * a back end checks it each time, so that memory that was released, or is
 * another's by now, is refused (ASTRA_ERROR_INVALID_HANDLE), not used. The
 * address need not be one of the host's; it is not 0. */
typedef struct astra_device_pointer {
  uint64_t address;
  uint64_t generation;
} astra_device_pointer_t;

/* One call of a function, checked: dtypes, ranks, extents and devices are what
 * the descriptor says. It lives until `run` returns. */
typedef struct astra_backend_call {
  astra_chain_t chain; /* ASTRA_STRUCT_BACKEND_CALL */
  const astra_module_desc_t *module;
  const astra_export_desc_t *function;
  const int64_t *dims;
  int64_t workspace_bytes;
  /* The leaves. `data` of a tensor is an address of the device: that of its
   * memory plus the offset of the view. */
  const astra_arg_t *in;
  astra_arg_t *out;
  /* The memory that each leaf lies in, as `allocate` gave it. Generation 0: a
   * scalar by value, whose `data` is an address of the host. Null for a device
   * with ASTRA_CAPABILITY_HOST_MEMORY, where all data are the host's. */
  const astra_device_pointer_t *in_memory;
  const astra_device_pointer_t *out_memory;
  /* The runtime's own. */
  void *launch;
  /* 1 + the index of the location in the module where it failed, or 0. */
  uint64_t failed_at;
} astra_backend_call_t;

/* What the runtime does for a back end. It outlives the back end. */
typedef struct astra_backend_host {
  astra_chain_t chain; /* ASTRA_STRUCT_BACKEND_HOST */
  void *context;       /* the first argument of its functions */
  uint32_t cpu_level;  /* ASTRA_CPU_*, that kernels are chosen for */
  uint32_t threads;    /* that work on one call */
  /* The host's memory, from the runtime's pool, aligned to 64 bytes; null if
   * there is none. Null may be released. */
  void *(*allocate)(void *context, size_t bytes);
  void (*release)(void *context, void *memory);
  /* Runs a call on the host's processor, with leaves that lie in its memory:
   * `in` and `out` have the shapes of the call's and dense strides or others.
   * For what a device cannot do itself. */
  astra_status_t (*run_on_host)(void *context, astra_backend_call_t *call,
                                const astra_arg_t *in, astra_arg_t *out,
                                char *message);
} astra_backend_host_t;

/* One device of a back end; the strings live until `close`. */
typedef struct astra_backend_device {
  astra_chain_t chain; /* ASTRA_STRUCT_BACKEND_DEVICE */
  const char *name;    /* "cuda:0"; of its own among all devices */
  const char *description;
  uint64_t capabilities; /* ASTRA_CAPABILITY_* */
  uint32_t cpu_level;    /* ASTRA_CPU_* that kernels are chosen for, or 0 */
  uint32_t threads;      /* that work on one call, or 0 */
} astra_backend_device_t;

/* A back end. `state` is what its `open` gave; `device` is below its number of
 * devices. */
typedef struct astra_backend {
  astra_chain_t chain;  /* ASTRA_STRUCT_BACKEND */
  uint32_t backend_abi; /* ASTRA_BACKEND_ABI */
  uint32_t reserved;
  const char *name; /* "cuda" */

  /* Begins and ends; each once for each runtime that it is loaded into. */
  astra_status_t (*open)(const astra_backend_host_t *host, void **state,
                         uint32_t *device_count, char *message);
  void (*close)(void *state);
  /* Fills what `info` has room for. */
  astra_status_t (*describe)(void *state, uint32_t device,
                             astra_backend_device_t *info, char *message);

  /* Memory; these five are null where every device has
   * ASTRA_CAPABILITY_HOST_MEMORY, which means that the runtime allocates. A
   * range that leaves the allocation is ASTRA_ERROR_OUT_OF_RANGE. Aligned to
   * 256 bytes; `bytes` is not 0. The runtime releases memory once the last work
   * that uses it has returned. */
  astra_status_t (*allocate)(void *state, uint32_t device, uint64_t bytes,
                             astra_device_pointer_t *memory, char *message);
  astra_status_t (*release)(void *state, uint32_t device,
                            astra_device_pointer_t memory, char *message);
  astra_status_t (*upload)(void *state, uint32_t device,
                           astra_device_pointer_t to, uint64_t offset,
                           const void *from, uint64_t bytes, char *message);
  astra_status_t (*download)(void *state, uint32_t device,
                             astra_device_pointer_t from, uint64_t offset,
                             void *to, uint64_t bytes, char *message);
  astra_status_t (*copy)(void *state, uint32_t device,
                         astra_device_pointer_t from, uint64_t from_offset,
                         astra_device_pointer_t to, uint64_t to_offset,
                         uint64_t bytes, char *message);

  /* Runs a call to its end; null where no device has ASTRA_CAPABILITY_CALLS.
   * One call at a time for each stream. `accept` may refuse a call before
   * anything has been done for it, and may be null; of the call it sees the
   * module and the function only. */
  astra_status_t (*accept)(void *state, uint32_t device,
                           const astra_backend_call_t *call, char *message);
  astra_status_t (*run)(void *state, uint32_t device,
                        astra_backend_call_t *call, char *message);

  /* The extension of this name in exactly this version, or null; may be null
   * itself. The table lives until `close`. Names begin with that of the back
   * end, "cuda.stream"; those that begin with "astra." are the runtime's. */
  const astra_extension_t *(*extension)(void *state, uint32_t device,
                                        const char *name, uint32_t version);
} astra_backend_t;

/* The one symbol that a back end exports, by the name ASTRA_BACKEND_ENTRY. The
 * table is static. */
typedef const astra_backend_t *(*astra_backend_entry_fn)(void);

/* The extension "astra.backend", version 1, of every device: the table behind
 * it, for programs that speak to the device itself. */
#define ASTRA_EXTENSION_BACKEND "astra.backend"
typedef struct astra_extension_backend {
  astra_extension_t extension;
  const astra_backend_t *backend;
  void *state;
  uint32_t device;
  uint32_t reserved;
} astra_extension_backend_t;

#ifdef __cplusplus
}
#endif
#endif /* ASTRA_BACKEND_H */
