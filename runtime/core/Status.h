// What went wrong, as a value that passes through the runtime until the C
// boundary turns it into a code and an error object. May know nothing but the
// public status codes.
#ifndef ASTRA_RUNTIME_STATUS_H
#define ASTRA_RUNTIME_STATUS_H

#include "astra/astra.h"
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

// Two words that clang then returns in registers, though they own memory.
#ifdef __clang__
#define ASTRA_IN_REGISTERS __attribute__((trivial_abi))
#else
#define ASTRA_IN_REGISTERS
#endif

namespace astra {

/// A code and, if it is an error, a sentence and perhaps a place in the source.
/// Two words, since every function returns one; a lack of memory may have no
/// sentence, and success has none.
class [[nodiscard]] ASTRA_IN_REGISTERS Status {
public:
  Status() = default;
  Status(int32_t code, std::string message)
      : code(code),
        text(code == ASTRA_OK ? nullptr : new Text{std::move(message), {}, 0}) {
  }
  Status(Status &&other) noexcept
      : code(other.code), text(std::exchange(other.text, nullptr)) {}
  Status &operator=(Status &&other) noexcept {
    std::swap(code, other.code);
    std::swap(text, other.text);
    return *this;
  }
  Status(const Status &other)
      : code(other.code), text(other.text ? new Text(*other.text) : nullptr) {}
  Status &operator=(const Status &other) { return *this = Status(other); }
  ~Status() {
    if (code != ASTRA_OK)
      drop();
  }

  /// The error that needs no memory.
  static Status withoutText(int32_t code) noexcept {
    Status status;
    status.code = code;
    return status;
  }

  bool ok() const { return code == ASTRA_OK; }
  bool hasText() const { return text != nullptr; }
  const char *message() const { return text ? text->message.c_str() : ""; }
  const char *location() const { return text ? text->location.c_str() : ""; }
  void setMessage(std::string message) { own().message = std::move(message); }
  void setLocation(std::string place) { own().location = std::move(place); }
  /// The error of work that is not done, because `what` is the result of work
  /// that ended with `cause`. Names the first failure and where it happened,
  /// however many pieces of work lie between.
  static Status poisoned(const std::string &what, const Status &cause);

  int32_t code = ASTRA_OK;

private:
  struct Text {
    std::string message, location;
    size_t causeAt = 0; // in the message of poisoned work: the first failure
  };
  Text &own() {
    if (!text)
      text = new Text();
    return *text;
  }
  void drop();
  Text *text = nullptr; // owned
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
  return Status(code, join(parts...));
}

#define ASTRA_TRY(EXPRESSION)                                                  \
  do {                                                                         \
    if (::astra::Status status_ = (EXPRESSION); !status_.ok())                 \
      return status_;                                                          \
  } while (false)

/// Runs something of the runtime's own that may throw for want of memory.
template <class Body> Status guarded(Body &&body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status::withoutText(ASTRA_ERROR_OUT_OF_MEMORY);
  } catch (...) {
    return Status::withoutText(ASTRA_ERROR_INTERNAL);
  }
}

/// Hands a status over to a caller in C.
astra_status_t deliver(const Status &status, astra_error_t **error) noexcept;

/// Runs the body of a public function. Nothing is thrown by the runtime itself,
/// but the standard library reports the lack of memory so; no exception leaves.
template <class Body>
astra_status_t boundary(astra_error_t **error, Body &&body) noexcept {
  if (error)
    *error = nullptr;
  Status status = guarded(std::forward<Body>(body));
  return status.ok() ? ASTRA_OK : deliver(status, error);
}

Status refuseNull(const char *name);

/// Refuses a null pointer argument by its name in the header.
inline Status need(const void *pointer, const char *name) {
  return pointer ? Status() : refuseNull(name);
}

} // namespace astra
#endif // ASTRA_RUNTIME_STATUS_H
