// What astra.hpp is made of: errors, results, spans, and owners of handles. A
// program includes astra/astra.hpp.
#ifndef ASTRA_OWNER_HPP
#define ASTRA_OWNER_HPP

#include "astra/astra.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace astra {
// The runtime's own classes have names of this namespace too; the linker must
// not take one for the other where the static library is used.
inline namespace cpp {

/// Why a call failed.
class Error : public std::exception {
public:
  /// Of the wrapper itself.
  Error(astra_status_t status, std::string words)
      : code(status), sentence(std::move(words)), whole(sentence) {}
  /// Takes `error`.
  Error(astra_status_t status, astra_error_t *error) : code(status) {
    place = astra_error_location(error);
    sentence = astra_error_message(error);
    if (sentence.empty())
      sentence = astra_status_name(status);
    whole = place.empty() ? sentence : place + ": " + sentence;
    astra_error_release(error);
  }
  astra_status_t status() const { return code; }
  const std::string &message() const { return sentence; }
  /// "digits.astra:12:3", or "".
  const std::string &location() const { return place; }
  /// Place and sentence.
  const char *what() const noexcept override { return whole.c_str(); }

private:
  astra_status_t code;
  std::string place, sentence, whole;
};

/// A value, or the Error that there is in its place.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return held.has_value(); }
  const Error &error() const { return *failure; }
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }
  /// The value, or the end; see above.
  T value() {
    if (!held)
      raise();
    return std::move(*held);
  }

private:
  [[noreturn]] void raise() const {
#if defined(__cpp_exceptions)
    throw *failure;
#else
    std::fprintf(stderr, "%s\n", failure->what());
    std::abort();
#endif
  }

  std::optional<T> held;
  std::optional<Error> failure;
};

/// Of a call that gives nothing.
struct Nothing {};
using Done = Result<Nothing>;

/// Elements side by side that somebody else owns.
template <class T> class Span {
public:
  Span() = default;
  Span(T *data, size_t size) : first(data), count(size) {}
  template <size_t Size> Span(T (&array)[Size]) : Span(array, Size) {}
  /// Anything with data() and size(): std::vector, std::array, std::span.
  template <class Range, class = decltype(std::declval<Range &>().size()),
            class = std::enable_if_t<std::is_convertible_v<
                decltype(std::declval<Range &>().data()), T *>>>
  Span(Range &&range) : Span(range.data(), range.size()) {}

  T *data() const { return first; }
  size_t size() const { return count; }
  T *begin() const { return first; }
  T *end() const { return first + count; }
  T &operator[](size_t index) const { return first[index]; }

private:
  T *first = nullptr;
  size_t count = 0;
};

/// The dtype of a C++ type; f16 and bf16 have none and are given as bits with
/// their dtype.
template <class T> constexpr uint32_t dtypeOf() {
  using Element = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<Element> && sizeof(Element) <= 8,
                "tensors have elements of bool, integer, float and double");
  if constexpr (std::is_same_v<Element, bool>)
    return ASTRA_BOOL;
  else if constexpr (std::is_floating_point_v<Element>)
    return ASTRA_DTYPE(ASTRA_CLASS_FLOAT, 8 * sizeof(Element));
  else if constexpr (std::is_signed_v<Element>)
    return ASTRA_DTYPE(ASTRA_CLASS_INT, 8 * sizeof(Element));
  else
    return ASTRA_DTYPE(ASTRA_CLASS_UINT, 8 * sizeof(Element));
}

namespace detail {

/// Whether elements of the dtype may be read and written as a C++ type: its
/// own, f16 and bf16 also as uint16_t, bool as uint8_t.
template <class T> constexpr bool holds(uint32_t dtype) {
  using Element = std::remove_cv_t<T>;
  return dtype == dtypeOf<T>() ||
         (std::is_same_v<Element, uint16_t> &&
          (dtype == ASTRA_F16 || dtype == ASTRA_BF16)) ||
         (std::is_same_v<Element, uint8_t> && dtype == ASTRA_BOOL);
}

/// "f32"
inline std::string nameOf(uint32_t dtype) {
  constexpr const char *classes[] = {"?", "bool", "i", "u", "f", "bf"};
  uint32_t kind = dtype >> 24;
  if (kind == ASTRA_CLASS_BOOL || kind > ASTRA_CLASS_BFLOAT)
    return kind == ASTRA_CLASS_BOOL ? "bool" : "another";
  return classes[kind] + std::to_string(dtype >> 8 & 0xffff);
}

/// Runs a C call, given the place for its error.
template <class Call> Done run(Call &&call) {
  astra_error_t *error = nullptr;
  astra_status_t status = call(&error);
  if (status != ASTRA_OK)
    return Error(status, error);
  return Nothing();
}

/// One reference of a handle. Its runtime must still be there when it goes, so
/// a class that holds both has its Runtime as the first member, which goes
/// last.
template <class Handle, astra_status_t (*Release)(astra_runtime_t *, Handle,
                                                  astra_error_t **)>
class Owner {
public:
  Owner() = default;
  Owner(astra_runtime_t *runtime, Handle handle)
      : owningRuntime(runtime), handle(handle) {}
  Owner(Owner &&other) noexcept
      : owningRuntime(other.owningRuntime),
        handle(std::exchange(other.handle, Handle{})) {}
  Owner &operator=(Owner &&other) noexcept {
    std::swap(owningRuntime, other.owningRuntime);
    std::swap(handle, other.handle);
    return *this;
  }
  ~Owner() {
    if (handle.bits)
      Release(owningRuntime, handle, nullptr);
  }

  explicit operator bool() const { return handle.bits != 0; }
  Handle get() const { return handle; }
  /// Gives the reference up to the caller.
  Handle release() { return std::exchange(handle, Handle{}); }
  astra_runtime_t *runtime() const { return owningRuntime; }

private:
  astra_runtime_t *owningRuntime = nullptr;
  Handle handle = {};
};

/// Makes an owner by a C call that fills a handle.
template <class Object, class Handle, class Call>
Result<Object> make(astra_runtime_t *runtime, Call &&call) {
  Handle handle = {};
  Done done = run([&](astra_error_t **error) { return call(&handle, error); });
  if (!done)
    return done.error();
  return Object(runtime, handle);
}

/// Has a C call call `done` once: `start(function, context, error)`. What
/// `done` is called with comes after the context; it must not throw.
template <class... Words, class Function, class Start>
Done callBack(Function done, Start &&start) {
  auto *held = new Function(std::move(done));
  Done started = run([&](astra_error_t **error) {
    return start(
        [](void *context, Words... words) noexcept {
          auto *function = static_cast<Function *>(context);
          (*function)(words...);
          delete function;
        },
        static_cast<void *>(held), error);
  });
  if (!started)
    delete held;
  return started;
}

/// What a C call puts in a place.
template <class Value, class Call> Result<Value> get(Call &&call) {
  Value value{};
  Done done = run([&](astra_error_t **error) { return call(&value, error); });
  if (!done)
    return done.error();
  return value;
}

/// Fills an extensible struct.
template <class Info, class Call> Result<Info> ask(uint32_t type, Call &&call) {
  Info info;
  astra_struct_init(&info, type, sizeof info);
  Done done = run([&](astra_error_t **error) { return call(&info, error); });
  if (!done)
    return done.error();
  return info;
}

} // namespace detail

} // namespace cpp
} // namespace astra

#endif // ASTRA_OWNER_HPP
