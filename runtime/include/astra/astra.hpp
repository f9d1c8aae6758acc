// Astra for C++17: owners of the C API's handles, spans and results, header
// only. Everything here is a thin inline layer over astra/astra.h, whose rules
// hold; the functions of a generated header take what `get()` gives.
//
// A function that can fail returns a Result. `result.value()` gives what it
// holds, or throws the Error where exceptions are on and ends the program with
// its sentence where they are not; `if (!result) use(result.error());` needs no
// exceptions. Owners may be moved and not copied; each must be gone before its
// Runtime is.
#ifndef ASTRA_ASTRA_HPP
#define ASTRA_ASTRA_HPP

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

/// Runs a C call, given the place for its error.
template <class Call> Done run(Call &&call) {
  astra_error_t *error = nullptr;
  astra_status_t status = call(&error);
  if (status != ASTRA_OK)
    return Error(status, error);
  return Nothing();
}

/// One reference of a handle.
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

class Device : public detail::Owner<astra_device_t, astra_device_release> {
public:
  using Owner::Owner;
};

class Stream : public detail::Owner<astra_stream_t, astra_stream_release> {
public:
  using Owner::Owner;

  Done wait() const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_wait(runtime(), get(), error);
    });
  }
  /// Records what runs: see astra_stream_trace.
  Done trace(bool on) const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_trace(runtime(), get(), on, error);
    });
  }
  /// Stops at the first ASTRA_CHECK_NAN or _INFINITY: see astra_stream_check.
  Done check(uint32_t what) const {
    return detail::run([&](astra_error_t **error) {
      return astra_stream_check(runtime(), get(), what, error);
    });
  }
};

/// The elements of a tensor in memory, for as long as it lives.
template <class T>
class Mapping : public detail::Owner<astra_mapping_t, astra_tensor_unmap> {
public:
  Mapping(astra_runtime_t *runtime, astra_mapping_t handle, Span<T> elements)
      : Owner(runtime, handle), all(elements) {}
  Span<T> elements() const { return all; }

private:
  Span<T> all;
};

class Tensor : public detail::Owner<astra_tensor_t, astra_tensor_release> {
public:
  using Owner::Owner;

  /// A copy of `elements`, row by row.
  template <class T>
  static Result<Tensor> from(const Device &device, Span<const T> elements,
                             Span<const int64_t> shape) {
    return detail::make<Tensor, astra_tensor_t>(
        device.runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_tensor_from_data(
              device.runtime(), device.get(), dtypeOf<T>(),
              uint32_t(shape.size()), shape.data(), elements.data(),
              elements.size() * sizeof(T), tensor, error);
        });
  }
  template <class T>
  static Result<Tensor> from(const Device &device,
                             const std::vector<T> &elements,
                             const std::vector<int64_t> &shape) {
    return from<T>(device, Span<const T>(elements), Span<const int64_t>(shape));
  }

  /// A tensor that can be written once, through write(), before it is used.
  template <class T>
  static Result<Tensor> empty(const Device &device,
                              const std::vector<int64_t> &shape) {
    return detail::make<Tensor, astra_tensor_t>(
        device.runtime(), [&](astra_tensor_t *tensor, astra_error_t **error) {
          return astra_tensor_empty(device.runtime(), device.get(),
                                    dtypeOf<T>(), uint32_t(shape.size()),
                                    shape.data(), tensor, error);
        });
  }

  /// The elements in memory, row by row, without a copy where they lie so.
  /// T is the type of the elements: nothing but the size is compared.
  template <class T> Result<Mapping<const T>> view() const {
    return map<const T>(ASTRA_MAP_READ);
  }
  template <class T> Result<Mapping<T>> write() const {
    return map<T>(ASTRA_MAP_WRITE);
  }

  /// One more owner of the same tensor.
  Result<Tensor> share() const {
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_retain(runtime(), get(), error);
    });
    if (!done)
      return done.error();
    return Tensor(runtime(), get());
  }
  /// Waits, and reports how the work that makes the tensor ended.
  Done wait() const {
    return detail::run([&](astra_error_t **error) {
      return astra_tensor_wait(runtime(), get(), error);
    });
  }
  Result<uint32_t> dtype() const {
    uint32_t dtype = 0;
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_dtype(runtime(), get(), &dtype, error);
    });
    if (!done)
      return done.error();
    return dtype;
  }
  Result<std::vector<int64_t>> shape() const {
    uint32_t rank = 0;
    std::vector<int64_t> extents(ASTRA_MAX_RANK);
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_shape(runtime(), get(), ASTRA_MAX_RANK, &rank,
                                extents.data(), error);
    });
    if (!done)
      return done.error();
    extents.resize(rank);
    return extents;
  }
  /// All elements, row by row.
  template <class T> Result<std::vector<T>> read() const {
    static_assert(!std::is_same_v<T, bool>, "read bool elements as uint8_t");
    Result<std::vector<int64_t>> extents = shape();
    if (!extents)
      return extents.error();
    size_t count = 1;
    for (int64_t extent : *extents)
      count *= size_t(extent);
    std::vector<T> elements(count);
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_read(runtime(), get(), elements.data(),
                               count * sizeof(T), error);
    });
    if (!done)
      return done.error();
    return elements;
  }

