/* A back end for tests, as a plug-in: the null one's memory, and calls, which
 * the host's processor does in copies that the host sees. Built in several
 * faulty forms too.
 */
#define NULL_ENTRY null_entry
#include "devices/null/null.c"

#ifndef SIMULATED_ABI
#define SIMULATED_ABI ASTRA_BACKEND_ABI
#endif
#ifndef SIMULATED_NAME
#define SIMULATED_NAME "simulated"
#endif

struct counter {
  astra_extension_t extension;
  uint64_t (*calls)(void);
};
static uint64_t call_count;
static uint64_t calls(void) {
  return __atomic_load_n(&call_count, __ATOMIC_SEQ_CST);
}
static const struct counter counter = {
    {{ASTRA_STRUCT_EXTENSION, 0, sizeof(struct counter), NULL},
     "simulated.counter",
     2,
     0},
    calls};

static const astra_extension_t *extension(void *state, uint32_t device,
                                          const char *name, uint32_t version) {
  (void)state, (void)device;
  if (strcmp(name, "simulated.liar") == 0)
    return &counter.extension;
  return strcmp(name, "simulated.counter") == 0 && version == 2
             ? &counter.extension
             : NULL;
}

static astra_status_t simulated_open(const astra_backend_host_t *host,
                                     void **state, uint32_t *device_count,
                                     char *message) {
#ifdef SIMULATED_OPEN_FAILS
  (void)host, (void)state, (void)device_count;
  snprintf(message, ASTRA_BACKEND_MESSAGE, "no card is plugged in");
  return ASTRA_ERROR_MISSING_DEVICE;
#else
  return null_open(host, state, device_count, message);
#endif
}

static astra_status_t describe(void *state, uint32_t device,
                               astra_backend_device_t *info, char *message) {
  (void)state, (void)device, (void)message;
  info->name = SIMULATED_NAME;
  info->description = "memory of its own, and calls on the host";
  info->capabilities = ASTRA_CAPABILITY_CALLS;
  return ASTRA_OK;
}

/* A leaf with the same strides in memory that the host sees. */
static astra_status_t on_host(struct state *self, astra_device_pointer_t memory,
                              astra_arg_t *leaf, char *message) {
  char *base = NULL;
  if (memory.generation == 0)
    return ASTRA_OK; /* a scalar by value */
  astra_status_t status = locate(self, memory, 0, 0, &base, message);
  if (status == ASTRA_OK)
    leaf->data = base + ((uintptr_t)leaf->data - memory.address);
  return status;
}

static astra_status_t run(void *state, uint32_t device,
                          astra_backend_call_t *call, char *message) {
  struct state *self = state;
  uint64_t in_count = call->function->in_leaf_count;
  uint64_t count = in_count + call->function->out_leaf_count;
  astra_arg_t *leaves = calloc(count + 1, sizeof *leaves);
  astra_status_t status = leaves ? ASTRA_OK : ASTRA_ERROR_OUT_OF_MEMORY;
  (void)device;
  for (uint64_t i = 0; i < count && status == ASTRA_OK; ++i) {
    uint64_t out = i - in_count;
    leaves[i] = i < in_count ? call->in[i] : call->out[out];
    status =
        on_host(self, i < in_count ? call->in_memory[i] : call->out_memory[out],
                &leaves[i], message);
  }
  if (status == ASTRA_OK)
    status = self->host->run_on_host(self->host->context, call, leaves,
                                     leaves + in_count, message);
  __atomic_fetch_add(&call_count, 1, __ATOMIC_SEQ_CST);
  free(leaves);
  return status;
}

static const astra_backend_t table = {
    {ASTRA_STRUCT_BACKEND, 0, sizeof(astra_backend_t), NULL},
    SIMULATED_ABI,
    0,
    "simulated",
    simulated_open,
    null_close,
    describe,
    null_allocate,
    null_release,
#ifdef SIMULATED_NO_UPLOAD
    NULL,
#else
    null_upload,
#endif
    null_download,
    null_copy,
    NULL,
    run,
    extension,
};

const astra_backend_t *astra_backend_entry_1(void);
const astra_backend_t *astra_backend_entry_1(void) {
  (void)null_entry;
  return &table;
}
