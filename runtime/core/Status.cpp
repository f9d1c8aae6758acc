// Error objects of the C API. They are made with malloc, so that they outlive
// their runtime, and the two that must not need memory are constants.
#include "core/Status.h"
#include <cstdlib>
#include <cstring>

struct astra_error {
  int32_t code;
  bool isConstant;
  const char *message;
  const char *location;
};

namespace astra {
namespace {

astra_error outOfMemoryError = {
    ASTRA_ERROR_OUT_OF_MEMORY, true,
    "there is not enough memory; release tensors or raise the limit", ""};
astra_error internalError = {
    ASTRA_ERROR_INTERNAL, true,
    "the runtime met an unexpected exception; this is a fault of the runtime",
    ""};

/// One block holds the object and both texts.
astra_error *makeError(const Status &status) {
  size_t messageSize = std::strlen(status.message()) + 1;
  size_t locationSize = std::strlen(status.location()) + 1;
  void *memory = std::malloc(sizeof(astra_error) + messageSize + locationSize);
  if (!memory)
    return nullptr;
  char *message = static_cast<char *>(memory) + sizeof(astra_error);
  char *location = message + messageSize;
  std::memcpy(message, status.message(), messageSize);
  std::memcpy(location, status.location(), locationSize);
  return new (memory) astra_error{status.code, false, message, location};
}

} // namespace

void Status::drop() { delete text; }

Status Status::poisoned(const std::string &what, const Status &cause) {
  std::string first =
      cause.code == ASTRA_ERROR_POISONED && cause.text
          ? cause.text->message.substr(cause.text->causeAt)
          : join(astra_status_name(cause.code), ": ", cause.message());
  std::string start = what + " is the result of work that failed with ";
  Status status(ASTRA_ERROR_POISONED, start + first);
  status.text->causeAt = start.size();
  status.text->location = cause.location();
  return status;
}

Status refuseNull(const char *name) {
  return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the argument \"", name,
              "\" is null");
}

astra_status_t deliver(const Status &status, astra_error_t **error) noexcept {
  if (status.ok() || !error)
    return status.code;
  if (status.code == ASTRA_ERROR_INTERNAL && !status.hasText())
    *error = &internalError;
  else if (status.hasText())
    *error = makeError(status);
  if (*error)
    return status.code;
  *error = &outOfMemoryError;
  return ASTRA_ERROR_OUT_OF_MEMORY;
}

} // namespace astra

astra_status_t astra_error_status(const astra_error_t *error) {
  return error ? error->code : ASTRA_OK;
}

const char *astra_error_message(const astra_error_t *error) {
  return error ? error->message : "";
}

const char *astra_error_location(const astra_error_t *error) {
  return error ? error->location : "";
}

void astra_error_release(astra_error_t *error) {
  if (error && !error->isConstant)
    std::free(error);
}

const char *astra_status_name(astra_status_t status) {
  switch (status) {
#define ASTRA_STATUS_NAME(NAME)                                                \
  case NAME:                                                                   \
    return #NAME;
    ASTRA_STATUS_NAME(ASTRA_OK)
    ASTRA_STATUS_NAME(ASTRA_ERROR_INVALID_ARGUMENT)
    ASTRA_STATUS_NAME(ASTRA_ERROR_INVALID_HANDLE)
    ASTRA_STATUS_NAME(ASTRA_ERROR_INVALID_STRUCT)
    ASTRA_STATUS_NAME(ASTRA_ERROR_OUT_OF_MEMORY)
    ASTRA_STATUS_NAME(ASTRA_ERROR_OUT_OF_RESOURCES)
    ASTRA_STATUS_NAME(ASTRA_ERROR_OUT_OF_RANGE)
    ASTRA_STATUS_NAME(ASTRA_ERROR_DIVISION_BY_ZERO)
    ASTRA_STATUS_NAME(ASTRA_ERROR_ASSERTION)
    ASTRA_STATUS_NAME(ASTRA_ERROR_SHAPE_MISMATCH)
    ASTRA_STATUS_NAME(ASTRA_ERROR_DTYPE_MISMATCH)
    ASTRA_STATUS_NAME(ASTRA_ERROR_DEVICE_MISMATCH)
    ASTRA_STATUS_NAME(ASTRA_ERROR_LAYOUT_MISMATCH)
    ASTRA_STATUS_NAME(ASTRA_ERROR_COUNT_MISMATCH)
    ASTRA_STATUS_NAME(ASTRA_ERROR_OVERFLOW)
    ASTRA_STATUS_NAME(ASTRA_ERROR_DONATION)
    ASTRA_STATUS_NAME(ASTRA_ERROR_UNSUPPORTED_VERSION)
    ASTRA_STATUS_NAME(ASTRA_ERROR_MISSING_KERNEL)
    ASTRA_STATUS_NAME(ASTRA_ERROR_MISSING_DEVICE)
    ASTRA_STATUS_NAME(ASTRA_ERROR_CPU_LEVEL)
    ASTRA_STATUS_NAME(ASTRA_ERROR_IO)
    ASTRA_STATUS_NAME(ASTRA_ERROR_CORRUPT_FILE)
    ASTRA_STATUS_NAME(ASTRA_ERROR_NOT_FOUND)
    ASTRA_STATUS_NAME(ASTRA_ERROR_BUSY)
    ASTRA_STATUS_NAME(ASTRA_ERROR_NOT_READY)
    ASTRA_STATUS_NAME(ASTRA_ERROR_POISONED)
    ASTRA_STATUS_NAME(ASTRA_ERROR_CANCELLED)
    ASTRA_STATUS_NAME(ASTRA_ERROR_UNIMPLEMENTED)
    ASTRA_STATUS_NAME(ASTRA_ERROR_INTERNAL)
    ASTRA_STATUS_NAME(ASTRA_ERROR_NUMERICAL)
    ASTRA_STATUS_NAME(ASTRA_ERROR_NOT_FINITE)
#undef ASTRA_STATUS_NAME
  default:
    return "unknown status";
  }
}
