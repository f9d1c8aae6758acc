// What went wrong, as a value that passes through the runtime until the C
// boundary turns it into a code and an error object. May know nothing but the
// public status codes.
#ifndef ASTRA_RUNTIME_STATUS_H
#define ASTRA_RUNTIME_STATUS_H

#include "astra/astra.h"
#include <new>
#include <string>
#include <type_traits>

namespace astra {

/// A code and, if it is an error, a sentence and perhaps a place in the source.
struct [[nodiscard]] Status {
  int32_t code = ASTRA_OK;
  std::string message;
  std::string location;

  bool ok() const { return code == ASTRA_OK; }
};

inline void appendPart(std::string &text, const char *part) {
  text += part ? part : "(null)";
}
inline void appendPart(std::string &text, const std::string &part) {
  text += part;
}
template <class T>
std::enable_if_t<std::is_integral_v<T>> appendPart(std::string &text, T part) {
  text += std::to_string(part);
}

/// A text of strings and whole numbers set side by side.
template <class... Parts> std::string join(const Parts &...parts) {
  std::string text;
  (appendPart(text, parts), ...);
  return text;
}

/// An error whose sentence is the parts side by side.
template <class... Parts> Status fail(int32_t code, const Parts &...parts) {
  return Status{code, join(parts...), {}};
}

#define ASTRA_TRY(EXPRESSION)                                                  \
  do {                                                                         \
    if (::astra::Status status_ = (EXPRESSION); !status_.ok())                 \
      return status_;                                                          \
  } while (false)

/// Hands a status over to a caller in C.
astra_status_t deliver(const Status &status, astra_error_t **error) noexcept;
astra_status_t deliverOutOfMemory(astra_error_t **error) noexcept;
astra_status_t deliverInternal(astra_error_t **error) noexcept;

/// Runs the body of a public function. Nothing is thrown by the runtime itself,
/// but the standard library reports the lack of memory so; no exception leaves.
template <class Body>
astra_status_t boundary(astra_error_t **error, Body &&body) noexcept {
  if (error)
    *error = nullptr;
  try {
    return deliver(body(), error);
  } catch (const std::bad_alloc &) {
    return deliverOutOfMemory(error);
  } catch (...) {
    return deliverInternal(error);
  }
}

/// Refuses a null pointer argument by its name in the header.
inline Status need(const void *pointer, const char *name) {
  if (pointer)
    return {};
  return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the argument \"", name,
              "\" is null");
}

} // namespace astra
#endif // ASTRA_RUNTIME_STATUS_H
