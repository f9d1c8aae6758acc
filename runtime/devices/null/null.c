/* The null device: memory of its own, and no calls. The template to clone for a
 * new back end (docs/backends.md), and a test of the core, since the host never
 * sees its addresses. It uses nothing but astra/backend.h and the C library, so
 * the same file is a part of the library and, compiled alone, a plug-in.
 *
 * An address is the number of a slot, plus one, above 40 bits of offset. A slot
 * has a generation that grows with each use, so that a pointer of memory that
 * was released is told from a live one.
 */
#include "astra/backend.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef NULL_ENTRY
#define NULL_ENTRY astra_backend_entry_1
#endif

#define OFFSET_BITS 40

struct slot {
  char *memory; /* null: free */
  uint64_t bytes;
  uint64_t generation;
};

struct state {
  const astra_backend_host_t *host;
  pthread_mutex_t mutex; /* guards all below */
  struct slot *slots;
  size_t count;
};

static astra_status_t null_open(const astra_backend_host_t *host, void **state,
                                uint32_t *device_count, char *message) {
  struct state *made = calloc(1, sizeof *made);
  if (!made) {
    snprintf(message, ASTRA_BACKEND_MESSAGE, "there is no memory for a state");
    return ASTRA_ERROR_OUT_OF_MEMORY;
  }
  made->host = host;
  pthread_mutex_init(&made->mutex, NULL);
  *state = made;
  *device_count = 1;
  return ASTRA_OK;
}

static void null_close(void *state) {
  struct state *self = state;
  for (size_t i = 0; i < self->count; ++i)
    self->host->release(self->host->context, self->slots[i].memory);
  free(self->slots);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

static astra_status_t null_describe(void *state, uint32_t device,
                                    astra_backend_device_t *info,
                                    char *message) {
  (void)state, (void)device, (void)message;
  info->name = "null";
  info->description = "holds tensors and runs nothing";
  return ASTRA_OK;
}

/* A free slot; the lock is held. */
static struct slot *free_slot(struct state *self) {
  for (size_t i = 0; i < self->count; ++i)
    if (!self->slots[i].memory)
      return &self->slots[i];
  size_t count = self->count ? 2 * self->count : 16;
  struct slot *grown = realloc(self->slots, count * sizeof *grown);
  if (!grown)
    return NULL;
  memset(grown + self->count, 0, (count - self->count) * sizeof *grown);
  self->slots = grown;
  struct slot *found = &grown[self->count];
  self->count = count;
  return found;
}

static astra_status_t null_allocate(void *state, uint32_t device,
                                    uint64_t bytes,
                                    astra_device_pointer_t *memory,
                                    char *message) {
  struct state *self = state;
  (void)device;
  char *block = bytes >> OFFSET_BITS
                    ? NULL
                    : self->host->allocate(self->host->context, bytes);
  pthread_mutex_lock(&self->mutex);
  struct slot *slot = block ? free_slot(self) : NULL;
  if (slot) {
    slot->memory = block;
    slot->bytes = bytes;
    ++slot->generation;
    memory->address = (uint64_t)(slot - self->slots + 1) << OFFSET_BITS;
    memory->generation = slot->generation;
  }
  pthread_mutex_unlock(&self->mutex);
  if (slot)
    return ASTRA_OK;
  self->host->release(self->host->context, block);
  snprintf(message, ASTRA_BACKEND_MESSAGE,
           "there is no memory for the %" PRIu64
           " bytes of a tensor on the device \"null\"",
           bytes);
  return ASTRA_ERROR_OUT_OF_MEMORY;
}

/* The slot of a pointer, or null; the lock is held. */
static struct slot *find(struct state *self, astra_device_pointer_t memory,
                         char *message) {
  uint64_t index = (memory.address >> OFFSET_BITS) - 1;
  struct slot *slot = index < self->count ? &self->slots[index] : NULL;
  if (slot && slot->memory && slot->generation == memory.generation)
    return slot;
  snprintf(message, ASTRA_BACKEND_MESSAGE,
           "the memory at %#" PRIx64 ", generation %" PRIu64
           ", was released already, or was never allocated",
           memory.address, memory.generation);
  return NULL;
}

static astra_status_t null_release(void *state, uint32_t device,
                                   astra_device_pointer_t memory,
                                   char *message) {
  struct state *self = state;
  char *block = NULL;
  (void)device;
  pthread_mutex_lock(&self->mutex);
  struct slot *slot = find(self, memory, message);
  if (slot) {
    block = slot->memory;
    slot->memory = NULL;
  }
  pthread_mutex_unlock(&self->mutex);
  self->host->release(self->host->context, block);
  return block ? ASTRA_OK : ASTRA_ERROR_INVALID_HANDLE;
}

/* The host's address of a range of live memory. */
static astra_status_t locate(struct state *self, astra_device_pointer_t memory,
                             uint64_t offset, uint64_t bytes, char **at,
                             char *message) {
  astra_status_t status = ASTRA_ERROR_INVALID_HANDLE;
  pthread_mutex_lock(&self->mutex);
  const struct slot *slot = find(self, memory, message);
  if (slot && (offset > slot->bytes || bytes > slot->bytes - offset)) {
    snprintf(message, ASTRA_BACKEND_MESSAGE,
             "the range of %" PRIu64 " bytes from %" PRIu64
             " leaves the memory, which has %" PRIu64,
             bytes, offset, slot->bytes);
    status = ASTRA_ERROR_OUT_OF_RANGE;
  } else if (slot) {
    *at = slot->memory + offset;
    status = ASTRA_OK;
  }
  pthread_mutex_unlock(&self->mutex);
  return status;
}

static astra_status_t null_upload(void *state, uint32_t device,
                                  astra_device_pointer_t to, uint64_t offset,
                                  const void *from, uint64_t bytes,
                                  char *message) {
  char *at = NULL;
  astra_status_t status = locate(state, to, offset, bytes, &at, message);
  (void)device;
  if (status == ASTRA_OK)
    memcpy(at, from, bytes);
  return status;
}

static astra_status_t null_download(void *state, uint32_t device,
                                    astra_device_pointer_t from,
                                    uint64_t offset, void *to, uint64_t bytes,
                                    char *message) {
  char *at = NULL;
  astra_status_t status = locate(state, from, offset, bytes, &at, message);
  (void)device;
  if (status == ASTRA_OK)
    memcpy(to, at, bytes);
  return status;
}

static astra_status_t null_copy(void *state, uint32_t device,
                                astra_device_pointer_t from,
                                uint64_t from_offset, astra_device_pointer_t to,
                                uint64_t to_offset, uint64_t bytes,
                                char *message) {
  char *source = NULL, *target = NULL;
  astra_status_t status =
      locate(state, from, from_offset, bytes, &source, message);
  (void)device;
  if (status == ASTRA_OK)
    status = locate(state, to, to_offset, bytes, &target, message);
  if (status == ASTRA_OK)
    memmove(target, source, bytes);
  return status;
}

static const astra_backend_t null_table = {
    {ASTRA_STRUCT_BACKEND, 0, sizeof(astra_backend_t), NULL},
    ASTRA_BACKEND_ABI,
    0,
    "null",
    null_open,
    null_close,
    null_describe,
    null_allocate,
    null_release,
    null_upload,
    null_download,
    null_copy,
    NULL, /* accept */
    NULL, /* run */
    NULL, /* extension */
};

const astra_backend_t *NULL_ENTRY(void);
const astra_backend_t *NULL_ENTRY(void) { return &null_table; }