private:
  template <class T> Result<Mapping<T>> map(uint32_t access) const {
    astra_mapping_t mapping = {};
    void *data = nullptr;
    size_t bytes = 0;
    Done done = detail::run([&](astra_error_t **error) {
      return astra_tensor_map(runtime(), get(), astra_device_t{}, access, 0,
                              ASTRA_WHOLE, &mapping, &data, &bytes, error);
    });
    if (!done)
      return done.error();
    return Mapping<T>(runtime(), mapping,
                      Span<T>(static_cast<T *>(data), bytes / sizeof(T)));
  }
};

class Function
    : public detail::Owner<astra_function_t, astra_function_release> {
public:
  using Owner::Owner;

  Result<astra_function_info_t> info() const {
    return detail::ask<astra_function_info_t>(
        ASTRA_STRUCT_FUNCTION_INFO, [&](auto *info, astra_error_t **error) {
          return astra_function_info(runtime(), get(), info, error);
        });
  }
  Result<astra_value_info_t> parameter(size_t index) const {
    return value(index, astra_function_parameter);
  }
  Result<astra_value_info_t> result(size_t index) const {
    return value(index, astra_function_result);
  }
  Result<astra_leaf_info_t> input(size_t index) const {
    return leaf(index, astra_function_input);
  }
  Result<astra_leaf_info_t> output(size_t index) const {
    return leaf(index, astra_function_output);
  }
  /// "line.astra:12:8", or "".
  Result<std::string> source() const {
    const char *text = "";
    Done done = detail::run([&](astra_error_t **error) {
      return astra_function_source(runtime(), get(), &text, error);
    });
    if (!done)
      return done.error();
    return std::string(text);
  }

  /// One input of a call: a tensor, which stays its owner's, or a scalar.
  class Input {
  public:
    Input(const Tensor &tensor) : held(astra_value_of_tensor(tensor.get())) {}
    Input(astra_value_t value) : held(value) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Input(T scalar) : held{dtypeOf<T>(), 0, {{0}}} {
      std::memcpy(&held.as, &scalar, sizeof scalar);
    }
    astra_value_t get() const { return held; }

  private:
    astra_value_t held;
  };

  /// Puts a call into the stream; the results may be pending.
  Result<std::vector<Tensor>> call(const Stream &stream,
                                   Span<const Input> inputs) const {
    Result<astra_function_info_t> about = info();
    if (!about)
      return about.error();
    std::vector<astra_value_t> values;
    for (const Input &input : inputs)
      values.push_back(input.get());
    std::vector<astra_tensor_t> handles(about->output_count);
    Done done = detail::run([&](astra_error_t **error) {
      return astra_function_call(runtime(), get(), stream.get(), nullptr,
                                 values.data(), values.size(), handles.data(),
                                 handles.size(), error);
    });
    if (!done)
      return done.error();
    std::vector<Tensor> results;
    for (astra_tensor_t handle : handles)
      results.emplace_back(runtime(), handle);
    return results;
  }
  Result<std::vector<Tensor>> call(const Stream &stream,
                                   std::initializer_list<Input> inputs) const {
    return call(stream, Span<const Input>(inputs.begin(), inputs.size()));
  }

private:
  template <class Ask>
  Result<astra_value_info_t> value(size_t index, Ask how) const {
    return detail::ask<astra_value_info_t>(
        ASTRA_STRUCT_VALUE_INFO, [&](auto *info, astra_error_t **error) {
          return how(runtime(), get(), index, info, error);
        });
  }
  template <class Ask>
  Result<astra_leaf_info_t> leaf(size_t index, Ask how) const {
    return detail::ask<astra_leaf_info_t>(
        ASTRA_STRUCT_LEAF_INFO, [&](auto *info, astra_error_t **error) {
          return how(runtime(), get(), index, info, error);
        });
  }
};

class Module : public detail::Owner<astra_module_t, astra_module_release> {
public:
  using Owner::Owner;

  Result<astra_module_info_t> info() const {
    return detail::ask<astra_module_info_t>(
        ASTRA_STRUCT_MODULE_INFO, [&](auto *info, astra_error_t **error) {
          return astra_module_info(runtime(), get(), info, error);
        });
  }
  Result<astra_module_sizes_t> sizes() const {
    return detail::ask<astra_module_sizes_t>(
        ASTRA_STRUCT_MODULE_SIZES, [&](auto *sizes, astra_error_t **error) {
          return astra_module_sizes(runtime(), get(), sizes, error);
        });
  }
  Result<astra_kernel_info_t> kernel(size_t index) const {
    return detail::ask<astra_kernel_info_t>(
        ASTRA_STRUCT_KERNEL_INFO, [&](auto *info, astra_error_t **error) {
          return astra_module_kernel_info(runtime(), get(), index, info, error);
        });
  }
  Result<Function> function(const std::string &name) const {
    return detail::make<Function, astra_function_t>(
        runtime(), [&](astra_function_t *function, astra_error_t **error) {
          return astra_module_function(runtime(), get(), name.c_str(), function,
                                       error);
        });
  }
  Result<Function> function(size_t index) const {
    return detail::make<Function, astra_function_t>(
        runtime(), [&](astra_function_t *function, astra_error_t **error) {
          return astra_module_function_at(runtime(), get(), index, function,
                                          error);
        });
  }
};

class Runtime {
public:
  Runtime() = default;
  Runtime(Runtime &&other) noexcept
      : runtime(std::exchange(other.runtime, nullptr)) {}
  Runtime &operator=(Runtime &&other) noexcept {
    std::swap(runtime, other.runtime);
    return *this;
  }
  ~Runtime() { astra_runtime_destroy(runtime); }

  /// ASTRA_INIT makes options; null takes what is usual.
  static Result<Runtime>
  create(const astra_runtime_options_t *options = nullptr) {
    Runtime made;
    Done done = detail::run([&](astra_error_t **error) {
      return astra_runtime_create(options, &made.runtime, error);
    });
    if (!done)
      return done.error();
    return made;
  }

  astra_runtime_t *get() const { return runtime; }
  Result<Device> device(const std::string &name = "cpu") const {
    return detail::make<Device, astra_device_t>(
        runtime, [&](astra_device_t *device, astra_error_t **error) {
          return astra_device_open(runtime, name.c_str(), device, error);
        });
  }
  Result<Stream> stream(const Device &device, uint64_t flags = 0) const {
    astra_stream_options_t options;
    ASTRA_INIT(STREAM_OPTIONS, &options);
    options.flags = flags;
    return detail::make<Stream, astra_stream_t>(
        runtime, [&](astra_stream_t *stream, astra_error_t **error) {
          return astra_stream_create(runtime, device.get(), &options, stream,
                                     error);
        });
  }
  Result<Module> load(const std::string &path) const {
    return open(path, astra_module_load);
  }
  /// Describes a file without loading it: see astra_module_inspect.
  Result<Module> inspect(const std::string &path) const {
    return open(path, astra_module_inspect);
  }
  Result<Module> link(const astra_module_desc *descriptor) const {
    return detail::make<Module, astra_module_t>(
        runtime, [&](astra_module_t *module, astra_error_t **error) {
          return astra_module_link(runtime, descriptor, module, error);
        });
  }
  /// Writes what traced streams have done: see astra_trace_save.
  Done saveTrace(const std::string &path) const {
    return detail::run([&](astra_error_t **error) {
      return astra_trace_save(runtime, path.c_str(), error);
    });
  }

private:
  template <class Open>
  Result<Module> open(const std::string &path, Open how) const {
    return detail::make<Module, astra_module_t>(
        runtime, [&](astra_module_t *module, astra_error_t **error) {
          return how(runtime, path.c_str(), module, error);
        });
  }

  astra_runtime_t *runtime = nullptr;
};

} // namespace cpp
} // namespace astra

#endif // ASTRA_ASTRA_HPP
